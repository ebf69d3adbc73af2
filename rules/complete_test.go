// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// prometheus are the metrics of Prometheus itself that the rules use.
var prometheus = []string{"up", "scrape_duration_seconds", "prometheus_rule_evaluation_failures_total"}

// exposed returns the families that the exporter exposes: those of the golden expositions, and, as these come from saved
// dumps that say nothing of clean-up and collectors, those of docs/metrics.md, which is made from the code.
func exposed(t *testing.T) []string {
	t.Helper()
	goldens, err := filepath.Glob("../testdata/golden/*.prom")
	if err != nil || len(goldens) == 0 {
		t.Fatalf("no golden expositions: %v", err)
	}
	var found []string
	add := func(file string, names *regexp.Regexp) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(found, m[1]) {
				found = append(found, m[1])
			}
		}
	}
	for _, golden := range goldens {
		add(golden, regexp.MustCompile(`(?m)^# TYPE (\S+) `))
	}
	if len(found) < 8 {
		t.Fatalf("only %q in the golden expositions", found)
	}
	add("../docs/metrics.md", regexp.MustCompile("`((?:lustre|pfs_exporter)_[a-z_]+)`"))
	return found
}

// recorded returns the names that the rules record.
func recorded(all []rule) []string {
	var names []string
	for _, r := range all {
		if r.Record != "" && !slices.Contains(names, r.Record) {
			names = append(names, r.Record)
		}
	}
	return names
}

// used returns the metrics that a rule selects, in its expression and in its annotations.
func used(t *testing.T, r rule) []string {
	t.Helper()
	names := metrics(r.Expr)
	for _, annotation := range r.Annotations {
		for _, q := range queried(t, annotation) {
			names = append(names, metrics(q)...)
		}
	}
	return names
}

func TestMetricsExist(t *testing.T) {
	all := load(t)
	known := slices.Concat(exposed(t), recorded(all), prometheus)
	for _, r := range all {
		for _, name := range used(t, r) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: %s%s uses %s, which is neither exposed nor recorded", r.File, r.Record, r.Alert, name)
			}
		}
	}
}

