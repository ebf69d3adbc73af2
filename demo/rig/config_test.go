// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/rules"
	"github.com/pfs-exporter/pfs_exporter/simulator"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The shipped files must still have the lines that are replaced, and all of them must be.
func TestShippedConfigurationIsAdapted(t *testing.T) {
	o := rules.DefaultOptions()
	o.Window = 20 * time.Second
	cfg := Config{Deploy: "../../deploy", Scrape: 5 * time.Second, Evaluate: 2500 * time.Millisecond, Rules: o}
	dir := t.TempDir()
	if err := cfg.prometheusConfig(dir, "127.0.0.1:1", "127.0.0.1:2", map[string]string{"mds1": "127.0.0.1:3", "oss1": "127.0.0.1:4", "oss2": "127.0.0.1:5"}); err != nil {
		t.Fatal(err)
	}
	text := read(t, dir, "prometheus.yml")
	for _, want := range []string{"scrape_interval: 5s\n", "scrape_timeout: 5s\n", "evaluation_interval: 2s500ms ", "['127.0.0.1:1']", "['127.0.0.1:2']", "job_name: lustre"} {
		if !strings.Contains(text, want) {
			t.Errorf("prometheus.yml has no %q", want)
		}
	}
	for _, not := range []string{":9090", ":9093"} {
		if strings.Contains(text, not) {
			t.Errorf("prometheus.yml still has %q", not)
		}
	}
	if got := read(t, dir, "targets", "mds.yml"); got != "- targets: ['127.0.0.1:3']\n" {
		t.Errorf("mds.yml: %q", got)
	}
	if got := strings.Count(read(t, dir, "targets", "oss.yml"), "- targets:"); got != 2 {
		t.Errorf("%d targets in oss.yml", got)
	}
	if !strings.Contains(read(t, dir, "rules", "lustre-usage.yml"), ":rate20s") {
		t.Error("the rules are not those asked for")
	}

	file := filepath.Join(dir, "alertmanager.yml")
	if err := cfg.alertmanagerConfig(file); err != nil {
		t.Fatal(err)
	}
	if text := read(t, file); !strings.Contains(text, "group_wait: 1s") || !strings.Contains(text, "group_interval: 5s") {
		t.Error("alertmanager.yml still waits")
	}
}

func TestAdapt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("a: 1\nb: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := adapt(file, replacement{"1", "2"}, replacement{"b: 2", "b: 3"}); got != "a: 2\nb: 3\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := adapt(file, replacement{"c:", "d:"}); err == nil || !strings.Contains(err.Error(), "c:") {
		t.Errorf("a line that is gone: %v", err)
	}
	if _, err := adapt(file + "x"); err == nil {
		t.Error("no error for a missing file")
	}
}

