// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

// unchecked is a collector whose metrics are known only when they are collected.
type unchecked func(ch chan<- prometheus.Metric)

func (unchecked) Describe(chan<- *prometheus.Desc) {}

func (u unchecked) Collect(ch chan<- prometheus.Metric) { u(ch) }

// verdicts are the metrics about the collectors themselves.
type verdicts struct{ success, duration *prometheus.Desc }

func newVerdicts() verdicts {
	label := []string{"collector"}
	return verdicts{
		success: prometheus.NewDesc("pfs_exporter_collector_success",
			"Whether the collector observed all that it should (1) or not (0).", label, nil),
		duration: prometheus.NewDesc("pfs_exporter_collector_duration_seconds",
			"Time that the collector took for this scrape, waiting for a shared observation included.", label, nil),
	}
}

func (v verdicts) collect(ch chan<- prometheus.Metric, results []result) {
	for _, r := range results {
		success := 1.0
		if r.err != nil {
			success = 0
		}
		ch <- prometheus.MustNewConstMetric(v.success, prometheus.GaugeValue, success, r.name)
		ch <- prometheus.MustNewConstMetric(v.duration, prometheus.GaugeValue, r.took.Seconds(), r.name)
	}
}

// renderSmall encodes the families that client_golang gathers: the process' own, the verdicts and the
// small ones of each page. What cannot be gathered or encoded is left out and told in the error.
func renderSmall(format expfmt.Format, self prometheus.Gatherer, v verdicts, results []result) ([]byte, error) {
	request := prometheus.NewRegistry()
	var errs []error
	register := func(u unchecked) { errs = append(errs, request.Register(u)) }
	register(func(ch chan<- prometheus.Metric) { v.collect(ch, results) })
	for _, page := range pagesOf(results) {
		register(page.Collect)
	}
	families, err := prometheus.Gatherers{self, request}.Gather()
	errs = append(errs, err)

	var out bytes.Buffer
	encoder := expfmt.NewEncoder(&out, format)
	for _, family := range families {
		whole := out.Len()
		if err := encoder.Encode(family); err != nil {
			out.Truncate(whole)
			errs = append(errs, fmt.Errorf("encoding %s: %w", family.GetName(), err))
		}
	}
	return out.Bytes(), errors.Join(errs...)
}

// pagesOf returns what there is to show. A collector that failed may still have a page.
func pagesOf(results []result) []collector.Page {
	var pages []collector.Page
	for _, r := range results {
		if r.page != nil {
			pages = append(pages, r.page)
		}
	}
	return pages
}
