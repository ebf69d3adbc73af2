// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestLogFormats(t *testing.T) {
	f := func(format string, check func(line string)) {
		t.Helper()
		var out bytes.Buffer
		newLogger(&out, logOptions{slog.LevelInfo, format}).With("collector", "lustre").Warn("target \x1b[31mlost\n", "err", errors.New("no such file"))
		if n := strings.Count(out.String(), "\n"); n != 1 || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: not one harmless line: %q", format, out.String())
		}
		check(out.String())
	}
	f("logfmt", func(line string) {
		for _, want := range []string{"level=warn", `msg="target \u001b[31mlost\n"`, "collector=lustre", `err="no such file"`, "caller=log_test.go:", "time=20"} {
			if !strings.Contains(line, want) {
				t.Errorf("no %s in %s", want, line)
			}
		}
	})
	f("json", func(line string) {
		var fields map[string]string
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if fields["level"] != "warn" || fields["err"] != "no such file" || fields["collector"] != "lustre" {
			t.Errorf("got %v", fields)
		}
	})
}

func TestLogLevels(t *testing.T) {
	for i, name := range logLevels() {
		level, err := parseLevel(name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		log := newLogger(&out, logOptions{level, "logfmt"})
		log.Debug("x")
		log.Info("x")
		log.Warn("x")
		log.Error("x")
		if got := strings.Count(out.String(), "\n"); got != len(logLevels())-i {
			t.Errorf("%s: %d lines", name, got)
		}
	}
}

func TestFaultsAreLoggedOnceEach(t *testing.T) {
	var out bytes.Buffer
	f := newFaults(newLogger(&out, logOptions{slog.LevelInfo, "logfmt"}))
	no := errors.New("no")
	for _, err := range []error{nil, nil, no, no, no, nil, nil, no} {
		f.note("a", err)
		f.note("b", nil)
	}
	if got := strings.Count(out.String(), "msg=failing subject=a err=no"); got != 2 {
		t.Errorf("failing %d times", got)
	}
	if got := strings.Count(out.String(), `msg="works again" subject=a`); got != 1 || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("logged\n%s", &out)
	}
}
