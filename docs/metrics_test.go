// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs_test generates the documents that are made from the code.
package docs_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

var update = flag.Bool("update", false, "write docs/metrics.md anew")

// texts hold every kind of line there is, and give every label.
const texts = `job_stats:
- job_id:          "11317854:17627127:1000:r01c01"
  snapshot_time:   1723114647.887515895 secs.nsecs
  start_time:      1723102025.057286226 secs.nsecs
  elapsed_time:    12622.830229669 secs.nsecs
  read_bytes:      { samples: 2, unit: bytes, min: 4096, max: 4096, sum: 8192, sumsq: 1, hist: { 4K: 2 } }
  write_bytes:     { samples: 2, unit: bytes, min: 4096, max: 4096, sum: 8192, sumsq: 1, hist: { 4K: 2 } }
  read:            { samples: 2, unit: usecs, min: 1, max: 1, sum: 2, sumsq: 2 }
- job_id:          wget.17627127
  read_bytes:      { samples: 2, unit: bytes, min: 4096, max: 4096, sum: 8192, sumsq: 1, hist: { 4K: 2 } }
  write_bytes:     { samples: 2, unit: bytes, min: 4096, max: 4096, sum: 8192, sumsq: 1, hist: { 4K: 2 } }
  read:            { samples: 2, unit: usecs, min: 1, max: 1, sum: 2, sumsq: 2 }
`

// optional families need a flag.
var optional = map[string]string{
	"lustre_job_operation_seconds_total": "`--lustre.job-seconds`",
	"lustre_job_read_size_bytes":         "`--lustre.sizes`, protobuf only",
	"lustre_job_write_size_bytes":        "`--lustre.sizes`, protobuf only",
}

func TestGoldenMetrics(t *testing.T) {
	var out bytes.Buffer
	fmt.Fprint(&out, "# Metrics\n\nMade from the code by `make golden`. Beside these, every collector has `pfs_exporter_collector_success` and\n"+
		"`pfs_exporter_collector_duration_seconds` (label `collector`), and the exporter has the usual `go_*`, `process_*` and\n"+
		"`pfs_exporter_build_info`. Identity labels (`executable`, `gid`, `jobid`, `nodename`, `uid`) are left out where an identifier does not have them.\n\n"+
		"| metric | type | labels | needs | meaning |\n|---|---|---|---|---|\n")
	families := exposed(t)
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		kind := strings.ToLower(f.GetType().String())
		if kind == "histogram" {
			kind = "native histogram"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", name, kind, labels(f), optional[name], f.GetHelp())
	}
	path := "metrics.md"
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, out.Bytes()) {
		t.Errorf("%s is not what the code exposes; run make golden and read the difference. The code says:\n%s", path, out.Bytes())
	}
}

func labels(f *dto.MetricFamily) string {
	names := map[string]bool{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			names["`"+l.GetName()+"`"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// exposed returns every family that the Lustre collector can show.
func exposed(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dump")
	if err := os.WriteFile(path, []byte("mdt.fs-MDT0000.job_cleanup_interval=600\nmdt.fs-MDT0000.job_stats=\n"+texts), 0o600); err != nil {
		t.Fatal(err)
	}
	compute, err := jobid.ParseFormat("compute=%j:%u:%g:%H")
	if err != nil {
		t.Fatal(err)
	}
	identifier, err := jobid.New(jobid.Config{Formats: append([]jobid.Format{compute}, jobid.DefaultFormats()[1:]...)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := lustre.New(lustre.Config{
		Source: source.NewFile(path, source.Target{}), ReadTimeout: time.Minute,
		Ledger: ledger.Config{
			ScrapeInterval: time.Minute, MaxEntries: 9, MaxNodesPerJob: 9, MaxUsers: 9, JobSeconds: true, Sizes: true, Identifier: identifier,
		},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, err := c.Observe(context.Background(), collector.Client{})
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]*dto.MetricFamily{}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collecting{p})
	small, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range small {
		families[f.GetName()] = f
	}
	for _, f := range streamed(t, p) {
		families[f.GetName()] = f
	}
	return families
}

func streamed(t *testing.T, p collector.Page) (families []*dto.MetricFamily) {
	t.Helper()
	var text bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeProtoDelim)
	e, err := exposition.New(&text, format)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.WriteFamilies(e), e.Close()); err != nil {
		t.Fatal(err)
	}
	for d := expfmt.NewDecoder(&text, format); ; {
		f := &dto.MetricFamily{}
		if err := d.Decode(f); errors.Is(err, io.EOF) {
			return families
		} else if err != nil {
			t.Fatal(err)
		}
		families = append(families, f)
	}
}

// collecting makes a page a collector without descriptions.
type collecting struct{ collector.Page }

func (collecting) Describe(chan<- *prometheus.Desc) {}
