// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
)

// prometheus stores what it is shown and adds up increases as rate() and increase() do.
type prometheus struct {
	client     Client
	offset     time.Duration
	next       time.Duration
	last       map[series]sample
	sum        tally
	byHost     [2]tally
	got        [2]map[string]int // the last observation that a response with a target was of
	lost       int               // responses lost in a row
	trace      *tracer
	jobSeconds bool
}

// series identifies what Prometheus stores; the server's instance label is the host.
type series struct {
	host   int
	target string
	user   bool
	labels jobid.Labels
	key    Key
}

func (s series) work() work { return work{s.target, s.labels.Get(jobid.UID), s.key} }

type sample struct {
	value uint64
	at    time.Duration
}

// store takes one response in. With created timestamps it injects zeros as
// created-timestamp-zero-ingestion does.
func (p *prometheus) store(host int, s *Sheet, w *world) {
	for i := range s.Targets {
		t := &s.Targets[i]
		if !t.Shown {
			continue
		}
		p.got[host][t.Name] = w.observations
		p.storeRows(series{host: host, target: t.Name}, &t.Jobs, w.now, w.epoch)
		if p.jobSeconds {
			continue // server time is in both; here that of the entries is added up
		}
		p.storeRows(series{host: host, target: t.Name, user: true}, &t.Users, w.now, w.epoch)
	}
}

func (p *prometheus) storeRows(s series, rows *Rows, now time.Duration, epoch time.Time) {
	for i := range rows.Len() {
		labels, cells, created := rows.Row(i)
		for c, cell := range cells {
			born := time.Duration(0)
			if created != nil && created[c] != 0 {
				born = time.UnixMilli(created[c]).Sub(epoch)
			}
			s.labels, s.key = labels, cell.Key
			p.append(s, cell.Count, born, now)
		}
	}
}

// append adds a sample to a series. A value below the last is a reset: all of it is an increase. The
// first sample of a series is none.
func (p *prometheus) append(s series, v uint64, born, now time.Duration) {
	last, known := p.last[s]
	if born != 0 && born < now && (!known || born > last.at) {
		last, known = sample{0, born}, true
	}
	increase := uint64(0)
	switch {
	case known && v >= last.value:
		increase = v - last.value
	case known:
		increase = v
	}
	if increase > 0 {
		p.sum[s.work()] += increase
		p.byHost[s.host][s.work()] += increase
	}
	if p.trace != nil && (!known || increase > 0 || v < last.value) {
		p.trace.log(s.host, s.work(), "%s stores %d, adds %d: %v", p.client.Addr, v, increase, s.labels.Values())
	}
	p.last[s] = sample{v, now}
}

// tracer logs what happens to one counter of one user: PFS_TRACE="0 fs-OST0000 1000 256" with
// PFS_SEED and -run of one scenario.
type tracer struct {
	t    *testing.T
	now  *time.Duration
	want string
}

func (x *tracer) log(host int, w work, format string, args ...any) {
	if x == nil || fmt.Sprint(host, " ", w.target, " ", w.uid, " ", uint16(w.key)) != x.want {
		return
	}
	x.t.Logf("%s "+format, append([]any{*x.now}, args...)...)
}

func (x *tracer) all(format string, args ...any) {
	if x != nil {
		x.t.Logf("%s "+format, append([]any{*x.now}, args...)...)
	}
}
