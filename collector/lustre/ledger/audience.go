// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"
	"time"
)

// Client is who asks for a sheet.
type Client struct {
	// Addr is the remote address with port, Agent the user agent.
	Addr, Agent string
	// Scraper is true for one that keeps what it gets: it sent a scrape timeout, as Prometheus does.
	Scraper bool
}

// scraperID numbers a scraper; 0 is nobody in particular.
type scraperID int

// activeIntervals is how long a scraper is waited for after its last response, in scrape intervals:
// two lost in a row must not cost it anything.
const activeIntervals = 3.5

// maxScrapers bounds the scrapers that are told apart; who has been silent longest makes room.
const maxScrapers = 32

// audience tells the scrapers apart, so that none is shown a value before it has seen the zero. Time
// alone does not do: of two scrapers that follow each other within a tenth of an interval, one would
// meet each new series only after its zero (docs/decisions.md).
type audience struct {
	interval tick
	scrapers []scraper
	last     scraperID
	// clock is time during which somebody asked: when nobody did, nobody was late.
	clock, asked tick
	// waiting is when the first of those asked who may wait for the next observation; 0 is nobody.
	waiting tick
}

type scraper struct {
	id          scraperID
	addr, agent string
	asked       tick // when it last asked
	gap         tick // and how long after the time before; 0 until it asked twice
	served      tick // when it last received a whole response, by the audience's clock
	regular     bool // it ever did
}

// ask returns who a client is. A client that is no scraper is nobody. A new connection of a host and
// user agent that is known, but silent for about as long as it uses to be, is the same scraper
// reconnected.
func (a *audience) ask(c Client, now tick) scraperID {
	a.clock += min(now-a.asked, a.interval)
	a.asked = now
	if a.waiting == 0 {
		a.waiting = now
	}
	if !c.Scraper {
		return 0
	}
	at := slices.IndexFunc(a.scrapers, func(s scraper) bool { return s.addr == c.Addr && s.agent == c.Agent })
	if at < 0 {
		at = a.reconnected(c, now)
	}
	if at < 0 {
		at = a.enter()
		a.scrapers[at].agent = c.Agent
	}
	s := &a.scrapers[at]
	if s.asked > 0 {
		s.gap = now - s.asked
	}
	s.addr, s.asked = c.Addr, now
	return s.id
}

func (a *audience) reconnected(c Client, now tick) int {
	oldest := -1
	for i, s := range a.scrapers {
		usual := a.interval
		if s.gap > 0 {
			usual = min(usual, s.gap)
		}
		if host(s.addr) != host(c.Addr) || s.agent != c.Agent || now-s.asked < usual*9/10 {
			continue
		}
		if oldest < 0 || s.asked < a.scrapers[oldest].asked {
			oldest = i
		}
	}
	return oldest
}

func (a *audience) enter() int {
	a.last++
	if len(a.scrapers) < maxScrapers {
		a.scrapers = append(a.scrapers, scraper{id: a.last})
		return len(a.scrapers) - 1
	}
	oldest := 0
	for i, s := range a.scrapers {
		if s.asked < a.scrapers[oldest].asked {
			oldest = i
		}
	}
	a.scrapers[oldest] = scraper{id: a.last}
	return oldest
}

func host(addr string) string {
	for i := len(addr) - 1; i >= 0; i-- {
		if addr[i] == ':' {
			return addr[:i]
		}
	}
	return addr
}

// seen returns the tick up to which a target's sheets were received by someone, and by every scraper
// that is active.
func (a *audience) seen(t *target) tick {
	seen := t.acked
	for _, s := range a.scrapers {
		if s.regular && float64(a.clock-s.served) <= activeIntervals*float64(a.interval) {
			seen = min(seen, t.acks[s.id])
		}
	}
	return seen
}

// receive notes that a scraper received a whole response.
func (a *audience) receive(id scraperID) {
	for i := range a.scrapers {
		if a.scrapers[i].id == id {
			a.scrapers[i].served, a.scrapers[i].regular = a.clock, true
		}
	}
}

// Ask tells the ledger that a client asks for a sheet, and returns a receipt to give to Served.
func (l *Ledger) Ask(c Client, now time.Time) Receipt {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := max(l.now, l.tickOf(now))
	return Receipt{scraper: l.audience.ask(c, asked), asked: asked}
}

// Receipt stands for one client's request.
type Receipt struct {
	scraper scraperID
	asked   tick // Prometheus stamps a response's samples with the time it asked
}

// Served tells the ledger that the response that carried a sheet was written in full. What counts is
// when it was asked for, which the receipt knows.
func (l *Ledger) Served(r Receipt, s *Sheet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.audience.receive(r.scraper)
	if r.asked == l.audience.waiting {
		l.audience.waiting = 0
	}
	for i := range s.Targets {
		t := l.targets[s.Targets[i].Name]
		if t == nil || !s.Targets[i].Shown {
			continue
		}
		t.acked = max(t.acked, s.tick)
		t.lastServed = max(t.lastServed, r.asked)
		if r.scraper != 0 {
			t.acks[r.scraper] = max(t.acks[r.scraper], s.tick)
		}
	}
	l.forgetScrapers()
}

// forgetScrapers drops the acknowledgements of scrapers that were replaced.
func (l *Ledger) forgetScrapers() {
	for _, t := range l.listed {
		if len(t.acks) <= maxScrapers {
			continue
		}
		for id := range t.acks {
			if !slices.ContainsFunc(l.audience.scrapers, func(s scraper) bool { return s.id == id }) {
				delete(t.acks, id)
			}
		}
	}
}
