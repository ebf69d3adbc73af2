// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pfs-exporter/pfs_exporter/demo/rig"
	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// kind is a way to be found out.
type kind struct {
	what      string
	target    string
	operation string
	rate      float64 // operations per second
}

// kinds take turns.
var kinds = []kind{
	{"metadata storm", "scratch-MDT0000", "getattr", 40000},
	{"bandwidth hog", "scratch-OST0001", "write", 3000},
	{"storm of temporary files", "scratch-MDT0001", "mknod", 4000},
}

// firstUID is whom the first incident is blamed on; each has a user of its own, so that being seen cannot be chance.
const firstUID = 21001

// incident is what one user does, and when it was noticed.
type incident struct {
	kind
	uid, job string
	start    time.Time
	ends     time.Time
	seen     time.Time // the recorded series named the user as the heaviest
	alerted  time.Time // Alertmanager held an alert that names the user
	late     bool
}

// incidents causes one after the other.
type incidents struct {
	options options
	cluster *rig.Cluster
	stack   *rig.Stack
	events  *journal
	series  recorded
	next    time.Time
	all     []*incident
}

// step causes the next incident when it is time, and looks whether those of the past were noticed.
func (x *incidents) step(ctx context.Context, now time.Time) error {
	if !now.Before(x.next) {
		if err := x.cause(); err != nil {
			return err
		}
		x.next = now.Add(x.options.incident + x.options.quiet)
	}
	if len(x.all) == 0 {
		return nil
	}
	i := x.all[len(x.all)-1]
	if i.seen.IsZero() {
		if err := x.see(ctx, i); err != nil {
			return err
		}
	}
	if i.alerted.IsZero() {
		return x.hear(ctx, i)
	}
	return nil
}

func (x *incidents) cause() error {
	n := len(x.all)
	i := &incident{kind: kinds[n%len(kinds)]}
	uid := uint32(firstUID + n)
	i.uid = strconv.FormatUint(uint64(uid), 10)
	err := x.cluster.Do(func(c *simulator.Cluster) (err error) {
		i.start = time.Now()
		i.job, err = c.InjectStorm(uid, i.target, i.operation, i.rate, x.options.incident)
		return err
	})
	if err != nil {
		return fmt.Errorf("causing an incident: %w", err)
	}
	i.ends = i.start.Add(x.options.incident)
	x.all = append(x.all, i)
	x.events.add(i.start, "%s begins: uid %s, job %s, %g %s/s on %s for %v", i.what, i.uid, i.job, i.rate, i.operation, i.target,
		x.options.incident)
	return nil
}

// limit is within how long the user must be seen.
func (x *incidents) limit() time.Duration { return 3 * x.options.rig.Scrape }

// see asks Prometheus for the heaviest user of the target.
func (x *incidents) see(ctx context.Context, i *incident) error {
	series := x.series.metadata
	if i.operation == "read" || i.operation == "write" {
		series = x.series.bandwidth
	}
	top, err := x.stack.Prometheus.Query(ctx, fmt.Sprintf("topk(1, sum by (uid) (%s{target=%q}))", series, i.target))
	if err != nil {
		return err
	}
	now := time.Now()
	took := now.Sub(i.start)
	switch {
	case len(top) == 1 && top[0].Labels["uid"] == i.uid:
		i.seen = now
		x.events.add(now, "Prometheus names uid %s as the heaviest user of %s, %s after the start", i.uid, i.target, x.measure(took))
	case took > x.limit() && !i.late:
		i.late = true
		x.events.add(now, "Prometheus does not name uid %s yet, three scrape intervals after the start", i.uid)
	}
	return nil
}

// hear asks Alertmanager for an alert about the user.
func (x *incidents) hear(ctx context.Context, i *incident) error {
	alerts, err := x.stack.Alerts.Alerts(ctx)
	if err != nil {
		return err
	}
	for _, a := range alerts {
		if names(a, i.uid) {
			i.alerted = time.Now()
			x.events.add(i.alerted, "alert %s names uid %s, %s after the start", a.Labels["alertname"], i.uid,
				x.measure(i.alerted.Sub(i.start)))
			return nil
		}
	}
	return nil
}

// names tells whether an alert is about the user, or has the user in its text.
func names(a rig.Alert, uid string) bool {
	if a.Labels["uid"] == uid {
		return true
	}
	for _, text := range a.Annotations {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
			if word == uid {
				return true
			}
		}
	}
	return false
}

// measure says how long something took, in seconds and scrape intervals.
func (x *incidents) measure(d time.Duration) string {
	return fmt.Sprintf("%.1f s (%.1f scrape intervals)", d.Seconds(), d.Seconds()/x.options.rig.Scrape.Seconds())
}

// verdict prints what became of each incident; strict makes a user who was not seen in time an error.
func (x *incidents) verdict(out *screen, strict bool) error {
	out.finish()
	missed := 0
	fmt.Fprintf(out, "\n%d incidents; the user was to be seen within %v\n", len(x.all), x.limit())
	for _, i := range x.all {
		seen, alerted := "not seen", "no alert"
		if !i.seen.IsZero() {
			seen = "seen after " + x.measure(i.seen.Sub(i.start))
		}
		if !i.alerted.IsZero() {
			alerted = "alert after " + x.measure(i.alerted.Sub(i.start))
		}
		if i.seen.IsZero() && time.Since(i.start) > x.limit() || i.seen.Sub(i.start) > x.limit() {
			missed++
			seen += ", TOO LATE"
		}
		fmt.Fprintf(out, "  uid %s, %s on %s: %s, %s\n", i.uid, i.what, i.target, seen, alerted)
	}
	if strict && missed > 0 {
		return fmt.Errorf("%w: %d of %d", errMissed, missed, len(x.all))
	}
	return nil
}
