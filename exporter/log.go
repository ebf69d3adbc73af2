// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log/slog"

	"github.com/go-kit/log"
	sloggokit "github.com/tjhop/slog-gokit"
)

// logOptions are what --log.level and --log.format say.
type logOptions struct {
	level  slog.Level
	format string // logFormats
}

// The names are those of all Prometheus components (common/promslog).
func logFormats() []string { return []string{"logfmt", "json"} }

func logLevels() []string { return []string{"debug", "info", "warn", "error"} }

// newLogger returns a logger that writes through go-kit/log, which nothing but this file knows.
func newLogger(w io.Writer, o logOptions) *slog.Logger {
	sink := log.NewSyncWriter(w)
	backend := log.NewLogfmtLogger(sink)
	if o.format == "json" {
		backend = log.NewJSONLogger(sink)
	}
	return slog.New(sloggokit.NewGoKitHandler(backend, o.level))
}
