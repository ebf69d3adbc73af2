// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// check surveys the targets once and prints what it found.
func check(ctx context.Context, c lustre.Config, o checkOptions, stdout, stderr io.Writer) (code int) {
	report, err := lustre.Survey(ctx, c)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	if err := printReport(stdout, report, o.format); err != nil {
		return complain(stderr, exitFailed, fmt.Errorf("writing the report: %w", err))
	}
	if !report.Complete() {
		return exitFailed
	}
	return exitOK
}

func printReport(w io.Writer, r *lustre.Report, format string) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	}
	return printTables(w, r)
}

// choose makes the flags of check choose the source, before those of the exporter.
func (o *checkOptions) choose(l *lustreOptions) {
	l.once = true
	if o.file != "" {
		l.source.Source, l.source.Dump = source.File, o.file
	}
	if o.target != "" {
		l.target = o.target
	}
}
