// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The regular expressions of the format's description, section 2: slow, plain, and sharing no code with the scanner.
var (
	plainTarget = regexp.MustCompile(`^(mdt|obdfilter)\.([A-Za-z0-9_-]+)\.job_stats=(job_stats:)?$`)
	plainHeader = regexp.MustCompile(`^job_stats:$`)
	plainID     = regexp.MustCompile(`(?s)^- job_id: {10}(.*)$`)
	plainTime   = regexp.MustCompile(`^ *(snapshot_time|start_time|elapsed_time) *: *(\d+(?:\.\d{9})?)(?: secs\.nsecs)?$`)
	plainOp     = regexp.MustCompile(`^  ([a-z_]+): *\{ samples: *(\d+)(?:, unit: *([a-z/]+))?` +
		`(?:, min: *(\d+), max: *(\d+), sum: *(\d+))?(?:, sumsq: *(\d+))?(?:, hist: \{ (.*?) \})? \}$`)
	plainBucket = regexp.MustCompile(`(\d+)([KMG]?): (\d+)`)
)

// plainly parses a well-formed text; any other fails the test.
func plainly(tb testing.TB, text []byte) (entries []*Entry) {
	tb.Helper()
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		var e *Entry
		if len(entries) > 0 {
			e = entries[len(entries)-1]
		}
		id, when, op := plainID.FindStringSubmatch(line), plainTime.FindStringSubmatch(line), plainOp.FindStringSubmatch(line)
		switch {
		case plainHeader.MatchString(line), plainTarget.MatchString(line):
		case id != nil:
			entries = append(entries, &Entry{ID: []byte(id[1])})
		case when != nil:
			*map[string]*Time{"snapshot_time": &e.Snapshot, "start_time": &e.Start, "elapsed_time": &e.Elapsed}[when[1]] = Time(when[2])
		case op != nil:
			e.Ops = append(e.Ops, plainOperation(tb, op))
		default:
			tb.Fatalf("the reference cannot read %q", line)
		}
	}
	return entries
}

// plainOperation converts the groups of plainOp.
func plainOperation(tb testing.TB, groups []string) Op {
	tb.Helper()
	number := func(i int) uint64 {
		if groups[i] == "" {
			return 0
		}
		v, err := strconv.ParseUint(groups[i], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
	op := Op{Name: []byte(groups[1]), Samples: number(2), Min: number(4), Max: number(5), Sum: number(6), SumSq: number(7)}
	op.Unit = map[string]Unit{"": NoUnit, "reqs": Requests, "bytes": Bytes, "usecs": Microseconds}[groups[3]]
	if groups[6] != "" {
		op.Has |= HasRange
	}
	if groups[7] != "" {
		op.Has |= HasSumSq
	}
	if strings.Contains(groups[0], "hist: {") {
		op.Has |= HasHist
	}
	for _, b := range plainBucket.FindAllStringSubmatch(groups[8], -1) {
		bound, _ := strconv.ParseUint(b[1], 10, 64)
		bound <<= map[string]int{"": 0, "K": 10, "M": 20, "G": 30}[b[2]]
		count, _ := strconv.ParseUint(b[3], 10, 64)
		bucket := Bucket{Count: count}
		for ; 1<<bucket.Exp < bound; bucket.Exp++ {
		}
		op.Hist = append(op.Hist, bucket)
	}
	return op
}

// TestReference compares every field of every sample, of every real capture and of every dialect's print with the plain parser.
func TestReference(t *testing.T) {
	check := func(t *testing.T, text []byte, o Options) {
		want := plainly(t, text)
		sameEntries(t, want, scanText(text, o).entries)
		sameEntries(t, want, slowly(text, o).entries)
	}
	compared := 0
	for _, dir := range []string{samplesPath, fixturesPath} {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			t.Run(filepath.Base(name), func(t *testing.T) {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				check(t, text, framing(name))
				compared++
			})
		}
	}
	if compared < len(samples) {
		t.Errorf("%d files compared", compared)
	}
	for _, d := range Dialects() {
		for _, kind := range []string{"mdt", "obdfilter"} {
			t.Run(d.Name+"/"+kind, func(t *testing.T) { check(t, workload(d, kind, 60, 0.4), Options{}) })
		}
	}
}

// TestReferenceDiffers makes sure that the comparison above can fail.
func TestReferenceDiffers(t *testing.T) {
	text := readFile(t, samplesPath, "ost_2.16+.txt")
	for _, change := range [][2]string{
		{"861", "862"}, {"24576", "24577"}, {"34699", "34698"}, {"11025514496", "11025514495"}, {"80724646151", "80724646150"},
		{"16M: 666", "16M: 667"}, {"8M: 98", "9"}, {"unit: usecs", "unit: bytes"}, {"es18kxe", "es18kxf"}, {"887515895", "887515896"},
		{"057286226", "057286227"}, {"229669", "229668"}, {"get_info", "got_info"},
	} {
		changed := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		want, got := plainly(t, text), scanText(changed, Options{}).entries
		if len(want) != len(got) || want[0].Equal(got[0]) && want[1].Equal(got[1]) {
			t.Errorf("%q instead of %q goes unnoticed", change[1], change[0])
		}
	}
}
