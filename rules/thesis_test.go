// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"math"
	"testing"
)

// The equations of the thesis' appendix C, as directly as Go can say them. Times are in scrapes, one a minute.

// observed holds the observed values c_k of one identifier: c[i] at time first+i. Nothing of it is observed before.
type observed struct {
	first int
	c     []float64
}

// value is C1: the counter value, 0 where it is not observed.
func (o observed) value(t int) float64 {
	if i := t - o.first; i >= 0 && i < len(o.c) {
		return o.c[i]
	}
	return 0
}

// interval is C2, in seconds.
func interval(before, t int) float64 { return 60 * float64(t-before) }

// increment is C3: from 0 after a reset.
func (o observed) increment(before, t int) float64 {
	if o.value(t) >= o.value(before) {
		return o.value(t) - o.value(before)
	}
	return o.value(t)
}

// rateBetween is C4.
func (o observed) rateBetween(before, t int) float64 {
	return o.increment(before, t) / interval(before, t)
}

// rateAt is C5: the rates as a step function.
func (o observed) rateAt(t int) float64 { return o.rateBetween(t-1, t) }

// integral is C6: what the step function adds up to from one time to another.
func (o observed) integral(from, to int) float64 {
	sum := 0.0
	for t := from + 1; t <= to; t++ {
		sum += o.rateAt(t) * interval(t-1, t)
	}
	return sum
}

// resampled is C7: the rate over a longer step that preserves the increments.
func (o observed) resampled(from, to int) float64 { return o.integral(from, to) / interval(from, to) }

// total is C8: the sum of rates.
func total(rates []float64) float64 {
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	return sum
}

// inBucket is C9 with base 10: half-open.
func inBucket(y int, x float64) bool {
	return math.Pow10(y) <= x && x < math.Pow10(y+1)
}

// density is C10: how many rates are in the bucket.
func density(y int, rates []float64) int {
	n := 0
	for _, r := range rates {
		if inBucket(y, r) {
			n++
		}
	}
	return n
}

func TestEquations(t *testing.T) {
	o := observed{first: 1, c: []float64{0, 60, 60, 30, 90}} // born at 1, reset between 3 and 4, gone after 5
	f := func(what string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}

	f("C1 before", o.value(0), 0)
	f("C1", o.value(2), 60)
	f("C1 after", o.value(6), 0)
	f("C2", interval(2, 4), 120)
	f("C3 growth", o.increment(1, 2), 60)
	f("C3 reset", o.increment(3, 4), 30)
	f("C3 end", o.increment(5, 6), 0)
	f("C4", o.rateBetween(1, 2), 1)
	f("C5", o.rateAt(4), 0.5)
	f("C6", o.integral(0, 6), 150)
	f("C7", o.resampled(0, 5), 0.5)
	f("C8", total([]float64{1, 0.5}), 1.5)
	f("C10", float64(density(1, []float64{9.99, 10, 99.9, 100})), 2)
	for _, x := range []float64{0.01, 1, 9.999, 10, 1000, 123456} {
		y := int(math.Floor(math.Log10(x)))
		if !inBucket(y, x) || inBucket(y+1, x) || inBucket(y-1, x) {
			t.Errorf("C9: %g is not in bucket %d alone", x, y)
		}
	}
}
