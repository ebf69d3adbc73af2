// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"strings"
	"testing"
)

func TestTime(t *testing.T) {
	for _, c := range []struct {
		printed string
		ns      int64
		ok      bool
		boot    bool
	}{
		{"1495525343", 1495525343_000000000, true, false},
		{"1723114647.887515895", 1723114647_887515895, true, false},
		{"1896533.424837288", 1896533_424837288, true, true},
		{"0", 0, true, true},
		{"0.5", 500000000, true, true},
		{"1.0000000019", 1_000000001, true, true},
		{"999999999.999999999", 999999999_999999999, true, true},
		{"1000000000", 1000000000_000000000, true, false},
		{"9223372035.999999999", 9223372035_999999999, true, false},
		{"9223372036", 0, false, false},
		{"18446744073709551615.500000000", 0, false, false},
		{"18446744073709551616", 0, false, false},
		{"", 0, false, false},
		{"12.", 0, false, false},
		{".5", 0, false, false},
		{"1.5.5", 0, false, false},
		{"1.x", 0, false, false},
		{"-1", 0, false, false},
		{"1 secs", 0, false, false},
	} {
		ns, ok := Time(c.printed).Nanoseconds()
		if ns != c.ns || ok != c.ok {
			t.Errorf("%q is %d ns, %v, want %d, %v", c.printed, ns, ok, c.ns, c.ok)
		}
		if got := Time(c.printed).BootRelative(); got != c.boot {
			t.Errorf("%q: boot-relative %v", c.printed, got)
		}
	}
	if _, ok := Time(nil).Nanoseconds(); ok || Time(nil).BootRelative() {
		t.Error("an absent time is a time")
	}
}

// full is an entry with everything.
func full() *Entry {
	return &Entry{
		ID: []byte(`"a b"`), Snapshot: Time("1723114647.887515895"), Start: Time("1723102025.057286226"), Elapsed: Time("12622.830229669"),
		Ops: []Op{
			{Name: []byte("write_bytes"), Unit: Bytes, Has: HasRange | HasSumSq | HasHist, Samples: 3, Min: 4096, Max: 8192, Sum: 16384,
				SumSq: 100663296, Hist: []Bucket{{12, 2}, {13, 1}}},
			{Name: []byte("open"), Unit: Requests, Samples: 2},
		},
	}
}

func TestAppend(t *testing.T) {
	const want = `- job_id:          "a b"
  snapshot_time:   1723114647.887515895 secs.nsecs
  start_time:      1723102025.057286226 secs.nsecs
  elapsed_time:    12622.830229669 secs.nsecs
  write_bytes:     { samples:           3, unit: bytes, min:     4096, max:     8192, sum:            16384, sumsq:          100663296, hist: { 4K: 2, 8K: 1 } }
  open:            { samples:           2, unit:  reqs }
`
	if got := string(full().Append([]byte("before\n"))); got != "before\n"+want {
		t.Errorf("printed\n%s", got)
	}
	e := &Entry{Snapshot: Time("1"), Ops: []Op{{Name: []byte("x"), Unit: OtherUnit, Has: HasSumSq}, {Name: []byte("y"), Has: HasRange, Sum: 9}}}
	r := scanText(e.Append(nil), Options{})
	sameEntries(t, []*Entry{e}, r.entries)
}

