// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/iotest"
	"time"
)

// awkward are texts that once were, or nearly were, read wrongly; every fuzz target starts from them and from the samples.
var awkward = []string{
	"",
	"\n\n",
	"job_stats:",
	"- job_id:          \n  snapshot_time:   1\n  open:{samples:1}\n",
	"- job_id:          a\nb\n  snapshot_time:   1\n  open:            { samples:           1, unit:  reqs }\n",
	"- job_id: short\n  read:    { samples: 974, unit: bytes, min: 4096, max: 1048576, sum: 91530035 }\n",
	"- job_id:          x\n  a:               { samples: 18446744073709551615, unit: usecs, min:        0, max:        0, sum:                0, sumsq: 18446744073709551616 }\n",
	"- job_id:          x\n  a:               { samples:           1, unit: bytes, min:        1, max:        1, sum:                1, sumsq:                  1, hist: { 1: 1, 2G: 3 } }\n",
	"- job_id:          x\n  a:               { samples:           1, unit: bytes, min:        1, max:        1, sum:                1, sumsq:                  1, hist: { 4G: 1, 3K: 3 } }\n",
	"- job_id:          x\n  a:               { samples:        1  , unit: usecs, min:  1     2, max:       !!, sum:                1, sumsq:                  1 }\n",
	"- job_id:          x\n  snapshot_time   : 1896533.424837288 secs.nsecs\n  a:               { samples: 3, extra: { 1: 2, 3: { } }, unit: pages, }",
	"mdt.a-MDT0000.job_stats=job_stats:\nmdt.a-MDT0000.job_cleanup_interval=600\nobdfilter.a-OST0000.job_stats=\njob_stats:\n",
	"mdt.a-MDT0000.job_stats=- job_id:          x\nmdt.a-MDT0000.job_stats=  open: { samples: 1 }\nmdt.a-MDT0000.job_stats=",
	"mdt.a-MDT0000.job_stats: job_stats:\n- job_id:          x\nmdt.a-MDT0000.md_stats=\nsnapshot_time 1 secs.nsecs\n",
}

func seeds(f *testing.F) (texts [][]byte) {
	names, err := filepath.Glob(filepath.Join(samplesPath, "*.txt"))
	if err != nil || len(names) == 0 {
		f.Fatal("no samples", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, text[:min(len(text), 1500)])
	}
	for _, text := range awkward {
		texts = append(texts, []byte(text))
	}
	return texts
}

var (
	refPrefix = regexp.MustCompile(`^(mdt|obdfilter)\.[A-Za-z0-9_-]+\.job_stats(=|: |:$)`)
	refOther  = regexp.MustCompile(`^(mdt|obdfilter)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(=|: |:$)`)
	refID     = regexp.MustCompile(`^[ \t]*-[ \t]+job_id[ \t]*:`)
	refTime   = regexp.MustCompile(`^ *(snapshot_time|start_time|elapsed_time) *: *(\d{1,19})(?:\.(\d{9}))?(?: secs\.nsecs)?$`)
	refHeader = regexp.MustCompile(`^job_stats:$`)
	refOp     = regexp.MustCompile(`^  ([a-z_]{1,64}): *\{ samples: *(\d{1,19})(?:, unit: *([a-z/]+))?` +
		`(?:, min: *(\d{1,19}), max: *(\d{1,19}), sum: *(\d{1,19}))?(?:, sumsq: *(\d{1,19}))?` +
		`(?:, hist: \{ ((?:\d{1,3}[KMG]?: \d{1,19}(?:, \d{1,3}[KMG]?: \d{1,19})*)?) \})? \}$`)
)

// reference is what the format's own regular expressions say of a text.
type reference struct {
	lines, entries, others uint64 // others: lines that have a known form but are no entry's beginning
	samples                []uint64
}

