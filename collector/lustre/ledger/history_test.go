// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
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
	before    [2]*Ledger // of the processes that ran before
	judged    [2]map[*record]bool
	known     [2]map[string]time.Duration // when a target was last read completely, or known to be away
	opening   [2]map[string]bool          // targets not yet read by a process that found them at its start
	first     [2]map[string]time.Duration // when it did
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
	return testLedger(t, func(c *Config) {
		c.FirstZero, c.Sizes, c.JobSeconds = sc.mode, sc.sizes, sc.jobSeconds
		if sc.limits {
			c.MaxEntries, c.MaxNodesPerJob = 5, 1
		}
		if sc.users {
			c.MaxUsers = 4 // two of them for system and unknown
		}
	}, now)
}

func (h *history) wall() time.Time { return h.w.epoch.Add(h.w.now) }

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
		sheet := h.observe(x)
		if lost {
			continue
		}
		p.store(x, sheet, h.w)
		h.ledgers[x].Served(receipt, sheet)
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
		h.ledgers[x].Served(receipt, h.observe(x))
	}
}

// neverMore is the first half of the property: at any time, what Prometheus adds up is at most what
// the servers did.
func (h *history) neverMore(p *prometheus) {
	h.t.Helper()
	for w, n := range p.sum {
		limit := h.w.truth[w] + h.w.excess[w]
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
	did, excess := h.w.truth.totals(), h.w.excess.totals()
	for w, n := range p.sum.totals() {
		if limit := did[w] + excess[w]; n > limit {
			h.t.Fatalf("seed %d: %s: all users, counter %#x of %s: Prometheus adds up %d, the servers did %d",
				h.seed, h.w.now, w.key, w.target, n, limit)
		}
	}
}

// equal is the second half: with start_time, all that some complete read could show is added up.
func (h *history) equal() {
	h.t.Helper()
	h.compare(func(p *prometheus, x int, w work, got, least, most uint64) {
		if got < least || got > most {
			h.t.Fatalf("seed %d: %s: exporter %d, uid %s counter %#x of %s: Prometheus adds up %d, of complete reads %d to %d are due",
				h.seed, p.client.Addr, x, w.uid, w.key, w.target, got, least, most)
		}
	})
}

// compare calls f with what each Prometheus added up since the processes started, and what is due.
func (h *history) compare(f func(p *prometheus, x int, w work, got, least, most uint64)) {
	per := func(t tally) tally { return t }
	if h.sc.users {
		per = tally.totals
	}
	excess := per(h.w.excess)
	for i, p := range h.scrapers {
		for x := range h.ledgers {
			visible, base, got, gotBase := per(h.w.visible[x]), per(h.base[x]), per(p.byHost[x]), per(h.baseStore[i][x])
			gap, fallen := per(h.w.gap[x]), per(h.w.fallen[x])
			for w := range visible {
				due := visible[w] - base[w]
				f(p, x, w, got[w]-gotBase[w], due-min(due, fallen[w]), due+gap[w]+excess[w])
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

// met reports whether every scraper has had a response of exporter x with a target since an observation.
func (h *history) met(x int, target string, since int) bool {
	for _, p := range h.scrapers {
		if p.got[x][target] < since {
			return false
		}
	}
	return true
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
	for range 12 * len(h.scrapers) {
		p := slices.MinFunc(h.scrapers, func(a, b *prometheus) int { return cmp.Compare(a.next, b.next) })
		h.w.now = max(h.w.now, p.next)
		h.scrape(p)
		p.next += testInterval
	}
}

func runHistory(t *testing.T, sc scenario, seed uint64) *history {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	users := 3
	h := &history{t: t, sc: sc, seed: seed, w: newWorld(rng, sc.dialect, users, sc.sizes), rng: rng}
	for i := range sc.scrapers {
		p := &prometheus{
			client: Client{Addr: fmt.Sprintf("10.0.0.%d:4711", i+1), Agent: "Prometheus/3.15.0", Scraper: true},
			last:   map[series]sample{}, sum: tally{}, byHost: [2]tally{{}, {}}, got: [2]map[string]int{{}, {}},
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
		p.client.Scraper, p.jobSeconds = !sc.anonymous, sc.jobSeconds
		p.next = h.w.now + p.offset
		h.scrapers = append(h.scrapers, p)
	}
	h.w.met = h.met
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
