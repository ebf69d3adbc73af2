// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strconv"
	"time"
)

// timeoutHeader is what Prometheus announces its scrape_timeout in, in seconds.
const timeoutHeader = "X-Prometheus-Scrape-Timeout-Seconds"

// defaultPatience is how long clients are served that announce no timeout, and the longest that is believed.
const (
	defaultPatience = time.Minute
	longestPatience = time.Hour

	minGrace, maxGrace = 10 * time.Millisecond, 250 * time.Millisecond
)

// patience is how long a client waits.
type patience struct {
	// observe is when what was not observed is left out, write when the whole response must be out.
	observe, write time.Duration
}

// patienceOf reads the announced timeout. Half of it is for observing at least, however large the offset.
func patienceOf(h http.Header, offset time.Duration) patience {
	p := patience{write: defaultPatience}
	// The limits also keep out what is no number of seconds: 0, -1, NaN, Inf.
	if seconds, err := strconv.ParseFloat(h.Get(timeoutHeader), 64); err == nil && seconds >= 0.001 && seconds <= longestPatience.Seconds() {
		p.write = time.Duration(seconds * float64(time.Second))
	}
	p.observe = max(p.write-offset, p.write/2)
	return p
}

// grace is how long after the observation's end late collectors are still waited for: some of what is left
// for writing.
func (p patience) grace() time.Duration {
	return max(minGrace, min(maxGrace, (p.write-p.observe)/2))
}

// isScraper tells a Prometheus, which stores what it gets, from a person.
func isScraper(h http.Header) bool { return h.Get(timeoutHeader) != "" }
