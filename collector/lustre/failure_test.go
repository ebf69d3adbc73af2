// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// TestTargetThatCannotBeReadCostsOnlyItself breaks one read of a target in every way there is.
func TestTargetThatCannotBeReadCostsOnlyItself(t *testing.T) {
	before := stats(opens("1:2000:a", 10), opens("2:2000:a", 20))
	f := func(what string, limit int, spoil func(*volume)) {
		t.Helper()
		r := newRig(t, func(c *Config) { c.MaxTargetEntries = limit })
		r.intervals[ost0Name] = 10 * time.Minute
		v := r.add(ost0Name, before)
		r.add(ost1Name, stats(opens("1:2000:a", 3)))
		if s := r.must(); s.sum(jobOps, ost0Name) != 30 {
			t.Fatalf("%s: starts with %v", what, s)
		}
		whole := *v
		r.change(func() { spoil(v) })
		for range 2 {
			s := r.must()
			if s.up(ost0Name) != 0 || len(s.jobs(ost0Name)) != 0 {
				t.Errorf("%s: up %v, job series %v; want 0 and none", what, s.up(ost0Name), s.jobs(ost0Name))
			}
			if s.up(ost1Name) != 1 || s.sum(jobOps, ost1Name) != 3 {
				t.Errorf("%s: the other target: up %v, %v; want 1, 3", what, s.up(ost1Name), s.jobs(ost1Name))
			}
		}
		r.change(func() { *v = whole; v.text = stats(opens("1:2000:a", 11), opens("2:2000:a", 22), opens("3:2000:a", 7)) })
		s := r.must()
		if resets := s.sum("lustre_jobstats_resets_total", ost0Name); s.up(ost0Name) != 1 || s.sum(jobOps, ost0Name) != 40 || resets != 0 {
			t.Errorf("%s: then up %v, sum %v, %v resets; want 1, 40, 0: nothing lost, nothing new", what, s.up(ost0Name), s.sum(jobOps, ost0Name), resets)
		}
	}
	grown := stats(opens("1:2000:a", 11), opens("2:2000:a", 22))
	f("open error", 0, func(v *volume) { v.openErr = fs.ErrPermission })
	f("read error", 0, func(v *volume) { v.text, v.readErr = grown, errors.New("input/output error") })
	f("read error at once", 0, func(v *volume) { v.text, v.readErr = "", errors.New("input/output error") })
	f("error of close", 0, func(v *volume) { v.endErr = errors.New("input/output error") })
	f("cut in a line", 0, func(v *volume) { v.text = grown[:len(grown)-9] })
	f("cut in an entry", 0, func(v *volume) { v.text = grown[:strings.LastIndex(grown, "  start_time")] })
	f("cut in an identifier", 0, func(v *volume) { v.text = grown[:strings.LastIndex(grown, ":a")] })
	f("too many entries", 3, func(v *volume) { v.text = grown + opens("3:2000:a", 1) + opens("4:2000:a", 1) })
}

func TestTooManyBytesOfATarget(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MaxTargetBytes = 1000 })
	v := r.add(ost0Name, stats(opens("1:2000:a", 10)))
	if s := r.must(); s.up(ost0Name) != 1 {
		t.Errorf("%d bytes: up %v; want 1", len(v.text), s.up(ost0Name))
	}
	r.change(func() { v.text = stats(opens("1:2000:a", 10), strings.Repeat("\n", 1000)) })
	if s := r.must(); s.up(ost0Name) != 0 {
		t.Errorf("%d bytes: up %v; want 0", len(v.text), s.up(ost0Name))
	}
}

// What was held when a read failed is neither lost nor shown twice: the sum that Prometheus would have.
func TestFailedReadLosesNoIncrements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Ledger.FirstZero = ledger.Hold })
		v := r.add(ost0Name, stats())
		r.must()
		var seen []float64
		step := func(n uint64, err error) {
			time.Sleep(time.Minute)
			r.change(func() { v.text, v.openErr = stats(opens("1:2000:a", n)), err })
			s := r.must()
			if series := s.named(jobOps, ost0Name); len(series) > 0 {
				seen = append(seen, s.sum(jobOps, ost0Name))
			}
		}
		broken := errors.New("broken")
		step(5, nil)
		step(7, broken)
		step(8, broken)
		step(9, nil)
		step(12, nil)
		if got := fmt.Sprint(seen); got != "[0 9 12]" {
			t.Errorf("shown: %s; want [0 9 12], which Prometheus adds up to 12", got)
		}
	})
}

func TestLookThatFailsJudgesNothing(t *testing.T) {
	r := newRig(t)
	r.add(ost0Name, stats(opens("1:2000:a", 10)))
	r.must()
	broken := errors.New("no such luck")
	r.change(func() { r.broken = broken })
	s, err := r.scrape()
	if s == nil || !errors.Is(err, broken) {
		t.Fatalf("page %v, error %v; want a page and the reason", s, err)
	}
	if len(s) != 0 {
		t.Errorf("shows %v; want nothing of targets that were not found", s)
	}
	r.change(func() { r.broken = nil })
	if s = r.must(); s.sum(jobOps, ost0Name) != 10 || s.sum("lustre_jobstats_resets_total", ost0Name) != 0 || s.up(ost0Name) != 1 {
		t.Errorf("then %v; want the same entry, not one that is new", s)
	}
}

// Before a look has worked nothing is known of any target: even its young entries may have been scraped.
func TestFirstLookThatFails(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Ledger.FirstZero = ledger.Hold })
	r.broken = errors.New("no such luck")
	r.add(ost0Name, stats(opensSince(time.Duration(time.Now().Add(-10*time.Second).UnixNano()), "1:2000:a", 10)))
	if s, err := r.scrape(); err == nil || len(s) != 0 {
		t.Fatalf("%v, %v; want an empty page and an error", s, err)
	}
	r.change(func() { r.broken = nil })
	if s := r.must(); s.sum(jobOps, ost0Name) != 10 {
		t.Errorf("shows %v; want Lustre's value, without a zero that would make it an increase", s.named(jobOps, ""))
	}
}

