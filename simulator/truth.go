// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import "iter"

// Key names one true count: who really did what where.
type Key struct {
	Target string
	UID    uint32
	JobID  string // "" where the process belongs to no job
	// Identifier is what the servers were told, at most 31 bytes, before any encoding. For malformed ones UID and JobID
	// are true nevertheless.
	Identifier string
	Class      Class
	// Operation is named as printed; reads and writes of data are "read" and "write" in every dialect.
	Operation string
}

// Count is how much was done since the start, whatever was cleaned up, cleared or restarted since.
type Count struct {
	Samples uint64 // requests, of read and write the bulk RPCs
	Bytes   uint64 // moved by read and write
	Micros  uint64 // service time, where the target's dialect counts it
}

// Add sums two counts.
func (n *Count) Add(m Count) {
	n.Samples += m.Samples
	n.Bytes += m.Bytes
	n.Micros += m.Micros
}

// truth keeps the counts per account. Only operations that the target's dialect counts are in it.
type truth struct {
	off      bool
	accounts map[accountKey]*account
	order    []*account
}

type accountKey struct {
	target     string
	uid        uint32
	jobid      string
	identifier string
}

type account struct {
	accountKey
	class  Class
	ops    []op // the few that happened
	counts []Count
}

func (t *truth) account(key accountKey, class Class) *account {
	if t.off {
		return nil
	}
	a := t.accounts[key]
	if a == nil {
		a = &account{accountKey: key, class: class}
		t.accounts[key] = a
		t.order = append(t.order, a)
	}
	return a
}

func (a *account) add(o op, n Count) {
	if a == nil {
		return
	}
	for i := range a.ops {
		if a.ops[i] == o {
			a.counts[i].Add(n)
			return
		}
	}
	a.ops = append(a.ops, o)
	a.counts = append(a.counts, n)
}

// Truth iterates over all true counts, in an order that depends on the seed and the steps alone.
func (c *Cluster) Truth() iter.Seq2[Key, Count] {
	return func(yield func(Key, Count) bool) {
		for _, a := range c.truth.order {
			for i, o := range a.ops {
				key := Key{a.target, a.uid, a.jobid, a.identifier, a.class, o.String()}
				if !yield(key, a.counts[i]) {
					return
				}
			}
		}
	}
}

// Total is a true count whatever the identifier.
type Total struct {
	Target    string
	UID       uint32
	JobID     string
	Operation string
}

// Totals sums the truth per target, user, job and operation.
func (c *Cluster) Totals() map[Total]Count {
	totals := make(map[Total]Count)
	for k, n := range c.Truth() {
		t := Total{k.Target, k.UID, k.JobID, k.Operation}
		sum := totals[t]
		sum.Add(n)
		totals[t] = sum
	}
	return totals
}
