// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"hash/maphash"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// Reading is one read of one target, reduced to what happened: identifiers, start times and the
// counters that are not zero. It is filled while the text streams by and accounted as a whole once
// the read is known to be complete, so that a read cut short changes nothing.
type Reading struct {
	names   *Names
	sizes   bool
	seed    maphash.Seed
	cache   []cachedName
	text    []byte
	entries []entryRef
	values  []value

	// seen has the counters of the entry being added.
	seen [numKinds][maxNames / 64]uint64

	// Dropped counts operation lines that could not be kept: a second line for one counter, or one
	// more name than the table holds.
	Dropped uint64
}

type cachedName struct {
	name   string
	number uint8
}

// value is one counter of an entry.
type value struct {
	count uint64
	key   Key
}

// entryRef is one entry of a Reading.
type entryRef struct {
	text    int
	first   int
	start   uint64
	wall    int64
	textLen uint16
	n       uint16
	flags   refFlags
}

type refFlags uint8

const (
	// damaged: a line could not be parsed, so a counter that is missing is unknown, not zero.
	damaged refFlags = 1 << iota
	// bulkRead, bulkWrite: the entry has no separate read or write line; the operation's count is
	// the number of bulk RPCs of read_bytes or write_bytes (Lustre 2.6-2.13).
	bulkRead
	bulkWrite
)

// Entries returns the number of entries read.
func (r *Reading) Entries() int { return len(r.entries) }

// Reset empties the reading and keeps its memory.
func (r *Reading) Reset() {
	r.text, r.entries, r.values = r.text[:0], r.entries[:0], r.values[:0]
	r.Dropped = 0
}

// Add takes one entry over; nothing of e is kept by reference.
func (r *Reading) Add(e *jobstats.Entry) {
	ref := entryRef{text: len(r.text), textLen: uint16(len(e.ID)), first: len(r.values), flags: bulkRead | bulkWrite}
	r.text = append(r.text, e.ID...)
	if e.Damaged {
		ref.flags |= damaged
	}
	ref.start, ref.wall = r.startOf(e.Start)
	r.seen = [numKinds][maxNames / 64]uint64{}
	for i := range e.Ops {
		ref.flags &^= separate(&e.Ops[i])
	}
	for i := range e.Ops {
		if op := &e.Ops[i]; op.Samples != 0 || op.Sum != 0 {
			r.addOp(i, op, ref.flags)
		}
	}
	ref.n = uint16(len(r.values) - ref.first)
	r.entries = append(r.entries, ref)
}

// separate returns which of read and write a line counts apart from bulk RPCs: the line of that name
// that counts time, not bytes (Lustre >= 2.14).
func separate(op *jobstats.Op) refFlags {
	switch {
	case op.Unit == jobstats.Bytes:
	case len(op.Name) == 4 && string(op.Name) == "read":
		return bulkRead
	case len(op.Name) == 5 && string(op.Name) == "write":
		return bulkWrite
	}
	return 0
}

// startOf returns an incarnation's start as a number that is equal exactly when the printed digits
// are, and its wall clock time in nanoseconds; zero when absent, or when it counts from boot.
func (r *Reading) startOf(t jobstats.Time) (start uint64, wall int64) {
	if len(t) == 0 {
		return 0, 0
	}
	ns, ok := t.Nanoseconds()
	// All kernels print nine decimals; then the nanoseconds are the digits.
	if ok && ns > 0 && len(t) > 10 && t[len(t)-10] == '.' && t[0] != '0' {
		if t.BootRelative() {
			return uint64(ns), 0
		}
		return uint64(ns), ns
	}
	return maphash.Bytes(r.seed, t) | 1<<63, 0
}

