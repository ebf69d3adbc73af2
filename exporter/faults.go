// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"sync"
)

// faults logs when something begins to fail and when it works again, not each time: with a scrape a
// minute, one fault would fill the log.
type faults struct {
	log     *slog.Logger
	mu      sync.Mutex
	failing map[string]bool
}

func newFaults(log *slog.Logger) *faults { return &faults{log: log, failing: map[string]bool{}} }

// note takes down how a subject fared this time; nil is well.
func (f *faults) note(subject string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.failing[subject]
	f.failing[subject] = err != nil
	switch {
	case err != nil && !before:
		f.log.Warn("failing", "subject", subject, "err", err)
	case err != nil:
		f.log.Debug("still failing", "subject", subject, "err", err)
	case before:
		f.log.Info("works again", "subject", subject)
	}
}
