// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
)

func TestCollectorsThatFailCostOnlyThemselves(t *testing.T) {
	fails := func(name string, p collector.Page) *fakeCollector {
		return &fakeCollector{name: name, see: func(context.Context, collector.Client) (collector.Page, error) {
			return p, errors.New("broken pipe to nowhere")
		}}
	}
	none := func(chan<- prometheus.Metric) {}
	partial := &fakePage{collect: none, write: func(e *exposition.Encoder) error {
		return e.Family(exposition.Family{Name: "partial_total", Type: exposition.Counter}, func(s *exposition.Series) { s.Count("", 3, 0) })
	}}
	good := &fakePage{large: 2}
	panics := &fakeCollector{name: "panics", see: func(context.Context, collector.Client) (collector.Page, error) { panic("boom") }}
	stuck := make(chan struct{})
	defer close(stuck)
	hangs := &fakeCollector{name: "hangs", see: func(context.Context, collector.Client) (collector.Page, error) { <-stuck; return nil, nil }}
	h, out := startHandler(t, testOptions(), fails("empty", nil), fails("partial", partial), panics, hangs, showing("good", good))

	for range 2 {
		began := time.Now()
		_, body := get(t, h.URL+"/metrics", timeoutHeader, "0.2")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a collector that hangs held the scrape for %s", took)
		}
		found := families(t, "text", body)
		for _, m := range found["pfs_exporter_collector_success"].GetMetric() {
			name, want := m.Label[0].GetValue(), 0.0
			if name == "good" {
				want = 1
			}
			if m.GetGauge().GetValue() != want {
				t.Errorf("success of %s is %v, want %v", name, m.GetGauge().GetValue(), want)
			}
		}
		if n := len(found["pfs_exporter_collector_duration_seconds"].GetMetric()); n != 5 {
			t.Errorf("%d durations, want 5", n)
		}
		if value1(t, found["partial_total"]) != 3 || found["fake_large_total"] == nil {
			t.Errorf("a page is missing in\n%s", body)
		}
	}
	// One line for each fault, and a stack for each panic, however many scrapes there were.
	for text, want := range map[string]int{
		`msg=failing subject="collector empty"`: 1, `msg=failing subject="collector partial"`: 0, `msg=failing subject="collector panics"`: 1,
		`msg=failing subject="collector hangs"`: 1, `msg=failing subject="collector good"`: 0, "a collector panicked": 2, "exporter.TestCollectorsThatFail": 2,
	} {
		if n := strings.Count(out.String(), text); n != want {
			t.Errorf("%q is logged %d times, want %d", text, n, want)
		}
	}
}

func TestRecoveryIsLogged(t *testing.T) {
	broken := true
	fake := &fakeCollector{name: "fake", see: func(context.Context, collector.Client) (collector.Page, error) {
		if broken {
			return nil, errors.New("no")
		}
		return nil, nil
	}}
	h, out := startHandler(t, testOptions(), fake)
	get(t, h.URL+"/metrics")
	broken = false
	get(t, h.URL+"/metrics")
	get(t, h.URL+"/metrics")
	if n := strings.Count(out.String(), "works again"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

func TestSmallFamiliesThatCannotBeGathered(t *testing.T) {
	desc := prometheus.NewDesc("broken", "", nil, nil)
	f := func(what string, collect func(ch chan<- prometheus.Metric), wantServed int32) {
		t.Helper()
		page := &fakePage{large: 3, collect: collect}
		h, out := startHandler(t, testOptions(), showing("fake", page))
		_, body := get(t, h.URL+"/metrics")
		found := families(t, "text", body)
		if found["fake_large_total"] == nil || found["go_goroutines"] == nil || found["pfs_exporter_collector_success"] == nil {
			t.Errorf("%s: not everything else is served:\n%s", what, body)
		}
		if !strings.Contains(out.String(), `subject="small families"`) {
			t.Errorf("%s: not logged", what)
		}
		waitFor(t, "Served", func() bool { return page.served.Load() == wantServed })
	}
	f("panic", func(chan<- prometheus.Metric) { panic("boom") }, 1)
	f("invalid metric", func(ch chan<- prometheus.Metric) { ch <- prometheus.NewInvalidMetric(desc, errors.New("no value")) }, 1)
	f("twice the same", func(ch chan<- prometheus.Metric) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1)
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 2)
	}, 1)
}

func TestLargeFamiliesThatAreIncomplete(t *testing.T) {
	page := &fakePage{write: func(e *exposition.Encoder) error {
		return errors.Join(writeLarge(e, 3), e.Family(exposition.Family{Name: "not a name"}, func(*exposition.Series) {}))
	}}
	h, out := startHandler(t, testOptions(), showing("fake", page))
	_, body := get(t, h.URL+"/metrics", "Accept", acceptOpen)
	if !bytes.Contains(body, []byte("fake_large_total")) || !bytes.HasSuffix(body, []byte("# EOF\n")) {
		t.Errorf("got\n%s", body)
	}
	if !strings.Contains(out.String(), `subject="large families"`) || page.served.Load() != 0 {
		t.Errorf("served %d times, logged\n%s", page.served.Load(), out)
	}
}

// A response that cannot be completed must not look complete: in the text format nothing else tells.
func TestLargeFamiliesThatBreakTheResponse(t *testing.T) {
	calls := 0
	f := func(what, accept string, write func(e *exposition.Encoder) error) {
		t.Helper()
		page := &fakePage{write: write}
		h, out := startHandler(t, testOptions(), showing("fake", page))
		for _, encoding := range []string{"identity", "gzip"} {
			calls = 0
			if _, body, err := tryGet(t.Context(), h.URL+"/metrics", "Accept", accept, "Accept-Encoding", encoding); err == nil {
				t.Errorf("%s: a whole response:\n%s", what, body)
			}
		}
		if page.served.Load() != 0 || !strings.Contains(out.String(), "level=error") {
			t.Errorf("%s: served %d times, logged\n%s", what, page.served.Load(), out)
		}
		if r, _ := get(t, h.URL+"/-/healthy"); r.StatusCode != http.StatusOK {
			t.Errorf("%s: not healthy afterwards", what)
		}
	}
	panics := func(e *exposition.Encoder) error {
		if err := writeLarge(e, 100_000); err != nil {
			return err
		}
		panic("boom")
	}
	for _, accept := range []string{acceptText, acceptOpen, acceptProtobuf} {
		f("panic", accept, panics)
	}
	f("unstable", acceptProtobuf, func(e *exposition.Encoder) error {
		return e.Family(exposition.Family{Name: "unstable_total", Type: exposition.Counter}, func(s *exposition.Series) {
			calls++
			for range calls {
				s.Count("", 1, 0)
			}
		})
	})
}
