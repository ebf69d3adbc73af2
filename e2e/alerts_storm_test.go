// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/demo/rig"
	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// The storm: load far above the floor of LustreUserMetadataHog (0.1 busy threads; a getattr takes some 40 us), weighted
// operations below the ceiling of 20,000 per second.
const (
	stormUID    = 23456
	stormTarget = "scratch-MDT0000"
	stormRate   = 12000.
	stormLength = 20 * time.Second
)

// TestStorm lets one user hammer an MDT. The real Alertmanager must name the user, the job and the nodes, and forget it
// afterwards. What is no incident (clear, an exporter that restarts, a failover) must raise nothing before, and invent
// nothing during it.
func TestStorm(t *testing.T) {
	t.Parallel()
	s := newSite(t, quick(time.Second),
		// A quiet cluster: alone, it stays under every floor by a factor of 5.
		simulator.Config{Seed: 5, MDTs: 2, OSTs: 2, Users: 8, Entries: 15, NoTruth: true}, tick,
		map[string][]string{"mds1": {"scratch-MDT0000", "scratch-OST0000"}, "oss1": {"scratch-MDT0001", "scratch-OST0001"}})
	start := time.Now()
	s.must(s.Start(t.Context()))

	// The baselines end ten scaled minutes ago.
	within(t, time.Minute, "a baseline", func() error {
		if s.value(`count(target:lustre_metadata_load:median1d)`) < 2 {
			return errors.New("no median of the metadata load of both MDTs")
		}
		return nil
	})
	s.disturb()
	s.watch(12 * time.Second) // longer than anything that a disturbance could start waits to fire
	s.silent("before the storm", start)

	var job string
	s.change(func(c *simulator.Cluster) (err error) {
		job, err = c.InjectStorm(stormUID, stormTarget, "getattr", stormRate, stormLength)
		return err
	})
	began := time.Now()
	var alert rig.Alert
	within(t, stormLength, "an alert about the storm", func() (err error) {
		alert, err = s.hog()
		return err
	})
	t.Logf("Alertmanager has the alert %.1f s after the start of the storm", time.Since(began).Seconds())
	s.checkText(alert, job)
	s.change(func(c *simulator.Cluster) error { return c.Clear(stormTarget) })
	s.restart("mds1")

	s.watch(time.Until(began.Add(stormLength)))
	within(t, 90*time.Second, "the end of all alerts", func() error {
		if left := s.active(); len(left) > 0 {
			return fmt.Errorf("Alertmanager still has %d, the first of them: %s", len(left), left[0].Annotations["summary"])
		}
		return nil
	})
	t.Logf("the last alert was resolved %.1f s after the end of the storm", time.Since(began.Add(stormLength)).Seconds())
	s.checkFired(start)
	if most := s.value(`max_over_time(uid_target:lustre_metadata_weighted:rate6s{uid="%d", target=%q}[5m])`, stormUID, stormTarget); most > 1.3*stormRate || most < .7*stormRate {
		t.Errorf("the user was shown with up to %.0f getattrs/s, and did %.0f", most, stormRate)
	}
}

// disturb does what happens on any day.
func (s *site) disturb() {
	s.t.Helper()
	for _, target := range []string{"scratch-MDT0000", "scratch-OST0001"} {
		s.change(func(c *simulator.Cluster) error { return c.Clear(target) })
	}
	s.watch(2 * time.Second)
	s.restart("oss1")
	s.watch(3 * time.Second)
	// A failover: the target is away for a moment, and comes back empty on the other server.
	s.change(func(c *simulator.Cluster) error { return c.Unmount("scratch-MDT0001") })
	s.must(s.servers.Unmount("oss1", "scratch-MDT0001"))
	s.watch(2 * time.Second)
	s.change(func(c *simulator.Cluster) error { return c.Mount("scratch-MDT0001") })
	s.must(s.servers.Mount("mds1", "scratch-MDT0001"))
	within(s.t, 15*time.Second, "the target on the other server", func() error {
		if s.value(`count(lustre_jobstats_target_up{target="scratch-MDT0001", instance=%q} == 1)`, s.Exporters["mds1"].Address) != 1 {
			return errors.New("Prometheus does not see it there")
		}
		return nil
	})
}

// restart ends an exporter and starts it again, as an update does.
func (s *site) restart(server string) {
	s.t.Helper()
	s.must(s.Exporters[server].Stop())
	s.must(s.RestartExporter(s.t.Context(), server))
}

// hog finds the alert about the user.
func (s *site) hog() (rig.Alert, error) {
	s.t.Helper()
	alerts := s.active()
	i := slices.IndexFunc(alerts, func(a rig.Alert) bool { return a.Labels["alertname"] == "LustreUserMetadataHog" })
	if i < 0 {
		return rig.Alert{}, fmt.Errorf("%d other alerts", len(alerts))
	}
	return alerts[i], nil
}

// checkText looks for the user, the job and the nodes, and for the command that ends it.
func (s *site) checkText(a rig.Alert, job string) {
	s.t.Helper()
	uid := fmt.Sprint(stormUID)
	for label, want := range map[string]string{"uid": uid, "target": stormTarget, "severity": "warning", "cluster": "lustre"} {
		if got := a.Labels[label]; got != want {
			s.t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	for name, wants := range map[string][]string{
		"summary":      {"uid " + uid, stormTarget},
		"users":        {"uid " + uid, "job " + job},
		"jobs":         {"job " + job},
		"throttle":     {"lctl set_param mds.MDS.mdt.nrs_tbf_rule=", "uid={" + uid + "}"},
		"throttle_job": {"jobid={" + job + ":*}"},
		"runbook_url":  {"docs/runbooks/LustreUserMetadataHog.md"},
	} {
		for _, want := range wants {
			if !strings.Contains(a.Annotations[name], want) {
				s.t.Errorf("annotation %s is %q, want %q in it", name, a.Annotations[name], want)
			}
		}
	}
	var nodes []string
	s.change(func(c *simulator.Cluster) error {
		nodes = nodesOf(c, stormTarget, job)
		return nil
	})
	_, list, _ := strings.Cut(a.Annotations["jobs"], " on ")
	list, _, _ = strings.Cut(list, " (of ")
	list, _, _ = strings.Cut(list, ", ")
	shown := strings.Fields(list)
	if len(shown) == 0 || slices.ContainsFunc(shown, func(n string) bool { return !slices.Contains(nodes, n) }) {
		s.t.Errorf("annotation jobs is %q, with the nodes %q; the job runs on %q", a.Annotations["jobs"], shown, nodes)
	}
	if len(a.Receivers) != 1 || a.Receivers[0].Name != "chat" {
		s.t.Errorf("the alert goes to %v, want chat", a.Receivers)
	}
}

// checkFired fails the test if anything but the storm was alerted about.
func (s *site) checkFired(since time.Time) {
	s.t.Helper()
	fired, err := s.Prometheus.Query(s.t.Context(), fmt.Sprintf(`count_over_time(ALERTS{alertstate="firing"}[%dms])`, time.Since(since).Milliseconds()))
	s.must(err)
	for _, f := range fired {
		if f.Labels["target"] != stormTarget || f.Labels["category"] != "cause" {
			s.t.Errorf("an alert fired that has nothing to do with the storm: %v", f.Labels)
		}
	}
}
