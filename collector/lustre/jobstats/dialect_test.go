// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDialects(t *testing.T) {
	want := strings.Fields("2.3 2.5 2.6 2.8 2.11 2.12 2.14 2.15.0 2.15.2 2.16 2.16-nohdr 2.17 2.17.57 hpe-2.15 exa-ddn125 exa-ddn162")
	var names []string
	for _, d := range Dialects() {
		names = append(names, d.Name)
		if found, ok := DialectNamed(d.Name); !ok || found != d {
			t.Errorf("dialect %s is not found by its name", d.Name)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("dialects %v", names)
	}
	if _, ok := DialectNamed("2.99"); ok {
		t.Error("there is a dialect 2.99")
	}
	Dialects()[0].Name = "changed"
	if _, ok := DialectNamed("2.3"); !ok {
		t.Error("a caller changed the dialects")
	}
}

// TestOperationLists counts them as the table of the format's description does; the samples check the names.
func TestOperationLists(t *testing.T) {
	for name, want := range map[string][2]int{
		"2.3": {16, 5}, "2.5": {16, 5}, "2.6": {16, 12}, "2.8": {16, 12}, "2.11": {19, 12}, "2.12": {19, 12}, "2.14": {20, 15},
		"2.15.0": {23, 15}, "2.15.2": {23, 15}, "2.16": {25, 15}, "2.16-nohdr": {25, 15}, "2.17": {26, 15}, "2.17.57": {27, 15},
		"hpe-2.15": {25, 15}, "exa-ddn125": {24, 15}, "exa-ddn162": {25, 15},
	} {
		d, _ := DialectNamed(name)
		mdt, ost := d.Operations("mdt"), d.Operations("obdfilter")
		if len(mdt) != want[0] || len(ost) != want[1] || d.Operations("mgs") != nil {
			t.Errorf("%s: %d and %d operations, want %v", name, len(mdt), len(ost), want)
		}
		for _, s := range slices.Concat(mdt, ost) {
			if ok := s.Unit == Bytes || d.Latency() == (s.Unit == Microseconds) && !d.Latency() == (s.Unit == Requests); !ok {
				t.Errorf("%s: unit of %s is %s", name, s.Name, s.Unit)
			}
		}
		mdt[0].Name = "changed"
		if d.Operations("mdt")[0].Name != "open" {
			t.Errorf("%s: a caller changed the operations", name)
		}
	}
}