func (r *Reading) addOp(position int, op *jobstats.Op, flags refFlags) {
	switch string(op.Name) {
	case "read_bytes":
		r.addBulk(op, flags&bulkRead != 0, opRead, ReadBytes, ReadSize)
		return
	case "write_bytes":
		r.addBulk(op, flags&bulkWrite != 0, opWrite, WriteBytes, WriteSize)
		return
	case "read":
		if op.Unit == jobstats.Bytes {
			r.addBulk(op, flags&bulkRead != 0, opRead, ReadBytes, ReadSize)
			return
		}
	case "write":
		if op.Unit == jobstats.Bytes {
			r.addBulk(op, flags&bulkWrite != 0, opWrite, WriteBytes, WriteSize)
			return
		}
	}
	number, ok := r.number(position, op.Name)
	if !ok {
		r.Dropped++
		return
	}
	r.put(makeKey(Operation, number), op.Samples)
	if op.Unit == jobstats.Microseconds {
		r.put(makeKey(Microseconds, number), op.Sum)
	}
}

// addBulk takes a line about bulk RPCs: samples are RPCs, the sum is bytes if the unit says so
// (Lustre 2.12 prints read_bytes of an MDT with unit reqs).
func (r *Reading) addBulk(op *jobstats.Op, counts bool, number uint8, bytesKind, sizeKind Kind) {
	if counts {
		r.put(makeKey(Operation, number), op.Samples)
	}
	if op.Unit == jobstats.Bytes {
		r.put(makeKey(bytesKind, 0), op.Sum)
	}
	if r.sizes {
		for _, b := range op.Hist {
			r.put(makeKey(sizeKind, b.Exp), b.Count)
		}
	}
}

// put adds a counter to the entry being added. A line that says again what an earlier line of the
// entry said is dropped: two values for one counter cannot both be true.
func (r *Reading) put(k Key, count uint64) {
	if count == 0 {
		return
	}
	word, bit := &r.seen[k.Kind()][k.Index()/64], uint64(1)<<(k.Index()%64)
	if *word&bit != 0 {
		r.Dropped++
		return
	}
	*word |= bit
	r.values = append(r.values, value{count: count, key: k})
}

// number finds an operation's number; entries of one target print the same names in the same
// places, so the place is looked at first.
func (r *Reading) number(position int, name []byte) (uint8, bool) {
	if position < len(r.cache) && r.cache[position].name == string(name) {
		return r.cache[position].number, true
	}
	n, ok := r.names.Number(name)
	if !ok {
		return 0, false
	}
	for len(r.cache) <= position && len(r.cache) < maxNames {
		r.cache = append(r.cache, cachedName{})
	}
	if position < len(r.cache) {
		r.cache[position] = cachedName{name: string(name), number: n}
	}
	return n, true
}

func (r *Reading) id(ref *entryRef) []byte {
	return r.text[ref.text : ref.text+int(ref.textLen)]
}

func (r *Reading) of(ref *entryRef) []value {
	return r.values[ref.first : ref.first+int(ref.n)]
}

// merge adds entry j's counters to entry i's: one identifier printed twice by a dialect that has no
// start_time, where distinct identifiers can print alike (LU-7187) and only their sum is known.
func (r *Reading) merge(i, j int) {
	a, b := &r.entries[i], &r.entries[j]
	merged := len(r.values)
	r.values = append(r.values, r.of(a)...)
	for _, v := range r.of(b) {
		at := indexOf(r.values[merged:], v.key)
		if at < 0 {
			r.values = append(r.values, v)
			continue
		}
		r.values[merged+at].count += v.count
	}
	a.first, a.n = merged, uint16(len(r.values)-merged)
	a.flags |= b.flags & damaged
}

func indexOf(values []value, k Key) int {
	for i := range values {
		if values[i].key == k {
			return i
		}
	}
	return -1
}

// sameText reports whether the entry's identifier is id.
func (r *Reading) sameText(ref *entryRef, id string) bool {
	return string(r.id(ref)) == id
}

// Text returns the identifier of entry i as printed, for those who explain entries to people.
func (r *Reading) Text(i int) []byte { return bytes.Clone(r.id(&r.entries[i])) }
