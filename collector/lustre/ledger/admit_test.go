// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"testing"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// identifying changes how identifiers are judged.
func identifying(tb testing.TB, change func(*jobid.Config)) func(*Config) {
	tb.Helper()
	cfg := jobid.Config{Formats: jobid.DefaultFormats(), FirstUID: 1000}
	change(&cfg)
	identifier, err := jobid.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return func(c *Config) { c.Identifier = identifier }
}

func wantReasons(t *testing.T, l *Ledger, want map[Reason]int) {
	t.Helper()
	got := l.targets["fs-OST0000"].counts.folded
	for r := None; r < numReasons; r++ {
		if got[r] != want[r] {
			t.Errorf("%s: %d entries, want %d", r, got[r], want[r])
		}
	}
}

func TestEntriesBeyondTheLimitFoldPerUser(t *testing.T) {
	one := func(c *Config) { c.MaxEntries = 1 }
	l := play(t, one,
		step{want: ""},
		step{
			after: 60 * second, entries: entries{entry("11:1000:n1", 50, "open 1"), entry("12:1000:n1", 50, "open 2"), entry("13:1001:n1", 50, "open 4")},
			want: "11:n1:1000 open=0; other:other:1000 open=0; other:other:1001 open=0",
		},
		step{
			after: 60 * second, entries: entries{entry("11:1000:n1", 50, "open 1"), entry("12:1000:n1", 50, "open 3"), entry("14:1000:n1", 110, "open 5")},
			want: "11:n1:1000 open=1; other:other:1000 open=8; other:other:1001 open=4",
		},
	)
	wantReasons(t, l, map[Reason]int{LimitReason: 2})
}

func TestFirstValueEntersAnExposedSumAtOnce(t *testing.T) {
	a, b := entry("7:0:n1", 50, "open 5"), entry("8:12:n1", 110, "open 3")
	play(t, nil,
		step{want: ""},
		step{after: 60 * second, entries: entries{a}, want: "system open=0"},
		step{after: 60 * second, entries: entries{a, b}, want: "system open=8"},
		// A sum never falls.
		step{after: 60 * second, entries: entries{entry("7:0:n1", 170, "open 1")}, want: "system open=9"},
	)
}

func TestNodesOfOneJob(t *testing.T) {
	one := func(c *Config) { c.MaxNodesPerJob = 1 }
	nodes := entries{entry("11:1000:n1", 50, "open 1"), entry("11:1000:n2", 50, "open 2"), entry("11:1000:n3", 50, "open 4"), entry("wget.1000", 50, "open 8")}
	l := play(t, one,
		step{want: ""},
		step{after: 60 * second, entries: nodes, want: "11:n1:1000 open=0; 11:other:1000 open=0; wget:login:1000 open=0"},
		step{after: 60 * second, entries: nodes, want: "11:n1:1000 open=1; 11:other:1000 open=6; wget:login:1000 open=8"},
	)
	wantReasons(t, l, map[Reason]int{NodesReason: 2})
}

// A job and a target at their bounds keep their series when everything is cleared and back.
func TestWhoReturnsAtTheBoundKeepsItsSeries(t *testing.T) {
	one := func(c *Config) { c.MaxNodesPerJob, c.MaxEntries = 1, 1 }
	l := play(t, one,
		step{want: ""},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 50, "open 1")}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 50, "open 1")}, want: "11:n1:1000 open=1"},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 150, "open 3")}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 150, "open 3")}, want: "11:n1:1000 open=3"},
	)
	wantReasons(t, l, map[Reason]int{})
}

func TestUsersBeyondTheBoundAreUnknown(t *testing.T) {
	two := func(c *Config) { c.MaxUsers = 2 }
	l := play(t, two,
		step{
			entries: entries{entry("11:1000:n1", -9, "open 1"), entry("12:1001:n1", -9, "open 2"), entry("13:1002:n1", -9, "open 4")},
			want:    "11:n1:1000 open=1; 12:n1:1001 open=2; unknown open=0",
		},
	)
	wantReasons(t, l, map[Reason]int{LimitReason: 1})
}

