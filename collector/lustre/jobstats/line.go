// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"math/bits"
)

// idColumn is where Lustre prints the identifier: printf("- %-16s %s", "job_id:", id). Behind it blanks belong to the identifier.
const idColumn = 19

const standardID = "- job_id:          "

// identifier is the value of a `- job_id:` line, which may be empty.
func identifier(line []byte) (id []byte, ok bool) {
	if len(line) >= idColumn && string(line[:idColumn]) == standardID {
		return line[idColumn:], true
	}
	b := line[leadingBlanks(line):]
	if len(b) == 0 || b[0] != '-' {
		return nil, false
	}
	b = b[1:]
	n := leadingBlanks(b)
	b = b[n:]
	if n == 0 || !bytes.HasPrefix(b, []byte("job_id")) {
		return nil, false
	}
	b = b[len("job_id"):]
	b = b[leadingBlanks(b):]
	if len(b) == 0 || b[0] != ':' {
		return nil, false
	}
	b = b[1:]
	return b[leadingBlanks(b):], true
}

// maxTime bounds a printed time: 20 digits, a point and 18 more.
const maxTime = 40

// timeLine reads `snapshot_time:   1723114647.887515895 secs.nsecs` in all its spellings: without fraction up to 2.14, with
// blanks before the colon in 2.15.0 (LU-16110) and HPE's builds. The line has no blanks at its ends.
func timeLine(line []byte) (k timeKind, t []byte, ok bool) {
	for k = range numTimes {
		if bytes.HasPrefix(line, []byte(timeNames[k])) {
			t, ok = timeValue(line[len(timeNames[k]):])
			return k, t, ok
		}
	}
	return 0, nil, false
}

// timeValue reads what follows the name.
func timeValue(b []byte) ([]byte, bool) {
	b = b[leadingBlanks(b):]
	if len(b) == 0 || b[0] != ':' {
		return nil, false
	}
	b = b[1:]
	b = b[leadingBlanks(b):]
	n := 0
	for n < len(b) && (isDigit(b[n]) || b[n] == '.') {
		n++
	}
	if _, _, ok := Time(b[:n]).split(); !ok || n > maxTime {
		return nil, false
	}
	switch unit := b[n:]; string(trimBlanks(unit)) {
	case "":
	case "secs.nsecs", "secs":
		if !isBlank(unit[0]) {
			return nil, false
		}
	default:
		return nil, false
	}
	return b[:n], true
}

// looksLikeOp tells an unreadable operation line from other unreadable lines.
func looksLikeOp(line []byte) bool { return bytes.IndexByte(line, '{') >= 0 }

// parseOp reads an operation line in any layout: fields in any order, all but samples optional, unknown ones skipped. The line
// has no blanks at its ends. It fails if a number does not fit 64 bits or the closing brace is missing.
func parseOp(line []byte, op *Op) bool {
	name, rest, ok := opName(line)
	if !ok || len(rest) < 2 || rest[0] != '{' || rest[len(rest)-1] != '}' {
		return false
	}
	var f opFields
	op.Hist = op.Hist[:0]
	if !f.parse(rest[1:len(rest)-1], op) {
		return false
	}
	op.Name = append(op.Name[:0], name...)
	f.store(op)
	return true
}

// opName splits off the name and the colon; the rest begins at the value.
func opName(line []byte) (name, rest []byte, ok bool) {
	n := bytes.IndexByte(line, ':')
	if n < 1 {
		return nil, nil, false
	}
	name = bytes.TrimRight(line[:n], " \t")
	if len(name) == 0 || len(name) > maxName || bytes.ContainsAny(name, " \t") {
		return nil, nil, false
	}
	rest = line[n+1:]
	return name, rest[leadingBlanks(rest):], true
}

// opFields collects the fields between the braces.
type opFields struct {
	given   fieldKey // bit set
	numbers [5]uint64
	unit    Unit
	hist    bool
}

// fieldKey is a bit per known field; the first five are numbers.
type fieldKey uint8

const (
	keySamples fieldKey = 1 << iota
	keyMin
	keyMax
	keySum
	keySumSq
	keyUnit
	keyHist
	keyUnknown fieldKey = 0
)

