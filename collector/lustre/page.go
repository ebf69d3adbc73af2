// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// descriptions are those of the small families; design.md section 3 is the contract.
type descriptions struct {
	entries, folded, resets, unparsed *prometheus.Desc
	up, duration, bytes, cleanup      *prometheus.Desc
	info                              *prometheus.Desc
}

func newDescriptions() descriptions {
	of := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"target"}, labels...), nil)
	}
	return descriptions{
		entries:  of("lustre_jobstats_entries", "Entries in the last complete read of job_stats, by class of their identifier and kind of their user.", "class", "users"),
		folded:   of("lustre_jobstats_folded_entries", "Living entries without series of their own, which are added up in folded series, and why.", "reason"),
		resets:   of("lustre_jobstats_resets_total", "Entries that began anew, and counters that fell alone."),
		unparsed: of("lustre_jobstats_unparsed_lines_total", "Lines and entries of job_stats that could not be used."),
		up:       of("lustre_jobstats_target_up", "1 if the last read of the target's job_stats was complete, 0 if not."),
		duration: of("lustre_jobstats_read_duration_seconds", "How long the last read of the target's job_stats took."),
		bytes:    of("lustre_jobstats_text_bytes", "Length of the target's job_stats at the last read."),
		cleanup:  of("lustre_jobstats_cleanup_interval_seconds", "The target's job_cleanup_interval: how long idle entries live; 0 means for ever."),
		info:     of("lustre_target_info", "A target of this server: its file system, and whether it holds metadata (mdt) or data (ost). Always 1.", "fs", "kind"),
	}
}

// page is what one client is shown of an observation.
type page struct {
	c       *Collector
	o       *observation
	receipt ledger.Receipt
}

var _ collector.Page = (*page)(nil)

// Served implements collector.Page.
func (p *page) Served() { p.c.ledger.Served(p.receipt, p.o.sheet) }

// Collect implements collector.Page.
func (p *page) Collect(ch chan<- prometheus.Metric) {
	for i := range p.o.sheet.Targets {
		if t := &p.o.sheet.Targets[i]; t.Mounted {
			p.collectTarget(ch, t)
		}
	}
}

func (p *page) collectTarget(ch chan<- prometheus.Metric, t *ledger.TargetSheet) {
	read, found := p.o.reads[t.Name]
	if !found {
		return // looking for targets failed this time, so nothing is known of this one
	}
	d := &p.c.desc
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{t.Name}, labels...)...)
	}
	counter := func(desc *prometheus.Desc, value uint64) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), t.Name)
	}
	gauge(d.info, 1, source.Target{Name: t.Name}.FS(), t.Kind)
	counter(d.resets, t.Resets)
	counter(d.unparsed, p.o.unparsed[t.Name])
	if read.expires {
		gauge(d.cleanup, read.interval.Seconds())
	}
	if !t.Readable {
		gauge(d.up, 0)
		return
	}
	gauge(d.up, 1)
	gauge(d.duration, read.duration.Seconds())
	gauge(d.bytes, float64(read.bytes))
	classes := p.c.cfg.Ledger.Identifier.Classes()
	for _, e := range t.Entries {
		gauge(d.entries, float64(e.Count), classes[e.Class], e.Users.String())
	}
	for _, f := range t.Folded {
		if f.Reason == ledger.DropReason {
			continue // the policy's doing, and part of no sum; lustre_jobstats_entries has them
		}
		gauge(d.folded, float64(f.Count), f.Reason.String())
	}
}
