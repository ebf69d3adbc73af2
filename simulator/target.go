// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// ErrTarget is wrapped by errors about targets that do not exist or are not in the state asked for.
var ErrTarget = errors.New("no such target")

type kind uint8

const (
	mdt kind = iota
	ost
	numKinds
)

// dir is the kind's directory below /proc/fs/lustre, and its name in lctl.
func (k kind) dir() string {
	if k == mdt {
		return "mdt"
	}
	return "obdfilter"
}

// target is an MDT or OST with its records.
type target struct {
	name    string
	kind    kind
	dialect jobstats.Dialect
	era     era
	layout  *layout
	mixes   *mixes
	weight  float64 // of its share of the kind's load; 1 on average

	mounted  bool
	boot     int64         // of its server
	interval time.Duration // job_cleanup_interval as the server understood it
	cleaned  int64         // when idle records were last looked for
	records  []*record     // in order of creation
	settled  int           // records before this one are sorted
	byID     map[string]*record
	living   [numClasses]int // records by group
	version  uint64          // changes whenever the text does
}

// era holds what changed over the releases besides the text.
type era struct {
	scanOnOp   bool // up to 2.7: any operation looks for idle records, once per interval (dd99ddf9f2, LU-5946)
	sysfs      bool // 2.13 and later: job_cleanup_interval is in sysfs (a408e9dd42, LU-8066)
	halves     bool // 2.15 and later: the interval is kept as whole halves, so 5 is 4 and 1 is 0
	clearsIdle bool // 2.15.0: clear removes only idle records (LU-16639)
}

// eraOf tells by the order of the dialects, which are oldest first with the vendors' builds, all of 2.14 or later, last.
func eraOf(name string) era {
	names := DialectNames()
	since := func(first string) bool { return slices.Index(names, name) >= slices.Index(names, first) }
	return era{
		scanOnOp:   !since("2.8"),
		sysfs:      since("2.14"),
		halves:     since("2.15.0") && name != "exa-ddn125" && name != "exa-ddn162",
		clearsIdle: name == "2.15.0" || name == "hpe-2.15",
	}
}

// mdtWeights are the shares of Puhti's four MDTs: one busy, one half as much, two nearly idle.
var mdtWeights = [...]float64{1, .5, .04, .04}

func (c *Cluster) addTargets() {
	for i := range c.cfg.MDTs {
		c.addTarget(mdt, i, mdtWeights[min(i, len(mdtWeights)-1)])
	}
	for i := range c.cfg.OSTs {
		c.addTarget(ost, i, 1)
	}
	var total float64
	for _, t := range c.targets[:c.cfg.MDTs] {
		total += t.weight
	}
	for _, t := range c.targets[:c.cfg.MDTs] {
		t.weight *= float64(c.cfg.MDTs) / total
	}
}

func (c *Cluster) addTarget(k kind, index int, weight float64) {
	name := c.cfg.Dialect
	if len(c.cfg.Dialects) > 0 {
		name = c.cfg.Dialects[len(c.targets)]
	}
	dialect, _ := jobstats.DialectNamed(name) // known: Config.check
	t := &target{
		name:    fmt.Sprintf("%s-%s%04x", c.cfg.FSName, [...]string{mdt: "MDT", ost: "OST"}[k], index),
		kind:    k,
		dialect: dialect,
		era:     eraOf(name),
		layout:  newLayout(dialect, k),
		weight:  weight,
		boot:    c.cfg.Boot.UnixNano(),
	}
	t.mixes = [...]func(*layout) *mixes{mdt: mdtMixes, ost: ostMixes}[k](t.layout)
	t.interval = c.cfg.CleanupInterval
	if t.era.halves {
		t.interval = t.interval / (2 * time.Second) * (2 * time.Second)
	}
	t.mount(c.now)
	c.targets = append(c.targets, t)
	c.byName[t.name] = t
}

func (t *target) mount(now int64) {
	t.mounted = true
	t.cleaned = now
	t.forget()
}

// forget drops all records, as memory does.
func (t *target) forget() {
	for _, r := range t.records {
		r.gone = true
	}
	t.records, t.settled, t.living = nil, 0, [numClasses]int{}
	t.byID = make(map[string]*record)
	t.version++
}

