// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"errors"
	"fmt"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// Config is what the Lustre collector needs to know.
type Config struct {
	// Source gives the bytes of each target.
	Source source.Source
	// Ledger holds the identifier formats, the limits and how first values are shown.
	Ledger ledger.Config
	// ObservationInterval is how long an observation is shared; 0 reads anew for every scrape that
	// does not meet a read under way.
	ObservationInterval time.Duration
	// ReadTimeout bounds one observation. A target that takes longer counts as unreadable in it.
	ReadTimeout time.Duration
	// MaxTargetEntries and MaxTargetBytes bound what is read of one target; 0 means no bound of ours.
	MaxTargetEntries int
	MaxTargetBytes   int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Defaults of Config.
const (
	DefaultObservationInterval = time.Second
	// DefaultReadTimeout leaves a response time to arrive within Prometheus' scrape timeout of 10 s.
	DefaultReadTimeout = 8 * time.Second
)

func (c *Config) validate() error {
	var errs []error
	if c.Source == nil {
		errs = append(errs, errors.New("no source"))
	}
	if c.ObservationInterval < 0 {
		errs = append(errs, fmt.Errorf("observation interval %s: must not be negative; 0 shares nothing", c.ObservationInterval))
	}
	if c.ReadTimeout <= 0 {
		errs = append(errs, fmt.Errorf("read timeout %s: must be above 0", c.ReadTimeout))
	}
	// A first zero that is shared for most of its hold would be seen by nobody else.
	if c.Ledger.ScrapeInterval > 0 && c.ObservationInterval > c.Ledger.ScrapeInterval/2 {
		errs = append(errs, fmt.Errorf("observation interval %s: must be at most half the scrape interval %s, or scrapes meet stale observations",
			c.ObservationInterval, c.Ledger.ScrapeInterval))
	}
	return errors.Join(errs...)
}

// Bounds on what is read of one target unless Config says otherwise.
const (
	DefaultMaxTargetEntries = jobstats.DefaultMaxEntries
	DefaultMaxTargetBytes   = jobstats.DefaultMaxBytes
)
