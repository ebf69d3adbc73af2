// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"bytes"
	"math"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
)

func nativeCases() []*Native {
	all := make([]NativeBucket, 32)
	for i := range all {
		all[i] = NativeBucket{int32(i), uint64(i+1) * 1_000_003 % 9973}
	}
	return []*Native{
		{},
		{Sum: math.NaN()},
		{Buckets: []NativeBucket{{12, 0}}},
		{Sum: 4096, Buckets: []NativeBucket{{12, 1}}},
		{Sum: 1, Buckets: []NativeBucket{{0, 1}}},
		{Sum: 0.25, Buckets: []NativeBucket{{-2, 1}, {0, 3}}},
		{Sum: 1e300, Buckets: []NativeBucket{{minIndex, 1}, {maxIndex, math.MaxInt64 - 1}}},
		{Sum: 1e18, Buckets: []NativeBucket{{20, math.MaxInt64}}},
		{Sum: 5, Buckets: []NativeBucket{{1, 7}, {2, 5}, {4, 5}, {7, 1}, {11, 300}, {12, 0}, {13, 0}, {16, 2}}},
		{Sum: 5, Buckets: []NativeBucket{{0, 0}, {1, 7}, {2, 0}, {3, 0}, {4, 9}, {5, 0}, {6, 0}, {7, 0}, {8, 2}, {31, 0}}},
		{Sum: 123456789, Buckets: all},
	}
}

func TestNativeEqualsClientGolang(t *testing.T) {
	f := family{Family: Family{Name: "size_bytes", Help: "H", Unit: "bytes", Type: NativeHistogram}}
	for _, h := range nativeCases() {
		f.samples = append(f.samples,
			sample{native: h},
			sample{before: labels("a", "b"), native: h, after: labels("c", "d"), created: 1700000000001},
			sample{before: labels("a", "b"), name: "op", value: "left out", native: h, after: labels("c", "d")})
	}
	checkEqual(t, f)

	var m dto.MetricFamily
	b := got(t, expfmt.FmtProtoDelim, []family{f})
	if err := protodelim.UnmarshalFrom(bytes.NewReader(b), &m); err != nil {
		t.Fatal(err)
	}
	if w := f.message(t); !proto.Equal(&m, w) {
		t.Errorf("decoded %v, want %v", &m, w)
	}
}

// TestNativeMeaning reads buckets back as Prometheus does, without the reference.
func TestNativeMeaning(t *testing.T) {
	for _, h := range nativeCases() {
		b := got(t, expfmt.FmtProtoDelim, []family{{Family{Name: "h", Type: NativeHistogram}, []sample{{native: h}}}})
		var m dto.MetricFamily
		if err := protodelim.UnmarshalFrom(bytes.NewReader(b), &m); err != nil {
			t.Fatal(err)
		}
		d := m.Metric[0].Histogram
		read, sum := map[int32]uint64{}, uint64(0)
		index, count, deltas := int32(0), int64(0), d.PositiveDelta
		for _, p := range d.PositiveSpan {
			index += p.GetOffset()
			for range p.GetLength() {
				count += deltas[0]
				deltas = deltas[1:]
				if count < 0 {
					t.Errorf("%v: bucket %d has count %d", h, index, count)
				}
				read[index] += uint64(count)
				sum += uint64(count)
				index++
			}
		}
		if len(deltas) > 0 || len(d.PositiveSpan) == 0 || sum != d.GetSampleCount() || d.GetSchema() != 0 || d.ZeroThreshold == nil || d.ZeroCount == nil {
			t.Errorf("%v: not a native histogram whose count is the sum of its buckets: %v", h, d)
		}
		for _, w := range h.Buckets {
			if read[w.Index] != w.Count {
				t.Errorf("%v: bucket %d is %d", h, w.Index, read[w.Index])
			}
		}
	}
}

func TestNativeInvalid(t *testing.T) {
	for _, buckets := range [][]NativeBucket{
		{{1, 1}, {1, 1}},
		{{1, 1}, {0, 1}},
		{{1, 0}, {0, 0}},
		{{minIndex - 1, 1}},
		{{maxIndex + 1, 1}},
		{{math.MinInt32, 1}},
		{{math.MaxInt32, 1}},
		{{1, math.MaxInt64 + 1}},
		{{1, math.MaxUint64}, {2, 2}},
		{{1, math.MaxInt64}, {2, 1}},
	} {
		if new(layout).set(buckets) {
			t.Errorf("%v was accepted", buckets)
		}
	}
}

func TestVarintSize(t *testing.T) {
	for shift := range 64 {
		for _, v := range []uint64{0, 1<<shift - 1, 1 << shift, math.MaxUint64 >> shift} {
			if got, want := varintSize(v), len(appendVarint(nil, v)); got != want {
				t.Errorf("varintSize(%d) = %d, want %d", v, got, want)
			}
		}
	}
}
