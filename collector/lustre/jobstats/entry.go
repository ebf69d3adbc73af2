// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package jobstats reads and prints Lustre's job_stats text.
//
// A Scanner turns the bytes of one target's job_stats file, or of `lctl get_param` output with many targets, into entries.
// It goes by the shape of each line and never by a version, because vendors backport freely; a line it cannot read costs
// itself alone and is counted. A Dialect prints entries byte for byte as one server generation does, for simulators and tests.
//
// The format was read from the Lustre source (lustre/obdclass/lprocfs_jobstats.c, lprocfs_status.c) from 2.3 to master
// 2.17.57; it differs by release in nearly every detail, see the table in dialect_table.go.
package jobstats

import "bytes"

// Unit is what an operation line says its sum is measured in. The unit, not the name, decides what a line means: `read` is
// bytes up to Lustre 2.5 and microseconds since 2.14.
type Unit uint8

// The units that Lustre prints, and what stands for any other.
const (
	NoUnit       Unit = iota // the line has no unit
	Requests                 // reqs: only samples count
	Bytes                    // bytes
	Microseconds             // usecs, service time, since 2.14 (LU-13597)
	OtherUnit                // a unit no Lustre release prints
)

// String is the unit as Lustre prints it, "other" for OtherUnit and empty for NoUnit.
func (u Unit) String() string {
	switch u {
	case NoUnit:
		return ""
	case Requests:
		return "reqs"
	case Bytes:
		return "bytes"
	case Microseconds:
		return "usecs"
	default:
		return "other"
	}
}

// Fields tells which optional fields an operation line had.
type Fields uint8

// The optional fields.
const (
	HasRange Fields = 1 << iota // min, max and sum; a line with min or max but no sum counts as having none of them
	HasSumSq                    // sumsq, since 2.14; it overflows after 32768 RPCs of 16 MiB
	HasHist                     // hist, since 2.16 (LU-16087), of read_bytes and write_bytes; may have no bucket
)

// Bucket counts the RPCs of more than 2^(Exp-1) and at most 2^Exp bytes; bucket 0 holds sizes 0 and 1, bucket 31 everything
// above 1 GiB (lprocfs_counter_add). Not cumulative.
type Bucket struct {
	Exp   uint8 // 0..31
	Count uint64
}

// Op is one operation line. Counters are read by the server without a lock, so the fields of a line may disagree: Min may be
// 9223372036854775807 with Samples 1, and buckets need not add up to Samples.
type Op struct {
	Name          []byte // 1 to 64 bytes, none of them blank or a colon
	Unit          Unit
	Has           Fields
	Samples       uint64 // requests, or bulk RPCs where Unit is Bytes
	Min, Max, Sum uint64 // in Unit, since the entry was created; zero without HasRange
	SumSq         uint64 // zero without HasSumSq; wraps in servers up to 2.16, saturates later (LU-18834)
	Hist          []Bucket
}

// Entry is one `- job_id:` record. It belongs to the caller, who passes the same one to Next again and again; its slices are
// valid until the next call.
type Entry struct {
	ID       []byte // the identifier as printed, still quoted and escaped; may be empty
	Snapshot Time   // time of the entry's last operation on this target, not of the read
	Start    Time   // creation, which is when its counters were zero; since 2.15
	Elapsed  Time   // Snapshot - Start as the server printed it, 18446744073709551615.5 if its clock stepped back
	Ops      []Op   // in print order, zeros included
	Damaged  bool   // at least one line of this entry could not be read

	times [numTimes][]byte // storage of the times, which are nil when absent
}

// reset empties e and keeps its storage.
func (e *Entry) reset() {
	e.ID, e.Ops, e.Damaged = e.ID[:0], e.Ops[:0], false
	e.Snapshot, e.Start, e.Elapsed = nil, nil, nil
}

// setTime copies the printed time; the last of several lines wins, because an identifier with a newline (up to 2.7) can forge
// lines only before the real ones.
func (e *Entry) setTime(k timeKind, v []byte) {
	e.times[k] = append(e.times[k][:0], v...)
	t := Time(e.times[k])
	switch k {
	case snapshotTime:
		e.Snapshot = t
	case startTime:
		e.Start = t
	case elapsedTime:
		e.Elapsed = t
	}
}

// nextOp is a zeroed-on-use slot behind the last operation; it keeps the name that the entry before had there, which is nearly
// always this one's name too.
func (e *Entry) nextOp() *Op {
	n := len(e.Ops)
	if n == cap(e.Ops) {
		e.Ops = append(e.Ops, Op{})[:n]
	}
	return &e.Ops[:n+1][n]
}

// keepOp makes the slot of nextOp the last operation.
func (e *Entry) keepOp() { e.Ops = e.Ops[:len(e.Ops)+1] }

// Equal reports whether both entries say the same. Damaged is left out: it tells how an entry was read, not what it says.
func (e *Entry) Equal(o *Entry) bool {
	if !bytes.Equal(e.ID, o.ID) || !e.Snapshot.equal(o.Snapshot) || !e.Start.equal(o.Start) || !e.Elapsed.equal(o.Elapsed) {
		return false
	}
	if len(e.Ops) != len(o.Ops) {
		return false
	}
	for i := range e.Ops {
		if !e.Ops[i].Equal(&o.Ops[i]) {
			return false
		}
	}
	return true
}

// Equal reports whether both lines say the same.
func (op *Op) Equal(o *Op) bool {
	if !bytes.Equal(op.Name, o.Name) || op.Unit != o.Unit || op.Has != o.Has || len(op.Hist) != len(o.Hist) {
		return false
	}
	for i, b := range op.Hist {
		if b != o.Hist[i] {
			return false
		}
	}
	return op.Samples == o.Samples && op.Min == o.Min && op.Max == o.Max && op.Sum == o.Sum && op.SumSq == o.SumSq
}

// Clone is a copy of e that shares nothing with it.
func (e *Entry) Clone() *Entry {
	c := &Entry{ID: bytes.Clone(e.ID), Ops: make([]Op, len(e.Ops)), Damaged: e.Damaged}
	c.Snapshot, c.Start, c.Elapsed = bytes.Clone(e.Snapshot), bytes.Clone(e.Start), bytes.Clone(e.Elapsed)
	for i, op := range e.Ops {
		op.Name, op.Hist = bytes.Clone(op.Name), append([]Bucket(nil), op.Hist...)
		c.Ops[i] = op
	}
	return c
}
