// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

const testInterval = time.Minute

// scenario says what a history may contain.
type scenario struct {
	dialect   dialect
	mode      FirstZero
	limits    bool
	users     bool // the bound on uids is crossed too
	restarts  bool
	scrapers  int
	curl      bool
	lost      bool
	awkward   bool // the second scraper follows the first within a tenth of an interval
	steps     int
	identical bool // both scrapers look the same to the exporter
}

// prometheus stores what it is shown and adds up increases as rate() and increase() do.
type prometheus struct {
	client Client
	offset time.Duration
	next   time.Duration
	last   map[string]sample
	sum    tally
	byHost [2]tally
	lost   int // responses lost in a row
}

type sample struct {
	value uint64
	at    time.Duration
}

// store takes one response in. With created timestamps it injects zeros as
// created-timestamp-zero-ingestion does.
func (p *prometheus) store(host int, s *Sheet, now time.Duration, epoch time.Time) {
	for _, t := range s.Targets {
		if !t.Shown {
			continue
		}
		for _, rows := range []struct {
			name string
			rows *Rows
		}{{"job", &t.Jobs}, {"user", &t.Users}} {
			for i := range rows.rows.Len() {
				labels, cells, created := rows.rows.Row(i)
				for c, cell := range cells {
					born := time.Duration(0)
					if created != nil && created[c] != 0 {
						born = time.UnixMilli(created[c]).Sub(epoch)
					}
					series := fmt.Sprint(host, t.Name, rows.name, string(labels), cell.Key)
					p.append(host, series, work{t.Name, labels.Get(jobid.UID), cell.Key}, cell.Count, born, now)
				}
			}
		}
	}
}

func (p *prometheus) append(host int, series string, w work, v uint64, born, now time.Duration) {
	last, known := p.last[series]
	if born != 0 && born < now && (!known || born > last.at) {
		last, known = sample{0, born}, true
	}
	if known {
		increase := v
		if v >= last.value {
			increase = v - last.value
		}
		p.sum[w] += increase
		p.byHost[host][w] += increase
	}
	p.last[series] = sample{v, now}
}

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
				e.known, e.read = false, map[Key]uint64{}
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
	if !old.known || old.skipped > 0 || len(old.read) == 0 {
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
	h.neverMore(p)
}

func (h *history) curl() {
	h.w.note("curl in between")
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
			limit = h.w.truth.total(w.target, w.key)
		}
		if n > limit {
			h.t.Fatalf("seed %d: %s %s: uid %s counter %#x of %s: Prometheus adds up %d, the servers did %d",
				h.seed, h.w.now, p.client.Addr, w.uid, w.key, w.target, n, limit)
		}
	}
	for _, t := range h.w.targets {
		for _, k := range allKeys {
			if n, limit := p.sum.total(t.name, k), h.w.truth.total(t.name, k); n > limit {
				h.t.Fatalf("seed %d: %s: all users, counter %#x of %s: Prometheus adds up %d, the servers did %d", h.seed, h.w.now, k, t.name, n, limit)
			}
		}
	}
}

