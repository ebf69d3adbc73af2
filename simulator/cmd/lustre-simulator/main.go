// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Command lustre-simulator writes the /proc and /sys files of pretended Lustre servers below a directory, for running
// pfs_exporter where there is no Lustre.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

const help = `Pretends to be the servers of a Lustre file system and keeps their Jobstats below a directory, as Lustre does below /.

Users with heavy-tailed rates run jobs, login sessions and daemons; entries appear, grow, idle, are cleaned up and come
back. Point the exporter at it:

  lustre-simulator --root=/tmp/lustre &
  pfs_exporter --path.procfs=/tmp/lustre/proc --path.sysfs=/tmp/lustre/sys

The same seed makes the same users. Nothing but <root>/proc/fs/lustre and <root>/sys/fs/lustre is touched.`

// options are the flags.
type options struct {
	root     string
	once     bool
	tick     time.Duration
	speedup  float64
	duration time.Duration
	bench    int
	cluster  simulator.Config
}

func parse(args []string) (options, error) {
	var o options
	app := kingpin.New("lustre-simulator", help)
	app.HelpFlag.Short('h')
	app.Flag("root", "Directory to write to; proc/fs/lustre and sys/fs/lustre are made in it.").Required().StringVar(&o.root)
	app.Flag("seed", "Start of the random numbers.").Default("1").Uint64Var(&o.cluster.Seed)
	app.Flag("targets", "Number of targets: one MDT per three OSTs.").Default("4").IntVar(&o.cluster.Targets)
	app.Flag("mdts", "Number of MDTs, together with --osts instead of --targets.").IntVar(&o.cluster.MDTs)
	app.Flag("osts", "Number of OSTs, together with --mdts instead of --targets.").IntVar(&o.cluster.OSTs)
	app.Flag("users", "Number of users.").Default(fmt.Sprint(simulator.DefaultUsers)).IntVar(&o.cluster.Users)
	app.Flag("entries", "Entries per target to aim at; Puhti had 800.").
		Default(fmt.Sprint(simulator.DefaultEntries)).IntVar(&o.cluster.Entries)
	app.Flag("dialect", "Lustre release to print like: "+strings.Join(simulator.DialectNames(), ", ")+".").
		Default(simulator.DefaultDialect).StringVar(&o.cluster.Dialect)
	app.Flag("fsname", "Name of the file system, at most 8 characters.").
		Default(simulator.DefaultFSName).StringVar(&o.cluster.FSName)
	app.Flag("cleanup-interval", "Lustre's job_cleanup_interval: entries idle for longer are removed. Activity is scaled by it: "+
		"jobs burst for a fifth of it and work for several.").Default("10m").DurationVar(&o.cluster.CleanupInterval)
	app.Flag("tick", "Time between two updates of the files.").Default("1s").DurationVar(&o.tick)
	app.Flag("speedup", "Simulated seconds per second; above 1 the clock of the servers runs ahead.").Default("1").Float64Var(&o.speedup)
	app.Flag("duration", "Stop after this time; 0 runs until SIGINT or SIGTERM.").Default("0s").DurationVar(&o.duration)
	app.Flag("once", "Write the files once and exit.").BoolVar(&o.once)
	app.Flag("bench-entries", "Instead of a cluster, one OST with exactly this many entries that all grow with every tick.").
		IntVar(&o.bench)
	if _, err := app.Parse(args); err != nil {
		return o, err
	}
	if o.tick <= 0 || o.speedup <= 0 || o.duration < 0 || o.bench < 0 {
		return o, errors.New("--tick and --speedup must be above 0, --duration and --bench-entries not below")
	}
	return o, nil
}

// model is what the command keeps up to date in the tree.
type model interface {
	fmt.Stringer
	// step advances the model by simulated time and writes what changed.
	step(d time.Duration) error
}

// start makes the model as it is when the files first appear.
func start(o options, now time.Time) (model, error) {
	if o.bench > 0 {
		return &bench{root: o.root, target: o.cluster.FSName + "-OST0000", entries: o.bench}, nil
	}
	return newCluster(o, now)
}

// run keeps the files up to date until ctx ends, the duration is over, or they cannot be written.
func run(ctx context.Context, o options, out io.Writer) error {
	m, err := start(o, time.Now())
	if err != nil {
		return err
	}
	if err := m.step(0); err != nil {
		return err
	}
	fmt.Fprintf(out, "%v below %s\n", m, o.root)
	if o.once {
		return nil
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	ticker := time.NewTicker(o.tick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			now := time.Now() // not the ticker's time: a slow tick is made up for
			if err := m.step(time.Duration(float64(now.Sub(last)) * o.speedup)); err != nil {
				return err
			}
			last = now
		}
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lustre-simulator:", err)
		os.Exit(1)
	}
}
