// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"strings"
	"testing"
)

const (
	head = "- job_id:          x\n"
	// layout216 is an operation line up to its histogram.
	layout216 = "  a:               { samples:           7, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, "
	zeros216  = "  a:               { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, "
	op1       = "  open:            { samples:           1, unit:  reqs }\n"
)

func TestIdentifier(t *testing.T) {
	for line, want := range map[string]string{
		"- job_id:          dd.0":                          "dd.0",
		"- job_id:          ":                              "",
		"- job_id:":                                        "",
		"- job_id:         ":                               "",
		"- job_id:            lead":                        "  lead",
		"- job_id:          trail  ":                       "trail  ",
		"- job_id:          \t\x00\r":                      "\t\x00\r",
		"- job_id:          \"has\\x20s":                   "\"has\\x20s",
		"- job_id:          - job_id: y":                   "- job_id: y",
		"- job_id: short":                                  "short",
		"- job_id:short ":                                  "short ",
		"- job_id:  \t two":                                "two",
		"-  job_id :  loose":                               "loose",
		"  - job_id:          indented":                    "indented",
		"- job_id:          " + strings.Repeat("a", maxID): strings.Repeat("a", maxID),
	} {
		r := scanText([]byte(line+"\n"+op1), Options{})
		if len(r.entries) != 1 || string(r.entries[0].ID) != want || len(r.entries[0].Ops) != 1 || r.counters.Unparsed != 0 {
			t.Errorf("%q: %+v, want identifier %q", line, r, want)
		}
		same(t, line, r, slowly([]byte(line+"\n"+op1), Options{}))
	}
	for _, line := range []string{"-job_id: x", "- jobid: x", "job_id: x", "- job_id x", "- job_ids: x", "-", "- ", "- job_id"} {
		if r := scanText([]byte(line+"\n"), Options{}); r.counters != (Counters{int64(len(line) + 1), 1, 0, 0, 1}) {
			t.Errorf("%q: %+v, want one unparsed line", line, r.counters)
		}
	}
}

func TestTimeLines(t *testing.T) {
	for line, want := range map[string]string{
		"  snapshot_time:   1495525343":                      "1495525343",
		"  snapshot_time:   1723114647.887515895 secs.nsecs": "1723114647.887515895",
		"snapshot_time   : 1896533.424837288 secs.nsecs":     "1896533.424837288",
		"  snapshot_time   : 1896533.424837288 secs.nsecs":   "1896533.424837288",
		"snapshot_time:1":                                           "1",
		"\tsnapshot_time :\t1.5 secs \r":                            "1.5",
		"  snapshot_time: 18446744073709551615.5":                   "18446744073709551615.5",
		"  snapshot_time: 18446744073709551616.5":                   "",
		usualSnapshot + "9999999999999999999":                       "9999999999999999999",
		usualSnapshot + "99999999999999999999":                      "",
		usualSnapshot + "99999999999999999999.5 secs.nsecs":         "",
		usualSnapshot + "18446744073709551615.500000000 secs.nsecs": "18446744073709551615.500000000",
		usualSnapshot + "1.0000000000000000005 secs.nsecs":          "1.0000000000000000005",
		usualSnapshot + "1.5 secs":                                  "1.5",
		usualSnapshot + "1.5 usecs.nsec":                            "",
		usualSnapshot + "1. secs.nsecs":                             "",
		usualSnapshot + "1:5 secs.nsecs":                            "",
		usualSnapshot:                                               "",
		"  snapshot_time: 1.":                                       "",
		"  snapshot_time: .5":                                       "",
		"  snapshot_time: 1.5.5":                                    "",
		"  snapshot_time: 1.5 usecs":                                "",
		"  snapshot_time: 1secs":                                    "",
		"  snapshot_time: -1":                                       "",
		"  snapshot_time:":                                          "",
		"  snapshot_time 1":                                         "",
		"  snapshot_times: 1":                                       "",
		"  snapshot_time: 0." + strings.Repeat("0", maxTime):        "",
	} {
		text := []byte(head + line + "\n" + op1)
		r := scanText(text, Options{})
		same(t, line, r, slowly(text, Options{}))
		e := r.entries[0]
		if string(e.Snapshot) != want || e.Damaged != (want == "") || e.Start != nil || e.Elapsed != nil || len(e.Ops) != 1 {
			t.Errorf("%q: %+v, want %q", line, e, want)
		}
		if want == "" && e.Snapshot != nil {
			t.Errorf("%q: time is present", line)
		}
	}
	r := scanText([]byte(head+"start_time: 1\nelapsed_time: 2\nsnapshot_time: 3\nsnapshot_time: 4\n"+op1), Options{})
	if e := r.entries[0]; string(e.Start) != "1" || string(e.Elapsed) != "2" || string(e.Snapshot) != "4" {
		t.Errorf("%+v", e)
	}
}

