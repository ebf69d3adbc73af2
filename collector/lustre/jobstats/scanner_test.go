// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestStaleBuffer: text left in the buffer from earlier reads must not complete a line.
func TestStaleBuffer(t *testing.T) {
	whole := head + "  write:           { samples:         861, unit: usecs, min:       65, max:    34699, sum:          7304967, sumsq:        80724646151 }\n"
	s := NewScanner(strings.NewReader(""), Options{})
	for cut := range len(whole) {
		s.Reset(strings.NewReader(whole + whole))
		scan(s)
		s.Reset(strings.NewReader(whole[:cut]))
		want := scanText([]byte(whole[:cut]), Options{})
		same(t, whole[:cut], want, scan(s))
		if done := cut == 0 || cut == len(whole)-1; want.truncated == done {
			t.Errorf("cut at %d: truncated %v", cut, want.truncated)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name, text         string
		entries, damaged   int
		rejected, unparsed uint64
	}{
		{"operation before any entry", op1 + head + op1, 1, 0, 0, 1},
		{"time before any entry", "  snapshot_time: 1\n" + head + op1, 1, 0, 0, 1},
		{"newline in identifier", "- job_id:          a\nb.500\n" + op1, 1, 1, 0, 1},
		{"forged operation", "- job_id:          a\n a:{samples:9}\n" + op1, 1, 0, 0, 0},
		{"long identifier", head + op1 + "- job_id:          " + strings.Repeat("x", maxID+1) + "\n" + op1 + head + op1, 2, 0, 1, 0},
		{"long identifier, unreadable line", "- job_id:          " + strings.Repeat("x", maxID+1) + "\nwhat\n" + head + op1, 1, 0, 1, 1},
		{"blank lines", "\n \n" + head + "\n\t\n" + op1 + "\n\n", 1, 0, 0, 0},
		{"headers anywhere", "job_stats:\njob_stats: \n" + head + "job_stats:\n" + op1 + "job_stats:\n", 1, 0, 0, 0},
		{"duplicates", head + op1 + head + op1, 2, 0, 0, 0},
		{"framing without the option", "mdt.a-MDT0000.job_stats=\n" + head + op1, 1, 0, 0, 1},
		{"too many operations", head + strings.Repeat("a:{samples:1}\n", maxOps+3) + head + op1, 2, 1, 0, 3},
		{"too many operations as printed", head + strings.Repeat(op1, maxOps+3) + head + op1, 2, 1, 0, 3},
		{"line break in a name", head + "  a\nb:            { samples:           1, unit:  reqs }\n" + op1, 1, 1, 0, 1},
		{"zero bytes", "\x00\x00\n" + head + "\x00\n" + op1, 1, 1, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := scanText([]byte(c.text), Options{})
			damaged := 0
			for _, e := range r.entries {
				if e.Damaged {
					damaged++
				}
			}
			if len(r.entries) != c.entries || damaged != c.damaged || r.counters.Rejected != c.rejected ||
				r.counters.Unparsed != c.unparsed || r.truncated || r.err != nil {
				t.Errorf("%d entries, %d damaged, %+v, truncated %v", len(r.entries), damaged, r.counters, r.truncated)
			}
			same(t, c.name, r, slowly([]byte(c.text), Options{}))
		})
	}
}

func TestTruncated(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                    false,
		"job_stats:\n":                        false,
		"job_stats:":                          true,
		head + op1:                            false,
		head + op1[:len(op1)-1]:               false,
		head + op1[:len(op1)-2]:               true,
		head + op1 + "  ":                     true,
		head + op1 + "- job":                  true,
		head + op1 + "- job_id:          123": true,
		head:                                  true,
		head + "  snapshot_time: 1\n":         true,
		head + "  snapshot_time: 1":           true,
		head + op1 + head:                     true,
		head + head + op1:                     false,
		head + "  open: { garbage }\n":        false,
		head + "garbage\n":                    true,
		"garbage\n":                           false,
		"garbage":                             true,
		"- job_id: " + strings.Repeat("x", maxID+1) + "\n": true,
	} {
		r := scanText([]byte(text), Options{})
		if r.truncated != want || r.err != nil {
			t.Errorf("%q: truncated %v, %v", text, r.truncated, r.err)
		}
	}
	// A cut identifier is somebody else's, a cut time tells another incarnation: neither is served.
	r := scanText([]byte(head+op1+"- job_id:          123"), Options{})
	if len(r.entries) != 1 || r.counters.Rejected != 1 {
		t.Errorf("cut identifier: %+v", r)
	}
	r = scanText([]byte(head+op1+"  start_time: 17"), Options{})
	if e := r.entries[0]; e.Start != nil || !e.Damaged {
		t.Errorf("cut time: %+v", e)
	}
}

func TestLimits(t *testing.T) {
	entry := head + op1
	text := []byte(strings.Repeat(entry, 10))
	for _, c := range []struct {
		name    string
		o       Options
		entries int
		bytes   int64
		err     error
	}{
		{"none", Options{}, 10, int64(len(text)), nil},
		{"entries not reached", Options{MaxEntries: 10}, 10, int64(len(text)), nil},
		{"entries", Options{MaxEntries: 9}, 9, int64(len(text)), ErrLimit},
		{"bytes not reached", Options{MaxBytes: int64(len(text))}, 10, int64(len(text)), nil},
		{"bytes between lines", Options{MaxBytes: int64(3 * len(entry))}, 3, int64(3 * len(entry)), ErrLimit},
		{"bytes within a line", Options{MaxBytes: int64(3*len(entry) + 25)}, 4, int64(3*len(entry) + 25), ErrLimit},
	} {
		r := scanText(text, c.o)
		if len(r.entries) != c.entries || r.counters.Bytes != c.bytes || !errors.Is(r.err, c.err) || r.truncated != (c.err != nil) {
			t.Errorf("%s: %d entries, %+v, %v, truncated %v", c.name, len(r.entries), r.counters, r.err, r.truncated)
		}
		same(t, c.name, r, scan(NewScanner(iotest.OneByteReader(bytes.NewReader(text)), c.o)).withBytes(c.bytes))
	}
}

