// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

func optionsOf(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parse(append([]string{"--root", t.TempDir()}, args...))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func stats(t *testing.T, o options, target string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.root, "proc/fs/lustre", target, "job_stats"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParse(t *testing.T) {
	o := optionsOf(t, "--mdts=2", "--osts=5", "--seed=9", "--cleanup-interval=30s", "--dialect=2.12", "--entries=7", "--users=3")
	want := simulator.Config{MDTs: 2, OSTs: 5, Seed: 9, CleanupInterval: 30 * time.Second, Dialect: "2.12", Entries: 7, Users: 3}
	got := o.cluster
	if got.MDTs != want.MDTs || got.OSTs != want.OSTs || got.Seed != want.Seed || got.CleanupInterval != want.CleanupInterval ||
		got.Dialect != want.Dialect || got.Entries != want.Entries || got.Users != want.Users {
		t.Errorf("%+v, want %+v", got, want)
	}
	f := func(args ...string) {
		t.Helper()
		if _, err := parse(args); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	f()
	f("--root=x", "--tick=0s")
	f("--root=x", "--speedup=-1")
	f("--root=x", "--bench-entries=-1")
	f("--root=x", "--targets=many")
	f("--root=x", "left")
}

func TestOnce(t *testing.T) {
	o := optionsOf(t, "--once", "--entries=50", "--targets=4")
	var out bytes.Buffer
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "Lustre 2.16, file system scratch: 1 MDTs, 3 OSTs, 50 users, ") ||
		strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, o.root+"\n") {
		t.Errorf("printed %q", got)
	}
	for _, target := range []string{"mdt/scratch-MDT0000", "obdfilter/scratch-OST0002"} {
		if n := strings.Count(stats(t, o, target), "- job_id:"); n < 20 {
			t.Errorf("%s: %d entries of about 50 after the warm-up", target, n)
		}
	}
}

func TestNeverCleanedUp(t *testing.T) {
	o := optionsOf(t, "--once", "--entries=10", "--cleanup-interval=0s")
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(o.root, "sys/fs/lustre/mdt/scratch-MDT0000/job_cleanup_interval"))
	if err != nil || string(b) != "0\n" {
		t.Errorf("interval %q, %v", b, err)
	}
}

// TestRun sees the files change, and the end of the context ends it without an error.
func TestRun(t *testing.T) {
	for _, args := range [][]string{{"--entries=50", "--speedup=100"}, {"--bench-entries=20"}} {
		o := optionsOf(t, append(args, "--tick=5ms")...)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		printed, out := io.Pipe()
		go func() { done <- run(ctx, o, out) }()
		if _, err := printed.Read(make([]byte, 1<<10)); err != nil { // the files are there
			t.Fatal(err)
		}
		first := stats(t, o, "obdfilter/scratch-OST0000")
		for deadline := time.Now().Add(20 * time.Second); stats(t, o, "obdfilter/scratch-OST0000") == first; {
			if time.Now().After(deadline) {
				t.Fatalf("%v: the file never changed", args)
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestBenchEntries(t *testing.T) {
	o := optionsOf(t, "--once", "--bench-entries=123", "--fsname=fs")
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(stats(t, o, "obdfilter/fs-OST0000"), "- job_id:"); n != 123 {
		t.Errorf("%d entries", n)
	}
}

func TestDurationEnds(t *testing.T) {
	o := optionsOf(t, "--duration=20ms", "--entries=5", "--tick=5ms")
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	f := func(want error, o options) {
		t.Helper()
		if err := run(t.Context(), o, io.Discard); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
	f(simulator.ErrConfig, optionsOf(t, "--once", "--dialect=1.8"))
	f(simulator.ErrConfig, optionsOf(t, "--once", "--cleanup-interval=100ms"))
	file := optionsOf(t, "--once", "--entries=5")
	file.root = filepath.Join(file.root, "file")
	if err := os.WriteFile(file.root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bench := range []int{0, 5} {
		file.bench = bench
		if err := run(t.Context(), file, io.Discard); err == nil {
			t.Errorf("bench %d: a tree was written below a file", bench)
		}
	}
}
