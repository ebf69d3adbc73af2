// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// history runs one random history through two exporters and their scrapers.
type history struct {
	t         *testing.T
	sc        scenario
	seed      uint64
	w         *world
	rng       *rand.Rand
	ledgers   [2]*Ledger
	known     [2]map[string]time.Duration // when a target was last read completely, or known to be away
	searched  [2]bool
	looked    [2]time.Duration
	scrapers  []*prometheus
	base      [2]tally // what was visible when the present processes had made their first read
	baseStore [][2]tally
	quiet     bool
	badReads  int
	gapAt     time.Duration
}

func newLedger(t *testing.T, sc scenario, now time.Time) *Ledger {
	t.Helper()
	identifier, err := jobid.New(jobid.Config{Formats: jobid.DefaultFormats(), FirstUID: 1000})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		ScrapeInterval: testInterval, FirstZero: sc.mode, MaxEntries: 5000, MaxNodesPerJob: 64, MaxUsers: 2000,
		Identifier: identifier,
	}
	if sc.limits {
		cfg.MaxEntries, cfg.MaxNodesPerJob = 5, 1
	}
	if sc.users {
		cfg.MaxUsers = 4 // two of them for system and unknown
	}
	l, err := New(cfg, now)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (h *history) wall() time.Time { return h.w.epoch.Add(h.w.now) }

func (h *history) restart(x int) {
	h.ledgers[x] = newLedger(h.t, h.sc, h.wall())
	h.known[x] = map[string]time.Duration{}
	h.searched[x] = false
	for _, t := range h.w.targets {
		for _, e := range t.entries {
			if t.host == x {
				e.known, e.read = false, counters{}
			}
		}
	}
	h.observe(x, true) // the first read is made at process start
}

// observe reads the targets of exporter x, with all that can go wrong.
func (h *history) observe(x int, perfect bool) *Sheet {
	o := Observation{Time: h.wall(), Discovered: true}
	if !perfect && !h.quiet && h.rng.IntN(25) == 0 {
		h.w.note("discovery failed")
		o.Discovered = false
		return h.ledgers[x].Observe(o)
	}
	for _, t := range h.w.targets {
		if t.host != x {
			h.known[x][t.name] = h.w.now
			continue
		}
		o.Reads = append(o.Reads, h.read(x, t, perfect))
	}
	h.searched[x], h.looked[x] = true, h.w.now
	return h.ledgers[x].Observe(o)
}

