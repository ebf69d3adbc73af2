// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// observation is one look at all targets. It does not change once it is made.
type observation struct {
	time  time.Time
	sheet *ledger.Sheet
	reads map[string]targetRead // by target
	// unparsed counts lines that could not be used since the start, by target.
	unparsed map[string]uint64
	err      error // why targets may have been missed
}

// errStuck is the state of a target whose earlier read has not ended.
var errStuck = errors.New("an earlier read has not ended yet; the server may be overloaded")

// observe reads every target and has the ledger account it.
func (c *Collector) observe(ctx context.Context) *observation {
	streams, searchErr := c.cfg.Source.Discover(ctx)
	reads, readErr := c.readAll(ctx, streams)
	o := &observation{time: c.now(), reads: byTarget(reads), err: errors.Join(searchErr, readErr)}
	seen := ledger.Observation{Time: o.time, Discovered: o.err == nil}
	for _, name := range slices.Sorted(maps.Keys(o.reads)) {
		r := o.reads[name]
		c.unparsed[name] += r.lost
		seen.Reads = append(seen.Reads, ledger.Read{Target: name, Kind: r.target.KindLabel(), Reading: r.reading})
	}
	o.unparsed = maps.Clone(c.unparsed)
	o.sheet = c.ledger.Observe(seen)
	c.recycle(reads, o)
	c.diary.write(o)
	return o
}

// byTarget leaves out targets that were unmounted while they were read: they are absent, not broken.
func byTarget(reads []targetRead) map[string]targetRead {
	targets := make(map[string]targetRead, len(reads))
	for _, r := range reads {
		if errors.Is(r.err, source.ErrGone) {
			continue
		}
		name := r.target.Name
		if first, twice := targets[name]; twice {
			// A dump may hold a target twice; which is younger cannot be told.
			r = first
			r.reading, r.err = nil, fmt.Errorf("target %s occurs twice", name)
		}
		targets[name] = r
	}
	return targets
}

// recycle gives the readings back once they are accounted.
func (c *Collector) recycle(reads []targetRead, o *observation) {
	for _, r := range reads {
		c.reader.recycle(r.all)
	}
	for name, r := range o.reads {
		r.reading, r.all = nil, nil
		o.reads[name] = r
	}
}

// readAll reads the streams side by side. A stream that is not done when ctx ends counts as failed;
// it goes on by itself, and is not read again before it has ended. The error says why targets may have
// been missed.
func (c *Collector) readAll(ctx context.Context, streams []source.Stream) (reads []targetRead, err error) {
	results := make(chan streamRead, len(streams))
	pending := make(map[string]source.Stream, len(streams))
	for _, s := range streams {
		key := s.Target.Name
		if _, twice := pending[key]; twice {
			continue
		}
		pending[key] = s
		c.reader.start(ctx, key, s, results)
	}
	take := func(r streamRead) {
		delete(pending, r.key)
		reads, err = append(reads, r.targets...), errors.Join(err, r.err)
	}
	for len(pending) > 0 {
		select {
		case r := <-results:
			take(r)
		case <-ctx.Done():
			for range len(results) {
				take(<-results)
			}
			for key, s := range pending {
				take(failed(key, s, late(ctx)))
			}
		}
	}
	return reads, err
}
