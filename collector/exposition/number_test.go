// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestAppendCount(t *testing.T) {
	f := func(v uint64) {
		t.Helper()
		want := strconv.FormatFloat(float64(v), 'g', -1, 64)
		if got := string(appendCount(nil, v, false)); got != want {
			t.Fatalf("appendCount(%d) = %q, want %q", v, got, want)
		}
	}
	for v := range uint64(1_200_000) {
		f(v)
	}
	// Every power of ten and two, and their neighbours: digits, carries, exponents.
	for _, base := range []uint64{2, 3, 10} {
		for v, power := uint64(1), uint64(0); v > power; v *= base {
			power = v
			for d := -3; d <= 3; d++ {
				f(v + uint64(d))
			}
			if v > math.MaxUint64/base {
				break
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		v := r.Uint64() >> r.UintN(64)
		f(v)
		f(v % exactIntegers / 1000 * 1000) // trailing zeros
	}
}

func TestAppendFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300_000 {
		v := math.Float64frombits(r.Uint64())
		if got, want := string(appendFloat(nil, v, false)), strconv.FormatFloat(v, 'g', -1, 64); got != want {
			t.Fatalf("appendFloat(%v) = %q, want %q", v, got, want)
		}
		v = float64(r.Int64()>>r.UintN(63)) / 4 // often whole
		if got, want := string(appendFloat(nil, v, false)), strconv.FormatFloat(v, 'g', -1, 64); v != 0 && got != want {
			t.Fatalf("appendFloat(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestNumbersFit(t *testing.T) {
	for _, v := range []float64{-math.MaxFloat64, -2.2250738585072014e-308, -1.2345678901234567e-300, -999999} {
		if n := len(appendFloat(nil, v, true)) + len("\n"); n > maxNumber {
			t.Errorf("%v takes %d bytes, maxNumber is %d", v, n, maxNumber)
		}
	}
}