func TestOperations(t *testing.T) {
	const all = HasRange | HasSumSq
	name := func(s string, op Op) *Op { op.Name = []byte(s); return &op }
	for line, want := range map[string]*Op{
		"  open:            { samples:           3, unit:  reqs }": name("open", Op{Unit: Requests, Samples: 3}),
		"  write_bytes:     { samples:        4168, unit: bytes, min:     140, max:16777216, sum:     67455942796 }": name(
			"write_bytes", Op{Unit: Bytes, Has: HasRange, Samples: 4168, Min: 140, Max: 16777216, Sum: 67455942796}),
		"  read:    { samples: 974, unit: bytes, min: 4096, max: 1048576, sum: 91530035 }": name(
			"read", Op{Unit: Bytes, Has: HasRange, Samples: 974, Min: 4096, Max: 1048576, Sum: 91530035}),
		"  parallel_rename_file: { samples:           1, unit: usecs, min:      310, max:      310, sum:              310, sumsq:              96100 }": name(
			"parallel_rename_file", Op{Unit: Microseconds, Has: all, Samples: 1, Min: 310, Max: 310, Sum: 310, SumSq: 96100}),
		"  a:               { samples: 18446744073709551615, unit: bytes, min: 9223372036854775807, max: 99999999999999999, sum: 1234567890123456, sumsq: 16888498602639360000, hist: { 1: 1, 512: 2, 1K: 3, 2G: 4 } }": name(
			"a", Op{Unit: Bytes, Has: all | HasHist, Samples: 18446744073709551615, Min: 9223372036854775807, Max: 99999999999999999,
				Sum: 1234567890123456, SumSq: 16888498602639360000, Hist: []Bucket{{0, 1}, {9, 2}, {10, 3}, {31, 4}}}),
		"  a:               { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }": name(
			"a", Op{Unit: Bytes, Has: all | HasHist}),
		layout216 + "hist: { 4K: 1, 4K: 2 } }":                     name("a", Op{Unit: Bytes, Has: all, Samples: 7}),
		layout216 + "hist: { 8K: 1, 4K: 2 } }":                     name("a", Op{Unit: Bytes, Has: all, Samples: 7}),
		layout216 + "hist: { 4K: 1, 3K: 2 } }":                     name("a", Op{Unit: Bytes, Has: all, Samples: 7}),
		layout216 + "hist: { 4K: 1, 64K: 2 } }":                    name("a", Op{Unit: Bytes, Has: all | HasHist, Samples: 7, Hist: []Bucket{{12, 1}, {16, 2}}}),
		zeros216 + "hist: { 4K: 1 } }":                             name("a", Op{Unit: Bytes, Has: all | HasHist, Hist: []Bucket{{12, 1}}}), // torn
		"  a: { samples: 7, x: { y: 1 }":                           nil,
		"  a\tb:            { samples:           1, unit:  reqs }": nil,
		"a:{samples:7}": name("a", Op{Samples: 7}),
		"\ta\t:\t{\tsamples\t:\t7\t,\tunit\t:\treqs\t}\t\r":                 name("a", Op{Unit: Requests, Samples: 7}),
		"  a: { unit: reqs, samples: 7 }":                                   name("a", Op{Unit: Requests, Samples: 7}),
		"  a: { samples: 7, }":                                              name("a", Op{Samples: 7}),
		"  a: { samples: 7, unit: furlongs }":                               name("a", Op{Unit: OtherUnit, Samples: 7}),
		"  a: { samples: 7, p99: 12, x: { y: { 1, 2 } } }":                  name("a", Op{Samples: 7}),
		"  a: { samples: 7, sumsq: 8 }":                                     name("a", Op{Has: HasSumSq, Samples: 7, SumSq: 8}),
		"  a: { samples: 7, sum: 8 }":                                       name("a", Op{Has: HasRange, Samples: 7, Sum: 8}),
		"  a: { samples: 7, min: 8, max: 9 }":                               name("a", Op{Samples: 7}),
		"  a: { samples: 7, hist: {} }":                                     name("a", Op{Has: HasHist, Samples: 7}),
		"  a: { samples: 7, hist: {4K:1,8K:2} }":                            name("a", Op{Has: HasHist, Samples: 7, Hist: []Bucket{{12, 1}, {13, 2}}}),
		"  a: { samples: 7, hist: { 4K: 1, 3K: 2 } }":                       name("a", Op{Samples: 7}),
		"  a: { samples: 7, hist: { 4K: 1, 4K: 2 } }":                       name("a", Op{Samples: 7}),
		"  a: { samples: 7, hist: { 4G: 1 } }":                              name("a", Op{Samples: 7}),
		"  a: { samples: 7, hist: { 1024: 1 } }":                            name("a", Op{Samples: 7}),
		"  a: { samples: 7, hist: { 4T: 1 } }":                              name("a", Op{Samples: 7}),
		"  a: { samples: 7, hist: { 01K: 1 } }":                             name("a", Op{Samples: 7}),
		"  \xff{}-\x00/: { samples: 007 }":                                  name("\xff{}-\x00/", Op{Samples: 7}),
		"  snapshot_time: { samples: 7 }":                                   name("snapshot_time", Op{Samples: 7}),
		"  job_stats: { samples: 7 }":                                       name("job_stats", Op{Samples: 7}),
		"  a: { samples: 00000000000000000000000000000000001 }":             name("a", Op{Samples: 1}),
		"  " + strings.Repeat("n", maxName) + ":{samples:1}":                name(strings.Repeat("n", maxName), Op{Samples: 1}),
		"  " + strings.Repeat("n", maxName+1) + ":{samples:1}":              nil,
		"  a: { samples: 18446744073709551616 }":                            nil,
		"  a:               { samples: 99999999999999999999, unit:  reqs }": nil,
		"  a: { samples: 7, sumsq: 18446744073709551616 }":                  nil,
		"  a: { samples: 7, hist: { 4K: 18446744073709551616 } }":           nil,
		"  a: { samples: -7 }":                                              nil,
		"  a: { samples: 7.5 }":                                             nil,
		"  a: { samples: 1 2 }":                                             nil,
		"  a: { samples: }":                                                 nil,
		"  a: { samples: 7, unit: }":                                        nil,
		"  a: { samples: 7, samples: 7 }":                                   nil,
		"  a: { unit: reqs }":                                               nil,
		"  a: { }":                                                          nil,
		"  a: {":                                                            nil,
		"  a: }":                                                            nil,
		"  a:":                                                              nil,
		"  a: { samples: 7":                                                 nil,
		"  a: samples: 7 }":                                                 nil,
		"  a: { samples: 7 } }":                                             nil,
		"  a: { samples: 7, hist: { 4K: 1 }":                                nil,
		"  a: { samples: 7, hist: 4K }":                                     nil,
		"  a: { samples: 7, hist: { 4K } }":                                 nil,
		"  a: { samples: 7, } unit: { x: 1 }":                               nil,
		"  a: { samples: 7 } x":                                             nil,
		"  a b: { samples: 7 }":                                             nil,
		"  : { samples: 7 }":                                                nil,
		"  a { samples: 7 }":                                                nil,
		"nonsense":                                                          nil,
	} {
		for _, before := range []string{"", op1, op1 + op1} { // what the slots held before makes no difference
			text := []byte(head + before + before + line + "\n" + head + line + "\n" + op1)
			r := scanText(text, Options{})
			checkOp(t, line, r.entries[0], want)
			same(t, line, r, slowly(text, Options{}))
		}
	}
}

func checkOp(t *testing.T, line string, e *Entry, want *Op) {
	t.Helper()
	if want == nil {
		if !e.Damaged {
			t.Errorf("%q is read as %+v", line, e.Ops)
		}
		return
	}
	if n := len(e.Ops); e.Damaged || n == 0 || !e.Ops[n-1].Equal(want) {
		t.Errorf("%q: %+v, want %+v", line, e.Ops, want)
	}
}
