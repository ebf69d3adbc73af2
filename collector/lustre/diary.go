// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"log/slog"
	"maps"
	"slices"
)

// diary logs changes of state, once each, not once per scrape.
type diary struct {
	log       *slog.Logger
	source    string
	missing   bool            // the last look for targets failed
	failing   map[string]bool // targets whose last read failed
	none      bool            // there is no target, and that was said
	announced bool
}

func newDiary(logger *slog.Logger, source string) *diary {
	return &diary{log: logger, source: source, failing: map[string]bool{}}
}

func (d *diary) write(o *observation) {
	d.writeSearch(o)
	for _, name := range slices.Sorted(maps.Keys(o.reads)) {
		d.writeTarget(name, o.reads[name].err)
	}
	for name := range d.failing {
		if _, found := o.reads[name]; !found && o.err == nil {
			delete(d.failing, name)
		}
	}
	d.writeFound(o)
}

// writeFound says whether there is any Lustre, once and when that changes. A failed look tells nothing.
func (d *diary) writeFound(o *observation) {
	none := len(o.reads) == 0
	if o.err != nil && none || d.announced && none == d.none {
		return
	}
	d.none, d.announced = none, true
	if none {
		d.log.Info("No Lustre targets on this machine; serving the exporter's own metrics and looking again at every scrape", "source", d.source)
		return
	}
	d.log.Info("Found Lustre targets", "source", d.source, "targets", len(o.reads))
}

func (d *diary) writeSearch(o *observation) {
	switch failed := o.err != nil; {
	case failed && !d.missing:
		d.log.Error("Cannot find all Lustre targets; those it misses are not judged", "source", d.source, "err", o.err)
	case !failed && d.missing:
		d.log.Info("Can find all Lustre targets again", "source", d.source)
	}
	d.missing = o.err != nil
}

func (d *diary) writeTarget(name string, err error) {
	switch was := d.failing[name]; {
	case err != nil && !was:
		d.failing[name] = true
		d.log.Error("Cannot read target; its job series are left out until it can be read", "target", name, "err", err)
	case err == nil && was:
		delete(d.failing, name)
		d.log.Info("Target can be read again", "target", name)
	}
}
