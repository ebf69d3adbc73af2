// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// target is the books of one MDT or OST.
type target struct {
	name, kind string

	byID     map[string]*record      // living incarnations by identifier as printed
	byLabels map[jobid.Labels]holder // who has, or waits for, the series of these labels
	records  []*record               // living, and those with a last value to show; oldest first
	folds    []*fold                 // sums of entries without series of their own; oldest first
	users    map[jobid.Labels]*fold  // server time by uid
	byUser   []*fold                 // the same; oldest first
	jobs     map[jobid.Labels]*job   // nodes per job
	shared   int                     // folded series that configuration made (dropped labels)
	own      int                     // entries with series of their own
	acks     map[scraperID]tick      // the last sheet with this target that each scraper received
	acked    tick                    // and that anyone did
	counts   counts
	seen     map[countKey]bool // classes ever met, which go on to be shown as zero

	known      bool // read completely once, or known to have been unmounted
	mounted    bool
	readable   bool // read completely in this observation
	firstRead  tick // when it was read without being known; 0 never
	lastRead   tick
	lastServed tick // the last request that was answered with this target
	read       uint32
	last       *record // resolved last, to guess the next
	resets     uint64
	lastJobs   [2]int // rows and series of the last sheet
}

// holder is who has a set of labels: a record or a fold.
type holder struct {
	rec  *record
	fold *fold
}

// job bounds the nodes of one job that have series of their own.
type job struct {
	labels jobid.Labels
	nodes  int
}

// counts is what one read found, for the gauges about entries.
type counts struct {
	entries map[countKey]int
	folded  [numReasons]int
}

type countKey struct {
	class uint8
	users jobid.Users
}

func newTarget(name, kind string) *target {
	return &target{
		name: name, kind: kind,
		byID: map[string]*record{}, byLabels: map[jobid.Labels]holder{}, users: map[jobid.Labels]*fold{},
		jobs: map[jobid.Labels]*job{}, acks: map[scraperID]tick{}, seen: map[countKey]bool{},
	}
}

// commit accounts one complete read of a target.
func (l *Ledger) commit(t *target, r *Reading, wall time.Time) {
	t.read++
	t.last = nil
	living := len(t.records)
	for i := range r.entries {
		l.resolve(t, r, i)
	}
	for _, rec := range t.records[:living] {
		if rec.over {
			continue
		}
		if rec.read == t.read {
			l.account(t, rec, r)
		} else {
			l.absent(t, rec)
		}
	}
	// New incarnations come after the end of old ones, whose labels they may take over. Accounting
	// may itself have appended some.
	for i := living; i < len(t.records); i++ {
		if rec := t.records[i]; !rec.over { // ghosts of diverted records stand here too
			l.admit(t, rec, r, wall)
		}
	}
	if !t.known {
		t.firstRead = l.now
	}
	t.known, t.lastRead = true, l.now
	l.settle(t)
	t.count()
}

// resolve finds the record of the i-th entry read, or opens one.
func (l *Ledger) resolve(t *target, r *Reading, i int) {
	ref := &r.entries[i]
	rec := t.find(r, ref)
	switch {
	case rec == nil:
		rec = t.open(string(r.id(ref)), ref)
	case rec.read == t.read && ref.start != 0:
		// The same incarnation twice: what was printed later is younger.
	case rec.read == t.read:
		rec.summed = true
		r.merge(int(rec.entry), i)
		return
	}
	rec.read, rec.entry = t.read, int32(i)
	if t.last != nil {
		t.last.succ = rec
	}
	t.last = rec
}

// find returns the living incarnation that an entry belongs to, as far as its start_time tells.
func (t *target) find(r *Reading, ref *entryRef) *record {
	if t.last != nil {
		if g := t.last.succ; g != nil && g.start == ref.start && g.start != 0 && !g.over && !g.removed && r.sameText(ref, g.id) {
			return g
		}
	}
	first := t.byID[string(r.id(ref))]
	if ref.start == 0 {
		// Nothing printed: the newest, for the counters to tell.
		if first != nil {
			first.judge = true
		}
		return first
	}
	for rec := first; rec != nil; rec = rec.twin {
		if rec.start == ref.start {
			return rec
		}
	}
	for rec := first; rec != nil; rec = rec.twin {
		if rec.start == 0 && rec.read != t.read {
			rec.judge = true
			return rec
		}
	}
	return nil
}

