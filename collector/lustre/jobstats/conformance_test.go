// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	samplesPath  = "../../../testdata/jobstats"
	fixturesPath = "../../../../shared/fixtures/jobstats" // real captures, read in place where they are
)

// readFile returns a file's text, or skips the test.
func readFile(tb testing.TB, path ...string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if os.IsNotExist(err) {
		tb.Skipf("no %s", filepath.Join(path...))
	}
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// framing says whether a sample is lctl output.
func framing(name string) Options { return Options{Framed: strings.Contains(name, "lctl")} }

// result is all that a scanner says of a text.
type result struct {
	entries   []*Entry
	frames    []Frame
	events    []Event
	counters  Counters
	truncated bool
	err       error
}

func scan(s *Scanner) (r result) {
	var e Entry
	for {
		ev := s.Next(&e)
		r.events = append(r.events, ev)
		switch ev {
		case EntryRead:
			r.entries = append(r.entries, e.Clone())
		case FrameRead:
			r.frames = append(r.frames, s.Frame())
		default:
			r.counters, r.truncated, r.err = s.Counters(), s.Truncated(), s.Err()
			return r
		}
	}
}

func scanText(text []byte, o Options) result { return scan(NewScanner(bytes.NewReader(text), o)) }

// known is what each file holds, counted with grep.
type known struct {
	name                 string
	entries, ops, frames int
}

var samples = []known{
	{"clock_step_elapsed.txt", 1, 15, 0},
	{"empty_2.17.txt", 0, 0, 0},
	{"empty_le_2.16.txt", 0, 0, 0},
	{"lctl_2.16_multi.txt", 14, 330, 4},
	{"lctl_2.17_multi.txt", 3, 56, 3},
	{"mdt_2.11.txt", 1, 19, 0},
	{"mdt_2.12-2.13.txt", 1, 19, 0},
	{"mdt_2.14.txt", 1, 20, 0},
	{"mdt_2.15.0-2.15.1.txt", 2, 46, 0},
	{"mdt_2.15.2-2.15.8.txt", 12, 276, 0},
	{"mdt_2.16.txt", 12, 300, 0},
	{"mdt_2.16_stats_header_off.txt", 1, 25, 0},
	{"mdt_2.17.txt", 1, 26, 0},
	{"mdt_2.8-2.10.txt", 3, 48, 0},
	{"mdt_hpe_2.15.0.txt", 1, 25, 0},
	{"mdt_master_2.17.57.txt", 1, 27, 0},
	{"ost_2.12.txt", 2, 24, 0},
	{"ost_2.14.txt", 1, 15, 0},
	{"ost_2.15.2-2.15.8.txt", 1, 15, 0},
	{"ost_2.16+.txt", 2, 30, 0},
	{"ost_2.5.txt", 1, 5, 0},
	{"ost_exascaler_2.14.0_ddn125.txt", 1, 15, 0},
	{"overflow_sumsq_2.17.txt", 1, 1, 0},
	{"overflow_sumsq_le_2.16.txt", 1, 1, 0},
	{"race_2.17_header_midstream.txt", 2, 30, 0},
	{"race_2.17_header_missing.txt", 2, 30, 0},
	{"race_duplicate_jobid.txt", 3, 45, 0},
	{"race_min_sentinel.txt", 1, 1, 0},
}

func TestSamples(t *testing.T) {
	files, err := os.ReadDir(samplesPath)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(samples) {
		t.Errorf("%d files in %s, %d known", len(files), samplesPath, len(samples))
	}
	for _, k := range samples {
		t.Run(k.name, func(t *testing.T) { checkFile(t, samplesPath, k) })
	}
}

func TestFixtures(t *testing.T) {
	for _, k := range []known{
		{"exascaler_2.14.0_ddn162.lctl.txt", 16, 240, 1},
		{"exascaler_6_ex8761.lctl.txt", 2, 48, 3},
		{"ieel_2.7_scratch-OST0012.job_stats", 1, 12, 0},
		{"lustre_2.10-2.12_public1-OST0005.job_stats", 809, 9708, 0},
		{"lustre_2.10.1_lustrefs-MDT0000.job_stats", 15, 240, 0},
		{"lustre_2.7_lustrefs-OST0000.job_stats", 9, 108, 0},
		{"manual_2.4_mdt.txt", 2, 10, 0},
		{"manual_2.5_ost.lctl.txt", 4, 10, 5},
	} {
		t.Run(k.name, func(t *testing.T) { checkFile(t, fixturesPath, k) })
	}
}

// checkFile expects every line to be read, and the text to survive being printed and read again.
func checkFile(t *testing.T, dir string, k known) {
	text := readFile(t, dir, k.name)
	r := scanText(text, framing(k.name))
	ops := 0
	for _, e := range r.entries {
		ops += len(e.Ops)
		if e.Damaged {
			t.Errorf("entry %q is damaged", e.ID)
		}
	}
	t.Logf("%d entries, %d operations, %d frames, %d lines, %d unparsed",
		len(r.entries), ops, len(r.frames), r.counters.Lines, r.counters.Unparsed)
	if len(r.entries) != k.entries || ops != k.ops || len(r.frames) != k.frames {
		t.Errorf("%d entries, %d operations, %d frames, want %+v", len(r.entries), ops, len(r.frames), k)
	}
	want := Counters{
		Bytes: int64(len(text)), Lines: uint64(bytes.Count(text, []byte{'\n'})), Entries: uint64(k.entries),
	}
	if r.counters != want {
		t.Errorf("counters %+v, want %+v", r.counters, want)
	}
	if r.truncated || r.err != nil {
		t.Errorf("truncated %v, error %v", r.truncated, r.err)
	}
	sameEntries(t, r.entries, scanText(appendAll(nil, r.entries), Options{}).entries)
}

func appendAll(dst []byte, entries []*Entry) []byte {
	for _, e := range entries {
		dst = e.Append(dst)
	}
	return dst
}

func sameEntries(tb testing.TB, want, got []*Entry) {
	tb.Helper()
	if len(want) != len(got) {
		tb.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i := range want {
		if !want[i].Equal(got[i]) {
			tb.Fatalf("entry %d is\n%s, want\n%s", i, got[i].Append(nil), want[i].Append(nil))
		}
	}
}

// TestReprint prints each sample's entries through its dialect and expects the sample, byte for byte.
func TestReprint(t *testing.T) {
	for dialect, names := range map[string][]string{
		"2.3":        {"ost_2.5.txt", "mdt_2.8-2.10.txt"},
		"2.5":        {"ost_2.5.txt"},
		"2.6":        {"mdt_2.8-2.10.txt", "ost_2.12.txt"},
		"2.8":        {"mdt_2.8-2.10.txt", "ost_2.12.txt", "empty_le_2.16.txt"},
		"2.11":       {"mdt_2.11.txt", "ost_2.12.txt"},
		"2.12":       {"mdt_2.12-2.13.txt", "ost_2.12.txt"},
		"2.14":       {"mdt_2.14.txt", "ost_2.14.txt"},
		"2.15.0":     {"mdt_2.15.0-2.15.1.txt"},
		"2.15.2":     {"mdt_2.15.2-2.15.8.txt", "ost_2.15.2-2.15.8.txt", "clock_step_elapsed.txt", "overflow_sumsq_le_2.16.txt"},
		"2.16":       {"mdt_2.16.txt", "ost_2.16+.txt", "empty_le_2.16.txt", "race_duplicate_jobid.txt", "race_min_sentinel.txt"},
		"2.16-nohdr": {"mdt_2.16_stats_header_off.txt"},
		"2.17":       {"mdt_2.17.txt", "ost_2.16+.txt", "empty_2.17.txt", "overflow_sumsq_2.17.txt"},
		"2.17.57":    {"mdt_master_2.17.57.txt", "ost_2.16+.txt", "empty_2.17.txt"},
		"hpe-2.15":   {"mdt_hpe_2.15.0.txt"},
		"exa-ddn125": {"ost_exascaler_2.14.0_ddn125.txt"},
		"exa-ddn162": {"mdt_2.16.txt", "ost_2.16+.txt"},
	} {
		for _, name := range names {
			t.Run(dialect+"/"+name, func(t *testing.T) { reprint(t, dialect, name) })
		}
	}
}

func reprint(t *testing.T, dialect, name string) {
	d, ok := DialectNamed(dialect)
	if !ok {
		t.Fatalf("no dialect %s", dialect)
	}
	text := readFile(t, samplesPath, name)
	r := scanText(text, Options{})
	got := d.AppendHeader(nil, len(r.entries))
	for _, e := range r.entries {
		if e.Start != nil != d.StartTime() || e.Snapshot.BootRelative() != d.BootRelative() {
			t.Errorf("start_time %q, snapshot_time %q", e.Start, e.Snapshot)
		}
		got = d.AppendEntry(got, unescape(e.ID), durationOf(t, e.Snapshot), durationOf(t, e.Start), e.Ops)
		if strings.HasPrefix(name, "overflow") || strings.HasPrefix(name, "race_min") {
			continue
		}
		if kind := kindOf(name); !sameOperations(d.Operations(kind), e.Ops) {
			t.Errorf("operations of %s are %v", kind, d.Operations(kind))
		}
	}
	if !bytes.Equal(got, text) {
		t.Errorf("printed\n%s\nwant\n%s", got, text)
	}
}

func kindOf(sample string) string {
	if strings.HasPrefix(sample, "mdt") {
		return "mdt"
	}
	return "obdfilter"
}

func sameOperations(specs []OpSpec, ops []Op) bool {
	if len(specs) != len(ops) {
		return false
	}
	for i, s := range specs {
		if s.Name != string(ops[i].Name) || s.Unit != ops[i].Unit {
			return false
		}
	}
	return true
}

// durationOf converts a time, an absent one to 0.
func durationOf(tb testing.TB, t Time) time.Duration {
	tb.Helper()
	ns, ok := t.Nanoseconds()
	if !ok && t != nil {
		tb.Fatalf("time %q", t)
	}
	return time.Duration(ns)
}

// unescape undoes the quoting since 2.15.2.
func unescape(id []byte) (raw []byte) {
	const hex = "0123456789ABCDEF"
	if len(id) >= 2 && id[0] == '"' {
		id = id[1 : len(id)-1]
	}
	for i := 0; i < len(id); i++ {
		if id[i] != '\\' {
			raw = append(raw, id[i])
			continue
		}
		raw = append(raw, byte(strings.IndexByte(hex, id[i+2])<<4|strings.IndexByte(hex, id[i+3])))
		i += 3
	}
	return raw
}
