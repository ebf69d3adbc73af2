// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// wantError fails unless err says all parts: what is wrong, and the remedy.
func wantError(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %q does not say %q", what, err, part)
		}
	}
}

func TestParseFormat(t *testing.T) {
	f := func(flag string, want Format) {
		t.Helper()
		if got, err := ParseFormat(flag); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", flag, got, err)
		}
	}
	f("compute=%j:%u:%H", Format{Name: "compute", Template: "%j:%u:%H"})
	f("a_1=x=%u", Format{Name: "a_1", Template: "x=%u"})
	f("_=%e%%%u", Format{Name: "_", Template: "%e%%%u"})
	f("x=%e?%u", Format{Name: "x", Template: "%e?%u"})
	f("x=%j:?%u", Format{Name: "x", Template: "%j:?%u"})
	f("six=%e %g %j %p %u %h", Format{Name: "six", Template: "%e %g %j %p %u %h"})
	f("x=%j"+strings.Repeat("x", 31), Format{Name: "x", Template: "%j" + strings.Repeat("x", 31)})
	for _, d := range DefaultFormats() {
		f(d.Name+"="+d.Template, d)
	}
}

func TestParseFormatErrors(t *testing.T) {
	f := func(flag string, parts ...string) {
		t.Helper()
		got, err := ParseFormat(flag)
		wantError(t, flag, err, parts...)
		if !reflect.DeepEqual(got, Format{}) {
			t.Errorf("%q: a format with the error: %+v", flag, got)
		}
	}
	f("%j:%u:%H", "write NAME=TEMPLATE", "compute=%j:%u:%H")
	f("", "write NAME=TEMPLATE")
	f("=%u", "has no name", "letters, digits and _")
	f("1x=%u", `"1x"`, "does not begin with a digit")
	f("a-b=%u", `"a-b"`, "letters, digits and _")
	f("é=%u", "letters, digits and _")
	f("malformed=%u", "taken by identifiers that fit no format", "choose another")
	f("other=%u", "taken by folded series", "choose another")
	f(strings.Repeat("x", 65)+"=%u", "longer than 64 bytes", "shorter")
	f("x=", "has no code", "%u (uid)")
	f("x=%%u", "has no code")
	f("x=%u:%x", `unknown code "%x"`, "Lustre has %e (executable)")
	f("x=%u:%", "lone %", "%%")
	f("x=%j?%H:%e:%u", "conditional (Lustre 2.16)", "write two formats")
	f("x=%.3j:%u", `"%.3j"`, "width (Lustre 2.17)", "write the code without width, %j")
	f("x=%12u", `"%12u"`, "write the code without width, %u")
	f("x=%u:%.3", "width without a code")
	f("x=%u:%.3x", "width without a code")
	f("x=%e%u", "%e and %u touch", "put a character between them")
	f("x=%u:%e.%u", "%u stands twice", "keep one")
	f("x=%h:%u:%H", "%h and %H", "nodename", "keep one")
	f("x=%e0%u", "digit stands beside %u", "use another character")
	f("x=%g7:%e", "digit stands beside %g", "use another character")
	f("x=1%p", "digit stands beside %p")
	f("x=%u"+strings.Repeat("x", 31), "has 32 bytes, but Lustre keeps 31", "shorten")
	f("compute=%j:%u%H", `format "compute"`) // says which format
}

func TestParsePattern(t *testing.T) {
	f := func(flag, format string, code byte, expression string) {
		t.Helper()
		gotFormat, gotCode, gotExpression, err := ParsePattern(flag)
		if err != nil || gotFormat != format || gotCode != code || gotExpression != expression {
			t.Errorf("%q: %q, %c, %q, %v", flag, gotFormat, gotCode, gotExpression, err)
		}
	}
	f("utility:H=^util[0-9]+$", "utility", 'H', "^util[0-9]+$")
	f("utility:%H=^util[0-9]+$", "utility", 'H', "^util[0-9]+$")
	f("a:j=x=y:z", "a", 'j', "x=y:z")
	f("a:e=", "a", 'e', "")
	for _, code := range patternCodes {
		f("a:"+string(code)+"=x", "a", byte(code), "x")
	}
}

func TestParsePatternErrors(t *testing.T) {
	f := func(flag string, parts ...string) {
		t.Helper()
		_, _, _, err := ParsePattern(flag)
		wantError(t, flag, err, append(parts, fmt.Sprintf("%q", flag))...)
	}
	f("H=^util$", "names no format", "write FORMAT:CODE=REGEXP")
	f(":H=^util$", "names no format", "utility:H=^util[0-9]+$")
	f("utility:H", "no regular expression")
	f("utility:=x", "names no code")
	f("utility:host=x", "names no code")
	f("utility:H=util[", "missing closing ]")
	f("utility:H=a)|(b", "unexpected )") // not rescued by the group around it
	f("utility:p=1", "no pattern can be set for %p", "%H %h %j %u %e %g")
	f("utility:x=1", "no pattern can be set for %x")
}

