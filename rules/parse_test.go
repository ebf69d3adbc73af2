// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
)

// rule is one rule of a rule file.
type rule struct {
	File        string            `yaml:"-"`
	Group       string            `yaml:"-"`
	Limit       int               `yaml:"-"`
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// load reads the committed rule files.
func load(t *testing.T) []rule {
	t.Helper()
	names, err := filepath.Glob("lustre-*.yml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no rule files: %v", err)
	}
	var all []rule
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Groups []struct {
				Name  string `yaml:"name"`
				Limit int    `yaml:"limit"`
				Rules []rule `yaml:"rules"`
			} `yaml:"groups"`
		}
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				r.File, r.Group, r.Limit = name, g.Name, g.Limit
				all = append(all, r)
			}
		}
	}
	return all
}

var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	braces   = regexp.MustCompile(`\{[^}]*\}`)
	ranges   = regexp.MustCompile(`\[[^]]*\]|\boffset\s+\w+`)
	words    = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
	keywords = []string{"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "group_right", "inf", "nan", "e"}
	queries  = regexp.MustCompile(`query \(?(?:printf )?("(?:[^"\\]|\\.)*")`)
	numbers  = regexp.MustCompile(`\b[0-9.]+(?:e[0-9]+)?\b`)
)

// metrics returns the names of the metrics that a PromQL expression selects. It knows as much of PromQL as our rules use.
func metrics(expr string) []string {
	for _, strip := range []*regexp.Regexp{quoted, grouping, braces, ranges, numbers} {
		expr = strip.ReplaceAllString(expr, " ")
	}
	var found []string
	for _, word := range words.FindAllString(expr, -1) {
		name := strings.TrimSpace(word)
		if !strings.HasSuffix(name, "(") && !slices.Contains(keywords, name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// queried returns the PromQL expressions that an annotation runs.
func queried(t *testing.T, annotation string) []string {
	t.Helper()
	var all []string
	for _, m := range queries.FindAllStringSubmatch(annotation, -1) {
		text, err := strconv.Unquote(m[1])
		if err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		if strings.Contains(text, "lustre_job_%s_bytes_total") {
			all = append(all, strings.ReplaceAll(text, "%s", "write"))
			text = strings.ReplaceAll(text, "%s", "read")
		}
		all = append(all, text)
	}
	return all
}

func TestMetrics(t *testing.T) {
	f := func(expr string, want ...string) {
		t.Helper()
		if got := metrics(expr); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}

	f(`a`, "a")
	f(`rate(a_total{b="c d", e=~"f(g)"}[5m] offset 1h) * on (h) group_left (i) j:k:l`, "a_total", "j:k:l")
	f(`sum without (uid) ((a > 0) < bool 1000) or b * 0`, "a", "b")
	f(`count_values without (uid) ("bucket", floor(log10(a > 1e-3)))`, "a")
	f(`a{x="} b"} unless ignoring (y) c / 5e8`, "a", "c")
	f(`{__name__=~"a:.+"}`)
}
