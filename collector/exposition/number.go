// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"math"
	"strconv"
)

const (
	// exactIntegers bounds the integers that a float64 tells apart. Below it the
	// shortest decimal that reads back equal is the integer itself.
	exactIntegers = 1 << 53
	// maxFixed is where strconv's 'g' format with shortest precision, which
	// expfmt uses, turns to an exponent: 999999, but 1e+06.
	maxFixed = 1e6
	// maxNumber is longer than any number with ".0" and a newline:
	// "-2.2250738585072014e-308".
	maxNumber = 32
)

const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// appendCount appends v as expfmt prints float64(v): with an exponent from 1e6
// on, and with ".0" in OpenMetrics where there is no exponent.
func appendCount(b []byte, v uint64, om bool) []byte {
	switch {
	case v < maxFixed:
		b = strconv.AppendUint(b, v, 10)
		if om {
			b = append(b, ".0"...)
		}
		return b
	case v < exactIntegers:
		return appendScientific(b, v)
	default:
		return strconv.AppendFloat(b, float64(v), 'g', -1, 64)
	}
}

// appendScientific appends maxFixed <= v < exactIntegers as d.ddde+XX without
// trailing zeros.
func appendScientific(b []byte, v uint64) []byte {
	var digits [16]byte // 2^53 has 16
	first := len(digits)
	// Eight digits at a time: 32-bit divisions are cheaper.
	for v >= 1e8 {
		low := uint32(v % 1e8)
		v /= 1e8
		for range 4 {
			first -= 2
			copy(digits[first:], digitPairs[low%100*2:][:2])
			low /= 100
		}
	}
	high := uint32(v)
	for high >= 10 {
		first -= 2
		copy(digits[first:], digitPairs[high%100*2:][:2])
		high /= 100
	}
	if high > 0 {
		first--
		digits[first] = byte('0' + high)
	}

	exponent := len(digits) - 1 - first
	last := len(digits)
	for digits[last-1] == '0' {
		last--
	}
	b = append(b, digits[first])
	if last > first+1 {
		b = append(b, '.')
		b = append(b, digits[first+1:last]...)
	}
	return append(b, 'e', '+', digitPairs[exponent*2], digitPairs[exponent*2+1])
}

// appendFloat appends v as expfmt does. Negative zero loses its sign there.
func appendFloat(b []byte, v float64, om bool) []byte {
	if v >= 0 && v < exactIntegers {
		if n := uint64(v); float64(n) == v {
			return appendCount(b, n, om)
		}
	}
	start := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	if om && !math.IsInf(v, 0) && !math.IsNaN(v) && isInteger(b[start:]) {
		b = append(b, ".0"...)
	}
	return b
}

func isInteger(number []byte) bool {
	for _, c := range number {
		if c == '.' || c == 'e' {
			return false
		}
	}
	return true
}
