// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestNoScraperMissesTheZeroOfAnother(t *testing.T) {
	a := entry("11:1000:n1", 50, "open 5")
	play(t, nil,
		step{want: ""},
		step{after: second, client: 1, want: ""},
		step{after: 59 * second, entries: entries{a}, want: "11:n1:1000 open=0"},
		// The second follows at once; its zero is lost. The first would see the value now.
		step{after: second, client: 1, entries: entries{a}, lost: true, want: "11:n1:1000 open=0"},
		step{after: 59 * second, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: second, client: 1, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: 59 * second, entries: entries{a}, want: "11:n1:1000 open=5"},
	)
}

func TestCurlIsNotWaitedForAndHurriesNobody(t *testing.T) {
	a := entry("11:1000:n1", 50, "open 5")
	play(t, nil,
		step{want: ""},
		step{after: 55 * second, client: 2, entries: entries{a}, want: "11:n1:1000 open=0"},
		// Nine tenths have passed since curl saw the zero, but the scraper had none.
		step{after: 54 * second, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{a}, want: "11:n1:1000 open=5"},
	)
}

func TestSilentScraperIsForgotten(t *testing.T) {
	a := entry("11:1000:n1", 200, "open 5")
	play(t, nil,
		step{want: ""},
		step{client: 1, after: second, want: ""},
		step{after: 59 * second, want: ""}, step{after: 60 * second, want: ""}, step{after: 60 * second, want: ""},
		step{after: 30 * second, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{a}, want: "11:n1:1000 open=5"},
	)
}

func TestReconnectedScraperIsTheSame(t *testing.T) {
	a := audience{interval: 60_000}
	ask := func(addr string, at tick) scraperID {
		return a.ask(Client{Addr: addr, Agent: "Prometheus", Scraper: true}, at)
	}
	first := ask("10.0.0.1:100", 0)
	for name, c := range map[string]struct {
		got  scraperID
		same bool
	}{
		"same connection":                    {ask("10.0.0.1:100", 1000), true},
		"another connection at once":         {ask("10.0.0.1:101", 2000), false},
		"a new connection after an interval": {ask("10.0.0.1:102", 61_000), true},
		"another host":                       {ask("10.0.0.2:100", 200_000), false},
	} {
		if (c.got == first) != c.same {
			t.Errorf("%s: scraper %d, the first is %d", name, c.got, first)
		}
	}
	if id := a.ask(Client{Addr: "10.0.0.1:100", Agent: "curl"}, 300_000); id != 0 {
		t.Errorf("curl is scraper %d", id)
	}
}

// A scraper may ask more often than --lustre.scrape-interval says, and by a new connection each time, as
// behind a proxy. What it was before must not be waited for.
func TestFastScraperReconnects(t *testing.T) {
	a := audience{interval: 60_000}
	ask := func(port int, at tick) scraperID {
		return a.ask(Client{Addr: "10.0.0.1:" + strconv.Itoa(port), Agent: "Prometheus", Scraper: true}, at)
	}
	first := ask(100, 1)
	ask(100, 15_001)
	if again := ask(101, 30_001); again != first {
		t.Errorf("after its usual 15 s on a new connection: scraper %d, was %d", again, first)
	}
	for i := range tick(40) {
		ask(200+int(i), 45_001+15_000*i)
	}
	if n := len(a.scrapers); n != 1 {
		t.Errorf("40 connections of one scraper count as %d scrapers", n)
	}
	b := audience{interval: 60_000}
	for i := range tick(40) {
		b.ask(Client{Addr: "10.0.0.1:" + strconv.Itoa(int(i)), Agent: "Prometheus", Scraper: true}, 15_000*i)
	}
	if n := len(b.scrapers); n > 4 {
		t.Errorf("a scraper that never kept a connection counts as %d scrapers, at most 4 fit into an interval", n)
	}
}

// Readings are filled side by side, responses written while the next observation is made: for -race.
func TestConcurrentUse(t *testing.T) {
	l := testLedger(t, nil, start())
	var all sync.WaitGroup
	for client := range 4 {
		all.Go(func() {
			for i := range 50 {
				now := start().Add(time.Duration(i) * time.Second)
				receipt := l.Ask(Client{Addr: strconv.Itoa(client) + ":1", Agent: "Prometheus", Scraper: true}, now)
				r := l.NewReading()
				r.Add(entry("11:1000:n1", -9, fmt.Sprintf("open %d", i+1), fmt.Sprintf("client%d 1", client)))
				sheet := l.Observe(Observation{Time: now, Discovered: true, Reads: []Read{{"fs-OST0000", "ost", r}}})
				before := show(l, sheet)
				l.Served(receipt, sheet)
				if after := show(l, sheet); after != before {
					t.Errorf("a sheet changed from %s to %s", before, after)
				}
			}
		})
	}
	all.Wait()
}

func TestScrapersAreBounded(t *testing.T) {
	l := testLedger(t, nil, start())
	now := start()
	for i := range 3 * maxScrapers {
		now = now.Add(time.Second)
		c := Client{Addr: string(rune('a'+i)) + ":1", Agent: "Prometheus", Scraper: true}
		receipt := l.Ask(c, now)
		s := l.Observe(Observation{Time: now, Discovered: true, Reads: []Read{{"fs-OST0000", "ost", l.NewReading()}}})
		l.Served(receipt, s)
	}
	if n := len(l.audience.scrapers); n > maxScrapers {
		t.Errorf("%d scrapers kept", n)
	}
	if n := len(l.targets["fs-OST0000"].acks); n > maxScrapers {
		t.Errorf("%d acknowledgements kept", n)
	}
}