// TestUnmountedTarget takes a target away in the ways it may go.
func TestUnmountedTarget(t *testing.T) {
	f := func(what string, take func(r *rig, v *volume)) {
		t.Helper()
		r := newRig(t)
		v := r.add(ost0Name, stats(opens("1:2000:a", 10)))
		r.add(ost1Name, stats(opens("1:2000:a", 3)))
		r.must()
		r.log.take()
		take(r, v)
		s := r.must()
		if got := s.named("lustre", ost0Name); len(got) != 0 {
			t.Errorf("%s: shows %v; want nothing of a target that is absent", what, got)
		}
		if s.up(ost0Name) != -1 || s.up(ost1Name) != 1 || s.sum(jobOps, ost1Name) != 3 {
			t.Errorf("%s: up %v and %v; want none and 1", what, s.up(ost0Name), s.up(ost1Name))
		}
		if lines := r.log.take(); len(lines) != 0 {
			t.Errorf("%s: logged %q; want nothing: an absent target is no failure", what, lines)
		}
	}
	gone := fmt.Errorf("job_stats: %w: %w", source.ErrGone, fs.ErrNotExist)
	f("not found", func(r *rig, v *volume) { r.unmount(v) })
	f("gone when opened", func(r *rig, v *volume) { r.change(func() { v.openErr = gone }) })
	f("gone while read", func(r *rig, v *volume) { r.change(func() { v.readErr = gone }) })
}

// A target that returns holds new work only, which with a held zero counts in full.
func TestTargetThatReturnsIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Ledger.FirstZero = ledger.Hold })
		v := r.add(ost0Name, stats(opens("1:2000:a", 10)))
		var seen []float64
		scrape := func() {
			s := r.must()
			if len(s.named(jobOps, ost0Name)) > 0 {
				seen = append(seen, s.sum(jobOps, ost0Name))
			}
			time.Sleep(time.Minute)
		}
		scrape()
		r.unmount(v)
		for range 3 {
			scrape()
		}
		r.mount(&volume{target: v.target, text: stats(entry("1:2000:a", born+time.Hour) + strings.Join(strings.SplitAfter(opens("1:2000:a", 4), "\n")[4:], ""))})
		scrape()
		scrape()
		if n := len(seen); n < 3 || seen[0] != 10 || seen[n-2] != 0 || seen[n-1] != 4 {
			t.Errorf("shown: %v; want 10 from the first read, and 0, 4 at the end", seen)
		}
	})
}

func TestFoldedReasonsAreThoseOfTheContract(t *testing.T) {
	x, err := jobid.New(jobid.Config{Formats: jobid.DefaultFormats(), Malformed: jobid.PolicyDrop})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *Config) { c.Ledger.Identifier = x })
	r.add(ost0Name, stats(opens("1:2000:a", 1), opens("1:0:a", 2), opens("wget", 4)))
	s := r.must()
	var got []string
	for _, reason := range []string{"limit", "nodes", "labels", "twin", "system", "malformed"} {
		if _, ok := s[fmt.Sprintf("lustre_jobstats_folded_entries{reason=%q,target=%q}", reason, ost0Name)]; ok {
			got = append(got, reason)
		}
	}
	if all := s.named("lustre_jobstats_folded_entries", ""); len(got) != 6 || len(all) != 6 {
		t.Errorf("reasons %v of %v; want the six of design.md section 3", got, all)
	}
	if n := s.sum("lustre_jobstats_entries", ost0Name); n != 3 || s.sum(jobOps, ost0Name) != 1 {
		t.Errorf("%v entries, %v operations; want 3, and 1: sums start at 0", n, s.sum(jobOps, ost0Name))
	}
}

func TestUnparsedCountersGrowAndSurvive(t *testing.T) {
	const metric = "lustre_jobstats_unparsed_lines_total"
	r := newRig(t)
	v := r.add(ost0Name, stats(opens("1:2000:a", 1)+"what is this?\n  nor: this\n"))
	w := r.add(ost1Name, stats(opens("1:2000:a", 1)))
	if s := r.must(); s.sum(metric, ost0Name) != 2 || s.sum(metric, ost1Name) != 0 {
		t.Errorf("%v; want 2 and 0", s.named(metric, ""))
	}
	if s := r.must(); s.sum(metric, ost0Name) != 4 {
		t.Errorf("read again: %v; want 4", s.named(metric, ""))
	}
	r.change(func() { v.openErr = errors.New("broken") })
	if s := r.must(); s.sum(metric, ost0Name) != 4 {
		t.Errorf("not read: %v; want 4", s.named(metric, ""))
	}
	r.unmount(v)
	r.must()
	r.mount(&volume{target: v.target, text: stats(opens("1:2000:a", 1), "- job_id:          "+strings.Repeat("x", 2000)+"\n")})
	if s := r.must(); s.sum(metric, ost0Name) != 5 {
		t.Errorf("mounted again, with an identifier that is too long: %v; want 5", s.named(metric, ""))
	}
	r.change(func() { w.text += "  open:  { samples: 5, unit: reqs }\n" })
	if s := r.must(); s.sum(metric, ost1Name) != 1 || s.sum(jobOps, ost1Name) != 1 {
		t.Errorf("an operation printed twice: %v, %v; want 1 dropped line, value 1", s.named(metric, ""), s.named(jobOps, ost1Name))
	}
}
