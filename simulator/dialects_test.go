// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// TestDialects lets every generation print a run, and reads all of it back.
func TestDialects(t *testing.T) {
	for _, name := range DialectNames() {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, Config{Seed: 11, Dialect: name, Entries: 150})
			c.Step(15 * time.Minute)
			dialect, _ := jobstats.DialectNamed(name)
			for _, target := range c.targets {
				entries := parse(t, c.Text(target.name))
				if len(entries) < 50 {
					t.Fatalf("%d entries on %s", len(entries), target.name)
				}
				if len(entries) != c.Living(target.name) {
					t.Errorf("%d entries printed, %d living", len(entries), c.Living(target.name))
				}
				checkOrder(t, c, target, entries)
				for _, e := range entries {
					checkLines(t, dialect, target.kind, e)
				}
			}
		})
	}
}

// checkOrder compares the times of the entries with one another and with the clock.
func checkOrder(t *testing.T, c *Cluster, target *target, entries []entry) {
	t.Helper()
	now := c.now
	if target.dialect.BootRelative() {
		now -= target.boot
	}
	before := int64(0)
	for _, e := range entries {
		if e.last <= 0 || e.last > now {
			t.Errorf("%s: last operation at %d, now is %d", e.id, e.last, now)
		}
		if !target.dialect.StartTime() {
			if e.start != "" {
				t.Errorf("%s: start time %s in a dialect without", e.id, e.start)
			}
			continue
		}
		if e.first < before || e.first > e.last {
			t.Errorf("%s: created at %d, the one before at %d, last operation at %d", e.id, e.first, before, e.last)
		}
		before = e.first
	}
}

// checkLines compares the counters of one entry with one another.
func checkLines(t *testing.T, d jobstats.Dialect, k kind, e entry) {
	t.Helper()
	specs := d.Operations(k.dir())
	if len(e.ops) != len(specs) {
		t.Fatalf("%s: %d lines, want %d", e.id, len(e.ops), len(specs))
	}
	busy := 0
	for _, spec := range specs {
		l := e.ops[spec.Name]
		if l.samples > 0 {
			busy++
		}
		if l.samples > 0 && (spec.Unit == jobstats.Bytes || d.Latency()) {
			mean := float64(l.sum) / float64(l.samples)
			if float64(l.min) > mean || mean > float64(l.max) || l.min == 0 {
				t.Errorf("%s %s: %d samples of %d to %d sum up to %d", e.id, spec.Name, l.samples, l.min, l.max, l.sum)
			}
			// The sum of squares is least if all are equal, most if all are the greatest; it wraps above 2^64.
			least, most := mean*float64(l.sum), float64(l.max)*float64(l.sum)
			if sq := float64(l.sumsq); d.Latency() && most < math.MaxInt64 && (sq < least*.999 || sq > most*1.001) {
				t.Errorf("%s %s: sumsq %v, want %v to %v", e.id, spec.Name, sq, least, most)
			}
		}
		if d.Histogram() && spec.Unit == jobstats.Bytes && l.hist != l.samples {
			t.Errorf("%s %s: %d in buckets, %d samples", e.id, spec.Name, l.hist, l.samples)
		}
	}
	if busy == 0 {
		t.Errorf("%s: an entry of nothing", e.id)
	}
	same := func(a, b uint64, what string) {
		t.Helper()
		if a != b {
			t.Errorf("%s: %s: %d and %d", e.id, what, a, b)
		}
	}
	if _, has := e.ops["read"]; has && d.Latency() {
		same(e.ops["read"].samples, e.ops["read_bytes"].samples, "read and read_bytes")
		same(e.ops["write"].samples, e.ops["write_bytes"].samples, "write and write_bytes")
	}
	same(e.ops["rename"].samples, e.ops["samedir_rename"].samples+e.ops["crossdir_rename"].samples, "rename and its kinds")
	if k == mdt && !d.Latency() {
		same(e.ops["read_bytes"].samples+e.ops["write_bytes"].samples, 0, "stubs of 2.11 to 2.13")
	}
}

// TestOperationsHappen sees every operation that 2.17.57 prints, and that the typical entry has four or five.
func TestOperationsHappen(t *testing.T) {
	c := newCluster(t, Config{Seed: 5, Dialect: "2.17.57", Entries: 800, Users: 200})
	c.Step(30 * time.Minute)
	for k := range numKinds {
		lines, entries, seen := 0, 0, make(map[string]bool)
		for _, target := range c.targets {
			if target.kind != k {
				continue
			}
			for _, e := range parse(t, c.Text(target.name)) {
				entries++
				for name, l := range e.ops {
					if l.samples > 0 {
						lines++
						seen[name] = true
					}
				}
			}
		}
		if mean := float64(lines) / float64(entries); mean < 2.5 || mean > 6 {
			t.Errorf("%s: %.1f operations other than zero per entry", k.dir(), mean)
		}
		for _, spec := range c.targets[len(c.targets)-1].dialect.Operations(k.dir()) {
			if !seen[spec.Name] && spec.Name != "migrate" { // rare
				t.Errorf("%s: %s never happened", k.dir(), spec.Name)
			}
		}
	}
}

func TestEmptyTargets(t *testing.T) {
	f := func(dialect, text, framed string) {
		t.Helper()
		c := newCluster(t, Config{OSTs: 1, Dialect: dialect})
		if got := string(c.Text("scratch-OST0000")); got != text {
			t.Errorf("%s: an empty target prints %q, want %q", dialect, got, text)
		}
		if got := string(c.Framed()); got != framed {
			t.Errorf("%s: lctl prints %q, want %q", dialect, got, framed)
		}
	}
	f("2.3", "job_stats:\n", "obdfilter.scratch-OST0000.job_stats=job_stats:\n")
	f("2.16", "job_stats:\n", "obdfilter.scratch-OST0000.job_stats=job_stats:\n")
	f("2.17", "", "obdfilter.scratch-OST0000.job_stats=\n")
}

// TestFramed reads the frames back.
func TestFramed(t *testing.T) {
	c := newCluster(t, Config{Seed: 1, Entries: 10})
	c.Step(time.Minute)
	s := jobstats.NewScanner(strings.NewReader(string(c.Framed())), jobstats.Options{Framed: true})
	var (
		e      jobstats.Entry
		names  []string
		counts = make(map[string]int)
	)
	for event := s.Next(&e); event != jobstats.End; event = s.Next(&e) {
		if event == jobstats.FrameRead {
			names = append(names, s.Frame().Target)
			continue
		}
		counts[names[len(names)-1]]++
	}
	if got, want := strings.Join(names, " "), strings.Join(c.Targets(), " "); got != want {
		t.Errorf("frames %s, want %s", got, want)
	}
	for _, name := range c.Targets() {
		if counts[name] != c.Living(name) || counts[name] == 0 {
			t.Errorf("%s: %d entries framed, %d living", name, counts[name], c.Living(name))
		}
	}
	if n := s.Counters().Unparsed; n != 0 {
		t.Errorf("%d lines unparsed", n)
	}
}
