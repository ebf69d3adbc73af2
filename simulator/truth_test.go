// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// counter names one printed number.
type counter struct {
	target, id, line string
	sum              bool // sum rather than samples
}

// printedID is how a dialect prints an identifier.
func printedID(t *testing.T, d jobstats.Dialect, id string) string {
	t.Helper()
	ops := []jobstats.Op{{Name: []byte("punch"), Unit: jobstats.Requests, Samples: 1}}
	return parse(t, d.AppendEntry(nil, []byte(id), 0, 0, ops))[0].id
}

// expected is the truth as a sum over all that a target printed: by line, where the truth is by operation.
func expected(t *testing.T, c *Cluster) map[counter]uint64 {
	t.Helper()
	want := make(map[counter]uint64)
	for k, n := range c.Truth() {
		target := c.byName[k.Target]
		id := printedID(t, target.dialect, k.Identifier)
		add := func(line int, sum bool, v uint64) {
			if line >= 0 && v > 0 {
				want[counter{k.Target, id, target.layout.specs[line].Name, sum}] += v
			}
		}
		o, _ := opNamed(k.Operation)
		add(target.layout.calls[o], false, n.Samples)
		add(target.layout.calls[o], true, n.Micros)
		add(target.layout.bytes[o], false, n.Samples)
		add(target.layout.bytes[o], true, n.Bytes)
	}
	return want
}

func compare(t *testing.T, got, want map[counter]uint64) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("no truth")
	}
	wrong := 0
	for k, w := range want {
		if got[k] != w {
			if wrong++; wrong < 10 {
				t.Errorf("%+v: printed increments sum up to %d, truth is %d", k, got[k], w)
			}
		}
	}
	for k, g := range got {
		if _, ok := want[k]; !ok && g != 0 {
			t.Errorf("%+v: %d printed, nothing true", k, g)
		}
	}
}

// watcher sums up the increments of all entries by incarnation, as a perfect reader would.
type watcher struct {
	sums                 map[counter]uint64
	known                map[string]map[[2]string]entry // by target, then identifier and start time
	born, gone, returned int
	everSeen             map[[2]string]bool // target, identifier
}

func (w *watcher) read(t *testing.T, c *Cluster) {
	t.Helper()
	for _, target := range c.Targets() {
		now := make(map[[2]string]entry)
		for _, e := range parse(t, c.Text(target)) {
			key := [2]string{e.id, e.start}
			if _, twice := now[key]; twice {
				t.Fatalf("%s: %q of %s is there twice", target, e.id, e.start)
			}
			now[key] = e
			before, old := w.known[target][key]
			if !old {
				w.born++
				if w.everSeen[[2]string{target, e.id}] {
					w.returned++
				}
				w.everSeen[[2]string{target, e.id}] = true
			}
			for name, l := range e.ops {
				w.add(t, counter{target, e.id, name, false}, l.samples, before.ops[name].samples)
				w.add(t, counter{target, e.id, name, true}, l.sum, before.ops[name].sum)
			}
		}
		for key := range w.known[target] {
			if _, ok := now[key]; !ok {
				w.gone++
			}
		}
		w.known[target] = now
	}
}

func (w *watcher) add(t *testing.T, k counter, now, before uint64) {
	t.Helper()
	if now < before {
		t.Errorf("%+v fell from %d to %d within an incarnation", k, before, now)
	}
	w.sums[k] += now - before
}

// TestTruthIsTheSumOfAllIncrements differences every entry at every step, through clean-ups, clears, unmounts and restarts.
func TestTruthIsTheSumOfAllIncrements(t *testing.T) {
	for _, dialect := range []string{"2.15.0", "2.15.2", "2.16", "2.17.57", "hpe-2.15", "exa-ddn162"} {
		t.Run(dialect, func(t *testing.T) {
			c := newCluster(t, Config{Seed: 21, Dialect: dialect, Entries: 60, Users: 20, CleanupInterval: time.Minute})
			w := &watcher{make(map[counter]uint64), make(map[string]map[[2]string]entry), 0, 0, 0, make(map[[2]string]bool)}
			mdt, ost := "scratch-MDT0000", "scratch-OST0001"
			events := map[int]func() error{
				10: func() error { return c.Clear(mdt) },
				20: func() error { return c.Unmount(ost) },
				25: func() error { return c.Mount(ost) },
				30: func() error { return c.Restart(mdt) },
				35: func() error { _, err := c.InjectStorm(4711, ost, "read", 1000, 100*time.Second); return err },
			}
			for i := range 80 {
				c.Step(20 * time.Second)
				w.read(t, c)
				if event := events[i]; event != nil {
					if err := event(); err != nil {
						t.Fatal(err)
					}
				}
				c.ExpireIdle()
			}
			compare(t, w.sums, expected(t, c))
			if w.born < 500 || w.gone < 300 || w.returned < 50 {
				t.Errorf("%d born, %d gone, %d returned: nothing much happened", w.born, w.gone, w.returned)
			}
		})
	}
}

