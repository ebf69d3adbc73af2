// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

func TestReadAndWriteOfEachGeneration(t *testing.T) {
	for name, c := range map[string]struct {
		counters []string
		want     string
	}{
		"to 2.5: read is in bytes":              {[]string{"read 3 4096B", "write 2 512B"}, "read=3 read_bytes=4096 write=2 write_bytes=512"},
		"2.6 to 2.13: read_bytes counts RPCs":   {[]string{"read_bytes 3 4096B"}, "read=3 read_bytes=4096"},
		"2.12 MDT: read_bytes in requests":      {[]string{"read_bytes 3"}, "read=3"},
		"from 2.14: read is a line of its own":  {[]string{"read_bytes 3 4096B", "read 4 90us"}, "read_bytes=4096 read=4"},
		"from 2.14: not yet happened":           {[]string{"write_bytes 3 512B", "write 0 0us"}, "write_bytes=512"},
		"an operation never seen before":        {[]string{"levitate 3"}, "levitate=3"},
		"a line said twice: the first is taken": {[]string{"open 3", "open 9"}, "open=3"},
	} {
		t.Run(name, func(t *testing.T) {
			want := "11:n1:1000 " + c.want
			if name == "from 2.14: read is a line of its own" {
				want = "1000 readus=0; " + want
			}
			play(t, nil, step{entries: entries{entry("11:1000:n1", -9, c.counters...)}, want: want})
		})
	}
}

func TestServerTimeIsPerUser(t *testing.T) {
	a, b := entry("11:1000:n1", 50, "open 2 70us"), entry("12:1000:n1", 50, "open 1 30us")
	play(t, nil,
		step{want: ""},
		step{after: 60 * second, entries: entries{a, b}, want: "1000 openus=0; 11:n1:1000 open=0; 12:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{a, b}, want: "1000 openus=100; 11:n1:1000 open=2; 12:n1:1000 open=1"},
	)
	play(t, func(c *Config) { c.JobSeconds = true },
		step{entries: entries{a}, want: "1000 openus=0; 11:n1:1000 open=2 openus=70"})
}

func TestSizes(t *testing.T) {
	e := entry("11:1000:n1", -9, "read_bytes 3 4096B")
	e.Ops[0].Hist = []jobstats.Bucket{{Exp: 10, Count: 2}, {Exp: 11, Count: 1}}
	play(t, func(c *Config) { c.Sizes = true },
		step{entries: entries{e}, want: "11:n1:1000 read=3 read_bytes=4096 read_size10=2 read_size11=1"})
	play(t, nil, step{entries: entries{e}, want: "11:n1:1000 read=3 read_bytes=4096"})
}

func TestDamagedEntryKeepsItsCounters(t *testing.T) {
	damagedEntry := entry("11:1000:n1", noStart, "open 6")
	damagedEntry.Damaged = true
	play(t, nil,
		step{entries: entries{entry("11:1000:n1", noStart, "open 5", "close 4")}, want: "11:n1:1000 open=5 close=4"},
		step{after: second, entries: entries{damagedEntry}, want: "11:n1:1000 open=6 close=4"},
		step{after: second, entries: entries{entry("11:1000:n1", noStart, "open 6", "close 5")}, want: "11:n1:1000 open=6 close=5"},
	)
	// A damaged read line must not make the RPCs of read_bytes the operation's count.
	torn := entry("11:1000:n1", -9, "read_bytes 9 8192B")
	torn.Damaged = true
	play(t, nil,
		step{entries: entries{entry("11:1000:n1", -9, "read_bytes 3 4096B", "read 4")}, want: "11:n1:1000 read_bytes=4096 read=4"},
		step{after: second, entries: entries{torn}, want: "11:n1:1000 read_bytes=8192 read=4"},
	)
}

func TestNamesAreBounded(t *testing.T) {
	l := testLedger(t, nil, start())
	r := l.NewReading()
	var forged []string
	for i := range 300 {
		forged = append(forged, fmt.Sprintf("forged%d 1", i))
	}
	r.Add(entry("11:1000:n1", -9, forged...))
	r.Add(entry("12:1000:n1", -9, "open 1"))
	known := len(knownOperations())
	if got := len(l.Names()); got != maxNames {
		t.Errorf("%d names, want %d", got, maxNames)
	}
	if want := uint64(300 - (maxNames - known)); r.Dropped != want {
		t.Errorf("%d dropped, want %d", r.Dropped, want)
	}
	if got := len(r.of(&r.entries[1])); got != 1 {
		t.Errorf("a real operation after forged ones: %d counters", got)
	}
	if r.Reset(); r.Entries() != 0 || r.Dropped != 0 {
		t.Error("not empty after Reset")
	}
}
