// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

// running is an exporter that serves on a port of its own.
type running struct {
	*server
	url  string
	out  *logged
	stop context.CancelFunc
	done chan error
}

func startServer(t *testing.T, o webOptions, collectors ...collector.Collector) *running {
	t.Helper()
	log, out := testLog(t)
	s, err := assemble(o, collectors, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{server: s, out: out, stop: cancel, done: make(chan error, 1)}
	go func() { r.done <- s.run(ctx) }()
	t.Cleanup(cancel)
	listening := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	waitFor(t, "listening", func() bool {
		if m := listening.FindStringSubmatch(out.String()); m != nil {
			r.url = "http://" + m[1]
		}
		return r.url != ""
	})
	return r
}

func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(20 * time.Second):
		buf := make([]byte, 1<<20)
		t.Fatalf("does not end:\n%s", buf[:runtime.Stack(buf, true)])
		return nil
	}
}

func TestReadyOnceTheFirstObservationIsDone(t *testing.T) {
	release := make(chan struct{})
	fake := &fakeCollector{name: "fake"}
	page := &fakePage{}
	var first collector.Client
	fake.see = func(ctx context.Context, c collector.Client) (collector.Page, error) {
		first = c
		<-release
		return page, nil
	}
	r := startServer(t, testOptions(), fake)
	if got, body := get(t, r.url+"/-/ready"); got.StatusCode != http.StatusServiceUnavailable || !bytes.Contains(body, []byte("first observation")) {
		t.Errorf("before: %d %s", got.StatusCode, body)
	}
	if got, _ := get(t, r.url+"/-/healthy"); got.StatusCode != http.StatusOK {
		t.Errorf("not healthy: %d", got.StatusCode)
	}
	close(release)
	waitFor(t, "readiness", func() bool { got, _ := get(t, r.url+"/-/ready"); return got.StatusCode == http.StatusOK })
	if first != (collector.Client{}) || page.served.Load() != 0 {
		t.Errorf("first client %+v, served %d times", first, page.served.Load())
	}
	r.stop()
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}

func TestReadyEvenIfTheFirstObservationFails(t *testing.T) {
	fake := &fakeCollector{name: "fake", see: func(context.Context, collector.Client) (collector.Page, error) { return nil, errors.New("no") }}
	r := startServer(t, testOptions(), fake)
	waitFor(t, "readiness", func() bool { got, _ := get(t, r.url+"/-/ready"); return got.StatusCode == http.StatusOK })
	if !strings.Contains(r.out.String(), `subject="collector fake" err=no`) {
		t.Error("not logged")
	}
}

func TestPages(t *testing.T) {
	f := func(o webOptions, path string, status int, wants ...string) {
		t.Helper()
		h, _ := startHandler(t, o, showing("fake", &fakePage{large: 1}))
		r, body := get(t, h.URL+path)
		if r.StatusCode != status {
			t.Errorf("%s: status %d, want %d", path, r.StatusCode, status)
		}
		for _, want := range wants {
			if !bytes.Contains(body, []byte(want)) {
				t.Errorf("%s: no %q in\n%s", path, want, body)
			}
		}
	}
	plain := testOptions()
	f(plain, "/", http.StatusOK, "pfs_exporter", `href="/metrics"`, `href="/-/healthy"`, `href="/-/ready"`)
	f(plain, "/no/such/page", http.StatusNotFound)
	f(plain, "/metrics/", http.StatusNotFound)
	f(plain, "/metrics", http.StatusOK, "fake_large_total")
	f(plain, "/-/healthy", http.StatusOK, "healthy")
	f(plain, "/debug/pprof/", http.StatusNotFound)
	f(plain, "/debug/pprof/cmdline", http.StatusNotFound)

	other := testOptions()
	other.path, other.pprof = "/lustre/stats", true
	f(other, "/", http.StatusOK, `href="/lustre/stats"`, "debug/pprof/heap")
	f(other, "/lustre/stats", http.StatusOK, "fake_large_total")
	f(other, "/metrics", http.StatusNotFound)
	f(other, "/debug/pprof/", http.StatusOK, "goroutine")
	f(other, "/debug/pprof/cmdline", http.StatusOK)
	f(other, "/debug/pprof/goroutine?debug=1", http.StatusOK, "goroutine profile")
}