func (h *history) read(x int, t *lustreTarget, perfect bool) Read {
	r := Read{Target: t.name, Kind: "ost"}
	if !perfect && !h.quiet && (h.badReads > 0 || h.rng.IntN(12) == 0) {
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
	if !known && h.searched[x] {
		last, known = h.looked[x], true
	}
	for _, e := range t.entries {
		if !perfect && !h.quiet && h.rng.IntN(15) == 0 && (e.skipped == 0 || h.w.dialect.start) {
			if e.skipped++; e.skipped > 1 {
				h.w.note("entry skipped twice in a row")
			}
			h.w.note("entry skipped")
			continue
		}
		e.skipped = 0
		counts := known && h.counts(e, last)
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

// counts reports whether an entry that is new now is known to have been born since the last read, or
// at least recently.
func (h *history) counts(e *lustreEntry, lastRead time.Duration) bool {
	return h.w.now-lastRead <= 3*testInterval ||
		h.w.dialect.start && !h.w.dialect.boot && h.w.now-e.start <= 3*testInterval
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

func (h *history) scrape(p *prometheus) {
	lost := h.sc.lost && !h.quiet && (p.lost == 1 && h.rng.IntN(2) == 0 || p.lost == 0 && h.rng.IntN(10) == 0)
	// A scraper is waited for over two lost responses, not over two and a long gap.
	if lost = lost && h.w.now-h.gapAt > 6*testInterval; !lost {
		p.lost = 0
	} else if p.lost++; p.lost == 2 {
		h.w.note("responses lost twice in a row")
	} else {
		h.w.note("response lost")
	}
	for x := range h.ledgers {
		receipt := h.ledgers[x].Ask(p.client, h.wall())
		sheet := h.observe(x, false)
		if lost {
			continue
		}
		p.store(x, sheet, h.w.now, h.w.epoch)
		h.ledgers[x].Served(receipt, sheet, h.wall())
	}
	h.w.trace.all("%s scraped, lost %v", p.client.Addr, lost)
	h.neverMore(p)
}

func (h *history) curl() {
	h.w.note("curl in between")
	h.w.trace.all("curl")
	c := Client{Addr: "10.0.0.9:" + strconv.Itoa(h.rng.IntN(60000)), Agent: "curl/8"}
	for x := range h.ledgers {
		receipt := h.ledgers[x].Ask(c, h.wall())
		h.ledgers[x].Served(receipt, h.observe(x, false), h.wall())
	}
}

// neverMore is the first half of the property: at any time, what Prometheus adds up is at most what
// the servers did.
func (h *history) neverMore(p *prometheus) {
	h.t.Helper()
	for w, n := range p.sum {
		limit := h.w.truth[w]
		if w.uid == jobid.Unknown.String() && h.sc.users {
			limit = math.MaxUint64 // whoever there was no room for
		}
		if n > limit {
			h.t.Fatalf("seed %d: %s %s: uid %s counter %#x of %s: Prometheus adds up %d, the servers did %d",
				h.seed, h.w.now, p.client.Addr, w.uid, w.key, w.target, n, limit)
		}
	}
	if !h.sc.users {
		return
	}
	did := h.w.truth.totals()
	for w, n := range p.sum.totals() {
		if limit := did[w]; n > limit {
			h.t.Fatalf("seed %d: %s: all users, counter %#x of %s: Prometheus adds up %d, the servers did %d",
				h.seed, h.w.now, w.key, w.target, n, limit)
		}
	}
}

// equal is the second half: with start_time, all that some complete read could show is added up.
func (h *history) equal() {
	h.t.Helper()
	per := func(t tally) tally { return t }
	if h.sc.users {
		per = tally.totals
	}
	for i, p := range h.scrapers {
		for x := range h.ledgers {
			visible, base, got, gotBase := per(h.w.visible[x]), per(h.base[x]), per(p.byHost[x]), per(h.baseStore[i][x])
			gap, fallen := per(h.w.gap[x]), per(h.w.fallen[x])
			for w := range visible {
				want, got := visible[w]-base[w], got[w]-gotBase[w]
				if got+fallen[w] < want || got > want+gap[w] {
					h.t.Errorf("%s: exporter %d, uid %s counter %#x of %s: Prometheus adds up %d, complete reads showed %d (and %d after gaps, %d fallen)",
						p.client.Addr, x, w.uid, w.key, w.target, got, want, gap[w], fallen[w])
				}
			}
		}
	}
}

func (h *history) run() {
	lastRestart := 0
	for step := range h.sc.steps {
		h.w.now += time.Duration(1000+h.rng.IntN(9000)) * time.Millisecond
		h.w.live()
		for _, p := range h.scrapers {
			if h.w.now >= p.next {
				h.scrape(p)
				for p.next <= h.w.now {
					p.next += testInterval
				}
			}
		}
		switch {
		case h.sc.curl && h.rng.IntN(12) == 0:
			h.curl()
		case h.rng.IntN(120) == 0 && !slices.ContainsFunc(h.scrapers, func(p *prometheus) bool { return p.lost > 0 }):
			h.w.now += 4 * testInterval
			h.gapAt = h.w.now
			h.w.trace.all("gap")
		case h.sc.restarts && step-lastRestart > 60 && h.rng.IntN(60) == 0:
			lastRestart = step
			h.noteHeld()
			h.start()
			h.w.note("exporter restarts")
			h.w.trace.all("restarted")
		}
	}
	h.drain()
}

func (h *history) noteHeld() {
	for x := range h.ledgers {
		for _, t := range h.ledgers[x].listed {
			if slices.ContainsFunc(t.records, func(rec *record) bool { return rec.holding > 0 }) {
				h.w.note("exporter restarts while entries are held")
			}
		}
	}
}

// start starts both exporters. What Prometheus adds up until every scraper has had a response is not
// compared: work between the first read and that cannot be placed.
func (h *history) start() {
	for x := range h.ledgers {
		h.restart(x)
	}
	lost := h.sc.lost
	h.sc.lost, h.quiet = false, true
	for _, p := range h.scrapers {
		h.w.now += time.Second
		h.scrape(p)
	}
	h.sc.lost, h.quiet = lost, false
	h.baseStore = nil
	for x := range h.ledgers {
		h.base[x] = maps.Clone(h.w.visible[x])
	}
	for _, p := range h.scrapers {
		h.baseStore = append(h.baseStore, [2]tally{maps.Clone(p.byHost[0]), maps.Clone(p.byHost[1])})
	}
}

// drain lets everything that is held come out.
func (h *history) drain() {
	h.quiet = true
	for range 12 {
		for _, p := range h.scrapers {
			h.w.now = max(h.w.now, p.next)
			h.scrape(p)
			p.next += testInterval
		}
	}
}

func runHistory(t *testing.T, sc scenario, seed uint64) *history {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	users := 3
	h := &history{t: t, sc: sc, seed: seed, w: newWorld(rng, sc.dialect, users), rng: rng}
	for i := range sc.scrapers {
		p := &prometheus{
			client: Client{Addr: fmt.Sprintf("10.0.0.%d:4711", i+1), Agent: "Prometheus/3.15.0", Scraper: true},
			last:   map[series]sample{}, sum: tally{}, byHost: [2]tally{{}, {}},
		}
		if i > 0 {
			p.offset = time.Duration(rng.Int64N(int64(testInterval)))
			if sc.awkward {
				p.offset = time.Duration(rng.Int64N(int64(testInterval / 10)))
			}
			h.w.note("two scrapers with an offset")
		} else {
			h.w.note("one scraper")
		}
		if sc.identical {
			p.client.Addr = "10.0.0.1:4711"
		}
		p.next = h.w.now + p.offset
		h.scrapers = append(h.scrapers, p)
	}
	for range 10 {
		h.w.live()
	}
	if want := os.Getenv("PFS_TRACE"); want != "" {
		h.w.trace = &tracer{t, &h.w.now, want}
		for _, p := range h.scrapers {
			p.trace = h.w.trace
		}
	}
	h.start()
	h.run()
	return h
}