// open starts an incarnation. It is admitted once all entries of the read are known.
func (t *target) open(id string, ref *entryRef) *record {
	rec := &record{id: id, start: ref.start, opened: t.read, twin: t.byID[id], bulk: ref.flags & (bulkRead | bulkWrite)}
	t.byID[id] = rec
	t.records = append(t.records, rec)
	return rec
}

// account takes over what a known entry says now.
func (l *Ledger) account(t *target, rec *record, r *Reading) {
	ref := &r.entries[rec.entry]
	values := r.of(ref)
	if rec.judge {
		rec.judge = false
		if !rec.summed && rec.fell(values, ref.flags) {
			l.replace(t, rec, ref)
			return
		}
		if ref.start != 0 {
			rec.start = ref.start
		}
	}
	rec.missing, rec.lastSeen = 0, l.now
	if rec.reason == DropReason {
		return
	}
	if rec.hidden {
		rec.hidden = false
		t.own++
	}
	if rec.summed && rec.own {
		l.divert(t, rec, true)
	}
	l.update(t, rec, values, ref.flags)
}

// replace ends an incarnation and opens the next of the same identifier, told by a counter that fell.
func (l *Ledger) replace(t *target, rec *record, ref *entryRef) {
	t.end(rec)
	t.resets++
	successor := t.open(rec.id, ref)
	successor.read, successor.entry = t.read, rec.entry
	rec.succ, successor.succ = successor, rec.succ
}

// absent deals with a record that a complete read did not have. Lustre may skip a living entry once
// (LU-16674), so only the second such read, or a successor, ends it.
func (l *Ledger) absent(t *target, rec *record) {
	if t.succeeded(rec) {
		t.resets++
		t.end(rec)
		return
	}
	if rec.missing < 255 {
		rec.missing++
	}
	if rec.missing >= 2 && rec.start == 0 {
		t.end(rec)
	}
}

// succeeded reports whether the read had a new incarnation of a record's identifier instead of it.
// Which start_time is larger does not matter: clocks are set back.
func (t *target) succeeded(rec *record) bool {
	for other := t.byID[rec.id]; other != nil && rec.start != 0; other = other.twin {
		if other != rec && other.opened == t.read && other.start != 0 {
			return true
		}
	}
	return false
}

// end closes an incarnation: it no longer answers to its identifier.
func (t *target) end(rec *record) {
	rec.over = true
	t.unindex(rec)
	if !rec.own {
		t.release(rec)
	}
}

// unindex takes a record out of the index by identifier.
func (t *target) unindex(rec *record) {
	first := t.byID[rec.id]
	if first == rec {
		if rec.twin == nil {
			delete(t.byID, rec.id)
		} else {
			t.byID[rec.id] = rec.twin
		}
		rec.twin = nil
		return
	}
	for at := first; at != nil; at = at.twin {
		if at.twin == rec {
			at.twin, rec.twin = rec.twin, nil
			return
		}
	}
}

// release takes a record out of the sums it fed and the bounds it counted against.
func (t *target) release(rec *record) {
	if rec.removed {
		return
	}
	rec.removed, rec.succ = true, nil
	if rec.own && !rec.hidden {
		t.own--
	}
	if rec.job != nil {
		t.leaveJob(rec.job)
	}
	if rec.fold != nil {
		rec.fold.members--
	}
	if rec.user != nil {
		rec.user.members--
	}
	if rec.own && t.byLabels[rec.labels].rec == rec {
		delete(t.byLabels, rec.labels)
	}
}

// count takes stock of the entries of the last read.
func (t *target) count() {
	t.counts = counts{entries: map[countKey]int{}}
	for _, rec := range t.records {
		if rec.read != t.read || rec.over {
			continue
		}
		k := countKey{rec.class, rec.users}
		t.counts.entries[k]++
		t.seen[k] = true
		if rec.reason != None {
			t.counts.folded[rec.reason]++
		}
	}
}
