// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// server is a source whose targets do what a test wants.
type server struct {
	mu        sync.Mutex
	volumes   []*volume
	broken    error // what looking for targets fails with
	intervals map[string]time.Duration
}

// volume is a target, or a framed text of several.
type volume struct {
	target  source.Target
	framed  bool
	text    string
	openErr error
	readErr error // comes behind the text
	endErr  error // of Close
	// hang, unless nil, keeps reads from ending until it is closed, as a hung disk does: a deadline changes nothing.
	hang  chan struct{}
	slow  time.Duration // how long the text takes
	reads int
}

func (s *server) Name() string { return "fake" }

func (s *server) Discover(context.Context) ([]source.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, s.broken
	}
	var streams []source.Stream
	for _, v := range s.volumes {
		streams = append(streams, source.Stream{Target: v.target, Framed: v.framed, Open: func(context.Context) (io.ReadCloser, error) {
			return s.open(v)
		}})
	}
	return streams, nil
}

func (s *server) CleanupInterval(t source.Target) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.intervals[t.Name]
	return d, ok
}

func (s *server) open(v *volume) (io.ReadCloser, error) {
	s.mu.Lock()
	v.reads++
	text, hang := *v, v.hang
	s.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if text.openErr != nil {
		return nil, text.openErr
	}
	r := io.MultiReader(pause(text.slow), strings.NewReader(text.text))
	if text.readErr != nil {
		r = io.MultiReader(r, failing{text.readErr})
	}
	return &ended{Reader: r, err: text.endErr}, nil
}

// pause is a reader of nothing that takes its time.
type pause time.Duration

func (p pause) Read([]byte) (int, error) {
	time.Sleep(time.Duration(p))
	return 0, io.EOF
}

// add mounts a target, mdt or ost by its name.
func (s *server) add(name, text string) *volume {
	t, ok := source.ParseTargetName(name)
	if !ok {
		panic(name)
	}
	return s.mount(&volume{target: t, text: text})
}

func (s *server) mount(v *volume) *volume {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.volumes = append(s.volumes, v)
	return v
}

func (s *server) unmount(v *volume) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.volumes = slices.DeleteFunc(s.volumes, func(x *volume) bool { return x == v })
}

// change alters what reads that start from now on see.
func (s *server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *server) readsOf(v *volume) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return v.reads
}

// notes records log lines: level and message, and the target if there is one.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) Enabled(context.Context, slog.Level) bool { return true }
func (n *notes) WithAttrs([]slog.Attr) slog.Handler       { return n }
func (n *notes) WithGroup(string) slog.Handler            { return n }

func (n *notes) Handle(_ context.Context, r slog.Record) error {
	line := fmt.Sprint(r.Level, " ", r.Message)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "target" {
			line += " " + a.Value.String()
		}
		return true
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
	return nil
}

// take returns the lines since the last call.
func (n *notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}

// rig is a collector over a fake server. Values are shown as Lustre says them unless a test changes that.
type rig struct {
	*server
	t   testing.TB
	log *notes
	c   *Collector
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, server: &server{intervals: map[string]time.Duration{}}, log: &notes{}}
	cfg := newConfig(t, r.server)
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg, slog.New(r.log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r.c = c
	return r
}

// newConfig shares nothing, and shows values as Lustre says them.
func newConfig(t testing.TB, s source.Source) Config {
	cfg := Config{Source: s, ReadTimeout: DefaultReadTimeout, Ledger: ledger.Config{
		ScrapeInterval: ledger.DefaultScrapeInterval, MaxEntries: ledger.DefaultMaxEntries, MaxNodesPerJob: ledger.DefaultMaxNodesPerJob,
		MaxUsers: ledger.DefaultMaxUsers, FirstZero: ledger.Off,
	}}
	cfg.Ledger.Identifier = identifier(t)
	return cfg
}

// scrape observes, reads the page in full, and returns its series.
func (r *rig) scrape() (series, error) {
	r.t.Helper()
	page, err := r.c.Observe(context.Background(), collector.Client{Addr: "192.0.2.1:5", Agent: "Prometheus", Scraper: true})
	if page == nil {
		return nil, err
	}
	s := r.read(page)
	page.Served()
	return s, err
}

// must is scrape where nothing fails.
func (r *rig) must() series {
	r.t.Helper()
	s, err := r.scrape()
	if err != nil {
		r.t.Fatalf("scrape: %v", err)
	}
	return s
}

// series are values by name and labels, as the text format prints them: name{a="1",b="2"}.
type series map[string]float64

func (r *rig) read(page collector.Page) series {
	r.t.Helper()
	s := parse(r.t, gather(r.t, page))
	for name, v := range parse(r.t, families(r.t, page, expfmt.NewFormat(expfmt.TypeTextPlain))) {
		s[name] = v
	}
	return s
}

// gather has client_golang check and print the small families.
func gather(t testing.TB, page collector.Page) []byte {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(unchecked(page.Collect))
	found, err := registry.Gather()
	if err != nil {
		t.Fatalf("gather: %v", err)
	}
	var b bytes.Buffer
	e := expfmt.NewEncoder(&b, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range found {
		if err := e.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

type unchecked func(chan<- prometheus.Metric)

func (unchecked) Describe(chan<- *prometheus.Desc)      {}
func (u unchecked) Collect(ch chan<- prometheus.Metric) { u(ch) }

// families has the page write its large families.
func families(t testing.TB, page collector.Page, format expfmt.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	e, err := exposition.New(&b, format)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.WriteFamilies(e); err != nil {
		t.Fatalf("WriteFamilies: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return b.Bytes()
}

// parse reads text as Prometheus' own library does, and fails the test for a series that is there twice.
func parse(t testing.TB, text []byte) series {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("not the text format: %v\n%q", err, text)
	}
	s := series{}
	for name, f := range found {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			key := name + "{" + strings.Join(labels, ",") + "}"
			if _, twice := s[key]; twice {
				t.Fatalf("series twice: %s", key)
			}
			s[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return s
}

// named returns the series whose names begin so, of a target unless that is "".
func (s series) named(metric, target string) series {
	found := series{}
	for name, v := range s {
		if strings.HasPrefix(name, metric) && (target == "" || strings.Contains(name, fmt.Sprintf("target=%q", target))) {
			found[name] = v
		}
	}
	return found
}

// jobs returns a target's series of jobs and users.
func (s series) jobs(target string) series {
	found := s.named("lustre_job_", target)
	maps.Copy(found, s.named("lustre_user_", target))
	return found
}

// sum adds up the series of a metric and target.
func (s series) sum(metric, target string) (sum float64) {
	for _, v := range s.named(metric, target) {
		sum += v
	}
	return sum
}

// up is the target's target_up, -1 where there is none.
func (s series) up(target string) float64 {
	v, ok := s[fmt.Sprintf("lustre_jobstats_target_up{target=%q}", target)]
	if !ok {
		return -1
	}
	return v
}
