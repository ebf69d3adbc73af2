// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the Prometheus rule files of pfs_exporter for a window:
//
//	go run ./rules/generate                               # the committed ones: window 5m, scrapes every 15 s to 60 s
//	go run ./rules/generate -window 10m -out /tmp/rules   # scrapes every 2 minutes
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pfs-exporter/pfs_exporter/rules"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	o := rules.DefaultOptions()
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&o.Window, "window", o.Window, "range of rate(): at least four scrape intervals; 5m for 15s to 60s, 10m for 2m")
	flags.StringVar(&o.Job, "job", o.Job, "job_name of the exporters in prometheus.yml")
	flags.Float64Var(&o.Speedup, "speedup", o.Speedup, "divide for, baselines and offsets by this: for demos and tests")
	out := flags.String("out", "rules", "directory to write to; it is made where there is none")
	constants := flags.Bool("constants", true, "write "+rules.Constants+" too; -constants=false keeps a site's thresholds and weights")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", rules.ErrOptions, flags.Arg(0))
	}
	files, err := rules.Files(o)
	if err != nil {
		return err
	}
	if !*constants {
		delete(files, rules.Constants)
	}
	return write(files, *out, stdout)
}

func write(files map[string][]byte, dir string, stdout io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintln(stdout, file)
	}
	return nil
}
