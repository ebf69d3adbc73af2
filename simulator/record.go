// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"math/bits"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// stat is one counter line of a record since the record was created, as lprocfs_counter_add keeps it.
type stat struct {
	samples, min, max, sum uint64
	sumsq                  uint64      // wraps, as Lustre's does
	hist                   *[32]uint64 // only where the dialect prints it
}

func (s *stat) add(b batch) {
	if s.samples == 0 || b.value < s.min {
		s.min = b.value
	}
	s.max = max(s.max, b.value)
	s.samples += b.count
	s.sum += b.value * b.count
	s.sumsq += b.value * b.value * b.count
	if s.hist != nil {
		s.hist[bucket(b.value)] += b.count
	}
}

// bucket is the index whose upper bound 2^index holds the value: fls(value-1), at most 31 (format reference 5).
func bucket(value uint64) int {
	if value == 0 {
		return 0
	}
	return min(bits.Len64(value-1), 31)
}

// record is what a target keeps of one identifier between creation and removal.
type record struct {
	id          string
	group       Class // whose population it counts in
	start, last int64 // nanoseconds since 1970
	stats       []stat
	gone        bool // removed; flows that still point here must make a new one
}

// layout says which lines of a dialect an operation moves, for one kind of target. -1: none.
type layout struct {
	specs     []jobstats.OpSpec
	names     [][]byte
	calls     [numOps]int // the line that counts requests
	bytes     [numOps]int // the line that counts bytes, of opRead and opWrite
	histogram bool
	latency   bool
}

// newLayout finds the lines. Up to 2.5 the lines read and write of an OST count bytes; in 2.11 to 2.13 an MDT prints
// read_bytes and write_bytes but never counts them, mdt_io_counter_incr being an empty stub.
func newLayout(d jobstats.Dialect, kind kind) *layout {
	l := &layout{specs: d.Operations(kind.dir()), histogram: d.Histogram(), latency: d.Latency()}
	for o := range numOps {
		l.calls[o], l.bytes[o] = -1, -1
	}
	for i, spec := range l.specs {
		l.names = append(l.names, []byte(spec.Name))
		o, isBytes := lineOf(spec)
		switch {
		case o == numOps:
		case !isBytes:
			l.calls[o] = i
		case kind == ost || l.latency:
			l.bytes[o] = i
		}
	}
	return l
}

func lineOf(spec jobstats.OpSpec) (o op, isBytes bool) {
	switch spec.Name {
	case "read_bytes":
		return opRead, true
	case "write_bytes":
		return opWrite, true
	}
	o, ok := opNamed(spec.Name)
	if !ok {
		return numOps, false
	}
	return o, spec.Unit == jobstats.Bytes
}

// counts reports whether any line moves with the operation.
func (l *layout) counts(o op) bool { return l.calls[o] >= 0 || l.bytes[o] >= 0 }

func (l *layout) newStats() []stat {
	s := make([]stat, len(l.specs))
	if l.histogram {
		for _, o := range [...]op{opRead, opWrite} {
			if i := l.bytes[o]; i >= 0 {
				s[i].hist = new([32]uint64)
			}
		}
	}
	return s
}

// appendOps converts a record's counters for printing; the result is valid until the next call with the same slices.
func (l *layout) appendOps(ops []jobstats.Op, hist []jobstats.Bucket, r *record) ([]jobstats.Op, []jobstats.Bucket) {
	for i := range r.stats {
		s, spec := &r.stats[i], l.specs[i]
		o := jobstats.Op{
			Name: l.names[i], Unit: spec.Unit, Samples: s.samples,
			Min: s.min, Max: s.max, Sum: s.sum, SumSq: s.sumsq,
		} // the dialect leaves out what it does not print
		if s.hist != nil {
			from := len(hist)
			for exp, n := range s.hist {
				if n > 0 {
					hist = append(hist, jobstats.Bucket{Exp: uint8(exp), Count: n})
				}
			}
			o.Hist = hist[from:len(hist):len(hist)]
		}
		ops = append(ops, o)
	}
	return ops, hist
}
