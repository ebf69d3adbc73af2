// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// Cluster is a simulated cluster that lives in real time: its files follow the clock.
type Cluster struct {
	root string
	mu   sync.Mutex
	sim  *simulator.Cluster
	last time.Time
}

// NewCluster simulates two clean-up intervals up to now, so that the first files look like those of a running system, and
// writes them below root.
func NewCluster(root string, cfg simulator.Config) (*Cluster, error) {
	now := time.Now()
	warmup := 2 * cfg.CleanupInterval
	if warmup <= 0 {
		warmup = 2 * simulator.DefaultInterval
	}
	cfg.Start = now.Add(-warmup)
	sim, err := simulator.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	sim.Step(warmup)
	return &Cluster{root: root, sim: sim, last: now}, sim.WriteTree(root)
}

// Do brings the cluster to the present, changes it, and shows the change in the files. change may be nil.
func (c *Cluster) Do(change func(*simulator.Cluster) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.sim.Step(now.Sub(c.last))
	c.last = now
	c.sim.ExpireIdle() // as the end of a reader does
	if change != nil {
		if err := change(c.sim); err != nil {
			return err
		}
	}
	return c.sim.WriteTree(c.root)
}

// Run lets time pass in the files until ctx is done.
func (c *Cluster) Run(ctx context.Context, tick time.Duration) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := c.Do(nil); err != nil {
				return err
			}
		}
	}
}
