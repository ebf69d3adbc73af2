// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pfs-exporter/pfs_exporter/demo/rig"
	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// interval is the cluster's job_cleanup_interval, to which the simulator scales the lives of jobs.
const interval = simulator.DefaultInterval

// tick is how often the simulated files follow the clock.
const tick = time.Second

// servers are the pretended servers and what they have mounted.
var servers = []struct {
	name    string
	targets []string
}{
	{"mds1", []string{"scratch-MDT0000", "scratch-MDT0001"}},
	{"oss1", []string{"scratch-OST0000", "scratch-OST0001"}},
	{"oss2", []string{"scratch-OST0002", "scratch-OST0003"}},
}

// errMissed is returned when a user who caused an incident was not seen in time.
var errMissed = errors.New("an incident was not seen in time")

// run starts everything, watches until ctx or the duration ends, and stops everything.
func run(ctx context.Context, o options, out *screen) (err error) {
	dir, remove, err := rig.TempDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	o.rig.Dir = dir

	cluster, err := rig.NewCluster(filepath.Join(dir, "cluster"), simulator.Config{
		Seed: o.seed, MDTs: 2, OSTs: 4, Users: o.users, Entries: o.entries, CleanupInterval: interval, NoTruth: true,
	})
	if err != nil {
		return err
	}
	stack := rig.NewStack(o.rig)
	defer func() {
		out.finish()
		fmt.Fprintln(out, "stopping")
		err = errors.Join(err, stack.Stop())
	}()
	if err := start(ctx, o, stack, dir, out); err != nil {
		return unlessStopped(ctx, err)
	}

	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	return live(ctx, o, cluster, stack, out)
}

// start starts an exporter per server, Alertmanager and Prometheus.
func start(ctx context.Context, o options, stack *rig.Stack, dir string, out *screen) error {
	trees := rig.NewServers(filepath.Join(dir, "cluster"), filepath.Join(dir, "servers"))
	fmt.Fprintln(out, "starting", len(servers), "exporters, Prometheus and Alertmanager in", dir)
	for _, s := range servers {
		for _, t := range s.targets {
			if err := trees.Mount(s.name, t); err != nil {
				return err
			}
		}
		if err := stack.StartExporter(ctx, s.name, trees.Root(s.name)); err != nil {
			return err
		}
	}
	return stack.Start(ctx)
}

// live lets the cluster work, causes incidents, and shows what Prometheus makes of it.
func live(ctx context.Context, o options, cluster *rig.Cluster, stack *rig.Stack, out *screen) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	simulated := make(chan struct{})
	go func() {
		defer close(simulated)
		if err := cluster.Run(ctx, tick); err != nil {
			cancel(err)
		}
	}()
	defer func() { <-simulated }()
	defer cancel(nil) // before that wait

	incidents := &incidents{options: o, cluster: cluster, stack: stack, events: &journal{},
		series: recordedFor(o.rig.Rules.Window), next: time.Now().Add(o.quiet)}
	err := watch(ctx, o, stack, incidents, out)
	if ctx.Err() != nil { // told to stop, and so is everything that failed because of that
		err = context.Cause(ctx)
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return incidents.verdict(out, o.duration > 0)
		}
	}
	return err
}

// watch ends with an error, that of ctx if nothing else goes wrong.
func watch(ctx context.Context, o options, stack *rig.Stack, incidents *incidents, out *screen) error {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	refresh := time.Now().Add(2 * o.rig.Scrape)
	fmt.Fprintln(out, "waiting for the first scrapes")
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-ticker.C:
			if err := stack.Failed(); err != nil {
				return err
			}
			if err := incidents.step(ctx, now); err != nil {
				return err
			}
			if !now.Before(refresh) {
				refresh = now.Add(out.every(o.print))
				out.show(look(ctx, stack, incidents, incidents.events))
			}
		}
	}
}

// unlessStopped drops errors that come of being told to stop.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
