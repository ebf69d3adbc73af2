// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import "math/bits"

// The usual time lines begin so, and the value follows; the other spellings are rare enough for the general scanner.
const (
	usualSnapshot = "  snapshot_time:   "
	usualStart    = "  start_time:      "
	usualElapsed  = "  elapsed_time:    "
	usualUnit     = " secs.nsecs\n"
)

// fastTimes takes time lines as long as they have the usual layout.
func (s *Scanner) fastTimes(e *Entry) {
	for {
		i := s.pos
		kind, ok := fastTimeKind(s.buf[i : i+len(usualSnapshot)])
		if !ok {
			return
		}
		first := i + len(usualSnapshot)
		last, next := fastTimeValue(s.buf, first)
		if next == 0 || next > s.end || next-1-i > s.maxLine {
			return
		}
		e.setTime(kind, s.buf[first:last])
		s.c.Lines++
		s.pos, s.seen, s.stripped = next, next, false
	}
}

func fastTimeKind(line []byte) (timeKind, bool) {
	switch string(line) {
	case usualSnapshot:
		return snapshotTime, true
	case usualStart:
		return startTime, true
	case usualElapsed:
		return elapsedTime, true
	default:
		return 0, false
	}
}

// fastTimeValue finds the end of whole seconds, or of seconds with a fraction, and of the line; next is 0 for anything else. More
// than 19 digits might not fit 64 bits.
func fastTimeValue(b []byte, i int) (last, next int) {
	n := countDigits(b, i)
	if n == 0 || n > 19 {
		return 0, 0
	}
	last = i + n
	if b[last] == '\n' {
		return last, last + 1
	}
	n = countDigits(b, last+1)
	if b[last] != '.' || n == 0 || n > 18 {
		return 0, 0
	}
	last += 1 + n
	if next = last + len(usualUnit); string(b[last:next]) != usualUnit {
		return 0, 0
	}
	return last, next
}

// countDigits is the number of digits at b[i], or some number above 19.
func countDigits(b []byte, i int) int {
	for n := 0; n < 24; n += 8 {
		x := load8(b, i+n) ^ eightZeros
		if end := (x + beyondNine | x) & highBits; end != 0 {
			return n + bits.TrailingZeros64(end)>>3
		}
	}
	return 24
}
