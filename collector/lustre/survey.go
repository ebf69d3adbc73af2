// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// Survey reads all targets once and reports what it found, for people who set an exporter up. It keeps
// nothing and takes as long as it needs: Config.ReadTimeout does not bound it, ctx does. The error is
// about the configuration; what could not be read is in the report.
func Survey(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("lustre: %w", err)
	}
	now := time.Now
	if cfg.Now != nil {
		now = cfg.Now
	}
	books, err := ledger.New(cfg.Ledger, now())
	if err != nil {
		return nil, fmt.Errorf("lustre: %w", err)
	}
	s := &surveyor{cfg: cfg, books: books, classes: cfg.Ledger.Identifier.Classes(), targets: map[string]*surveyed{}}
	streams, err := cfg.Source.Discover(ctx)
	if err != nil {
		s.problem(err)
	}
	for _, stream := range streams {
		s.read(ctx, stream)
	}
	return s.report(now()), nil
}

// surveyor collects what a survey finds.
type surveyor struct {
	cfg      Config
	books    *ledger.Ledger
	classes  []string
	targets  map[string]*surveyed
	problems []string
}

// surveyed is one target of a survey.
type surveyed struct {
	target   source.Target
	reading  *ledger.Reading
	found    TargetReport
	classes  map[ClassReport]int // with Entries 0
	oddities map[oddityKey]*oddity
}

// stretch is where in a stream a survey stands.
type stretch struct {
	stream  source.Stream
	scanner *jobstats.Scanner
	target  *surveyed         // nil before the first frame or entry
	counted jobstats.Counters // what was attributed to targets already
}

func (s *surveyor) problem(err error) { s.problems = append(s.problems, err.Error()) }

// of returns a target, opening it when it is met first.
func (s *surveyor) of(t source.Target) *surveyed {
	if t.Name == "" {
		t = source.UnknownTarget()
	}
	if known, ok := s.targets[t.Name]; ok {
		return known
	}
	at := &surveyed{
		target: t, reading: s.books.NewReading(),
		found:   TargetReport{Name: t.Name, FS: t.FS(), Kind: t.KindLabel()},
		classes: map[ClassReport]int{}, oddities: map[oddityKey]*oddity{},
	}
	s.targets[t.Name] = at
	return at
}

func (s *surveyor) read(ctx context.Context, stream source.Stream) {
	text, err := stream.Open(ctx)
	if err != nil {
		s.failed(stream, nil, err)
		return
	}
	limits := jobstats.Options{Framed: stream.Framed}
	if !stream.Framed {
		limits.MaxEntries, limits.MaxBytes = s.cfg.MaxTargetEntries, s.cfg.MaxTargetBytes
	}
	at := &stretch{stream: stream, scanner: jobstats.NewScanner(text, limits)}
	s.scan(at)
	err = at.scanner.Err()
	if err == nil && at.scanner.Truncated() {
		err = errors.New("the text is cut short")
	}
	if err != nil {
		s.failed(stream, at.target, err)
	}
	if err := text.Close(); err != nil {
		s.closedWith(stream, at.target, err)
	}
}

func (s *surveyor) scan(at *stretch) {
	var entry jobstats.Entry
	for {
		event := at.scanner.Next(&entry)
		if event == jobstats.EntryRead || event == jobstats.End && at.target == nil && at.stream.Target.Name != "" {
			s.settleIn(at)
		}
		s.attribute(at)
		switch event {
		case jobstats.End:
			return
		case jobstats.EntryRead:
			s.add(at.target, &entry)
		case jobstats.FrameRead:
			s.enter(at)
		}
	}
}

// settleIn opens the target of a text that does not say whose it is.
func (s *surveyor) settleIn(at *stretch) {
	if at.target == nil {
		at.target = s.of(at.stream.Target)
	}
}

// enter moves on to the target that a frame names.
func (s *surveyor) enter(at *stretch) {
	frame := at.scanner.Frame()
	if frame.Param != "job_stats" {
		return
	}
	at.target = s.of(source.Target{Name: frame.Target, Kind: frame.Kind})
}

