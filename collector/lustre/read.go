// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// targetRead is what one observation got from one target.
type targetRead struct {
	target   source.Target
	reading  *ledger.Reading // nil unless the read is complete
	all      *ledger.Reading // the same, or the part of an incomplete read
	err      error           // why it is not complete
	duration time.Duration
	bytes    int64
	lost     uint64 // lines and entries that could not be used
	interval time.Duration
	expires  bool // interval is known
}

// streamRead is what one observation got from one stream.
type streamRead struct {
	key      string
	targets  []targetRead
	complete bool // no target of the stream was missed
}

// reader reads streams into readings and keeps their memory for the next time.
type reader struct {
	cfg   Config
	books *ledger.Ledger
	slots chan struct{} // bounds the reads side by side

	mu   sync.Mutex
	busy map[string]bool // streams whose read has not ended

	scanners sync.Pool
	readings sync.Pool
}

func newReader(cfg Config, books *ledger.Ledger) *reader {
	return &reader{
		cfg: cfg, books: books, busy: map[string]bool{},
		// The kernel renders one target on one core; more at once only cost memory.
		slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
	}
}

// start reads a stream in the background and sends the result, unless its last read still goes on.
func (r *reader) start(ctx context.Context, key string, s source.Stream, results chan<- streamRead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[key] {
		results <- failed(key, s, errStuck)
		return
	}
	r.busy[key] = true
	go func() {
		result := r.read(ctx, key, s)
		r.mu.Lock()
		delete(r.busy, key)
		r.mu.Unlock()
		results <- result
	}()
}

func failed(key string, s source.Stream, err error) streamRead {
	if s.Framed {
		return streamRead{key: key}
	}
	return streamRead{key: key, complete: true, targets: []targetRead{{target: s.Target, err: err}}}
}

func (r *reader) read(ctx context.Context, key string, s source.Stream) streamRead {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return failed(key, s, fmt.Errorf("not read in time: %w", context.Cause(ctx)))
	}
	text, err := s.Open(ctx)
	if err != nil {
		return failed(key, s, err)
	}
	p := &pass{r: r, stream: s, began: time.Now()}
	p.run(text)
	return p.end(key, text.Close())
}

// scanner is what reads one stream; it owns a buffer of at least 256 KiB.
type scanner struct {
	*jobstats.Scanner
	entry jobstats.Entry
}

func (r *reader) scanner(text io.Reader, framed bool) *scanner {
	if s, ok := r.scanners.Get().(*scanner); ok {
		s.Reset(text)
		return s
	}
	return &scanner{Scanner: jobstats.NewScanner(text, jobstats.Options{
		Framed: framed, MaxEntries: r.cfg.MaxTargetEntries, MaxBytes: r.cfg.MaxTargetBytes,
	})}
}

func (r *reader) reading() *ledger.Reading {
	if reading, ok := r.readings.Get().(*ledger.Reading); ok {
		reading.Reset()
		return reading
	}
	return r.books.NewReading()
}

func (r *reader) recycle(reading *ledger.Reading) {
	if reading != nil {
		r.readings.Put(reading)
	}
}

// pass is one pass through a stream, which may hold several targets.
type pass struct {
	r         *reader
	stream    source.Stream
	began     time.Time
	before    jobstats.Counters
	targets   []targetRead
	intervals map[string]time.Duration
}

func (p *pass) run(text io.Reader) {
	s := p.r.scanner(text, p.stream.Framed)
	defer p.r.scanners.Put(s)
	if p.stream.Target.Name != "" && !p.stream.Framed {
		p.begin(p.stream.Target)
	}
	for {
		switch s.Next(&s.entry) {
		case jobstats.EntryRead:
			p.add(&s.entry)
		case jobstats.FrameRead:
			p.frame(s)
		case jobstats.End:
			p.finish(s)
			if err := s.Err(); err != nil {
				p.fail(err)
			} else if s.Truncated() {
				p.fail(errors.New("the text ends within an entry"))
			}
			return
		}
	}
}

// add takes an entry over. A dump without framing is about the stream's own target.
func (p *pass) add(e *jobstats.Entry) {
	if len(p.targets) == 0 {
		p.begin(p.stream.Target)
	}
	p.targets[len(p.targets)-1].all.Add(e)
}

func (p *pass) begin(t source.Target) {
	reading := p.r.reading()
	p.targets = append(p.targets, targetRead{target: t, reading: reading, all: reading})
}

// frame goes on to the target that a framing line names.
func (p *pass) frame(s *scanner) {
	f := s.Frame()
	switch f.Param {
	case "job_cleanup_interval":
		if d, ok := source.ParseInterval(f.Value); ok {
			if p.intervals == nil {
				p.intervals = map[string]time.Duration{}
			}
			p.intervals[f.Target] = d
		}
	case "job_stats":
		p.finish(s)
		p.begin(source.Target{Name: f.Target, Kind: f.Kind})
	}
}

// finish closes the books on the target read last.
func (p *pass) finish(s *scanner) {
	now := s.Counters()
	if len(p.targets) > 0 {
		t := &p.targets[len(p.targets)-1]
		t.duration, t.bytes = time.Since(p.began), now.Bytes-p.before.Bytes
		t.lost = now.Unparsed - p.before.Unparsed + now.Rejected - p.before.Rejected + t.all.Dropped
	}
	p.before, p.began = now, time.Now()
}

// fail marks the target read last as incomplete.
func (p *pass) fail(err error) {
	if len(p.targets) == 0 {
		p.begin(p.stream.Target)
	}
	t := &p.targets[len(p.targets)-1]
	t.reading, t.err = nil, err
}

// end adds what closing the stream tells, and the clean-up intervals.
func (p *pass) end(key string, err error) streamRead {
	result := streamRead{key: key, complete: true}
	var lctl *source.LctlError
	switch {
	case err == nil:
	case errors.As(err, &lctl):
		result.complete = lctl.Partial()
		if lctl.Killed {
			p.fail(err)
		}
		p.unreadable(lctl, err)
	default:
		p.fail(err)
	}
	for i := range p.targets {
		t := &p.targets[i]
		if t.interval, t.expires = p.intervals[t.target.Name]; !t.expires {
			t.interval, t.expires = p.r.cfg.Source.CleanupInterval(t.target)
		}
	}
	result.targets = p.targets
	return result
}

// unreadable marks the targets that lctl could not read, which have no frame or a cut one.
func (p *pass) unreadable(lctl *source.LctlError, err error) {
	for _, target := range lctl.Unreadable {
		found := false
		for i := range p.targets {
			if p.targets[i].target.Name == target.Name {
				p.targets[i].reading, p.targets[i].err, found = nil, err, true
			}
		}
		if !found {
			p.targets = append(p.targets, targetRead{target: target, err: err})
		}
	}
}
