// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// historyStep is the shipped evaluation_interval.
const historyStep = 30 * time.Second

// history are label sets of recorded series whose past the rules look at.
type history struct {
	operations, bytes, targets, users []string // as between { and }
}

// backfill writes a day of recorded history, and the hour of a week ago, into Prometheus' data directory before it
// starts: over an empty past the baselines would cost nothing. The values do not matter. It returns how many samples.
func (s *site) backfill() int {
	s.t.Helper()
	h := s.labels()
	data := filepath.Join(s.t.TempDir(), "blocks")
	now := time.Now()
	n := 0
	for from := now.Add(-24*time.Hour - 10*time.Minute); from.Before(now); from = from.Add(2 * time.Hour) {
		n += s.block(data, h, from, from.Add(2*time.Hour), now)
	}
	week := now.Add(-7 * 24 * time.Hour)
	n += s.block(data, h, week.Add(-time.Hour), week.Add(time.Hour), now)
	s.must(os.MkdirAll(filepath.Join(s.Dir(), "prometheus"), 0o755))
	s.must(os.Rename(data, filepath.Join(s.Dir(), "prometheus", "data")))
	return n
}

// block makes a block of a stretch of time that ends before now. promtool takes text, and reads all of it for every two
// hours in it: hence one by one.
func (s *site) block(data string, h history, from, to, now time.Time) int {
	s.t.Helper()
	if to.After(now) {
		to = now
	}
	file := filepath.Join(s.t.TempDir(), "history.om")
	f, err := os.Create(file)
	s.must(err)
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	n := 0
	series := func(from time.Time, name string, sets []string) {
		for _, set := range sets {
			level := math.Exp(3 * rand.NormFloat64())
			for at := from; at.Before(to); at = at.Add(historyStep) {
				fmt.Fprintf(w, "%s{%s} %.4g %d\n", name, set, level*(0.5+rand.Float64()), at.Unix())
				n++
			}
		}
	}
	for name, sets := range map[string][]string{
		"target_operation:lustre_operations": h.operations, "target_operation:lustre_bytes": h.bytes, "target:lustre_metadata_load": h.targets,
	} {
		series(from, name+":rate5m", sets)
		series(from, name+":log10_deviation", sets)
	}
	series(from, "target_operation:lustre_operation_seconds:mean5m", h.operations)
	if hour := now.Add(-time.Hour); to.After(hour) { // what the culprits look at
		if hour.Before(from) {
			hour = from
		}
		series(hour, "target:lustre_metadata_seconds:mean5m", h.targets)
		series(hour, "uid_target:lustre_metadata_weighted:rate5m", h.users)
		series(hour, "uid_target:lustre_metadata_weighted_seconds:product", h.users)
	}
	_, err = io.WriteString(w, "# EOF\n")
	s.must(err)
	s.must(w.Flush())
	if out, err := exec.Command(binary(s.t, promtoolBin), "tsdb", "create-blocks-from", "openmetrics", "--quiet", file, data).CombinedOutput(); err != nil {
		s.t.Fatalf("promtool: %v\n%s", err, out)
	}
	return n
}

// labels finds out from the exporters which series there will be.
func (s *site) labels() history {
	s.t.Helper()
	operations, bytes, targets, users := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range s.Exporters {
		response, err := http.Get("http://" + e.Address + "/metrics")
		s.must(err)
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			text, ok := strings.CutPrefix(lines.Text(), "lustre_job_operations_total{")
			if !ok {
				continue
			}
			target, operation := label(text, "target"), label(text, "operation")
			kind := "ost"
			if strings.Contains(target, "-MDT") {
				kind = "mdt"
			}
			base := fmt.Sprintf(`fs="scratch",job="lustre",kind=%q,target=%q`, kind, target)
			operations[base+fmt.Sprintf(",operation=%q", operation)] = true
			if operation == "read" || operation == "write" {
				bytes[base+fmt.Sprintf(",operation=%q", operation)] = true
			}
			if kind == "mdt" {
				targets[base] = true
				users[base+fmt.Sprintf(",uid=%q", label(text, "uid"))] = true
			}
		}
		s.must(lines.Err())
	}
	sorted := func(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
	return history{sorted(operations), sorted(bytes), sorted(targets), sorted(users)}
}

func label(series, name string) string {
	_, after, _ := strings.Cut(series, name+`="`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}
