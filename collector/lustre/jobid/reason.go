// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import "bytes"

// Reasons are shown by "pfs_exporter check" and by nothing that compares them.
const (
	reasonEmpty     = "empty: the client sent no text"
	reasonLong      = "longer than 80 bytes: Lustre keeps 31"
	reasonCutUID    = "31 bytes: cut inside the uid, or just behind it"
	reasonCut       = "31 bytes: cut before the last field"
	reasonTruncated = "31 bytes: the last field may be cut"
	reasonQualified = "qualified host name"

	reasonPattern  = "no format matches: a pattern refuses a value"
	reasonNone     = "no format matches"
	reasonJobOnly  = "no format matches: job id only"
	reasonNoUID    = "no format matches: no uid"
	reasonNoGID    = "no format matches: no gid"
	reasonNoHost   = "no format matches: host missing"
	reasonNoJob    = "no format matches: job missing"
	reasonNoExe    = "no format matches: executable missing"
	reasonNoPID    = "no format matches: process number missing"
	reasonBadUID   = "no format matches: the uid is no number of 32 bits"
	reasonBadGID   = "no format matches: the gid is no number of 32 bits"
	reasonBadPID   = "no format matches: the process number is no number of 32 bits"
	reasonBadHost  = "no format matches: not a host name where the host should be"
	reasonLikeUID  = "no format matches: the host ends in a dot and digits, as executable.uid does"
	reasonTooShort = "no format matches: text missing at the end"
)

// diagnosis remembers the format that came furthest.
type diagnosis struct {
	format  *rule
	reach   int8
	at      uint8
	refused bool // some format fitted, but its patterns did not
}

func (d *diagnosis) failed(r *rule, s *search) {
	if s.reach >= 0 && (d.format == nil || s.reach > d.reach) {
		d.format, d.reach, d.at = r, s.reach, s.at
	}
}

// reason names the field that stopped the format that came furthest.
func (d *diagnosis) reason(id []byte) string {
	if d.refused {
		return reasonPattern
	}
	if d.format == nil {
		return reasonNone
	}
	stopped := int(d.reach)
	f, rest := &d.format.fields[stopped], id[d.at:]
	whole := f.ends(rest, len(id))
	switch {
	case len(id) >= idSize && whole && f.code == 'u':
		return reasonCutUID
	case len(id) >= idSize && (whole || len(rest) == 0):
		return reasonCut
	case len(rest) == 0 && f.shape != jobShape:
		return missing(f.code)
	case whole && stopped == 0 && f.code == 'j' && allDigits(rest):
		return reasonJobOnly
	case whole && stopped+1 < len(d.format.fields):
		return missing(d.format.fields[stopped+1].code)
	case whole:
		return reasonTooShort
	case f.shape == hostShape && endsLikeUID(rest, len(id)):
		return reasonLikeUID
	}
	return wrong(f.code)
}

// ends says that the identifier ends in a value of this field, the literal after
// it being absent.
func (f *field) ends(rest []byte, size int) bool {
	if f.shape == jobShape && f.after != "" && bytes.IndexByte(rest, f.after[0]) >= 0 {
		return false
	}
	bare := field{code: f.code, shape: f.shape}
	shortest, longest := bare.run(rest)
	return longest == len(rest) && shortest <= longest && bare.accepts(rest, size)
}

func missing(code byte) string {
	switch code {
	case 'u':
		return reasonNoUID
	case 'g':
		return reasonNoGID
	case 'h', 'H':
		return reasonNoHost
	case 'j':
		return reasonNoJob
	case 'p':
		return reasonNoPID
	}
	return reasonNoExe
}

func wrong(code byte) string {
	switch code {
	case 'u':
		return reasonBadUID
	case 'g':
		return reasonBadGID
	case 'p':
		return reasonBadPID
	case 'h', 'H':
		return reasonBadHost
	}
	return reasonNone
}

func allDigits(value []byte) bool {
	for _, c := range value {
		if !isDigit(c) {
			return false
		}
	}
	return len(value) > 0
}

// NodeOf returns the node that sent an identifier as far as the text tells, ""
// if it does not. raw is as printed. It is for people who look for the clients
// behind malformed and qualified identifiers: the value of a host code where a
// format fits, else what looks like a host at the place that a format has for it
// (its first or its last). Never use it for accounting.
func (x *Identifier) NodeOf(raw []byte) string {
	if len(raw) > maxPrinted {
		return ""
	}
	id := Decode(nil, raw)
	if len(id) > maxDecoded {
		return ""
	}
	s := search{id: id}
	for _, r := range x.formats {
		if r.match(&s) && r.fits(&s) {
			if f := r.labelField[NodeName]; f >= 0 {
				return string(s.value(int(f)))
			}
			return ""
		}
	}
	for _, r := range x.formats {
		if node := r.guessNode(id); node != "" {
			return node
		}
	}
	return ""
}

func (r *rule) guessNode(id []byte) string {
	i := int(r.labelField[NodeName])
	switch {
	case i < 0:
		return ""
	case i == len(r.fields)-1 && i > 0 && r.endsInCode():
		before := []byte(r.fields[i-1].after)
		at := bytes.LastIndex(id, before)
		if at < 0 {
			return ""
		}
		id = id[at+len(before):]
	case i == 0 && r.lead == "" && r.fields[0].after != "":
		var found bool
		if id, _, found = bytes.Cut(id, []byte(r.fields[0].after)); !found {
			return ""
		}
	default:
		return ""
	}
	// Host names of digits alone exist, but here they are rather a uid or a job.
	host := field{shape: hostShape}
	if !host.ends(id, len(id)) || allDigits(id) {
		return ""
	}
	return string(id)
}
