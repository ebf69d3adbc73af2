// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// What the exporters of a history do: start, look for targets, read them, with all that can go wrong.

func (h *history) restart(x int) {
	h.before[x], h.judged[x] = h.ledgers[x], map[*record]bool{}
	h.ledgers[x] = newLedger(h.t, h.sc, h.wall())
	h.known[x], h.opening[x], h.first[x] = map[string]time.Duration{}, map[string]bool{}, map[string]time.Duration{}
	h.searched[x] = false
	for _, t := range h.w.targets {
		for _, e := range t.entries {
			if t.host == x {
				e.known, e.skipped, e.read = false, 0, counters{}
			}
		}
	}
	h.observe(x) // the first read is made at process start
}

// unfolded bounds what a restart can make Prometheus count twice: an entry that one process folded and
// the next gives series of its own starts there at Lustre's value, on labels that Prometheus may know.
func (h *history) unfolded(x int) {
	if h.before[x] == nil {
		return
	}
	for name, t := range h.ledgers[x].targets {
		was := h.before[x].targets[name]
		for _, rec := range t.records {
			if was == nil || !rec.own || h.judged[x][rec] {
				continue
			}
			h.judged[x][rec] = true
			for before := was.byID[rec.id]; before != nil; before = before.twin {
				if before.start != rec.start || before.own {
					continue
				}
				h.w.note("folded by one process and own in the next")
				for _, p := range rec.points {
					h.w.excess[work{name, rec.labels.Get(jobid.UID), p.key()}] += p.count
				}
			}
		}
	}
}

// observe reads the targets of exporter x, with all that can go wrong.
func (h *history) observe(x int) *Sheet {
	h.w.observations++
	o := Observation{Time: h.wall(), Discovered: true}
	if h.searched[x] && !h.quiet && h.rng.IntN(25) == 0 {
		h.w.note("discovery failed")
		o.Discovered = false
		return h.ledgers[x].Observe(o)
	}
	for _, t := range h.w.targets {
		if t.host != x {
			h.known[x][t.name] = h.w.now
			continue
		}
		if _, known := h.known[x][t.name]; !known && !h.searched[x] {
			h.opening[x][t.name] = true
		}
		o.Reads = append(o.Reads, h.read(x, t))
	}
	h.searched[x], h.looked[x] = true, h.w.now
	sheet := h.ledgers[x].Observe(o)
	h.unfolded(x)
	for i := range sheet.Targets {
		for _, f := range sheet.Targets[i].Folded {
			if f.Count > 0 {
				h.w.note("folded: " + f.Reason.String())
			}
		}
	}
	return sheet
}

func (h *history) read(x int, t *lustreTarget) Read {
	r := Read{Target: t.name, Kind: "ost"}
	if !h.quiet && (h.badReads > 0 || h.rng.IntN(12) == 0) {
		if h.badReads++; h.badReads > 1 {
			h.w.note("read failed or cut short twice in a row")
		}
		if h.rng.IntN(2) == 0 || h.badReads > 2 {
			h.badReads = 0
		}
		h.w.note("read failed or cut short")
		return r
	}
	r.Reading = h.ledgers[x].NewReading()
	last, known := h.known[x][t.name]
	switch {
	case h.opening[x][t.name]:
		delete(h.opening[x], t.name)
		h.first[x][t.name] = h.w.now
	case !known && h.searched[x]:
		last, known = h.looked[x], true
	}
	for _, e := range t.entries {
		if !h.quiet && h.w.dialect.start && h.rng.IntN(2000) == 0 {
			e.absent = rememberReads + h.rng.IntN(6)
		}
		if e.absent > 0 && !h.quiet || !h.quiet && h.rng.IntN(15) == 0 && (e.skipped == 0 || h.w.dialect.start) {
			e.absent = max(0, e.absent-1)
			if e.skipped++; e.skipped > 1 {
				h.w.note("entry skipped twice in a row")
			}
			h.w.note("entry skipped")
			e.missed = h.w.now
			continue
		}
		counts := known && h.counts(e, last)
		if born, first := e.start, h.first[x][t.name]; counts && !e.known && born <= first {
			h.w.note("entry skipped by a first read")
			if counts = !h.w.dialect.start || h.w.dialect.boot; counts {
				h.w.twice(t, e)
			}
		}
		if known && h.w.now-last > 3*testInterval {
			h.w.note("gap above three intervals")
		}
		h.w.see(x, t, e, counts)
		r.Reading.Add(h.w.print(e))
		if h.w.dialect.start && h.rng.IntN(30) == 0 {
			r.Reading.Add(h.w.print(e))
			h.w.note("entry printed twice")
		}
	}
	h.duplicate(t, r.Reading, known, last)
	h.known[x][t.name] = h.w.now
	return r
}

// counts reports whether the first value of an entry that is new now is known to be an increment: the
// entry was born since the last read, or at least recently.
func (h *history) counts(e *lustreEntry, lastRead time.Duration) bool {
	recently := h.w.now-lastRead <= 3*testInterval
	if !h.w.dialect.start || h.w.dialect.boot {
		return recently
	}
	age := h.w.now - e.start
	return age <= rememberIntervals*testInterval && (recently || age <= 3*testInterval)
}

// duplicate prints a removed incarnation beside its successor now and then: the old copy early in
// the file, the fresh one late (jobstats_format, section 7.4).
func (h *history) duplicate(t *lustreTarget, r *Reading, known bool, last time.Duration) {
	if !h.w.dialect.start || h.quiet || len(t.entries) == 0 || h.rng.IntN(10) > 0 {
		return
	}
	at := h.rng.IntN(len(t.entries))
	old := t.entries[at]
	if !old.known || old.skipped > 0 || old.read == (counters{}) {
		return
	}
	t.entries = slices.Delete(t.entries, at, at+1)
	fresh := h.w.born(t, old.identity)
	r.Add(h.w.print(fresh))
	h.w.see(t.host, t, fresh, known && h.counts(fresh, last))
	h.w.note("duplicate: removed and fresh incarnation in one read")
}
