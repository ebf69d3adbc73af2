// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pfs-exporter/pfs_exporter/demo/rig"
)

// recorded are the series of rules/ that the demo shows, per user and target.
type recorded struct {
	window                    string // as PromQL and the names write it
	metadata, metadataShare   string
	operations                string
	bandwidth, bandwidthShare string
}

func recordedFor(window time.Duration) recorded {
	w := model.Duration(window).String()
	return recorded{
		window:         w,
		operations:     "uid_target:lustre_operations:rate" + w,
		metadata:       "uid_target:lustre_metadata_load:rate" + w,
		metadataShare:  "uid_target:lustre_metadata_load:share",
		bandwidth:      "uid_target_operation:lustre_bytes:rate" + w,
		bandwidthShare: "uid_target_operation:lustre_bytes:share",
	}
}

// people leaves out the folded series, which are no users.
const people = `{uid!~"|system|unknown"}`

// rows is how many users a table shows.
const rows = 6

// view collects a frame; the first error ends up in it instead of the rest.
type view struct {
	b      strings.Builder
	prom   rig.Prometheus
	err    error
	every  time.Duration
	series recorded
}

func (v *view) query(ctx context.Context, format string, args ...any) []rig.Sample {
	if v.err != nil {
		return nil
	}
	var samples []rig.Sample
	samples, v.err = v.prom.Query(ctx, fmt.Sprintf(format, args...))
	slices.SortFunc(samples, func(a, b rig.Sample) int { return cmp.Compare(b.Value, a.Value) })
	return samples
}

// index finds samples by some of their labels.
func index(samples []rig.Sample, labels ...string) map[string]rig.Sample {
	m := make(map[string]rig.Sample)
	for _, s := range samples {
		m[key(s, labels...)] = s
	}
	return m
}

func key(s rig.Sample, labels ...string) string {
	var k []string
	for _, l := range labels {
		k = append(k, s.Labels[l])
	}
	return strings.Join(k, "\x00")
}

// look asks Prometheus and Alertmanager for everything a frame shows.
func look(ctx context.Context, stack *rig.Stack, x *incidents, events *journal) string {
	v := &view{prom: stack.Prometheus, every: x.options.rig.Scrape, series: x.series}
	v.head(ctx, len(stack.Exporters))
	v.metadata(ctx)
	v.bandwidth(ctx)
	v.alerts(ctx, stack.Alerts)
	v.b.WriteString("\nwhat happened\n")
	for _, line := range events.recent() {
		v.b.WriteString("  " + line + "\n")
	}
	v.where(stack, x.next)
	if v.err != nil && ctx.Err() == nil {
		fmt.Fprintf(&v.b, "\n%s\n", inert(v.err.Error()))
	}
	return v.b.String()
}

func (v *view) head(ctx context.Context, exporters int) {
	up := v.query(ctx, `sum(up{job="lustre"})`)
	entries := v.query(ctx, "sum(lustre_jobstats_entries)")
	series := v.query(ctx, `sum(scrape_samples_scraped{job="lustre"})`)
	fmt.Fprintf(&v.b, "%s  %s of %d exporters up, scraped every %v: %s Jobstats entries, %s series\n",
		time.Now().Format(time.TimeOnly), one(up), exporters, v.every, one(entries), one(series))
}

func one(samples []rig.Sample) string {
	if len(samples) == 0 {
		return "no"
	}
	return plain(samples[0].Value)
}

// metadata is a table of the users who keep most threads of the metadata servers busy.
func (v *view) metadata(ctx context.Context) {
	top := v.query(ctx, "topk(%d, %s%s > 0)", rows, v.series.metadata, people)
	shares := index(v.query(ctx, "%s", v.series.metadataShare), "uid", "target")
	operations := index(v.query(ctx, "%s", v.series.operations), "uid", "target")
	jobs := v.jobs(ctx, top)
	var lines [][]string
	for _, s := range top {
		k := key(s, "uid", "target")
		lines = append(lines, append([]string{
			s.Labels["uid"], s.Labels["target"], plain(s.Value), percent(shares[k].Value), plain(operations[k].Value) + "/s",
		}, jobs(s)...))
	}
	v.b.WriteString("\nheaviest users of metadata, by the server threads they keep busy\n")
	table(&v.b, []string{"uid", "target", "threads", "share", "operations", "top job", "nodes"},
		[]bool{false, false, true, true, true, true, true}, lines)
}

