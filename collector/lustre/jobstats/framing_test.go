// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFraming(t *testing.T) {
	stats := func(kind, target string) Frame { return Frame{kind, target, "job_stats", ""} }
	interval := func(kind, target, value string) Frame { return Frame{kind, target, "job_cleanup_interval", value} }
	mdt, ost := stats("mdt", "my-fs_1-MDT0000"), stats("obdfilter", "my-fs_1-OST000a")
	for _, c := range []struct {
		name, text string
		frames     []Frame
		events     []Event
		unparsed   uint64
	}{
		{"none", "job_stats:\n" + head + op1, nil, []Event{EntryRead, End}, 0},
		{"up to 2.16", "mdt.my-fs_1-MDT0000.job_stats=job_stats:\nobdfilter.my-fs_1-OST000a.job_stats=\njob_stats:\n" + head + op1,
			[]Frame{mdt, ost}, []Event{FrameRead, FrameRead, EntryRead, End}, 0},
		{"since 2.17", "mdt.my-fs_1-MDT0000.job_stats=\nobdfilter.my-fs_1-OST000a.job_stats=\n" + head + op1,
			[]Frame{mdt, ost}, []Event{FrameRead, FrameRead, EntryRead, End}, 0},
		{"yaml", "mdt.my-fs_1-MDT0000.job_stats: job_stats:\nobdfilter.my-fs_1-OST000a.job_stats: \njob_stats:\n" + head + op1,
			[]Frame{mdt, ost}, []Event{FrameRead, FrameRead, EntryRead, End}, 0},
		{"yaml without blank", "mdt.my-fs_1-MDT0000.job_stats:\n" + head + op1, []Frame{mdt}, []Event{FrameRead, EntryRead, End}, 0},
		{"header on every line", every("mdt.my-fs_1-MDT0000.job_stats=", "job_stats:\n"+head+op1+op1+head+"job_stats:\n"+op1) +
			every("obdfilter.my-fs_1-OST000a.job_stats=", head+op1), []Frame{mdt, ost},
			[]Event{FrameRead, EntryRead, EntryRead, FrameRead, EntryRead, End}, 0},
		{"yaml on every line", every("mdt.my-fs_1-MDT0000.job_stats: ", "job_stats:\n"+head+op1), []Frame{mdt},
			[]Event{FrameRead, EntryRead, End}, 0},
		{"intervals", "mdt.a-MDT0000.job_cleanup_interval=600\nobdfilter.a-OST0000.job_cleanup_interval: 0 \n" +
			"mdt.a-MDT0000.job_stats=\n" + head + op1 + "mdt.a-MDT0000.job_cleanup_interval=60\nmdt.a-MDT0000.job_stats=" + head + op1,
			[]Frame{interval("mdt", "a-MDT0000", "600"), interval("obdfilter", "a-OST0000", "0"), stats("mdt", "a-MDT0000"),
				interval("mdt", "a-MDT0000", "60"), stats("mdt", "a-MDT0000")},
			[]Event{FrameRead, FrameRead, FrameRead, EntryRead, FrameRead, FrameRead, EntryRead, End}, 0},
		{"interval without value", "mdt.a-MDT0000.job_cleanup_interval=\n", nil, []Event{End}, 1},
		{"cut interval", "mdt.a-MDT0000.job_cleanup_interval=60", nil, []Event{End}, 1},
		{"other parameter", "mdt.a-MDT0000.job_stats=\n" + head + op1 + "mdt.a-MDT0000.md_stats=\nopen 5 samples\n", []Frame{stats("mdt", "a-MDT0000")},
			[]Event{FrameRead, EntryRead, End}, 2},
		{"not framing", "mdt.a.b.job_stats=\nmdt..job_stats=\nmdt.a\nmdt.a.\nmdt.a.job_stats\nosc.a.job_stats=\nmdt.a.job_stats:x\nmdt.\n mdt.a.job_stats=\n",
			nil, []Event{End}, 9},
		{"prefix within a prefix", "mdt.a.job_stats=mdt.b.job_stats=\n", []Frame{stats("mdt", "a")}, []Event{FrameRead, End}, 1},
		{"operation before any entry of the target", "mdt.a.job_stats=\n" + head + op1 + "mdt.b.job_stats=\n" + op1,
			[]Frame{stats("mdt", "a"), stats("mdt", "b")}, []Event{FrameRead, EntryRead, FrameRead, End}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := scanText([]byte(c.text), Options{Framed: true})
			if !slices.Equal(r.frames, c.frames) || !slices.Equal(r.events, c.events) || r.counters.Unparsed != c.unparsed {
				t.Errorf("frames %q, events %v, %+v", r.frames, r.events, r.counters)
			}
			for _, e := range r.entries {
				if string(e.ID) != "x" || e.Damaged {
					t.Errorf("%+v", e)
				}
			}
			if n := uint64(strings.Count(c.text, "\n")); r.counters.Lines != n && r.counters.Lines != n+1 {
				t.Errorf("%d lines, want %d", r.counters.Lines, n)
			}
			same(t, "single bytes", r, scan(NewScanner(iotest.OneByteReader(strings.NewReader(c.text)), Options{Framed: true})))
		})
	}
}

// TestLongFrame: a line that is longer than the limit only with its prefix is a line like any other.
func TestLongFrame(t *testing.T) {
	const prefix = "mdt.a.job_stats="
	r := scanText([]byte(prefix+"garbage\n"+prefix+"job_stats:\n"+prefix+strings.Repeat("x", 99)+"\n"), Options{Framed: true, MaxLine: len(prefix)})
	if len(r.frames) != 1 || r.counters.Lines != 3 || r.counters.Unparsed != 2 || r.truncated {
		t.Errorf("%d frames, %+v", len(r.frames), r.counters)
	}
}

func every(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix) + "\n"
}

// TestFramingStyles: what lctl prints with -H and -y says the same as the plain form.
func TestFramingStyles(t *testing.T) {
	want := scanText(readFile(t, samplesPath, "ost_2.16+.txt"), Options{})
	body := string(readFile(t, samplesPath, "ost_2.16+.txt"))
	for _, text := range []string{
		"obdfilter.a-OST0000.job_stats=\n" + body,
		"obdfilter.a-OST0000.job_stats: \n" + body,
		every("obdfilter.a-OST0000.job_stats=", body),
		every("obdfilter.a-OST0000.job_stats: ", body),
	} {
		got := scanText([]byte(text), Options{Framed: true})
		sameEntries(t, want.entries, got.entries)
		if len(got.frames) != 1 || got.counters.Unparsed != 0 || got.truncated {
			t.Errorf("%+v", got)
		}
	}
}
