// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

// In the bubbles of synctest the clock is a fake one that moves when everybody waits.

func share(d time.Duration) func(*Config) {
	return func(c *Config) { c.ObservationInterval = d }
}

func TestObservationsAreShared(t *testing.T) {
	f := func(interval, wait time.Duration, wantReads int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, share(interval))
			v := r.add(ost0Name, stats(opens("1:2000:a", 3)))
			r.must()
			time.Sleep(wait)
			r.change(func() { v.text = stats(opens("1:2000:a", 4)) })
			got := r.must().sum(jobOps, ost0Name)
			if want := float64(2 + wantReads); r.readsOf(v) != wantReads || got != want {
				t.Errorf("interval %s, second scrape after %s: %d reads, value %v; want %d, %v", interval, wait, r.readsOf(v), got, wantReads, want)
			}
		})
	}
	f(time.Second, 0, 1)
	f(time.Second, 999*time.Millisecond, 1)
	f(time.Second, time.Second, 2)
	f(30*time.Second, 29*time.Second, 1)
	f(0, 0, 2)
	f(0, time.Nanosecond, 2)
}

// asked is what one of several clients got, and when.
type asked struct {
	page collector.Page
	err  error
	took time.Duration
}

// ask has a client wait in the background.
func (r *rig) ask(ctx context.Context, name string) <-chan asked {
	answer := make(chan asked, 1)
	began := time.Now()
	go func() {
		page, err := r.c.Observe(ctx, collector.Client{Addr: name, Scraper: true})
		answer <- asked{page, err, time.Since(began)}
	}()
	return answer
}

func TestConcurrentScrapesJoinOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		hang := make(chan struct{})
		v := r.add(ost0Name, stats(opens("1:2000:a", 3)))
		w := r.add(ost1Name, stats(opens("1:2000:a", 4)))
		r.change(func() { v.hang = hang })
		var answers []<-chan asked
		for i := range 20 {
			answers = append(answers, r.ask(t.Context(), fmt.Sprint("192.0.2.1:", i)))
		}
		synctest.Wait()
		close(hang)
		pages := map[*observation]int{}
		for _, answer := range answers {
			a := <-answer
			if a.err != nil || a.page == nil {
				t.Fatalf("a client got %v", a.err)
			}
			pages[a.page.(*page).o]++
		}
		if len(pages) != 1 || r.readsOf(v) != 1 || r.readsOf(w) != 1 {
			t.Errorf("20 clients: %d observations, %d and %d reads; want one of each", len(pages), r.readsOf(v), r.readsOf(w))
		}
	})
}

func TestClientThatLeavesEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, share(time.Second))
		hang := make(chan struct{})
		v := r.add(ost0Name, stats(opens("1:2000:a", 3)))
		r.change(func() { v.hang = hang })
		ctx, leave := context.WithCancel(t.Context())
		first := r.ask(ctx, "first")
		synctest.Wait()
		second := r.ask(t.Context(), "second")
		synctest.Wait()
		leave()
		if a := <-first; a.page != nil || !errors.Is(a.err, errWaiting) || !errors.Is(a.err, context.Canceled) {
			t.Errorf("who left got %v, %v; want no page and the reason", a.page, a.err)
		}
		synctest.Wait()
		close(hang)
		if a := <-second; a.err != nil || r.read(a.page).sum(jobOps, ost0Name) != 3 {
			t.Errorf("who stayed got %v, %v; want the value 3", a.page, a.err)
		}
		r.must()
		if n := r.readsOf(v); n != 1 {
			t.Errorf("%d reads; want 1, shared by who stayed and who came then", n)
		}
	})
}

func TestReadGoesOnWhenEverybodyHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, share(time.Second))
		hang := make(chan struct{})
		v := r.add(ost0Name, stats(opens("1:2000:a", 3)))
		r.change(func() { v.hang = hang })
		ctx, leave := context.WithCancel(t.Context())
		only := r.ask(ctx, "only")
		synctest.Wait()
		leave()
		<-only
		close(hang)
		synctest.Wait()
		if got := r.must().sum(jobOps, ost0Name); got != 3 || r.readsOf(v) != 1 {
			t.Errorf("value %v after %d reads; want 3 after the one that nobody waited for", got, r.readsOf(v))
		}
	})
}

func TestFirstClientLendsItsDeadline(t *testing.T) {
	f := func(own, readTimeout, want time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.ReadTimeout = readTimeout })
			hang := make(chan struct{})
			defer close(hang)
			v := r.add(ost0Name, "")
			r.change(func() { v.hang = hang })
			ctx, cancel := t.Context(), func() {}
			if own > 0 {
				ctx, cancel = context.WithTimeout(ctx, own)
			}
			defer cancel()
			first := r.ask(ctx, "first")
			synctest.Wait()
			second := r.ask(t.Context(), "second")
			for _, a := range []asked{<-first, <-second} {
				if a.err != nil || a.took != want || r.read(a.page).up(ost0Name) != 0 {
					t.Errorf("first client has %s, reads may take %s: page %v, %v after %s; want target_up 0 after %s", own, readTimeout, a.page, a.err, a.took, want)
				}
			}
		})
	}
	f(0, 8*time.Second, 8*time.Second)
	f(time.Minute, 8*time.Second, 8*time.Second)
	f(5*time.Second, 8*time.Second, 4500*time.Millisecond)
}

func TestTargetThatHangsCostsOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		hang := make(chan struct{})
		well := r.add(ost0Name, stats(opens("1:2000:a", 3)))
		stuck := r.add(ost1Name, stats(opens("1:2000:a", 10)))
		r.must()
		r.change(func() { stuck.hang = hang })

		began := time.Now()
		s := r.must()
		if took := time.Since(began); took != DefaultReadTimeout || s.up(ost0Name) != 1 || s.up(ost1Name) != 0 {
			t.Errorf("after %s up is %v and %v; want 1 and 0 after %s", took, s.up(ost0Name), s.up(ost1Name), DefaultReadTimeout)
		}
		r.change(func() { well.text = stats(opens("1:2000:a", 4)) })
		began = time.Now()
		s = r.must()
		if took := time.Since(began); took != 0 || s.sum(jobOps, ost0Name) != 4 || len(s.jobs(ost1Name)) != 0 {
			t.Errorf("after %s the well target shows %v, the stuck one %v; want 4 and nothing at once", took, s.sum(jobOps, ost0Name), s.jobs(ost1Name))
		}
		if n := r.readsOf(stuck); n != 2 {
			t.Errorf("the stuck target was opened %d times; want 2: not again while stuck", n)
		}
		r.change(func() { stuck.text, stuck.hang = stats(opens("1:2000:a", 17)), nil })
		close(hang)
		synctest.Wait()
		if s = r.must(); s.up(ost1Name) != 1 || s.sum(jobOps, ost1Name) != 17 {
			t.Errorf("recovered: up %v, value %v; want 1, 17", s.up(ost1Name), s.sum(jobOps, ost1Name))
		}
	})
}

// The reads side by side are bounded, which must not let a few that hang take the place of all others.
func TestManyTargetsThatHangCostOnlyThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		hang := make(chan struct{})
		defer close(hang)
		for i := range 3 * max(2, runtime.GOMAXPROCS(0)) {
			v := r.add(fmt.Sprintf("scratch-OST%04x", i+1), "")
			r.change(func() { v.hang = hang })
		}
		r.add(ost0Name, stats(opens("1:2000:a", 3)))
		for range 3 {
			if s := r.must(); s.up(ost0Name) != 1 || s.up(ost1Name) != 0 {
				t.Errorf("up of the well target %v, of one that hangs %v; want 1, 0", s.up(ost0Name), s.up(ost1Name))
			}
		}
	})
}

// What is known when the deadline comes is taken, whichever of the two is noticed first.
func TestResultsAtTheDeadlineAreTaken(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		name := fmt.Sprintf("scratch-OST%04x", i)
		r.add(name, "")
		r.c.reader.busy[name] = true // so that there is a result at once
	}
	streams, err := r.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	reads, err := r.c.readAll(over, streams)
	if err != nil || len(reads) != 20 {
		t.Errorf("%d reads, %v; want 20", len(reads), err)
	}
	for _, read := range reads {
		if !errors.Is(read.err, errStuck) {
			t.Errorf("%s: %v; want what was known of it", read.target.Name, read.err)
		}
	}
}

// A source should not give a target twice; if it does, the second is not read.
func TestStreamThatIsGivenTwice(t *testing.T) {
	r := newRig(t)
	first := r.add(ost0Name, stats(opens("1:2000:a", 3)))
	second := r.add(ost0Name, stats(opens("1:2000:a", 4)))
	if s := r.must(); s.sum(jobOps, ost0Name) != 3 || r.readsOf(first) != 1 || r.readsOf(second) != 0 {
		t.Errorf("%v after %d and %d reads; want 3, of the first alone", s.named(jobOps, ""), r.readsOf(first), r.readsOf(second))
	}
}

func TestCloseEndsReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		hang := make(chan struct{})
		defer close(hang)
		v := r.add(ost0Name, "")
		r.change(func() { v.hang = hang })
		answer := r.ask(t.Context(), "client")
		synctest.Wait()
		r.c.Close()
		if a := <-answer; a.took != 0 || r.read(a.page).up(ost0Name) != 0 {
			t.Errorf("answered after %s; want at once, with target_up 0", a.took)
		}
		r.c.Close() // may be called again
	})
}

func TestConfigIsChecked(t *testing.T) {
	f := func(what string, change func(*Config)) {
		t.Helper()
		cfg := newConfig(t, &server{})
		change(&cfg)
		if _, err := New(cfg, nil); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	f("no source", func(c *Config) { c.Source = nil })
	f("no identifier", func(c *Config) { c.Ledger.Identifier = nil })
	f("negative interval", func(c *Config) { c.ObservationInterval = -1 })
	f("no read timeout", func(c *Config) { c.ReadTimeout = 0 })
	f("stale observations", func(c *Config) { c.ObservationInterval = c.Ledger.ScrapeInterval/2 + 1 })
}
