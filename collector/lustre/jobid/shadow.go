// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import "fmt"

// checkShadowed refuses a format that can never match because one before it
// takes everything that it could. Only sure cases are found: a refused set is
// always wrong, an accepted one may still hold a useless format.
func checkShadowed(formats []*compiled) error {
	for i, later := range formats {
		for _, first := range formats[:i] {
			if !first.covers(later) {
				continue
			}
			remedy := fmt.Sprintf("put %q before %q", later.Name, first.Name)
			if later.covers(first) {
				remedy = fmt.Sprintf("remove one of them, or give %q a pattern, for example %s:%c=REGEXP",
					first.Name, first.Name, first.telling())
			}
			return fmt.Errorf("format %q (%s) can never match: format %q (%s) stands before it and takes every identifier that it could: %s",
				later.Name, later.Template, first.Name, first.Template, remedy)
		}
	}
	return nil
}

// covers says that c, tried first, leaves no identifier to b.
func (c *compiled) covers(b *compiled) bool {
	if c.lead != b.lead || len(c.fields) != len(b.fields) {
		return false
	}
	same := true // then both split alike, and patterns can be compared by place
	for i := range c.fields {
		if c.fields[i].after != b.fields[i].after || !c.fields[i].takes(b.fields[i].shape) {
			return false
		}
		same = same && c.fields[i].shape == b.fields[i].shape
	}
	return !c.tight || same && c.looser(b)
}

// takes says that every value of the other shape is one of this field.
func (f *field) takes(s shape) bool {
	if f.shape == s {
		return true
	}
	switch f.shape {
	case anyShape:
		return s != jobShape // which may be empty
	case hostShape:
		return s == numberShape
	case jobShape:
		// All but the first byte of the literal behind it, which a number or a
		// host can only hold if they consist of such bytes.
		return f.after == "" || s == numberShape || s == hostShape && !isHostByte(f.after[0])
	}
	return false
}

// looser says that every pattern of c is also one of b, by its text.
func (c *compiled) looser(b *compiled) bool {
	for i, pattern := range c.patterns {
		if pattern != nil && (b.patterns[i] == nil || b.patterns[i].String() != pattern.String()) {
			return false
		}
	}
	return true
}

// telling returns the code by which sites tell such formats apart most often.
func (c *compiled) telling() byte {
	for _, code := range patternCodes {
		if c.index(string(code)) >= 0 {
			return byte(code)
		}
	}
	return c.fields[0].code
}
