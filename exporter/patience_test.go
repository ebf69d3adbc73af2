// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"testing"
	"time"
)

func TestPatienceOfClients(t *testing.T) {
	f := func(header string, offset, observe, write time.Duration) {
		t.Helper()
		h := http.Header{}
		if header != "" {
			h.Set("X-Prometheus-Scrape-Timeout-Seconds", header)
		}
		if got, want := patienceOf(h, offset), (patience{observe, write}); got != want {
			t.Errorf("header %q, offset %s: got %+v, want %+v", header, offset, got, want)
		}
		if isScraper(h) != (header != "") {
			t.Errorf("header %q: scraper is %v", header, isScraper(h))
		}
	}
	const half = 500 * time.Millisecond
	f("10", half, 9500*time.Millisecond, 10*time.Second)
	f("10.000000", half, 9500*time.Millisecond, 10*time.Second)
	f("1e1", half, 9500*time.Millisecond, 10*time.Second)
	f("10", 0, 10*time.Second, 10*time.Second)
	// An offset that would leave nothing leaves half.
	f("0.6", half, 300*time.Millisecond, 600*time.Millisecond)
	f("10", time.Minute, 5*time.Second, 10*time.Second)
	// What cannot be a timeout is none.
	for _, bad := range []string{"", "x", "0", "-5", "NaN", "Inf", "-Inf", "1e300", "0.0000001", "3601", "10s", "10,5"} {
		f(bad, half, time.Minute-half, time.Minute)
	}
}

func TestGraceIsPartOfTheTimeForWriting(t *testing.T) {
	f := func(observe, write, want time.Duration) {
		t.Helper()
		if got := (patience{observe, write}).grace(); got != want {
			t.Errorf("observe %s, write %s: got %s, want %s", observe, write, got, want)
		}
	}
	f(9500*time.Millisecond, 10*time.Second, 250*time.Millisecond)
	f(100*time.Millisecond, 200*time.Millisecond, 50*time.Millisecond)
	f(5*time.Second, 10*time.Second, 250*time.Millisecond)
	f(10*time.Second, 10*time.Second, 10*time.Millisecond)
}
