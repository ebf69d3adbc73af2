// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
)

// fakeCollector observes what a test says.
type fakeCollector struct {
	name   string
	see    func(ctx context.Context, c collector.Client) (collector.Page, error)
	asked  atomic.Int32
	closed atomic.Int32
}

func (f *fakeCollector) Name() string { return f.name }
func (f *fakeCollector) Close()       { f.closed.Add(1) }
func (f *fakeCollector) Observe(ctx context.Context, c collector.Client) (collector.Page, error) {
	f.asked.Add(1)
	return f.see(ctx, c)
}

// fakePage has one small family and one large one.
type fakePage struct {
	large   int // series of the large family
	collect func(ch chan<- prometheus.Metric)
	write   func(e *exposition.Encoder) error
	served  atomic.Int32
}

func (p *fakePage) Served() { p.served.Add(1) }

func (p *fakePage) Collect(ch chan<- prometheus.Metric) {
	if p.collect != nil {
		p.collect(ch)
		return
	}
	ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("fake_small", "A small family.", nil, nil), prometheus.GaugeValue, 7)
}

func (p *fakePage) WriteFamilies(e *exposition.Encoder) error {
	if p.write != nil {
		return p.write(e)
	}
	return writeLarge(e, p.large)
}

func writeLarge(e *exposition.Encoder, n int) error {
	return e.Family(exposition.Family{Name: "fake_large_total", Help: "A large family.", Type: exposition.Counter}, func(s *exposition.Series) {
		s.Variable("operation")
		s.Labels(nil, []exposition.Label{{Name: "target", Value: "scratch-OST0000"}})
		for i := range n {
			s.Count("op"+strconv.Itoa(i), uint64(i), 0)
			if s.Failed() {
				return
			}
		}
	})
}

// showing is a collector with always the same page.
func showing(name string, p collector.Page) *fakeCollector {
	return &fakeCollector{name: name, see: func(context.Context, collector.Client) (collector.Page, error) { return p, nil }}
}

func testOptions() webOptions {
	no, none := false, ""
	address := []string{"127.0.0.1:0"}
	return webOptions{
		path: "/metrics", maxRequests: 4, offset: defaultPatience / 120,
		toolkit: &web.FlagConfig{WebListenAddresses: &address, WebSystemdSocket: &no, WebConfigFile: &none},
	}
}

// logged is what a test's logger wrote.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func testLog(t *testing.T) (*slog.Logger, *logged) {
	t.Helper()
	out := &logged{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", out)
		}
	})
	return newLogger(out, logOptions{level: slog.LevelDebug, format: "logfmt"}), out
}
