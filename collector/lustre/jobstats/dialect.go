// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"strconv"
	"time"
)

// Dialect prints job_stats as one generation of servers does. Names are the first release of each.
type Dialect struct {
	Name string // "2.16"

	encoding    encoding
	times       timeLines
	operations  operations
	spaced      bool // blank before min, max, sum even when the number fills its field (LU-13857)
	latency     bool // every operation has min, max, sum and sumsq, in microseconds or bytes (LU-13597)
	hist        bool // LU-16087
	emptyHeader bool // a target without entries prints the header all the same
}

// OpSpec is an operation line of a dialect.
type OpSpec struct {
	Name string
	Unit Unit
}

// timeLines is which time lines a generation prints.
type timeLines uint8

const (
	wholeSeconds    timeLines = iota // snapshot_time in seconds
	bootSeconds                      // all three since boot, at column 0 (LU-11407)
	bootSecondsHPE                   // all three since boot, indented
	nanoseconds                      // all three since 1970 (LU-16231)
	nanosecondsOnly                  // snapshot_time alone: enable_stats_header=0 (LU-17005)
)

// Dialects are all generations, oldest first.
func Dialects() []Dialect { return append([]Dialect(nil), dialects[:]...) }

// DialectNamed finds one by its name.
func DialectNamed(name string) (Dialect, bool) {
	for _, d := range dialects {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

// Operations are the lines of every entry of a target, in print order; kind is "mdt" or "obdfilter", any other has none.
func (d Dialect) Operations(kind string) []OpSpec {
	switch kind {
	case "mdt":
		return append([]OpSpec(nil), mdtOperations[d.operations.mdt]...)
	case "obdfilter":
		return append([]OpSpec(nil), ostOperations[d.operations.ost]...)
	default:
		return nil
	}
}

// StartTime reports whether entries tell when they were created.
func (d Dialect) StartTime() bool { return d.times != wholeSeconds && d.times != nanosecondsOnly }

// BootRelative reports whether times count from the server's boot.
func (d Dialect) BootRelative() bool { return d.times == bootSeconds || d.times == bootSecondsHPE }

// Histogram reports whether lines in bytes have a histogram of RPC sizes.
func (d Dialect) Histogram() bool { return d.hist }

// Latency reports whether lines other than those in bytes sum up microseconds.
func (d Dialect) Latency() bool { return d.latency }

// AppendHeader prints what comes before the given number of entries; since 2.17 an empty target prints nothing.
func (d Dialect) AppendHeader(dst []byte, entries int) []byte {
	if entries == 0 && !d.emptyHeader {
		return dst
	}
	return append(dst, "job_stats:\n"...)
}

// AppendEntry prints an entry. The identifier is the client's, of at most 31 bytes (LUSTRE_JOBID_SIZE), and ends at a NUL as in C;
// it is printed as that server would, which up to 2.15.1 cannot always be undone. Snapshot is the time of the last
// operation and start that of the first, both since 1970, or since boot if BootRelative. The given operations are printed in the
// given order with the fields that the dialect has: Has matters only for counts up to 2.13.
func (d Dialect) AppendEntry(dst, id []byte, snapshot, start time.Duration, ops []Op) []byte {
	if end := bytes.IndexByte(id, 0); end >= 0 {
		id = id[:end]
	}
	dst = append(dst, standardID...)
	dst = append(d.encoding.append(dst, id), '\n')
	dst = d.appendTimes(dst, snapshot, start)
	for i := range ops {
		op := ops[i]
		if op.Samples == 0 {
			op.Min, op.Max, op.Sum, op.SumSq = 0, 0, 0, 0 // ret.lc_count ? ret.lc_min : 0
		}
		dst = appendOp(dst, &op, d.fields(&op), d.spaced)
	}
	return dst
}

// fields are those that the dialect prints for op.
func (d Dialect) fields(op *Op) (has Fields) {
	if d.latency {
		has = HasRange | HasSumSq
		if d.hist && op.Unit == Bytes {
			has |= HasHist
		}
		return has
	}
	// 2.12 and 2.13 print range and sum for read_bytes and write_bytes of an MDT though their unit is reqs.
	if op.Unit == Bytes || op.Has&HasRange != 0 || bytes.HasSuffix(op.Name, []byte("_bytes")) {
		has = HasRange
	}
	return has
}

func (d Dialect) appendTimes(dst []byte, snapshot, start time.Duration) []byte {
	var b [maxTime]byte
	how, last := spelledNew, elapsedTime
	switch d.times {
	case wholeSeconds:
		sec, _ := seconds(snapshot)
		return appendTimeLine(dst, how, snapshotTime, strconv.AppendUint(b[:0], sec, 10))
	case bootSeconds:
		how = spelled215
	case bootSecondsHPE:
		how = spelledHPE
	case nanosecondsOnly:
		last = snapshotTime
	}
	for k, t := range [numTimes]time.Duration{snapshot, start, snapshot - start} {
		if k := timeKind(k); k <= last {
			dst = appendTimeLine(dst, how, k, appendSeconds(b[:0], t))
		}
	}
	return dst
}

// seconds splits as timespec64 does: nanoseconds are never negative, and the seconds of a negative time print as unsigned.
func seconds(t time.Duration) (sec, nsec uint64) {
	s, ns := int64(t/time.Second), int64(t%time.Second)
	if ns < 0 {
		s, ns = s-1, ns+nanosecond
	}
	return uint64(s), uint64(ns)
}

// appendSeconds prints "%llu.%09lu".
func appendSeconds(dst []byte, t time.Duration) []byte {
	sec, nsec := seconds(t)
	dst = strconv.AppendUint(dst, sec, 10)
	n := len(dst)
	dst = strconv.AppendUint(dst, nsec+nanosecond, 10)
	dst[n] = '.' // the leading 1 kept the zeros
	return dst
}
