// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"cmp"
	"slices"
	"strings"
)

// Report is what a Survey found. Its JSON is made for scripts; fields are only ever added.
type Report struct {
	// Source is where it was read: procfs, lctl or file.
	Source string `json:"source"`
	// Targets are in name order.
	Targets []TargetReport `json:"targets"`
	// Problems are failures that are not one target's.
	Problems []string `json:"problems,omitempty"`
}

// TargetReport is what a Survey found of one target.
type TargetReport struct {
	Name string `json:"name"`
	FS   string `json:"fs"`
	// Kind is mdt, ost or unknown.
	Kind string `json:"kind"`
	// Problem is why it could not be read, or not to the end; an exporter would not show its jobs.
	Problem string `json:"problem,omitempty"`

	// Lines is how many lines were read. Unparsed are those that are nothing known; Dropped are operation
	// lines whose counter the entry had before; Rejected are entries whose identifier could not be read.
	Lines    uint64 `json:"lines"`
	Unparsed uint64 `json:"unparsed_lines"`
	Dropped  uint64 `json:"dropped_lines"`
	Rejected uint64 `json:"rejected_entries"`

	Entries int `json:"entries"`
	// Series is how many series an exporter that starts now would show for the target's jobs and users.
	Series int `json:"series"`
	// Classes are in order of class and users; Folded in the order of lustre_jobstats_folded_entries.
	Classes []ClassReport `json:"classes,omitempty"`
	Folded  []FoldReport  `json:"folded,omitempty"`
	// Oddities are identifiers that are malformed, qualified or perhaps truncated, the most entries first.
	Oddities []OddityReport `json:"oddities,omitempty"`
}

// ClassReport counts the entries of a class and kind of user, as lustre_jobstats_entries does.
type ClassReport struct {
	Class   string `json:"class"`
	Users   string `json:"users"`
	Entries int    `json:"entries"`
}

// FoldReport counts the entries that would have no series of their own, by reason.
type FoldReport struct {
	Reason  string `json:"reason"`
	Entries int    `json:"entries"`
}

// OddityReport is a kind of identifier that an administrator may want to put right at the clients.
type OddityReport struct {
	Class   string `json:"class"`
	Reason  string `json:"reason"`
	Entries int    `json:"entries"`
	// Examples are some of the identifiers as Lustre prints them: quoted and escaped, or any bytes.
	Examples []string `json:"examples"`
	// Nodes are the nodes that most of them come from, as far as the identifiers tell.
	Nodes []NodeReport `json:"nodes,omitempty"`
}

// NodeReport counts the odd entries of one node.
type NodeReport struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
}

// Bounds of what is kept and shown of each kind of oddity.
const (
	maxExamples = 5
	maxNodes    = 5
	// maxNodeNames bounds the memory that forged names can take; no cluster has as many nodes.
	maxNodeNames = 100_000
)

type oddityKey struct{ class, reason string }

// oddity collects one kind.
type oddity struct {
	entries  int
	examples []string
	nodes    map[string]int
}

func (o *oddity) add(id []byte, node string) {
	o.entries++
	if len(o.examples) < maxExamples && !slices.Contains(o.examples, string(id)) {
		o.examples = append(o.examples, string(id))
	}
	if _, known := o.nodes[node]; node != "" && (known || len(o.nodes) < maxNodeNames) {
		o.nodes[node]++
	}
}

func (o *oddity) report(key oddityKey) OddityReport {
	nodes := make([]NodeReport, 0, len(o.nodes))
	for name, n := range o.nodes {
		nodes = append(nodes, NodeReport{name, n})
	}
	slices.SortFunc(nodes, func(a, b NodeReport) int {
		return cmp.Or(cmp.Compare(b.Entries, a.Entries), strings.Compare(a.Name, b.Name))
	})
	return OddityReport{
		Class: key.class, Reason: key.reason, Entries: o.entries,
		Examples: o.examples, Nodes: nodes[:min(len(nodes), maxNodes)],
	}
}

func compareClasses(a, b ClassReport) int {
	return cmp.Or(strings.Compare(a.Class, b.Class), strings.Compare(a.Users, b.Users))
}

func compareOddities(a, b OddityReport) int {
	return cmp.Or(cmp.Compare(b.Entries, a.Entries), strings.Compare(a.Class, b.Class), strings.Compare(a.Reason, b.Reason))
}

// Complete reports that everything could be read.
func (r *Report) Complete() bool {
	return len(r.Problems) == 0 && !slices.ContainsFunc(r.Targets, func(t TargetReport) bool { return t.Problem != "" })
}

// Total sums the targets up: its numbers are sums, its classes and folded entries are merged, and it
// has no name, problem or oddities.
func (r *Report) Total() TargetReport {
	var total TargetReport
	classes, folded := map[ClassReport]int{}, map[string]int{}
	for i := range r.Targets {
		t := &r.Targets[i]
		total.Lines += t.Lines
		total.Unparsed += t.Unparsed
		total.Dropped += t.Dropped
		total.Rejected += t.Rejected
		total.Entries += t.Entries
		total.Series += t.Series
		for _, c := range t.Classes {
			classes[ClassReport{Class: c.Class, Users: c.Users}] += c.Entries
		}
		for _, f := range t.Folded {
			folded[f.Reason] += f.Entries
		}
	}
	for class, n := range classes {
		class.Entries = n
		total.Classes = append(total.Classes, class)
	}
	slices.SortFunc(total.Classes, compareClasses)
	for reason, n := range folded {
		total.Folded = append(total.Folded, FoldReport{reason, n})
	}
	slices.SortFunc(total.Folded, func(a, b FoldReport) int { return strings.Compare(a.Reason, b.Reason) })
	return total
}
