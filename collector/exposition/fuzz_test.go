// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"math"
	"testing"
)

// FuzzEqual compares with expfmt in all formats: bytes become labels, values,
// help and buckets.
func FuzzEqual(f *testing.F) {
	f.Add("v", "read", "Help.", uint64(1), 1.5, int64(0), []byte{1, 2})
	f.Add("a\"b\\c\nd", "\x00", `"\`, uint64(1e6), math.Inf(1), int64(1700000000123), []byte{})
	f.Add("\xff\u2028", "", "", uint64(1<<53+1), math.NaN(), int64(-1), []byte{0, 0, 9, 3, 1, 0, 40, 255})
	f.Fuzz(func(t *testing.T, v, op, help string, n uint64, x float64, created int64, raw []byte) {
		// Beyond the years 1 to 9999 a Timestamp is invalid.
		created %= 253402300800000
		l := labels("a", v, "b", op)
		samples := []sample{
			{count: &n, created: created},
			{before: l, name: "op", value: op, after: labels("z", v), count: &n, created: created},
			{before: l, name: "op", value: v, after: labels("z", v), float: &x},
			{before: l, after: l, float: &x, created: created},
			{name: "op", value: op, count: &n},
		}
		h := &Native{Sum: x}
		index := int32(-3)
		for i := 0; i+1 < len(raw) && i < 200; i += 2 {
			index += int32(raw[i]%6) + 1
			h.Buckets = append(h.Buckets, NativeBucket{index, uint64(raw[i+1]) * (n >> 24 % (1 << 40))})
		}
		unit := ""
		if len(raw) > 3 {
			unit = op
		}
		checkEqual(t,
			family{Family{Name: "a_total", Help: help, Unit: unit, Type: Counter}, samples},
			family{Family{Name: "h", Help: help, Unit: unit, Type: NativeHistogram}, []sample{{before: l, native: h, after: l, created: created}}},
			family{Family{Name: "g", Help: help, Type: Gauge}, samples})
	})
}