func TestSetPattern(t *testing.T) {
	f := Format{Name: "compute", Template: "%j:%u:%H"}
	if err := f.SetPattern('H', "n[0-9]+"); err != nil {
		t.Fatal(err)
	}
	before := f
	if err := f.SetPattern('j', "[0-9]+"); err != nil {
		t.Fatal(err)
	}
	if want := map[byte]string{'H': "n[0-9]+", 'j': "[0-9]+"}; !reflect.DeepEqual(f.Patterns, want) {
		t.Errorf("patterns %v", f.Patterns)
	}
	if len(before.Patterns) != 1 {
		t.Errorf("a copy changed: %v", before.Patterns)
	}
	wantError(t, "twice", f.SetPattern('H', "x"), `"compute"`, "%H has two patterns", "A|B")
	wantError(t, "absent", f.SetPattern('e', "x"), "%e", "not in the template")
	wantError(t, "bad", f.SetPattern('u', "["), "missing closing ]")
	if len(f.Patterns) != 2 {
		t.Errorf("patterns after errors %v", f.Patterns)
	}
}

func TestNewErrors(t *testing.T) {
	f := func(what string, c Config, parts ...string) {
		t.Helper()
		x, err := New(c)
		wantError(t, what, err, parts...)
		if x != nil {
			t.Errorf("%s: an identifier with the error", what)
		}
	}
	f("none", Config{}, "no identifier format", "compute=%j:%u:%H")
	f("bad template", Config{Formats: []Format{{Name: "x", Template: "%q"}}}, `format "x"`, `unknown code "%q"`)
	f("bad name", Config{Formats: []Format{{Template: "%u"}}}, "has no name")
	f("bad pattern", Config{Formats: []Format{{Name: "x", Template: "%u", Patterns: map[byte]string{'u': "["}}}}, `"x"`, "missing closing ]")
	f("pattern elsewhere", Config{Formats: []Format{{Name: "x", Template: "%u", Patterns: map[byte]string{'H': "a"}}}}, `"x"`, "%H", "not in the template")
	f("same name", Config{Formats: formats(t, "x=%u", "x=%e.%u")}, `two formats are named "x"`)
	f("class taken", Config{Formats: formats(t, "a=%j:%u", "a_no_job=%e.%u")}, `"a" and "a_no_job"`, `class "a_no_job"`, "rename")
	f("class taken", Config{Formats: formats(t, "a_truncated=%e.%u", "a=%j:%u")}, `"a_truncated" and "a"`, `class "a_truncated"`)
	f("class taken", Config{Formats: formats(t, "a=%j:%u:%H", "a_qualified=%e.%u")}, `class "a_qualified"`)
	f("no uid", Config{Formats: DefaultFormats(), Labels: []Label{JobID}}, "uid cannot be left out", "add uid")
	f("no labels", Config{Formats: DefaultFormats(), Labels: []Label{}}, "uid cannot be left out")
	f("no label", Config{Formats: DefaultFormats(), Labels: []Label{UID, NumLabels}}, "label number 5")
	f("policy", Config{Formats: DefaultFormats(), System: 3}, "unknown policy")
	f("policy", Config{Formats: DefaultFormats(), Malformed: 3}, "unknown policy")
	var many []Format
	for n := range 64 {
		many = append(many, Format{Name: fmt.Sprintf("f%d", n), Template: fmt.Sprintf("%d/%%j:%%u:%%H", n)})
	}
	f("too many", Config{Formats: many}, "64 formats make 257 classes", "at most 256", "fewer")
	x := mustNew(t, Config{Formats: many[:63]})
	if n := len(x.Classes()); n != 253 || x.Classes()[n-1] != "malformed" {
		t.Errorf("%d classes, the last %s", n, x.Classes()[n-1])
	}
	if i := x.Identify([]byte("62/1:1000:n1.dom")); x.Classes()[i.Class] != "f62_qualified" {
		t.Errorf("class %s", x.Classes()[i.Class])
	}
	// Suffixes collide only with classes that exist.
	mustNew(t, Config{Formats: formats(t, "a=%e.%u", "a_no_job=%u", "a_qualified=%u/%h")})
}

