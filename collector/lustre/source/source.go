// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Stream is a text to be read: one target's job_stats, or the framed texts of many.
type Stream struct {
	Target Target // whose text it is; of a framed stream, whose it is while no frame has said otherwise
	Framed bool   // the text may name its targets in lctl's framing (mdt.fs-MDT0000.job_stats=)

	// Open starts reading. The reader does not buffer: give every Read at least 64 KiB of free space, because
	// a Lustre 2.17 server may leak a reference to an entry that does not fit. Reads end with ctx's error soon
	// after ctx does. The reader belongs to one goroutine, must be closed, and Close may be called again.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Source knows where the Jobstats of this machine's targets are. It is safe for concurrent use.
type Source interface {
	// Name is "procfs", "lctl" or "file".
	Name() string
	// Discover looks anew at every call. A machine without Lustre has no streams and no error; an error means
	// that the look itself failed, so that nothing may be concluded about any target.
	Discover(ctx context.Context) ([]Stream, error)
	// CleanupInterval is how long the target keeps an idle entry; 0 is for ever, false is not known.
	CleanupInterval(t Target) (time.Duration, bool)
}

// ErrGone is what a target's Open or Read error wraps when the target has been unmounted since it was
// discovered: it is absent, not broken. Text read before it is incomplete.
var ErrGone = errors.New("the target is no longer there")

// The names of the sources, as Source.Name gives them and Config.Source takes them.
const (
	Procfs = "procfs"
	Lctl   = "lctl"
	File   = "file"
)

// Config chooses a source.
type Config struct {
	Source   string // Procfs, Lctl or File
	ProcPath string // of Procfs: where procfs is mounted
	SysPath  string // of Procfs: where sysfs is mounted
	Command  string // of Lctl: name or path of the lctl executable; it gets no other arguments and no shell
	Dump     string // of File: path of the dump, "-" for standard input
	Target   Target // of File: whose the dump is where it does not say; zero: told from its path
}

// DefaultConfig reads the running kernel's procfs.
func DefaultConfig() Config {
	return Config{Source: Procfs, ProcPath: "/proc", SysPath: "/sys", Command: "lctl"}
}

// Validate reports what keeps the configuration from working on any machine. That a path exists is not
// checked: targets, and Lustre itself, come and go while the exporter runs.
func (c Config) Validate() error {
	switch c.Source {
	case Procfs:
		return c.need(setting{"path of procfs", c.ProcPath}, setting{"path of sysfs", c.SysPath})
	case Lctl:
		return c.need(setting{"command", c.Command})
	case File:
		if err := c.Target.check(); err != nil {
			return fmt.Errorf("source file: %w", err)
		}
		return c.need(setting{"path of the dump", c.Dump})
	}
	return fmt.Errorf("unknown source %q: want procfs, lctl or file", c.Source)
}

type setting struct{ what, value string }

func (c Config) need(settings ...setting) error {
	for _, s := range settings {
		if s.value == "" {
			return fmt.Errorf("source %s: the %s is empty", c.Source, s.what)
		}
	}
	return nil
}

// New makes the source that a valid configuration describes.
func New(c Config) (Source, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch c.Source {
	case Lctl:
		return NewLctl(c.Command), nil
	case File:
		return NewFile(c.Dump, c.Target), nil
	}
	return NewProcfs(c.ProcPath, c.SysPath), nil
}
