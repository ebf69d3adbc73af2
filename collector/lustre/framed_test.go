// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// three is what lctl prints of three targets, with so many opens each.
func three(n uint64) string {
	return "mdt." + mdt0Name + ".job_cleanup_interval=600\n" +
		frame("mdt", mdt0Name) + stats(opens("1:2000:a", n), opens("2:2000:a", n)) +
		frame("obdfilter", ost0Name) + stats(opens("1:2000:a", n)) +
		frame("obdfilter", ost1Name) + stats(opens("1:2000:a", n))
}

func lctl(text string) *volume { return &volume{framed: true, text: text} }

func TestFramedStream(t *testing.T) {
	r := newRig(t)
	r.intervals[ost0Name] = 5 * time.Minute
	r.mount(lctl(three(4)))
	s := r.must()
	f := func(name string, want float64) {
		t.Helper()
		if got, ok := s[name]; !ok || got != want {
			t.Errorf("%s = %v (%v); want %v", name, got, ok, want)
		}
	}
	f(`lustre_jobstats_target_up{target="scratch-MDT0000"}`, 1)
	f(`lustre_jobstats_target_up{target="scratch-OST0001"}`, 1)
	f(`lustre_target_info{fs="scratch",kind="mdt",target="scratch-MDT0000"}`, 1)
	f(`lustre_target_info{fs="scratch",kind="ost",target="scratch-OST0001"}`, 1)
	f(`lustre_jobstats_cleanup_interval_seconds{target="scratch-MDT0000"}`, 600) // from the text
	f(`lustre_jobstats_cleanup_interval_seconds{target="scratch-OST0000"}`, 300) // from the source
	if _, ok := s[`lustre_jobstats_cleanup_interval_seconds{target="scratch-OST0001"}`]; ok {
		t.Error("an interval of scratch-OST0001, of which none is known")
	}
	for target, want := range map[string]float64{mdt0Name: 8, ost0Name: 4, ost1Name: 4} {
		if got := s.sum(jobOps, target); got != want {
			t.Errorf("%s: %v operations; want %v", target, got, want)
		}
	}
}

// TestFramedStreamThatFails reads a stream once that tells of three targets, spoils the next read, and
// looks at what each target shows then and after.
func TestFramedStreamThatFails(t *testing.T) {
	f := func(what string, spoil func(*volume), ups string, wantErr bool) {
		t.Helper()
		r := newRig(t)
		v := r.mount(lctl(three(4)))
		r.must()
		r.change(func() { v.text = three(5); spoil(v) })
		s, err := r.scrape()
		if got := fmt.Sprint(s.up(mdt0Name), s.up(ost0Name), s.up(ost1Name)); got != ups || (err != nil) != wantErr {
			t.Errorf("%s: up %s, error %v; want %s, %v", what, got, err, ups, wantErr)
		}
		for _, target := range []string{mdt0Name, ost0Name, ost1Name} {
			if n := len(s.jobs(target)); (n > 0) != (s.up(target) == 1) {
				t.Errorf("%s: %s is up %v and has %d job series", what, target, s.up(target), n)
			}
		}
		if len(s.named("lustre_target_info", "")) > 3 {
			t.Errorf("%s: strange targets: %v", what, s.named("lustre_target_info", ""))
		}
		r.change(func() { *v = *lctl(three(6)) })
		s = r.must()
		got := fmt.Sprint(s.sum(jobOps, mdt0Name), s.sum(jobOps, ost0Name), s.sum(jobOps, ost1Name), s.sum("lustre_jobstats_resets_total", ""))
		if got != "12 6 6 0" {
			t.Errorf("%s: then %s; want 12 6 6 and no resets: nothing lost, nothing new", what, got)
		}
	}
	ost0 := source.Target{Name: ost0Name, Kind: source.KindOST}
	cut := func(v *volume, at string) { v.text, _, _ = strings.Cut(v.text, at) }
	inFirst := func(v *volume) { v.text = v.text[:strings.Index(v.text, "  open")+20] }
	inSecond := func(v *volume) {
		cut(v, frame("obdfilter", ost1Name))
		v.text = v.text[:len(v.text)-9]
	}
	broken := errors.New("input/output error")

	f("cut in the first", inFirst, "0 -1 -1", true)
	f("cut in the second", inSecond, "1 0 -1", true)
	f("read error in the second", func(v *volume) { inSecond(v); v.readErr = broken }, "1 0 -1", true)
	f("read error before any", func(v *volume) { v.text, v.readErr = "", broken }, "-1 -1 -1", true)
	f("not opened", func(v *volume) { v.openErr = broken }, "-1 -1 -1", true)
	f("close fails", func(v *volume) { v.endErr = broken }, "1 1 0", true)
	f("lctl could not read one, of which it printed nothing", func(v *volume) {
		before, after, _ := strings.Cut(v.text, frame("obdfilter", ost0Name)+stats(opens("1:2000:a", 5)))
		v.text = before + after
		v.endErr = &source.LctlError{Unreadable: []source.Target{ost0}}
	}, "1 0 1", false)
	f("lctl could not read one to its end", func(v *volume) {
		v.endErr = fmt.Errorf("wrapped: %w", &source.LctlError{Unreadable: []source.Target{ost0}})
	}, "1 0 1", false)
	f("lctl was killed in the second", func(v *volume) {
		cut(v, frame("obdfilter", ost1Name))
		v.endErr = &source.LctlError{Killed: true, Err: context.DeadlineExceeded}
	}, "1 0 -1", true)
	f("lctl was killed before it printed anything", func(v *volume) {
		v.text, v.endErr = "", &source.LctlError{Killed: true, Err: context.DeadlineExceeded}
	}, "-1 -1 -1", true)
	f("lctl failed as a whole after two", func(v *volume) {
		cut(v, frame("obdfilter", ost1Name))
		v.endErr = &source.LctlError{Err: errors.New("exit status 127")}
	}, "1 1 -1", true)
	f("a target twice", func(v *volume) {
		v.text += frame("obdfilter", ost0Name) + stats(opens("1:2000:a", 9))
	}, "1 0 1", false)
	f("a target three times", func(v *volume) {
		v.text += strings.Repeat(frame("obdfilter", ost0Name)+stats(opens("1:2000:a", 9)), 2)
	}, "1 0 1", false)
}

func TestFramedStreamThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		v := r.mount(lctl(three(4)))
		r.must()
		hang := make(chan struct{})
		r.change(func() { v.hang = hang })
		for _, want := range []time.Duration{DefaultReadTimeout, 0} {
			began := time.Now()
			s, err := r.scrape()
			if took := time.Since(began); err == nil || len(s) != 0 || took != want {
				t.Errorf("page %v, error %v after %s; want an empty page and an error after %s", s, err, took, want)
			}
		}
		if n := r.readsOf(v); n != 2 {
			t.Errorf("opened %d times; want 2: not again while stuck", n)
		}
		r.change(func() { v.hang, v.text = nil, three(5) })
		close(hang)
		synctest.Wait()
		if s := r.must(); s.sum(jobOps, mdt0Name) != 10 || s.sum("lustre_jobstats_resets_total", "") != 0 {
			t.Errorf("recovered: %v; want 10, no resets", s)
		}
	})
}

// Limits are of a target each, however many one stream has.
func TestLimitsOfFramedTargets(t *testing.T) {
	// Text is read, and counted, by up to 256 KiB ahead.
	first := frame("mdt", mdt0Name)
	text := strings.Replace(three(4), first, first+strings.Repeat("\n", 1<<20), 1)
	f := func(what string, change func(*Config), ups string) {
		t.Helper()
		r := newRig(t, change)
		r.mount(lctl(text))
		s := r.must()
		if got := fmt.Sprint(s.up(mdt0Name), s.up(ost0Name), s.up(ost1Name)); got != ups {
			t.Errorf("%s: up %s; want %s", what, got, ups)
		}
	}
	f("none", func(*Config) {}, "1 1 1")
	f("2 entries", func(c *Config) { c.MaxTargetEntries = 2 }, "1 1 1")
	f("1 entry", func(c *Config) { c.MaxTargetEntries = 1 }, "0 1 1")
	f("enough bytes", func(c *Config) { c.MaxTargetBytes = int64(len(text)) }, "1 1 1")
	f("few bytes", func(c *Config) { c.MaxTargetBytes = 512 << 10 }, "0 1 1")
}

func TestDumpWithoutFrames(t *testing.T) {
	f := func(what string, owner source.Target, text, target string, up, value float64) {
		t.Helper()
		r := newRig(t)
		r.mount(&volume{target: owner, framed: true, text: text})
		s := r.must()
		if n := len(s.named("lustre_target_info", "")); n > 1 || s.up(target) != up || s.sum(jobOps, target) != value {
			t.Errorf("%s: %v; want %s up %v with %v operations", what, s, target, up, value)
		}
	}
	ost0 := source.Target{Name: ost0Name, Kind: source.KindOST}
	f("a known target", ost0, stats(opens("1:2000:a", 3)), ost0Name, 1, 3)
	f("an idle target", ost0, stats(), ost0Name, 1, 0)
	f("nothing at all of a target", ost0, "", ost0Name, 1, 0)
	f("nobody knows whose", source.UnknownTarget(), stats(opens("1:2000:a", 3)), "unknown", 1, 3)
	f("the source does not say whose", source.Target{}, stats(opens("1:2000:a", 3)), "unknown", 1, 3)
	f("nothing of nobody", source.Target{}, "", "unknown", -1, 0)
	f("the frames say whose", source.UnknownTarget(), frame("obdfilter", ost0Name)+stats(opens("1:2000:a", 3)), ost0Name, 1, 3)
}

// A source may give streams of both kinds; scanners are reused.
func TestFramedAndPlainStreams(t *testing.T) {
	r := newRig(t)
	r.mount(lctl(frame("obdfilter", ost0Name) + stats(opens("1:2000:a", 3))))
	r.add(ost1Name, frame("obdfilter", ost2Name)+stats(opens("1:2000:a", 4)))
	for range 5 {
		s := r.must()
		if s.sum(jobOps, ost0Name) != 3 || s.sum(jobOps, ost1Name) != 4 || s.up(ost2Name) != -1 {
			t.Fatalf("%v; want 3 of %s and 4 of %s, where a frame is a line like any other", s, ost0Name, ost1Name)
		}
	}
}
