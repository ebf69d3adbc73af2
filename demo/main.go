// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo shows pfs_exporter at work without Lustre: pretended servers with an exporter each, Prometheus with the
// shipped rules, Alertmanager, and a user who now and then does something to be found out. make demo runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/pfs-exporter/pfs_exporter/demo/rig"
	"github.com/pfs-exporter/pfs_exporter/rules"
)

const help = "Pretends Lustre servers and their users, lets one user at a time cause an incident, and shows how Prometheus, " +
	"the shipped rules and Alertmanager tell who it is. Ctrl-C ends it and removes what it wrote."

// speedup is how much shorter than shipped the rules' times are: a minute of patience is a second, a day 24 minutes.
const speedup = 60

// options are the flags.
type options struct {
	rig      rig.Config
	duration time.Duration
	print    time.Duration
	quiet    time.Duration
	incident time.Duration
	users    int
	entries  int
	seed     uint64
	plain    bool
}

func parse(args []string) (options, error) {
	var o options
	app := kingpin.New("demo", help)
	app.Flag("exporter", "The pfs_exporter to run.").Required().StringVar(&o.rig.Exporter)
	app.Flag("prometheus", "The prometheus to run.").Required().StringVar(&o.rig.Prometheus)
	app.Flag("alertmanager", "The alertmanager to run.").Required().StringVar(&o.rig.Alertmanager)
	app.Flag("deploy", "Directory with prometheus.yml and alertmanager.yml.").Default("deploy").StringVar(&o.rig.Deploy)
	app.Flag("scrape-interval", "How often Prometheus scrapes.").Default("5s").DurationVar(&o.rig.Scrape)
	app.Flag("duration", "Stop after this time, and fail if an incident was not seen in time; 0 runs until Ctrl-C.").
		Default("0s").DurationVar(&o.duration)
	app.Flag("every", "Time between two tables where the output is not a terminal.").Default("15s").DurationVar(&o.print)
	app.Flag("quiet", "Time before the first and between two incidents.").Default("90s").DurationVar(&o.quiet)
	app.Flag("incident", "How long an incident lasts.").Default("90s").DurationVar(&o.incident)
	app.Flag("users", "Users of the cluster.").Default("40").IntVar(&o.users)
	app.Flag("entries", "Entries per target.").Default("120").IntVar(&o.entries)
	app.Flag("seed", "Start of the random numbers.").Default("1").Uint64Var(&o.seed)
	app.Flag("plain", "Print tables one below the other even on a terminal.").BoolVar(&o.plain)
	if _, err := app.Parse(args); err != nil {
		return o, err
	}
	for _, d := range []time.Duration{o.rig.Scrape, o.print, o.quiet, o.incident} {
		if d < time.Second {
			return o, errors.New("intervals must be at least 1s")
		}
	}
	o.rig.Ports = true
	o.rig.Rules = rules.DefaultOptions()
	o.rig.Rules.Window = 4 * o.rig.Scrape
	o.rig.Rules.Speedup = speedup
	// A user must be seen within three scrape intervals of the start: up to one until a scrape, one more because new
	// series show 0 first, and what is left until the rules are evaluated.
	o.rig.Evaluate = o.rig.Scrape / 2
	return o, nil
}

func main() {
	// SIGPIPE: whoever read the output has left (make demo | head).
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o, newScreen(os.Stdout, o.plain))
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