func TestFormatsThatCanNeverMatch(t *testing.T) {
	refused := func(flags string, parts ...string) {
		t.Helper()
		_, err := New(Config{Formats: formats(t, strings.Fields(flags)...)})
		wantError(t, flags, err, append(parts, "can never match", "stands before it")...)
	}
	accepted := func(flags string) {
		t.Helper()
		if _, err := New(Config{Formats: formats(t, strings.Fields(flags)...)}); err != nil {
			t.Errorf("%s: %v", flags, err)
		}
	}
	refused("a=%e.%u b=%e.%u", `format "b" (%e.%u)`, `format "a" (%e.%u)`, "remove one of them", `give "a" a pattern`, "a:u=REGEXP")
	refused("a=%j:%u:%h b=%j:%u:%H", "remove one of them", "a:h=REGEXP")
	refused("a=%j:%u:%H b=%j:%u:%h", "a:H=REGEXP")
	refused("c=%e.%u a=%j:%u:%H b=%j:%u:%H", `format "b"`, `format "a"`)
	refused("a=%j:%u:%H b=%j:%u:%H b:H=util.*", `put "b" before "a"`)
	refused("a=%j:%u:%H a:H=x.* b=%j:%u:%H b:H=x.*", "remove one of them")
	refused("a=%j:%u:%H a:H=x.* b=%j:%u:%h b:h=x.*", "remove one of them")
	refused("a=%j:%u:%H a:H=x.* b=%j:%u:%H b:H=x.* b:j=1", `put "b" before "a"`)
	refused("a=%e.%u b=%H.%u", `put "b" before "a"`)
	refused("a=%e.%u b=%g.%u", `put "b" before "a"`)
	refused("a=%u.%e b=%g.%e", "can never match")
	refused("a=%j:%u b=%H:%u", `put "b" before "a"`)
	refused("a=%j:%u b=%g:%u", `put "b" before "a"`)
	refused("a=%u:%j b=%u:%e", `put "b" before "a"`)
	refused("a=%H:%e b=%u:%e", `put "b" before "a"`)

	accepted("a=%j:%u:%H a:H=^util[0-9]+$ b=%j:%u:%H")
	accepted("a=%j:%u:%H a:H=x.* b=%j:%u:%H b:H=y.* c=%j:%u:%H")
	accepted("a=%j:%u:%H a:H=x.* b=%j:%u:%H b:j=1 c=%j:%u:%H")
	accepted("a=%e.%u a:e=x b=%H.%u") // they may split differently
	accepted("a=%e.%u a:u=1... b=%H.%u b:u=1...")
	accepted("a=%H.%u b=%e.%u")
	accepted("a=%e:%u b=%j:%u") // %j may be empty
	accepted("a=%j-%u b=%H-%u") // a host may hold the dash
	accepted("a=%u:%e b=%u:%j")
	accepted("a=%g.%u b=%H.%u")
	accepted("a=%e.%u b=%e:%u")
	accepted("a=x%u b=y%u")
	accepted("a=%e.%u b=%e.%u.%g")
	accepted("compute=%j:%u:%H login=%e.%u")
}

// TestRefusedFormatsNeverMatch tries every short identifier on every pair of
// templates: what the first leaves over, the refused second does not fit.
func TestRefusedFormatsNeverMatch(t *testing.T) {
	var all []*compiled
	for n, text := range []string{"%e.%u", "%H.%u", "%g.%u", "%j:%u", "%H:%u", "%g:%u", "%e:%u", "%j.%u", "%j-%u", "%H-%u",
		"%u:%j", "%u:%e", "%H:%e", "%u:%h", "%g:%H", "%j:%u:%H", "%j:%e:%h", "%e:%u:%H", "%e", "%j", "%h", "%u", "%j:", "%e:"} {
		c, err := Format{Name: fmt.Sprintf("f%d", n), Template: text}.compile()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	fits := make([][]bool, len(all))
	every("1a.:-\xff", 6, func(id []byte) {
		for n, c := range all {
			fits[n] = append(fits[n], c.match(&search{id: id}))
		}
	})
	refused := 0
	for a := range all {
		for b := range all {
			left, both := false, false
			for n := range fits[b] {
				left = left || fits[b][n] && !fits[a][n]
				both = both || fits[b][n] && fits[a][n]
			}
			if covers := all[a].covers(all[b]); covers {
				refused++
				if left || !both {
					t.Errorf("%s covers %s: %t leaves something over, %t takes something", all[a].Template, all[b].Template, left, both)
				}
			}
		}
	}
	if refused < 2*len(all) {
		t.Errorf("only %d pairs refused", refused)
	}
}

// every calls f with all texts over the alphabet of up to size bytes.
func every(alphabet string, size int, f func([]byte)) {
	var grow func(text []byte)
	grow = func(text []byte) {
		f(text)
		if len(text) == size {
			return
		}
		for _, c := range []byte(alphabet) {
			grow(append(text, c))
		}
	}
	grow(make([]byte, 0, size))
}
