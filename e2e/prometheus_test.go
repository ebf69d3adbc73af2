// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// interval is how often everything scrapes in these tests.
const interval = 2 * time.Second

// startSimulated starts a simulator and an exporter that reads from it.
func startSimulated(t *testing.T, args ...string) *exporter {
	t.Helper()
	root := t.TempDir()
	simulator := start(t, binary(t, simulatorBin), "--root="+root, "--targets=4", "--users=20", "--entries=60", "--tick=200ms", "--cleanup-interval=20s")
	eventually(t, "simulated targets", func() error {
		found, err := filepath.Glob(filepath.Join(root, "proc/fs/lustre/*/*/job_stats"))
		select {
		case <-simulator.ended:
			t.Fatalf("the simulator has ended: %v", simulator.err)
		default:
		}
		if err == nil && len(found) < 4 {
			err = fmt.Errorf("%d targets", len(found))
		}
		return err
	})
	e := startExporter(t, append([]string{
		"--path.procfs=" + filepath.Join(root, "proc"), "--path.sysfs=" + filepath.Join(root, "sys"),
		"--lustre.scrape-interval=" + interval.String(), "--lustre.observation-interval=500ms", "--lustre.sizes", "--log.level=debug",
	}, args...)...)
	e.ready(t)
	return e
}

// scraper scrapes as Prometheus does: at its interval, on one connection, with its timeout in a header.
type scraper struct {
	name    string
	client  *http.Client
	scrapes int
	seen    map[string]float64 // last value of each job series
	errs    []error
	zeros   int // new series, after the first scrape, that began at 0
	risen   int // of those, which have a value by now
	new     map[string]bool
}

func newScraper(name string) *scraper {
	return &scraper{name: name, client: &http.Client{Timeout: interval}, seen: map[string]float64{}, new: map[string]bool{}}
}

func (s *scraper) scrape(target string) {
	request, err := http.NewRequest(http.MethodGet, target, http.NoBody)
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	request.Header.Set("User-Agent", "Prometheus/"+s.name)
	request.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", "2")
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	r, err := s.client.Do(request)
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		s.errs = append(s.errs, fmt.Errorf("status %d, %w", r.StatusCode, err))
		return
	}
	s.take(string(text))
	s.scrapes++
}

// take looks at how each job series goes on. In the first scrape all series may have values: what the exporter
// read when it started is no increase.
func (s *scraper) take(text string) {
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(line, ' ')
		if !strings.HasPrefix(line, "lustre_job_") || at < 0 {
			continue
		}
		series := line[:at]
		v, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		if err != nil {
			s.errs = append(s.errs, err)
			continue
		}
		if _, known := s.seen[series]; !known && s.scrapes > 0 {
			if v != 0 {
				s.errs = append(s.errs, fmt.Errorf("scrape %d: new series %s begins at %v", s.scrapes, series, v))
			}
			s.zeros++
			s.new[series] = true
		}
		if s.new[series] && v > 0 {
			s.risen++
			delete(s.new, series)
		}
		s.seen[series] = v
	}
}

// Two scrapers half an interval apart, and somebody with curl in between, must each see every new series at 0 first.
func TestTwoScrapersSeeZerosFirst(t *testing.T) {
	t.Parallel()
	e := startSimulated(t)
	var running sync.WaitGroup
	scrapers := []*scraper{newScraper("a"), newScraper("b")}
	end := time.Now().Add(15 * interval)
	for i, s := range scrapers {
		running.Go(func() {
			defer s.client.CloseIdleConnections()
			time.Sleep(time.Duration(i) * interval / 2)
			for ticker := time.NewTicker(interval); time.Now().Before(end); <-ticker.C {
				s.scrape(e.url + "/metrics")
			}
		})
	}
	running.Go(func() {
		for time.Now().Before(end) {
			if _, _, err := get(e.url + "/metrics"); err != nil {
				t.Errorf("curl: %v", err)
			}
			time.Sleep(interval * 3 / 10)
		}
	})
	running.Wait()
	for _, s := range scrapers {
		t.Logf("scraper %s: %d scrapes, %d series, %d began at 0, of which %d rose", s.name, s.scrapes, len(s.seen), s.zeros, s.risen)
		for _, err := range s.errs[:min(len(s.errs), 10)] {
			t.Errorf("scraper %s: %v", s.name, err)
		}
		if s.scrapes < 10 || len(s.seen) < 100 || s.zeros < 10 || s.risen < 10 {
			t.Errorf("scraper %s saw too little to tell", s.name)
		}
	}
}

// formats are the scrape protocols of Prometheus 3 that the exporter speaks, by scrape job.
func formats() map[string]string {
	return map[string]string{"text": "PrometheusText0.0.4", "openmetrics": "OpenMetricsText1.0.0", "openmetrics001": "OpenMetricsText0.0.1", "protobuf": "PrometheusProto"}
}

