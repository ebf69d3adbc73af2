// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// line is one printed counter.
type line struct{ samples, min, max, sum, sumsq, hist uint64 }

// entry is one parsed record.
type entry struct {
	id, start   string
	first, last int64 // nanoseconds as printed
	ops         map[string]line
}

// parse reads a job_stats text and fails the test at anything the scanner does not understand.
func parse(t testing.TB, text []byte) []entry {
	t.Helper()
	s := jobstats.NewScanner(bytes.NewReader(text), jobstats.Options{})
	var (
		entries []entry
		e       jobstats.Entry
	)
	for s.Next(&e) == jobstats.EntryRead {
		if e.Damaged {
			t.Fatalf("entry %q is damaged", e.ID)
		}
		p := entry{id: string(e.ID), start: string(e.Start), ops: make(map[string]line)}
		p.last, _ = e.Snapshot.Nanoseconds()
		p.first, _ = e.Start.Nanoseconds()
		for _, o := range e.Ops {
			l := line{samples: o.Samples, min: o.Min, max: o.Max, sum: o.Sum, sumsq: o.SumSq}
			for _, b := range o.Hist {
				l.hist += b.Count
			}
			p.ops[string(o.Name)] = l
		}
		entries = append(entries, p)
	}
	n := s.Counters()
	if s.Err() != nil || s.Truncated() || n.Unparsed != 0 || n.Rejected != 0 {
		t.Fatalf("err %v, truncated %v, %d lines unparsed, %d entries rejected", s.Err(), s.Truncated(), n.Unparsed, n.Rejected)
	}
	if want := bytes.Count(text, []byte("\n- job_id:")); len(entries) < want || int(n.Entries) != len(entries) {
		t.Fatalf("%d entries of %d read", len(entries), want)
	}
	return entries
}

func newCluster(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBadConfigIsRefused(t *testing.T) {
	f := func(cfg Config, want string) {
		t.Helper()
		_, err := New(cfg)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one about %q", cfg, err, want)
		}
	}
	f(Config{MDTs: -1, OSTs: 3}, "MDTs")
	f(Config{OSTs: 0x10001}, "OSTs")
	f(Config{Targets: -1}, "OSTs")
	f(Config{Users: -1}, "users")
	f(Config{Entries: -5}, "entries")
	f(Config{FSName: "ninebytes"}, "file system name")
	f(Config{FSName: "../etc"}, "file system name")
	f(Config{CleanupInterval: 1500 * time.Millisecond}, "whole seconds")
	f(Config{Dialect: "1.8"}, `no dialect "1.8"; known are 2.3, 2.5`)
	f(Config{OSTs: 2, Dialects: []string{"2.16"}}, "1 dialects for 2 targets")
	f(Config{OSTs: 1, Dialects: []string{"9"}}, `"9"`)
	f(Config{Start: time.Unix(1e9, 0), Boot: time.Unix(1e9, 0)}, "boot time")
}

func TestTargets(t *testing.T) {
	f := func(cfg Config, want string) {
		t.Helper()
		if got := strings.Join(newCluster(t, cfg).Targets(), " "); got != want {
			t.Errorf("targets %q, want %q", got, want)
		}
	}
	f(Config{Entries: 5}, "scratch-MDT0000 scratch-OST0000 scratch-OST0001 scratch-OST0002")
	f(Config{Entries: 5, Targets: 1}, "scratch-MDT0000")
	f(Config{Entries: 5, Targets: 8, FSName: "fs"}, "fs-MDT0000 fs-MDT0001 fs-OST0000 fs-OST0001 fs-OST0002 fs-OST0003 fs-OST0004 fs-OST0005")
	f(Config{Entries: 5, OSTs: 1, FSName: "a-b"}, "a-b-OST0000")
	many := newCluster(t, Config{Entries: 1, OSTs: 27}).Targets()
	if last := many[26]; last != "scratch-OST001a" {
		t.Errorf("target 26 is %s: indices are four lower-case hexadecimal digits", last)
	}
}

