// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
	"github.com/pfs-exporter/pfs_exporter/simulator"
)

const (
	simulatedScrape  = 30 * time.Second
	simulatedCleanup = 4 * time.Minute
)

// work is what one user did on a target.
type work struct{ metric, target, uid, operation string }

// database adds up increases as Prometheus does: all of a value below the last one, nothing of a first.
type database struct {
	last map[string]float64
	sum  map[work]float64
	// What the runs went through, so that a test that tests nothing shows.
	samples, zeros, resets int
}

func newDatabase() *database { return &database{last: map[string]float64{}, sum: map[work]float64{}} }

func (d *database) store(t *testing.T, s series) {
	t.Helper()
	for name, v := range s {
		w, ok := workOf(t, name)
		if !ok {
			continue
		}
		last, known := d.last[name]
		switch {
		case !known && v == 0:
			d.zeros++
		case known && v >= last:
			d.sum[w] += v - last
		case known:
			d.sum[w] += v
			d.resets++
		}
		d.samples++
		d.last[name] = v
	}
}

// workOf reads a series' name; false for those that are not about jobs' work.
func workOf(t *testing.T, name string) (work, bool) {
	t.Helper()
	var w work
	at := 0
	for at < len(name) && name[at] != '{' {
		at++
	}
	switch w.metric = name[:at]; w.metric {
	case jobOps, "lustre_job_read_bytes_total", "lustre_job_write_bytes_total", "lustre_user_operation_seconds_total":
	default:
		return w, false
	}
	for label, to := range map[string]*string{"target": &w.target, "uid": &w.uid, "operation": &w.operation} {
		*to = labelOf(name, label)
	}
	if w.target == "" || w.uid == "" {
		t.Fatalf("%s: no target or uid", name)
	}
	return w, true
}

// truth is what the simulated servers did, as the metrics would put it.
func truth(c *simulator.Cluster, x *jobid.Identifier) map[work]float64 {
	did := map[work]float64{}
	for k, n := range c.Truth() {
		labels := x.Identify([]byte(k.Identifier)).Labels
		w := work{jobOps, k.Target, labels.Get(jobid.UID), k.Operation}
		did[w] += float64(n.Samples)
		if n.Micros > 0 {
			w.metric = "lustre_user_operation_seconds_total"
			did[w] += float64(n.Micros) / 1e6
		}
		if n.Bytes > 0 {
			w.metric, w.operation = fmt.Sprintf("lustre_job_%s_bytes_total", k.Operation), ""
			did[w] += float64(n.Bytes)
		}
	}
	return did
}

// TestIncreasesAreTheTruth runs the collector over a simulated cluster of each dialect, through files, and has a
// Prometheus add up what it shows.
func TestIncreasesAreTheTruth(t *testing.T) {
	for _, d := range jobstats.Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			scrapes := 60
			if testing.Short() {
				scrapes = 25
			}
			c, err := simulator.New(simulator.Config{Seed: 7, MDTs: 1, OSTs: 2, Users: 12, Entries: 30, Dialect: d.Name, CleanupInterval: simulatedCleanup})
			if err != nil {
				t.Fatal(err)
			}
			db := newDatabase()
			did := simulate(t, c, db, scrapes)
			checkTruth(t, db, did, d.StartTime())
			t.Logf("%d counters of (target, uid, operation), %d samples, %d zeros, %d resets", len(did), db.samples, db.zeros, db.resets)
			if len(did) < 50 || db.zeros < 100 || db.resets == 0 && !testing.Short() {
				t.Errorf("the run is too tame to show anything")
			}
		})
	}
}

// simulate scrapes while the cluster works, and then until nothing is held any more. It returns the truth.
func simulate(t *testing.T, c *simulator.Cluster, db *database, scrapes int) map[work]float64 {
	t.Helper()
	root, idle := t.TempDir(), time.Duration(0)
	r := newRig(t, func(cfg *Config) {
		cfg.Source = source.NewProcfs(filepath.Join(root, "proc"), filepath.Join(root, "sys"))
		cfg.Now = func() time.Time { return c.Now().Add(idle) }
		cfg.Ledger.FirstZero, cfg.Ledger.ScrapeInterval = ledger.Hold, simulatedScrape
		cfg.Ledger.MaxEntries = 25 // some fold
	})
	scrape := func() {
		if err := c.WriteTree(root); err != nil {
			t.Fatal(err)
		}
		db.store(t, r.must())
	}
	scrape() // all targets are empty: whatever comes is new
	for range scrapes {
		c.Step(simulatedScrape)
		scrape()
		c.ExpireIdle() // as a reader does
	}
	for range 6 {
		idle += simulatedScrape
		scrape()
	}
	return truth(c, identifier(t))
}

// checkTruth compares per (target, uid, operation): never more than was done, and all of it where exact.
func checkTruth(t *testing.T, db *database, did map[work]float64, exact bool) {
	t.Helper()
	wrong := 0
	var all, got float64
	for w, want := range did {
		sum, slack := db.sum[w], 0.0
		if w.metric == "lustre_user_operation_seconds_total" {
			slack = 1e-5 // of floating point
		} else if w.metric == jobOps {
			all, got = all+want, got+sum
		}
		if more := sum > want+slack; more || exact && math.Abs(sum-want) > slack {
			if wrong++; wrong <= 5 {
				t.Errorf("%v: Prometheus adds up %v, the servers did %v", w, sum, want)
			}
		}
	}
	for w, sum := range db.sum {
		if _, ok := did[w]; !ok && sum > 0 {
			t.Errorf("%v: Prometheus adds up %v, the servers did nothing", w, sum)
		}
	}
	if wrong > 5 {
		t.Errorf("%d of %d wrong", wrong, len(did))
	}
	if !exact && got < .5*all {
		t.Errorf("%v of %v operations: less than half", got, all)
	}
	t.Logf("%.2f%% of %v operations", 100*got/all, all)
}

// A server that forgets everything, and one that is taken away and comes back, invent nothing.
func TestIncreasesAreNeverMoreThanTheTruth(t *testing.T) {
	f := func(what string, disturb func(*simulator.Cluster, string) error) {
		t.Helper()
		c, err := simulator.New(simulator.Config{Seed: 11, MDTs: 1, OSTs: 2, Users: 12, Entries: 30, CleanupInterval: simulatedCleanup})
		if err != nil {
			t.Fatal(err)
		}
		db, all := newDatabase(), map[work]float64{}
		for round := range 2 {
			all = simulate(t, c, db, 15)
			if round == 0 {
				if err := disturb(c, ost0Name); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
		}
		checkTruth(t, db, all, false)
	}
	f("clear", (*simulator.Cluster).Clear)
	f("restart", (*simulator.Cluster).Restart)
	f("remount", func(c *simulator.Cluster, name string) error {
		if err := c.Unmount(name); err != nil {
			return err
		}
		c.Step(simulatedScrape)
		return c.Mount(name)
	})
}