// Every recorded metric is documented or used; a threshold is used.
func TestRecordedIsUsed(t *testing.T) {
	all := load(t)
	doc := read(t, "../docs/rules.md")
	var uses []string
	for _, r := range all {
		uses = append(uses, used(t, r)...)
	}
	for _, name := range recorded(all) {
		// docs/rules.md writes W for the window.
		documented := strings.Contains(doc, "`"+strings.Replace(strings.Replace(name, ":rate5m", ":rateW", 1), ":mean5m", ":meanW", 1)+"`")
		isThreshold := strings.HasPrefix(name, "lustre:threshold:")
		inUse := slices.Contains(uses, name)
		if isThreshold && !inUse && name != "lustre:threshold:trend_crossing" || !documented && !inUse {
			t.Errorf("%s is recorded, and nobody knows what for", name)
		}
		if !documented && !isThreshold {
			t.Errorf("%s is not in docs/rules.md", name)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every rule is tested by promtool: each recorded metric is asked for, each alert is expected both silent and firing.
func TestEveryRuleIsTested(t *testing.T) {
	files, err := filepath.Glob("tests/*.test.yml")
	if err != nil {
		t.Fatal(err)
	}
	var tests string
	for _, file := range files {
		tests += read(t, file)
	}
	asked := strings.Join(regexp.MustCompile(`(?m)^\s+- expr: .*$`).FindAllString(tests, -1), "\n")
	for _, r := range load(t) {
		if r.Record != "" && !strings.HasPrefix(r.Record, "lustre:threshold:") && !strings.Contains(asked, r.Record) {
			t.Errorf("no test asks for %s", r.Record)
		}
		if strings.HasPrefix(r.Record, "lustre:threshold:") && !strings.Contains(tests, r.Record+"{}") {
			t.Errorf("no test expects %s", r.Record)
		}
		if r.Alert == "" {
			continue
		}
		if !strings.Contains(tests, "{alertname: "+r.Alert+", ") {
			t.Errorf("no test expects %s to be silent", r.Alert)
		}
		if !strings.Contains(tests, "- alertname: "+r.Alert+"\n") {
			t.Errorf("no test expects %s to fire", r.Alert)
		}
	}
}

// What every alert has, and what its runbook has.
func TestAlerts(t *testing.T) {
	severities := []string{"critical", "warning", "info"}
	categories := []string{"symptom", "cause", "data", "health"}
	pages, err := filepath.Glob("../docs/runbooks/Lustre*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range load(t) {
		if r.Alert == "" {
			continue
		}
		if !slices.Contains(severities, r.Labels["severity"]) || !slices.Contains(categories, r.Labels["category"]) {
			t.Errorf("%s: labels %v", r.Alert, r.Labels)
		}
		if r.For == "" {
			t.Errorf("%s: no for", r.Alert)
		}
		for _, a := range []string{"summary", "description"} {
			if r.Annotations[a] == "" {
				t.Errorf("%s: no %s", r.Alert, a)
			}
		}
		if want := runbooks + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url %q, want %q", r.Alert, r.Annotations["runbook_url"], want)
		}
		page := "../docs/runbooks/" + r.Alert + ".md"
		if i := slices.Index(pages, page); i < 0 {
			t.Errorf("%s: no runbook", r.Alert)
		} else {
			pages = slices.Delete(pages, i, i+1)
			if text := read(t, page); !strings.HasPrefix(text, "# "+r.Alert+"\n") || len(text) < 500 {
				t.Errorf("%s: its runbook does not begin with its name, or says nothing", r.Alert)
			}
		}
	}
	if len(pages) > 0 {
		t.Errorf("runbooks of no alert: %q", pages)
	}
}

// Whatever a user chooses passes through reReplaceAll or is asked for as a quoted string; commands hold nothing else
// than what matched digits.
func TestInertTexts(t *testing.T) {
	shown := regexp.MustCompile(`\{\{[^{}]*\.Labels\.(?:jobid|nodename|executable)[^{}]*\}\}`)
	safe := regexp.MustCompile(`^\{\{ (?:reReplaceAll "\[\^0-9A-Za-z_\.@:-\]" "_" |if \$job\.Labels|range query \(printf ")`)
	for _, r := range load(t) {
		for name, text := range r.Annotations {
			if strings.HasPrefix(name, "throttle") {
				guarded(t, r.Alert+" "+name, text)
				continue
			}
			for _, part := range shown.FindAllString(text, -1) {
				if !safe.MatchString(part) {
					t.Errorf("%s: %s shows what a user chose: %s", r.Alert, name, part)
				}
			}
		}
		for label, value := range r.Labels {
			if strings.Contains(value, "{{") {
				t.Errorf("%s: label %s is made from text: %s", r.Alert, label, value)
			}
		}
	}
}

// guards are the conditions that make a label of a command plain.
var guards = map[string]string{
	"uid":    `(match "^[1-9][0-9]{0,9}$" %s)`,
	"jobid":  `(match "^[0-9]{1,14}$" %s)`,
	"target": `(match "^[0-9A-Za-z_-]+-%[2]s[0-9a-f]{4}$" %[1]s)`,
}

// guarded checks a command: it stands behind a condition that matches everything that is put into it.
func guarded(t *testing.T, what, text string) {
	t.Helper()
	before, command, found := strings.Cut(text, "lctl set_param")
	if !found {
		t.Errorf("%s has no command", what)
		return
	}
	kind := "MDT"
	if strings.HasPrefix(command, " ost.") {
		kind = "OST"
	}
	condition := before[strings.LastIndex(before, "{{ if and "):]
	values := regexp.MustCompile(`\{\{ ([^"}][^}]*) \}\}`).FindAllStringSubmatch(command, -1)
	for _, m := range values {
		value := m[1]
		if value == "end" {
			continue
		}
		guard, known := guards[value[strings.LastIndex(value, ".")+1:]]
		if !known {
			t.Errorf("%s: the command has %s in it", what, value)
			continue
		}
		args := []any{value, kind}
		if !strings.Contains(guard, "[2]") {
			args = args[:1]
		}
		if want := fmt.Sprintf(guard, args...); !strings.Contains(condition, want) {
			t.Errorf("%s: nothing makes sure that %s is plain: %s lacks %s", what, value, condition, want)
		}
	}
	if len(values) < 3 {
		t.Errorf("%s: only %q found in the command", what, values)
	}
}

// Groups whose rules keep uid grow with users and need a limit.
func TestLimits(t *testing.T) {
	for _, r := range load(t) {
		if strings.HasPrefix(r.Record, "uid_") && r.Limit == 0 {
			t.Errorf("%s: %s grows with users and its group %s has no limit", r.File, r.Record, r.Group)
		}
	}
}

// Rates come before sums, and instance is left out of every sum over raw counters.
func TestRatesBeforeSums(t *testing.T) {
	raw := regexp.MustCompile(`lustre_(?:job|user)_[a-z_]+_total`)
	for _, r := range load(t) {
		for _, at := range raw.FindAllStringIndex(r.Expr, -1) {
			if before := r.Expr[:at[0]]; !strings.HasSuffix(before, "rate(") || !strings.Contains(before, "without (instance") {
				t.Errorf("%s: %s takes no rate of %s, or does not leave instance out", r.File, r.Record, r.Expr[at[0]:at[1]])
			}
		}
	}
}

// What the documentation names is there: a runbook whose query returns nothing is worse than none.
func TestDocumentedMetricsExist(t *testing.T) {
	all := load(t)
	known := slices.Concat(exposed(t), recorded(all))
	names := regexp.MustCompile(`\b(?:(?:uid|target|fs|operation|instance|lustre)[a-z_]*:[a-z][a-z_]*:[a-zA-Z0-9_]+|(?:lustre_job|lustre_user|lustre_target|pfs_exporter)_[a-z_]*[a-z])\b`)
	plain := []string{"pfs_exporter_build_info", "lustre_job_read_size_bytes", "lustre_jobstats_text_bytes", "pfs_exporter_check"}
	pages, err := filepath.Glob("../docs/runbooks/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no runbooks: %v", err)
	}
	for _, page := range append(pages, "../docs/rules.md") {
		for _, name := range names.FindAllString(read(t, page), -1) {
			shipped := strings.NewReplacer("rateW", "rate5m", "meanW", "mean5m", "rate10m", "rate5m").Replace(name)
			if name != "lustre:threshold:NAME" && !slices.Contains(known, shipped) && !slices.Contains(plain, name) {
				t.Errorf("%s speaks of %s, which does not exist", page, name)
			}
		}
	}
	thresholds := regexp.MustCompile("`(?:lustre:threshold:)?([a-z_]+)`")
	for _, page := range pages {
		_, tuning, found := strings.Cut(read(t, page), "## Tuning\n")
		if !found {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(tuning), "\n")
		for _, m := range thresholds.FindAllStringSubmatch(line, -1) {
			if name := "lustre:threshold:" + m[1]; !slices.Contains(known, name) && m[1] != "scrape_timeout" {
				t.Errorf("%s wants to tune %s, which does not exist", page, name)
			}
		}
	}
}
