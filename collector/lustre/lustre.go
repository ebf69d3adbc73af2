// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package lustre is the collector of Lustre Jobstats: it observes the targets of this server
// (observe.go, read.go), has the ledger account what they say, and exposes the ledger's sheet
// (page.go, families.go).
package lustre

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
)

// Collector observes the Lustre targets of this server. It is safe for concurrent use.
type Collector struct {
	cfg    Config
	now    func() time.Time
	ledger *ledger.Ledger
	desc   descriptions
	reader *reader
	diary  *diary

	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	current *observation
	flight  *flight

	unparsed map[string]uint64 // lines per target that could not be used, ever; of the flight under way
}

var _ collector.Collector = (*Collector)(nil)

// New returns a collector. Nothing is read until Observe is called.
func New(cfg Config, logger *slog.Logger) (*Collector, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("lustre: %w", err)
	}
	now := cfg.Now
	if now == nil {
		now = time.Now
	}
	books, err := ledger.New(cfg.Ledger, now())
	if err != nil {
		return nil, fmt.Errorf("lustre: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Collector{
		cfg: cfg, now: now, ledger: books, desc: newDescriptions(), reader: newReader(cfg, books), diary: newDiary(logger, cfg.Source.Name()),
		ctx: ctx, cancel: cancel, unparsed: map[string]uint64{},
	}, nil
}

// Name implements collector.Collector.
func (c *Collector) Name() string { return "lustre" }

// closeTime bounds Close: a read that hangs in the kernel cannot be ended.
const closeTime = 2 * time.Second

// Close ends reads that are under way, and returns once they have ended and lctl is gone.
func (c *Collector) Close() {
	c.cancel()
	ended := make(chan struct{})
	go func() {
		c.reader.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeTime):
	}
}

// errWaiting is what a client gets whose time is up before the targets were read.
var errWaiting = errors.New("the targets are still being read")

// Observe implements collector.Collector: it shares an observation that is fresh enough or under way,
// or starts one.
func (c *Collector) Observe(ctx context.Context, client collector.Client) (collector.Page, error) {
	receipt := c.ledger.Ask(ledger.Client{Addr: client.Addr, Agent: client.Agent, Scraper: client.Scraper}, c.now())
	o, err := c.observation(ctx)
	if err != nil {
		return nil, err
	}
	return &page{c: c, o: o, receipt: receipt}, o.err
}

// flight is an observation under way.
type flight struct {
	done   chan struct{}
	result *observation
}

// observation returns one that is fresh enough. The one who starts it lends it its deadline, but
// leaving does not end it.
func (c *Collector) observation(ctx context.Context) (*observation, error) {
	c.mu.Lock()
	if o := c.current; o != nil && c.now().Sub(o.time) < c.cfg.ObservationInterval {
		c.mu.Unlock()
		return o, nil
	}
	f := c.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		c.flight = f
		go c.fly(f, c.patience(ctx))
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.result, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", errWaiting, context.Cause(ctx))
	}
}

// patience is how long an observation may take: a tenth of the first client's time is left for the
// response.
func (c *Collector) patience(ctx context.Context) time.Duration {
	patience := c.cfg.ReadTimeout
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)*9/10)
	}
	return max(patience, time.Millisecond)
}

func (c *Collector) fly(f *flight, patience time.Duration) {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	f.result = c.survive(ctx)
	c.mu.Lock()
	c.current, c.flight = f.result, nil
	c.mu.Unlock()
	close(f.done)
}

// survive observes. A fault of ours costs this observation, not the process.
func (c *Collector) survive(ctx context.Context) (o *observation) {
	defer func() {
		if cause := recover(); cause != nil {
			o = &observation{time: c.now(), sheet: &ledger.Sheet{}, err: fmt.Errorf("panic: %v\n%s", cause, debug.Stack())}
			c.diary.write(o)
		}
	}()
	return c.observe(ctx)
}
