// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// testLedger returns a ledger with the defaults, changed as change says.
func testLedger(tb testing.TB, change func(*Config), now time.Time) *Ledger {
	tb.Helper()
	identifier, err := jobid.New(jobid.Config{Formats: jobid.DefaultFormats(), FirstUID: 1000})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := Config{
		ScrapeInterval: testInterval, MaxEntries: DefaultMaxEntries, MaxNodesPerJob: DefaultMaxNodesPerJob,
		MaxUsers: DefaultMaxUsers, Identifier: identifier,
	}
	if change != nil {
		change(&cfg)
	}
	l, err := New(cfg, now)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// start is when the ledgers of the tests begin.
func start() time.Time { return time.Unix(1_700_000_000, 0) }

// entry makes an entry that began some seconds after start; noStart leaves the line out. A counter is
// "open 5", "open 5 90us" or "read_bytes 3 4096B".
func entry(id string, began int, counters ...string) *jobstats.Entry {
	e := &jobstats.Entry{ID: []byte(id)}
	if began != noStart {
		e.Start = fmt.Appendf(nil, "%d.%09d", start().Unix()+int64(began), 0)
	}
	for _, c := range counters {
		f := append(strings.Fields(c), "")
		op := jobstats.Op{Name: []byte(f[0]), Unit: jobstats.Requests}
		fmt.Sscan(f[1], &op.Samples)
		switch {
		case strings.HasSuffix(f[2], "us"):
			op.Unit = jobstats.Microseconds
		case strings.HasSuffix(f[2], "B"):
			op.Unit = jobstats.Bytes
		}
		fmt.Sscanf(f[2], "%d", &op.Sum)
		e.Ops = append(e.Ops, op)
	}
	return e
}

const noStart = -1 << 40

// step is one request to the exporter.
type step struct {
	after   time.Duration // since the step before
	entries []*jobstats.Entry
	failed  bool // the read was
	away    bool // the target is not mounted
	lost    bool // the response is
	client  int  // 0 and 1 are scrapers, 2 is curl
	want    string
}

// play runs steps on one target and compares what each response shows.
func play(t *testing.T, change func(*Config), steps ...step) *Ledger {
	t.Helper()
	now := start()
	l := testLedger(t, change, now)
	for i, s := range steps {
		now = now.Add(s.after)
		receipt := l.Ask(Client{Addr: fmt.Sprintf("10.0.0.%d:9", s.client), Agent: "x", Scraper: s.client < 2}, now)
		o := Observation{Time: now, Discovered: true}
		if !s.away {
			o.Reads = []Read{{Target: "fs-OST0000", Kind: "ost"}}
		}
		if !s.away && !s.failed {
			r := l.NewReading()
			for _, e := range s.entries {
				r.Add(e)
			}
			o.Reads[0].Reading = r
		}
		sheet := l.Observe(o)
		if !s.lost {
			l.Served(receipt, sheet)
		}
		if got := show(l, sheet); got != s.want {
			t.Fatalf("step %d:\n got %s\nwant %s", i, got, s.want)
		}
	}
	return l
}

// show renders the job series of a sheet: labels, counters, and created timestamps in seconds since
// start.
func show(l *Ledger, s *Sheet) string {
	var lines []string
	for i := range s.Targets {
		for _, rows := range []*Rows{&s.Targets[i].Jobs, &s.Targets[i].Users} {
			for row := range rows.Len() {
				lines = append(lines, showRow(l, rows, row))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func showRow(l *Ledger, rows *Rows, row int) string {
	labels, cells, created := rows.Row(row)
	var out []string
	for _, v := range labels.Values() {
		if v != "" {
			out = append(out, v)
		}
	}
	line := strings.Join(out, ":")
	for i, c := range cells {
		name := [numKinds]string{"", "read_bytes", "write_bytes", "us", "read_size", "write_size"}[c.Key.Kind()]
		if k := c.Key.Kind(); k == Operation || k == Microseconds {
			name = l.Names()[c.Key.Index()] + name
		} else if k >= ReadSize {
			name += fmt.Sprint(c.Key.Index())
		}
		line += fmt.Sprintf(" %s=%d", name, c.Count)
		if created != nil && created[i] != 0 {
			line += fmt.Sprintf("@%g", float64(created[i]-start().UnixMilli())/1000)
		}
	}
	return line
}
