// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLabelNamesAreSorted(t *testing.T) {
	for l := Label(1); l < NumLabels; l++ {
		if (l - 1).String() >= l.String() {
			t.Errorf("%s stands before %s", l-1, l)
		}
	}
	if NumLabels.String() != "" {
		t.Errorf("NumLabels has the name %q", NumLabels)
	}
}

func TestParseLabel(t *testing.T) {
	for l := range NumLabels {
		if got, err := ParseLabel(l.String()); got != l || err != nil {
			t.Errorf("%s: %s, %v", l, got, err)
		}
	}
	for _, name := range []string{"", "job", "UID"} {
		if _, err := ParseLabel(name); err == nil || !strings.Contains(err.Error(), "use executable, gid, jobid, nodename or uid") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

func TestLabelsRoundTrip(t *testing.T) {
	long := strings.Repeat("x", maxValue)
	all := [][NumLabels]string{
		{},
		{UID: "1000"},
		{Executable: "x"},
		{Executable: "a", GID: "5", JobID: "7", NodeName: "n1", UID: "0"},
		{Executable: long, GID: long, JobID: long, NodeName: long, UID: long},
		{JobID: "\x00", NodeName: "\x03abc"},
		{JobID: "ab", NodeName: "c"},
		{JobID: "a", NodeName: "bc"},
	}
	seen := map[Labels]int{}
	for n, values := range all {
		packed := MakeLabels(values)
		if got := packed.Values(); got != values {
			t.Errorf("%q: values %q", values, got)
		}
		for l := range NumLabels {
			if got := packed.Get(l); got != values[l] {
				t.Errorf("%q: %s is %q", values, l, got)
			}
		}
		if before, taken := seen[packed]; taken {
			t.Errorf("%q and %q pack alike", all[before], values)
		}
		seen[packed] = n
	}
	if MakeLabels([NumLabels]string{}) != "" {
		t.Error("no labels are not the empty string")
	}
}

func TestLongValuesAreCutAtARune(t *testing.T) {
	for shift := range 4 {
		s := strings.Repeat("x", shift) + strings.Repeat("€", 100)
		got := MakeLabels([NumLabels]string{NodeName: s, UID: "7"})
		if v := got.Get(NodeName); !utf8.ValidString(v) || !strings.HasPrefix(s, v) || len(v) > maxValue || len(v) < maxValue-2 {
			t.Errorf("shift %d: %d bytes, valid %t", shift, len(v), utf8.ValidString(v))
		}
		if got.Get(UID) != "7" {
			t.Errorf("shift %d: uid %q", shift, got.Get(UID))
		}
	}
}

func TestIdentifyMakesLabelsAsMakeLabels(t *testing.T) {
	x := mustNew(t, Config{Formats: DefaultFormats()})
	got := x.Identify([]byte("1:1000:n1")).Labels
	if want := MakeLabels([NumLabels]string{JobID: "1", NodeName: "n1", UID: "1000"}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := x.Identify([]byte("1:0:n1")).Labels, MakeLabels([NumLabels]string{UID: "system"}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	x = mustNew(t, Config{Formats: formats(t, "x=%j"), Labels: []Label{UID}})
	if got := x.Identify([]byte("1")).Labels; got != "" {
		t.Errorf("no labels left, but %q", got)
	}
}

func TestReadingLabelsDoesNotAllocate(t *testing.T) {
	l := MakeLabels([NumLabels]string{JobID: "1", NodeName: "n1", UID: "1000"})
	size := 0
	if n := testing.AllocsPerRun(100, func() {
		size += len(l.Get(UID))
		for _, v := range l.Values() {
			size += len(v)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestIdentifyAllocatesOnlyTheLabels(t *testing.T) {
	x := mustNew(t, Config{Formats: DefaultFormats()})
	f := func(raw string, want float64) {
		t.Helper()
		text := []byte(raw)
		if n := testing.AllocsPerRun(100, func() { x.Identify(text) }); n != want {
			t.Errorf("%s: %v allocations, want %v", raw, n, want)
		}
	}
	f("1:1000:n1", 1)
	f(`"1\x3A1000\x3An1.dom"`, 1)
	f("wget.1000", 1)
	f("wget.0", 0)
	f("11317854:17627127", 0)
	f("", 0)
}

func FuzzForeignLabels(f *testing.F) {
	f.Add("\x05ab", uint8(4))
	f.Add("\xff", uint8(200))
	f.Fuzz(func(t *testing.T, text string, label uint8) {
		l := Labels(text) // not made by MakeLabels: no panic
		values := l.Values()
		if got := l.Get(Label(label)); label < uint8(NumLabels) && got != values[label] {
			t.Errorf("Get %q, Values %q", got, values[label])
		}
	})
}
