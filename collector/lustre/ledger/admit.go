// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// Reason says why an entry has no series of its own.
type Reason uint8

// The reasons for folding, as lustre_jobstats_folded_entries shows them.
const (
	None            Reason = iota
	LimitReason            // the target has --lustre.max-entries own entries, or --lustre.max-users uids
	NodesReason            // the job has --lustre.max-nodes-per-job own nodes on the target
	LabelsReason           // the labels do not determine the identifier
	TwinReason             // another living entry has the labels
	SystemReason           // a system user
	MalformedReason        // no format matches
	DropReason             // dropped by policy, counted nowhere
	numReasons
)

// String returns the reason's label value.
func (r Reason) String() string {
	return [numReasons]string{"none", "limit", "nodes", "labels", "twin", "system", "malformed", "dropped"}[r]
}

// other is the jobid and nodename of folded series; no own series has it (jobid.Identity.Exact).
const other = "other"

// maxQueue bounds how many ended incarnations of one set of labels wait to be shown to their end.
const maxQueue = 3

// admit decides once how a new incarnation is exposed, and takes its first counters.
func (l *Ledger) admit(t *target, rec *record, r *Reading, wall time.Time) {
	ref := &r.entries[rec.entry]
	identity := l.cfg.Identifier.Identify([]byte(rec.id))
	rec.class, rec.users, rec.lastSeen = identity.Class, identity.Users, l.now
	rec.fresh = l.counts(t, ref, wall)
	rec.returned = !rec.fresh && l.forgotten(t, ref, wall)
	l.place(t, rec, identity)
	if rec.reason == DropReason {
		return
	}
	start := tick(0)
	if ref.wall != 0 {
		start = tick((ref.wall - l.began.UnixNano()) / int64(time.Millisecond))
	}
	values := r.of(ref)
	rec.points = make([]point, 0, len(values))
	for i := range values {
		l.begin(t, rec, values[i].key, values[i].count, rec.fresh, start)
	}
}

// counts reports whether a new entry's first value is an increment. It is not in a target's first
// read, nor after a gap that is longer than the entry is known to be old. An entry that is known to be
// older than the first read was skipped by it, and one older than entries are remembered may be back:
// what it had done may have been shown.
func (l *Ledger) counts(t *target, ref *entryRef, wall time.Time) bool {
	if !t.known {
		return false
	}
	if ref.wall == 0 {
		return l.now-t.lastRead <= l.gap
	}
	age := tick((wall.UnixNano() - ref.wall) / int64(time.Millisecond))
	switch {
	case l.now-age <= t.firstRead && t.firstRead > 0, age > rememberIntervals*l.audience.interval:
		return false
	default:
		return age <= l.gap || l.now-t.lastRead <= l.gap
	}
}

// forgotten reports whether a new entry is so old that it must have been known, though the target was
// read all the time. Where its counters went then is forgotten too, so it gets no series of its own.
func (l *Ledger) forgotten(t *target, ref *entryRef, wall time.Time) bool {
	age := tick((wall.UnixNano() - ref.wall) / int64(time.Millisecond))
	return t.known && ref.wall != 0 && l.now-t.lastRead <= l.gap && l.now-age > t.firstRead && age > rememberIntervals*l.audience.interval
}

// place finds where an incarnation's counters go: a series of its own, or a sum.
func (l *Ledger) place(t *target, rec *record, identity jobid.Identity) {
	switch identity.Outcome {
	case jobid.Drop:
		rec.reason = DropReason
		return
	case jobid.Fold:
		reason := SystemReason
		if identity.Users == jobid.Unknown {
			reason = MalformedReason
		}
		l.foldInto(t, rec, identity.Labels, reason)
		return
	case jobid.Keep:
	}
	if !l.admitsUser(t, identity.Labels) {
		l.foldInto(t, rec, unknownLabels(), LimitReason)
		return
	}
	switch reason := l.obstacle(t, rec, identity); reason {
	case None:
		l.own(t, rec, identity.Labels)
	case NodesReason:
		l.foldInto(t, rec, nodesLabels(identity.Labels), reason)
	case LabelsReason:
		labels := otherLabels(identity.Labels)
		if identity.Reduced && l.admitsShared(t, identity.Labels) {
			labels = identity.Labels
		}
		l.foldInto(t, rec, labels, reason)
	default:
		l.foldInto(t, rec, otherLabels(identity.Labels), reason)
	}
}

