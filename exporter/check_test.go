// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre"
)

var update = flag.Bool("update", false, "write golden files anew")

func runCheck(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), append([]string{"check"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestGoldenCheck(t *testing.T) {
	f := func(golden string, wantCode int, args ...string) {
		t.Helper()
		code, got, stderr := runCheck(t, args...)
		if code != wantCode || stderr != "" {
			t.Errorf("%s: exit code %d, want %d; stderr %q", golden, code, wantCode, stderr)
		}
		file := filepath.Join("testdata", golden)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", golden, got, want)
		}
		if strings.ContainsAny(got, "\x1b\r\x00") {
			t.Errorf("%s: a terminal would obey it", golden)
		}
	}
	const server, cut = "testdata/server.lctl.txt", "testdata/cut_scratch-OST000f.job_stats"
	f("check_server.txt", exitOK, "--file", server)
	f("check_server.json", exitOK, "--file", server, "--format=json")
	f("check_keep.txt", exitOK, "--file", server, "--lustre.system-users=keep", "--lustre.malformed=drop", "--lustre.labels=uid", "--lustre.sizes")
	f("check_cut.txt", exitFailed, "--file", cut)
	f("check_cut.json", exitFailed, "--file", cut, "--format=json")
}

func TestCheckLimits(t *testing.T) {
	code, out, _ := runCheck(t, "--file=testdata/server.lctl.txt", "--lustre.max-entries=1", "--lustre.max-nodes-per-job=1")
	if code != exitOK || !strings.Contains(out, "limit") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestCheckNamesTheTarget(t *testing.T) {
	_, out, _ := runCheck(t, "--file=testdata/cut_scratch-OST000f.job_stats", "--target=scratch-MDT0003")
	if !strings.Contains(out, "scratch-MDT0003  mdt") || strings.Contains(out, "scratch-OST000f") {
		t.Errorf("got\n%s", out)
	}
}

func TestCheckWithoutLustre(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := runCheck(t, "--path.procfs="+dir, "--path.sysfs="+dir)
	if code != exitOK || out != "No Lustre targets found (source procfs).\n" {
		t.Errorf("exit code %d: %q", code, out)
	}
}

func TestCheckOfWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := runCheck(t, "--file="+filepath.Join(dir, "missing"))
	if code != exitFailed || !strings.Contains(out, "no such file") {
		t.Errorf("missing: exit code %d: %q", code, out)
	}
	target := filepath.Join(dir, "fs/lustre/obdfilter/scratch-OST0000")
	if err := os.MkdirAll(target, 0o755); err != nil {
		t.Fatal(err)
	}
	// Reading it fails with EIO, for root too.
	if err := os.Symlink("/proc/self/mem", filepath.Join(target, "job_stats")); err != nil {
		t.Fatal(err)
	}
	code, out, _ = runCheck(t, "--path.procfs="+dir, "--path.sysfs="+dir)
	if code != exitFailed || !strings.Contains(out, "scratch-OST0000") || !strings.Contains(out, "input/output error") {
		t.Errorf("unreadable: exit code %d: %q", code, out)
	}
}

func TestCheckThatCannotWrite(t *testing.T) {
	closed, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, format := range checkFormats() {
		var stderr bytes.Buffer
		if code := run(t.Context(), []string{"check", "--file=testdata/server.lctl.txt", "--format=" + format}, closed, &stderr); code != exitFailed {
			t.Errorf("%s: exit code %d", format, code)
		}
		if !strings.Contains(stderr.String(), "writing the report") {
			t.Errorf("%s: %q", format, &stderr)
		}
	}
}

func TestCheckJSONCanBeReadAgain(t *testing.T) {
	_, out, _ := runCheck(t, "--file=testdata/server.lctl.txt", "--format=json")
	var r lustre.Report
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Targets) != 3 || r.Targets[0].Entries != 13 || r.Source != "file" {
		t.Errorf("got %+v", r)
	}
}

func TestNothingDrivesTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"scratch-OST0000": "scratch-OST0000", "a b": "a b", "näme": "näme", `C:\x "y"`: `C:\x "y"`,
		"\x1b[31m": `"\x1b[31m"`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "a\u202eb": `"a\u202eb"`, "\x9b": `"\x9b"`, "": "",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got, want := quoted([]string{"a", "\x1b"}), `"a" "\x1b"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReportsOfNothing(t *testing.T) {
	var out bytes.Buffer
	if err := printTables(&out, &lustre.Report{Source: "lctl", Problems: []string{"lctl\x1b died"}}); err != nil {
		t.Fatal(err)
	}
	want := "No Lustre targets found (source lctl).\n\nCould not be read completely (the exporter would not show the jobs of such a target):\n  \"lctl\\x1b died\"\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
	if !reflect.DeepEqual((&lustre.Report{}).Total(), lustre.TargetReport{}) {
		t.Error("the total of nothing is something")
	}
}
