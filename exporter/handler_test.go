// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

const (
	acceptText     = "text/plain;version=0.0.4"
	acceptOpen     = "application/openmetrics-text;version=1.0.0"
	acceptProtobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
)

func startHandler(t *testing.T, o webOptions, collectors ...collector.Collector) (*httptest.Server, *logged) {
	t.Helper()
	log, out := testLog(t)
	s, err := assemble(o, collectors, log)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.http.Handler)
	t.Cleanup(h.Close)
	return h, out
}

// get returns a response and its body as sent, without any automatic decompression.
func get(t *testing.T, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, body, err := tryGet(t.Context(), url, header...)
	if err != nil {
		t.Fatal(err)
	}
	return r, body
}

func tryGet(ctx context.Context, url string, header ...string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	r, err := transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return r, body, err
}

// families parses a response. OpenMetrics is the text format as far as its samples go; its comments name
// other families.
func families(t *testing.T, contentType string, body []byte) map[string]*dto.MetricFamily {
	t.Helper()
	found := map[string]*dto.MetricFamily{}
	if strings.HasPrefix(contentType, "application/vnd") {
		decoder := expfmt.NewDecoder(bytes.NewReader(body), expfmt.FmtProtoDelim)
		for {
			family := &dto.MetricFamily{}
			if err := decoder.Decode(family); errors.Is(err, io.EOF) {
				return found
			} else if err != nil {
				t.Fatal(err)
			}
			if found[family.GetName()] != nil {
				t.Errorf("family %s comes twice", family.GetName())
			}
			found[family.GetName()] = family
		}
	}
	if strings.HasPrefix(contentType, "application/openmetrics") {
		body = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAll(body, nil)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	return found
}

func value1(t *testing.T, f *dto.MetricFamily) float64 {
	t.Helper()
	if f == nil || len(f.Metric) != 1 {
		t.Fatalf("want one metric, got %v", f)
	}
	m := f.Metric[0]
	return m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s in time", what)
		}
	}
}

func TestScrapeInEachFormat(t *testing.T) {
	f := func(accept, encoding, wantType string) {
		t.Helper()
		page := &fakePage{large: 5}
		h, _ := startHandler(t, testOptions(), showing("fake", page))
		r, body := get(t, h.URL+"/metrics", "Accept", accept, "Accept-Encoding", encoding)
		if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), wantType) {
			t.Fatalf("%s: status %d, type %q", accept, r.StatusCode, r.Header.Get("Content-Type"))
		}
		if vary := r.Header.Get("Vary"); vary != "Accept, Accept-Encoding" {
			t.Errorf("Vary is %q", vary)
		}
		if zipped := r.Header.Get("Content-Encoding") == "gzip"; zipped != (encoding == "gzip") {
			t.Fatalf("%s: Content-Encoding %q for %q", accept, r.Header.Get("Content-Encoding"), encoding)
		} else if zipped {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		isOpen := strings.HasPrefix(wantType, "application/openmetrics")
		if n := bytes.Count(body, []byte("# EOF\n")); isOpen != (n == 1) || isOpen != bytes.HasSuffix(body, []byte("# EOF\n")) || n > 1 {
			t.Errorf("%s: # EOF comes %d times", accept, n)
		}
		found := families(t, wantType, body)
		if got := value1(t, found["fake_small"]); got != 7 {
			t.Errorf("fake_small is %v", got)
		}
		if got := value1(t, found["pfs_exporter_collector_success"]); got != 1 {
			t.Errorf("success is %v", got)
		}
		for _, name := range []string{"go_goroutines", "process_start_time_seconds", "pfs_exporter_build_info"} {
			if found[name] == nil {
				t.Errorf("%s: no %s", accept, name)
			}
		}
		if large := found["fake_large_total"].GetMetric(); len(large) != 5 {
			t.Errorf("%s: large family %v", accept, large)
		}
		waitFor(t, "Served", func() bool { return page.served.Load() == 1 })
	}
	for _, encoding := range []string{"gzip", "identity"} {
		f(acceptText, encoding, "text/plain; version=0.0.4")
		f(acceptOpen, encoding, "application/openmetrics-text; version=1.0.0")
		f(acceptProtobuf, encoding, "application/vnd.google.protobuf")
	}
}

