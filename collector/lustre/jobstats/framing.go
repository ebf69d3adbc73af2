// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import "bytes"

// Frame is an lctl framing line: `mdt.scratch-MDT0000.job_stats=` before the text of that target, or
// `mdt.scratch-MDT0000.job_cleanup_interval=600`.
type Frame struct {
	Kind   string // "mdt" or "obdfilter"
	Target string // "scratch-MDT0000"
	Param  string // "job_stats" or "job_cleanup_interval"
	Value  string // of job_cleanup_interval, as printed: seconds
}

const (
	paramStats    = "job_stats"
	paramInterval = "job_cleanup_interval"
)

// prefix is `KIND.TARGET.PARAM=` at the beginning of a line.
type prefix struct {
	kind          string
	target, param []byte
	size          int // bytes up to the rest of the line
}

// parsePrefix reads what `lctl get_param` puts before a value: NAME= once, on every line with -H, or `NAME: ` with -y.
func parsePrefix(line []byte) (p prefix, ok bool) {
	switch {
	case bytes.HasPrefix(line, []byte("mdt.")):
		p.kind = "mdt"
	case bytes.HasPrefix(line, []byte("obdfilter.")):
		p.kind = "obdfilter"
	default:
		return prefix{}, false
	}
	b := line[len(p.kind)+1:]
	p.target = word(b)
	if len(p.target) == 0 || len(p.target) == len(b) || b[len(p.target)] != '.' {
		return prefix{}, false
	}
	b = b[len(p.target)+1:]
	p.param = word(b)
	b = b[len(p.param):]
	if len(p.param) == 0 || len(b) == 0 {
		return prefix{}, false
	}
	p.size = len(line) - len(b) + 1
	switch {
	case b[0] == '=':
		return p, true
	case b[0] == ':' && len(b) == 1:
		return p, true
	case b[0] == ':' && b[1] == ' ':
		p.size++
		return p, true
	}
	return prefix{}, false
}

// word is the longest beginning of b that may be part of a parameter's name; file system names may have - and _.
func word(b []byte) []byte {
	n := 0
	for n < len(b) && isWord(b[n]) {
		n++
	}
	return b[:n]
}

func isWord(c byte) bool {
	return c-'a' < 26 || c-'A' < 26 || isDigit(c) || c == '-' || c == '_'
}

// takeFrame consumes a line that begins with a framing prefix, or only the prefix.
func (s *Scanner) takeFrame(p prefix, text []byte, form lineForm) (Event, bool) {
	empty := form != longLine && len(text) == p.size
	if string(p.param) == paramStats && s.framed && s.frame.is(p) {
		s.behindPrefix(p, form, empty) // lctl get_param -H
		return End, false
	}
	if s.at == inEntry {
		return s.leave(), true
	}
	s.at = outside
	switch string(p.param) {
	case paramStats:
		s.setFrame(p, "")
		s.behindPrefix(p, form, empty)
		return FrameRead, true
	case paramInterval:
		if value := trimBlanks(text[p.size:]); form == wholeLine && len(value) > 0 {
			s.setFrame(p, string(value))
			s.consume(form)
			return FrameRead, true
		}
	}
	s.c.Unparsed++
	s.consume(form)
	return End, false
}

// behindPrefix leaves the rest of the line, if there is one, to be taken as a line.
func (s *Scanner) behindPrefix(p prefix, form lineForm, empty bool) {
	if empty {
		s.consume(form)
	} else {
		s.strip(p.size)
	}
}

func (s *Scanner) setFrame(p prefix, value string) {
	s.frame = Frame{Kind: p.kind, Target: string(p.target), Param: string(p.param), Value: value}
	s.framed = true
}

// is reports that p names the same parameter of the same target.
func (f *Frame) is(p prefix) bool {
	return f.Kind == p.kind && f.Target == string(p.target) && f.Param == string(p.param)
}