type server struct {
	*process
	url string
}

func startPrometheus(t *testing.T, target string) *server {
	t.Helper()
	dir := t.TempDir()
	var config strings.Builder
	fmt.Fprintf(&config, "global:\n  scrape_interval: %s\n  scrape_timeout: %s\nscrape_configs:\n", interval, interval)
	for job, protocol := range formats() {
		fmt.Fprintf(&config, "  - job_name: %s\n    scrape_protocols: [%s]\n    scrape_native_histograms: %v\n    static_configs:\n      - targets: ['%s']\n",
			job, protocol, job == "protobuf", strings.TrimPrefix(target, "http://"))
	}
	file := write(t, filepath.Join(dir, "prometheus.yml"), config.String(), 0o600)
	p := &server{process: start(t, binary(t, prometheusBin),
		"--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0", "--log.level=debug")}
	p.url = "http://" + p.address(t)
	return p
}

// query evaluates an instant query to one value per job.
func (p *server) query(expression string) (map[string]float64, error) {
	status, body, err := get(p.url + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric struct{ Job string }
				Value  [2]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("status %d, %w: %s", status, err, body)
	}
	values := map[string]float64{}
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		if values[r.Metric.Job], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// eventuallyAll waits until an expression is above 0 for these jobs.
func (p *server) eventuallyAll(t *testing.T, expression string, jobs ...string) {
	t.Helper()
	eventually(t, expression, func() error {
		values, err := p.query(expression)
		for _, job := range jobs {
			if err == nil && !(values[job] > 0) {
				err = fmt.Errorf("%s: %v", job, values)
			}
		}
		return err
	})
}

// targets returns the health of each job's target.
func (p *server) targets() (map[string]string, error) {
	_, body, err := get(p.url + "/api/v1/targets?state=active")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			ActiveTargets []struct {
				Labels    struct{ Job string }
				Health    string
				LastError string
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return nil, err
	}
	health := map[string]string{}
	for _, target := range answer.Data.ActiveTargets {
		health[target.Labels.Job] = strings.TrimSpace(target.Health + " " + target.LastError)
	}
	return health, nil
}

// TestPrometheusScrapesEachFormat has a real Prometheus scrape the same exporter in each format.
func TestPrometheusScrapesEachFormat(t *testing.T) {
	t.Parallel()
	e := startSimulated(t)
	p := startPrometheus(t, e.url)
	var jobs []string
	for job := range formats() {
		jobs = append(jobs, job)
	}
	p.eventuallyAll(t, "up", jobs...)
	p.eventuallyAll(t, "sum by (job) (scrape_samples_post_metric_relabeling)", jobs...)
	p.eventuallyAll(t, `count by (job) (lustre_job_operations_total > 0)`, jobs...)
	p.eventuallyAll(t, `sum by (job) (increase(lustre_job_operations_total[1m]))`, jobs...)
	p.eventuallyAll(t, `sum by (job) (increase(lustre_user_operation_seconds_total[1m]))`, jobs...)
	p.eventuallyAll(t, `count by (job) (lustre_job_write_bytes_total)`, jobs...)
	p.eventuallyAll(t, `count by (job) (histogram_count(lustre_job_write_size_bytes) > 0)`, "protobuf")
	// New series began at 0: their first sample in Prometheus is.
	p.eventuallyAll(t, `count by (job) (resets(lustre_job_operations_total[1m]) == 0 and min_over_time(lustre_job_operations_total[1m]) == 0 and lustre_job_operations_total > 0)`, jobs...)

	health, err := p.targets()
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if health[job] != "up" {
			t.Errorf("%s: %s", job, health[job])
		}
	}
	// Without a single failure on the way.
	values, err := p.query("min by (job) (min_over_time(up[5m]))")
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if values[job] != 1 {
			t.Errorf("%s was down: %v", job, values)
		}
	}
	p.complainsNot(t)
	if strings.Contains(e.logs(), "level=error") || strings.Contains(e.logs(), "level=warn") {
		t.Error("the exporter complains")
	}
	values, err = p.query("sum by (job) (scrape_samples_scraped)")
	t.Logf("samples by job: %v, %v", values, err)
}

// complainsNot fails if Prometheus rejected samples of any scrape, of which it tells in its metrics and in its log.
func (p *server) complainsNot(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(mustGet(t, p.url+"/metrics")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, "prometheus_target_scrapes_") || strings.HasPrefix(line, "#") {
			continue
		}
		if value != "0" && !strings.Contains(name, "cache_flush") {
			t.Errorf("%s is %s", name, value)
		}
	}
	for _, word := range []string{"Append failed", "Error on ingesting", "Scrape commit failed", "level=ERROR"} {
		if strings.Contains(p.logs(), word) {
			t.Errorf("Prometheus logs %q", word)
		}
	}
}
