// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// Sheet is what one observation exposes. It never changes, so that any number of responses can be
// written from it while the ledger goes on.
type Sheet struct {
	tick    tick
	Names   []string // operation names by number
	Targets []TargetSheet
}

// TargetSheet is one target's part of a Sheet.
type TargetSheet struct {
	Name, Kind string
	// Mounted: the target was found. Readable: it was read completely.
	Mounted, Readable bool
	// Shown: its job series are in the sheet.
	Shown bool
	// Jobs are the entries' series and the sums of folded ones; Users the server time per uid.
	Jobs, Users Rows

	Entries []EntryCount
	Folded  []FoldCount
	Resets  uint64
}

// EntryCount is how many entries of a class and kind of user the last read had.
type EntryCount struct {
	Class uint8
	Users jobid.Users
	Count int
}

// FoldCount is how many living entries have no series of their own, and why.
type FoldCount struct {
	Reason Reason
	Count  int
}

// Rows are series, grouped by identity: row i has the cells from Start(i) to Start(i+1).
type Rows struct {
	labels []jobid.Labels
	ends   []uint32
	cells  []Cell
	// born holds created timestamps in Unix milliseconds, 0 for none; empty when there are none.
	born []int64
}

// Cell is one counter of a row.
type Cell struct {
	Count uint64
	Key   Key
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.labels) }

// Series returns the number of counters in all rows.
func (r *Rows) Series() int { return len(r.cells) }

// Row returns the identity and counters of row i, and their created timestamps in Unix milliseconds
// (nil when none has any).
func (r *Rows) Row(i int) (labels jobid.Labels, cells []Cell, created []int64) {
	first := uint32(0)
	if i > 0 {
		first = r.ends[i-1]
	}
	if len(r.born) > 0 {
		created = r.born[first:r.ends[i]]
	}
	return r.labels[i], r.cells[first:r.ends[i]], created
}

// add appends a row. epoch is the ledger's beginning in Unix milliseconds.
func (r *Rows) add(labels jobid.Labels, points []point, wanted func(Key) bool, epoch int64, dates bool) {
	before := len(r.cells)
	for i := range points {
		p := &points[i]
		if !wanted(p.key()) {
			continue
		}
		r.cells = append(r.cells, Cell{Count: p.shown(), Key: p.key()})
		if dates {
			born := int64(0)
			if p.dated() {
				born = epoch + int64(p.born())
			}
			r.born = append(r.born, born)
		}
	}
	if len(r.cells) > before {
		r.labels = append(r.labels, labels)
		r.ends = append(r.ends, uint32(len(r.cells)))
	}
}

// sheet copies what is to be shown.
func (l *Ledger) sheet(o Observation) *Sheet {
	s := &Sheet{tick: l.now, Names: l.names.List(), Targets: make([]TargetSheet, 0, len(l.listed))}
	for _, t := range l.listed {
		// An unmounted target shows what is left to be seen of it; an unreadable one shows nothing.
		ts := TargetSheet{Name: t.name, Kind: t.kind, Mounted: t.mounted, Readable: t.readable, Resets: t.resets}
		ts.Shown = t.readable || !t.mounted && o.Discovered && len(t.records)+len(t.folds)+len(t.byUser) > 0
		if !t.mounted && !ts.Shown {
			continue
		}
		if ts.Shown {
			l.fill(t, &ts)
		}
		s.Targets = append(s.Targets, ts)
	}
	return s
}

func (l *Ledger) fill(t *target, ts *TargetSheet) {
	epoch, dates := l.began.UnixMilli(), l.cfg.FirstZero == Created
	jobs := func(k Key) bool { return k.Kind() != Microseconds || l.cfg.JobSeconds }
	all := func(Key) bool { return true }
	ts.Jobs.grow(t.lastJobs)
	for _, rec := range t.records {
		if rec.shown() {
			ts.Jobs.add(rec.labels, rec.points, jobs, epoch, dates)
		}
	}
	for _, f := range t.folds {
		ts.Jobs.add(f.labels, f.points, jobs, epoch, dates)
	}
	for _, u := range t.byUser {
		ts.Users.add(u.labels, u.points, all, epoch, dates)
	}
	t.lastJobs = [2]int{ts.Jobs.Len(), ts.Jobs.Series()}
	for k := range t.seen {
		ts.Entries = append(ts.Entries, EntryCount{k.class, k.users, t.counts.entries[k]})
	}
	for r := None + 1; r < numReasons; r++ {
		ts.Folded = append(ts.Folded, FoldCount{r, t.counts.folded[r]})
	}
}

// grow makes room for as much as the last sheet had, and a little more.
func (r *Rows) grow(last [2]int) {
	rows, cells := last[0]+last[0]/16, last[1]+last[1]/16
	r.labels, r.ends, r.cells = make([]jobid.Labels, 0, rows), make([]uint32, 0, rows), make([]Cell, 0, cells)
}
