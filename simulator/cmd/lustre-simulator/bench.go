// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// bench is one OST for measurements.
type bench struct {
	root, target string
	entries      int
	steps        int
}

func (b *bench) step(time.Duration) error {
	dir := filepath.Join(b.root, "proc/fs/lustre/obdfilter", b.target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the tree: %w", err)
	}
	temporary := filepath.Join(dir, ".job_stats.new")
	if err := b.write(temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(dir, "job_stats")); err != nil {
		return fmt.Errorf("replacing job_stats: %w", err)
	}
	b.steps++
	return nil
}

func (b *bench) write(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing job_stats: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if err := simulator.WriteBench(w, b.entries, b.steps); err != nil {
		return err
	}
	return w.Flush()
}

func (b *bench) String() string {
	return fmt.Sprintf("Lustre %s, target %s: %d entries for measurements", simulator.DefaultDialect, b.target, b.entries)
}
