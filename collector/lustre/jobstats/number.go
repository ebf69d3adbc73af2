// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import "math/bits"

// Eight bytes at a time. The text is followed by slack, so a load at any byte of it is in range.
const (
	eightSpaces = 0x2020202020202020
	eightZeros  = 0x3030303030303030
	highBits    = 0x8080808080808080
	beyondNine  = 0x7676767676767676 // added to a byte above 9 it reaches the high bit
)

// skipSpaces returns the index of the first byte at or behind b[i] that is not a blank. There is one: the newline.
func skipSpaces(b []byte, i int) int {
	for {
		if x := load8(b, i) ^ eightSpaces; x != 0 {
			return i + bits.TrailingZeros64(x)>>3
		}
		i += 8
	}
}

// number reads blanks and a decimal; next is 0 if there is none or it does not fit.
func number(b []byte, i int) (v uint64, next int) {
	i = skipSpaces(b, i)
	x := load8(b, i) ^ eightZeros
	end := (x + beyondNine | x) & highBits
	if end == 0 {
		return longNumber(b, i)
	}
	n := bits.TrailingZeros64(end) >> 3
	if n == 0 {
		return 0, 0
	}
	return eightDigits(x << (64 - 8*uint(n))), i + n
}

// eightDigits converts eight digit values, the most significant in the lowest byte: pairs, then fours, then all.
func eightDigits(x uint64) uint64 {
	const mask = 0x000000FF000000FF
	x = x*10 + x>>8
	return (x&mask*(100+1000000<<32) + x>>16&mask*(1+10000<<32)) >> 32
}

// longNumber reads a decimal of eight digits or more.
func longNumber(b []byte, i int) (v uint64, next int) {
	v = eightDigits(load8(b, i) ^ eightZeros)
	i += 8
	if x := load8(b, i) ^ eightZeros; (x+beyondNine|x)&highBits == 0 {
		v = v*100000000 + eightDigits(x)
		i += 8
	}
	for ; isDigit(b[i]); i++ {
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(b[i]-'0'), 0)
		if hi|carry != 0 {
			return 0, 0
		}
		v = sum
	}
	return v, i
}
