// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"math"
	"time"
)

// serve lets a target count n operations of a flow, spread over d from the given time.
func (c *Cluster) serve(j *job, f *flow, from int64, d time.Duration, n uint64) {
	t, group := f.target, j.class.group()
	first, last := c.span(from, d, n)
	if f.record == nil || f.record.gone || t.era.scanOnOp {
		f.record = t.recordFor(f.id, group, first)
	}
	if !f.known {
		f.known = true
		c.plan[group].pending--
	}
	f.record.start = min(f.record.start, first) // another flow may have made it later in the same piece of time
	f.record.last = max(f.record.last, last)
	t.version++
	f.mix.split(c.rng, n, func(o op, n uint64) {
		c.count(f, o, n)
		if o == opRename {
			c.countRename(f, n)
		}
	})
}

// span draws the first and the last of n instants spread evenly over d.
func (c *Cluster) span(from int64, d time.Duration, n uint64) (first, last int64) {
	first = from + int64(float64(d)*(1-math.Pow(1-c.rng.Float64(), 1/float64(n))))
	if n == 1 {
		return first, first
	}
	left := float64(from + int64(d) - first)
	return first, first + int64(left*math.Pow(c.rng.Float64(), 1/float64(n-1)))
}

// countRename counts renames again under what they turned out to be, as mdt_rename_counter_tally does: every one is within
// a directory or across two; from 2.16 some also run in parallel, from 2.17 some also try locks.
func (c *Cluster) countRename(f *flow, n uint64) {
	cross := min(n, uint64(round(c.rng, float64(n)*.2)))
	parallel := min(n, uint64(round(c.rng, float64(n)*.5)))
	for _, part := range [...]struct {
		op op
		n  uint64
	}{
		{opSamedirRename, n - cross},
		{opCrossdirRename, cross},
		{opParallelRenameFile, parallel - parallel/8},
		{opParallelRenameDir, parallel / 8},
		{opRenameTrylocks, parallel / 4},
	} {
		if part.n > 0 {
			c.count(f, part.op, part.n)
		}
	}
}

// count moves the lines of one operation, and the truth with them.
func (c *Cluster) count(f *flow, o op, n uint64) {
	l, stats := f.target.layout, f.record.stats
	if !l.counts(o) {
		return
	}
	sum := Count{Samples: n}
	if i := l.calls[o]; i >= 0 && l.latency {
		c.batches = latencies(c.rng, c.batches[:0], o, n)
		for _, b := range c.batches {
			stats[i].add(b)
			sum.Micros += b.value * b.count
		}
	} else if i >= 0 {
		stats[i].samples += n
	}
	if i := l.bytes[o]; i >= 0 {
		c.batches = f.sizes.draw(c.rng, c.batches[:0], n)
		for _, b := range c.batches {
			stats[i].add(b)
			sum.Bytes += b.value * b.count
		}
	}
	f.truth.add(o, sum)
}
