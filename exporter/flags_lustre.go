// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// lustreOptions are the flags about Lustre, as given.
type lustreOptions struct {
	source source.Config
	target string
	once   bool // the source is read once, and may be standard input

	formats   []jobid.Format
	patterns  []string
	system    jobid.Policy
	malformed jobid.Policy
	firstUID  uint32
	labels    []jobid.Label

	firstZero      ledger.FirstZero
	scrapeInterval time.Duration
	maxEntries     int
	maxNodesPerJob int
	maxUsers       int
	jobSeconds     bool
	sizes          bool

	observationInterval time.Duration
	readTimeout         time.Duration
	maxTargetBytes      int64
	maxTargetEntries    int
}

func (o *lustreOptions) define(app *kingpin.Application) {
	o.defineSource(app)
	o.defineIdentifiers(app)
	o.defineCounters(app)
	o.defineBounds(app)
}

func (o *lustreOptions) defineSource(app *kingpin.Application) {
	d := source.DefaultConfig()
	set(app, &o.source.Source, "lustre.source", d.Source, oneOf(source.Procfs, source.Lctl, source.File),
		"Where Jobstats are read: procfs (cheapest, needs no rights), lctl (runs lctl get_param, for servers that keep job_stats elsewhere), "+
			"or file (a saved dump, for trials).")
	set(app, &o.source.ProcPath, "path.procfs", d.ProcPath, anyText, "Where procfs is mounted. Change it in a container that sees the host's elsewhere.")
	set(app, &o.source.SysPath, "path.sysfs", d.SysPath, anyText, "Where sysfs is mounted; it tells job_cleanup_interval from Lustre 2.13 on.")
	set(app, &o.source.Command, "lustre.lctl-command", d.Command, anyText, "Name or path of lctl, for --lustre.source=lctl. "+
		"It gets no shell and no other arguments: write a script where sudo is needed.")
	app.Flag("lustre.file", "The dump to read, for --lustre.source=file: one job_stats text or the output of lctl get_param, plain or "+
		"compressed by gzip. It is read anew by every scrape.").PlaceHolder("PATH").StringVar(&o.source.Dump)
	app.Flag("lustre.target", "Whose that dump is, where neither the dump nor its path says, for example scratch-OST000f.").
		PlaceHolder("NAME").StringVar(&o.target)
}

func (o *lustreOptions) defineIdentifiers(app *kingpin.Application) {
	setList(app, &o.formats, "lustre.jobid-format", defaultFormats(), jobid.ParseFormat,
		"How clients name their jobs, as NAME=CODES with the codes of Lustre's jobid_name: %e executable, %g gid, %h and %H host, %j job, "+
			"%p process, %u uid. Repeatable, tried in order; the name becomes the class, and the nodename where there is no host code. "+
			"Give all formats if you give one.")
	setList(app, &o.patterns, "lustre.jobid-pattern", nil, checkPattern,
		"Tighten one code of one format by a regular expression for the whole value, for example utility:H=^util[0-9]+$, "+
			"to tell formats with the same codes apart. Repeatable.").PlaceHolder("FORMAT:CODE=REGEXP")
	set(app, &o.system, "lustre.system-users", "fold", jobid.ParsePolicy, "Entries of system users: fold them into uid=\"system\" (one set of series per target), "+
		"drop them (totals become too small), or keep them as users of their own.")
	set(app, &o.malformed, "lustre.malformed", "fold", jobid.ParsePolicy, "Entries whose identifier fits no format: fold them into uid=\"unknown\", "+
		"drop them (totals become too small), or keep them.")
	set(app, &o.firstUID, "lustre.first-uid", "1000", parseUID, "The first uid of a person; those below are system users. See UID_MIN in login.defs.")
	set(app, &o.labels, "lustre.labels", "all", parseLabels, "Identity labels of the series, separated by commas: executable, gid, jobid, nodename and uid. "+
		"Leave some out (never uid) where there are too many series: entries that then look alike are added up.")
}

func (o *lustreOptions) defineCounters(app *kingpin.Application) {
	set(app, &o.firstZero, "lustre.first-zero", "hold", ledger.ParseFirstZero,
		"How a new series starts, as Prometheus loses its first value: hold shows 0 for one scrape interval and is right with any Prometheus; "+
			"created sends created timestamps instead, for servers that run --enable-feature=created-timestamp-zero-ingestion; off shows what Lustre says.")
	set(app, &o.scrapeInterval, "lustre.scrape-interval", short(ledger.DefaultScrapeInterval), durationFrom(time.Second),
		"The longest interval at which any Prometheus scrapes this exporter. New series show 0 for so long. Too short loses first values; too long only delays them.")
	app.Flag("lustre.job-seconds", "Show the servers' time per entry too (lustre_job_operation_seconds_total), not only per user. Doubles the series.").
		BoolVar(&o.jobSeconds)
	app.Flag("lustre.sizes", "Show the sizes of reads and writes as native histograms, where Lustre has them (2.16 on). "+
		"Only in the protobuf format: Prometheus must scrape with scrape_native_histograms.").BoolVar(&o.sizes)
}

func (o *lustreOptions) defineBounds(app *kingpin.Application) {
	set(app, &o.maxEntries, "lustre.max-entries", strconv.Itoa(ledger.DefaultMaxEntries), countFrom(0),
		"Entries with series of their own per target; further ones are added up per user (jobid=\"other\"). Sums stay exact. Lower it to protect Prometheus.")
	set(app, &o.maxNodesPerJob, "lustre.max-nodes-per-job", strconv.Itoa(ledger.DefaultMaxNodesPerJob), countFrom(0),
		"Nodes of one job with series of their own per target; further ones are added up (nodename=\"other\").")
	set(app, &o.maxUsers, "lustre.max-users", strconv.Itoa(ledger.DefaultMaxUsers), countFrom(0),
		"Users per target; further ones are added up as uid=\"unknown\".")
	set(app, &o.observationInterval, "lustre.observation-interval", short(lustre.DefaultObservationInterval), durationFrom(0),
		"Scrapes within so long share one read of the targets; 0 reads anew. At most half of --lustre.scrape-interval.")
	set(app, &o.readTimeout, "lustre.read-timeout", short(lustre.DefaultReadTimeout), durationFrom(time.Millisecond),
		"A target that takes longer to read counts as unreadable this time. Keep it below Prometheus' scrape_timeout.")
	set(app, &o.maxTargetBytes, "lustre.max-target-bytes", strconv.FormatInt(lustre.DefaultMaxTargetBytes>>30, 10)+"GiB", parseBytes,
		"The longest job_stats text of a target that is read; a target with more counts as unreadable.")
	set(app, &o.maxTargetEntries, "lustre.max-target-entries", strconv.Itoa(lustre.DefaultMaxTargetEntries), countFrom(1),
		"The most entries of a target that are read; a target with more counts as unreadable. Each costs some 500 bytes of memory.")
}