func naive(text []byte, framed bool) (r reference) {
	r.lines = uint64(bytes.Count(text, []byte{'\n'}))
	if n := len(text); n > 0 && text[n-1] != '\n' {
		r.lines++
		if i := bytes.LastIndexByte(text, '\n'); refID.Match(afterPrefix(text[i+1:], framed)) {
			r.entries++
		}
		text = text[:bytes.LastIndexByte(text, '\n')+1] // what is cut may count or not
	}
	open := false
	for line := range bytes.Lines(text) {
		line = line[:len(line)-1]
		if framed && refOther.Match(line) && !refPrefix.Match(line) {
			open = false
			continue
		}
		if framed && refPrefix.Match(line) {
			open = false // the scanner may say otherwise with -H
		}
		line = afterPrefix(line, framed)
		op := refOp.FindSubmatch(line)
		switch {
		case refID.Match(line):
			r.entries++
			open = true
		case refHeader.Match(line):
			r.others++
		case open && refTime.Match(line):
			r.others++
		case open && op != nil:
			r.others++
			v, _ := strconv.ParseUint(string(op[2]), 10, 64)
			r.samples = append(r.samples, v)
		}
	}
	return r
}

func afterPrefix(line []byte, framed bool) []byte {
	if framed {
		return line[len(refPrefix.Find(line)):]
	}
	return line
}

// FuzzScanner: nothing panics, and the counts agree with the regular expressions of the format's description.
func FuzzScanner(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, framed bool) {
		r := scanText(text, Options{Framed: framed})
		want := naive(text, framed)
		c := r.counters
		if c.Lines != want.lines || c.Entries+c.Rejected != want.entries {
			t.Errorf("%d lines, %d+%d entries, want %d and %d", c.Lines, c.Entries, c.Rejected, want.lines, want.entries)
		}
		if c.Entries != uint64(len(r.entries)) || c.Bytes != int64(len(text)) || r.err != nil {
			t.Errorf("%+v with %d entries returned, %v", c, len(r.entries), r.err)
		}
		if known := want.entries + want.others; c.Unparsed > c.Lines-min(known, c.Lines) {
			t.Errorf("%d of %d lines unparsed, yet %d are known", c.Unparsed, c.Lines, known)
		}
		if !framed && c.Rejected == 0 && !subsequence(want.samples, r.entries) {
			t.Errorf("samples %v are not all in the entries", want.samples)
		}
		checkEntries(t, r.entries)
		same(t, "general scanner", r, slowly(text, Options{Framed: framed}))
	})
}

// subsequence reports that the values occur in the entries' samples in this order.
func subsequence(values []uint64, entries []*Entry) bool {
	for _, e := range entries {
		for _, op := range e.Ops {
			if len(values) > 0 && op.Samples == values[0] {
				values = values[1:]
			}
		}
	}
	return len(values) == 0
}

// checkEntries checks what callers rely on.
func checkEntries(t *testing.T, entries []*Entry) {
	for _, e := range entries {
		if len(e.ID) > maxID || bytes.IndexByte(e.ID, '\n') >= 0 {
			t.Errorf("identifier %q", e.ID)
		}
		for _, op := range e.Ops {
			if len(op.Name) == 0 || len(op.Name) > maxName || bytes.ContainsAny(op.Name, " \t\n:") {
				t.Errorf("name %q", op.Name)
			}
			if op.Has&HasRange == 0 && op.Min|op.Max|op.Sum != 0 || op.Has&HasSumSq == 0 && op.SumSq != 0 ||
				op.Has&HasHist == 0 && len(op.Hist) > 0 {
				t.Errorf("fields that were not printed: %+v", op)
			}
			if !slices.IsSortedFunc(op.Hist, func(a, b Bucket) int { return int(a.Exp) - int(b.Exp) }) || len(op.Hist) > 32 {
				t.Errorf("buckets %v", op.Hist)
			}
		}
	}
}

// slowly scans without the fast path.
func slowly(text []byte, o Options) result {
	s := NewScanner(bytes.NewReader(text), o)
	s.slowOnly = true
	return scan(s)
}

func same(tb testing.TB, what string, want, got result) {
	tb.Helper()
	if got.counters != want.counters || got.truncated != want.truncated || !slices.Equal(got.frames, want.frames) ||
		!slices.Equal(got.events, want.events) || !errors.Is(got.err, want.err) {
		tb.Fatalf("%s: %+v truncated %v frames %q, want %+v %v %q", what,
			got.counters, got.truncated, got.frames, want.counters, want.truncated, want.frames)
	}
	sameEntries(tb, want.entries, got.entries)
	for i := range want.entries {
		if want.entries[i].Damaged != got.entries[i].Damaged {
			tb.Fatalf("%s: entry %d damaged %v", what, i, got.entries[i].Damaged)
		}
	}
}

