// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// Each test is a history that a person can follow: steps of one target, and what each response shows.

type entries = []*jobstats.Entry

const second = time.Second

func TestFirstZeroStandsForNineTenths(t *testing.T) {
	a := entry("11:1000:n1", 50, "open 5")
	play(t, nil,
		step{want: ""},
		step{after: 60 * second, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: 54*second - time.Millisecond, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: time.Millisecond, entries: entries{a}, want: "11:n1:1000 open=5"},
	)
}

func TestFirstZeroWaitsForAResponse(t *testing.T) {
	a := entry("11:1000:n1", 50, "open 5")
	play(t, nil,
		step{want: ""},
		step{after: 60 * second, entries: entries{a}, lost: true, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{a}, lost: true, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{a}, want: "11:n1:1000 open=5"},
	)
}

func TestFirstReadStartsAtLustresValue(t *testing.T) {
	play(t, nil,
		step{entries: entries{entry("11:1000:n1", -99, "open 5")}, want: "11:n1:1000 open=5"},
		step{after: second, entries: entries{entry("11:1000:n1", -99, "open 6")}, want: "11:n1:1000 open=6"},
	)
}

func TestEntryOlderThanTheFirstReadWasSkippedByIt(t *testing.T) {
	play(t, nil,
		step{want: ""},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", -9, "open 5")}, want: "11:n1:1000 open=5"},
	)
}

func TestEntryOlderThanAnyIsRememberedOnlyGrows(t *testing.T) {
	play(t, nil,
		step{want: ""}, step{after: 60 * second}, step{after: 60 * second}, step{after: 60 * second}, step{after: 60 * second},
		step{
			after: 60 * second, entries: entries{entry("11:1000:n1", 59, "open 5"), entry("12:1000:n1", 60, "open 6")},
			want: "12:n1:1000 open=0; other:other:1000 open=0",
		},
		step{
			after: 60 * second, entries: entries{entry("11:1000:n1", 59, "open 7"), entry("12:1000:n1", 60, "open 6")},
			want: "12:n1:1000 open=6; other:other:1000 open=2",
		},
	)
}

func TestAbsentEntryIsRememberedAndGoesOn(t *testing.T) {
	play(t, nil,
		step{entries: entries{entry("11:1000:n1", -9, "open 5")}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, want: "11:n1:1000 open=5"},
		step{after: 60 * second, want: ""},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", -9, "open 8")}, want: "11:n1:1000 open=8"},
	)
}

func TestLateOperationIsASeriesOfItsOwn(t *testing.T) {
	late := entry("11:1000:n1", -99, "open 5", "close 2")
	play(t, nil,
		step{entries: entries{entry("11:1000:n1", -99, "open 5")}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, entries: entries{late}, want: "11:n1:1000 open=5 close=0"},
		step{after: 60 * second, entries: entries{late}, want: "11:n1:1000 open=5 close=2"},
	)
}

func TestHeldEntryThatVanishesIsShownToItsEnd(t *testing.T) {
	a := entry("11:1000:n1", 50, "open 5")
	play(t, nil,
		step{want: ""},
		step{after: 60 * second, entries: entries{a}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, want: "11:n1:1000 open=5"},
		step{after: 53 * second, want: "11:n1:1000 open=5"},
		step{after: second, want: ""},
	)
}

func TestEntryThatIsSkippedOnceIsTheSame(t *testing.T) {
	without := func(n string) *jobstats.Entry { return entry("11:1000:n1", noStart, "open "+n) }
	play(t, nil,
		step{entries: entries{without("5")}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, want: "11:n1:1000 open=5"},
		step{after: 60 * second, entries: entries{without("7")}, want: "11:n1:1000 open=7"},
	)
}

func TestWithoutStartTimeAbsenceFromTwoReadsIsTheEnd(t *testing.T) {
	without := func(n string) *jobstats.Entry { return entry("11:1000:n1", noStart, "open "+n) }
	play(t, nil,
		step{entries: entries{without("5")}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, want: "11:n1:1000 open=5"},
		step{after: 60 * second, want: ""},
		step{after: 60 * second, entries: entries{without("7")}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{without("7")}, want: "11:n1:1000 open=7"},
	)
}

func TestWithoutStartTimeAFallIsANewIncarnation(t *testing.T) {
	without := func(n string) *jobstats.Entry { return entry("11:1000:n1", noStart, "open "+n) }
	l := play(t, nil,
		step{entries: entries{without("5")}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, entries: entries{without("3")}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{without("4")}, want: "11:n1:1000 open=4"},
	)
	if got := l.targets["fs-OST0000"].resets; got != 1 {
		t.Errorf("%d resets, want 1", got)
	}
}

func TestStartTimeTellsIncarnationsEvenWhenCountersGrow(t *testing.T) {
	play(t, nil,
		step{entries: entries{entry("11:1000:n1", -9, "open 5")}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 30, "open 8")}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 30, "open 8")}, want: "11:n1:1000 open=8"},
	)
}

