// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
)

// TestConcurrentScrapes is for the race detector: many clients scrape, read pages slowly and leave, while targets
// grow, break, hang, go and come. What a single page shows must be of one observation.
func TestConcurrentScrapes(t *testing.T) {
	f := func(interval time.Duration, mode ledger.FirstZero) {
		r := newRig(t, share(interval), func(c *Config) {
			c.Ledger.FirstZero, c.Ledger.Sizes, c.Ledger.JobSeconds = mode, true, true
			c.ReadTimeout = 20 * time.Millisecond
		})
		text := func(n uint64) string {
			var entries []string
			for _, id := range ids(20) {
				entries = append(entries, entry(id, born, manyOps(n)...))
			}
			return stats(entries...)
		}
		v, w := r.add(ost0Name, text(1)), r.add(ost1Name, text(1))
		var clients sync.WaitGroup
		done := make(chan struct{})
		for i := range 6 {
			clients.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					p, err := r.c.Observe(t.Context(), collector.Client{Addr: fmt.Sprint("192.0.2.1:", i), Scraper: i%2 == 0})
					if err != nil {
						t.Errorf("client %d: %v", i, err)
						return
					}
					if s := r.read(p); mode == ledger.Off && s.up(ost0Name) == 1 {
						checkOneObservation(t, s)
					}
					p.Served()
				}
			})
		}
		for n := range uint64(30) {
			time.Sleep(2 * time.Millisecond)
			hang := make(chan struct{})
			r.change(func() { v.text, w.hang = text(n+1), hang })
			if n%10 == 5 {
				r.unmount(w)
			}
			time.Sleep(time.Millisecond)
			r.change(func() { w.hang = nil })
			close(hang)
			if n%10 == 5 {
				r.mount(w)
			}
		}
		close(done)
		clients.Wait()
	}
	f(0, ledger.Off)
	f(5*time.Millisecond, ledger.Hold)
	f(time.Millisecond, ledger.Created)
}

// checkOneObservation uses that all entries of the target have done the same.
func checkOneObservation(t *testing.T, s series) {
	t.Helper()
	values := map[float64]int{}
	for name, v := range s.named(jobOps, ost0Name) {
		if strings.Contains(name, `operation="open"`) {
			values[v]++
		}
	}
	if len(values) != 1 {
		t.Errorf("opens of entries that are all alike: %v", values)
	}
}
