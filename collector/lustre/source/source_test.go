// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	f := func(change func(*Config), name, wantErr string) {
		t.Helper()
		c := DefaultConfig()
		change(&c)
		s, err := New(c)
		if wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), wantErr) || s != nil {
				t.Fatalf("%+v: got %v, %v, want an error with %q", c, s, err, wantErr)
			}
			return
		}
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if s.Name() != name {
			t.Errorf("%+v: got source %q, want %q", c, s.Name(), name)
		}
	}
	f(func(*Config) {}, "procfs", "")
	f(func(c *Config) { c.Source = "lctl" }, "lctl", "")
	f(func(c *Config) { c.Source, c.Dump = "file", "-" }, "file", "")
	f(func(c *Config) { c.Source, c.Dump, c.Target = "file", "x", Target{Name: "fs-OST0000"} }, "file", "")
	f(func(c *Config) { c.Source, c.Dump, c.Target = "file", "x", Target{"fs-OST0000", KindOST} }, "file", "")

	f(func(c *Config) { c.Source = "" }, "", `unknown source "": want procfs, lctl or file`)
	f(func(c *Config) { c.Source = "Procfs" }, "", "unknown source")
	f(func(c *Config) { c.ProcPath = "" }, "", "path of procfs is empty")
	f(func(c *Config) { c.SysPath = "" }, "", "path of sysfs is empty")
	f(func(c *Config) { c.Source, c.Command = "lctl", "" }, "", "command is empty")
	f(func(c *Config) { c.Source = "file" }, "", "path of the dump is empty")
	f(func(c *Config) { c.Source, c.Dump, c.Target = "file", "x", Target{Name: "a/b"} }, "", "cannot be the name")
	f(func(c *Config) { c.Source, c.Dump, c.Target = "file", "x", Target{Kind: KindOST} }, "", "cannot be the name")
	f(func(c *Config) { c.Source, c.Dump, c.Target = "file", "x", Target{"fs-OST0000", "ost"} }, "", "want mdt or obdfilter")
}

func TestIntervalIsOnlyKnownToProcfs(t *testing.T) {
	for _, s := range []Source{NewLctl("lctl"), NewFile("dump", Target{})} {
		if d, ok := s.CleanupInterval(Target{"fs-OST0000", KindOST}); ok || d != 0 {
			t.Errorf("%s: got %v, %v", s.Name(), d, ok)
		}
	}
}
