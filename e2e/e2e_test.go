// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// Package e2e tests the real binaries against one another, on the loopback interface alone. `make e2e` builds them
// and says where they are; without that the tests are skipped, except in CI, where they fail.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The variables that name the binaries.
const (
	exporterBin   = "PFS_EXPORTER_BIN"
	simulatorBin  = "SIMULATOR_BIN"
	prometheusBin = "PROMETHEUS_BIN"
	promtoolBin   = "PROMTOOL_BIN"
)

// patience is how long anything may take that should take a moment.
const patience = 30 * time.Second

func binary(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	switch {
	case path == "" && os.Getenv("CI") != "":
		t.Fatalf("%s is not set: run make e2e", variable)
	case path == "":
		t.Skipf("%s is not set: run make e2e", variable)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return path
}

// process is a program that a test runs. It ends with the test at the latest.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
	err   error         // how, then

	mu  sync.Mutex
	log bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// logs is what the process wrote to standard output and error so far.
func (p *process) logs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	// With its children in a group of its own, nothing is left behind when the group is killed.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		select {
		case <-p.ended:
		default:
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
			<-p.ended
		}
		if t.Failed() {
			t.Logf("%s wrote:\n%s", filepath.Base(path), tail(p.logs()))
		}
	})
	return p
}

func tail(s string) string {
	const enough = 8000
	if len(s) > enough {
		return "..." + s[len(s)-enough:]
	}
	return s
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wait returns the exit code of a process that is about to end, -1 if a signal ended it.
func (p *process) wait(t *testing.T, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		t.Fatalf("%s has not ended within %s", filepath.Base(p.cmd.Path), limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

// eventually waits until done reports no error.
func eventually(t *testing.T, what string, done func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// address waits until a process that uses exporter-toolkit says where it listens.
func (p *process) address(t *testing.T) string {
	t.Helper()
	listening := regexp.MustCompile(`msg="Listening on"(?: component=web)? address=(\S+)`)
	var addr string
	eventually(t, "listening", func() error {
		m := listening.FindStringSubmatch(p.logs())
		if m != nil {
			addr = m[1]
			return nil
		}
		select {
		case <-p.ended:
			t.Fatalf("%s has ended: %v", filepath.Base(p.cmd.Path), p.err)
		default:
		}
		return errors.New("does not listen yet")
	})
	return addr
}

// exporter is a running pfs_exporter.
type exporter struct {
	*process
	url string
}

// startExporter starts an exporter that sees no targets but those that args name, and waits until it listens.
func startExporter(t *testing.T, args ...string) *exporter {
	t.Helper()
	all := append([]string{"--web.listen-address=127.0.0.1:0"}, args...)
	if !strings.Contains(strings.Join(args, " "), "--path.") {
		nothing := t.TempDir()
		all = append(all, "--path.procfs="+nothing, "--path.sysfs="+nothing)
	}
	e := &exporter{process: start(t, binary(t, exporterBin), all...)}
	e.url = "http://" + e.address(t)
	return e
}

// ready waits for the first observation.
func (e *exporter) ready(t *testing.T) {
	t.Helper()
	eventually(t, "readiness", func() error {
		status, body, err := get(e.url + "/-/ready")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %s", status, body)
		}
		return err
	})
}

// get fetches a page; header has names and values in turn.
func get(url string, header ...string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func mustGet(t *testing.T, url string, header ...string) string {
	t.Helper()
	status, body, err := get(url, header...)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: status %d, %v\n%s", url, status, err, tail(body))
	}
	return body
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}
