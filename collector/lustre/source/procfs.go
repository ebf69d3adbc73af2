// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// procfs reads <proc>/fs/lustre/{mdt,obdfilter}/<target>/job_stats, which every Lustre release since 2.3 has
// there with mode 0644 (jobstats_format.md section 1).
type procfs struct {
	proc, sys string
	list      func(dir string) ([]fs.DirEntry, error)
}

// NewProcfs reads the targets' job_stats files below procPath, as any user, and their cleanup intervals below
// sysPath (Lustre 2.13 and later) or procPath (before).
func NewProcfs(procPath, sysPath string) Source {
	return &procfs{proc: procPath, sys: sysPath, list: os.ReadDir}
}

func (p *procfs) Name() string { return Procfs }

// Discover lists the targets that have a job_stats file: MDTs, then OSTs, each in name order.
func (p *procfs) Discover(ctx context.Context) ([]Stream, error) {
	var streams []Stream
	for _, kind := range []string{KindMDT, KindOST} {
		found, err := p.discover(ctx, kind)
		if err != nil {
			return nil, err
		}
		streams = append(streams, found...)
	}
	return streams, nil
}

func (p *procfs) discover(ctx context.Context, kind string) ([]Stream, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("looking for %s targets: %w", kind, context.Cause(ctx))
	}
	dir := filepath.Join(p.proc, "fs", "lustre", kind)
	entries, err := p.list(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // no Lustre, or no server of this kind
	case err != nil:
		return nil, fmt.Errorf("looking for %s targets: %w: %s", kind, named(dir, err), remedy(err))
	}
	var streams []Stream
	for _, e := range entries {
		t := Target{Name: e.Name(), Kind: kind}
		if t.inTree() && hasStats(filepath.Join(dir, t.Name, statsFile)) {
			streams = append(streams, Stream{Target: t, Open: p.opener(filepath.Join(dir, t.Name, statsFile))})
		}
	}
	return streams, nil
}

// hasStats follows symbolic links. A file that cannot be looked at is counted as there: its target is one that
// cannot be read, and Open will say why, while the others stay unharmed.
func hasStats(file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return !absent(err)
	}
	return info.Mode().IsRegular() // opening a FIFO would wait for ever
}

func (p *procfs) opener(file string) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: not opened: %w", file, context.Cause(ctx))
		}
		f, err := os.Open(file)
		if err == nil {
			return &reader{Reader: f, ctx: ctx, path: file, closer: f, procfs: true}, nil
		}
		if vanished(file, err) {
			return nil, fmt.Errorf("%w: %w", ErrGone, err)
		}
		return nil, fmt.Errorf("%w: %s", err, remedy(err))
	}
}

// named makes sure that an error tells the path: a listing that breaks off does not always.
func named(path string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// remedy says what an administrator can do about err.
func remedy(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "Lustre lets every user read it, so look for what hides it from this one: mount options of procfs, " +
			"ProtectProc= or ProtectKernelTunables= of the systemd unit, SELinux, or the mode of a copied tree"
	}
	return "see the kernel log for Lustre's errors, and check the path of procfs given to the exporter"
}

// CleanupInterval reads job_cleanup_interval, which moved from procfs to sysfs in 2.13.0 (LU-8066).
func (p *procfs) CleanupInterval(t Target) (time.Duration, bool) {
	if !t.inTree() {
		return 0, false
	}
	for _, root := range []string{p.sys, p.proc} {
		text, err := readStart(filepath.Join(root, "fs", "lustre", t.Kind, t.Name, intervalFile))
		if err == nil {
			return ParseInterval(text)
		}
	}
	return 0, false
}
