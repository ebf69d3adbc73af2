// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"sync/atomic"

	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"
)

// Paths beside that of the metrics; the first two are Prometheus' own.
const (
	healthyPath = "/-/healthy"
	readyPath   = "/-/ready"
	pprofPath   = "/debug/pprof/"
)

// routes returns the handler of all requests.
func routes(o webOptions, metrics http.Handler, ready *atomic.Bool, log *slog.Logger) (http.Handler, error) {
	landing, err := landingPage(o)
	if err != nil {
		return nil, fmt.Errorf("landing page: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(o.path, metrics)
	mux.Handle("/", getOnly(landing))
	mux.Handle(healthyPath, getOnly(answer(func() (int, string) { return http.StatusOK, "healthy" })))
	mux.Handle(readyPath, getOnly(answer(func() (int, string) {
		if ready.Load() {
			return http.StatusOK, "ready"
		}
		return http.StatusServiceUnavailable, "the first observation is not done yet"
	})))
	if o.pprof {
		addProfiles(mux)
	}
	return recovering(mux, log), nil
}

func landingPage(o webOptions) (http.Handler, error) {
	profiling := "false"
	if o.pprof {
		profiling = "true"
	}
	return web.NewLandingPage(web.LandingConfig{
		Name:        program,
		Description: "Who uses this parallel file system server, and how",
		Version:     version.Info(),
		Profiling:   profiling,
		Links: []web.LandingLinks{
			{Address: o.path, Text: "Metrics"},
			{Address: healthyPath, Text: "Healthy", Description: "200 as long as the process serves"},
			{Address: readyPath, Text: "Ready", Description: "200 once the first observation is done"},
		},
	})
}

// answer serves one line of text.
func answer(say func() (status int, text string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status, text := say()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = fmt.Fprintln(w, text) // the client may have left
	})
}

func getOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are possible here", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// addProfiles serves Go's profiles. They run as long as the client asks them to, which is why the server has no
// WriteTimeout: it would apply to them too.
func addProfiles(mux *http.ServeMux) {
	for path, profile := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		mux.HandleFunc(pprofPath+path, profile)
	}
}

// recovering logs a panic through our log, where net/http would write it past it.
func recovering(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause != http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
				log.Error("panic while serving", "path", r.URL.Path, "err", cause, "stack", string(debug.Stack()))
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}
