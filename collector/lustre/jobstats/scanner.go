// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"errors"
	"io"
)

// Defaults of Options. The largest dump seen in the field has 449 MB, the largest of Lustre's own tests 500,000 entries (LU-18351).
const (
	DefaultMaxLine    = 1 << 20
	DefaultMaxEntries = 2_000_000
	DefaultMaxBytes   = 4 << 30
)

// Bounds that no Lustre comes near: 126 bytes is the longest identifier it prints, 27 operations the longest entry.
const (
	maxID   = 1024
	maxName = 64
	maxOps  = 4096
)

// ErrLimit is the error of a text that exceeds Options.MaxEntries or Options.MaxBytes; what comes behind is not read.
var ErrLimit = errors.New("job_stats text exceeds the limit")

// Event is what Next found.
type Event uint8

// The events.
const (
	End       Event = iota // no more; see Err and Truncated
	EntryRead              // the entry was filled in
	FrameRead              // Frame tells which target, or which parameter of it, comes next
)

// Options of a Scanner. Zero fields stand for the defaults.
type Options struct {
	Framed     bool  // the text is `lctl get_param` output, in which lines name the target
	MaxLine    int   // bytes of a line; a longer one is dropped and counted
	MaxEntries int   // entries of the whole text
	MaxBytes   int64 // bytes of the whole text
}

// Counters of one text. Entries + Rejected is the number of identifier lines, and Lines - Unparsed the number of lines read.
type Counters struct {
	Bytes    int64
	Lines    uint64
	Entries  uint64 // entries returned by Next
	Rejected uint64 // entries present but unusable: identifier too long, or cut by the end of the text
	Unparsed uint64 // lines that are nothing known
}

// place is where in the text the scanner stands.
type place uint8

const (
	outside    place = iota // before any entry, or behind a framing line
	inEntry                 // the entry is being filled
	inRejected              // lines of an entry that is dropped
)

// Scanner reads entries from job_stats text. It never fails on content. Not safe for concurrent use.
type Scanner struct {
	reader
	o         Options
	c         Counters
	at        place
	hasOp     bool // the entry has an operation line, even an unreadable one
	truncated bool
	frame     Frame
	framed    bool // frame is set
	zeros     zeroTails
	dropped   Op // operation lines of rejected entries go here

	slowOnly bool // tests compare the general scanner with the fast one
}

// NewScanner reads from r. Reads have at least 64 KiB of room: servers since 2.17 leak an entry when a read ends short of a
// chunk (lprocfs_jobstats.c, seq_next takes a reference that only seq_show drops).
func NewScanner(r io.Reader, o Options) *Scanner {
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = DefaultMaxEntries
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	s := &Scanner{o: o}
	s.Reset(r)
	return s
}

// Reset starts over with another text, keeping options and buffer. Counters start at zero.
func (s *Scanner) Reset(r io.Reader) {
	s.reader.reset(r, s.o.MaxLine, s.o.MaxBytes)
	s.c, s.at, s.hasOp, s.truncated = Counters{}, outside, false, false
	s.frame, s.framed = Frame{}, false
}

// Frame is what the last FrameRead found.
func (s *Scanner) Frame() Frame { return s.frame }

// Err is the read error that ended the text, or ErrLimit; nil at a regular end.
func (s *Scanner) Err() error { return s.err }

// Truncated reports, once Next returned End, that the text ended too early: a limit or a read error cut it, its last line has no
// newline and is not a whole operation line, or its last entry has no operation line.
func (s *Scanner) Truncated() bool { return s.truncated }

// Counters of the text so far.
func (s *Scanner) Counters() Counters {
	c := s.c
	c.Bytes = s.bytes - int64(s.end-s.pos) // what was read ahead is not of this part of the text
	return c
}

// Next reads up to the next entry or framing line. The entry is overwritten whatever the event. It never panics and never
// fails on content; after End it keeps returning End.
func (s *Scanner) Next(e *Entry) Event {
	e.reset()
	for {
		if s.at == inEntry && !s.slowOnly {
			s.fastTimes(e)
			s.fastOps(e)
		}
		text, form := s.line()
		if form == noLine {
			return s.finish()
		}
		if ev, ok := s.take(e, text, form); ok {
			return ev
		}
	}
}

// take consumes one line, or ends the entry before it and leaves it for the next call.
func (s *Scanner) take(e *Entry, text []byte, form lineForm) (Event, bool) {
	s.truncated = form == cutLine
	if s.o.Framed && !s.stripped {
		if p, ok := parsePrefix(text); ok {
			return s.takeFrame(p, text, form)
		}
	}
	if id, ok := identifier(text); ok {
		if s.at == inEntry {
			return s.leave(), true
		}
		return End, s.begin(e, id, form)
	}
	if form == longLine || !s.takeLine(e, text, form) {
		s.unparsed(e)
	}
	s.consume(form)
	return End, false
}

// leave ends the entry.
func (s *Scanner) leave() Event {
	s.at = outside
	return EntryRead
}

// begin starts an entry at its identifier line. It reports that the limit ends the text here.
func (s *Scanner) begin(e *Entry, id []byte, form lineForm) (stop bool) {
	usable := form == wholeLine && len(id) <= maxID
	if usable && s.c.Entries >= uint64(s.o.MaxEntries) {
		s.stop(ErrLimit)
		s.truncated = true
		return true
	}
	s.hasOp = false
	if usable {
		s.at = inEntry
		s.c.Entries++
		e.ID = append(e.ID[:0], id...)
	} else {
		// An identifier that the end of the text cut short would count for somebody else.
		s.at = inRejected
		s.c.Rejected++
	}
	s.consume(form)
	return false
}

// takeLine reads any line that is neither framing nor identifier and reports whether it is something known.
func (s *Scanner) takeLine(e *Entry, text []byte, form lineForm) bool {
	text = trimBlanks(text)
	if len(text) == 0 || string(text) == "job_stats:" {
		// The header may be missing, repeated or come between entries: since 2.17 it is a flag shared by concurrent readers.
		return true
	}
	if s.at == outside {
		return false
	}
	if kind, t, ok := timeLine(text); ok {
		if form == cutLine {
			return false // its digits may be cut too
		}
		if s.at == inEntry {
			e.setTime(kind, t)
		}
		return true
	}
	return s.takeOp(e, text)
}

// takeOp reads an operation line of the current entry.
func (s *Scanner) takeOp(e *Entry, text []byte) bool {
	op := &s.dropped
	if s.at == inEntry {
		op = e.nextOp()
	}
	if len(e.Ops) >= maxOps || !parseOp(text, op) {
		s.hasOp = s.hasOp || looksLikeOp(text)
		return false
	}
	s.hasOp = true
	s.truncated = false // its closing brace tells that nothing is missing
	if s.at == inEntry {
		e.keepOp()
	}
	return true
}

// unparsed counts a line that is nothing known.
func (s *Scanner) unparsed(e *Entry) {
	s.c.Unparsed++
	if s.at == inEntry {
		e.Damaged = true
	}
}

// consume steps behind the line.
func (s *Scanner) consume(form lineForm) {
	s.c.Lines++
	if !s.skip() && form == longLine {
		s.truncated = true
	}
}

// finish ends the text, after the entry that is still open.
func (s *Scanner) finish() Event {
	if s.err != nil || s.at != outside && !s.hasOp {
		s.truncated = true
	}
	if s.at == inEntry {
		return s.leave()
	}
	s.at = outside
	return End
}
