// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import "encoding/binary"

// The fast path reads operation lines in exactly the layout that servers print, straight from the buffer and without looking
// for the newline first. Whatever is not so goes to parseOp, which accepts the same lines and more, with the same result.
// Loads may look behind the text, where a newline and slack bytes are; a line counts only if its own newline is in the text.

// The fixed text between the numbers as little-endian words, to compare with loads of eight bytes.
const (
	textSample = '{' | ' '<<8 | 's'<<16 | 'a'<<24 | 'm'<<32 | 'p'<<40 | 'l'<<48 | 'e'<<56
	textS      = 's' | ':'<<8
	textUnit   = ',' | ' '<<8 | 'u'<<16 | 'n'<<24 | 'i'<<32 | 't'<<40 | ':'<<48 | ' '<<56
	textMin    = ',' | ' '<<8 | 'm'<<16 | 'i'<<24 | 'n'<<32 | ':'<<40
	textMax    = ',' | ' '<<8 | 'm'<<16 | 'a'<<24 | 'x'<<32 | ':'<<40
	textSum    = ',' | ' '<<8 | 's'<<16 | 'u'<<24 | 'm'<<32 | ':'<<40
	textSumSq  = ',' | ' '<<8 | 's'<<16 | 'u'<<24 | 'm'<<32 | 's'<<40 | 'q'<<48 | ':'<<56
	textHist   = ',' | ' '<<8 | 'h'<<16 | 'i'<<24 | 's'<<32 | 't'<<40 | ':'<<48 | ' '<<56
	textReqs   = ' ' | 'r'<<8 | 'e'<<16 | 'q'<<24 | 's'<<32
	textBytes  = 'b' | 'y'<<8 | 't'<<16 | 'e'<<24 | 's'<<32
	textUsecs  = 'u' | 's'<<8 | 'e'<<16 | 'c'<<24 | 's'<<32
	textClose  = ' ' | '}'<<8 | '\n'<<16

	first3 = 1<<24 - 1
	first5 = 1<<40 - 1
	first6 = 1<<48 - 1
)

func load8(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// fastOps takes operation lines as long as they have the usual layout.
func (s *Scanner) fastOps(e *Entry) {
	i, lines := s.pos, 0
	for len(e.Ops) < maxOps {
		next := fastOp(s.buf, i, e.nextOp(), &s.zeros)
		if next == 0 || next > s.end || next-1-i > s.maxLine {
			break
		}
		e.keepOp()
		i = next
		lines++
	}
	if lines > 0 {
		s.c.Lines += uint64(lines)
		s.pos, s.seen = i, i
		s.hasOp, s.stripped = true, false
	}
}

// fastOp reads the line at b[i] into op and returns where the next line begins, 0 if the line is not as usual.
func fastOp(b []byte, i int, op *Op, zeros *zeroTails) int {
	if b[i] != ' ' || b[i+1] != ' ' {
		return 0
	}
	i += 2
	// The name of the same line of the entry before is right but for the first entry of a target.
	n := len(op.Name)
	known := n <= maxName && b[i+n] == ':' && string(b[i:i+n]) == string(op.Name)
	if !known {
		n = fastName(b[i : i+maxName+1])
	}
	if n == 0 {
		return 0
	}
	k := skipSpaces(b, i+n+1)
	if load8(b, k) != textSample || binary.LittleEndian.Uint16(b[k+8:]) != textS {
		return 0
	}
	if !known {
		op.Name = append(op.Name[:0], b[i:i+n]...)
	}
	// Servers print every operation, so most counters are zero; their text from the brace on is nearly always the same.
	tail := zeros.of(b, k)
	if tail.at(b, k) {
		op.Unit, op.Has = tail.unit, tail.has
		op.Samples, op.Min, op.Max, op.Sum, op.SumSq, op.Hist = 0, 0, 0, 0, 0, op.Hist[:0]
		return k + tail.size
	}
	op.Hist = op.Hist[:0]
	next := fixedFields(b, k, op)
	if next == 0 {
		next = freeFields(b, k, op)
	}
	if next != 0 && op.Samples|op.Min|op.Max|op.Sum|op.SumSq == 0 && len(op.Hist) == 0 {
		tail.learn(b[k:next], op)
	}
	return next
}

// fastName is the length of the name that b begins with, 0 if there is none.
func fastName(b []byte) int {
	for n, c := range b {
		switch c {
		case ':':
			return n
		case ' ', '\t', '\n':
			return 0
		}
	}
	return 0
}

// freeFields reads from the opening brace at b[k], numbers with any padding.
func freeFields(b []byte, k int, op *Op) int {
	if op.Samples, k = number(b, k+10); k == 0 || load8(b, k) != textUnit {
		return 0
	}
	unit, ok := fastUnit(load8(b, k+8))
	if !ok {
		return 0
	}
	k += 13
	op.Unit, op.Has, op.Min, op.Max, op.Sum, op.SumSq = unit, 0, 0, 0, 0, 0
	if b[k] == ',' {
		if k = fastRange(b, k, op); k == 0 {
			return 0
		}
	}
	return fastClose(b, k)
}

// fastUnit reads a unit of five bytes.
func fastUnit(word uint64) (Unit, bool) {
	switch word & first5 {
	case textReqs:
		return Requests, true
	case textBytes:
		return Bytes, true
	case textUsecs:
		return Microseconds, true
	default:
		return NoUnit, false
	}
}

// fastClose reads the closing brace and the newline.
func fastClose(b []byte, k int) int {
	if k == 0 || binary.LittleEndian.Uint32(b[k:])&first3 != textClose {
		return 0
	}
	return k + 3
}

// fastRange reads min, max and sum and what may follow, up to the closing brace.
func fastRange(b []byte, k int, op *Op) int {
	if load8(b, k)&first6 != textMin {
		return 0
	}
	if op.Min, k = number(b, k+6); k == 0 || load8(b, k)&first6 != textMax {
		return 0
	}
	if op.Max, k = number(b, k+6); k == 0 || load8(b, k)&first6 != textSum {
		return 0
	}
	if op.Sum, k = number(b, k+6); k == 0 {
		return 0
	}
	op.Has = HasRange
	if b[k] != ',' {
		return k
	}
	if load8(b, k) != textSumSq {
		return 0
	}
	if op.SumSq, k = number(b, k+8); k == 0 {
		return 0
	}
	op.Has = HasRange | HasSumSq
	if b[k] != ',' {
		return k
	}
	return fastHist(b, k, op)
}
