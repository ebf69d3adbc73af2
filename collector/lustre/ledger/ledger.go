// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package ledger turns what Lustre says at each observation into counters that Prometheus can
// difference: an increase computed from what is exposed is never more than what the servers did.
//
// Data flows one way: Readings (reading.go) are committed per target (target.go), where entries find
// their records (record.go), new ones are admitted to series of their own or folded (admit.go,
// fold.go), holds and lingering series are settled (settle.go), and everything that is to be shown
// is copied to an immutable Sheet (sheet.go). Who has seen which Sheet is kept in audience.go.
// The rules are those of docs/ledger.md.
package ledger

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// FirstZero says how the first value of a new series is made visible to Prometheus, which cannot
// difference a first sample.
type FirstZero uint8

// The ways to show a new series.
const (
	// Hold shows 0 until it was seen, then the value; right with any Prometheus.
	Hold FirstZero = iota
	// Created exposes created timestamps instead, for servers that ingest start timestamps.
	Created
	// Off exposes what Lustre says; the first value of every series is lost to Prometheus.
	Off
)

// Config is what a Ledger needs to know.
type Config struct {
	// ScrapeInterval is the longest interval at which a Prometheus scrapes.
	ScrapeInterval time.Duration
	FirstZero      FirstZero
	// MaxEntries bounds the own series' entries per target; MaxNodesPerJob the nodes of one job with
	// series of their own per target; MaxUsers the uids per target.
	MaxEntries, MaxNodesPerJob, MaxUsers int
	// JobSeconds exposes server time per entry too; Sizes keeps histograms of I/O sizes.
	JobSeconds, Sizes bool
	Identifier        *jobid.Identifier
}

// Defaults for the limits of Config.
const (
	DefaultScrapeInterval = time.Minute
	DefaultMaxEntries     = 5000
	DefaultMaxNodesPerJob = 64
	DefaultMaxUsers       = 2000
)

func (c *Config) validate() error {
	var errs []error
	if c.ScrapeInterval <= 0 {
		errs = append(errs, fmt.Errorf("scrape interval %s: must be above 0; give the longest interval at which a Prometheus scrapes this exporter", c.ScrapeInterval))
	}
	for _, limit := range []struct {
		name  string
		value int
	}{{"max entries", c.MaxEntries}, {"max nodes per job", c.MaxNodesPerJob}, {"max users", c.MaxUsers}} {
		if limit.value < 0 {
			errs = append(errs, fmt.Errorf("%s %d: must not be negative; 0 folds everything", limit.name, limit.value))
		}
	}
	if c.FirstZero > Off {
		errs = append(errs, fmt.Errorf("first zero %d: not a mode", c.FirstZero))
	}
	if c.Identifier == nil {
		errs = append(errs, errors.New("no identifier formats"))
	}
	return errors.Join(errs...)
}

// ParseFirstZero reads a mode's name: hold, created or off.
func ParseFirstZero(s string) (FirstZero, error) {
	if i := slices.Index([]string{"hold", "created", "off"}, s); i >= 0 {
		return FirstZero(i), nil
	}
	return Hold, fmt.Errorf("first zero %q: want hold, created or off", s)
}

// tick is time in milliseconds since the ledger began; observations have distinct ticks.
type tick int64

// Ledger keeps the books of all targets. It is safe for concurrent use.
type Ledger struct {
	cfg   Config
	names *Names
	seed  maphash.Seed

	mu       sync.Mutex
	began    time.Time
	now      tick
	hold     tick // how long a zero, or a last value, stands at least
	gap      tick // longer without a complete read than this, and work can no longer be placed
	searched bool // a discovery has worked
	looked   tick // when one last did
	targets  map[string]*target
	listed   []*target // by name
	audience audience
}

// New returns an empty ledger. The clock of all observations goes on from now.
func New(cfg Config, now time.Time) (*Ledger, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	interval := tick(cfg.ScrapeInterval.Milliseconds())
	return &Ledger{
		cfg: cfg, names: NewNames(), seed: maphash.MakeSeed(), began: now,
		// Nine tenths, so that jitter of a scraper does not cost it another interval.
		hold: interval * 9 / 10, gap: 3 * interval,
		targets: map[string]*target{}, audience: audience{interval: interval},
	}, nil
}

// NewReading returns an empty reading for this ledger. Readings may be filled concurrently.
func (l *Ledger) NewReading() *Reading {
	return &Reading{names: l.names, sizes: l.cfg.Sizes, seed: l.seed}
}

// Read is what one observation got from one target.
type Read struct {
	Target string
	// Kind is "mdt" or "ost".
	Kind string
	// Reading is what was read; nil when the read failed or was cut short: then nothing of the
	// target changes and it shows no job series this time.
	Reading *Reading
}

// Observation is one read of every target.
type Observation struct {
	// Time is when the reads ended.
	Time time.Time
	// Reads has every target that was found, read or not.
	Reads []Read
	// Discovered is false when looking for targets failed: then none counts as unmounted.
	Discovered bool
}

// Observe accounts an observation and returns what to expose for it.
func (l *Ledger) Observe(o Observation) *Sheet {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now+1, l.tickOf(o.Time))
	for _, t := range l.listed {
		t.readable = false // unless it is among the reads
	}
	found := make(map[string]bool, len(o.Reads))
	for _, r := range o.Reads {
		found[r.Target] = true
		t := l.target(r.Target, r.Kind)
		t.mounted, t.readable = true, r.Reading != nil
		if r.Reading != nil {
			l.commit(t, r.Reading, o.Time)
		}
	}
	if o.Discovered {
		for _, t := range l.listed {
			if !found[t.name] {
				l.unmount(t)
			}
		}
		l.searched, l.looked = true, l.now
	}
	l.audience.waiting = 0
	return l.sheet(o)
}

func (l *Ledger) tickOf(t time.Time) tick { return tick(t.Sub(l.began).Milliseconds()) }

// target returns the books of a target, opening them when it was never seen.
func (l *Ledger) target(name, kind string) *target {
	if t, ok := l.targets[name]; ok {
		return t
	}
	t := newTarget(name, kind)
	// A target that a working discovery had not found before was mounted since: all it holds is
	// new, as if it had been read empty. At the start nothing is known of it.
	if t.known = l.searched; t.known {
		t.lastRead = l.looked
	}
	l.targets[name] = t
	l.listed = append(l.listed, t)
	slices.SortFunc(l.listed, func(a, b *target) int { return strings.Compare(a.name, b.name) })
	return t
}

// unmount forgets the entries of a target that is gone. What they had done stays shown until it was
// seen; whatever the target holds when it returns is new.
func (l *Ledger) unmount(t *target) {
	t.mounted, t.readable, t.known = false, false, true
	t.lastRead = l.now
	for _, rec := range t.records {
		if !rec.over {
			t.end(rec)
		}
	}
	t.counts = counts{}
	l.settle(t)
}

// Names returns the operation names by number.
func (l *Ledger) Names() []string { return l.names.List() }
