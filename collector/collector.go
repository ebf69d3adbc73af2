// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package collector says what every collector of pfs_exporter is: it observes one subsystem when a
// client asks, and gives a page of what it then knows.
package collector

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
)

// Client is who asks. Collectors that show a value only after its zero was seen need to know.
type Client struct {
	// Addr is the remote address with port; Agent the user agent.
	Addr, Agent string
	// Scraper is true for a client that stores what it gets: it sent a scrape timeout.
	Scraper bool
}

// Collector observes one subsystem. It is safe for concurrent use.
type Collector interface {
	// Name is the value of the label collector.
	Name() string
	// Observe looks at the subsystem, or shares an observation that is under way. It returns when
	// ctx ends at the latest. A page may come together with an error that says what is missing.
	Observe(ctx context.Context, c Client) (Page, error)
	// Close ends everything that the collector started.
	Close()
}

// Page is what one client is to be shown.
type Page interface {
	// Collect sends the small families, for client_golang's registry.
	Collect(ch chan<- prometheus.Metric)
	// WriteFamilies writes the large families. It may be called for one response only.
	WriteFamilies(e *exposition.Encoder) error
	// Served is called once the response that carried the page was written in full.
	Served()
}
