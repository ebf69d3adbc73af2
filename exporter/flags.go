// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"
)

// The commands.
const (
	commandRun   = "run"
	commandCheck = "check"
)

// options are what the command line says.
type options struct {
	command string
	log     logOptions
	web     webOptions
	lustre  lustreOptions
	check   checkOptions
}

// webOptions are the flags about HTTP.
type webOptions struct {
	toolkit     *web.FlagConfig
	path        string        // of the metrics
	pprof       bool          // serve Go's profiles
	maxRequests int           // scrapes at a time
	offset      time.Duration // taken off a scrape's timeout
	bare        bool          // without metrics about the exporter itself
}

const (
	defaultAddress = ":9169"

	intro = `Prometheus exporter for parallel file systems: shows who uses a Lustre server, and how, from Lustre Jobstats.

Run it on every Lustre server, as any user; it needs no configuration. "pfs_exporter check" shows what it makes of the job identifiers of this server.`
)

// parseArgs reads the command line. It is answered when it only asked for help or the version.
func parseArgs(args []string, stdout, stderr io.Writer) (o *options, answered bool, err error) {
	o = &options{}
	app := kingpin.New(program, intro)
	app.UsageWriter(stdout).ErrorWriter(stderr)
	// kingpin goes on after this, so whatever it returns then is of no interest.
	app.Terminate(func(int) { answered = true })
	app.Version(version.Print(program))
	app.HelpFlag.Short('h')

	o.lustre.define(app)
	o.web.define(app)
	o.log.define(app)
	app.Command(commandRun, "Serve metrics until a signal arrives. This is the default: the word may be left out.").Default()
	o.check.define(app.Command(commandCheck, "Read this server, or a saved dump, once and explain the job identifiers in it: "+
		"entries by class, malformed and qualified identifiers with the reason and the nodes that send them, lines that "+
		"could not be read, and the number of series to expect. Exits with 1 if something could not be read."))

	valueless := findValueless(app)
	o.command, err = app.Parse(args)
	return o, answered, cmp.Or(valueless(), err)
}

// findValueless makes up for kingpin, which takes a flag without its value for none at all where there is a
// default command. The function it returns is to be called after parsing.
func findValueless(app *kingpin.Application) func() error {
	given := map[string]*bool{}
	for _, f := range app.Model().Flags {
		given[f.Name] = new(bool)
		app.GetFlag(f.Name).IsSetByUser(given[f.Name])
	}
	app.PreAction(func(c *kingpin.ParseContext) error {
		for _, e := range c.Elements {
			if f, ok := e.Clause.(*kingpin.FlagClause); ok {
				delete(given, f.Model().Name)
			}
		}
		return nil
	})
	return func() error {
		for name, dropped := range given {
			if *dropped {
				return fmt.Errorf("expected argument for flag '--%s'", name)
			}
		}
		return nil
	}
}

func (o *logOptions) define(app *kingpin.Application) {
	set(app, &o.level, "log.level", "info", parseLevel,
		"Least severe messages to log: debug, info, warn or error. debug has every scrape that a client gave up.")
	set(app, &o.format, "log.format", "logfmt", oneOf(logFormats()...), "Format of log messages: logfmt or json.")
}

func (o *webOptions) define(app *kingpin.Application) {
	o.toolkit = kingpinflag.AddFlags(app, defaultAddress)
	set(app, &o.path, "web.telemetry-path", "/metrics", parsePath, "Path under which the metrics are served.")
	app.Flag("web.enable-pprof", "Serve Go's profiles below /debug/pprof/. Off, because they cost time and show the command line; "+
		"turn it on to report a performance problem.").BoolVar(&o.pprof)
	set(app, &o.maxRequests, "web.max-requests", "40", countFrom(1), "Scrapes served at the same time; more get status 503. "+
		"It bounds the memory that many slow clients can hold; two Prometheus servers need no more than 2.")
	set(app, &o.offset, "web.timeout-offset", "0.5s", durationFrom(0), "Taken off the timeout that Prometheus announces, so that the response arrives "+
		"before Prometheus gives up. Raise it where the network is slow or the response large.")
	app.Flag("web.disable-exporter-metrics", "Leave out the metrics about the exporter process itself (go_*, process_*, pfs_exporter_scrapes_*).").
		BoolVar(&o.bare)
}

// checkOptions are the flags of the command check.
type checkOptions struct {
	file   string
	target string
	format string // checkFormats
}

func checkFormats() []string { return []string{"text", "json"} }

func (o *checkOptions) define(cmd *kingpin.CmdClause) {
	cmd.Flag("file", "Read this saved job_stats text, or the saved output of lctl get_param, plain or compressed by gzip; - is standard input. "+
		"Without it the targets of this server are read.").PlaceHolder("DUMP").StringVar(&o.file)
	cmd.Flag("target", "Whose the dump is, where it does not say, for example scratch-OST000f.").PlaceHolder("NAME").StringVar(&o.target)
	set(cmd, &o.format, "format", "text", oneOf(checkFormats()...), "text for people, json for scripts.")
}
