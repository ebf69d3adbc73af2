// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import "bytes"

// shape is what the values of a code can look like.
type shape uint8

const (
	anyShape    shape = iota // %e: at least one byte of any kind
	jobShape                 // %j: anything without the first byte of the literal after it, or nothing
	numberShape              // %g %p %u: decimal, as the kernel prints an unsigned int
	hostShape                // %h %H: letters, digits, dot, dash, underscore; not ending in a dot and digits
)

func shapeOf(code byte) shape {
	switch code {
	case 'j':
		return jobShape
	case 'g', 'p', 'u':
		return numberShape
	case 'h', 'H':
		return hostShape
	}
	return anyShape
}

// maxDecoded bounds the work that one hostile identifier can cause. Lustre
// writes at most 31 bytes; more than this is no identifier.
const maxDecoded = 80

// span is the value of a field: identifier bytes [lo, hi).
type span struct{ lo, hi uint8 }

// search is one attempt to split an identifier by one template.
type search struct {
	id     []byte
	values [maxFields]span
	reach  int8  // the last field that a value was sought for, -1 for none
	at     uint8 // where, first
}

// match splits s.id, which has at most maxDecoded bytes; s may have served
// another template. Earlier fields take as much as they can: "%e.%u" splits at
// the last dot.
func (t *template) match(s *search) bool {
	// Setting s.id here would move every caller's buffer to the heap.
	s.reach = -1
	if len(s.id) < len(t.lead) || string(s.id[:len(t.lead)]) != t.lead {
		return false
	}
	return t.from(s, 0, len(t.lead))
}

// from finds values for field i, which starts at lo, and all later ones. Only %e
// and the host have more than one possible end (a literal beside a number begins
// with no digit), so no identifier costs more than maxDecoded squared steps.
func (t *template) from(s *search, i, lo int) bool {
	if i == len(t.fields) {
		return lo == len(s.id)
	}
	if i > int(s.reach) {
		s.reach, s.at = int8(i), uint8(lo)
	}
	f := &t.fields[i]
	shortest, longest := f.run(s.id[lo:])
	for hi := lo + longest; hi >= lo+shortest; hi-- {
		next := hi + len(f.after)
		if next > len(s.id) || string(s.id[hi:next]) != f.after || !f.accepts(s.id[lo:hi], len(s.id)) {
			continue
		}
		s.values[i] = span{uint8(lo), uint8(hi)}
		if t.from(s, i+1, next) {
			return true
		}
	}
	return false
}

// run returns the fewest and the most bytes at the start of rest that the field
// can take, before accepts has looked at them.
func (f *field) run(rest []byte) (shortest, longest int) {
	shortest = 1
	switch f.shape {
	case anyShape:
		longest = len(rest)
	case jobShape:
		shortest, longest = 0, len(rest)
		if f.after != "" {
			// Up to the first such byte (none: longest < shortest, no value), for
			// only there can the literal stand.
			longest = bytes.IndexByte(rest, f.after[0])
		}
	case numberShape:
		for longest < len(rest) && isDigit(rest[longest]) {
			longest++
		}
	case hostShape:
		for longest < len(rest) && isHostByte(rest[longest]) {
			longest++
		}
	}
	if f.after == "" {
		shortest = max(shortest, len(rest)) // the last field takes all or does not fit
	}
	return shortest, longest
}

// accepts judges a value of the right bytes; size is the length of the whole
// identifier.
func (f *field) accepts(value []byte, size int) bool {
	switch f.shape {
	case numberShape:
		_, ok := parseNumber(value)
		return ok
	case hostShape:
		return !endsLikeUID(value, size)
	}
	return true
}

// endsLikeUID says that a would-be host ends in a dot and digits, like the
// identifiers of "%e.%u": it may be a process that was named to look like the
// front of a compute identifier. The dot alone counts too, since clients before
// LU-16251 send such identifiers half built ("dd."), but not where the cut at
// 31 bytes may have left it: "%e." has at most 16.
func endsLikeUID(value []byte, size int) bool {
	end := len(value)
	for end > 0 && isDigit(value[end-1]) {
		end--
	}
	if end == 0 || value[end-1] != '.' {
		return false
	}
	return end < len(value) || size < idSize
}

// parseNumber reads a decimal as the kernel prints it: no leading zero, 32 bits.
func parseNumber(value []byte) (uint32, bool) {
	if len(value) == 0 || len(value) > 10 || value[0] == '0' && len(value) > 1 {
		return 0, false
	}
	var n uint64
	for _, c := range value {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return uint32(n), n <= 1<<32-1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHostByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || isDigit(c) || c == '.' || c == '-' || c == '_'
}
