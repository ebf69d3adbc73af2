// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Identifiers are what any user of the cluster chooses to call a process.
func TestInert(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := inert(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	f("11317854", "11317854")
	f("\x1b]0;owned\x07", "?]0;owned?")
	f("a\r\nb\tc", "a??b?c")
	f("\u202e", "?") // turns the rest of the line around
	f("größer 1", "größer 1")
	f("\x9b31m", "\uFFFD31m") // no UTF-8; as a byte it would be an escape
}

func TestPlain(t *testing.T) {
	f := func(x float64, want string) {
		t.Helper()
		if got := plain(x); got != want {
			t.Errorf("%g became %q, want %q", x, got, want)
		}
	}
	f(0, "0")
	f(3, "3")
	f(0.0004, "< 0.001")
	f(0.0224, "0.022")
	f(9.9996, "10.000")
	f(12.6, "13")
	f(99999, "99999")
	f(123456, "123.5 k")
	f(4.5e8, "450.0 M")
	f(1.53e9, "1.5 G")
	f(2e12, "2.0 T")
}

func TestTable(t *testing.T) {
	var b strings.Builder
	table(&b, []string{"uid", "rate"}, []bool{false, true}, [][]string{{"1001", "5"}, {"2", "40000"}})
	want := "  uid    rate\n  1001      5\n  2     40000\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	table(&b, []string{"uid"}, []bool{false}, nil)
	if b.String() != "  none yet\n" {
		t.Errorf("empty table: %q", b.String())
	}
}

// Only a terminal gets escape sequences.
func TestScreen(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if newScreen(file, false).live {
		t.Error("a file was taken for a terminal")
	}

	var out bytes.Buffer
	plain := &screen{out: &out}
	plain.show("one\n")
	plain.show("two\n")
	if got := out.String(); got != "\none\n\ntwo\n" {
		t.Errorf("plain: %q", got)
	}
	if got := plain.every(15 * time.Second); got != 15*time.Second {
		t.Errorf("plain frames every %v", got)
	}

	out.Reset()
	live := &screen{out: &out, live: true}
	live.show("one\n")
	out.Reset()
	live.show("two\n")
	if got, want := out.String(), home+"two"+wipe+below; got != want {
		t.Errorf("live: %q, want %q: the frame goes over the last one", got, want)
	}
	live.finish()
	out.Reset()
	live.show("three\n")
	if got := out.String(); !strings.HasPrefix(got, "\r\n") {
		t.Errorf("after finish: %q overwrites what was printed", got)
	}
}

func TestJournal(t *testing.T) {
	j := &journal{}
	at := time.Date(2026, 11, 21, 3, 4, 5, 0, time.UTC)
	for range kept {
		j.add(at, "old")
	}
	j.add(at, "alert %s", "\x1b[2J")
	got := j.recent()
	if len(got) != kept || got[kept-1] != "03:04:05  alert ?[2J" {
		t.Errorf("the last %d lines: %q", kept, got)
	}
}