func TestWithStartTimeACounterThatFallsAloneIsShownAsItIs(t *testing.T) {
	play(t, nil,
		step{entries: entries{entry("11:1000:n1", -9, "open 5", "close 5")}, want: "11:n1:1000 open=5 close=5"},
		step{after: second, entries: entries{entry("11:1000:n1", -9, "open 5", "close 2")}, want: "11:n1:1000 open=5 close=2"},
		step{after: second, entries: entries{entry("11:1000:n1", -9, "open 5")}, want: "11:n1:1000 open=5 close=0"},
	)
}

func TestNewIncarnationWaitsUntilTheLastValueWasSeen(t *testing.T) {
	first, second1 := entry("11:1000:n1", 50, "open 5"), entry("11:1000:n1", 70, "open 9")
	play(t, nil,
		step{want: ""},
		step{after: 60 * second, entries: entries{first}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{second1}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, entries: entries{second1}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{second1}, want: "11:n1:1000 open=9"},
	)
}

func TestFailedReadChangesNothingAndShowsNothing(t *testing.T) {
	a, b := entry("11:1000:n1", -9, "open 5"), entry("11:1000:n1", -9, "open 8")
	play(t, nil,
		step{entries: entries{a}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, failed: true, want: ""},
		step{after: 60 * second, failed: true, want: ""},
		step{after: 60 * second, entries: entries{b}, want: "11:n1:1000 open=8"},
	)
}

func TestAfterAGap(t *testing.T) {
	old, young := entry("11:1000:n1", 9, "open 5"), entry("12:1000:n1", 180, "open 7")
	play(t, nil,
		step{want: ""},
		step{after: 190 * second, entries: entries{old, young}, want: "11:n1:1000 open=5; 12:n1:1000 open=0"},
	)
	unknown := entry("11:1000:n1", noStart, "open 5")
	play(t, nil,
		step{want: ""},
		step{after: 180 * second, entries: entries{unknown}, want: "11:n1:1000 open=0"},
	)
	play(t, nil,
		step{want: ""},
		step{after: 181 * second, entries: entries{unknown}, want: "11:n1:1000 open=5"},
	)
}

func TestUnmountedTargetIsShownToItsEndAndAllIsNewWhenItReturns(t *testing.T) {
	a := entry("11:1000:n1", -9, "open 5")
	back := entry("11:1000:n1", 100, "open 2")
	play(t, nil,
		step{entries: entries{a, entry("7:0:n1", -9, "open 1")}, want: "11:n1:1000 open=5; system open=0"},
		step{after: 30 * second, away: true, want: "11:n1:1000 open=5; system open=0"},
		step{after: 30 * second, away: true, want: "system open=0"},
		step{after: 60 * second, entries: entries{back}, want: "11:n1:1000 open=0"},
		step{after: 60 * second, entries: entries{back}, want: "11:n1:1000 open=2"},
	)
}

func TestCreatedTimestamps(t *testing.T) {
	created := func(c *Config) { c.FirstZero = Created }
	a := entry("11:1000:n1", 30, "open 5")
	play(t, created,
		step{entries: entries{entry("9:1000:n1", -9, "open 1")}, want: "9:n1:1000 open=1"},
		step{after: 60 * second, entries: entries{a}, want: "11:n1:1000 open=5@30.001; 9:n1:1000 open=1"},
		// It never changes; the late operation begins after the last response.
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 30, "open 9", "close 1")}, want: "11:n1:1000 open=9@30.001 close=1@60.001"},
		// Never so close to the request that the clocks' difference could place it behind the sample.
		step{after: 60 * second, entries: entries{entry("12:1000:n1", 180, "open 3")}, want: "11:n1:1000 open=9@30.001 close=1@60.001; 12:n1:1000 open=3@179"},
	)
}

func TestOffShowsWhatLustreSays(t *testing.T) {
	off := func(c *Config) { c.FirstZero = Off }
	play(t, off,
		step{want: ""},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 30, "open 5")}, want: "11:n1:1000 open=5"},
		step{after: 60 * second, entries: entries{entry("11:1000:n1", 90, "open 2")}, want: "11:n1:1000 open=2"},
		step{after: 60 * second, want: "11:n1:1000 open=2"},
		step{after: 60 * second, want: ""},
	)
}

func TestConfigIsValidated(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"interval":   func(c *Config) { c.ScrapeInterval = 0 },
		"entries":    func(c *Config) { c.MaxEntries = -1 },
		"nodes":      func(c *Config) { c.MaxNodesPerJob = -1 },
		"users":      func(c *Config) { c.MaxUsers = -1 },
		"mode":       func(c *Config) { c.FirstZero = Off + 1 },
		"identifier": func(c *Config) { c.Identifier = nil },
	} {
		cfg := testLedger(t, nil, start()).cfg
		change(&cfg)
		if _, err := New(cfg, start()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for i, name := range []string{"hold", "created", "off"} {
		if mode, err := ParseFirstZero(name); err != nil || mode != FirstZero(i) {
			t.Errorf("%s: %v, %v", name, mode, err)
		}
	}
	if _, err := ParseFirstZero("Hold"); err == nil {
		t.Error("Hold: no error")
	}
}
