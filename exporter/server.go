// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre"
)

const (
	// shutdownGrace is how long scrapes under way may take to end once a signal has arrived, closeGrace the
	// same for collectors. Together they stay well below systemd's 90 s and Kubernetes' 30 s.
	shutdownGrace = 5 * time.Second
	closeGrace    = 2 * time.Second

	headerTimeout = 10 * time.Second
	// idleTimeout outlasts the pause between two scrapes: Prometheus keeps its connections for 5 minutes.
	idleTimeout  = 10 * time.Minute
	headerLimit  = 64 << 10
	firstTimeout = time.Second // beyond the collector's own, for the first observation
)

// server is the exporter while it serves.
type server struct {
	http     *http.Server
	listen   func() error // serves until the server is shut down
	observer *observer
	first    time.Duration // how long the first observation may take
	ready    *atomic.Bool
	log      *slog.Logger
}

// newServer builds the exporter from its configuration. Errors are about the configuration.
func newServer(o webOptions, c lustre.Config, log *slog.Logger) (*server, error) {
	l, err := lustre.New(c, log.With("collector", "lustre"))
	if err != nil {
		return nil, err
	}
	s, err := assemble(o, []collector.Collector{l}, log)
	if err != nil {
		l.Close()
		return nil, err
	}
	s.first = c.ReadTimeout + firstTimeout
	return s, nil
}

// assemble builds the exporter around its collectors.
func assemble(o webOptions, collectors []collector.Collector, log *slog.Logger) (*server, error) {
	s := &server{observer: newObserver(collectors, log), first: defaultPatience, ready: new(atomic.Bool), log: log}
	counts := newScrapeCounts()
	metrics := &scrapeHandler{
		observer: s.observer,
		self:     selfRegistry(counts, o.bare),
		verdicts: newVerdicts(),
		counts:   counts,
		slots:    make(chan struct{}, o.maxRequests),
		offset:   o.offset,
		faults:   newFaults(log),
		log:      log,
	}
	handler, err := routes(o, metrics, s.ready, log)
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerLimit,
		// What net/http has to say is about connections that clients handle badly.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.listen = func() error { return web.ListenAndServe(s.http, o.toolkit, log) }
	return s, nil
}

// run serves until ctx ends or serving fails, and leaves nothing behind.
func (s *server) run(ctx context.Context) error {
	s.log.Info("starting "+program, "version", version.Version, "revision", version.GetRevision(), "go", version.GoVersion)
	background, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan struct{})
	go func() {
		defer close(first)
		s.firstObservation(background)
	}()
	ended := make(chan error, 1)
	go func() { ended <- s.listen() }()

	var err error
	select {
	case err = <-ended:
		err = fmt.Errorf("serving on --web.listen-address with --web.config.file: %w", err)
	case <-ctx.Done():
		s.log.Info("stopping", "reason", context.Cause(ctx).Error())
	}
	s.stop()
	cancel()
	<-first
	s.closeCollectors()
	return err
}

// firstObservation reads everything once, so that what is there at the start is known to have been there.
// Nobody sees its page.
func (s *server) firstObservation(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.first)
	defer cancel()
	began := time.Now()
	results := s.observer.observe(ctx, collector.Client{}, maxGrace)
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	s.observer.report(results)
	s.ready.Store(true)
	s.log.Debug("first observation done", "duration", time.Since(began))
}

// stop accepts no more requests and lets those under way end.
func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.log.Warn("scrapes under way are broken off", "err", err)
		// Closing listeners that are closed already is what it may complain about.
		_ = s.http.Close()
	}
}

func (s *server) closeCollectors() {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := s.observer.close(ctx); err != nil {
		s.log.Warn("a collector does not end", "err", err)
	}
}
