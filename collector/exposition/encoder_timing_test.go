// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"fmt"
	"io"
	"testing"
)

const (
	timedEntries = 2000
	timedOps     = 5 // per Labels call, as a typical entry
)

// timedFamily emits series as a busy OST's, with values of every length.
func timedFamily() (Family, func(s *Series)) {
	type entry struct{ before, after []Label }
	entries := make([]entry, timedEntries)
	for i := range entries {
		entries[i] = entry{
			labels("jobid", fmt.Sprint(11317854+i/8), "nodename", fmt.Sprintf("r%02dc%02d", i%48, i%60)),
			labels("target", "scratch-OST000f", "uid", fmt.Sprint(17627127+i/32)),
		}
	}
	ops := [timedOps]string{"read", "write", "read_bytes", "punch", "setattr"}
	f := Family{Name: "lustre_job_operations_total", Help: "Operations.", Type: Counter}
	return f, func(s *Series) {
		s.Variable("operation")
		for i := range entries {
			s.Labels(entries[i].before, entries[i].after)
			for j, op := range ops {
				s.Count(op, uint64(i*i)*[timedOps]uint64{1, 7, 40961, 3, 104857601}[j], 0)
			}
		}
	}
}

func timedHistograms() (Family, func(s *Series)) {
	before, after := labels("jobid", "11317854", "nodename", "r01c01"), labels("target", "scratch-OST000f", "uid", "17627127")
	h := &Native{Sum: 1 << 40}
	for i := range int32(10) {
		h.Buckets = append(h.Buckets, NativeBucket{Index: 12 + i, Count: uint64(i+1) * 1000})
	}
	f := Family{Name: "lustre_job_read_size_bytes", Help: "Sizes.", Unit: "bytes", Type: NativeHistogram}
	return f, func(s *Series) {
		for range timedEntries * timedOps {
			s.Labels(before, after)
			s.Histogram(h, 0)
		}
	}
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func BenchmarkFamily(b *testing.B) {
	run := func(name string, i int, f Family, produce func(s *Series)) {
		b.Run(name, func(b *testing.B) {
			var w counter
			e, err := New(&w, formats[i].format)
			if err != nil {
				b.Fatal(err)
			}
			_ = e.Family(f, produce) // scratch grows once
			_ = e.Close()
			b.SetBytes(w.n)
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Family(f, produce); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(timedEntries*timedOps), "ns/series")
		})
	}
	f, produce := timedFamily()
	for i := range formats {
		run(formats[i].name, i, f, produce)
	}
	h, produceHistograms := timedHistograms()
	run("protobuf-native", len(formats)-1, h, produceHistograms)
}

func TestNoAllocations(t *testing.T) {
	counts, produceCounts := timedFamily()
	histograms, produceHistograms := timedHistograms()
	for _, f := range formats {
		e, err := New(io.Discard, f.format)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(3, func() {
			_ = e.Family(counts, produceCounts)
			_ = e.Family(histograms, produceHistograms)
		}); n > 0 {
			t.Errorf("%s: %v allocations in two families", f.name, n)
		}
	}
}
