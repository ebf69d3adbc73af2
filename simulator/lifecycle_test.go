// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const (
	testMDT = "scratch-MDT0000"
	testOST = "scratch-OST0000"
)

// lone is a target without clients, and the instant of its mount.
func lone(t *testing.T, dialect string, interval time.Duration) (*Cluster, *target) {
	t.Helper()
	c := newCluster(t, Config{OSTs: 1, Dialect: dialect, CleanupInterval: interval})
	c.jobs = nil
	return c, c.targets[0]
}

// ids lists the records of a target.
func ids(t *target) string {
	var b []string
	for _, r := range t.records {
		b = append(b, r.id)
	}
	return strings.Join(b, " ")
}

// TestIdleEntriesExpire follows entries of all ages, read every ten seconds: they live for 1 to 1.5 intervals.
func TestIdleEntriesExpire(t *testing.T) {
	const interval = 10 * time.Minute
	least, most := time.Hour, time.Duration(0)
	for age := time.Duration(0); age < interval; age += 7 * time.Second {
		c, target := lone(t, "2.16", interval)
		born := c.now + int64(age)
		for len(target.records) > 0 || c.now <= born {
			c.now += int64(10 * time.Second)
			if c.now > born && c.now-born <= int64(10*time.Second) {
				target.recordFor("a", Compute, born)
			}
			c.ExpireIdle()
			if c.now-born > int64(time.Hour) {
				t.Fatal("never removed")
			}
		}
		idle := time.Duration(c.now - born)
		least, most = min(least, idle), max(most, idle)
	}
	if least <= interval || least > interval+20*time.Second {
		t.Errorf("an entry was removed %v after its last operation", least)
	}
	if most <= interval*14/10 || most > interval*3/2+10*time.Second {
		t.Errorf("an entry was removed only %v after its last operation", most)
	}
}

// TestRunExpires sees the same in a run, where creations remove entries too.
func TestRunExpires(t *testing.T) {
	const interval, step = time.Minute, time.Second
	c := newCluster(t, Config{Seed: 31, Entries: 50, CleanupInterval: interval})
	before, removed := make(map[[2]string]int64), 0
	for range 400 {
		c.Step(step)
		c.ExpireIdle()
		now := make(map[[2]string]int64)
		for _, e := range parse(t, c.Text(testOST)) {
			now[[2]string{e.id, e.start}] = e.last
		}
		for key, last := range before {
			if _, ok := now[key]; ok {
				continue
			}
			removed++
			if idle := time.Duration(c.now - last); idle <= interval || idle > interval*3/2+2*step {
				t.Errorf("%s was removed after %v", key[0], idle)
			}
		}
		before = now
	}
	if removed < 50 {
		t.Errorf("%d entries removed", removed)
	}
}

// TestWhatTriggersExpiry: creations and readers since 2.8, any operation but no reader before.
func TestWhatTriggersExpiry(t *testing.T) {
	const interval = 600 * time.Second
	f := func(dialect string, act func(c *Cluster, target *target), want string) {
		t.Helper()
		c, target := lone(t, dialect, interval)
		target.recordFor("idle", Compute, c.now)
		target.recordFor("busy", Compute, c.now)
		c.now += int64(2 * interval)
		target.byID["busy"].last = c.now
		act(c, target)
		if got := ids(target); got != want {
			t.Errorf("%s: %q are left, want %q", dialect, got, want)
		}
	}
	nothing := func(*Cluster, *target) {}
	reader := func(c *Cluster, _ *target) { c.ExpireIdle() }
	creation := func(c *Cluster, target *target) { target.recordFor("new", Compute, c.now) }
	operation := func(c *Cluster, target *target) { target.recordFor("busy", Compute, c.now) }
	f("2.16", nothing, "idle busy")
	f("2.16", reader, "busy")
	f("2.16", creation, "busy new")
	f("2.16", operation, "idle busy")
	f("2.8", reader, "busy")
	f("2.6", reader, "idle busy")
	f("2.6", creation, "busy new")
	f("2.6", operation, "busy")
}

// TestExpiryPauses: idle entries are looked for at most once per half an interval.
func TestExpiryPauses(t *testing.T) {
	c, target := lone(t, "2.16", 600*time.Second)
	target.recordFor("a", Compute, c.now)
	c.now += int64(590 * time.Second)
	c.ExpireIdle() // too early for a
	c.now += int64(200 * time.Second)
	c.ExpireIdle() // too early after the last time
	if got := ids(target); got != "a" {
		t.Fatalf("%q are left 200 s after the last clean-up", got)
	}
	c.now += int64(100 * time.Second)
	c.ExpireIdle()
	if got := ids(target); got != "" {
		t.Errorf("%q are left 300 s after the last clean-up", got)
	}
}

