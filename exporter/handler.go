// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

// scrapeHandler serves the metrics.
type scrapeHandler struct {
	observer *observer
	self     prometheus.Gatherer
	verdicts verdicts
	counts   *scrapeCounts
	slots    chan struct{} // one for each scrape at a time
	offset   time.Duration
	writers  gzipPool
	faults   *faults
	log      *slog.Logger
}

// ServeHTTP answers one scrape. Nothing is written before everything was observed, so that a scrape
// that observed nothing at all can still fail as a whole.
func (h *scrapeHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are possible here", http.StatusMethodNotAllowed)
		return
	}
	form := agree(r.Header)
	if r.Method == http.MethodHead {
		form.describe(w.Header()) // nobody sees a zero in it, so nothing is observed for it
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		h.counts.refused.Add(1)
		http.Error(w, fmt.Sprintf("%d scrapes are being served (--web.max-requests), try again later", cap(h.slots)), http.StatusServiceUnavailable)
		return
	}
	h.counts.inFlight.Add(1)
	defer h.counts.inFlight.Add(-1)
	h.scrape(w, r, form)
}

func (h *scrapeHandler) scrape(w http.ResponseWriter, r *http.Request, form agreement) {
	limit := patienceOf(r.Header, h.offset)
	limitWrites(w, limit.write)
	ctx, cancel := context.WithTimeout(r.Context(), limit.observe)
	defer cancel()
	client := collector.Client{Addr: r.RemoteAddr, Agent: r.UserAgent(), Scraper: isScraper(r.Header)}
	results := h.observer.observe(ctx, client, limit.grace())
	if r.Context().Err() != nil {
		h.gaveUp(r, context.Cause(r.Context()))
	}
	h.observer.report(results)
	small, err := renderSmall(form.format, h.self, h.verdicts, results)
	h.faults.note("small families", err)
	pages := pagesOf(results)
	if len(small) == 0 && len(pages) == 0 {
		http.Error(w, "nothing could be gathered, see the exporter's log", http.StatusInternalServerError)
		return
	}
	h.respond(w, r, form, small, pages)
}

// respond writes the response. Where it cannot be completed it is broken off, since Prometheus would take
// a part of the text format for the whole.
func (h *scrapeHandler) respond(w http.ResponseWriter, r *http.Request, form agreement, small []byte, pages []collector.Page) {
	out := newResponse(w, form, &h.writers)
	defer out.release()
	incomplete, err := out.write(small, pages)
	if err == nil && r.Context().Err() != nil {
		err = context.Cause(r.Context())
	}
	if err != nil {
		h.gaveUp(r, err)
	}
	h.counts.complete.Add(1)
	h.faults.note("large families", incomplete)
	if incomplete != nil {
		return // which zeros were in it is not known, so nobody may rely on them
	}
	for _, page := range pages {
		page.Served()
	}
}

// gaveUp breaks a scrape off. Most often the client has left, which is its own business; a fault of ours
// in the large families is worth a line. It does not return.
func (h *scrapeHandler) gaveUp(r *http.Request, err error) {
	h.counts.aborted.Add(1)
	level := slog.LevelDebug
	if errors.Is(err, errFault) {
		level = slog.LevelError
	}
	h.log.Log(context.Background(), level, "a scrape was broken off", "client", r.RemoteAddr, "err", err)
	panic(http.ErrAbortHandler)
}

// limitWrites keeps a client that does not read from holding a response in memory for ever. net/http lifts
// the limit when the request is done.
func limitWrites(w http.ResponseWriter, d time.Duration) {
	// Only a response writer that is no network connection, as in tests, knows no deadlines.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
}