func keyOf(name []byte) fieldKey {
	switch string(name) {
	case "samples":
		return keySamples
	case "min":
		return keyMin
	case "max":
		return keyMax
	case "sum":
		return keySum
	case "sumsq":
		return keySumSq
	case "unit":
		return keyUnit
	case "hist":
		return keyHist
	default:
		return keyUnknown
	}
}

// parse reads `key: value` pairs separated by commas.
func (f *opFields) parse(b []byte, op *Op) bool {
	for len(b) > 0 {
		field, rest, ok := cutField(b)
		if !ok || !f.field(trimBlanks(field), op) {
			return false
		}
		b = rest
	}
	return f.given&keySamples != 0
}

// field reads one pair; nothing at all, as behind a last comma, is no harm.
func (f *opFields) field(b []byte, op *Op) bool {
	if len(b) == 0 {
		return true
	}
	n := bytes.IndexByte(b, ':')
	if n < 0 {
		return false
	}
	key, value := keyOf(trimBlanks(b[:n])), trimBlanks(b[n+1:])
	if f.given&key != 0 || len(value) == 0 {
		return false
	}
	f.given |= key
	switch {
	case key == keyUnknown:
		return true
	case key == keyUnit:
		f.unit = unitOf(value)
		return true
	case key == keyHist:
		return f.buckets(value, op)
	}
	v, n := decimal(value)
	f.numbers[bits.TrailingZeros8(uint8(key))] = v
	return n > 0 && n == len(value)
}

func unitOf(b []byte) Unit {
	switch string(b) {
	case "reqs":
		return Requests
	case "bytes":
		return Bytes
	case "usecs":
		return Microseconds
	default:
		return OtherUnit
	}
}

// buckets reads `{ 32K: 1, 64K: 1 }`. Labels other than ascending powers of two give up the histogram, not the line.
func (f *opFields) buckets(b []byte, op *Op) bool {
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return false
	}
	f.hist = true
	for b = b[1 : len(b)-1]; len(b) > 0; {
		bucket, rest, ok := cutField(b)
		bucket = trimBlanks(bucket)
		if !ok || len(bucket) > 0 && !f.bucket(bucket, op) {
			return false
		}
		b = rest
	}
	return true
}

func (f *opFields) bucket(b []byte, op *Op) bool {
	label, value, ok := bytes.Cut(b, []byte{':'})
	value = trimBlanks(value)
	count, n := decimal(value)
	if !ok || n == 0 || n != len(value) {
		return false
	}
	exp, ok := bucketExp(trimBlanks(label))
	if last := len(op.Hist) - 1; !ok || last >= 0 && op.Hist[last].Exp >= exp {
		f.hist = false
		return true
	}
	op.Hist = append(op.Hist, Bucket{exp, count})
	return true
}

// bucketExp reads a bucket's label, 1 to 512 without or with K, M or G: the inclusive upper bound in bytes.
func bucketExp(label []byte) (exp uint8, ok bool) {
	v, n := decimal(label)
	if n == 0 || n > 3 || bits.OnesCount64(v) != 1 || v > 512 || label[0] == '0' {
		return 0, false
	}
	exp = uint8(bits.TrailingZeros64(v))
	switch string(label[n:]) {
	case "":
	case "K":
		exp += 10
	case "M":
		exp += 20
	case "G":
		exp += 30
	default:
		return 0, false
	}
	return exp, exp < 32
}

// store puts the fields into op, zeroing what the line did not have.
func (f *opFields) store(op *Op) {
	op.Unit, op.Has = f.unit, 0
	op.Samples, op.Min, op.Max, op.Sum, op.SumSq = f.numbers[0], f.numbers[1], f.numbers[2], f.numbers[3], f.numbers[4]
	if f.given&keySum != 0 {
		op.Has |= HasRange
	} else {
		op.Min, op.Max = 0, 0
	}
	if f.given&keySumSq != 0 {
		op.Has |= HasSumSq
	}
	if f.hist {
		op.Has |= HasHist
	} else {
		op.Hist = op.Hist[:0]
	}
}

// cutField splits at the first comma outside braces. Not ok if braces do not match.
func cutField(b []byte) (field, rest []byte, ok bool) {
	depth := 0
	for i, c := range b {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
			if depth < 0 {
				return nil, nil, false
			}
		case ',':
			if depth == 0 {
				return b[:i], b[i+1:], true
			}
		}
	}
	return b, nil, depth == 0
}