func TestNoCreatedTimestampsOfOurOwn(t *testing.T) {
	h, _ := startHandler(t, testOptions())
	_, body := get(t, h.URL+"/metrics", "Accept", acceptProtobuf)
	for name, family := range families(t, "application/vnd", body) {
		for _, m := range family.Metric {
			if m.GetCounter().GetCreatedTimestamp() != nil {
				t.Errorf("%s has a created timestamp", name)
			}
		}
	}
}

func TestBareMetrics(t *testing.T) {
	o := testOptions()
	o.bare = true
	h, _ := startHandler(t, o, showing("fake", &fakePage{large: 1}))
	_, body := get(t, h.URL+"/metrics")
	found := families(t, "text", body)
	for name := range found {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "pfs_exporter_scrapes") {
			t.Errorf("%s is there", name)
		}
	}
	for _, name := range []string{"pfs_exporter_build_info", "pfs_exporter_collector_success", "fake_large_total"} {
		if found[name] == nil {
			t.Errorf("no %s", name)
		}
	}
}

func TestHeadAndOtherMethods(t *testing.T) {
	page := &fakePage{large: 1}
	fake := showing("fake", page)
	h, _ := startHandler(t, testOptions(), fake)
	r, err := http.Head(h.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("HEAD: %d, %q", r.StatusCode, r.Header.Get("Content-Type"))
	}
	for _, path := range []string{"/metrics", "/-/healthy", "/-/ready", "/"} {
		r, err := http.Post(h.URL+path, "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d, Allow %q", path, r.StatusCode, r.Header.Get("Allow"))
		}
	}
	if fake.asked.Load() != 0 || page.served.Load() != 0 {
		t.Errorf("observed %d times, served %d times", fake.asked.Load(), page.served.Load())
	}
}

func TestClientAndDeadlineReachCollectors(t *testing.T) {
	var client collector.Client
	var left time.Duration
	fake := &fakeCollector{name: "fake", see: func(ctx context.Context, c collector.Client) (collector.Page, error) {
		client = c
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return nil, nil
	}}
	h, _ := startHandler(t, testOptions(), fake)
	get(t, h.URL+"/metrics", timeoutHeader, "10", "User-Agent", "Prometheus/3.15.0")
	if client.Agent != "Prometheus/3.15.0" || !client.Scraper || !strings.HasPrefix(client.Addr, "127.0.0.1:") {
		t.Errorf("client is %+v", client)
	}
	if left > 9500*time.Millisecond || left < 5*time.Second {
		t.Errorf("%s to observe", left)
	}
	get(t, h.URL+"/metrics", "User-Agent", "curl/8")
	if client.Agent != "curl/8" || client.Scraper {
		t.Errorf("client is %+v", client)
	}
}

func TestTooManyScrapes(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{})
	fake := &fakeCollector{name: "fake", see: func(context.Context, collector.Client) (collector.Page, error) {
		entered <- struct{}{}
		<-release
		return nil, nil
	}}
	o := testOptions()
	o.maxRequests = 1
	h, _ := startHandler(t, o, fake)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = tryGet(context.Background(), h.URL+"/metrics")
	}()
	<-entered
	if r, body := get(t, h.URL+"/metrics"); r.StatusCode != http.StatusServiceUnavailable || !bytes.Contains(body, []byte("--web.max-requests")) {
		t.Errorf("got %d, %s", r.StatusCode, body)
	}
	close(release)
	<-done
	go func() { <-entered }()
	r, body := get(t, h.URL+"/metrics")
	if r.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`pfs_exporter_scrapes_total{result="refused"} 1`)) {
		t.Errorf("afterwards: %d\n%s", r.StatusCode, body)
	}
}
