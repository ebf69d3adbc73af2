// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// scrapeEntries is how many living entries the target of BenchmarkScrape has, each of a job and node of its own.
const scrapeEntries = 50_000

// BenchmarkScrape measures whole scrapes of the real command: the target is read, accounted, and all its series are sent
// to a client on the loopback. Between scrapes every counter that is not zero grows.
//
//	go test ./exporter -run TestNone -bench BenchmarkScrape
//
// The metrics are of one scrape, except peakRSS-MB: the most memory that the process, which serves one format only, ever had.
func BenchmarkScrape(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "pfs_exporter")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	for _, way := range []scrapeWay{
		{"text", "text/plain;version=0.0.4", ""},
		{"text-gzip", "text/plain;version=0.0.4", "gzip"},
		{"protobuf", string(expfmt.FmtProtoDelim), ""},
	} {
		b.Run(way.name, func(b *testing.B) { benchmarkScrape(b, binary, way) })
	}
}

// scrapeWay is what a scraper asks for.
type scrapeWay struct{ name, accept, encoding string }

func benchmarkScrape(b *testing.B, binary string, way scrapeWay) {
	tree := b.TempDir()
	step := 0
	grow := func() {
		writeStep(b, tree, step)
		step++
	}
	grow()
	url, pid := startExporter(b, binary, tree)
	var body bytes.Buffer
	for range 2 { // the first scrape makes the books and the buffers
		scrapeOnce(b, url, way, &body)
		grow()
	}
	b.ResetTimer()
	for b.Loop() {
		scrapeOnce(b, url, way, &body)
		b.StopTimer()
		grow()
		b.StartTimer()
	}
	b.StopTimer()

	seconds := b.Elapsed().Seconds() / float64(b.N)
	series := countSeries(b, way, body.Bytes())
	if series < 5*scrapeEntries {
		b.Fatalf("%d series of %d entries: the scrape is not what is to be measured", series, scrapeEntries)
	}
	b.ReportMetric(seconds, "s/scrape")
	b.ReportMetric(float64(series), "series")
	b.ReportMetric(seconds*1e9/float64(series), "ns/series")
	b.ReportMetric(float64(body.Len()), "bytes")
	if peak, ok := peakMemory(pid); ok {
		b.ReportMetric(peak, "peakRSS-MB")
	}
}

// writeStep replaces the target's job_stats.
func writeStep(b *testing.B, tree string, step int) {
	b.Helper()
	dir := filepath.Join(tree, "fs/lustre/obdfilter/bench-OST0000")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "new"))
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(simulator.WriteBench(f, scrapeEntries, step), f.Close(), os.Rename(f.Name(), filepath.Join(dir, "job_stats"))); err != nil {
		b.Fatal(err)
	}
}

// startExporter returns the URL of the metrics once the command is ready; it is ended with the benchmark.
func startExporter(b *testing.B, binary, tree string) (url string, pid int) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		b.Fatal(err)
	}
	above := strconv.Itoa(2 * scrapeEntries)
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, binary, "--web.listen-address="+address, "--path.procfs="+tree, "--path.sysfs="+tree,
		"--lustre.max-entries="+above, "--lustre.max-users="+above, "--lustre.max-nodes-per-job="+above, "--lustre.observation-interval=0s")
	command.Stderr = &log
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cancel()
		_ = command.Wait() // killed
	})
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get("http://" + address + "/-/ready"); err == nil {
			_ = answer.Body.Close() // nothing is read from it
			if answer.StatusCode == http.StatusOK {
				return "http://" + address + "/metrics", command.Process.Pid
			}
		}
	}
	cancel()
	_ = command.Wait() // so that the log is complete
	b.Fatalf("not ready:\n%s", log.String())
	return "", 0
}

// scrapeOnce reads a whole response, as it comes, into body.
func scrapeOnce(b *testing.B, url string, way scrapeWay, body *bytes.Buffer) {
	b.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Accept", way.accept)
	request.Header.Set("Accept-Encoding", way.encoding) // set, or net/http would unpack
	request.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", "10")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	body.Reset()
	_, err = body.ReadFrom(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		b.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != way.encoding {
		b.Fatalf("status %s, encoding %q", answer.Status, answer.Header.Get("Content-Encoding"))
	}
}

// countSeries counts the job series of a response.
func countSeries(b *testing.B, way scrapeWay, body []byte) (n int) {
	b.Helper()
	var r io.Reader = bytes.NewReader(body)
	if way.encoding == "gzip" {
		z, err := gzip.NewReader(r)
		if err != nil {
			b.Fatal(err)
		}
		r = z
	}
	if expfmt.Format(way.accept).FormatType() == expfmt.TypeProtoDelim {
		return countProtobuf(b, r)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("lustre_job_")) || bytes.HasPrefix(line, []byte("lustre_user_")) {
			n++
		}
	}
	return n
}

func countProtobuf(b *testing.B, r io.Reader) (n int) {
	b.Helper()
	for d := expfmt.NewDecoder(r, expfmt.FmtProtoDelim); ; {
		var f dto.MetricFamily
		if err := d.Decode(&f); errors.Is(err, io.EOF) {
			return n
		} else if err != nil {
			b.Fatal(err)
		}
		if strings.HasPrefix(f.GetName(), "lustre_job_") || strings.HasPrefix(f.GetName(), "lustre_user_") {
			n += len(f.Metric)
		}
	}
}

// peakMemory is the most resident memory of a process in MB, where /proc tells.
func peakMemory(pid int) (float64, bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			return kib * 1024 / 1e6, true
		}
	}
	return 0, false
}
