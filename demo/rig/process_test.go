// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell runs a script and waits until it has made the file ready.
func shell(t *testing.T, script string) (p *Process, dir string) {
	t.Helper()
	dir = t.TempDir()
	p, err := Start("the script", filepath.Join(dir, "log"), "/bin/sh", "-c", script, "sh", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = p.WaitUntil(ctx, func(context.Context) bool {
		_, err := os.Stat(filepath.Join(dir, "ready"))
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// ended waits until the process is gone, or nothing but a zombie.
func ended(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs: %s", pid, stat)
		}
	}
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	p, dir := shell(t, `sleep 600 & echo $! >$1/child; touch $1/ready; wait`)
	if pgid, err := syscall.Getpgid(p.PID()); err != nil || pgid != p.PID() {
		t.Errorf("process group %d, %v; a Ctrl-C at the terminal would reach the child", pgid, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err != nil {
		t.Errorf("error of a running process: %v", err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	ended(t, p.PID())
	ended(t, child)
	if err := p.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestErrTellsWhatWasPrinted(t *testing.T) {
	p, err := Start("the script", filepath.Join(t.TempDir(), "log"), "/bin/sh", "-c", "echo no such flag >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	err = p.WaitUntil(t.Context(), func(context.Context) bool { return false })
	if err == nil || !strings.Contains(err.Error(), "the script") || !strings.Contains(err.Error(), "exit status 3") ||
		!strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error %v", err)
	}
}

func TestWaitUntilGivesUp(t *testing.T) {
	p, _ := shell(t, `echo busy; touch $1/ready; sleep 600`)
	cause := errors.New("out of patience")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	if err := p.WaitUntil(ctx, func(context.Context) bool { return false }); !errors.Is(err, cause) || !strings.Contains(err.Error(), "busy") {
		t.Errorf("error %v", err)
	}
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	if _, err := Start("x", filepath.Join(dir, "log"), filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing program: %v", err)
	}
	if _, err := Start("x", filepath.Join(dir, "no", "log"), "/bin/true"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
}
