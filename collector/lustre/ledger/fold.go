// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// fold is a sum over entries: increments added up from 0, which never falls (thesis equation C3).
type fold struct {
	labels  jobid.Labels
	points  []point
	members int
	changed tick
	holding uint16
	shared  bool // made by configuration, and bounded with the own series
	removed bool
}

// foldInto makes a record feed a sum instead of a series of its own.
func (l *Ledger) foldInto(t *target, rec *record, labels jobid.Labels, reason Reason) {
	rec.reason = reason
	rec.fold = l.foldOf(t, labels)
	rec.fold.members++
	l.joinUser(t, rec, userLabels(labels))
}

// foldOf returns the sum of some labels.
func (l *Ledger) foldOf(t *target, labels jobid.Labels) *fold {
	if f := t.byLabels[labels].fold; f != nil {
		return f
	}
	f := &fold{labels: labels, changed: l.now}
	t.byLabels[labels] = holder{fold: f}
	t.folds = append(t.folds, f)
	return f
}

// admitsShared reports whether the series that entries share because labels were dropped exists or
// may still be made.
func (l *Ledger) admitsShared(t *target, labels jobid.Labels) bool {
	has, taken := t.byLabels[labels]
	if taken {
		return has.fold != nil
	}
	if t.own+t.shared >= l.cfg.MaxEntries {
		return false
	}
	l.foldOf(t, labels).shared = true
	t.shared++
	return true
}

// admitsUser reports whether an entry's uid is or can be kept apart on this target.
func (l *Ledger) admitsUser(t *target, labels jobid.Labels) bool {
	if labels.Get(jobid.UID) == "" {
		return true
	}
	_, known := t.users[userLabels(labels)]
	return known || len(t.users) < l.cfg.MaxUsers
}

// joinUser makes a record feed the server time of its user.
func (l *Ledger) joinUser(t *target, rec *record, labels jobid.Labels) {
	u := t.users[labels]
	if u == nil {
		u = &fold{labels: labels, changed: l.now}
		t.users[labels] = u
		t.byUser = append(t.byUser, u)
	}
	rec.user = u
	u.members++
}

// add adds an increment to a sum. The series starts with a zero of its own, but an increment that
// finds it exposed enters at once.
func (l *Ledger) add(t *target, f *fold, k Key, increment uint64, counts bool) {
	for i := range f.points {
		p := &f.points[i]
		if p.key() != k {
			continue
		}
		if p.count += increment; increment > 0 {
			f.changed = l.now
		}
		return
	}
	p := newPoint(k, increment)
	l.introduce(t, &p, counts || l.cfg.FirstZero == Hold, 0)
	if p.held() {
		f.holding++
	}
	f.points = append(f.points, p)
	f.changed = l.now
}

// jobOf returns the count of own nodes of an entry's job.
func (t *target) jobOf(labels jobid.Labels) *job {
	key := jobLabels(labels)
	j := t.jobs[key]
	if j == nil {
		j = &job{labels: key}
		t.jobs[key] = j
	}
	return j
}

func (t *target) leaveJob(j *job) {
	if j.nodes--; j.nodes == 0 {
		delete(t.jobs, j.labels)
	}
}

// The labels of sums, made from those of an entry.

func jobLabels(labels jobid.Labels) jobid.Labels {
	v := labels.Values()
	v[jobid.NodeName], v[jobid.Executable] = "", ""
	return jobid.MakeLabels(v)
}

func nodesLabels(labels jobid.Labels) jobid.Labels {
	v := labels.Values()
	v[jobid.NodeName], v[jobid.Executable] = other, ""
	return jobid.MakeLabels(v)
}

func otherLabels(labels jobid.Labels) jobid.Labels {
	return jobid.MakeLabels([jobid.NumLabels]string{
		jobid.JobID: other, jobid.NodeName: other, jobid.UID: labels.Get(jobid.UID),
	})
}

func userLabels(labels jobid.Labels) jobid.Labels {
	return jobid.MakeLabels([jobid.NumLabels]string{jobid.UID: labels.Get(jobid.UID)})
}

func unknownLabels() jobid.Labels {
	return jobid.MakeLabels([jobid.NumLabels]string{jobid.UID: jobid.Unknown.String()})
}
