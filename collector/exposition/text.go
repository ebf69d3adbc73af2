// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import "strings"

// totalSuffix ends a counter's samples, but not its family's name, in OpenMetrics.
const totalSuffix = "_total"

// line appends a sample up to its value to the encoder's buffer, preceded by the
// family's comments if it is the first, and returns the buffer with room for
// the value.
func (s *Series) line(variable string) []byte {
	if !s.begun {
		s.begin()
	}
	e := s.e
	if s.variable == "" {
		e.room(len(s.head) + len(s.tail) + maxNumber)
		return append(append(e.buf, s.head...), s.tail...)
	}
	e.room(len(s.head) + 2*len(variable) + len(s.tail) + maxNumber)
	b := append(e.buf, s.head...)
	b = appendEscaped(b, variable, true)
	return append(b, s.tail...)
}

// compose renders what surrounds the variable label's value.
func (s *Series) compose() {
	if s.e.encoding == protobuf {
		return
	}
	s.head = append(s.head[:0], s.family.Name...)
	s.tail = s.tail[:0]
	if len(s.before)+len(s.after)+len(s.variable) == 0 {
		s.tail = append(s.tail, ' ')
		return
	}
	open := len(s.head)
	s.head = append(s.head, s.before...)
	if s.variable != "" {
		s.head = append(s.head, ',')
		s.head = append(s.head, s.variable...)
		s.head = append(s.head, `="`...)
		s.tail = append(s.tail, '"')
		s.tail = append(s.tail, s.after...)
	} else {
		s.head = append(s.head, s.after...)
	}
	// Whichever label came first brought a comma.
	s.head[open] = '{'
	s.tail = append(s.tail, "} "...)
}

func appendTextLabels(b []byte, labels []Label) []byte {
	for _, l := range labels {
		b = append(b, ',')
		b = append(b, l.Name...)
		b = append(b, `="`...)
		b = appendEscaped(b, l.Value, true)
		b = append(b, '"')
	}
	return b
}

// begin writes the comments that precede a family's first sample.
func (s *Series) begin() {
	s.begun = true
	f, om := s.family, s.e.encoding == openMetrics
	name, kind := f.Name, "gauge"
	if f.Type == Counter {
		kind = "counter"
		if om {
			// expfmt calls a counter without _total unknown: OpenMetrics has no such thing.
			var found bool
			if name, found = strings.CutSuffix(f.Name, totalSuffix); !found {
				kind = "unknown"
			}
		}
	}
	s.e.room(3*(len("# HELP  \n")+len(name)) + 2*len(f.Help) + 2*len(f.Unit) + len(kind))
	b := s.e.buf
	if f.Help != "" {
		// Only OpenMetrics escapes quotes here.
		b = appendEscaped(appendComment(b, "# HELP ", name), f.Help, om)
		b = append(b, '\n')
	}
	b = append(appendComment(b, "# TYPE ", name), kind...)
	b = append(b, '\n')
	if om && f.Unit != "" {
		b = appendEscaped(appendComment(b, "# UNIT ", name), f.Unit, true)
		b = append(b, '\n')
	}
	s.e.buf = b
}

func appendComment(b []byte, keyword, name string) []byte {
	b = append(b, keyword...)
	b = append(b, name...)
	return append(b, ' ')
}

// appendEscaped appends v with backslashes, newlines and, if quotes is set,
// double quotes escaped. All other bytes stand for themselves in both formats,
// control characters and invalid UTF-8 included.
func appendEscaped(b []byte, v string, quotes bool) []byte {
	plain := 0 // start of what is not yet appended
	for i := 0; i < len(v); i++ {
		c := v[i]
		if c != '\\' && c != '\n' && (c != '"' || !quotes) {
			continue
		}
		b = append(b, v[plain:i]...)
		plain = i + 1
		if c == '\n' {
			c = 'n'
		}
		b = append(b, '\\', c)
	}
	return append(b, v[plain:]...)
}
