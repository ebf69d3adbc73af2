// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import "slices"

const (
	// An absent entry may come back as the same incarnation until it was absent from this many
	// complete reads, over this many scrape intervals: Lustre may skip a living entry more than once.
	rememberReads     = 6
	rememberIntervals = 4
)

// settle moves a target's series on: zeros that were seen become values, last values that were seen
// go, and who waited for their labels begins.
func (l *Ledger) settle(t *target) {
	seen := l.audience.seen(t)
	for _, rec := range t.records {
		if rec.own && rec.prev == nil && rec.holding > 0 {
			if n := l.lift(rec.points, seen); n > 0 {
				rec.holding -= n
				rec.changed = l.now
			}
		}
		l.retire(t, rec, seen)
	}
	for _, rec := range t.records {
		if rec.prev != nil && rec.prev.removed {
			rec.prev = nil
			l.start(t, rec)
		}
	}
	t.records = slices.DeleteFunc(t.records, func(rec *record) bool { return rec.removed })
	t.folds = l.settleFolds(t.folds, seen, func(f *fold) {
		delete(t.byLabels, f.labels)
		if f.shared {
			t.shared--
		}
	})
	t.byUser = l.settleFolds(t.byUser, seen, func(f *fold) { delete(t.users, f.labels) })
}

// lift ends the hold of every point whose zero was seen, and returns how many.
func (l *Ledger) lift(points []point, seen tick) (lifted uint16) {
	for i := range points {
		if p := &points[i]; p.held() && l.ripe(p.born(), seen) {
			p.set(heldPoint, false)
			lifted++
		}
	}
	return lifted
}

// ripe reports whether what was first shown at some time has stood for nine tenths of a scrape
// interval and was received by everyone who scrapes.
func (l *Ledger) ripe(shown, seen tick) bool {
	return l.now-shown >= l.hold && seen >= shown
}

// finished reports whether a record's last value needs no further showing. Until then it counts
// against --lustre.max-entries, so that scrapers that never succeed do not make it grow.
func (l *Ledger) finished(rec *record, seen tick) bool {
	if l.cfg.FirstZero == Off {
		return true
	}
	return rec.prev == nil && rec.holding == 0 && l.ripe(rec.changed, seen)
}

// retire ends the showing of records that are over or absent, and forgets those absent for long.
func (l *Ledger) retire(t *target, rec *record, seen tick) {
	absent := rec.missing >= 2
	switch {
	case rec.removed || !rec.over && !absent:
	case rec.over:
		if l.finished(rec, seen) {
			t.release(rec)
		}
	case rec.missing >= rememberReads && l.now-rec.lastSeen > rememberIntervals*l.audience.interval && (!rec.own || rec.hidden):
		t.end(rec)
		t.release(rec)
	case rec.own && !rec.hidden && l.finished(rec, seen):
		rec.hidden = true
		t.own--
	}
}

// start begins the series of a record that waited for its labels: what was to begin with a zero does
// so now.
func (l *Ledger) start(t *target, rec *record) {
	rec.holding, rec.changed = 0, l.now
	for i := range rec.points {
		p := &rec.points[i]
		l.introduce(t, p, p.held() || p.dated(), 0)
		if p.held() {
			rec.holding++
		}
	}
}

// settleFolds lifts holds, and drops sums that nothing feeds any more once they were seen.
func (l *Ledger) settleFolds(folds []*fold, seen tick, dropped func(*fold)) []*fold {
	for _, f := range folds {
		if f.holding > 0 {
			if n := l.lift(f.points, seen); n > 0 {
				f.holding -= n
				f.changed = l.now
			}
		}
		lone := f.members == 0
		if lone && (l.cfg.FirstZero == Off || f.holding == 0 && l.ripe(f.changed, seen)) {
			f.removed = true
			dropped(f)
		}
	}
	return slices.DeleteFunc(folds, func(f *fold) bool { return f.removed })
}