// recordFor returns the identifier's record, creating it if there is none. A creation looks for idle records first.
func (t *target) recordFor(id string, group Class, at int64) *record {
	if t.era.scanOnOp {
		t.expire(at, t.interval)
	}
	if r := t.byID[id]; r != nil {
		return r
	}
	if !t.era.scanOnOp {
		t.expire(at, t.interval/2)
	}
	r := &record{id: id, group: group, start: at, last: at, stats: t.layout.newStats()}
	t.records = append(t.records, r)
	t.byID[id] = r
	t.living[group]++
	return r
}

// expire removes what was idle for more than the interval, unless it did so less than pause ago.
func (t *target) expire(now int64, pause time.Duration) {
	if t.interval == 0 || now-t.cleaned < int64(pause) {
		return
	}
	t.cleaned = now
	t.remove(func(r *record) bool { return now-r.last > int64(t.interval) })
}

func (t *target) remove(doomed func(*record) bool) {
	kept, settled := t.records[:0], 0
	for i, r := range t.records {
		if doomed(r) {
			r.gone = true
			delete(t.byID, r.id)
			t.living[r.group]--
			t.version++
			continue
		}
		if i < t.settled {
			settled++
		}
		kept = append(kept, r)
	}
	clear(t.records[len(kept):])
	t.records, t.settled = kept, settled
}

// settle sorts the records born in this piece of time by their birth: they were made client by client.
func (t *target) settle() {
	born := t.records[t.settled:]
	slices.SortStableFunc(born, func(a, b *record) int { return int(min(1, max(-1, a.start-b.start))) })
	t.settled = len(t.records)
}

// Targets lists the names of all targets, MDTs first, mounted or not.
func (c *Cluster) Targets() []string {
	var names []string
	for _, t := range c.targets {
		names = append(names, t.name)
	}
	return names
}

// Mounted reports whether the target exists and is mounted.
func (c *Cluster) Mounted(name string) bool {
	t := c.byName[name]
	return t != nil && t.mounted
}

// Living is how many entries the target has now.
func (c *Cluster) Living(name string) int {
	if t := c.byName[name]; t != nil {
		return len(t.records)
	}
	return 0
}

// target finds a target that is mounted or not, as asked.
func (c *Cluster) target(name string, mounted bool) (*target, error) {
	t := c.byName[name]
	switch {
	case t == nil:
		return nil, fmt.Errorf("%w: %q", ErrTarget, name)
	case mounted && !t.mounted:
		return nil, fmt.Errorf("%w: %s is not mounted", ErrTarget, name)
	case !mounted && t.mounted:
		return nil, fmt.Errorf("%w: %s is mounted already", ErrTarget, name)
	}
	return t, nil
}

// Clear empties the target's job_stats, as writing "clear" does; in 2.15.0 that removes only idle entries (LU-16639).
func (c *Cluster) Clear(name string) error {
	t, err := c.target(name, true)
	if err != nil {
		return err
	}
	idle := int64(t.interval)
	if !t.era.clearsIdle {
		idle = -1
	}
	t.remove(func(r *record) bool { return c.now-r.last > idle })
	return nil
}

// Unmount takes a target away with all it counted. Its clients wait.
func (c *Cluster) Unmount(name string) error {
	t, err := c.target(name, true)
	if err != nil {
		return err
	}
	t.forget()
	t.mounted = false
	return nil
}

// Mount brings a target back, empty.
func (c *Cluster) Mount(name string) error {
	t, err := c.target(name, false)
	if err != nil {
		return err
	}
	t.mount(c.now)
	return nil
}

// Restart reboots the server of a target: its entries are lost and its boot-relative clock starts anew.
func (c *Cluster) Restart(name string) error {
	if err := c.Unmount(name); err != nil {
		return err
	}
	c.byName[name].boot = c.now - int64(time.Minute)
	return c.Mount(name)
}

// ExpireIdle does what the end of a reader does on every target: idle entries are removed, at most once per half an
// interval. Up to 2.7 reading had no such effect.
func (c *Cluster) ExpireIdle() {
	for _, t := range c.targets {
		if t.mounted && !t.era.scanOnOp {
			t.expire(c.now, t.interval/2)
		}
	}
}