func TestIntervals(t *testing.T) {
	f := func(dialect string, given, want time.Duration) {
		t.Helper()
		c, target := lone(t, dialect, given)
		if got, ok := c.Interval(testOST); got != want || !ok {
			t.Errorf("%s: an interval of %v became %v", dialect, given, got)
		}
		target.recordFor("a", Compute, c.now)
		c.now += int64(24 * time.Hour)
		c.ExpireIdle()
		if kept := len(target.records) == 1; kept != (want == 0) {
			t.Errorf("%s: with %v an idle entry was kept: %v", dialect, given, kept)
		}
	}
	f("2.14", 5*time.Second, 5*time.Second)
	f("2.15.0", 5*time.Second, 4*time.Second)
	f("2.16", 600*time.Second, 600*time.Second)
	f("2.16", time.Second, 0)
	f("exa-ddn162", 5*time.Second, 5*time.Second)
	f("2.12", -1, 0)
	if _, ok := newCluster(t, Config{OSTs: 1}).Interval("nobody"); ok {
		t.Error("an interval of no target")
	}
}

func TestOrderIsOfCreation(t *testing.T) {
	c, target := lone(t, "2.16", 600*time.Second)
	for i, id := range []string{"c", "a", "b"} { // clients are simulated in another order than they act
		target.recordFor(id, Compute, c.now+int64([]int{3, 1, 2}[i]))
	}
	target.settle()
	target.recordFor("d", Compute, c.now)
	target.settle()
	if got := ids(target); got != "a b c d" {
		t.Errorf("order %s", got)
	}
	target.remove(func(r *record) bool { return r.id == "b" })
	target.recordFor("b", Compute, c.now)
	target.settle()
	if got := ids(target); got != "a c d b" {
		t.Errorf("order %s: an entry that returns is the last", got)
	}
}

func TestClear(t *testing.T) {
	f := func(dialect, want string) {
		t.Helper()
		c, target := lone(t, dialect, 600*time.Second)
		target.recordFor("idle", Compute, c.now)
		c.now += int64(601 * time.Second)
		target.recordFor("busy", Compute, c.now).last = c.now
		target.remove(func(*record) bool { return false })
		if err := c.Clear(testOST); err != nil {
			t.Fatal(err)
		}
		if got := ids(target); got != want {
			t.Errorf("%s: %q are left", dialect, got)
		}
	}
	f("2.12", "")
	f("2.15.0", "busy") // LU-16639
	f("2.16", "")
}

// TestUnmount: what was counted is lost, clients wait, and work again after the mount.
func TestUnmount(t *testing.T) {
	c := newCluster(t, Config{Seed: 33, Entries: 50})
	c.Step(time.Minute)
	if err := c.Unmount(testOST); err != nil {
		t.Fatal(err)
	}
	sum := func() (n uint64) {
		for k, count := range c.Totals() {
			if k.Target == testOST {
				n += count.Samples
			}
		}
		return n
	}
	before := sum()
	c.Step(10 * time.Minute)
	if c.Mounted(testOST) || c.Living(testOST) != 0 || c.Text(testOST) != nil || sum() != before {
		t.Error("an unmounted target worked")
	}
	if c.Living(testMDT) == 0 {
		t.Error("the other targets did not")
	}
	if err := c.Mount(testOST); err != nil {
		t.Fatal(err)
	}
	mounted := c.now
	c.Step(5 * time.Minute)
	entries := parse(t, c.Text(testOST))
	if len(entries) < 20 {
		t.Errorf("%d entries after the mount", len(entries))
	}
	for _, e := range entries {
		if e.first < mounted {
			t.Errorf("%s survived the unmount", e.id)
		}
	}
}

func TestRestartResetsTheBootClock(t *testing.T) {
	c := newCluster(t, Config{Seed: 34, OSTs: 1, Dialect: "2.15.0", Entries: 20})
	c.Step(5 * time.Minute)
	if e := parse(t, c.Text(testOST))[0]; e.first < int64(22*24*time.Hour) {
		t.Errorf("start time %s, the server booted 22 days ago", e.start)
	}
	if err := c.Restart(testOST); err != nil {
		t.Fatal(err)
	}
	if c.Living(testOST) != 0 {
		t.Error("entries survived a restart")
	}
	c.Step(5 * time.Minute)
	if e := parse(t, c.Text(testOST))[0]; e.first > int64(6*time.Minute) {
		t.Errorf("start time %s, the server booted 6 minutes ago", e.start)
	}
}

func TestTargetErrors(t *testing.T) {
	c := newCluster(t, Config{OSTs: 2, Entries: 5})
	if err := c.Unmount("scratch-OST0001"); err != nil {
		t.Fatal(err)
	}
	f := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrTarget) {
			t.Errorf("%s: %v", what, err)
		}
	}
	f("clear unknown", c.Clear("x"))
	f("clear unmounted", c.Clear("scratch-OST0001"))
	f("unmount twice", c.Unmount("scratch-OST0001"))
	f("mount mounted", c.Mount(testOST))
	f("mount unknown", c.Mount("x"))
	f("restart unmounted", c.Restart("scratch-OST0001"))
	if c.Mounted("x") || c.Living("x") != 0 || c.Text("x") != nil {
		t.Error("there is a target x")
	}
}