func TestShutdownFinishesScrapes(t *testing.T) {
	before := runtime.NumGoroutine()
	release, entered := make(chan struct{}), make(chan struct{}, 2)
	page := &fakePage{large: 1000}
	fake := &fakeCollector{name: "fake", see: func(_ context.Context, c collector.Client) (collector.Page, error) {
		if c.Agent != "" {
			entered <- struct{}{}
			<-release
		}
		return page, nil
	}}
	r := startServer(t, testOptions(), fake)
	type answer struct {
		r    *http.Response
		body []byte
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		response, body, err := tryGet(context.Background(), r.url+"/metrics", "User-Agent", "slow", "Accept", acceptOpen)
		answered <- answer{response, body, err}
	}()
	<-entered
	r.stop()
	waitFor(t, "end of listening", func() bool {
		_, _, err := tryGet(context.Background(), r.url+"/-/healthy")
		return err != nil
	})
	if fake.closed.Load() != 0 {
		t.Error("the collector was closed under a scrape")
	}
	close(release)
	if a := <-answered; a.err != nil || a.r.StatusCode != http.StatusOK || !bytes.HasSuffix(a.body, []byte("# EOF\n")) {
		t.Errorf("the scrape under way ended in %v, %v", a.r, a.err)
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
	if fake.closed.Load() != 1 || page.served.Load() != 1 {
		t.Errorf("closed %d times, served %d times", fake.closed.Load(), page.served.Load())
	}
	waitFor(t, "end of all goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

func TestShutdownDoesNotWaitForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the whole grace")
	}
	entered, stuck := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	fake := &fakeCollector{name: "fake", see: func(_ context.Context, c collector.Client) (collector.Page, error) {
		if c.Agent != "" {
			entered <- struct{}{}
			<-stuck
		}
		return nil, nil
	}}
	r := startServer(t, testOptions(), fake)
	go func() { _, _, _ = tryGet(context.Background(), r.url+"/metrics", "User-Agent", "slow") }()
	<-entered
	began := time.Now()
	r.stop()
	if err := r.end(t); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < shutdownGrace || took > shutdownGrace+closeGrace+time.Second {
		t.Errorf("took %s", took)
	}
	if !strings.Contains(r.out.String(), "broken off") {
		t.Error("not logged")
	}
}

func TestServingFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	f := func(change func(*webOptions), want string) {
		t.Helper()
		o := testOptions()
		change(&o)
		log, _ := testLog(t)
		fake := showing("fake", &fakePage{})
		s, err := assemble(o, []collector.Collector{fake}, log)
		if err != nil {
			t.Fatal(err)
		}
		if err = s.run(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--web.listen-address") {
			t.Errorf("got %v, want something with %q", err, want)
		}
		if fake.closed.Load() != 1 {
			t.Error("the collector was not closed")
		}
	}
	f(func(o *webOptions) { *o.toolkit.WebListenAddresses = []string{taken.Addr().String()} }, "address already in use")
	f(func(o *webOptions) { *o.toolkit.WebListenAddresses = []string{"nonsense"} }, "missing port")
	f(func(o *webOptions) { *o.toolkit.WebConfigFile = filepath.Join(t.TempDir(), "missing.yml") }, "no such file")
}

// Authentication is the toolkit's; that it is in force for every page is ours.
func TestBasicAuthentication(t *testing.T) {
	const hash = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi" // bcrypt of "fakepassword"
	file := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(file, []byte("basic_auth_users:\n  prometheus: "+hash+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := testOptions()
	o.pprof = true
	*o.toolkit.WebConfigFile = file
	r := startServer(t, o, showing("fake", &fakePage{large: 1}))
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	for _, path := range []string{"/metrics", "/", "/-/healthy", "/-/ready", "/debug/pprof/"} {
		for _, wrong := range []string{"", basic("prometheus", "wrong"), basic("nobody", "fakepassword")} {
			if got, _ := get(t, r.url+path, "Authorization", wrong); got.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with %q: status %d", path, wrong, got.StatusCode)
			}
		}
	}
	if got, body := get(t, r.url+"/metrics", "Authorization", basic("prometheus", "fakepassword")); got.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("fake_large_total")) {
		t.Errorf("with the right password: status %d", got.StatusCode)
	}
}

func TestPanicInAPageIsLogged(t *testing.T) {
	log, out := testLog(t)
	h := recovering(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") }), log)
	func() {
		defer func() {
			if cause := recover(); cause != http.ErrAbortHandler { //nolint:errorlint // a panic's value
				t.Errorf("panicked with %v", cause)
			}
		}()
		h.ServeHTTP(nil, &http.Request{URL: mustURL(t, "http://x/page")})
	}()
	if !strings.Contains(out.String(), "path=/page err=boom stack=") {
		t.Errorf("logged %s", out)
	}
}