func TestDialectFeatures(t *testing.T) {
	for name, want := range map[string][4]bool{ // start time, boot-relative, histogram, latency
		"2.3": {}, "2.12": {}, "2.14": {3: true}, "2.15.0": {true, true, false, true}, "2.15.2": {true, false, false, true},
		"2.16": {true, false, true, true}, "2.16-nohdr": {false, false, true, true}, "2.17": {true, false, true, true},
		"hpe-2.15": {true, true, false, true}, "exa-ddn125": {3: true}, "exa-ddn162": {true, false, true, true},
	} {
		d, _ := DialectNamed(name)
		if got := [4]bool{d.StartTime(), d.BootRelative(), d.Histogram(), d.Latency()}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestEncoding prints identifiers as each generation does (format description, section 4.2 and 4.3).
func TestEncoding(t *testing.T) {
	for _, c := range []struct{ raw, v27, v28, v2152, v216 string }{
		{"dd.0", "dd.0", "dd.0", "dd.0", "dd.0"},
		{"", "", "", "", ""},
		{"has sp.0", "has sp.0", "has sp.0", `"has\x20sp.0"`, `"has\x20sp.0"`},
		{"SLURM_JOB10:0:n1", "SLURM_JOB10:0:n1", "SLURM_JOB10:0:n1", `"SLURM_JOB10\x3A0\x3An1"`, `"SLURM_JOB10:0:n1"`},
		{"node/1", "node/1", "node/1", `"node\x2F1"`, "node/1"},
		{"@x", "@x", "@x", "@x", `"@x"`},
		{"x@y", "x@y", "x@y", "x@y", "x@y"},
		{`a"b\`, `a"b\`, `a"b\`, `"a\x22b\x5C"`, `"a\x22b\x5C"`},
		{"a\nb", "a\nb", "a?b", `"a\x0Ab"`, `"a\x0Ab"`},
		{"\x7f\x80\x9f\xa0\xbf", "\x7f\x80\x9f\xa0\xbf", "???\xa0\xbf", `"\x7F\x80\x9F\xA0\xBF"`, `"\x7F\x80\x9F\xA0\xBF"`},
		{"é.500", "é.500", "\xc3\xa9.500", "\"\xc3\\xA9.500\"", "\"\xc3\\xA9.500\""},
		{"\xc0\xd6\xd8\xf6\xf8\xff", "\xc0\xd6\xd8\xf6\xf8\xff", "\xc0\xd6\xd8\xf6\xf8\xff", "\xc0\xd6\xd8\xf6\xf8\xff", "\xc0\xd6\xd8\xf6\xf8\xff"},
		{"\xd7\xf7", "\xd7\xf7", "\xd7\xf7", `"\xD7\xF7"`, `"\xD7\xF7"`},
		{"cut\x00off", "cut", "cut", "cut", "cut"},
	} {
		for name, want := range map[string]string{
			"2.3": c.v27, "2.6": c.v27, "2.8": c.v28, "2.14": c.v28, "2.15.0": c.v28, "hpe-2.15": c.v28, "2.15.2": c.v2152,
			"2.16": c.v216, "2.17.57": c.v216, "exa-ddn125": c.v216,
		} {
			d, _ := DialectNamed(name)
			line, _, _ := strings.Cut(string(d.AppendEntry(nil, []byte(c.raw), 0, 0, nil)), "\n  ")
			if line, _, _ = strings.Cut(line, "\nsnapshot"); line != "- job_id:          "+want {
				t.Errorf("%s prints %q as %q, want %q", name, c.raw, line, want)
			}
		}
	}
}

func TestPrintedTimes(t *testing.T) {
	const snapshot, start = 1723114647887515895 * time.Nanosecond, 1723102025057286226 * time.Nanosecond
	const new3 = "  snapshot_time:   1723114647.887515895 secs.nsecs\n  start_time:      1723102025.057286226 secs.nsecs\n" +
		"  elapsed_time:    12622.830229669 secs.nsecs\n"
	for name, want := range map[string]string{
		"2.3":        "  snapshot_time:   1723114647\n",
		"exa-ddn125": "  snapshot_time:   1723114647\n",
		"2.15.0": "snapshot_time   : 1723114647.887515895 secs.nsecs\nstart_time      : 1723102025.057286226 secs.nsecs\n" +
			"elapsed_time    : 12622.830229669 secs.nsecs\n",
		"hpe-2.15": "  snapshot_time   : 1723114647.887515895 secs.nsecs\n  start_time      : 1723102025.057286226 secs.nsecs\n" +
			"  elapsed_time    : 12622.830229669 secs.nsecs\n",
		"2.15.2": new3, "2.16": new3, "2.17.57": new3,
		"2.16-nohdr": "  snapshot_time:   1723114647.887515895 secs.nsecs\n",
	} {
		d, _ := DialectNamed(name)
		if got := string(d.AppendEntry(nil, []byte("x"), snapshot, start, nil)); got != "- job_id:          x\n"+want {
			t.Errorf("%s prints\n%s", name, got)
		}
	}
	d, _ := DialectNamed("2.16")
	got := string(d.AppendEntry(nil, nil, 24500*time.Millisecond, 25*time.Second, nil))
	if !strings.Contains(got, "elapsed_time:    18446744073709551615.500000000 secs") {
		t.Errorf("a clock that stepped back prints\n%s", got)
	}
}

// TestPrintedFields: what a dialect prints does not depend on where the operation came from.
func TestPrintedFields(t *testing.T) {
	op := func(name string, u Unit) Op {
		return Op{Name: []byte(name), Unit: u, Samples: 2, Min: 3, Max: 16777216, Sum: 1234567890123456, SumSq: 7, Hist: []Bucket{{2, 1}, {24, 1}}}
	}
	for _, c := range []struct {
		dialect string
		op      Op
		want    string
	}{
		{"2.5", op("read", Bytes), "  read:            { samples:           2, unit: bytes, min:       3, max:16777216, sum:1234567890123456 }\n"},
		{"2.5", op("sync", Requests), "  sync:            { samples:           2, unit:  reqs }\n"},
		{"2.12", op("read_bytes", Requests), "  read_bytes:      { samples:           2, unit:  reqs, min:       3, max:16777216, sum:1234567890123456 }\n"},
		{"2.14", op("open", Microseconds), "  open:            { samples:           2, unit: usecs, min:       3, max:16777216, sum:1234567890123456, sumsq:                  7 }\n"},
		{"2.15.2", op("read_bytes", Bytes), "  read_bytes:      { samples:           2, unit: bytes, min:        3, max: 16777216, sum: 1234567890123456, sumsq:                  7 }\n"},
		{"2.16", op("read_bytes", Bytes), "  read_bytes:      { samples:           2, unit: bytes, min:        3, max: 16777216, sum: 1234567890123456, sumsq:                  7, hist: { 4: 1, 16M: 1 } }\n"},
		{"2.16", op("parallel_rename_file", Microseconds), "  parallel_rename_file: { samples:           2, unit: usecs, min:        3, max: 16777216, sum: 1234567890123456, sumsq:                  7 }\n"},
		{"2.17", Op{Name: []byte("read_bytes"), Unit: Bytes, Min: 1<<63 - 1}, "  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }\n"},
		{"2.17", Op{Name: []byte("read_bytes"), Unit: Bytes, Samples: 123456789012, Min: 1<<63 - 1, SumSq: 16888498602639360000}, "  read_bytes:      { samples: 123456789012, unit: bytes, min: 9223372036854775807, max:        0, sum:                0, sumsq: 16888498602639360000, hist: {  } }\n"},
	} {
		d, _ := DialectNamed(c.dialect)
		got := string(d.AppendEntry(nil, []byte("x"), 0, 0, []Op{c.op}))
		if !strings.HasSuffix(got, "\n"+c.want) {
			t.Errorf("%s prints\n%s, want\n%s", c.dialect, got, c.want)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, d := range Dialects() {
		empty := strings.HasPrefix(d.Name, "2.17")
		if got := string(d.AppendHeader(nil, 0)); (got == "") != empty || !empty && got != "job_stats:\n" {
			t.Errorf("%s without entries: %q", d.Name, got)
		}
		if got := string(d.AppendHeader([]byte("x"), 1)); got != "xjob_stats:\n" {
			t.Errorf("%s: %q", d.Name, got)
		}
	}
}

// TestWorkloadIsRead checks that every dialect reads back what it printed, and that the benchmarks measure no rubbish.
func TestWorkloadIsRead(t *testing.T) {
	for _, d := range Dialects() {
		for _, kind := range []string{"mdt", "obdfilter"} {
			text := workload(d, kind, 40, 0.3)
			r := scanText(text, Options{})
			if len(r.entries) != 40 || r.counters.Unparsed != 0 {
				t.Fatalf("%s: %+v", d.Name, r.counters)
			}
			for _, e := range r.entries {
				if !sameOperations(d.Operations(kind), e.Ops) {
					t.Fatalf("%s: operations of\n%s", d.Name, e.Append(nil))
				}
			}
			same(t, d.Name, r, slowly(text, Options{}))
		}
	}
}