// attribute gives what was counted since the last time to the target at hand.
func (s *surveyor) attribute(at *stretch) {
	if at.target == nil {
		return
	}
	c, before, f := at.scanner.Counters(), at.counted, &at.target.found
	f.Lines += c.Lines - before.Lines
	f.Unparsed += c.Unparsed - before.Unparsed
	f.Rejected += c.Rejected - before.Rejected
	at.counted = c
}

// add takes an entry over.
func (s *surveyor) add(t *surveyed, e *jobstats.Entry) {
	t.reading.Add(e)
	identity := s.cfg.Ledger.Identifier.Identify(e.ID)
	class := ClassReport{Class: s.classes[identity.Class], Users: identity.Users.String()}
	t.classes[class]++
	if identity.Reason == "" {
		return
	}
	key := oddityKey{class.Class, identity.Reason}
	if t.oddities[key] == nil {
		t.oddities[key] = &oddity{nodes: map[string]int{}}
	}
	t.oddities[key].add(e.ID, s.cfg.Ledger.Identifier.NodeOf(e.ID))
}

// failed notes why a stream could not be read. A target that is no longer there is no failure.
func (s *surveyor) failed(stream source.Stream, t *surveyed, err error) {
	switch {
	case errors.Is(err, source.ErrGone):
		delete(s.targets, stream.Target.Name)
	case t != nil:
		t.found.Problem = err.Error()
	case stream.Target.Name != "":
		s.of(stream.Target).found.Problem = err.Error()
	default:
		s.problem(err)
	}
}

// closedWith notes what a stream says at its end. Only lctl does: it names the targets it could not read.
func (s *surveyor) closedWith(stream source.Stream, t *surveyed, err error) {
	var call *source.LctlError
	if !errors.As(err, &call) {
		s.failed(stream, t, err)
		return
	}
	for _, target := range call.Unreadable {
		s.of(target).found.Problem = call.Error()
	}
	if !call.Partial() {
		s.problem(err)
	}
}

// report accounts what was read, as an exporter that starts would, and sums it up.
func (s *surveyor) report(now time.Time) *Report {
	o := ledger.Observation{Time: now, Discovered: true}
	for _, t := range s.targets {
		o.Reads = append(o.Reads, ledger.Read{Target: t.target.Name, Kind: t.target.KindLabel(), Reading: t.reading})
	}
	sheet := s.books.Observe(o)
	r := &Report{Source: s.cfg.Source.Name(), Problems: s.problems}
	for i := range sheet.Targets {
		r.Targets = append(r.Targets, s.targets[sheet.Targets[i].Name].sum(&sheet.Targets[i]))
	}
	slices.SortFunc(r.Targets, func(a, b TargetReport) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// sum completes what was found of a target by what the ledger makes of it.
func (t *surveyed) sum(sheet *ledger.TargetSheet) TargetReport {
	f := t.found
	f.Entries = t.reading.Entries()
	f.Dropped = t.reading.Dropped
	f.Series = seriesOf(&sheet.Jobs) + seriesOf(&sheet.Users)
	for class, n := range t.classes {
		class.Entries = n
		f.Classes = append(f.Classes, class)
	}
	slices.SortFunc(f.Classes, compareClasses)
	for _, folded := range sheet.Folded {
		if folded.Count > 0 {
			f.Folded = append(f.Folded, FoldReport{Reason: folded.Reason.String(), Entries: folded.Count})
		}
	}
	for key, o := range t.oddities {
		f.Oddities = append(f.Oddities, o.report(key))
	}
	slices.SortFunc(f.Oddities, compareOddities)
	return f
}

// seriesOf counts series as Prometheus does: all the buckets of a native histogram are one.
func seriesOf(rows *ledger.Rows) int {
	total := 0
	for i := range rows.Len() {
		_, cells, _ := rows.Row(i)
		var reads, writes int
		for _, cell := range cells {
			switch cell.Key.Kind() {
			case ledger.ReadSize:
				reads = 1
			case ledger.WriteSize:
				writes = 1
			default:
				total++
			}
		}
		total += reads + writes
	}
	return total
}
