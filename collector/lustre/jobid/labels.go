// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"fmt"
	"unicode/utf8"
)

// Label is one identity label of the job families.
type Label uint8

// The identity labels, in the order of their names, which is the order in which
// every exposition format writes them.
const (
	Executable Label = iota // %e, the name of the process (at most 15 bytes on Linux)
	GID                     // %g, decimal
	JobID                   // %j, absent where a format has none or the job is unknown
	NodeName                // %H or %h, else the name of the format
	UID                     // %u, decimal, or "system", or "unknown"
	NumLabels
)

// String returns the name of the label in the exposition, "" for a value that
// is no label.
func (l Label) String() string {
	switch l {
	case Executable:
		return "executable"
	case GID:
		return "gid"
	case JobID:
		return "jobid"
	case NodeName:
		return "nodename"
	case UID:
		return "uid"
	}
	return ""
}

// ParseLabel returns the label of that name; the error lists all names.
func ParseLabel(name string) (Label, error) {
	for l := range NumLabels {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, fmt.Errorf("unknown identity label %q: use executable, gid, jobid, nodename or uid", name)
}

// maxValue is the most bytes a label value can have in Labels: one length byte.
const maxValue = 255

// Labels are the values of all identity labels packed into one immutable,
// comparable string, so that they serve as a map key: for each label in order
// one length byte and the bytes. The empty string has no labels at all.
type Labels string

// MakeLabels packs values; "" is an absent label. A value longer than 255 bytes,
// which no identifier gives, is cut at a rune.
func MakeLabels(v [NumLabels]string) Labels {
	if v == ([NumLabels]string{}) {
		return ""
	}
	var buf [packedSize]byte
	packed := buf[:0]
	for _, s := range v {
		s = cutValue(s)
		packed = append(packed, byte(len(s)))
		packed = append(packed, s...)
	}
	return Labels(packed)
}

func cutValue(s string) string {
	if len(s) <= maxValue {
		return s
	}
	end := maxValue
	for end > maxValue-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Get returns the value of one label, "" when it is absent. It does not
// allocate: the value shares the memory of l.
func (l Labels) Get(label Label) string {
	for range label {
		_, l = l.next()
	}
	value, _ := l.next()
	return value
}

// Values returns all values in label order, "" for absent ones. It does not
// allocate.
func (l Labels) Values() [NumLabels]string {
	var v [NumLabels]string
	for i := range v {
		v[i], l = l.next()
	}
	return v
}

// next splits the first value off. Text that MakeLabels did not make ends early
// instead of panicking.
func (l Labels) next() (string, Labels) {
	if l == "" {
		return "", ""
	}
	end := 1 + int(l[0])
	if end > len(l) {
		return "", ""
	}
	return string(l[1:end]), l[end:]
}
