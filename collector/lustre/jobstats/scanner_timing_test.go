// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// workload prints entries as a busy target has them: two thirds of the counters are zero, the rest spread over magnitudes.
func workload(d Dialect, kind string, entries int, zeros float64) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	specs := d.Operations(kind)
	ops := make([]Op, len(specs))
	text := d.AppendHeader(nil, entries)
	for i := range entries {
		for j, s := range specs {
			op := Op{Name: []byte(s.Name), Unit: s.Unit}
			if rnd.Float64() >= zeros {
				op.Samples = rnd.Uint64N(1 << (4 + rnd.Uint64N(20)))
				op.Min, op.Max = 4096, 1<<(12+rnd.Uint64N(13))
				op.Sum = op.Samples * op.Max
				op.SumSq = op.Sum * op.Max
				for exp := uint8(12); exp < uint8(14+rnd.Uint64N(10)); exp++ {
					op.Hist = append(op.Hist, Bucket{exp, 1 + rnd.Uint64N(op.Samples+1)})
				}
			}
			ops[j] = op
		}
		id := fmt.Appendf(nil, "%d:%d:r%02dc%02d", 11300000+i, 10000+i%300, i%40, i%50)
		start := 1795000000*time.Second + time.Duration(rnd.Int64N(1e15))
		text = d.AppendEntry(text, id, start+time.Duration(rnd.Int64N(1e13)), start, ops)
	}
	return text
}

func benchmark(b *testing.B, text []byte, o Options, slow bool) {
	r := bytes.NewReader(text)
	s := NewScanner(r, o)
	s.slowOnly = slow
	var e Entry
	ops := 0
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		r.Reset(text)
		s.Reset(r)
		for ev := s.Next(&e); ev != End; ev = s.Next(&e) {
			ops += len(e.Ops)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ops), "ns/line")
	if c := s.Counters(); c.Unparsed != 0 {
		b.Fatalf("%+v", c)
	}
}

func BenchmarkScanner(b *testing.B) {
	for _, d := range Dialects() {
		for _, kind := range []string{"mdt", "obdfilter"} {
			text := workload(d, kind, 1000, 0.66)
			b.Run(d.Name+"/"+kind, func(b *testing.B) { benchmark(b, text, Options{}, false) })
		}
	}
}

// BenchmarkNoZeros is the worst case: every counter has a value.
func BenchmarkNoZeros(b *testing.B) {
	d, _ := DialectNamed("2.16")
	text := workload(d, "obdfilter", 1000, 0)
	b.Run("fast", func(b *testing.B) { benchmark(b, text, Options{}, false) })
	b.Run("general", func(b *testing.B) { benchmark(b, text, Options{}, true) })
}
