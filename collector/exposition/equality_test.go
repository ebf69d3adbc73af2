// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func hostileValues() []string {
	values := []string{
		"", " ", "plain", `"`, `\`, "\n", `\n`, `\\"`, "a\"b\\c\nd", `ends in \`, `"quoted"`,
		"\x00", "a\x00b", "\r\n", "\t", "ä", "日本語", "\u2028\u2029", "\U0001F600", "\ufeff", "é",
		"{}", "a=\"b\",c=\"d\"} 1\n# EOF\n", "# HELP", "%s%d",
		"\xff\xfe", "cut \xe6\x97", // not UTF-8: expfmt does not mind either
	}
	for c := range 0x20 {
		values = append(values, string(rune(c)), fmt.Sprintf("x%cy", c))
	}
	values = append(values, "\x7f", "\u0080", "\u009f")
	// Around the lengths at which a varint grows, and beyond the buffer.
	for _, n := range []int{100, 105, 110, 115, 118, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 200, 16383, 16384, bufferSize - 1, bufferSize, 3 * bufferSize} {
		values = append(values, strings.Repeat("v", n), strings.Repeat("\"", n))
	}
	return values
}

func TestHostileLabelValues(t *testing.T) {
	for _, kind := range []Type{Counter, Gauge} {
		f := family{Family: Family{Name: "x_total", Help: "Help.", Type: kind}}
		for i, v := range hostileValues() {
			n := uints(uint64(i) * 999)
			f.samples = append(f.samples,
				sample{before: labels("a", v), count: n},
				sample{before: labels("a", "1"), name: "op", value: v, count: n},
				sample{before: labels("a", "1"), name: "op", value: "next", count: n, created: 1700000000123},
				sample{name: "op", value: v, after: labels("z", v), count: n},
				sample{before: labels("a", v, "b", v), name: "op", value: v, after: labels("y", v, "z", v), count: n})
		}
		checkEqual(t, f)
	}
}

func TestLabelShapes(t *testing.T) {
	one := uints(1)
	checkEqual(t, family{Family{Name: "shapes_total", Help: "H", Type: Counter}, []sample{
		{count: one},
		{before: labels("a", "1"), count: one},
		{after: labels("z", "1"), count: one},
		{before: labels("a", "1"), after: labels("z", "1"), count: one},
		{name: "op", value: "v", count: one},
		{before: labels("a", "1"), name: "op", value: "v", count: one},
		{name: "op", value: "v", after: labels("z", "1"), count: one},
		{before: labels("a", "1"), name: "op", value: "v", after: labels("z", "1"), count: one},
		{before: labels("a", "1"), name: "other", value: "", after: labels("z", "1"), count: one},
		{before: labels("a", "1"), value: "ignored without a name", after: labels("z", "1"), count: one},
		{count: one},
	}})
}

func TestValues(t *testing.T) {
	integers := []uint64{0, 1, 2, 9, 10, 11, 99, 100, 999, 123456, 999999, 1000000, 1000001, 1000010, 1234567, 9999999, 10000000,
		99999999, 100000000, 100000001, 999999999, 1 << 32, 1e10, 1e15, 1e15 + 1, 9e15, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1e16, 1 << 63, math.MaxUint64}
	fractions := []float64{0, math.Copysign(0, -1), 1, -1, -2, 0.000001, 0.0001, 0.00001, 0.1, 12345.678901, 999999, 999999.5, 1e6, 1000000.5, -1e6, -123,
		1e20, 1e21, 1e22, 1e100, 1 << 53, 1<<53 + 2, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308,
		-2.2250738585072014e-308, math.Pi, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxUint64}
	for _, kind := range []Type{Counter, Gauge} {
		f := family{Family: Family{Name: "x_total", Help: "Help.", Type: kind}}
		for _, v := range integers {
			f.samples = append(f.samples, sample{before: labels("a", "b"), count: uints(v)}, sample{count: uints(v), created: 1})
		}
		for _, v := range fractions {
			f.samples = append(f.samples, sample{before: labels("a", "b"), float: floats(v)}, sample{float: floats(v), created: 1})
		}
		checkEqual(t, f)
	}
}

func TestComments(t *testing.T) {
	one := []sample{{count: uints(1)}}
	var families []family
	for _, kind := range []Type{Counter, Gauge} {
		for _, name := range []string{"a_total", "a", "a_total_", "total", "a_total_total", "a_bytes_total", "ns:rule:sum"} {
			families = append(families, family{Family{Name: name, Help: "Plain.", Type: kind}, one})
		}
		for _, v := range hostileValues() {
			families = append(families, family{Family{Name: "h_total", Help: v, Unit: v, Type: kind}, one})
		}
		families = append(families, family{Family{Name: "a_bytes_total", Help: "H", Unit: "bytes", Type: kind}, one})
	}
	families = append(families, family{Family{Name: "h_bytes", Help: `"H"`, Unit: "bytes", Type: NativeHistogram}, []sample{{native: &Native{}}}})
	checkEqual(t, families...)
}

func TestCreated(t *testing.T) {
	var counters, histograms []sample
	for _, ms := range []int64{0, 1, 999, 1000, 1001, 127000, 128000, 1700000000000, 1700000000999, 1795226400001, -1, -999, -1000, -1001, -62135596800000, 253402300799999} {
		counters = append(counters, sample{count: uints(5), created: ms})
		histograms = append(histograms, sample{native: &Native{Sum: 1, Buckets: []NativeBucket{{0, 1}}}, created: ms})
	}
	checkEqual(t,
		family{Family{Name: "c_total", Help: "H", Type: Counter}, counters},
		family{Family{Name: "g", Help: "H", Type: Gauge}, counters},
		family{Family{Name: "h", Help: "H", Type: NativeHistogram}, histograms},
		family{Family{Name: "d_total", Help: "H", Type: Counter}, counters[:1]})
	for _, f := range formats[:3] {
		if out := got(t, f.format, []family{{Family{Name: "c_total", Type: Counter}, counters}}); strings.Contains(string(out), "_created") {
			t.Errorf("%s has _created lines, which a Prometheus would store as series", f.name)
		}
	}
}

func TestStream(t *testing.T) {
	empty := Family{Name: "empty_total", Help: "No series.", Unit: "bytes", Type: Counter}
	var many []sample
	for i := range 3000 {
		before := labels("jobid", fmt.Sprint(i/5), "nodename", fmt.Sprintf("r%02dc%02d", i%7, i/5%50))
		many = append(many, sample{before: before, name: "operation", value: fmt.Sprint("op", i%5), after: labels("target", "fs-OST0000", "uid", fmt.Sprint(i/9)), count: uints(uint64(i) * 1234567), created: int64(i/5) + 1})
	}
	checkEqual(t)
	checkEqual(t, family{Family: empty})
	checkEqual(t,
		family{Family: empty},
		family{Family{Name: "a_total", Help: "A", Type: Counter}, many},
		family{Family: empty},
		family{Family{Name: "b_bytes_total", Help: "B", Unit: "bytes", Type: Counter}, many[:1]},
		family{Family: Family{Name: "h", Type: NativeHistogram}},
		family{Family{Name: "c", Type: Gauge}, many},
		family{Family{Name: "d_total", Help: "D", Type: Counter}, []sample{{count: uints(7)}}},
		family{Family: empty})
}
