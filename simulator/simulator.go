// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package simulator pretends to be the servers of a Lustre file system whose every count is known.
//
// A [Cluster] has MDTs and OSTs, users with heavy-tailed rates, their jobs, login sessions and daemons, and the entries
// that Jobstats keeps of them: created by a first operation, counted, cleaned up when idle, lost when a target is
// unmounted. It prints them as any Lustre release does ([Cluster.AppendText], [Cluster.WriteTree]) and keeps beside them
// the truth ([Cluster.Truth]), which no clean-up ever resets. Equal configurations stepped equally yield equal bytes.
//
// The proportions are those of the Puhti system, 2022-10-27 (reference "monitoring", section 5).
package simulator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// Defaults of [Config].
const (
	DefaultFSName   = "scratch"
	DefaultDialect  = "2.16"
	DefaultInterval = 10 * time.Minute // Lustre's own default of job_cleanup_interval
	DefaultUsers    = 50
	DefaultEntries  = 200
)

// ErrConfig is wrapped by every error about a [Config].
var ErrConfig = errors.New("bad simulator configuration")

// Config says what to pretend. Zero fields take the defaults.
type Config struct {
	Seed uint64
	// FSName is the name of the file system, at most 8 bytes (LUSTRE_MAXFSNAME).
	FSName string
	// MDTs and OSTs count the targets. If both are 0, Targets are split into one MDT per three OSTs.
	MDTs, OSTs, Targets int
	Users               int
	// Entries is how many living entries an OST should have on average, and an MDT on the average of all MDTs, where
	// the first is the busiest.
	Entries int
	// Dialect names how entries are printed (jobstats.Dialects). Dialects overrides it per target, MDTs first.
	Dialect  string
	Dialects []string
	// Start is the simulated time of New: 2022-10-27 12:00 UTC if zero. Boot is when the servers booted, from which
	// boot-relative dialects count: 22 days before Start if zero.
	Start, Boot time.Time
	// CleanupInterval is job_cleanup_interval, whole seconds; negative: 0, which means that entries are never removed.
	CleanupInterval time.Duration
	// NoTruth saves the memory of the truth, which grows with every job, in processes that run for weeks.
	NoTruth bool
}

// maxTargets is bounded by the four hexadecimal digits of a target's index.
const maxTargets = 0x10000

// fsName holds what a file system may be called; it becomes part of paths.
const fsName = `^[A-Za-z0-9][A-Za-z0-9_-]{0,7}$`

// withDefaults fills the zero fields and refuses what cannot be simulated.
func (c Config) withDefaults() (Config, error) {
	if c.MDTs == 0 && c.OSTs == 0 {
		if c.Targets == 0 {
			c.Targets = 4
		}
		c.MDTs = max(1, (c.Targets+2)/4)
		c.OSTs = c.Targets - c.MDTs
	}
	c.FSName = orDefault(c.FSName, DefaultFSName)
	c.Dialect = orDefault(c.Dialect, DefaultDialect)
	c.Users = orDefault(c.Users, DefaultUsers)
	c.Entries = orDefault(c.Entries, DefaultEntries)
	c.CleanupInterval = orDefault(c.CleanupInterval, DefaultInterval)
	c.CleanupInterval = max(0, c.CleanupInterval)
	if c.Start.IsZero() {
		c.Start = time.Date(2022, time.October, 27, 12, 0, 0, 0, time.UTC)
	}
	if c.Boot.IsZero() {
		c.Boot = c.Start.Add(-22 * 24 * time.Hour)
	}
	return c, c.check()
}

func orDefault[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

func (c Config) check() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, a...)...)
	}
	switch {
	case c.MDTs < 0 || c.OSTs < 0 || c.MDTs+c.OSTs < 1 || max(c.MDTs, c.OSTs) > maxTargets:
		return bad("%d MDTs and %d OSTs", c.MDTs, c.OSTs)
	case c.Users < 1 || c.Entries < 1:
		return bad("%d users and %d entries; both must be at least 1", c.Users, c.Entries)
	case !regexp.MustCompile(fsName).MatchString(c.FSName):
		return bad("file system name %q: Lustre allows 8 bytes of letters, digits, - and _", c.FSName)
	case c.CleanupInterval%time.Second != 0:
		return bad("cleanup interval %v is not in whole seconds", c.CleanupInterval)
	case len(c.Dialects) != 0 && len(c.Dialects) != c.MDTs+c.OSTs:
		return bad("%d dialects for %d targets", len(c.Dialects), c.MDTs+c.OSTs)
	case !c.Boot.Before(c.Start):
		return bad("boot time %v is not before the start %v", c.Boot, c.Start)
	}
	for _, name := range append([]string{c.Dialect}, c.Dialects...) {
		if _, ok := jobstats.DialectNamed(name); !ok {
			return bad("no dialect %q; known are %s", name, strings.Join(DialectNames(), ", "))
		}
	}
	return nil
}

// DialectNames lists what Config.Dialect may be, oldest first, vendors' last.
func DialectNames() []string {
	var names []string
	for _, d := range jobstats.Dialects() {
		names = append(names, d.Name)
	}
	return names
}

// Cluster is a simulated set of targets. It is not safe for concurrent use.
type Cluster struct {
	cfg     Config
	rng     *rand.Rand
	now     int64 // nanoseconds since 1970
	targets []*target
	byName  map[string]*target
	users   []*user
	picker  picker // chooses users by popularity
	nodes   nodes
	jobs    []*job
	plan    [numClasses]plan
	truth   truth
	written map[string]map[string]written // by root, then target
	nextJob uint64                        // the next job id
	batches []batch                       // scratch, as are the next three
	ops     []jobstats.Op
	hist    []jobstats.Bucket
	text    []byte
	pace    time.Duration // what activity is scaled by: the clean-up interval, or Lustre's default
}

// New makes a cluster at its start: users and jobs in mid-life, and no entries, as after a mount of all targets.
func New(cfg Config) (*Cluster, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		cfg:     cfg,
		rng:     rand.New(rand.NewPCG(cfg.Seed, 0x6a6f627374617473)), // any constant stream
		now:     cfg.Start.UnixNano(),
		byName:  make(map[string]*target),
		written: make(map[string]map[string]written),
		nextJob: 11317854, // where the thesis' examples are
		pace:    orDefault(cfg.CleanupInterval, DefaultInterval),
		truth:   truth{off: cfg.NoTruth, accounts: make(map[accountKey]*account)},
	}
	c.addTargets()
	c.makePlan()
	c.addUsers()
	c.nodes = makeNodes(c)
	c.populate()
	return c, nil
}

// Config returns the configuration with its defaults filled in.
func (c *Cluster) Config() Config { return c.cfg }

// Now is the simulated time.
func (c *Cluster) Now() time.Time { return time.Unix(0, c.now).UTC() }

// Step advances simulated time by d: jobs come, work and go, entries are created and cleaned up. Long steps are
// simulated in pieces, so that entries also expire inside them.
func (c *Cluster) Step(d time.Duration) {
	piece := min(c.pace/20, 10*time.Second)
	for ; d > piece; d -= piece {
		c.advance(piece)
	}
	if d > 0 {
		c.advance(d)
	}
}

// advance simulates one piece of time.
func (c *Cluster) advance(d time.Duration) {
	from := c.now
	c.recruit(d)
	c.now += int64(d)
	living := c.jobs[:0]
	for _, j := range c.jobs {
		if c.work(j, from, d) {
			living = append(living, j)
		} else {
			c.dismiss(j)
		}
	}
	clear(c.jobs[len(living):])
	c.jobs = living
	for _, t := range c.targets {
		t.settle()
	}
}
