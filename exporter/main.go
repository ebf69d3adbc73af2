// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Command pfs_exporter exposes who uses the parallel file system served by this machine, and how, to
// Prometheus. It reads Lustre Jobstats when it is scraped.
//
// This package knows flags, logging, HTTP and the life of the process; what is measured is known by
// the packages below collector/.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const program = "pfs_exporter"

// Exit codes. A command line that cannot work is told apart from work that failed.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole command. It ends when its work is done, a signal arrives or ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	o, answered, err := parseArgs(args, stdout, stderr)
	switch {
	case answered:
		return exitOK
	case err != nil:
		return complain(stderr, exitUsage, fmt.Errorf("%w, try --help", err))
	}
	if o.command == commandCheck {
		o.check.choose(&o.lustre)
	}
	config, err := o.lustre.config()
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// Whoever asks a second time does not want to wait: then the signal ends the process at once.
	context.AfterFunc(ctx, stop)
	if o.command == commandCheck {
		return check(ctx, config, o.check, stdout, stderr)
	}
	logger := newLogger(stderr, o.log)
	s, err := newServer(o.web, config, logger)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	if err := s.run(ctx); err != nil {
		logger.Error("the exporter ends", "err", err)
		return exitFailed
	}
	return exitOK
}

// complain says on one line or more why the command ends; kingpin's own errors look the same.
func complain(w io.Writer, code int, err error) int {
	// Nothing is left to do for whoever cannot even write an error.
	_, _ = fmt.Fprintf(w, "%s: error: %s\n", program, err)
	return code
}
