// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import "math"

// isBlank accepts tabs too, which Lustre prints nowhere but people's copies have.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isDigit(c byte) bool { return c-'0' <= 9 }

// leadingBlanks is the number of blanks that b begins with.
func leadingBlanks(b []byte) int {
	n := 0
	for n < len(b) && isBlank(b[n]) {
		n++
	}
	return n
}

// trimBlanks drops blanks at both ends, and the carriage return of a dump that went through Windows.
func trimBlanks(b []byte) []byte {
	b = b[leadingBlanks(b):]
	for len(b) > 0 && (isBlank(b[len(b)-1]) || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// decimal reads the digits that b begins with; n is 0 if there are none or they overflow.
func decimal(b []byte) (v uint64, n int) {
	for n < len(b) && isDigit(b[n]) {
		d := uint64(b[n] - '0')
		if v > (math.MaxUint64-d)/10 {
			return 0, 0
		}
		v = v*10 + d
		n++
	}
	return v, n
}
