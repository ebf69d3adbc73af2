// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pfs-exporter/pfs_exporter/rules"
)

// names lists a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	var out bytes.Buffer
	if err := run([]string{"-out", dir, "-window", "10m", "-job", "mds"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	want := []string{"lustre-alerts.yml", "lustre-constants.yml", "lustre-history.yml", "lustre-usage.yml"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := strings.Fields(out.String()); len(got) != len(want) {
		t.Errorf("said %q", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, "lustre-alerts.yml"))
	if err != nil || !bytes.Contains(text, []byte(`up{job="mds"}`)) || !bytes.Contains(text, []byte(":rate10m")) {
		t.Errorf("neither window nor job got into the alerts: %v", err)
	}
}

// A site's constants survive the next generation, if it says so.
func TestConstantsAreKept(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, rules.Constants)
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(want bool, args ...string) {
		t.Helper()
		if err := run(append(args, "-out", dir), io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(mine)
		if kept := string(text) == "mine"; err != nil || kept != want {
			t.Errorf("%q: kept %v, want %v, %v", args, kept, want, err)
		}
	}

	f(true, "-constants=false")
	f(false)
}

func TestRunRefuses(t *testing.T) {
	f := func(want error, args ...string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "none")
		err := run(append([]string{"-out", dir}, args...), io.Discard, io.Discard)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", args, err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: wrote nevertheless", args)
		}
	}

	f(rules.ErrOptions, "-window", "0s")
	f(rules.ErrOptions, "-speedup", "0")
	f(rules.ErrOptions, "stray")
	f(flag.ErrHelp, "-h")
	f(nil, "-window", "5 minutes")
}
