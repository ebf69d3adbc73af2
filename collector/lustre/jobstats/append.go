// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"math/bits"
	"strconv"
)

// Append renders e in the layout of Lustre 2.16, with exactly the times and fields that it has. What a Scanner returned parses
// back equal; an identifier with a newline in it does not.
func (e *Entry) Append(dst []byte) []byte {
	dst = append(append(append(dst, standardID...), e.ID...), '\n')
	for k, t := range [numTimes]Time{e.Snapshot, e.Start, e.Elapsed} {
		if t != nil {
			dst = appendTimeLine(dst, spelledNew, timeKind(k), t)
		}
	}
	for i := range e.Ops {
		dst = appendOp(dst, &e.Ops[i], e.Ops[i].Has, true)
	}
	return dst
}

// spelling is how a generation writes its time lines.
type spelling uint8

const (
	spelledNew spelling = iota // "  snapshot_time:   1723114647.887515895 secs.nsecs"; whole seconds have no unit
	spelled215                 // "snapshot_time   : ..." at column 0, lprocfs_stats_header of 2.15.0
	spelledHPE                 // the same behind two blanks, lprocfs_stats_header_ind
)

// timeColumn is the width of name and colon: printf("  %-16s ", "snapshot_time:").
const timeColumn = 17

func appendTimeLine(dst []byte, how spelling, k timeKind, t Time) []byte {
	name := timeNames[k]
	if how != spelled215 {
		dst = append(dst, "  "...)
	}
	dst = append(dst, name...)
	if how == spelledNew {
		dst = appendPad(append(dst, ':'), timeColumn-1-len(name))
	} else {
		dst = append(appendPad(dst, timeColumn-1-len(name)), ": "...)
	}
	dst = append(dst, t...)
	if bytes.IndexByte(t, '.') >= 0 {
		dst = append(dst, " secs.nsecs"...)
	}
	return append(dst, '\n')
}

// nameColumn is the width of an operation's name (lprocfs_stats_counter printing in job_stats); longer names push the rest.
const nameColumn = 15

// appendOp prints the fields in has. Spaced is since 2.15 (151f5322d3): a blank before min, max and sum even when the number
// fills its field.
func appendOp(dst []byte, op *Op, has Fields, spaced bool) []byte {
	dst = append(append(append(dst, "  "...), op.Name...), ':')
	dst = appendPad(dst, nameColumn-len(op.Name))
	dst = appendRight(append(dst, " { samples: "...), op.Samples, 11)
	if op.Unit != NoUnit {
		unit := op.Unit.String()
		dst = appendPad(append(dst, ", unit: "...), 5-len(unit))
		dst = append(dst, unit...)
	}
	if has&HasRange != 0 {
		dst = appendNumber(dst, ", min:", op.Min, 8, spaced)
		dst = appendNumber(dst, ", max:", op.Max, 8, spaced)
		dst = appendNumber(dst, ", sum:", op.Sum, 16, spaced)
	}
	if has&HasSumSq != 0 {
		dst = appendNumber(dst, ", sumsq:", op.SumSq, 18, true)
	}
	if has&HasHist != 0 {
		dst = appendHist(append(dst, ", hist: "...), op.Hist)
	}
	return append(dst, " }\n"...)
}

func appendNumber(dst []byte, label string, v uint64, width int, spaced bool) []byte {
	dst = append(dst, label...)
	if spaced {
		dst = append(dst, ' ')
	}
	return appendRight(dst, v, width)
}

// appendHist prints `{ 32K: 1, 64K: 1 }` and `{  }` when empty.
func appendHist(dst []byte, hist []Bucket) []byte {
	dst = append(dst, "{ "...)
	for i, b := range hist {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendLabel(dst, b.Exp)
		dst = strconv.AppendUint(append(dst, ": "...), b.Count, 10)
	}
	return append(dst, " }"...)
}

// appendLabel prints 2^exp as 1 to 512 without or with K, M or G.
func appendLabel(dst []byte, exp uint8) []byte {
	dst = strconv.AppendUint(dst, 1<<(exp%10), 10)
	if exp >= 10 {
		dst = append(dst, "KMG"[min(exp/10, 3)-1])
	}
	return dst
}

// appendRight prints v right-justified, wider if it must be.
func appendRight(dst []byte, v uint64, width int) []byte {
	return strconv.AppendUint(appendPad(dst, width-digits(v)), v, 10)
}

// digits is the length of v in decimal; 1233/4096 is just above log10(2).
func digits(v uint64) int {
	n := bits.Len64(v|1) * 1233 >> 12
	if v|1 >= powersOfTen[n] {
		n++
	}
	return n
}

var powersOfTen = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// appendPad appends n blanks, none if n is not positive.
func appendPad(dst []byte, n int) []byte {
	const blanks = "                    "
	for n > len(blanks) {
		dst, n = append(dst, blanks...), n-len(blanks)
	}
	if n > 0 {
		dst = append(dst, blanks[:n]...)
	}
	return dst
}