// TestEqualSeedsAreEqual steps twin clusters through all that happens to one.
func TestEqualSeedsAreEqual(t *testing.T) {
	run := func(seed uint64) string {
		c := newCluster(t, Config{Seed: seed, Entries: 60, CleanupInterval: time.Minute, Dialects: []string{"2.12", "2.15.0", "2.16", "2.17"}})
		for i := range 40 {
			c.Step(5 * time.Second)
			if i == 20 {
				if _, err := c.InjectStorm(4711, "scratch-OST0000", "write", 100, time.Minute); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(c.Unmount("scratch-OST0002"), c.Clear("scratch-OST0001")); err != nil {
					t.Fatal(err)
				}
			}
			c.ExpireIdle()
		}
		var b strings.Builder
		b.Write(c.Framed())
		for k, n := range c.Truth() {
			fmt.Fprintln(&b, k, n)
		}
		return b.String()
	}
	first := run(7)
	if second := run(7); first != second {
		t.Error("one seed, two outcomes")
	}
	if first == run(8) {
		t.Error("two seeds, one outcome")
	}
}

// TestMixIsPuhtis compares the mean numbers of entries with those of the thesis, on as many targets.
func TestMixIsPuhtis(t *testing.T) {
	c := newCluster(t, Config{Seed: 3, MDTs: 4, OSTs: 24, Users: 300, Entries: 825, NoTruth: true})
	c.Step(20 * time.Minute)
	const reads = 40
	var mean [numClasses][numKinds]float64
	for range reads {
		c.Step(30 * time.Second)
		c.ExpireIdle()
		for _, target := range c.targets {
			for class, n := range target.living {
				mean[class][target.kind] += float64(n) / reads
			}
		}
	}
	f := func(class Class, k kind, targets, want, tolerance float64) {
		t.Helper()
		if got := mean[class][k] / targets; math.Abs(got-want) > want*tolerance {
			t.Errorf("%v on %ss: %.1f entries, on Puhti %.1f", class, k.dir(), got, want)
		}
	}
	for class, n := range onPuhti {
		tolerance := .25
		if n.ost < 10 || Class(class) == SystemJob { // few, or all brief
			tolerance = .4
		}
		f(Class(class), mdt, 1, n.mdts*825*4/3141, tolerance)
		f(Class(class), ost, 24, n.ost, tolerance)
	}
	people := 0.0
	for class := range numClasses {
		if !class.System() {
			people += mean[class][ost]
		}
	}
	if share := (mean[Malformed][ost] + mean[Qualified][ost]) / people; share < .007 || share > .014 {
		t.Errorf("%.2f %% of the entries of people on OSTs are malformed or qualified, on Puhti 1.07 %%", 100*share)
	}
}

// TestSizes holds entries near the aim at other sizes than Puhti's, where identifiers might run out.
func TestSizes(t *testing.T) {
	f := func(cfg Config) {
		t.Helper()
		c := newCluster(t, cfg)
		c.Step(3 * c.pace)
		var mean float64
		for range 10 {
			c.Step(c.pace / 4)
			c.ExpireIdle()
			for _, name := range c.Targets() {
				mean += float64(c.Living(name)) / float64(10*len(c.targets))
			}
		}
		if want := float64(c.cfg.Entries); math.Abs(mean-want) > .3*want+1 {
			t.Errorf("%+v: %.1f entries per target", cfg, mean)
		}
	}
	f(Config{})
	f(Config{Seed: 2, Entries: 3000, Users: 5})
	f(Config{Seed: 3, Entries: 20, Users: 1, CleanupInterval: 10 * time.Second})
	f(Config{Seed: 4, MDTs: 2, Entries: 100})
	f(Config{Seed: 5, OSTs: 2, Entries: 500, Users: 100, CleanupInterval: time.Minute})
	f(Config{Seed: 6, MDTs: 1, OSTs: 40, Entries: 50})
}
