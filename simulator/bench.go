// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// benchStart is when every entry of WriteBench was created.
const benchStart = 1792000000 * time.Second // 2026-10-14

// WriteBench writes the job_stats of one OST in the layout of 2.16, for benchmarks: n living entries, each of a job and
// node of its own, with 5 of the 15 operations other than zero (reads and writes count as two each). step is the time in
// seconds; between two steps every counter that is not zero grows, and nothing else changes. Equal arguments write equal bytes.
func WriteBench(w io.Writer, n, step int) error {
	dialect, ok := jobstats.DialectNamed(DefaultDialect)
	if !ok {
		return fmt.Errorf("%w: no dialect %q", ErrConfig, DefaultDialect)
	}
	layout := newLayout(dialect, ost)
	stats := layout.newStats()
	r := &record{start: int64(benchStart), stats: stats}
	var (
		ops  []jobstats.Op
		hist []jobstats.Bucket
	)
	buffer := bytes.NewBuffer(make([]byte, 0, 1<<16+1<<12))
	buffer.Write(dialect.AppendHeader(nil, n))
	for i := range n {
		benchRecord(layout, r, uint64(i), uint64(step))
		ops, hist = layout.appendOps(ops[:0], hist[:0], r)
		buffer.Write(dialect.AppendEntry(buffer.AvailableBuffer(), []byte(r.id), time.Duration(r.last), time.Duration(r.start), ops))
		if buffer.Len() < 1<<16 && i < n-1 {
			continue
		}
		if _, err := buffer.WriteTo(w); err != nil {
			return fmt.Errorf("writing entry %d of %d: %w", i, n, err)
		}
	}
	if _, err := buffer.WriteTo(w); err != nil { // the header, where n is 0
		return fmt.Errorf("writing the header: %w", err)
	}
	return nil
}

// benchRecord sets r to entry i at the given step.
func benchRecord(l *layout, r *record, i, step uint64) {
	r.id = fmt.Sprintf("%d:%d:r%02dc%02d", 11000000+i/4, 10000000+i*7919%1_000_000, 1+i%99, 1+i/99%64)
	r.last = r.start + int64(step+1)*int64(time.Second) + int64(i)
	for k := range r.stats {
		hist := r.stats[k].hist
		if hist != nil {
			clear(hist[:])
		}
		r.stats[k] = stat{hist: hist}
	}
	calls := 100 + i%1000 + step*(1+i%7)
	for _, o := range [...]op{opRead, opWrite} {
		r.stats[l.calls[o]].add(batch{700 + i%90, calls})
		r.stats[l.bytes[o]].add(batch{4 << 10, calls / 4})
		r.stats[l.bytes[o]].add(batch{1 << 20, calls - calls/4})
	}
	r.stats[l.calls[opPunch]].add(batch{300, 1 + step})
}
