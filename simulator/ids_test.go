// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestIdentifiers matches what each class tells the servers.
func TestIdentifiers(t *testing.T) {
	c := newCluster(t, Config{Seed: 61, MDTs: 2, OSTs: 6, Entries: 1500, Users: 200})
	c.Step(2 * time.Hour)
	shapes := [numClasses]*regexp.Regexp{
		Login:       regexp.MustCompile(`^.{1,15}\.\d{4,8}$`),
		Compute:     regexp.MustCompile(`^\d{8}:\d{4,8}:r\d\dc\d\d$`),
		NoJob:       regexp.MustCompile(`^:\d{4,8}:r\d\dc\d\d$`),
		Utility:     regexp.MustCompile(`^:\d{4,8}:util\d\d$`),
		SystemJob:   regexp.MustCompile(`^\d{8}:0:r\d\dc\d\d$`),
		SystemNoJob: regexp.MustCompile(`^:\d{1,3}:r\d\dc\d\d$`),
		SystemLogin: regexp.MustCompile(`^(kworker/u?\d+:\d+|[\w()-]+)\.\d{1,3}$`),
		Qualified:   regexp.MustCompile(`^\d{8}:\d{4,8}:r\d\dc\d\d\.bullx$`),
		Truncated:   regexp.MustCompile(`^\d{8}:\d{4,8}:r\d\dc\d\d-gpu-`),
	}
	var seen [numClasses]int
	short := make(map[string]bool)
	var qualified []string
	for k := range c.Truth() {
		seen[k.Class]++
		if shape := shapes[k.Class]; shape != nil && !shape.MatchString(k.Identifier) {
			t.Errorf("%v: %q", k.Class, k.Identifier)
		}
		if k.JobID != "" && k.Class != Malformed && !strings.HasPrefix(k.Identifier, k.JobID+":") {
			t.Errorf("%q is of job %s", k.Identifier, k.JobID)
		}
		switch k.Class {
		case Compute:
			short[k.Target+k.Identifier] = true
		case Qualified:
			qualified = append(qualified, k.Target+strings.TrimSuffix(k.Identifier, domain))
		case Truncated:
			if len(k.Identifier) != maxID && len(k.Identifier) < 28 { // users with short uids are not cut
				t.Errorf("%q is not cut", k.Identifier)
			}
		}
	}
	for class := range numClasses {
		if seen[class] == 0 {
			t.Errorf("no %v", class)
		}
	}
	for _, id := range qualified {
		if !short[id] {
			t.Errorf("%s has no entry of the short name", id)
		}
	}
	if share := float64(seen[Truncated]) / float64(seen[Compute]); share > .02 {
		t.Errorf("%.1f %% of the compute entries are cut", 100*share)
	}
}

// TestMalformations makes all of the catalogue, at its weights.
func TestMalformations(t *testing.T) {
	r := newRand()
	shapes := map[string]*regexp.Regexp{
		"job": regexp.MustCompile(`^7$`), "job:": regexp.MustCompile(`^7:$`), "job:uid": regexp.MustCompile(`^7:1234$`),
		"job:uid:": regexp.MustCompile(`^7:1234:$`), ":uid": regexp.MustCompile(`^:1234$`), "empty": regexp.MustCompile(`^$`),
		"four": regexp.MustCompile(`^:234:1234:n1$`), "name.": regexp.MustCompile(`^[^:]*[^:.\d]\d*\.$`), "": regexp.MustCompile(`^[^:.]+`),
	}
	order := []string{"job", "job:", "job:uid", "job:uid:", ":uid", "empty", "four", "name.", ""}
	seen := make(map[string]int)
	const n = 20000
	for range n {
		id := malformed(r, "7", 1234, "n1")
		for _, name := range order {
			if shapes[name].MatchString(id) {
				seen[name]++
				id = ""
				break
			}
		}
		if id != "" {
			t.Fatalf("%q is of no known kind", id)
		}
	}
	for _, name := range order {
		if seen[name] == 0 {
			t.Errorf("no %q", name)
		}
	}
	near(t, "job alone", float64(seen["job"])/n, 2.6/5.43, .02)
}

func TestTruncated(t *testing.T) {
	f := func(id, want string) {
		t.Helper()
		if got := truncated(id); got != want {
			t.Errorf("%q became %q", id, got)
		}
	}
	f("", "")
	f("11317854:17627127:r01c01.bullx", "11317854:17627127:r01c01.bullx")
	f("11317854:17627127:r01c01.bullx.csc.fi", "11317854:17627127:r01c01.bullx.")
	if got := loginID("a_very_long_executable", 1); got != "a_very_long_exe.1" {
		t.Errorf("comm has at most 15 bytes: %q", got)
	}
}