// obstacle returns why an entry cannot have a series of its own.
func (l *Ledger) obstacle(t *target, rec *record, identity jobid.Identity) Reason {
	if rec.summed || rec.returned {
		return TwinReason
	}
	if !identity.Exact {
		return LabelsReason
	}
	if has, taken := t.byLabels[identity.Labels]; taken && !l.yields(t, rec, has) {
		return TwinReason
	}
	// An old incarnation that was seen to its end makes room as it gives its labels.
	entries, nodes := t.own+t.shared, 0
	if j := t.jobs[jobLabels(identity.Labels)]; j != nil {
		nodes = j.nodes
	}
	if old := t.byLabels[identity.Labels].rec; old != nil && l.finished(old, l.audience.seen(t)) {
		if nodes--; !old.hidden {
			entries--
		}
	}
	switch {
	case identity.Labels.Get(jobid.JobID) != "" && nodes >= l.cfg.MaxNodesPerJob:
		return NodesReason
	case entries >= l.cfg.MaxEntries:
		return LimitReason
	default:
		return None
	}
}

// yields reports whether who has a new incarnation's labels makes room for it, at once or as soon
// as its last value was seen.
func (l *Ledger) yields(t *target, rec *record, has holder) bool {
	old := has.rec
	if old == nil {
		return false
	}
	if old.over {
		// Who has no zero to start from would grow unseen while it waits.
		if !rec.fresh && !l.finished(old, l.audience.seen(t)) {
			return false
		}
		depth := 1
		for at := old.prev; at != nil; at = at.prev {
			depth++
		}
		return depth < maxQueue
	}
	// Both are listed. A younger incarnation of one identifier supersedes the older, which Lustre
	// lists until its last reader is gone (2.16) and which can grow no more; should it grow, because
	// two identifiers print alike, a sum takes it.
	if old.id != rec.id || old.start == 0 || old.opened == t.read && rec.start <= old.start {
		return false
	}
	if !rec.fresh {
		// Of two that a first read had together it is not known which was shown before: neither is.
		if !old.fresh && old.opened == t.read {
			l.divert(t, old, false)
		}
		return false
	}
	t.resets++
	l.divert(t, old, true)
	return true
}

// own gives a record series of its own, behind the last value of the labels' former holder.
func (l *Ledger) own(t *target, rec *record, labels jobid.Labels) {
	rec.own, rec.labels = true, labels
	if old := t.byLabels[labels].rec; old != nil {
		if l.finished(old, l.audience.seen(t)) {
			t.release(old)
		} else {
			rec.prev = old
		}
	}
	t.byLabels[labels] = holder{rec: rec}
	t.own++
	if labels.Get(jobid.JobID) != "" {
		rec.job = t.jobOf(labels)
		rec.job.nodes++
	}
	l.joinUser(t, rec, userLabels(labels))
}

// divert turns an own record into one that feeds a sum: what was shown, or is held, stays with a
// ghost that is shown to its end; what comes on top goes to the sum.
func (l *Ledger) divert(t *target, rec *record, ghost bool) {
	if ghost {
		last := &record{
			id: rec.id, labels: rec.labels, points: append([]point(nil), rec.points...), prev: rec.prev, job: rec.job,
			changed: rec.changed, lastSeen: rec.lastSeen, own: true, over: true, holding: rec.holding,
		}
		t.byLabels[rec.labels] = holder{rec: last}
		t.records = append(t.records, last)
	} else {
		t.own--
		if rec.job != nil {
			t.leaveJob(rec.job)
		}
		if t.byLabels[rec.labels].rec == rec {
			delete(t.byLabels, rec.labels)
		}
	}
	labels := rec.labels
	rec.own, rec.labels, rec.prev, rec.job, rec.holding = false, "", nil, nil, 0
	rec.reason = TwinReason
	rec.fold = l.foldOf(t, otherLabels(labels))
	rec.fold.members++
}
