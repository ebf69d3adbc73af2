// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
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
	key     string
	targets []targetRead
	err     error // why targets of the stream may have been missed
}

// reader reads streams into readings and keeps their memory for the next time.
type reader struct {
	cfg   Config
	books *ledger.Ledger
	slots chan struct{} // bounds the reads that start side by side

	mu   sync.Mutex
	busy map[string]bool // streams whose read has not ended
	all  sync.WaitGroup  // their reads

	scanners sync.Pool
	readings sync.Pool
}

// slotTime is how long a read may keep others from starting. One that takes longer is large or hangs; were
// it waited for, targets that hang would cost the others theirs.
const slotTime = 250 * time.Millisecond

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
	r.all.Go(func() {
		result := r.survive(ctx, key, s)
		r.mu.Lock()
		delete(r.busy, key)
		r.mu.Unlock()
		results <- result
	})
}

// survive reads a stream. A fault of ours in it costs that stream, not the process.
func (r *reader) survive(ctx context.Context, key string, s source.Stream) (result streamRead) {
	defer func() {
		if cause := recover(); cause != nil {
			result = failed(key, s, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	return r.read(ctx, key, s)
}

func failed(key string, s source.Stream, err error) streamRead {
	if s.Framed {
		return streamRead{key: key, err: err}
	}
	return streamRead{key: key, targets: []targetRead{{target: s.Target, err: err}}}
}

func late(ctx context.Context) error { return fmt.Errorf("not read in time: %w", context.Cause(ctx)) }

func (r *reader) read(ctx context.Context, key string, s source.Stream) streamRead {
	release, err := r.slot(ctx)
	if err != nil {
		return failed(key, s, err)
	}
	defer release()
	text, err := s.Open(ctx)
	if err != nil {
		return failed(key, s, err)
	}
	p := &pass{r: r, stream: s, began: time.Now()}
	p.run(text)
	return p.end(key, text.Close())
}

// slot waits until fewer than so many reads are young.
func (r *reader) slot(ctx context.Context) (release func(), err error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, late(ctx)
	}
	free := sync.OnceFunc(func() { <-r.slots })
	timer := time.AfterFunc(slotTime, free)
	return func() { timer.Stop(); free() }, nil
}

// scanner is what reads one stream; it owns a buffer of at least 256 KiB.
type scanner struct {
	*jobstats.Scanner
	framed bool
	entry  jobstats.Entry
}

func (r *reader) scanner(text io.Reader, framed bool) *scanner {
	if s, ok := r.scanners.Get().(*scanner); ok && s.framed == framed {
		s.Reset(text)
		return s
	}
	o := jobstats.Options{Framed: framed, MaxEntries: r.cfg.MaxTargetEntries, MaxBytes: r.cfg.MaxTargetBytes}
	if framed {
		// The bounds are on each target, and the scanner's on the whole text: see pass.exceeds.
		o.MaxEntries, o.MaxBytes = math.MaxInt, math.MaxInt64
	}
	return &scanner{Scanner: jobstats.NewScanner(text, o), framed: framed}
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
	missed    error // why there may be targets in a framed stream that were not seen
	intervals map[string]time.Duration
}

func (p *pass) run(text io.Reader) {
	s := p.r.scanner(text, p.stream.Framed)
	defer p.r.scanners.Put(s)
	for {
		switch s.Next(&s.entry) {
		case jobstats.EntryRead:
			p.add(s)
		case jobstats.FrameRead:
			p.frame(s)
		case jobstats.End:
			p.close(s)
			return
		}
	}
}

// close ends the text of the target read last, which may be empty.
func (p *pass) close(s *scanner) {
	if len(p.targets) == 0 && p.stream.Target.Name != "" {
		p.begin(p.stream.Target)
	}
	p.finish(s)
	if err := s.Err(); err != nil {
		p.fail(err)
	} else if s.Truncated() {
		p.fail(errors.New("the text ends within an entry"))
	}
}

// add takes an entry over. A text that has not said whose it is belongs to the stream's own target.
func (p *pass) add(s *scanner) {
	if len(p.targets) == 0 {
		p.begin(p.stream.Target)
	}
	t := &p.targets[len(p.targets)-1]
	if t.err == nil && p.exceeds(s, t) {
		t.reading, t.err = nil, jobstats.ErrLimit
	}
	if t.err == nil {
		t.all.Add(&s.entry)
	}
}

// exceeds reports whether a target of a framed stream has more than is to be read of one.
func (p *pass) exceeds(s *scanner, t *targetRead) bool {
	if !p.stream.Framed {
		return false
	}
	entries, bytes := p.r.cfg.MaxTargetEntries, p.r.cfg.MaxTargetBytes
	return entries > 0 && t.all.Entries() >= entries || bytes > 0 && s.Counters().Bytes-p.before.Bytes > bytes
}

func (p *pass) begin(t source.Target) {
	if t.Name == "" {
		t = source.UnknownTarget()
	}
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

// fail marks the target read last as incomplete. Whatever a framed text had behind it was missed.
func (p *pass) fail(err error) {
	if p.stream.Framed {
		p.missed = err
	}
	if len(p.targets) == 0 {
		return
	}
	if t := &p.targets[len(p.targets)-1]; t.err == nil {
		t.reading, t.err = nil, err
	}
}

// end adds what closing the stream tells, and the clean-up intervals.
func (p *pass) end(key string, err error) streamRead {
	var call *source.LctlError
	switch {
	case err == nil:
	case !errors.As(err, &call):
		p.fail(err)
	default:
		if call.Killed {
			p.fail(err)
		}
		if !call.Partial() {
			p.missed = err
		}
		p.unreadable(call, err)
	}
	for i := range p.targets {
		t := &p.targets[i]
		if t.interval, t.expires = p.intervals[t.target.Name]; !t.expires {
			t.interval, t.expires = p.r.cfg.Source.CleanupInterval(t.target)
		}
	}
	return streamRead{key: key, targets: p.targets, err: p.missed}
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