// FuzzRoundTrip: entries rendered again parse back equal, by a dialect too.
func FuzzRoundTrip(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := scanText(text, Options{})
		got := scanText(appendAll(nil, want.entries), Options{})
		if got.counters.Unparsed != 0 || got.counters.Rejected != 0 {
			t.Errorf("%+v", got.counters)
		}
		sameEntries(t, want.entries, got.entries)
		s := NewScanner(nil, Options{})
		for _, d := range Dialects() {
			printed := d.AppendHeader(nil, len(want.entries))
			for _, e := range want.entries {
				printed = d.AppendEntry(printed, e.ID[:min(len(e.ID), 31)], time.Hour, time.Minute, e.Ops)
			}
			s.Reset(bytes.NewReader(printed))
			r := scan(s)
			if r.counters.Unparsed+r.counters.Rejected != 0 || !sameSamples(want.entries, r.entries) {
				t.Fatalf("dialect %s: %+v, want %d entries\n%s", d.Name, r.counters, len(want.entries), printed)
			}
		}
	})
}

// sameSamples compares what every dialect prints.
func sameSamples(want, got []*Entry) bool {
	return slices.EqualFunc(want, got, func(a, b *Entry) bool {
		return slices.EqualFunc(a.Ops, b.Ops, func(x, y Op) bool {
			return bytes.Equal(x.Name, y.Name) && x.Unit == y.Unit && x.Samples == y.Samples
		})
	})
}

// chopped gives its text in pieces of random size, now and then nothing, and the last one together with the end.
type chopped struct {
	text []byte
	rnd  *rand.Rand
}

func (c *chopped) Read(p []byte) (int, error) {
	n := copy(p, c.text[:min(len(c.text), c.rnd.IntN(300))])
	c.text = c.text[n:]
	if len(c.text) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// FuzzChopped: how a text is cut into reads makes no difference, and limits on lines neither depend on it.
func FuzzChopped(f *testing.F) {
	for i, text := range seeds(f) {
		f.Add(text, i%2 == 0, uint64(i), uint16(i*97))
	}
	f.Fuzz(func(t *testing.T, text []byte, framed bool, seed uint64, maxLine uint16) {
		o := Options{Framed: framed, MaxLine: int(maxLine)}
		want := scanText(text, o)
		same(t, "random reads", want, scan(NewScanner(&chopped{text, rand.New(rand.NewPCG(seed, 0))}, o)))
		same(t, "general scanner", want, slowly(text, o))
		if len(text) < 2000 {
			same(t, "single bytes", want, scan(NewScanner(iotest.OneByteReader(bytes.NewReader(text)), o)))
			same(t, "data with error", want, scan(NewScanner(iotest.DataErrReader(bytes.NewReader(text)), o)))
		}
	})
}

// FuzzMutated changes a few bytes of well-formed lines, where both scanners take different ways, and compares them.
func FuzzMutated(f *testing.F) {
	f.Add(uint64(0))
	d, _ := DialectNamed("2.16")
	text := workload(d, "obdfilter", 3, 0.5)
	f.Fuzz(func(t *testing.T, seed uint64) {
		const alphabet = " 0123456789:,{}\nKMG\tsx\r\x00\xff"
		rnd := rand.New(rand.NewPCG(seed, 1))
		for range 20 {
			mutated := bytes.Clone(text)
			for range 1 + rnd.IntN(8) {
				i := rnd.IntN(len(mutated))
				switch c := alphabet[rnd.IntN(len(alphabet))]; rnd.IntN(3) {
				case 0:
					mutated = slices.Delete(mutated, i, i+1)
				case 1:
					mutated = slices.Insert(mutated, i, c)
				default:
					mutated[i] = c
				}
			}
			same(t, "general scanner", scanText(mutated, Options{}), slowly(mutated, Options{}))
		}
	})
}
