// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package rules holds the Prometheus rules as templates and writes the rule files for a window. The files beside it are
// its output for the defaults; docs/rules.md says what each rule means. Change a template, never its output, and run
// `go run ./rules/generate`.
package rules

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"text/template"
	"time"
)

//go:embed templates/*.tmpl
var templates embed.FS

// Constants is the file with the thresholds and weights: the one that a site changes.
const Constants = "lustre-constants.yml"

// Options are what the rule files depend on.
type Options struct {
	// Window is the range of rate(): at least four scrape intervals, so that two samples are in it even when a scrape
	// fails. It is part of the names that the rules record, as in :rate5m.
	Window time.Duration
	// Job is the scrape job of the exporters in prometheus.yml; the alerts about scrapes look at it.
	Job string
	// Speedup divides every duration but the window: "for", baselines and their offsets. It is for demos and tests,
	// where a day must pass in minutes; the recorded names stay as they are.
	Speedup float64
}

// DefaultOptions are those of the committed files: right for scrapes every 15 to 60 seconds.
func DefaultOptions() Options { return Options{Window: 5 * time.Minute, Job: "lustre", Speedup: 1} }

// ErrOptions tells that no rule files can be made as asked.
var ErrOptions = errors.New("bad options")

func (o Options) validate() error {
	switch {
	case o.Window < time.Second || o.Window > time.Hour:
		return fmt.Errorf("%w: a window of %v is not between 1s and 1h", ErrOptions, o.Window)
	case o.Window%time.Second != 0:
		return fmt.Errorf("%w: a window of %v is not in whole seconds", ErrOptions, o.Window)
	case o.Speedup < 1 || o.Speedup > 1000:
		return fmt.Errorf("%w: a speedup of %v is not between 1 and 1000", ErrOptions, o.Speedup)
	case o.Job == "" || strings.ContainsAny(o.Job, "\"\\'\n{}"):
		return fmt.Errorf("%w: job %q is empty or needs quoting", ErrOptions, o.Job)
	}
	return nil
}

// Files returns the rule files by name.
func Files(o Options) (map[string][]byte, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	// << and >> because {{ }} is Prometheus' own in annotations, and [[ cannot be told from a range selector.
	all, err := template.New("rules").Delims("<<", ">>").Option("missingkey=error").Funcs(o.functions()).ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parsing the templates: %w", err)
	}
	files := make(map[string][]byte)
	for _, t := range all.Templates() {
		name, isFile := strings.CutSuffix(path.Base(t.Name()), ".tmpl")
		if !isFile {
			continue
		}
		var out bytes.Buffer
		if err := t.Execute(&out, o); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		files[name] = out.Bytes()
	}
	return files, nil
}

// functions are what the templates call.
func (o Options) functions() template.FuncMap {
	window := promDuration(o.Window)
	return template.FuncMap{
		"w":          func() string { return window },
		"d":          o.scaled,
		"seconds":    o.seconds,
		"lasting":    func() string { return promDuration(o.Window + 10*time.Minute) },
		"job":        func() string { return o.Job },
		"decades":    decades,
		"subjects":   subjects,
		"weights":    func() map[string]int { return weights },
		"thresholds": func() []threshold { return thresholds },
		"effective":  effective,
		"streams":    streams,
		"split":      strings.Fields,
		"renames":    func() string { return renames },
		"nousers":    func() string { return noUsers },
		"runbook":    func(alert string) string { return runbooks + alert + ".md" },
		"users":      o.users,
		"jobs":       o.jobs,
		"throttle":   throttle,
		"throttles":  o.throttles,
		"server":     func() string { return server },
		"more":       o.more,
	}
}

const (
	// renames are the operations that count again what "rename" counts (mdt_rename_counter_tally in mdt_reint.c), and
	// the lock attempts of 2.17. They are left out wherever operations are added up.
	renames = "samedir_rename|crossdir_rename|parallel_rename_.+|rename_trylocks"
	// noUsers are the values of uid that count in totals and are no user: folded series, and formats without %u.
	noUsers = "|system|unknown"

	runbooks = "https://github.com/pfs-exporter/pfs_exporter/blob/main/docs/runbooks/"
)

// decades are the upper bounds of the density heatmap, from 10^first to 10^last, as Prometheus writes numbers in "le".
func decades(first, last int) []string {
	var all []string
	for e := first; e <= last; e++ {
		switch {
		case e < 0:
			all = append(all, "0."+strings.Repeat("0", -e-1)+"1")
		default:
			all = append(all, "1"+strings.Repeat("0", e))
		}
	}
	return all
}

// subjects are the series whose history is kept: trends, robust z-scores and seasons.
func subjects() []string {
	return []string{"target_operation:lustre_operations", "target_operation:lustre_bytes", "target:lustre_metadata_load"}
}

// effective are the totals with an effective number of users, and the series per user behind them.
func effective() map[string]string {
	return map[string]string{
		"target:lustre_metadata_load":        "uid_target:lustre_metadata_load",
		"target_operation:lustre_operations": "uid_target_operation:lustre_operations",
		"target_operation:lustre_bytes":      "uid_target_operation:lustre_bytes",
	}
}

// stream is what an OST is asked for, with alerts of its own.
type stream struct{ Name, Metric, Threshold, By, What string }

func streams() []stream {
	return []stream{
		{"Data", "lustre_bytes", "target_bytes", "bytes", "{{ $labels.operation }} bytes"},
		{"Request", "lustre_operations", "target_requests", "requests", "{{ $labels.operation }} requests"},
	}
}
