// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// record is one incarnation of an entry: from its creation to its removal, and beyond it as long as
// its last value has to be shown.
type record struct {
	id     string
	labels jobid.Labels // of its own series; "" when folded
	points []point
	fold   *fold   // where its increments go; nil when own or dropped
	user   *fold   // where its server time goes; nil when dropped
	job    *job    // whose nodes it counts among; nil when not limited by nodes
	prev   *record // the series of the same labels that has to be seen to its end first
	twin   *record // the next incarnation of the same identifier in the target's index
	succ   *record // what followed in the last read; a guess for the next

	start    uint64 // start_time as printed; 0 unknown
	changed  tick   // when a shown value last changed
	lastSeen tick
	opened   uint32 // the complete read that had it first
	read     uint32 // and the last that had it
	entry    int32  // its place in that read
	missing  uint8  // complete reads without it since
	class    uint8
	users    jobid.Users
	reason   Reason
	bulk     refFlags // bulkRead, bulkWrite as first seen

	own      bool // has, or waits for, a series of its own
	fresh    bool // its first value is an increment (see Ledger.counts)
	judge    bool // a start_time is missing on one side: only the counters tell
	returned bool // it may have been known before, and forgotten
	summed   bool // several entries print alike: of their sum only growth counts
	over     bool // the incarnation has ended; only its last value is still shown
	hidden   bool // absent and shown to its end, but may come back with its start_time
	removed  bool
	holding  uint16 // how many points are held
}

// shown reports whether the record has series in the next sheet.
func (rec *record) shown() bool { return rec.own && rec.prev == nil && !rec.hidden && !rec.removed }

func (rec *record) point(k Key) *point {
	for i := range rec.points {
		if rec.points[i].key() == k {
			return &rec.points[i]
		}
	}
	return nil
}

// fell reports whether any counter of the entry is below what the record had: without start_time
// that tells a new incarnation. A counter missing from a damaged entry is unknown, else it is zero.
func (rec *record) fell(values []value, flags refFlags) bool {
	for i := range rec.points {
		p := &rec.points[i]
		at := indexOf(values, p.key())
		if at < 0 {
			if p.count > 0 && flags&damaged == 0 {
				return true
			}
			continue
		}
		if values[at].count < p.count {
			return true
		}
	}
	return false
}

// ignores reports whether a counter cannot be compared with what the record had: it comes from a
// read_bytes line because the read line was damaged, while the record counts the read line.
func (rec *record) ignores(k Key, flags refFlags) bool {
	if (rec.bulk^flags)&(bulkRead|bulkWrite) == 0 || k.Kind() != Operation {
		return false
	}
	return k.Index() == opRead && (rec.bulk^flags)&bulkRead != 0 ||
		k.Index() == opWrite && (rec.bulk^flags)&bulkWrite != 0
}

// update takes the counters of a living incarnation over and passes increments on.
func (l *Ledger) update(t *target, rec *record, values []value, flags refFlags) {
	matched := 0
	for i := range values {
		v := &values[i]
		if rec.ignores(v.key, flags) {
			flags |= damaged
			continue
		}
		// Entries print their operations in one order, so the next counter is most often the next point.
		var p *point
		if matched < len(rec.points) && rec.points[matched].key() == v.key {
			p = &rec.points[matched]
		} else if p = rec.point(v.key); p == nil {
			l.begin(t, rec, v.key, v.count, true, 0)
			matched++
			continue
		}
		matched++
		if v.count != p.count {
			l.move(t, rec, p, v.count)
		}
	}
	if matched < len(rec.points) && flags&damaged == 0 {
		l.zeroMissing(t, rec, values)
	}
}

// move sets a counter to a new value. A counter that falls alone was reset alone: it counts anew.
func (l *Ledger) move(t *target, rec *record, p *point, count uint64) {
	increment := count - p.count
	if count < p.count {
		if increment = count; rec.summed {
			increment = 0
		}
		t.resets++
	}
	p.count = count
	if rec.own {
		rec.changed = l.now
	}
	l.pass(t, rec, p.key(), increment, true)
}

// zeroMissing sets the counters to zero that an undamaged entry no longer prints.
func (l *Ledger) zeroMissing(t *target, rec *record, values []value) {
	for i := range rec.points {
		if p := &rec.points[i]; p.count > 0 && indexOf(values, p.key()) < 0 {
			l.move(t, rec, p, 0)
		}
	}
}

// begin adds a counter that the record did not have. counts says whether its value is an increment.
func (l *Ledger) begin(t *target, rec *record, k Key, count uint64, counts bool, start tick) {
	p := newPoint(k, count)
	if rec.own {
		l.introduce(t, &p, counts, start)
		rec.changed = l.now
		if p.held() {
			rec.holding++
		}
	}
	rec.points = append(rec.points, p)
	l.pass(t, rec, k, count, counts)
}

// introduce prepares the first exposition of a series: held at zero, dated, or as it is.
func (l *Ledger) introduce(t *target, p *point, counts bool, start tick) {
	p.setBorn(l.now)
	p.set(heldPoint, counts && l.cfg.FirstZero == Hold)
	p.set(datedPoint, counts && l.cfg.FirstZero == Created)
	if p.dated() {
		p.setBorn(l.created(t, start))
	}
}

// skew is how far the clocks of a Prometheus and this machine may differ without harm.
const skew = tick(time.Second / time.Millisecond)

// created returns the created timestamp of a series that begins: after all samples that a Prometheus
// may have of its labels, and before the first of the series, which is stamped with the time of the
// request. A zero placed behind that would count the first value twice.
func (l *Ledger) created(t *target, start tick) tick {
	after := t.lastServed + 1
	asked := l.audience.waiting
	return max(min(max(start+1, after), max(asked-skew, after), asked-1), 1)
}

// pass adds an increment to the sums that the record feeds. An increment that does not count still
// opens the sum at zero, so that the next one enters a series that was exposed.
func (l *Ledger) pass(t *target, rec *record, k Key, increment uint64, counts bool) {
	if !counts {
		increment = 0
	}
	if rec.fold != nil && (k.Kind() != Microseconds || l.cfg.JobSeconds) {
		l.add(t, rec.fold, k, increment, counts)
	}
	if rec.user != nil && k.Kind() == Microseconds {
		l.add(t, rec.user, k, increment, counts)
	}
}