// withBytes evens out that a limit on entries stops sooner when the text comes in pieces.
func (r result) withBytes(n int64) result { r.counters.Bytes = n; return r }

func TestLongLines(t *testing.T) {
	long := strings.Repeat("y", 300)
	for _, c := range []struct {
		name, text string
		want       Counters
		truncated  bool
	}{
		{"identifier", head + op1 + "- job_id:          " + long + "\n" + op1 + head + op1, Counters{Lines: 6, Entries: 2, Rejected: 1}, false},
		{"operation", head + "  " + op1[:len(op1)-2] + long + "}\n" + op1, Counters{Lines: 3, Entries: 1, Unparsed: 1}, false},
		{"blanks", head + op1[:30] + strings.Repeat(" ", 300) + op1[30:] + op1, Counters{Lines: 3, Entries: 1, Unparsed: 1}, false},
		{"before any entry", long + "\n" + head + op1, Counters{Lines: 3, Entries: 1, Unparsed: 1}, false},
		{"at the end", head + op1 + long, Counters{Lines: 3, Entries: 1, Unparsed: 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{MaxLine: 100}
			r := scanText([]byte(c.text), o)
			c.want.Bytes = int64(len(c.text))
			if r.counters != c.want || r.truncated != c.truncated || r.err != nil {
				t.Errorf("%+v truncated %v, want %+v", r.counters, r.truncated, c.want)
			}
			same(t, "single bytes", r, scan(NewScanner(iotest.OneByteReader(strings.NewReader(c.text)), o)))
			same(t, "general scanner", r, slowly([]byte(c.text), o))
		})
	}
	// By default a line of a megabyte is still read, and one beyond is dropped without holding it.
	for _, n := range []int{DefaultMaxLine, DefaultMaxLine + 1, 10 * DefaultMaxLine} {
		text := head + op1 + strings.Repeat(" ", n-len(op1)+1) + op1 + head + op1
		s := NewScanner(strings.NewReader(text), Options{})
		r := scan(s)
		if len(r.entries) != 2 || r.entries[0].Damaged != (n > DefaultMaxLine) {
			t.Errorf("line of %d bytes: %+v", n, r.counters)
		}
		if len(s.buf) > 4*DefaultMaxLine {
			t.Errorf("line of %d bytes: buffer grew to %d", n, len(s.buf))
		}
	}
}

// roomReader notes the smallest room that a read got.
type roomReader struct {
	io.Reader
	least int
}

func (r *roomReader) Read(p []byte) (int, error) {
	r.least = min(r.least, len(p))
	return r.Reader.Read(p[:min(len(p), 4096)]) // as a seq_file does
}

// TestRoom: every read has 64 KiB, also behind a long line, or servers since 2.17 leak entries.
func TestRoom(t *testing.T) {
	text := strings.Repeat(head+op1, 20000) + strings.Repeat("z", 900_000) + "\n" + strings.Repeat(head+op1, 20000)
	r := &roomReader{strings.NewReader(text), 1 << 30}
	got := scan(NewScanner(r, Options{}))
	if r.least < 64<<10 || len(got.entries) != 40000 || got.counters.Unparsed != 1 {
		t.Errorf("room %d, %+v", r.least, got.counters)
	}
}

// badReader returns what readers must not.
type badReader struct{ n int }

func (r badReader) Read([]byte) (int, error) { return r.n, nil }

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		r       io.Reader
		err     error
		entries int
	}{
		{"at once", iotest.ErrReader(broken), broken, 0},
		{"between lines", io.MultiReader(strings.NewReader(head+op1), iotest.ErrReader(broken)), broken, 1},
		{"within an entry", io.MultiReader(strings.NewReader(head+op1+head), iotest.ErrReader(broken)), broken, 2},
		{"within an identifier", io.MultiReader(strings.NewReader(head+op1+head[:20]), iotest.ErrReader(broken)), broken, 1},
		{"no progress", badReader{0}, io.ErrNoProgress, 0},
		{"negative count", badReader{-1}, errBadRead, 0},
		{"impossible count", badReader{1 << 30}, errBadRead, 0},
	} {
		s := NewScanner(c.r, Options{})
		r := scan(s)
		if !errors.Is(r.err, c.err) || !r.truncated || len(r.entries) != c.entries {
			t.Errorf("%s: %v, truncated %v, %d entries", c.name, r.err, r.truncated, len(r.entries))
		}
		s.Reset(strings.NewReader(head + op1))
		if r := scan(s); r.err != nil || r.truncated || len(r.entries) != 1 || r.counters.Lines != 2 {
			t.Errorf("%s: after Reset %+v", c.name, r)
		}
		var e Entry
		if ev := s.Next(&e); ev != End {
			t.Errorf("%s: event %d after End", c.name, ev)
		}
	}
}
