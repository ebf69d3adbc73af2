// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

var update = flag.Bool("update", false, "write golden files anew")

const (
	samples = "../testdata/jobstats"
	goldens = "../testdata/golden"
)

// TestGoldenExposition holds the exposition of each sample to what was reviewed, one sample per dialect. All
// entries are kept, or the samples, which are full of system users, would show zeros and nothing else.
func TestGoldenExposition(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples, "*.txt"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, sample := range files {
		name := strings.TrimSuffix(filepath.Base(sample), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := expose(t, sample)
			compare(t, name+".prom", got)
			lint(t, got)
		})
	}
	if t.Failed() {
		return
	}
	extra, err := filepath.Glob(filepath.Join(goldens, "*.prom"))
	if err != nil || len(extra) > len(files) {
		t.Errorf("%d golden files for %d samples, %v", len(extra), len(files), err)
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(goldens, name)
	if *update {
		if err := os.MkdirAll(goldens, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, got, 0o644)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; make golden writes it", err)
	}
	if got != string(want) {
		t.Errorf("differs from %s (make golden writes it anew):\n%s", file, firstDifference(got, string(want)))
	}
}

// TestGoldenHistograms does the same for what only protobuf can carry.
func TestGoldenHistograms(t *testing.T) {
	e := startGolden(t, filepath.Join(samples, "lctl_2.17_multi.txt"), "--lustre.sizes")
	body := mustGet(t, e.url+"/metrics", "Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	decoder := expfmt.NewDecoder(strings.NewReader(body), expfmt.FmtProtoDelim)
	var got strings.Builder
	for {
		family := &dto.MetricFamily{}
		if err := decoder.Decode(family); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, m := range family.Metric {
			if m.GetCounter().GetCreatedTimestamp() != nil || m.GetHistogram().GetCreatedTimestamp() != nil {
				t.Errorf("%s has a created timestamp, although nobody asked for it", family.GetName())
			}
			if h := m.GetHistogram(); h != nil {
				fmt.Fprintf(&got, "%s", family.GetName())
				for _, l := range m.Label {
					fmt.Fprintf(&got, " %s=%q", l.GetName(), l.GetValue())
				}
				fmt.Fprintf(&got, "\n  count %d, sum %v, schema %d, zero %d below %v", h.GetSampleCount(), h.GetSampleSum(), h.GetSchema(), h.GetZeroCount(), h.GetZeroThreshold())
				for _, span := range h.PositiveSpan {
					fmt.Fprintf(&got, ", skip %d take %d", span.GetOffset(), span.GetLength())
				}
				fmt.Fprintf(&got, ", deltas %v\n", h.PositiveDelta)
			}
		}
	}
	compare(t, "lctl_2.17_multi.histograms", got.String())
}

// startGolden starts an exporter of a dump.
func startGolden(t *testing.T, dump string, args ...string) *exporter {
	t.Helper()
	target := "unknown"
	switch name := filepath.Base(dump); {
	case strings.HasPrefix(name, "mdt_"):
		target = "scratch-MDT0000"
	case strings.HasPrefix(name, "ost_"):
		target = "scratch-OST0000"
	}
	e := startExporter(t, append(args, "--lustre.source=file", "--lustre.file="+dump, "--lustre.target="+target,
		"--web.disable-exporter-metrics", "--lustre.system-users=keep", "--lustre.malformed=keep")...)
	e.ready(t)
	return e
}

// expose returns what the exporter shows of a dump, without what differs from run to run.
func expose(t *testing.T, dump string) string {
	t.Helper()
	e := startGolden(t, dump, "--lustre.job-seconds")
	var kept strings.Builder
	for line := range strings.Lines(mustGet(t, e.url+"/metrics")) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if strings.HasPrefix(name, "pfs_exporter_") || strings.HasPrefix(name, "lustre_jobstats_read_duration_seconds") {
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is the beginning of the other"
}

// lint asks promtool for its opinion.
func lint(t *testing.T, text string) {
	t.Helper()
	cmd := exec.Command(binary(t, promtoolBin), "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func TestPromtoolFindsNothingInOwnMetrics(t *testing.T) {
	e := startExporter(t)
	e.ready(t)
	text := mustGet(t, e.url+"/metrics")
	for _, want := range []string{"go_goroutines", "process_cpu_seconds_total", "pfs_exporter_build_info", "pfs_exporter_scrapes_total"} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
	lint(t, text)
}
