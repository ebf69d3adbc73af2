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
