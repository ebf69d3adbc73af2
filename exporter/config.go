// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// config is what the flags mean for the collector. All that is wrong with them is told at once.
func (o *lustreOptions) config() (lustre.Config, error) {
	identifier, identifierErr := o.identifier()
	src, sourceErr := o.openSource()
	return lustre.Config{
		Source: src,
		Ledger: ledger.Config{
			ScrapeInterval: o.scrapeInterval,
			FirstZero:      o.firstZero,
			MaxEntries:     o.maxEntries,
			MaxNodesPerJob: o.maxNodesPerJob,
			MaxUsers:       o.maxUsers,
			JobSeconds:     o.jobSeconds,
			Sizes:          o.sizes,
			Identifier:     identifier,
		},
		ObservationInterval: o.observationInterval,
		ReadTimeout:         o.readTimeout,
		MaxTargetEntries:    o.maxTargetEntries,
		MaxTargetBytes:      o.maxTargetBytes,
	}, errors.Join(identifierErr, sourceErr, o.checkIntervals())
}

// checkIntervals finds what no flag shows alone.
func (o *lustreOptions) checkIntervals() error {
	if o.observationInterval > o.scrapeInterval/2 {
		return fmt.Errorf("--lustre.observation-interval=%s: must be at most half of --lustre.scrape-interval=%s, or scrapes meet stale observations",
			o.observationInterval, o.scrapeInterval)
	}
	return nil
}

func (o *lustreOptions) openSource() (source.Source, error) {
	c := o.source
	c.Target.Name = o.target
	switch {
	case c.Source == source.File && c.Dump == "":
		return nil, errors.New("--lustre.source=file: give the dump as --lustre.file=PATH")
	case c.Source != source.File && c.Dump != "":
		return nil, badFlag("lustre.file", c.Dump, fmt.Errorf("is read only with --lustre.source=file, but the source is %s", c.Source))
	case c.Source != source.File && c.Target.Name != "":
		return nil, badFlag("lustre.target", c.Target.Name, errors.New("names a dump that is read with --lustre.source=file; targets of this server have their names"))
	case c.Dump == "-" && !o.once:
		return nil, errors.New(`--lustre.file="-": standard input can be read only once, and scrapes read it again: save it to a file`)
	}
	s, err := source.New(c)
	if err != nil {
		return nil, fmt.Errorf("flags --lustre.source, --lustre.file, --lustre.target, --lustre.lctl-command, --path.procfs, --path.sysfs: %w", err)
	}
	return s, nil
}

func (o *lustreOptions) identifier() (*jobid.Identifier, error) {
	formats := slices.Clone(o.formats)
	for _, text := range o.patterns {
		if err := applyPattern(formats, text); err != nil {
			return nil, badFlag("lustre.jobid-pattern", text, err)
		}
	}
	x, err := jobid.New(jobid.Config{
		Formats: formats, System: o.system, Malformed: o.malformed, FirstUID: o.firstUID, Labels: o.labels,
	})
	if err != nil {
		return nil, fmt.Errorf("flags --lustre.jobid-format, --lustre.jobid-pattern: %w", err)
	}
	return x, nil
}

func applyPattern(formats []jobid.Format, text string) error {
	name, code, expression, err := jobid.ParsePattern(text)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(formats, func(f jobid.Format) bool { return f.Name == name })
	if i < 0 {
		names := make([]string, len(formats))
		for i := range formats {
			names[i] = formats[i].Name
		}
		return fmt.Errorf("no --lustre.jobid-format is named %s; there are: %s", name, strings.Join(names, ", "))
	}
	return formats[i].SetPattern(code, expression)
}

// checkPattern finds what is wrong with a pattern before the formats are known.
func checkPattern(text string) (string, error) {
	_, _, _, err := jobid.ParsePattern(text)
	return text, err
}

// defaultFormats are the texts that parse to the library's defaults.
func defaultFormats() []string {
	formats := jobid.DefaultFormats()
	texts := make([]string, len(formats))
	for i, f := range formats {
		texts[i] = f.Name + "=" + f.Template
	}
	return texts
}

func parseLabels(text string) ([]jobid.Label, error) {
	if text == "all" {
		return nil, nil
	}
	var labels []jobid.Label
	for name := range strings.SplitSeq(text, ",") {
		label, err := jobid.ParseLabel(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		labels = append(labels, label)
	}
	if !slices.Contains(labels, jobid.UID) {
		return nil, errors.New("uid cannot be left out, as sums per user are told by it: add uid")
	}
	return labels, nil
}

// parsePath accepts a path that can be served beside the others.
func parsePath(path string) (string, error) {
	plain := regexp.MustCompile(`^(/[A-Za-z0-9_.~-]+)+$`)
	switch {
	case !plain.MatchString(path):
		return "", errors.New("want a path such as /metrics: letters, digits, and . _ ~ - between slashes, none at the end")
	case path == healthyPath || path == readyPath || strings.HasPrefix(path+"/", pprofPath):
		return "", errors.New("is taken by another page: choose another, such as /metrics")
	case strings.Contains(path+"/", "/./"), strings.Contains(path+"/", "/../"):
		return "", errors.New("must not contain . or .. as a step")
	}
	return path, nil
}