func TestEqual(t *testing.T) {
	if !full().Equal(full()) || !full().Equal(full().Clone()) {
		t.Error("equal entries differ")
	}
	for name, change := range map[string]func(e *Entry){
		"identifier":  func(e *Entry) { e.ID = e.ID[1:] },
		"snapshot":    func(e *Entry) { e.Snapshot = nil },
		"start":       func(e *Entry) { e.Start = Time("1723102025.057286227") },
		"elapsed":     func(e *Entry) { e.Elapsed = nil },
		"fewer":       func(e *Entry) { e.Ops = e.Ops[:1] },
		"name":        func(e *Entry) { e.Ops[1].Name = []byte("close") },
		"unit":        func(e *Entry) { e.Ops[1].Unit = NoUnit },
		"has":         func(e *Entry) { e.Ops[1].Has = HasRange },
		"samples":     func(e *Entry) { e.Ops[1].Samples++ },
		"min":         func(e *Entry) { e.Ops[0].Min++ },
		"max":         func(e *Entry) { e.Ops[0].Max++ },
		"sum":         func(e *Entry) { e.Ops[0].Sum++ },
		"sumsq":       func(e *Entry) { e.Ops[0].SumSq++ },
		"buckets":     func(e *Entry) { e.Ops[0].Hist = e.Ops[0].Hist[:1] },
		"bucket":      func(e *Entry) { e.Ops[0].Hist[1].Count++ },
		"other order": func(e *Entry) { e.Ops[0], e.Ops[1] = e.Ops[1], e.Ops[0] },
	} {
		e := full()
		change(e)
		if e.Equal(full()) || full().Equal(e) {
			t.Errorf("%s: equal", name)
		}
	}
	damaged := full()
	damaged.Damaged = true
	if !damaged.Equal(full()) {
		t.Error("Damaged is part of what an entry says")
	}
}

// TestReuse: a clone survives what Next does to the entry, and an entry with fewer fields keeps nothing of the one before.
func TestReuse(t *testing.T) {
	text := append(full().Append(nil), "- job_id:          y\n  write:           { samples:           1, unit: usecs }\n"...)
	s := NewScanner(bytes.NewReader(text), Options{})
	var e Entry
	s.Next(&e)
	first := e.Clone()
	s.Next(&e)
	if !first.Equal(full()) {
		t.Errorf("clone became\n%s", first.Append(nil))
	}
	want := &Entry{ID: []byte("y"), Ops: []Op{{Name: []byte("write"), Unit: Microseconds, Samples: 1}}}
	if !e.Equal(want) || e.Snapshot != nil || e.Start != nil || e.Elapsed != nil {
		t.Errorf("second entry is\n%s", e.Append(nil))
	}
	if s.Next(&e) != End || len(e.ID)+len(e.Ops) != 0 {
		t.Errorf("entry at End is %+v", e)
	}
}

// TestForeignEntry: whatever an entry held before, Next overwrites it without a panic.
func TestForeignEntry(t *testing.T) {
	e := Entry{Ops: []Op{{Name: []byte(strings.Repeat("long", bufferSize))}, {}, {Name: []byte("open"), Hist: []Bucket{{1, 1}}}}}
	s := NewScanner(strings.NewReader(head+op1+op1+op1), Options{})
	if s.Next(&e) != EntryRead || len(e.Ops) != 3 || e.Damaged {
		t.Fatalf("%+v", e)
	}
	for _, op := range e.Ops {
		if !op.Equal(&Op{Name: []byte("open"), Unit: Requests, Samples: 1}) {
			t.Errorf("%+v", op)
		}
	}
}

func TestUnitString(t *testing.T) {
	for u, want := range map[Unit]string{NoUnit: "", Requests: "reqs", Bytes: "bytes", Microseconds: "usecs", OtherUnit: "other", 99: "other"} {
		if u.String() != want {
			t.Errorf("unit %d is %q", u, u)
		}
	}
}

// TestNoAllocation: once the storage has its size, entries cost no memory in any dialect.
func TestNoAllocation(t *testing.T) {
	for _, d := range Dialects() {
		for _, kind := range []string{"mdt", "obdfilter"} {
			r := bytes.NewReader(nil)
			text := workload(d, kind, 50, 0.5)
			s := NewScanner(r, Options{})
			var e Entry
			allocs := testing.AllocsPerRun(5, func() {
				r.Reset(text)
				s.Reset(r)
				for s.Next(&e) != End {
				}
			})
			if c := s.Counters(); allocs != 0 || c.Entries != 50 || c.Unparsed != 0 {
				t.Errorf("%s %s: %v allocations for %+v", d.Name, kind, allocs, c)
			}
		}
	}
}
