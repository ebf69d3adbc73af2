// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"fmt"
	"strings"
)

// maxFields is the number of codes a template can have: each at most once, and
// of %h and %H only one.
const maxFields = 6

// idSize is the most bytes that Lustre keeps of an identifier:
// LUSTRE_JOBID_SIZE is 32 with the NUL, in all versions.
const idSize = 31

// field is a code and the literal after it.
type field struct {
	code  byte
	shape shape
	after string // "" only where the template ends in this code
}

// template is a compiled format: a literal, then fields. Every field but the
// last is followed by a literal, so that its end can be found.
type template struct {
	lead   string
	fields []field
}

// endsInCode says that a cut identifier can still fit: the cut then lies in the
// value of the last field.
func (t *template) endsInCode() bool { return t.last().after == "" }

func (t *template) last() *field { return &t.fields[len(t.fields)-1] }

// index returns the position of the field with one of the codes, or -1.
func (t *template) index(codes string) int {
	for i := range t.fields {
		if strings.IndexByte(codes, t.fields[i].code) >= 0 {
			return i
		}
	}
	return -1
}

// codes is what may follow a percent sign, in the order of the Lustre manual.
const codes = "egjphHu"

const codesHelp = "%e (executable), %g (gid), %h (host as it is), %H (short host), %j (job), %p (process number), %u (uid)"

// compile reads a template in the language of the client's jobid_name. The
// errors say what to write instead.
func compile(text string) (template, error) {
	var t template
	var literal []byte
	for rest := text; rest != ""; {
		if rest[0] != '%' {
			literal, rest = append(literal, rest[0]), rest[1:]
			continue
		}
		if strings.HasPrefix(rest, "%%") {
			literal, rest = append(literal, '%'), rest[2:]
			continue
		}
		if err := checkCode(rest); err != nil {
			return t, err
		}
		if err := t.add(rest[1], string(literal)); err != nil {
			return t, err
		}
		literal, rest = literal[:0], rest[2:]
	}
	if len(t.fields) == 0 {
		return t, fmt.Errorf("template %q has no code, so it tells nothing about an entry: use some of %s", text, codesHelp)
	}
	t.last().after = string(literal)
	return t, t.check()
}

// checkCode explains what of Lustre's own language is not understood.
func checkCode(rest string) error {
	if len(rest) == 1 {
		return fmt.Errorf("lone %% at the end: write %%%% for a percent sign, or a code: %s", codesHelp)
	}
	if c := rest[1]; c == '.' || isDigit(c) {
		code := strings.TrimLeft(rest[1:], ".0123456789")
		if code == "" || strings.IndexByte(codes, code[0]) < 0 {
			return fmt.Errorf("%q is a width without a code: write one of %s", rest, codesHelp)
		}
		width := rest[:len(rest)-len(code)+1]
		return fmt.Errorf("%q: a width (Lustre 2.17) only shortens the value: write the code without width, %%%c", width, code[0])
	}
	if strings.IndexByte(codes, rest[1]) < 0 {
		return fmt.Errorf("unknown code %q: Lustre has %s", rest[:2], codesHelp)
	}
	if strings.HasPrefix(rest, "%j?") {
		return fmt.Errorf("%q is a conditional (Lustre 2.16), which makes two kinds of identifiers: "+
			"write two formats, one with %%j and one with what stands after the question mark", rest)
	}
	return nil
}

// add ends the literal before a code and opens a field.
func (t *template) add(code byte, literal string) error {
	for _, f := range t.fields {
		if f.code == code {
			return fmt.Errorf("code %%%c stands twice: a label has one value, keep one of them", code)
		}
		if f.shape == hostShape && shapeOf(code) == hostShape {
			return fmt.Errorf("codes %%h and %%H stand together: both are the label nodename, keep one of them")
		}
	}
	if n := len(t.fields); n == 0 {
		t.lead = literal
	} else if t.fields[n-1].after = literal; literal == "" {
		return fmt.Errorf("codes %%%c and %%%c touch, so nobody can tell where one ends: put a character between them, "+
			"here and in the clients' jobid_name", t.fields[n-1].code, code)
	}
	t.fields = append(t.fields, field{code: code, shape: shapeOf(code)})
	return nil
}

// check refuses what would match wrongly or never.
func (t *template) check() error {
	before, shortest := t.lead, len(t.lead)
	for _, f := range t.fields {
		touches := before != "" && isDigit(before[len(before)-1]) || f.after != "" && isDigit(f.after[0])
		if f.shape == numberShape && touches {
			return fmt.Errorf("a digit stands beside %%%c, so nobody can tell which digits are the number: "+
				"use another character", f.code)
		}
		if f.shape != jobShape {
			shortest++
		}
		before, shortest = f.after, shortest+len(f.after)
	}
	if shortest > idSize {
		return fmt.Errorf("the shortest identifier of this template has %d bytes, but Lustre keeps %d: "+
			"shorten the text between the codes", shortest, idSize)
	}
	return nil
}
