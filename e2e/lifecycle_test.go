// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const acceptOpenMetrics = "application/openmetrics-text;version=1.0.0"

func TestMachineWithoutLustre(t *testing.T) {
	e := startExporter(t, "--lustre.observation-interval=0s")
	e.ready(t)
	for range 3 {
		text := mustGet(t, e.url+"/metrics")
		if !strings.Contains(text, `pfs_exporter_collector_success{collector="lustre"} 1`) || !strings.Contains(text, "\ngo_goroutines") {
			t.Fatalf("its own metrics are missing:\n%s", tail(text))
		}
		if strings.Contains(text, "\nlustre_") {
			t.Errorf("metrics of no target:\n%s", text)
		}
	}
	if n := strings.Count(e.logs(), "No Lustre targets"); n != 1 {
		t.Errorf("says %d times that there is no Lustre", n)
	}
	if strings.Contains(e.logs(), "level=error") || strings.Contains(e.logs(), "level=warn") {
		t.Error("complains about it")
	}
	for path, want := range map[string]string{"/": `href="/metrics"`, "/-/healthy": "healthy"} {
		if body := mustGet(t, e.url+path); !strings.Contains(body, want) {
			t.Errorf("%s: no %s in %s", path, want, body)
		}
	}
	if status, _, err := get(e.url + "/debug/pprof/"); err != nil || status != http.StatusNotFound {
		t.Errorf("profiles without the flag: status %d, %v", status, err)
	}
	e.signal(t, syscall.SIGINT)
	if code := e.wait(t, 5*time.Second); code != 0 {
		t.Errorf("SIGINT: exit code %d", code)
	}
}

// lctl is one that notes its call, takes its time and prints a sample.
type lctl struct{ command, calls string }

func fakeLctl(t *testing.T, seconds string) lctl {
	t.Helper()
	dir := t.TempDir()
	sample, err := filepath.Abs(filepath.Join(samples, "lctl_2.16_multi.txt"))
	if err != nil {
		t.Fatal(err)
	}
	l := lctl{calls: filepath.Join(dir, "calls")}
	script := fmt.Sprintf("#!/bin/sh\necho $$ >>'%s'\nsleep %s\ncat '%s'\n", l.calls, seconds, sample)
	l.command = write(t, filepath.Join(dir, "lctl"), script, 0o755)
	t.Cleanup(func() {
		for _, pid := range l.pids() {
			_ = syscall.Kill(-pid, syscall.SIGKILL) // it has a group of its own; most often it is gone
		}
	})
	return l
}

// pids are the processes that were started as lctl.
func (l lctl) pids() []int {
	text, err := os.ReadFile(l.calls)
	if err != nil {
		return nil
	}
	var pids []int
	for line := range strings.Lines(string(text)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

type answer struct {
	status int
	body   string
	err    error
}

// scrapeLater scrapes in the background once lctl was called.
func scrapeLater(t *testing.T, e *exporter, l lctl) <-chan answer {
	t.Helper()
	answered := make(chan answer, 1)
	eventually(t, "call of lctl", func() error {
		if len(l.pids()) == 0 {
			return errors.New("not called")
		}
		return nil
	})
	go func() {
		var a answer
		a.status, a.body, a.err = get(e.url+"/metrics", "Accept", acceptOpenMetrics, "X-Prometheus-Scrape-Timeout-Seconds", "30")
		answered <- a
	}()
	eventually(t, "scrape", func() error {
		if strings.Contains(mustGet(t, e.url+"/-/healthy"), "healthy") {
			return nil
		}
		return errors.New("not healthy")
	})
	// Nothing tells from outside that the scrape has arrived; it takes microseconds.
	time.Sleep(200 * time.Millisecond)
	return answered
}

func TestTermDuringASlowScrape(t *testing.T) {
	l := fakeLctl(t, "2")
	e := startExporter(t, "--lustre.source=lctl", "--lustre.lctl-command="+l.command)
	answered := scrapeLater(t, e, l)
	e.signal(t, syscall.SIGTERM)
	if a := <-answered; a.err != nil || a.status != http.StatusOK || !strings.Contains(a.body, "lustre_job_operations_total{") || !strings.HasSuffix(a.body, "# EOF\n") {
		t.Errorf("the scrape under way ended with status %d, %v\n%s", a.status, a.err, tail(a.body))
	}
	if code := e.wait(t, 5*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, _, err := get(e.url + "/-/healthy"); err == nil {
		t.Error("still listens")
	}
}

func TestTermDuringAScrapeThatDoesNotEnd(t *testing.T) {
	l := fakeLctl(t, "3601")
	e := startExporter(t, "--lustre.source=lctl", "--lustre.lctl-command="+l.command, "--lustre.read-timeout=1h")
	answered := scrapeLater(t, e, l)
	began := time.Now()
	e.signal(t, syscall.SIGTERM)
	if code := e.wait(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	t.Logf("ended after %s", time.Since(began))
	if a := <-answered; a.err == nil {
		t.Errorf("a whole response: status %d\n%s", a.status, tail(a.body))
	}
	eventually(t, "end of lctl", func() error {
		for _, pid := range l.pids() {
			if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("process group %d is still there", pid)
			}
		}
		return nil
	})
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	l := fakeLctl(t, "3602")
	e := startExporter(t, "--lustre.source=lctl", "--lustre.lctl-command="+l.command, "--lustre.read-timeout=1h")
	scrapeLater(t, e, l)
	e.signal(t, syscall.SIGTERM)
	eventually(t, "first signal", func() error {
		if !strings.Contains(e.logs(), "msg=stopping") {
			return errors.New("not stopping")
		}
		return nil
	})
	began := time.Now()
	e.signal(t, syscall.SIGTERM)
	if code := e.wait(t, 5*time.Second); code == 0 {
		t.Error("exit code 0, although it did not end in order")
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestCommandLine(t *testing.T) {
	f := func(wantCode int, want string, args ...string) {
		t.Helper()
		p := start(t, binary(t, exporterBin), args...)
		if code := p.wait(t, patience); code != wantCode || !strings.Contains(p.logs(), want) {
			t.Errorf("%q: exit code %d, want %d with %q:\n%s", args, code, wantCode, want, p.logs())
		}
	}
	f(0, "pfs_exporter, version ", "--version")
	f(0, "--lustre.scrape-interval", "--help")
	f(2, "--lustre.first-zero", "--lustre.first-zero=maybe")
	f(1, "missing port", "--web.listen-address=nowhere", "--path.procfs="+t.TempDir())
	f(0, "TARGET", "check", "--file="+filepath.Join(samples, "lctl_2.17_multi.txt"))
	f(1, "no such file", "check", "--file="+filepath.Join(t.TempDir(), "missing"))
}