// A server sees the targets that it has mounted, in the files that the simulator keeps, and no others.
func TestServers(t *testing.T) {
	dir := t.TempDir()
	cluster, err := NewCluster(filepath.Join(dir, "cluster"), simulator.Config{MDTs: 1, OSTs: 1, Users: 3, Entries: 5, NoTruth: true})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServers(filepath.Join(dir, "cluster"), filepath.Join(dir, "servers"))
	glob := func(server string) int {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(s.Root(server), "proc/fs/lustre/*/*/job_stats"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for _, target := range []string{"scratch-MDT0000", "scratch-OST0000"} {
		if err := s.Mount("mds1", target); err != nil {
			t.Fatal(err)
		}
	}
	if n := glob("mds1"); n != 2 {
		t.Errorf("mds1 has %d targets", n)
	}
	if got := read(t, s.Root("mds1"), "sys/fs/lustre/mdt/scratch-MDT0000/job_cleanup_interval"); got != "600\n" {
		t.Errorf("cleanup interval %q", got)
	}
	if err := s.Mount("mds1", "scratch-MDT0000"); err == nil {
		t.Error("mounted twice")
	}
	if err := s.Unmount("mds1", "scratch-OST0000"); err != nil {
		t.Error(err)
	}
	if err := s.Mount("oss1", "scratch-OST0000"); err != nil {
		t.Error(err)
	}
	if glob("mds1") != 1 || glob("oss1") != 1 {
		t.Errorf("after the failover: %d and %d", glob("mds1"), glob("oss1"))
	}
	if err := s.Unmount("mds1", "scratch-OST0000"); err != nil {
		t.Errorf("unmounting what is not there: %v", err)
	}
	if err := cluster.Do(func(c *simulator.Cluster) error { return c.Unmount("scratch-OST0000") }); err != nil {
		t.Error(err)
	}
	if n := glob("oss1"); n != 0 {
		t.Error("the server shows a target that the cluster has not")
	}
}

func TestClusterFollowsTheClock(t *testing.T) {
	dir := t.TempDir()
	cluster, err := NewCluster(dir, simulator.Config{MDTs: 1, OSTs: 1, Users: 5, Entries: 30, NoTruth: true})
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, dir, "proc/fs/lustre/mdt/scratch-MDT0000/job_stats")
	if err := cluster.Do(func(c *simulator.Cluster) error {
		_, err := c.InjectStorm(4711, "scratch-MDT0000", "getattr", 1e5, time.Hour)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- cluster.Run(ctx, 5*time.Millisecond) }()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(read(t, dir, "proc/fs/lustre/mdt/scratch-MDT0000/job_stats"), ":4711:"); {
		if time.Now().After(deadline) {
			t.Fatalf("the storm never showed; before it: %d bytes", len(before))
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAPI(t *testing.T) {
	answers := map[string]string{
		"/api/v1/query": `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"uid":"7"},"value":[12.5,"NaN"]},{"metric":{},"value":[12.5,"3e6"]}]}}`,
		"/api/v1/rules": `{"data":{"groups":[{"name":"g","interval":30,"evaluationTime":0.5,"lastEvaluation":"2026-11-21T03:42:52.977992435Z","rules":[{"name":"r","type":"recording","health":"err","lastError":"x","evaluationTime":0.25}]}]}}`,
		"/api/v2/alerts": `[{"labels":{"alertname":"B"},"annotations":{"summary":"s"},"receivers":[{"name":"chat"}],"status":{"state":"suppressed","inhibitedBy":["1"]}},
			{"labels":{"alertname":"A"},"status":{"state":"active"}}]`,
		"/-/ready": "ready",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok || r.FormValue("query") == "bad" {
			http.Error(w, "parse error", http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	ctx := t.Context()
	prometheus, alertmanager := Prometheus(server.URL), Alertmanager(server.URL)

	samples, err := prometheus.Query(ctx, "up")
	if err != nil || len(samples) != 2 || samples[0].Labels["uid"] != "7" || samples[1].Value != 3e6 || samples[1].Time.UnixMilli() != 12500 {
		t.Errorf("query: %+v, %v", samples, err)
	}
	if _, err := prometheus.Query(ctx, "bad"); err == nil || !strings.Contains(err.Error(), "parse error") {
		t.Errorf("a query that fails: %v", err)
	}
	groups, err := prometheus.Rules(ctx)
	if err != nil || len(groups) != 1 || groups[0].EvaluationTime != 0.5 || groups[0].LastEvaluation.IsZero() || groups[0].Rules[0].LastError != "x" {
		t.Errorf("rules: %+v, %v", groups, err)
	}
	alerts, err := alertmanager.Alerts(ctx)
	if err != nil || len(alerts) != 2 || alerts[0].Labels["alertname"] != "A" || alerts[1].Status.State != "suppressed" || alerts[1].Receivers[0].Name != "chat" {
		t.Errorf("alerts: %+v, %v", alerts, err)
	}
	if !prometheus.Ready(ctx) || Prometheus("http://127.0.0.1:1").Ready(ctx) {
		t.Error("ready says the wrong thing")
	}
}
