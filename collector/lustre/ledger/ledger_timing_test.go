// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

const timingEntries = 50_000

// ostText is what an OST of Lustre 2.16 with n distinct entries prints, 5 of 15 operations non-zero.
// A later round has done more.
func ostText(tb testing.TB, n int, round uint64) []byte {
	tb.Helper()
	d, ok := jobstats.DialectNamed("2.16")
	if !ok {
		tb.Fatal("no dialect 2.16")
	}
	specs := d.Operations("obdfilter")
	text := d.AppendHeader(nil, n)
	start := time.Unix(1_700_000_000, 0)
	for i := range n {
		ops := make([]jobstats.Op, len(specs))
		for j, spec := range specs {
			ops[j] = jobstats.Op{Name: []byte(spec.Name), Unit: spec.Unit}
			if j < 5 {
				count := round*uint64(1+i%kinds) + uint64(j)
				ops[j].Has, ops[j].Samples, ops[j].Min, ops[j].Max, ops[j].Sum = jobstats.HasRange, count, 1, 9, 5*count
			}
		}
		id := fmt.Appendf(nil, "%d:%d:r%02dc%02d", 11_000_000+i/40, 1000+i%300, i%40, i%53)
		born := time.Duration(start.UnixNano()) + time.Duration(i)*time.Millisecond
		text = d.AppendEntry(text, id, born+time.Hour, born, ops)
	}
	return text
}

// kinds is how many different sets of counters ostText prints.
const kinds = 7

// entriesOf parses a text. Equal operations share memory, so that it is in the cache as it is when one
// entry is filled again and again.
func entriesOf(tb testing.TB, text []byte) []*jobstats.Entry {
	tb.Helper()
	var entries []*jobstats.Entry
	s := jobstats.NewScanner(bytes.NewReader(text), jobstats.Options{})
	for {
		var e jobstats.Entry
		switch s.Next(&e) {
		case jobstats.End:
			return entries
		case jobstats.EntryRead:
			own := jobstats.Entry{ID: bytes.Clone(e.ID), Start: bytes.Clone(e.Start)}
			if at := len(entries) - kinds; at >= 0 {
				own.Ops, e.Ops = entries[at].Ops, nil
			}
			for _, op := range e.Ops {
				op.Name, op.Hist = bytes.Clone(op.Name), nil
				own.Ops = append(own.Ops, op)
			}
			entries = append(entries, &own)
		}
	}
}

// steady is a ledger that knows all entries and goes from one read to the next.
type steady struct {
	l       *Ledger
	now     time.Time
	entries [2][]*jobstats.Entry
	reading *Reading
	round   int
}

func newSteady(tb testing.TB, entries, maxEntries int) *steady {
	tb.Helper()
	s := &steady{now: time.Unix(1_700_003_600, 0)}
	s.l = testLedger(tb, func(c *Config) { c.MaxEntries = maxEntries }, s.now)
	for i := range s.entries {
		s.entries[i] = entriesOf(tb, ostText(tb, entries, uint64(i+1)))
	}
	s.reading = s.l.NewReading()
	for range 4 {
		s.fill()
		s.observe()
	}
	return s
}

func (s *steady) fill() {
	s.reading.Reset()
	// Counters never fall: after the second round the first comes with as much more as needed.
	for _, e := range s.entries[s.round%2] {
		s.reading.Add(e)
	}
	for i := range s.reading.values {
		s.reading.values[i].count += uint64(s.round/2) * 1_000_000
	}
	s.round++
}

func (s *steady) observe() *Sheet {
	s.now = s.now.Add(time.Minute)
	receipt := s.l.Ask(Client{Addr: "10.0.0.1:1", Agent: "Prometheus", Scraper: true}, s.now)
	sheet := s.l.Observe(Observation{Time: s.now, Discovered: true, Reads: []Read{{"fs-OST0000", "ost", s.reading}}})
	s.l.Served(receipt, sheet)
	return sheet
}

func perEntry(b *testing.B, n int) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
}

func BenchmarkAdd(b *testing.B) {
	s := newSteady(b, timingEntries, timingEntries)
	b.ReportAllocs()
	for b.Loop() {
		s.reading.Reset()
		for _, e := range s.entries[0] {
			s.reading.Add(e)
		}
	}
	perEntry(b, timingEntries)
}

// benchmarkCommit measures what accounting a read of known entries takes, without the sheet.
func benchmarkCommit(b *testing.B, maxEntries int) {
	s := newSteady(b, timingEntries, maxEntries)
	t := s.l.targets["fs-OST0000"]
	b.ReportAllocs()
	for b.Loop() {
		for i := range s.reading.values {
			s.reading.values[i].count++
		}
		s.l.now++
		s.l.commit(t, s.reading, s.now)
	}
	perEntry(b, timingEntries)
}

func BenchmarkCommitOwn(b *testing.B)    { benchmarkCommit(b, timingEntries) }
func BenchmarkCommitFolded(b *testing.B) { benchmarkCommit(b, 0) }

func BenchmarkSettle(b *testing.B) {
	s := newSteady(b, timingEntries, timingEntries)
	t := s.l.targets["fs-OST0000"]
	b.ReportAllocs()
	for b.Loop() {
		s.l.settle(t)
	}
	perEntry(b, timingEntries)
}

func BenchmarkSheet(b *testing.B) {
	s := newSteady(b, timingEntries, timingEntries)
	b.ReportAllocs()
	for b.Loop() {
		s.l.sheet(Observation{Discovered: true})
	}
	perEntry(b, timingEntries)
}

// BenchmarkTogether is all that one observation of known entries costs after parsing.
func BenchmarkTogether(b *testing.B) {
	s := newSteady(b, timingEntries, timingEntries)
	b.ReportAllocs()
	for b.Loop() {
		s.fill()
		s.observe()
	}
	perEntry(b, timingEntries)
}

// TestKnownEntriesCostNoAllocations holds the aim of docs/performance.md: what a read of known
// entries allocates does not grow with their number.
func TestKnownEntriesCostNoAllocations(t *testing.T) {
	allocs := func(entries, maxEntries int) float64 {
		s := newSteady(t, entries, maxEntries)
		return testing.AllocsPerRun(5, func() {
			s.fill()
			s.observe()
		})
	}
	for name, maxEntries := range map[string]int{"own": 10_000, "folded": 0} {
		few, many := allocs(100, maxEntries), allocs(3000, maxEntries)
		if many > few+8 {
			t.Errorf("%s: %g allocations with 100 entries, %g with 3000", name, few, many)
		}
	}
}

// TestMemoryPerEntry bounds what a ledger keeps: the aim is a whole scrape of 50,000 entries in 200 MB.
func TestMemoryPerEntry(t *testing.T) {
	const entries = 5000
	for name, c := range map[string]struct {
		maxEntries int
		most       int64
	}{"own": {entries, 1200}, "folded": {0, 900}} {
		texts := entriesOf(t, ostText(t, entries, 1))
		before := heap()
		l := testLedger(t, func(c2 *Config) { c2.MaxEntries = c.maxEntries }, time.Unix(1_700_003_600, 0))
		r := l.NewReading()
		for _, e := range texts {
			r.Add(e)
		}
		l.Observe(Observation{Time: time.Unix(1_700_003_600, 0), Discovered: true, Reads: []Read{{"fs-OST0000", "ost", r}}})
		r = nil
		got := (heap() - before) / entries
		t.Logf("%s: %d bytes per entry", name, got)
		if got > c.most {
			t.Errorf("%s: %d bytes per entry, want at most %d", name, got, c.most)
		}
		runtime.KeepAlive(l)
		runtime.KeepAlive(texts)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
