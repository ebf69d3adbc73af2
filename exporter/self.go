// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	versioncollector "github.com/prometheus/client_golang/prometheus/collectors/version"
)

// selfRegistry has the metrics about this process; bare, only which version it is.
func selfRegistry(s *scrapeCounts, bare bool) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(versioncollector.NewCollector(program))
	if !bare {
		r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), s)
	}
	return r
}

// scrapeCounts says how scrapes end. It makes const metrics, because client_golang's own counters carry
// created timestamps, which this exporter sends only where it was told to.
type scrapeCounts struct {
	inFlight                   atomic.Int64
	complete, aborted, refused atomic.Int64
	total, now                 *prometheus.Desc
}

func newScrapeCounts() *scrapeCounts {
	return &scrapeCounts{
		total: prometheus.NewDesc("pfs_exporter_scrapes_total",
			"Scrapes by how they ended: complete, aborted (the client left or did not read), refused (--web.max-requests).", []string{"result"}, nil),
		now: prometheus.NewDesc("pfs_exporter_scrapes_in_flight", "Scrapes being served, this one included.", nil, nil),
	}
}

// Describe is part of prometheus.Collector.
func (s *scrapeCounts) Describe(ch chan<- *prometheus.Desc) {
	ch <- s.total
	ch <- s.now
}

// Collect is part of prometheus.Collector.
func (s *scrapeCounts) Collect(ch chan<- prometheus.Metric) {
	count := func(n *atomic.Int64, result string) {
		ch <- prometheus.MustNewConstMetric(s.total, prometheus.CounterValue, float64(n.Load()), result)
	}
	count(&s.complete, "complete")
	count(&s.aborted, "aborted")
	count(&s.refused, "refused")
	ch <- prometheus.MustNewConstMetric(s.now, prometheus.GaugeValue, float64(s.inFlight.Load()))
}
