// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import "fmt"

// Users says what kind of user an entry belongs to.
type Users uint8

// The kinds of users. Only Regular ones are people; the other two count in
// totals, never as users.
const (
	Regular Users = iota // uid of FirstUID or above, or a format without %u
	System               // uid below FirstUID
	Unknown              // the identifier is malformed: no uid can be believed
)

// String returns the value of the label "users".
func (u Users) String() string {
	switch u {
	case Regular:
		return "regular"
	case System:
		return "system"
	}
	return "unknown"
}

// Outcome is what the configured policies say about an entry.
type Outcome uint8

// The outcomes.
const (
	Keep Outcome = iota // a candidate for a series of its own
	Fold                // its counts are added to the series named by Labels
	Drop                // it is counted as an entry and otherwise left out
)

// String returns "keep", "fold" or "drop".
func (o Outcome) String() string {
	switch o {
	case Keep:
		return "keep"
	case Fold:
		return "fold"
	}
	return "drop"
}

// Identity is what one identifier means.
type Identity struct {
	// Class is an index into Identifier.Classes.
	Class uint8
	Users Users
	// Outcome is what the policy says.
	Outcome Outcome
	// Labels are the label values, always valid UTF-8, without the labels that
	// Config.Labels leaves out. For Fold only uid, "system" or "unknown"; for
	// Drop none.
	Labels Labels
	// Exact says that Labels determine the identifier among those of the same
	// format: no label was left out, no %p was ignored, no byte was replaced and
	// neither jobid nor nodename is the word "other", which folded series use.
	// Identifiers of two formats may still share labels; whoever makes series of
	// them has to look whether the labels are taken.
	Exact bool
	// Reduced says that Exact is false because the configuration threw part of
	// the identifier away (Config.Labels, or %p): such entries share a series on
	// purpose.
	Reduced bool
	// Reason is a constant sentence for people: why the identifier is malformed,
	// qualified or perhaps truncated; otherwise "".
	Reason string
}

// Policy is what to do with the entries of system users, or with malformed ones.
type Policy uint8

// The policies.
const (
	PolicyFold Policy = iota // add them up under one uid per target, totals stay complete
	PolicyDrop               // leave them out; totals are then too small
	PolicyKeep               // treat them like the entries of regular users
)

// String returns the word that ParsePolicy reads.
func (p Policy) String() string {
	switch p {
	case PolicyFold:
		return "fold"
	case PolicyDrop:
		return "drop"
	case PolicyKeep:
		return "keep"
	}
	return fmt.Sprintf("policy %d", uint8(p))
}

// ParsePolicy reads "fold", "drop" or "keep".
func ParsePolicy(word string) (Policy, error) {
	for p := PolicyFold; p <= PolicyKeep; p++ {
		if p.String() == word {
			return p, nil
		}
	}
	return 0, fmt.Errorf("unknown policy %q: use fold, drop or keep", word)
}

// other is the value of jobid and nodename in folded series (design.md section 6).
const other = "other"
