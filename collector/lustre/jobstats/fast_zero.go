// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

// zeroTail is the text of an operation line from its brace to its newline, all of whose numbers were zero.
type zeroTail struct {
	size int
	unit Unit
	has  Fields
	text [slack]byte
}

// zeroTails remembers one for each unit.
type zeroTails [4]zeroTail

// unitColumn is where the unit begins, counted from the brace: "{ samples:           0, unit: ".
const unitColumn = 30

// of is the place for the unit of the line whose brace is at b[k]; the units' first letters end in different bits.
func (z *zeroTails) of(b []byte, k int) *zeroTail { return &z[b[k+unitColumn]&3] }

// at reports that the text is at b[k].
func (t *zeroTail) at(b []byte, k int) bool {
	return t.size > 0 && string(b[k:k+t.size]) == string(t.text[:t.size])
}

func (t *zeroTail) learn(text []byte, op *Op) {
	if len(text) <= len(t.text) {
		t.size, t.unit, t.has = copy(t.text[:], text), op.Unit, op.Has
	}
}
