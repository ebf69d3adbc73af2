// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// promtool returns the path of the pinned promtool, and skips the test where it was not built.
func promtool(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PROMTOOL_BIN")
	if path == "" {
		path = filepath.Join("..", ".build", "bin", "promtool")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no promtool (%v): make .build/bin/promtool, or name one in PROMTOOL_BIN", err)
	}
	return path
}

// run runs promtool in a directory, as paths in test files are relative to it.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	touch(t, "*.yml", "tests/*.yml")
	cmd := exec.Command(promtool(t), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// touch opens what promtool will read: the go command knows a test's files only if the test itself opens them, and would
// go on showing a cached result.
func touch(t *testing.T, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// generated returns the files for the options.
func generated(t *testing.T, o Options) map[string][]byte {
	t.Helper()
	files, err := Files(o)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// write puts files into a new directory.
func write(t *testing.T, files map[string][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCommittedFilesAreGenerated(t *testing.T) {
	files := generated(t, DefaultOptions())
	committed, err := filepath.Glob("*.yml")
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(maps.Keys(files)); !slices.Equal(committed, want) {
		t.Errorf("files %q, want %q", committed, want)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its template writes: go run ./rules/generate", name)
		}
	}
}

// Other windows and job names, speeded up or not, must be as valid as the shipped files.
func TestOptions(t *testing.T) {
	f := func(o Options, contain, lack string) {
		t.Helper()
		files := generated(t, o)
		all := string(bytes.Join(slices.Collect(maps.Values(files)), nil))
		if !strings.Contains(all, contain) {
			t.Errorf("%+v: no %q", o, contain)
		}
		if strings.Contains(all, lack) {
			t.Errorf("%+v: has %q", o, lack)
		}
		dir := write(t, files)
		run(t, dir, append([]string{"check", "rules", "--lint=all", "--lint-fatal"}, slices.Sorted(maps.Keys(files))...)...)
	}

	f(Options{Window: 10 * time.Minute, Job: "lustre", Speedup: 1}, "uid_target:lustre_metadata_load:rate10m", "rate5m")
	f(Options{Window: 10 * time.Minute, Job: "lustre", Speedup: 1}, "(lustre_job_operations_total[10m])", "[5m]")
	f(Options{Window: 2 * time.Minute, Job: "mds", Speedup: 1}, `up{job="mds"}`, `job="lustre"`)
	f(Options{Window: 6 * time.Second, Job: "lustre", Speedup: 60}, "rate6s[24m]", "[1d]")
	f(Options{Window: 90 * time.Second, Job: "lustre", Speedup: 1000}, "rate1m30s", "[0s]")
}

func TestOptionsRefused(t *testing.T) {
	f := func(change func(*Options)) {
		t.Helper()
		o := DefaultOptions()
		change(&o)
		if _, err := Files(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v, want ErrOptions", o, err)
		}
	}

	f(func(o *Options) { o.Window = 0 })
	f(func(o *Options) { o.Window = 2 * time.Hour })
	f(func(o *Options) { o.Window = 1500 * time.Millisecond })
	f(func(o *Options) { o.Speedup = 0 })
	f(func(o *Options) { o.Speedup = 0.5 })
	f(func(o *Options) { o.Job = "" })
	f(func(o *Options) { o.Job = `a"} or vector(1) or up{job="` })
}

func TestPromDuration(t *testing.T) {
	f := func(d time.Duration, want string) {
		t.Helper()
		if got := promDuration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}

	f(0, "0s")
	f(5*time.Minute, "5m")
	f(24*time.Hour, "1d")
	f(23*time.Hour+30*time.Minute, "23h30m")
	f(167*time.Hour+30*time.Minute, "6d23h30m")
	f(1500*time.Millisecond, "1s500ms")
}

func TestScaled(t *testing.T) {
	f := func(speedup float64, text, want string) {
		t.Helper()
		got, err := Options{Speedup: speedup}.scaled(text)
		if err != nil || got != want {
			t.Errorf("%s at %g: %q, %v, want %q", text, speedup, got, err, want)
		}
	}

	f(1, "1d", "1d")
	f(1, "10m", "10m")
	f(60, "1d", "24m")
	f(60, "5m", "5s")
	f(1000, "3m", "1s")
	for _, bad := range []string{"", "d", "xd", "5", "5 m"} {
		if got, err := (Options{Speedup: 1}).scaled(bad); err == nil {
			t.Errorf("%q gives %q", bad, got)
		}
	}
}

func TestCheckRules(t *testing.T) {
	files, err := filepath.Glob("*.yml")
	if err != nil {
		t.Fatal(err)
	}
	run(t, ".", append([]string{"check", "rules", "--lint=all", "--lint-fatal"}, files...)...)
}

// slow are the tests with a day and more in them; -short leaves them out.
var slow = []string{"history.test.yml", "season.test.yml"}

func TestPromtool(t *testing.T) {
	promtool(t)
	files, err := filepath.Glob("tests/*.test.yml")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d test files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if testing.Short() && slices.Contains(slow, filepath.Base(file)) {
				t.Skip("-short")
			}
			t.Parallel()
			run(t, "tests", "test", "rules", filepath.Base(file))
		})
	}
}

// A window of 10 minutes with scrapes every two: the rate is as exact, and one lost scrape does not lose it.
func TestSparseScrapes(t *testing.T) {
	files := generated(t, Options{Window: 10 * time.Minute, Job: "lustre", Speedup: 1})
	files["sparse.test.yml"] = []byte(`
rule_files: [lustre-constants.yml, lustre-usage.yml]
evaluation_interval: 2m
group_eval_order: [lustre-constants, lustre-usage, lustre-quality]
fuzzy_compare: true
tests:
  - interval: 2m
    input_series:
      - {series: 'lustre_target_info{instance="m",job="lustre",target="s-MDT0000",fs="s",kind="mdt"}', values: '1x20'}
      - {series: 'lustre_job_operations_total{instance="m",job="lustre",target="s-MDT0000",operation="open",jobid="1",uid="1001"}', values: '0+1200x20'}
      - {series: 'lustre_job_operations_total{instance="m",job="lustre",target="s-MDT0000",operation="close",jobid="1",uid="1001"}', values: '0 1200 2400 3600 4800 6000 7200 _ 9600 10800 12000'}
    promql_expr_test:
      - expr: uid_target_operation:lustre_operations:rate10m
        eval_time: 20m
        exp_samples:
          - {labels: 'uid_target_operation:lustre_operations:rate10m{fs="s",job="lustre",kind="mdt",operation="close",target="s-MDT0000",uid="1001"}', value: 10}
          - {labels: 'uid_target_operation:lustre_operations:rate10m{fs="s",job="lustre",kind="mdt",operation="open",target="s-MDT0000",uid="1001"}', value: 10}
`)
	run(t, write(t, files), "test", "rules", "sparse.test.yml")
}
