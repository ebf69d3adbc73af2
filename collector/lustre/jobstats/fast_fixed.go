// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import "encoding/binary"

// Since 2.15 every line of an entry has min, max, sum and sumsq, with a blank before each number, so that numbers which fit
// their fields always stand in the same columns. fixedFields takes them from there without a branch on their digits: numbers of
// random length would cost a mispredicted branch each.

// The columns, counted from the opening brace.
const (
	colSamples = 11
	colUnit    = 22
	colMin     = 35
	colMax     = 50
	colSum     = 65
	colSumSq   = 88
	colEnd     = 115 // if sumsq fits its 18 digits
)

const (
	lastS   = 's' | ':'<<8 | ' '<<16
	first7  = 1<<56 - 1
	space48 = ' ' << 48          // behind ", min:"
	digit1  = 0x1010101010101010 // set in digits, not in blanks
)

// fixedFields reads the line whose brace is at b[k]; 0 if it is not laid out so.
func fixedFields(b []byte, k int, op *Op) int {
	b = b[k:]
	_ = b[slack-8] // the text is followed by slack
	bad := load8(b, 0) ^ textSample
	bad |= uint64(binary.LittleEndian.Uint32(b[8:])&first3 ^ lastS)
	bad |= load8(b, colUnit) ^ textUnit
	bad |= load8(b, colMin)&first7 ^ (textMin | space48)
	bad |= load8(b, colMax)&first7 ^ (textMax | space48)
	bad |= load8(b, colSum)&first7 ^ (textSum | space48)
	bad |= load8(b, colSumSq) ^ textSumSq
	if bad != 0 {
		return 0
	}
	unit, ok := fastUnit(load8(b, colUnit+8))
	if !ok {
		return 0
	}
	samples, wrong1 := column16(load8(b, colSamples)<<40|eightSpaces>>24, load8(b, colSamples+3))
	least, wrong2 := column8(load8(b, colMin+7))
	most, wrong3 := column8(load8(b, colMax+7))
	sum, wrong4 := column16(load8(b, colSum+7), load8(b, colSum+15))
	if wrong1|wrong2|wrong3|wrong4 != 0 {
		return 0
	}
	op.Unit, op.Has = unit, HasRange|HasSumSq
	op.Samples, op.Min, op.Max, op.Sum = samples, least, most, sum
	i := 0
	if op.SumSq, i = fixedSumSq(b); i == 0 {
		return 0
	}
	if b[i] == ',' {
		if i = fastHist(b, i, op); i == 0 {
			return 0
		}
	}
	if i = fastClose(b, i); i == 0 {
		return 0
	}
	return k + i
}

// fixedSumSq reads the number behind sumsq, which for large RPCs outgrows 16 digits and then its field, and returns its end.
func fixedSumSq(b []byte) (v uint64, end int) {
	if binary.LittleEndian.Uint32(b[colSumSq+8:])&first3 != eightSpaces&first3 {
		return number(b, colSumSq+8)
	}
	v, wrong := column16(load8(b, colEnd-16), load8(b, colEnd-8))
	if wrong != 0 {
		return 0, 0
	}
	return v, colEnd
}

// column8 converts a number right-justified in eight columns. Wrong is not 0 if the text is anything but blanks and then digits.
func column8(x uint64) (v, wrong uint64) {
	digit := x & digit1
	z := (x | digit1) ^ eightZeros
	wrong = (z + beyondNine | z) & highBits // not a digit, nor a blank
	wrong |= z &^ (digit - digit>>4)        // a blank has no value
	wrong |= digit << 8 &^ digit            // a blank behind a digit
	wrong |= ^digit >> 60 & 1               // a blank at the end
	return eightDigits(z), wrong
}

// column16 is column8 for two words, of which the first may be blank.
func column16(hi, lo uint64) (v, wrong uint64) {
	digit := hi & digit1
	z := (hi | digit1) ^ eightZeros
	wrong = (z + beyondNine | z) & highBits
	wrong |= z &^ (digit - digit>>4)
	wrong |= digit << 8 &^ digit
	wrong |= digit >> 56 &^ lo // digits go on in the second word
	v, more := column8(lo)
	return eightDigits(z)*100000000 + v, wrong | more
}
