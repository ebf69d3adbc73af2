// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

// result is what one collector had to say.
type result struct {
	name string
	page collector.Page // nil when there is nothing to show
	err  error
	took time.Duration
}

// errStuck is the failure of a collector that does not keep its deadline.
var errStuck = errors.New("did not return at its deadline")

// observer asks all collectors side by side.
type observer struct {
	collectors []collector.Collector
	log        *slog.Logger
	faults     *faults
}

func newObserver(collectors []collector.Collector, log *slog.Logger) *observer {
	return &observer{collectors: collectors, log: log, faults: newFaults(log)}
}

// observe returns one result for each collector, in their order. A collector that keeps its promise
// returns when ctx ends, and has the grace to do so in; then it is not waited for any longer.
func (o *observer) observe(ctx context.Context, c collector.Client, grace time.Duration) []result {
	// Buffered, so that a late collector finds its end.
	answers := make([]chan result, len(o.collectors))
	for i, each := range o.collectors {
		answers[i] = make(chan result, 1)
		go func() { answers[i] <- o.ask(ctx, each, c) }()
	}
	late := afterEnd(ctx, grace)
	results := make([]result, len(o.collectors))
	began := time.Now()
	for i, each := range o.collectors {
		var answered bool
		if results[i], answered = await(late, answers[i]); !answered {
			results[i] = result{name: each.Name(), err: errStuck, took: time.Since(began)}
		}
	}
	return results
}

// await prefers an answer that is there, however late it is.
func await(late context.Context, answer <-chan result) (r result, ok bool) {
	select {
	case r = <-answer:
		return r, true
	case <-late.Done():
	}
	select {
	case r = <-answer:
		return r, true
	default:
		return r, false
	}
}

// afterEnd returns a context that ends some time after ctx.
func afterEnd(ctx context.Context, delay time.Duration) context.Context {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, cancel) })
	return later
}

// ask observes with one collector. If it panics, the others are served all the same.
func (o *observer) ask(ctx context.Context, each collector.Collector, c collector.Client) (r result) {
	began := time.Now()
	r.name = each.Name()
	defer func() {
		r.took = time.Since(began)
		if cause := recover(); cause != nil {
			r.page, r.err = nil, fmt.Errorf("panic: %v", cause)
			o.log.Error("a collector panicked", "collector", r.name, "err", r.err, "stack", string(debug.Stack()))
		}
	}()
	r.page, r.err = each.Observe(ctx, c)
	return r
}

// report logs how the collectors fare. One that fails and has a page all the same says by itself what is
// missing.
func (o *observer) report(results []result) {
	for _, r := range results {
		if r.page == nil || r.err == nil {
			o.faults.note("collector "+r.name, r.err)
		}
	}
}

// close ends all collectors side by side, and waits for them no longer than ctx.
func (o *observer) close(ctx context.Context) error {
	var all sync.WaitGroup
	for _, each := range o.collectors {
		all.Go(each.Close)
	}
	closed := make(chan struct{})
	go func() {
		all.Wait()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing collectors: %w", context.Cause(ctx))
	}
}
