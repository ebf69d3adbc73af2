// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// cluster is a simulated cluster whose files are read now and then, as the exporter does: idle entries are removed.
type cluster struct {
	*simulator.Cluster
	root string
}

// newCluster simulates two clean-up intervals up to now, so that the first files look like those of a running system.
func newCluster(o options, now time.Time) (*cluster, error) {
	cfg := o.cluster
	if cfg.CleanupInterval == 0 {
		cfg.CleanupInterval = -1 // 0 is what Lustre calls never
	}
	warmup := 2 * cfg.CleanupInterval
	if warmup <= 0 {
		warmup = 2 * simulator.DefaultInterval
	}
	cfg.Start = now.Add(-warmup)
	cfg.NoTruth = true // nobody could ask for it
	c, err := simulator.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	c.Step(warmup)
	return &cluster{Cluster: c, root: o.root}, nil
}

func (c *cluster) step(d time.Duration) error {
	c.Step(d)
	c.ExpireIdle()
	return c.WriteTree(c.root)
}

func (c *cluster) String() string {
	cfg, living := c.Config(), 0
	for _, t := range c.Targets() {
		living += c.Living(t)
	}
	return fmt.Sprintf("Lustre %s, file system %s: %d MDTs, %d OSTs, %d users, %d entries, cleaned up after %v",
		cfg.Dialect, cfg.FSName, cfg.MDTs, cfg.OSTs, cfg.Users, living, cfg.CleanupInterval)
}
