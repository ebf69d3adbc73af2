// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"errors"
	"fmt"
	"math"
)

// Config says which identifiers a site has and what to do with the others.
type Config struct {
	// Formats are tried in order, the first that fits wins.
	Formats []Format
	// System is the policy for uids below FirstUID, Malformed the one for
	// identifiers that fit no format or whose uid may be cut.
	System, Malformed Policy
	// FirstUID is the first uid of a person; 0 means 1000, as login.defs has it.
	// With 1 only root is a system user.
	FirstUID uint32
	// Labels are the identity labels to keep, nil for all. UID must be among
	// them.
	Labels []Label
}

const (
	defaultFirstUID = 1000
	malformedClass  = "malformed"
	maxClasses      = math.MaxUint8 + 1
)

// Identifier identifies entries. It is immutable, so it can be used from many
// goroutines.
type Identifier struct {
	formats   []*rule
	classes   []string
	keep      [NumLabels]bool
	system    Policy
	malformed Policy
	firstUID  uint32

	systemLabels, unknownLabels Labels
}

// rule is a format with all that Identify would otherwise work out each time.
type rule struct {
	*compiled
	class      uint8           // of a plain identifier
	noJob      uint8           // class without a job
	qualified  uint8           // class with a qualified host
	truncated  uint8           // class of 31 bytes and more
	labelField [NumLabels]int8 // field of each label, -1 for none
	job        int8            // = labelField[JobID]
	host       int8            // field of %H only, -1 for none
	reduced    bool            // has %p
	constant   string          // nodename where there is no host code
}

// New compiles a configuration. Its errors explain what is wrong and the remedy.
func New(c Config) (*Identifier, error) {
	x := &Identifier{
		system:        c.System,
		malformed:     c.Malformed,
		firstUID:      c.FirstUID,
		systemLabels:  MakeLabels([NumLabels]string{UID: "system"}),
		unknownLabels: MakeLabels([NumLabels]string{UID: "unknown"}),
	}
	if x.firstUID == 0 {
		x.firstUID = defaultFirstUID
	}
	if c.System > PolicyKeep || c.Malformed > PolicyKeep {
		return nil, errors.New("unknown policy: use PolicyFold, PolicyDrop or PolicyKeep")
	}
	if err := x.setLabels(c.Labels); err != nil {
		return nil, err
	}
	formats, err := compileAll(c.Formats)
	if err != nil {
		return nil, err
	}
	if err := x.setFormats(formats); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *Identifier) setLabels(labels []Label) error {
	if labels == nil {
		x.keep = [NumLabels]bool{true, true, true, true, true}
		return nil
	}
	for _, l := range labels {
		if l >= NumLabels {
			return fmt.Errorf("identity label number %d does not exist", l)
		}
		x.keep[l] = true
	}
	if !x.keep[UID] {
		return errors.New("the label uid cannot be left out: sums per user and the folded users " +
			"\"system\" and \"unknown\" are told by it; add uid to the labels")
	}
	return nil
}

func compileAll(formats []Format) ([]*compiled, error) {
	if len(formats) == 0 {
		return nil, errors.New("no identifier format: give at least one, for example compute=%j:%u:%H")
	}
	all := make([]*compiled, 0, len(formats))
	names := map[string]bool{}
	for _, f := range formats {
		c, err := f.compile()
		if err != nil {
			return nil, err
		}
		if names[f.Name] {
			return nil, fmt.Errorf("two formats are named %q: a name is a class, give each its own", f.Name)
		}
		names[f.Name] = true
		all = append(all, c)
	}
	return all, checkShadowed(all)
}

func (x *Identifier) setFormats(formats []*compiled) error {
	owner := map[string]string{}
	for _, c := range formats {
		r := newRule(c)
		class := func(suffix string) uint8 {
			x.classes = append(x.classes, c.Name+suffix)
			return uint8(len(x.classes) - 1) // checked below
		}
		first := len(x.classes)
		r.class = class("")
		if r.job >= 0 {
			r.noJob = class("_no_job")
		}
		if r.host >= 0 {
			r.qualified = class("_qualified")
		}
		r.truncated = class("_truncated")
		for _, name := range x.classes[first:] {
			if taken, ok := owner[name]; ok {
				return fmt.Errorf("formats %q and %q would both have the class %q: rename one of them", taken, c.Name, name)
			}
			owner[name] = c.Name
		}
		x.formats = append(x.formats, r)
	}
	x.classes = append(x.classes, malformedClass)
	if len(x.classes) > maxClasses {
		return fmt.Errorf("%d formats make %d classes, but at most %d are possible: use fewer formats",
			len(formats), len(x.classes), maxClasses)
	}
	return nil
}

func newRule(c *compiled) *rule {
	r := &rule{compiled: c, reduced: c.index("p") >= 0, host: int8(c.index("H"))}
	for l, codes := range [NumLabels]string{Executable: "e", GID: "g", JobID: "j", NodeName: "hH", UID: "u"} {
		r.labelField[l] = int8(c.index(codes))
	}
	r.job = r.labelField[JobID]
	if r.labelField[NodeName] < 0 {
		r.constant = c.Name
	}
	return r
}

// Classes returns the names of all classes in the order of Identity.Class: for
// each format its name, then with _no_job (formats with %j), _qualified (with
// %H) and _truncated; "malformed" is the last.
func (x *Identifier) Classes() []string { return append([]string(nil), x.classes...) }
