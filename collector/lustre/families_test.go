// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
)

func formats() []expfmt.Format {
	return []expfmt.Format{expfmt.NewFormat(expfmt.TypeTextPlain), expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtProtoDelim}
}

// checkFamilies compares a page with common's encoders in every format, and has common read it.
func checkFamilies(t *testing.T, what string, p collector.Page) map[string]*dto.MetricFamily {
	t.Helper()
	for _, format := range formats() {
		got, want := families(t, p, format), encoded(t, format, p.(*page))
		if !bytes.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			from := max(0, i-80)
			t.Errorf("%s, %s: differs at byte %d:\n got %q\nwant %q", what, format, i, got[from:min(len(got), i+80)], want[from:min(len(want), i+80)])
		}
	}
	parse(t, families(t, p, formats()[0]))
	found := map[string]*dto.MetricFamily{}
	d := expfmt.NewDecoder(bytes.NewReader(families(t, p, expfmt.FmtProtoDelim)), expfmt.FmtProtoDelim)
	for {
		var f dto.MetricFamily
		if err := d.Decode(&f); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatalf("%s: protobuf: %v", what, err)
		}
		found[f.GetName()] = &f
	}
}

// hostileIDs are identifiers as a hostile user, or a broken one, gets them into a file.
func hostileIDs() []string {
	ids := []string{
		`1:2000:a`, `"2:2000:with space"`, `"3:2000:quote\x22"`, `4:2000:back\x5cslash`, `5:2000:new\x0aline`, `6:2000:nul\x00`,
		"7:2000:raw\x00nul", "8:2000:\xff\xfe", "9:2000:cut\xe6\x97", `10:2000:"} 1`, `11:2000:a{b="c"}`, "12:2000:\u2028", "13:2000:日本語", `14:2000:\xe6\x97\xa5`,
		`"15:2000:\`, `16:2000:\x`, `17:2000:\\`, "18:2000:\ttab\r", "# HELP.2000", "other:2000:other", "other:2000:a", "a.b.c.2000", "$(reboot).2000",
		"19:2001:r01c01", "19:2001:r01c01.bullx", ":2001:r01c01", "11:22:site:exe", "0:0:root", "", "wget", "nobody.", strings.Repeat("x", 31), "20:2002:" + strings.Repeat("h", 23),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b := make([]byte, rng.IntN(32))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		ids = append(ids, string(bytes.ReplaceAll(b, []byte("\n"), []byte("\r"))))
	}
	return ids
}

// raw is an entry with the identifier as it is in the file.
func raw(id string, ops ...jobstats.Op) string {
	text := entry("@", born, ops...)
	at := strings.Index(text, "@")
	return text[:at] + id + text[at+1:]
}

func manyOps(n uint64) []jobstats.Op {
	return []jobstats.Op{
		{Name: []byte("open"), Unit: jobstats.Microseconds, Samples: n, Min: 1, Max: 9, Sum: 7 * n, Has: jobstats.HasRange},
		{Name: []byte("new_operation"), Unit: jobstats.Requests, Samples: n * n},
		bulk("read_bytes", map[uint8]uint64{12: n, 20: 3 * n}),
		bulk("write_bytes", map[uint8]uint64{0: n, 1: n, 9: 2, 31: 1}),
	}
}

// collectAll builds pages of the same hostile targets in a way of exposition, the second of which has what grew.
func pagesOf(t *testing.T, change func(*Config)) []collector.Page {
	t.Helper()
	r := newRig(t, change)
	v, w := r.add(mdt0Name, stats()), r.add(ost0Name, stats())
	observe := func() collector.Page {
		p, err := r.c.Observe(t.Context(), collector.Client{Addr: "192.0.2.1:5", Scraper: true})
		if err != nil {
			t.Fatal(err)
		}
		p.Served()
		time.Sleep(time.Minute)
		return p
	}
	pages := []collector.Page{observe()}
	for n := range uint64(3) {
		var text []string
		for i, id := range hostileIDs() {
			text = append(text, raw(id, manyOps(n*uint64(i+1))...))
		}
		r.change(func() { v.text, w.text = stats(text...), stats(text[:len(text)/2]...) })
		pages = append(pages, observe())
	}
	return pages
}

func TestFamiliesEqualCommons(t *testing.T) {
	x, err := jobid.New(jobid.Config{Formats: slices.Concat(jobid.DefaultFormats(), site(t)), System: jobid.PolicyKeep, Malformed: jobid.PolicyKeep})
	if err != nil {
		t.Fatal(err)
	}
	f := func(what string, change func(*ledger.Config), wantSeries int, wantHistograms, wantCreated, wantGID bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			var last map[string]*dto.MetricFamily
			for i, p := range pagesOf(t, func(c *Config) { change(&c.Ledger) }) {
				last = checkFamilies(t, fmt.Sprint(what, ", page ", i), p)
			}
			if n := len(last["lustre_job_operations_total"].GetMetric()); n < wantSeries {
				t.Errorf("%s: %d series of operations; want %d at least", what, n, wantSeries)
			}
			if got := last["lustre_job_read_size_bytes"] != nil && last["lustre_job_write_size_bytes"] != nil; got != wantHistograms {
				t.Errorf("%s: histograms: %v; want %v", what, got, wantHistograms)
			}
			if got := dated(last); got != wantCreated {
				t.Errorf("%s: created timestamps: %v; want %v", what, got, wantCreated)
			}
			if got := strings.Contains(fmt.Sprint(last), `"gid"`); got != wantGID {
				t.Errorf("%s: label gid: %v; want %v", what, got, wantGID)
			}
		})
	}
	f("hold", func(c *ledger.Config) { c.FirstZero = ledger.Hold }, 50, false, false, false)
	f("off", func(c *ledger.Config) { c.FirstZero = ledger.Off }, 50, false, false, false)
	f("created", func(c *ledger.Config) { c.FirstZero = ledger.Created }, 50, false, true, false)
	f("hold, sizes and job seconds", func(c *ledger.Config) { c.FirstZero, c.Sizes, c.JobSeconds = ledger.Hold, true, true }, 50, true, false, false)
	f("created, sizes and job seconds", func(c *ledger.Config) { c.FirstZero, c.Sizes, c.JobSeconds = ledger.Created, true, true }, 50, true, true, false)
	f("everything kept", func(c *ledger.Config) { c.Identifier, c.Sizes = x, true }, 150, true, false, true)
	f("everything folded", func(c *ledger.Config) { c.MaxEntries, c.Sizes = 0, true }, 5, true, false, false)
}

func site(t *testing.T) []jobid.Format {
	t.Helper()
	format, err := jobid.ParseFormat("site=%u:%g:site:%e")
	if err != nil {
		t.Fatal(err)
	}
	return []jobid.Format{format}
}

// dated reports whether there are created timestamps. Text has none: its bytes equal those of common's encoder,
// which was not asked for any.
func dated(families map[string]*dto.MetricFamily) bool {
	for _, f := range families {
		for _, m := range f.Metric {
			if m.GetCounter().GetCreatedTimestamp() != nil || m.GetHistogram().GetCreatedTimestamp() != nil {
				return true
			}
		}
	}
	return false
}

// Prometheus rejects a scrape with a histogram whose count is not the sum of its buckets; samples of torn reads are not.
func TestCountOfAHistogramIsTheSumOfItsBuckets(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Ledger.Sizes = true })
	torn := bulk("write_bytes", map[uint8]uint64{12: 3, 20: 4})
	torn.Samples, torn.Sum = 9, 1000
	r.add(ost0Name, stats(entry("1:2000:a", born, torn)))
	p, err := r.c.Observe(t.Context(), collector.Client{})
	if err != nil {
		t.Fatal(err)
	}
	h := checkFamilies(t, "torn", p)["lustre_job_write_size_bytes"].GetMetric()[0].GetHistogram()
	if h.GetSampleCount() != 7 || h.GetSampleSum() != 1000 || h.GetSchema() != 0 || len(h.Bucket) != 0 {
		t.Errorf("count %d, sum %v, schema %d, %d classic buckets; want 7, 1000, 0, 0", h.GetSampleCount(), h.GetSampleSum(), h.GetSchema(), len(h.Bucket))
	}
	if text := families(t, p, formats()[0]); strings.Contains(string(text), "size_bytes") {
		t.Error("histograms in the text format, which has no native ones")
	}
}

// A forged histogram that counts more than there are numbers costs itself, no other series and no response.
func TestHistogramThatOverflowsIsLeftOut(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Ledger.Sizes = true })
	forged := bulk("read_bytes", map[uint8]uint64{12: 1, 20: 1})
	forged.Hist[0].Count, forged.Hist[1].Count = math.MaxUint64, math.MaxUint64
	r.add(ost0Name, stats(entry("1:2000:a", born, forged), entry("2:2000:a", born, bulk("read_bytes", map[uint8]uint64{9: 5}), bulk("write_bytes", map[uint8]uint64{9: 6}))))
	p, err := r.c.Observe(t.Context(), collector.Client{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e, err := exposition.New(&b, expfmt.FmtProtoDelim)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WriteFamilies(e); !errors.Is(err, exposition.ErrSample) {
		t.Errorf("error %v; want one that tells of what is left out", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("the stream is broken: %v", err)
	}
	counts := map[string]int{}
	d := expfmt.NewDecoder(&b, expfmt.FmtProtoDelim)
	for {
		var f dto.MetricFamily
		if d.Decode(&f) != nil {
			break
		}
		counts[f.GetName()] = len(f.Metric)
	}
	if counts["lustre_job_read_size_bytes"] != 1 || counts["lustre_job_write_size_bytes"] != 1 || counts["lustre_job_operations_total"] != 3 {
		t.Errorf("series %v; want the other entry's histograms, and the operations of both", counts)
	}
}

// Two names that are not UTF-8 would look alike once repaired; they are left out, and everything else is there.
func TestOperationsWithoutAPrintableName(t *testing.T) {
	r := newRig(t)
	r.add(ost0Name, stats(opens("1:2000:a", 3)+"  \xff: { samples: 1, unit: reqs }\n  \xfe: { samples: 1, unit: usecs, min: 1, max: 1, sum: 1, sumsq: 1 }\n", opens("2:2000:a", 4)))
	if s := r.must(); len(s.named(jobOps, "")) != 2 || s.sum(jobOps, ost0Name) != 7 {
		t.Errorf("%v; want the opens of both entries, 7", s.named(jobOps, ""))
	}
}

// broken is a response whose client has gone.
type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, io.ErrClosedPipe
}

func TestClientThatHangsUpEndsWriting(t *testing.T) {
	for _, format := range formats() {
		r := newRig(t, func(c *Config) { c.Ledger.Sizes, c.Ledger.MaxEntries = true, math.MaxInt })
		var text []string
		for _, id := range ids(5000) {
			text = append(text, entry(id, born, manyOps(3)...))
		}
		r.add(ost0Name, stats(text...))
		p, err := r.c.Observe(t.Context(), collector.Client{})
		if err != nil {
			t.Fatal(err)
		}
		var w broken
		e, err := exposition.New(&w, format)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.WriteFamilies(e); !errors.Is(err, io.ErrClosedPipe) || w.writes != 1 {
			t.Errorf("%s: error %v after %d writes; want that of the first write", format, err, w.writes)
		}
	}
}
