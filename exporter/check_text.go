// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre"
)

// tables prints a report for people. It keeps the first write error, so that steps need not look at it.
type tables struct {
	w   io.Writer
	err error
}

func printTables(w io.Writer, r *lustre.Report) error {
	t := &tables{w: w}
	if len(r.Targets) == 0 {
		t.printf("No Lustre targets found (source %s).\n", r.Source)
	} else {
		t.targets(r)
		t.classes(r)
		t.folded(r)
		t.oddities(r)
	}
	t.problems(r)
	return t.err
}

func (t *tables) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// table aligns rows below a header; the first columns are text, the others numbers to be read from the right.
func (t *tables) table(header string, rows [][]string) {
	if t.err != nil {
		return
	}
	aligned := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{strings.Split(header, " ")}, rows...) {
		// tabwriter keeps the first error for Flush.
		_, _ = fmt.Fprintln(aligned, strings.Join(row, "\t"))
	}
	t.err = aligned.Flush()
}

func count[N int | uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }

func (t *tables) targets(r *lustre.Report) {
	row := func(f *lustre.TargetReport, status string) []string {
		return []string{
			printable(f.Name), f.Kind, count(f.Entries), count(f.Series), count(f.Lines),
			count(f.Unparsed + f.Dropped), count(f.Rejected), status,
		}
	}
	var rows [][]string
	for i := range r.Targets {
		status := "ok"
		if r.Targets[i].Problem != "" {
			status = "INCOMPLETE, see below"
		}
		rows = append(rows, row(&r.Targets[i], status))
	}
	if len(r.Targets) > 1 {
		total := r.Total()
		total.Name, total.Kind = "total", "-"
		rows = append(rows, row(&total, "-"))
	}
	t.table("TARGET KIND ENTRIES SERIES LINES UNPARSED REJECTED STATUS", rows)
}

func (t *tables) classes(r *lustre.Report) {
	var rows [][]string
	add := func(target string, f *lustre.TargetReport) {
		for _, c := range f.Classes {
			rows = append(rows, []string{target, c.Class, c.Users, count(c.Entries)})
		}
	}
	t.each(r, add)
	if len(rows) > 0 {
		t.printf("\nEntries by class of identifier and kind of user:\n")
		t.table("TARGET CLASS USERS ENTRIES", rows)
	}
}

func (t *tables) folded(r *lustre.Report) {
	var rows [][]string
	t.each(r, func(target string, f *lustre.TargetReport) {
		for _, c := range f.Folded {
			rows = append(rows, []string{target, c.Reason, count(c.Entries)})
		}
	})
	if len(rows) > 0 {
		t.printf("\nEntries without series of their own, added up instead:\n")
		t.table("TARGET REASON ENTRIES", rows)
	}
}

// each visits all targets, and their total where there are several.
func (t *tables) each(r *lustre.Report, visit func(name string, f *lustre.TargetReport)) {
	for i := range r.Targets {
		visit(printable(r.Targets[i].Name), &r.Targets[i])
	}
	if len(r.Targets) > 1 {
		total := r.Total()
		visit("total", &total)
	}
}

// oddities are shown one by one: identifiers are long, and quoted so that no byte of them is obeyed by a terminal.
func (t *tables) oddities(r *lustre.Report) {
	said := false
	for i := range r.Targets {
		for _, o := range r.Targets[i].Oddities {
			if !said {
				t.printf("\nIdentifiers worth a look:\n")
				said = true
			}
			t.printf("  %s: %s of class %s: %s\n", printable(r.Targets[i].Name), countOf(o.Entries, "entry", "entries"), o.Class, o.Reason)
			t.printf("    for example %s\n", quoted(o.Examples))
			if len(o.Nodes) > 0 {
				t.printf("    from %s\n", nodes(o.Nodes))
			}
		}
	}
}

func (t *tables) problems(r *lustre.Report) {
	if r.Complete() {
		return
	}
	t.printf("\nCould not be read completely (the exporter would not show the jobs of such a target):\n")
	for i := range r.Targets {
		if r.Targets[i].Problem != "" {
			t.printf("  %s: %s\n", printable(r.Targets[i].Name), printable(r.Targets[i].Problem))
		}
	}
	for _, problem := range r.Problems {
		t.printf("  %s\n", printable(problem))
	}
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func quoted(texts []string) string {
	q := make([]string, len(texts))
	for i, text := range texts {
		q[i] = strconv.Quote(text)
	}
	return strings.Join(q, " ")
}

func nodes(list []lustre.NodeReport) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = fmt.Sprintf("%s (%d)", printable(n.Name), n.Entries)
	}
	return strings.Join(parts, ", ")
}

// printable returns text that came from outside, quoted if a terminal could obey it.
func printable(text string) string {
	obeyed := func(c rune) bool { return !strconv.IsPrint(c) }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, obeyed) {
		return strconv.Quote(text)
	}
	return text
}
