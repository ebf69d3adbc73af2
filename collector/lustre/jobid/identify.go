// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"bytes"
	"unicode/utf8"
)

// maxPrinted is the longest text that can decode to maxDecoded bytes: quotes,
// and four characters for each.
const maxPrinted = 4*maxDecoded + 2

// packedSize holds the labels of any identifier that is not too long: replaced
// bytes at most double a value and add one (see appendValue), and a format name
// may come along.
const packedSize = 2*int(NumLabels) + 2*maxDecoded + maxName

// replacement is U+FFFD, which stands for bytes that are no UTF-8.
const replacement = string(utf8.RuneError)

// Identify tells what an identifier means. raw is the text after "job_id:" as
// printed; it is decoded first, and not kept.
func (x *Identifier) Identify(raw []byte) Identity {
	if len(raw) > maxPrinted {
		return x.malformedIdentity(nil, reasonLong)
	}
	if !quoted(raw) {
		return x.identify(raw)
	}
	var buf [maxPrinted]byte
	return x.identify(Decode(buf[:0], raw))
}

func (x *Identifier) identify(id []byte) Identity {
	if len(id) == 0 {
		return x.malformedIdentity(id, reasonEmpty)
	}
	if len(id) > maxDecoded {
		return x.malformedIdentity(nil, reasonLong)
	}
	s := search{id: id}
	var d diagnosis
	for _, r := range x.formats {
		if !r.match(&s) {
			d.failed(r, &s)
			continue
		}
		if r.tight && !r.fits(&s) {
			d.refused = true
			continue
		}
		if len(id) >= idSize && r.endsInCode() && r.last().code == 'u' {
			return x.malformedIdentity(id, reasonCutUID)
		}
		return x.matched(r, &s)
	}
	return x.malformedIdentity(id, d.reason(id))
}

// matched makes the identity of an identifier that fits a format.
func (x *Identifier) matched(r *rule, s *search) Identity {
	var i Identity
	i.Class, i.Reason = r.classify(s)
	if f := r.labelField[UID]; f >= 0 {
		if uid, _ := parseNumber(s.value(int(f))); uid < x.firstUID {
			i.Users = System
			switch x.system {
			case PolicyFold:
				i.Outcome, i.Labels = Fold, x.systemLabels
				return i
			case PolicyDrop:
				i.Outcome = Drop
				return i
			}
		}
	}
	x.label(&i, r, s)
	return i
}

// classify picks the class; a cut identifier is truncated before all else,
// because nothing about its last value is sure.
func (r *rule) classify(s *search) (class uint8, reason string) {
	switch {
	case len(s.id) >= idSize && r.endsInCode():
		return r.truncated, reasonTruncated
	case r.host >= 0 && bytes.IndexByte(s.value(int(r.host)), '.') >= 0:
		return r.qualified, reasonQualified
	case r.job >= 0 && len(s.value(int(r.job))) == 0:
		return r.noJob, ""
	}
	return r.class, ""
}

// label packs the values and says what they leave open.
func (x *Identifier) label(i *Identity, r *rule, s *search) {
	var buf [packedSize]byte
	packed := buf[:0]
	exact, reduced, some := true, r.reduced, false
	for l := range NumLabels {
		var value []byte
		constant := ""
		if f := r.labelField[l]; f >= 0 {
			value = s.value(int(f))
		} else if l == NodeName {
			constant = r.constant
		}
		present := len(value)+len(constant) > 0
		if !x.keep[l] {
			reduced = reduced || present
			present, value, constant = false, nil, ""
		}
		if (l == JobID || l == NodeName) && string(value) == other {
			exact = false
		}
		length := len(packed)
		packed = append(packed, 0)
		packed = append(packed, constant...)
		var kept bool
		packed, kept = appendValue(packed, value)
		packed[length] = byte(len(packed) - length - 1)
		exact, some = exact && kept, some || present
	}
	i.Exact, i.Reduced = exact && !reduced, reduced
	if some {
		i.Labels = Labels(packed)
	}
}

// appendValue appends value as valid UTF-8: each run of bytes that are none
// becomes one U+FFFD, so n bytes become at most 2n+1. kept says that the text still tells the value: nothing was
// replaced, and no U+FFFD of the value's own looks as if.
func appendValue(dst, value []byte) (text []byte, kept bool) {
	if isASCII(value) {
		return append(dst, value...), true
	}
	if utf8.Valid(value) {
		return append(dst, value...), !bytes.Contains(value, []byte(replacement))
	}
	return append(dst, bytes.ToValidUTF8(value, []byte(replacement))...), false
}

func isASCII(value []byte) bool {
	for _, c := range value {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// malformedIdentity applies the policy to an identifier that names nobody. id is
// nil where it is too long to be shown.
func (x *Identifier) malformedIdentity(id []byte, reason string) Identity {
	i := Identity{Class: uint8(len(x.classes) - 1), Users: Unknown, Reason: reason}
	switch {
	case x.malformed == PolicyDrop:
		i.Outcome = Drop
	case x.malformed == PolicyFold || len(id) == 0:
		i.Outcome, i.Labels = Fold, x.unknownLabels
	case !x.keep[JobID]:
		i.Labels, i.Reduced = x.unknownLabels, true
	default:
		var buf [2 * maxDecoded]byte
		text, kept := appendValue(buf[:0], id)
		i.Labels = MakeLabels([NumLabels]string{JobID: string(text), UID: "unknown"})
		i.Exact = kept && string(text) != other
	}
	return i
}