// bandwidth is a table of the users who move most bytes.
func (v *view) bandwidth(ctx context.Context) {
	top := v.query(ctx, "topk(%d, %s%s > 0)", rows, v.series.bandwidth, people)
	shares := index(v.query(ctx, "%s", v.series.bandwidthShare), "uid", "target", "operation")
	jobs := v.jobs(ctx, top)
	var lines [][]string
	for _, s := range top {
		lines = append(lines, append([]string{
			s.Labels["uid"], s.Labels["target"], s.Labels["operation"], plain(s.Value) + "B/s",
			percent(shares[key(s, "uid", "target", "operation")].Value),
		}, jobs(s)...))
	}
	v.b.WriteString("\nheaviest users of bandwidth\n")
	table(&v.b, []string{"uid", "target", "operation", "rate", "share", "top job", "nodes"},
		[]bool{false, false, false, true, true, true, true}, lines)
}

// jobs finds the job that asks most, and how many nodes ask, of some users: from the raw counters, but of these users
// alone. Who has no job shows a dash.
func (v *view) jobs(ctx context.Context, of []rig.Sample) func(rig.Sample) []string {
	var uids []string
	for _, s := range of {
		uids = append(uids, s.Labels["uid"])
	}
	raw := fmt.Sprintf("rate(lustre_job_operations_total{uid=~%q}[%s])", strings.Join(uids, "|"), v.series.window)
	jobs := index(v.query(ctx, "topk by (uid, target) (1, sum by (uid, target, jobid) (%s))", raw), "uid", "target")
	nodes := index(v.query(ctx, "count by (uid, target) (count by (uid, target, nodename) (%s > 0))", raw), "uid", "target")
	return func(s rig.Sample) []string {
		k := key(s, "uid", "target")
		return []string{cmp.Or(inert(jobs[k].Labels["jobid"]), "-"), plain(nodes[k].Value)}
	}
}

func (v *view) alerts(ctx context.Context, am rig.Alertmanager) {
	v.b.WriteString("\nalerts\n")
	alerts, err := am.Alerts(ctx)
	if err != nil {
		v.err = cmp.Or(v.err, err)
		return
	}
	if len(alerts) == 0 {
		v.b.WriteString("  none\n")
	}
	for _, a := range alerts {
		state := a.Labels["severity"]
		if len(a.Status.InhibitedBy) > 0 {
			state += ", inhibited"
		}
		fmt.Fprintf(&v.b, "  %s (%s) %s\n", a.Labels["alertname"], state, inert(a.Annotations["summary"]))
	}
}

// where says where to look further. The pinned Prometheus has an API but no pages.
func (v *view) where(stack *rig.Stack, next time.Time) {
	ask := string(stack.Prometheus) + "/api/v1/query?query=" + url.QueryEscape("topk(5, "+v.series.metadata+")")
	fmt.Fprintf(&v.b, "\nnext incident in %v; where to look:\n", max(0, time.Until(next)).Round(time.Second))
	fmt.Fprintf(&v.b, "  Alertmanager  %s\n  Prometheus    %s (API: curl '%s')\n", stack.Alerts, stack.Prometheus, ask)
	for _, name := range slices.Sorted(maps.Keys(stack.Exporters)) {
		fmt.Fprintf(&v.b, "  %-12s  http://%s/metrics\n", name, stack.Exporters[name].Address)
	}
}

// plain writes a number with the digits that matter, and never with an exponent.
func plain(x float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e5, " k"}} {
		if x >= unit.size {
			size := unit.size
			if unit.name == " k" {
				size = 1e3
			}
			return strconv.FormatFloat(x/size, 'f', 1, 64) + unit.name
		}
	}
	switch {
	case x >= 10 || x == float64(int64(x)):
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x < 0.001:
		return "< 0.001"
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 0, 64) + "%" }
