// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// TestCheckDeploy has promtool and amtool check deploy/ with the rules.
func TestCheckDeploy(t *testing.T) {
	cmd := exec.Command("../tools/check-deploy.sh")
	cmd.Env = append(os.Environ(), promtoolBin+"="+binary(t, promtoolBin), amtoolBin+"="+binary(t, amtoolBin))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestInhibition sends alerts to a real Alertmanager with the shipped configuration: a symptom silences the causes of its
// own target that are no emergency, and nothing else.
func TestInhibition(t *testing.T) {
	t.Parallel()
	s := newSite(t, quick(time.Second), simulator.Config{MDTs: 1, OSTs: 1, Users: 2, Entries: 2, NoTruth: true}, tick,
		map[string][]string{"mds1": {"scratch-MDT0000"}})
	s.must(s.Start(t.Context()))
	labels := func(name, category, severity string, more ...string) map[string]string {
		l := map[string]string{"alertname": name, "category": category, "severity": severity, "cluster": "lustre"}
		for i := 0; i < len(more); i += 2 {
			l[more[i]] = more[i+1]
		}
		return l
	}
	cases := []struct {
		labels     map[string]string
		suppressed bool
	}{
		{labels("Slow", "symptom", "critical", "target", "a-MDT0000"), false},
		{labels("HogHere", "cause", "warning", "target", "a-MDT0000", "uid", "1"), true},
		{labels("ChurnHere", "cause", "info", "target", "a-MDT0000", "uid", "2"), true},
		{labels("HogThere", "cause", "warning", "target", "a-MDT0001", "uid", "1"), false},
		{labels("NoTarget", "cause", "info", "fs", "a", "uid", "3"), false},
		{labels("UnreadableHere", "health", "warning", "target", "a-MDT0000"), false},
		{labels("CeilingHere", "cause", "critical", "target", "a-MDT0000", "uid", "1"), false},
		{labels("Ceiling", "cause", "critical", "target", "a-OST0000", "uid", "4"), false},
		{labels("HogOfCeiling", "cause", "warning", "target", "a-OST0000", "uid", "4"), true},
		{labels("HogBesideCeiling", "cause", "warning", "target", "a-OST0000", "uid", "5"), false},
		{labels("LustreExporterDown", "health", "warning", "instance", "oss1"), false},
		{labels("ScrapeSlow", "health", "warning", "instance", "oss1"), true},
		{labels("ScrapeSlowElsewhere", "health", "warning", "instance", "oss2"), false},
		{labels("Absent", "health", "warning"), false},
	}
	for _, c := range cases {
		s.post(c.labels)
	}
	for _, c := range cases {
		want := "active"
		if c.suppressed {
			want = "suppressed"
		}
		within(t, 30*time.Second, c.labels["alertname"]+" "+want, func() error { return s.state(c.labels["alertname"], want) })
	}
}

// post sends an alert as Prometheus does.
func (s *site) post(labels map[string]string) {
	s.t.Helper()
	body, err := json.Marshal([]map[string]any{{"labels": labels, "startsAt": time.Now(), "endsAt": time.Now().Add(time.Hour)}})
	s.must(err)
	response, err := http.Post(string(s.Alerts)+"/api/v2/alerts", "application/json", bytes.NewReader(body))
	s.must(err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("posting %v: %s", labels, response.Status)
	}
}

func (s *site) state(name, want string) error {
	alerts, err := s.Alerts.Alerts(s.t.Context())
	if err != nil {
		return err
	}
	for _, a := range alerts {
		if a.Labels["alertname"] == name {
			if a.Status.State != want {
				return fmt.Errorf("it is %s", a.Status.State)
			}
			return nil
		}
	}
	return errors.New("it is not there")
}

// TestDemo runs the demo until it has found the first user out, then presses Ctrl-C: nothing may be left, and the user
// was seen in time.
func TestDemo(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command("go", "build", "-o", program, "../demo").CombinedOutput(); err != nil {
		t.Fatalf("building the demo: %v\n%s", err, out)
	}
	temp := t.TempDir()
	p := start(t, "env", "TMPDIR="+temp, program, "--deploy=../deploy", "--exporter="+binary(t, exporterBin),
		"--prometheus="+binary(t, prometheusBin), "--alertmanager="+binary(t, alertmanagerBin),
		"--quiet=15s", "--incident=60s", "--every=10s", "--duration=5m")
	within(t, 90*time.Second, "an alert about the user", func() error {
		select {
		case <-p.ended:
			t.Fatalf("the demo ended: %v", p.err)
		default:
		}
		if !strings.Contains(p.logs(), "names uid 21001, ") { // only alerts are told so
			return errors.New("not in what the demo prints")
		}
		return nil
	})
	if running(temp) == 0 {
		t.Error("found no child while the demo ran: the test would not see one that is left")
	}
	p.signal(t, syscall.SIGINT)
	if code := p.wait(t, 30*time.Second); code != 0 {
		t.Errorf("exit code %d, want 0: the user was seen too late, or something could not be stopped", code)
	}
	if n := running(temp); n > 0 {
		t.Errorf("%d children are left", n)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	for _, want := range []string{"seen after", "alert after", "heaviest users of bandwidth", "Alertmanager  http://127.0.0.1:"} {
		if !strings.Contains(p.logs(), want) {
			t.Errorf("the demo did not print %q", want)
		}
	}
}

// running counts the processes, but for the demo itself, that were started with a path below dir.
func running(dir string) int {
	n := 0
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		text, err := os.ReadFile(file) // those that ended meanwhile do not count
		if err == nil && bytes.Contains(text, []byte("="+dir+"/")) {
			n++
		}
	}
	return n
}