func TestDroppedLabelsShareASeries(t *testing.T) {
	byUser := identifying(t, func(c *jobid.Config) { c.Labels = []jobid.Label{jobid.UID} })
	both := entries{entry("11:1000:n1", 50, "open 1"), entry("12:1000:n2", 50, "open 2")}
	l := play(t, byUser,
		step{want: ""},
		step{after: 60 * second, entries: both, want: "1000 open=0"},
		step{after: 60 * second, entries: both, want: "1000 open=3"},
	)
	wantReasons(t, l, map[Reason]int{LabelsReason: 2})
}

func TestTwinOfALivingEntryFolds(t *testing.T) {
	// The same text twice without start_time is one sum, of which only growth counts.
	twice := func(a, b string) entries {
		return entries{entry("11:1000:n1", noStart, "open "+a), entry("11:1000:n1", noStart, "open "+b)}
	}
	l := play(t, nil,
		step{entries: twice("5", "6"), want: "other:other:1000 open=0"},
		step{after: 60 * second, entries: twice("5", "8"), want: "other:other:1000 open=2"},
		step{after: 60 * second, entries: twice("1", "8"), want: "other:other:1000 open=2"},
	)
	wantReasons(t, l, map[Reason]int{TwinReason: 1})
}

func TestYoungerIncarnationSupersedesOneStillListed(t *testing.T) {
	old, fresh := entry("11:1000:n1", -9, "open 5"), entry("11:1000:n1", 50, "open 3")
	play(t, nil,
		step{entries: entries{old}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, entries: entries{old, fresh}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{fresh}, want: "11:n1:1000 open=3"},
	)
}

// Of two incarnations that a first read lists it is not known whose value Prometheus has; but one that
// was shown before stays, and what it just did is not lost.
func TestTwoIncarnationsWithoutAZero(t *testing.T) {
	old, fresh := entry("11:1000:n1", -99, "open 5"), entry("11:1000:n1", -9, "open 3")
	grown := entry("11:1000:n1", -99, "open 5", "close 2")
	play(t, nil,
		step{entries: entries{old, fresh}, want: "other:other:1000 open=0"},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", -9, "open 4")}, want: "other:other:1000 open=1"},
	)
	boot := func(e *jobstats.Entry, seconds string) *jobstats.Entry {
		e.Start = []byte(seconds)
		return e
	}
	played := entries{boot(grown, "100.000000000"), boot(fresh, "400.000000000")}
	play(t, nil,
		step{entries: entries{boot(old, "100.000000000")}, want: "11:n1:1000 open=5"},
		step{after: 240 * second, entries: played, want: "11:n1:1000 open=5 close=0; other:other:1000 open=0"},
		step{after: 60 * second, entries: played, want: "11:n1:1000 open=5 close=2; other:other:1000 open=0"},
	)
}

func TestPoliciesForSystemAndMalformed(t *testing.T) {
	both := entries{entry("7:0:n1", 50, "open 5"), entry("garbage", 50, "open 3")}
	for policy, c := range map[jobid.Policy]struct {
		want    string
		reasons map[Reason]int
	}{
		jobid.PolicyFold: {"system open=0; unknown open=0", map[Reason]int{SystemReason: 1, MalformedReason: 1}},
		jobid.PolicyDrop: {"", map[Reason]int{DropReason: 2}},
	} {
		l := play(t, identifying(t, func(c *jobid.Config) { c.System, c.Malformed = policy, policy }),
			step{want: ""}, step{after: 60 * second, entries: both, want: c.want})
		wantReasons(t, l, c.reasons)
	}
	play(t, identifying(t, func(c *jobid.Config) { c.System = jobid.PolicyKeep }),
		step{want: ""}, step{after: 60 * second, entries: both[:1], want: "7:n1:0 open=0"})
}