// equal is the second half: with start_time, all that some complete read could show is added up.
func (h *history) equal() {
	h.t.Helper()
	for i, p := range h.scrapers {
		for x := range h.ledgers {
			for w, n := range h.w.visible[x] {
				want, slack, fallen := n-h.base[x][w], h.w.gap[x][w], h.w.fallen[x][w]
				got := p.byHost[x][w] - h.baseStore[i][x][w]
				if h.sc.users {
					want = h.w.visible[x].total(w.target, w.key) - h.base[x].total(w.target, w.key)
					got = p.byHost[x].total(w.target, w.key) - h.baseStore[i][x].total(w.target, w.key)
					slack, fallen = h.w.gap[x].total(w.target, w.key), h.w.fallen[x].total(w.target, w.key)
				}
				if got+fallen < want || got > want+slack {
					h.t.Errorf("%s: exporter %d, uid %s counter %#x of %s: Prometheus adds up %d, complete reads showed %d (and %d after gaps)",
						p.client.Addr, x, w.uid, w.key, w.target, got, want, slack)
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
		case h.sc.restarts && step-lastRestart > 60 && h.rng.IntN(60) == 0:
			lastRestart = step
			h.noteHeld()
			h.start()
			h.w.note("exporter restarts")
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
	for range 30 * len(h.scrapers) {
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
			last:   map[string]sample{}, sum: tally{}, byHost: [2]tally{{}, {}},
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
	h.start()
	h.run()
	return h
}

// histories is how many each scenario runs; PFS_HISTORIES sets more for a long run.
func histories(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("PFS_HISTORIES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 40
}

func TestNeverMoreAndNothingLost(t *testing.T) {
	happened := map[string]int{}
	withStart, boot, without := dialect{start: true}, dialect{start: true, boot: true}, dialect{}
	for name, sc := range map[string]scenario{
		"one scraper":                  {dialect: withStart, scrapers: 1},
		"one scraper, responses lost":  {dialect: withStart, scrapers: 1, lost: true},
		"one scraper and curl":         {dialect: withStart, scrapers: 1, curl: true},
		"pair":                         {dialect: withStart, scrapers: 2},
		"pair, awkward offset":         {dialect: withStart, scrapers: 2, awkward: true},
		"pair, responses lost, curl":   {dialect: withStart, scrapers: 2, lost: true, curl: true},
		"boot-relative":                {dialect: boot, scrapers: 1},
		"boot-relative pair":           {dialect: boot, scrapers: 2, curl: true},
		"limits":                       {dialect: withStart, scrapers: 1, limits: true},
		"limits and uid bound, pair":   {dialect: withStart, scrapers: 2, limits: true, users: true},
		"restarts":                     {dialect: withStart, scrapers: 1, restarts: true},
		"restarts, pair, lost, curl":   {dialect: withStart, scrapers: 2, restarts: true, lost: true, curl: true},
		"no start_time":                {dialect: without, scrapers: 1},
		"no start_time, pair and curl": {dialect: without, scrapers: 2, curl: true, lost: true},
		"no start_time, limits":        {dialect: without, scrapers: 1, limits: true},
		"no start_time, restarts":      {dialect: without, scrapers: 1, restarts: true},
		"created":                      {dialect: withStart, scrapers: 1, mode: Created},
		"created, pair":                {dialect: withStart, scrapers: 2, mode: Created, limits: true},
		"off":                          {dialect: withStart, scrapers: 2, mode: Off, limits: true, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			sc.steps = 300
			for seed := range uint64(histories(t)) {
				if s := os.Getenv("PFS_SEED"); s != "" && s != strconv.FormatUint(seed, 10) {
					continue
				}
				h := runHistory(t, sc, seed)
				if sc.dialect.start && sc.mode == Hold {
					h.equal()
				}
				for what, n := range h.w.happened {
					happened[what] += n
				}
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
	wantHappened(t, happened)
}

// wantHappened fails when the generator did not produce what the property is about.
func wantHappened(t *testing.T, happened map[string]int) {
	t.Helper()
	for _, what := range []string{
		"entry born", "entry grows", "entry idle", "entry cleaned up", "back smaller", "back larger",
		"operation first happens late", "entry skipped", "entry printed twice",
		"duplicate: removed and fresh incarnation in one read", "read failed or cut short",
		"read failed or cut short twice in a row", "discovery failed", "gap above three intervals", "clear",
		"one counter falls alone", "target moves to the other server", "exporter restarts",
		"exporter restarts while entries are held", "one scraper", "two scrapers with an offset", "curl in between",
		"response lost", "responses lost twice in a row",
	} {
		if happened[what] == 0 {
			t.Errorf("the histories never had: %s", what)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(happened)) {
		t.Logf("%8d  %s", happened[what], what)
	}
}
