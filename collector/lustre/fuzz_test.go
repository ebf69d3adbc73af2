// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// FuzzScrape reads any bytes as job_stats, twice, the first time only a part. Whatever they are, what is shown
// must be something that Prometheus takes.
func FuzzScrape(f *testing.F) {
	samples, err := filepath.Glob("../../testdata/jobstats/*.txt")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for i, name := range samples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint16(len(text)/2), uint8(i))
	}
	// Small ones: the fuzzer mutates, and minimizes, what it is given.
	all := hostileIDs()
	for i := range uint8(32) {
		var hostile bytes.Buffer
		for _, id := range all[i*4 : i*4+8] {
			hostile.WriteString(raw(id, manyOps(uint64(i) + 1)[:1+i%4]...))
		}
		f.Add(hostile.Bytes(), uint16(hostile.Len()/2), i)
		f.Add([]byte(three(3)), uint16(200), i)
	}
	f.Add([]byte("- job_id: a\nmdt..job_stats=\nobdfilter.\xff.job_stats=\n- job_id: a\n"), uint16(0), uint8(1))
	f.Add([]byte("mdt.x.job_stats=\n- job_id: \n  \xff: { samples: 1, unit: reqs }\n  \": { samples: 18446744073709551615, unit: \n }\n"), uint16(0), uint8(5))

	keep, err := jobid.New(jobid.Config{Formats: jobid.DefaultFormats(), System: jobid.PolicyKeep, Malformed: jobid.PolicyKeep})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, first uint16, how uint8) {
		if len(text) > 32<<10 {
			t.Skip("large texts only take long")
		}
		r := newRig(t, func(c *Config) {
			c.Ledger.FirstZero = ledger.FirstZero(how >> 1 % 3)
			c.Ledger.Sizes, c.Ledger.JobSeconds = true, true
			if how&8 != 0 {
				c.Ledger.Identifier = keep
			}
			if how&16 != 0 {
				c.Ledger.MaxEntries, c.Ledger.MaxUsers, c.Ledger.MaxNodesPerJob = 2, 2, 1
			}
		})
		v := r.mount(&volume{target: source.Target{Name: ost0Name, Kind: source.KindOST}, framed: how&1 != 0})
		for _, part := range [][]byte{text[:min(int(first), len(text))], text, text} {
			r.change(func() { v.text = string(part) })
			p, _ := r.c.Observe(t.Context(), collector.Client{Addr: "192.0.2.1:1", Scraper: true}) // a framed text may be cut
			checkScrape(t, r, p)
			p.Served()
		}
	})
}

func checkScrape(t *testing.T, r *rig, p collector.Page) {
	t.Helper()
	r.read(p)
	for _, format := range formats() {
		var b bytes.Buffer
		e, err := exposition.New(&b, format)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.WriteFamilies(e), e.Close()); err != nil && !errors.Is(err, exposition.ErrSample) {
			t.Fatalf("%s: %v", format, err)
		}
		if format.FormatType() != expfmt.TypeProtoDelim {
			if !utf8.Valid(b.Bytes()) {
				t.Fatalf("%s: not UTF-8: %q", format, b.Bytes())
			}
			continue
		}
		d := expfmt.NewDecoder(&b, format)
		for {
			var f dto.MetricFamily
			if err := d.Decode(&f); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("protobuf: %v", err)
			}
		}
	}
}
