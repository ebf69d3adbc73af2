// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"fmt"
	"regexp"
	"strings"
)

// Format is one kind of identifier that clients of the site send.
type Format struct {
	// Name is the class, and the nodename where the template has no host code.
	Name string
	// Template is written like the clients' jobid_name: any mix of the codes
	// %e %g %h %H %j %p %u, each at most once, and literal text, with %% for a
	// percent sign. Lustre drops blanks of jobid_name; here they are literal,
	// because an environment variable may hold them.
	Template string
	// Patterns tighten single codes: code letter to regular expression. A
	// pattern has to fit the whole value, also the empty one of a missing job.
	// An identifier that fits the template but not the patterns is left to the
	// formats after this one.
	Patterns map[byte]string
}

// DefaultFormats are the two kinds that Slurm sites usually have: the job's
// processes on compute nodes, and everything else, where the client falls back
// to the default jobid_name "%e.%u" (jobid.c; 2.12 and later).
func DefaultFormats() []Format {
	return []Format{
		{Name: "compute", Template: "%j:%u:%H"},
		{Name: "login", Template: "%e.%u"},
	}
}

// ParseFormat reads "compute=%j:%u:%H". Errors say what to write instead.
func ParseFormat(flag string) (Format, error) {
	name, text, found := strings.Cut(flag, "=")
	if !found {
		return Format{}, fmt.Errorf("format %q: write NAME=TEMPLATE, for example compute=%%j:%%u:%%H", flag)
	}
	f := Format{Name: name, Template: text}
	if _, err := f.compile(); err != nil {
		return Format{}, err
	}
	return f, nil
}

// patternCodes can have a pattern; %p is in no label, so a pattern on it would
// tell entries apart by chance.
const patternCodes = "Hhjueg"

// ParsePattern reads "utility:H=^util[0-9]+$": the name of a format, one of its
// codes, and a regular expression for the whole value.
func ParsePattern(flag string) (format string, code byte, expression string, err error) {
	fail := func(why string) (string, byte, string, error) {
		return "", 0, "", fmt.Errorf("pattern %q: %s: write FORMAT:CODE=REGEXP, for example utility:H=^util[0-9]+$", flag, why)
	}
	format, rest, found := strings.Cut(flag, ":")
	if !found || format == "" {
		return fail("names no format")
	}
	letter, expression, found := strings.Cut(rest, "=")
	if !found {
		return fail("has no regular expression")
	}
	letter = strings.TrimPrefix(letter, "%")
	if len(letter) != 1 {
		return fail("names no code")
	}
	if _, err := compilePattern(letter[0], expression); err != nil {
		return "", 0, "", fmt.Errorf("pattern %q: %w", flag, err)
	}
	return format, letter[0], expression, nil
}

// SetPattern adds a pattern; an error if it cannot work in this format or the
// code has one. The map is replaced, so copies of f keep theirs.
func (f *Format) SetPattern(code byte, expression string) error {
	if _, taken := f.Patterns[code]; taken {
		return fmt.Errorf("format %q: code %%%c has two patterns: join them as A|B", f.Name, code)
	}
	changed := *f
	changed.Patterns = map[byte]string{code: expression}
	for c, e := range f.Patterns {
		changed.Patterns[c] = e
	}
	if _, err := changed.compile(); err != nil {
		return err
	}
	*f = changed
	return nil
}

// compiled is a format ready for use.
type compiled struct {
	Format
	template
	patterns [maxFields]*regexp.Regexp // by field, nil for none
	tight    bool                      // has patterns
}

func (f Format) compile() (*compiled, error) {
	if err := checkName(f.Name); err != nil {
		return nil, err
	}
	t, err := compile(f.Template)
	if err != nil {
		return nil, fmt.Errorf("format %q: %w", f.Name, err)
	}
	c := &compiled{Format: f, template: t}
	for code, expression := range f.Patterns {
		i := t.index(string(rune(code)))
		if i < 0 {
			return nil, fmt.Errorf("format %q: pattern for %%%c, which is not in the template %q", f.Name, code, f.Template)
		}
		if c.patterns[i], err = compilePattern(code, expression); err != nil {
			return nil, fmt.Errorf("format %q: %w", f.Name, err)
		}
		c.tight = true
	}
	return c, nil
}

func compilePattern(code byte, expression string) (*regexp.Regexp, error) {
	if strings.IndexByte(patternCodes, code) < 0 {
		return nil, fmt.Errorf("no pattern can be set for %%%c: use one of %%H %%h %%j %%u %%e %%g", code)
	}
	if _, err := regexp.Compile(expression); err != nil {
		return nil, fmt.Errorf("pattern for %%%c: %w", code, err)
	}
	whole, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("pattern for %%%c: %w", code, err)
	}
	return whole, nil
}

// fits judges the values that the template found.
func (c *compiled) fits(s *search) bool {
	for i, pattern := range c.patterns {
		// The copy keeps the identifier itself off the heap for everyone else.
		if pattern != nil && !pattern.MatchString(string(s.value(i))) {
			return false
		}
	}
	return true
}

func (s *search) value(i int) []byte { return s.id[s.values[i].lo:s.values[i].hi] }

// maxName keeps class names and the nodename made of a name readable.
const maxName = 64

func checkName(name string) error {
	const rule = "a name is made of letters, digits and _, and does not begin with a digit, for example compute"
	switch {
	case name == "":
		return fmt.Errorf("a format has no name: %s", rule)
	case name == malformedClass:
		return fmt.Errorf("format name %q is taken by identifiers that fit no format: choose another", name)
	case name == other:
		return fmt.Errorf("format name %q is taken by folded series: choose another", name)
	case len(name) > maxName:
		return fmt.Errorf("format name %q is longer than %d bytes: choose a shorter one", name, maxName)
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || !isDigit(c)) {
			return fmt.Errorf("format name %q: %s", name, rule)
		}
	}
	return nil
}
