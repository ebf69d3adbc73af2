// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// The property, over random histories of servers (world_test.go), exporters and scrapers
// (history_test.go, prometheus_test.go):
//
//   - never more: at any time, the increase that a Prometheus computes for a (target, uid, counter) is at
//     most what the servers did;
//   - nothing lost: with start_time it is, in the end, all that some complete read showed.
//
// What the ledger cannot know is listed here and in docs/ledger.md; the model allows for exactly this:
//
//  1. Work that lies in a gap, or before a process started: an entry that is new and whose first value
//     is no increment starts at Lustre's value. Prometheus may add up that value where it knows the
//     labels from an earlier entry (tally gap), and misses what the entry does until each scraper had a
//     response with it (fallen).
//  2. A counter that Lustre lets fall alone: its value before the fall may not have been seen (fallen).
//  3. An entry that is absent from so many reads, over so long, that it was forgotten: what it did
//     meanwhile is missed (fallen). Where its age is unknown (boot-relative start times) it counts as
//     new, and all it did is counted again (excess).
//  4. The same of an entry without a known age that the first read of a process skipped (excess).
//  5. An entry that one process folded (limits, a queue of incarnations) and the next gives series of
//     its own: Lustre's value on labels that Prometheus may know, beside what the sum had (excess).
//  6. A scraper that gets no response for longer than activeIntervals is not waited for; two scrapers
//     that cannot be told apart are waited for as one. The generator has neither.
//  7. Without start_time an incarnation that came back larger is taken for the same: less is counted,
//     never more.
//  8. The zero of =created is placed by time: where two scrapers ask in the same millisecond it may be
//     missing. "Nothing lost" is only claimed of =hold.
const testInterval = time.Minute

// scenario says what a history may contain.
type scenario struct {
	dialect    dialect
	mode       FirstZero
	limits     bool
	users      bool // the bound on uids is crossed too
	restarts   bool
	scrapers   int
	curl       bool
	lost       bool
	awkward    bool // the second scraper follows the first within a tenth of an interval
	steps      int
	anonymous  bool // no scraper can be told from curl
	sizes      bool
	jobSeconds bool
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
	if testing.Short() {
		return 12
	}
	return 30
}

func TestNeverMoreAndNothingLost(t *testing.T) {
	happened := map[string]int{}
	withStart, boot, without := dialect{start: true}, dialect{start: true, boot: true}, dialect{}
	for name, sc := range map[string]scenario{
		"one scraper":                       {dialect: withStart, scrapers: 1},
		"one scraper, responses lost":       {dialect: withStart, scrapers: 1, lost: true},
		"one scraper and curl":              {dialect: withStart, scrapers: 1, curl: true},
		"pair":                              {dialect: withStart, scrapers: 2},
		"pair, awkward offset":              {dialect: withStart, scrapers: 2, awkward: true},
		"pair, responses lost, curl":        {dialect: withStart, scrapers: 2, lost: true, curl: true},
		"boot-relative":                     {dialect: boot, scrapers: 1},
		"boot-relative pair":                {dialect: boot, scrapers: 2, curl: true},
		"limits":                            {dialect: withStart, scrapers: 1, limits: true},
		"limits and uid bound, pair":        {dialect: withStart, scrapers: 2, limits: true, users: true},
		"restarts":                          {dialect: withStart, scrapers: 1, restarts: true},
		"restarts, pair, lost, curl":        {dialect: withStart, scrapers: 2, restarts: true, lost: true, curl: true},
		"limits, restarts":                  {dialect: withStart, scrapers: 1, limits: true, restarts: true},
		"limits, restarts, pair, uid bound": {dialect: withStart, scrapers: 2, limits: true, restarts: true, users: true},
		"sizes":                             {dialect: withStart, scrapers: 2, sizes: true},
		"sizes, limits, restarts":           {dialect: withStart, scrapers: 1, sizes: true, limits: true, restarts: true},
		"job seconds":                       {dialect: withStart, scrapers: 2, jobSeconds: true, curl: true},
		"job seconds, limits":               {dialect: withStart, scrapers: 1, jobSeconds: true, limits: true, lost: true},
		"no start_time":                     {dialect: without, scrapers: 1},
		"no start_time, pair and curl":      {dialect: without, scrapers: 2, curl: true, lost: true},
		"no start_time, limits":             {dialect: without, scrapers: 1, limits: true},
		"no start_time, restarts":           {dialect: without, scrapers: 1, restarts: true},
		"created":                           {dialect: withStart, scrapers: 1, mode: Created},
		"created, pair":                     {dialect: withStart, scrapers: 2, mode: Created, limits: true},
		"off":                               {dialect: withStart, scrapers: 2, mode: Off, limits: true, lost: true},
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
	if os.Getenv("PFS_SEED") == "" {
		wantHappened(t, happened)
	}
}

// TestAudienceAgainstTimeAlone measures what telling scrapers apart is good for (docs/decisions.md): of
// two that follow each other within a tenth of an interval, with the hold going by time and any
// response alone, the second meets some series only after their zero.
func TestAudienceAgainstTimeAlone(t *testing.T) {
	lost := func(anonymous bool) (lost, due uint64) {
		sc := scenario{dialect: dialect{start: true}, scrapers: 2, awkward: true, steps: 300, anonymous: anonymous}
		for seed := range uint64(20) {
			runHistory(t, sc, seed).compare(func(_ *prometheus, _ int, w work, got, least, _ uint64) {
				if w.key.Kind() == Operation {
					lost += least - min(least, got)
					due += least
				}
			})
		}
		return lost, due
	}
	byTime, due := lost(true)
	ours, _ := lost(false)
	t.Logf("of %d operations that complete reads showed, the hold by time alone loses %d (%.2f %%), ours %d", due, byTime, 100*float64(byTime)/float64(due), ours)
	if ours > 0 || byTime == 0 {
		t.Errorf("ours loses %d, want 0; time alone loses %d, want some", ours, byTime)
	}
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
		"response lost", "responses lost twice in a row", "short and qualified names together",
		"start time counts from boot", "folded: limit", "folded: nodes", "folded: twin", "folded: system",
		"folded: malformed", "folded by one process and own in the next", "entry skipped by a first read",
		"entry skipped until it was forgotten",
	} {
		if happened[what] == 0 {
			t.Errorf("the histories never had: %s", what)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(happened)) {
		t.Logf("%8d  %s", happened[what], what)
	}
}