// TestTruthIsWhatIsPrinted compares one read with the truth where nothing is ever removed, in every dialect.
func TestTruthIsWhatIsPrinted(t *testing.T) {
	for _, dialect := range DialectNames() {
		t.Run(dialect, func(t *testing.T) {
			c := newCluster(t, Config{Seed: 22, Dialect: dialect, Entries: 60, CleanupInterval: -1})
			c.Step(time.Hour)
			got := make(map[counter]uint64)
			for _, target := range c.Targets() {
				for _, e := range parse(t, c.Text(target)) {
					for name, l := range e.ops {
						got[counter{target, e.id, name, false}] += l.samples
						got[counter{target, e.id, name, true}] += l.sum
					}
				}
			}
			compare(t, got, expected(t, c))
		})
	}
}

func TestTotals(t *testing.T) {
	c := newCluster(t, Config{Seed: 23, Entries: 40})
	id, err := c.InjectStorm(4711, "scratch-OST0000", "write", 50, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.Step(2 * time.Minute)
	n := c.Totals()[Total{"scratch-OST0000", 4711, id, "write"}]
	if n.Samples < 2700 || n.Samples > 3300 || n.Bytes < n.Samples || n.Micros < n.Samples {
		t.Errorf("a storm of 50 writes per second for a minute counted %+v", n)
	}
	var sum, total Count
	for _, m := range c.Totals() {
		total.Add(m)
	}
	for _, m := range c.Truth() {
		sum.Add(m)
	}
	if sum != total {
		t.Errorf("the totals are %+v, the truth %+v", total, sum)
	}
}

// TestTruthOfMalformed finds the people behind broken identifiers.
func TestTruthOfMalformed(t *testing.T) {
	c := newCluster(t, Config{Seed: 24, OSTs: 3, MDTs: 1, Entries: 2000, Users: 30})
	people := make(map[uint32]bool)
	for _, uid := range c.Users() {
		people[uid] = true
	}
	c.Step(40 * time.Minute)
	broken, printed := 0, c.Framed()
	for k := range c.Truth() {
		if k.Class.System() == people[k.UID] {
			t.Errorf("%+v: user or system?", k)
		}
		if len(k.Identifier) > 31 {
			t.Errorf("identifier %q is longer than 31 bytes", k.Identifier)
		}
		if k.Class == Malformed {
			broken++
			if k.JobID == "" || k.UID < 1000 {
				t.Errorf("%+v: whose is it?", k)
			}
		}
	}
	if broken < 20 || !bytes.Contains(printed, []byte(`.bullx"`)) {
		t.Errorf("%d malformed identifiers", broken)
	}
}

func TestNoTruth(t *testing.T) {
	c := newCluster(t, Config{Seed: 25, Entries: 40, NoTruth: true})
	c.Step(time.Minute)
	for k := range c.Truth() {
		t.Fatalf("truth of %+v was kept", k)
	}
	if c.Living("scratch-MDT0000") == 0 {
		t.Error("no entries")
	}
}

func TestStormRefused(t *testing.T) {
	c := newCluster(t, Config{OSTs: 1, Entries: 5, Dialect: "2.5"})
	f := func(target, op string, rate float64, d time.Duration, want error) {
		t.Helper()
		if _, err := c.InjectStorm(1, target, op, rate, d); !errors.Is(err, want) {
			t.Errorf("%s of %g/s on %s for %v: %v, want %v", op, rate, target, d, err, want)
		}
	}
	f("scratch-OST0009", "read", 1, time.Second, ErrTarget)
	f("scratch-OST0000", "open", 1, time.Second, ErrConfig)
	f("scratch-OST0000", "getattr", 1, time.Second, ErrConfig) // since 2.6
	f("scratch-OST0000", "nonsense", 1, time.Second, ErrConfig)
	f("scratch-OST0000", "read", 0, time.Second, ErrConfig)
	f("scratch-OST0000", "read", 1, 0, ErrConfig)
	f("scratch-OST0000", "read", 1, time.Second, nil)
}
