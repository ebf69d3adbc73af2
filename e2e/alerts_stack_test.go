// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/demo/rig"
	"github.com/pfs-exporter/pfs_exporter/rules"
	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// More variables that name binaries.
const (
	alertmanagerBin = "ALERTMANAGER_BIN"
	amtoolBin       = "AMTOOL_BIN"
)

// site is a simulated cluster with an exporter per server, and the shipped deploy/ and rules around it.
type site struct {
	*rig.Stack
	cluster *rig.Cluster
	servers *rig.Servers
	t       *testing.T
}

// tick is short against a scrape interval of 1 s.
const tick = 250 * time.Millisecond

// quick are rules for scrapes every second. What people wait minutes for, they wait seconds for.
func quick(scrape time.Duration) rig.Config {
	o := rules.DefaultOptions()
	o.Window, o.Speedup = 6*scrape, 60
	return rig.Config{Deploy: "../deploy", Scrape: scrape, Evaluate: scrape, Rules: o}
}

// newSite starts the servers with what is mounted on each. Their files follow the clock with every tick, until the test
// ends.
func newSite(t *testing.T, cfg rig.Config, sim simulator.Config, tick time.Duration, mounts map[string][]string, exporterArgs ...string) *site {
	t.Helper()
	cfg.Exporter, cfg.Prometheus, cfg.Alertmanager = binary(t, exporterBin), binary(t, prometheusBin), binary(t, alertmanagerBin)
	cfg.Dir = t.TempDir()
	root := filepath.Join(cfg.Dir, "cluster")
	cluster, err := rig.NewCluster(root, sim)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{rig.NewStack(cfg), cluster, rig.NewServers(root, filepath.Join(cfg.Dir, "servers")), t}
	t.Cleanup(func() { s.must(s.Stop()) })
	for server, targets := range mounts {
		for _, target := range targets {
			s.must(s.servers.Mount(server, target))
		}
		s.must(s.StartExporter(t.Context(), server, s.servers.Root(server), exporterArgs...))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cluster.Run(ctx, tick) }()
	t.Cleanup(func() { // before the stack stops
		cancel()
		s.must(<-ended)
	})
	return s
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Error(err)
		if s.t.Context().Err() == nil {
			s.t.FailNow()
		}
	}
}

// change changes the cluster and its files.
func (s *site) change(f func(*simulator.Cluster) error) {
	s.t.Helper()
	s.must(s.cluster.Do(f))
}

// active lists the alerts that Alertmanager holds.
func (s *site) active() []rig.Alert {
	s.t.Helper()
	alerts, err := s.Alerts.Alerts(s.t.Context())
	s.must(err)
	return alerts
}

// value is that of an expression.
func (s *site) value(format string, args ...any) float64 {
	s.t.Helper()
	v, err := s.Prometheus.Value(s.t.Context(), fmt.Sprintf(format, args...))
	s.must(err)
	return v
}

// silent fails the test if anything fired since then, whether Alertmanager still holds it or not.
func (s *site) silent(what string, since time.Time) {
	s.t.Helper()
	fired, err := s.Prometheus.Query(s.t.Context(), fmt.Sprintf(`count_over_time(ALERTS{alertstate="firing"}[%dms])`, time.Since(since).Milliseconds()))
	s.must(err)
	for _, f := range fired {
		s.t.Errorf("%s: an alert fired: %v", what, f.Labels)
	}
	for _, a := range s.active() {
		s.t.Errorf("%s: Alertmanager has %s", what, a.Annotations["summary"])
	}
	if s.t.Failed() {
		s.t.FailNow()
	}
}

// within waits until done reports no error, for longer than eventually does.
func within(t *testing.T, limit time.Duration, what string, done func() error) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(200 * time.Millisecond) {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, limit, err)
		}
	}
}

// watch waits, and fails as soon as a process has ended that should not have.
func (s *site) watch(d time.Duration) {
	s.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		s.must(s.Failed())
	}
}

// nodesOf are the nodes on which the target has counted the job.
func nodesOf(c *simulator.Cluster, target, job string) []string {
	var nodes []string
	for _, part := range strings.Split(string(c.Text(target)), job+":")[1:] {
		_, node, _ := strings.Cut(part, ":")
		node, _, _ = strings.Cut(node, "\n")
		nodes = append(nodes, strings.Trim(node, "\" "))
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}
