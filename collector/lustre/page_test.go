// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

// whole is what Collect gives of a target that was read, one that was not, and nothing of one that is unmounted.
const whole = `
# HELP lustre_jobstats_cleanup_interval_seconds The target's job_cleanup_interval: how long idle entries live; 0 means for ever.
# TYPE lustre_jobstats_cleanup_interval_seconds gauge
lustre_jobstats_cleanup_interval_seconds{target="my-fs-MDT0000"} 600
# HELP lustre_jobstats_entries Entries in the last complete read of job_stats, by class of their identifier and kind of their user.
# TYPE lustre_jobstats_entries gauge
lustre_jobstats_entries{class="compute",target="my-fs-MDT0000",users="regular"} 3
lustre_jobstats_entries{class="compute",target="my-fs-MDT0000",users="system"} 1
lustre_jobstats_entries{class="compute_no_job",target="my-fs-MDT0000",users="regular"} 1
lustre_jobstats_entries{class="compute_qualified",target="my-fs-MDT0000",users="regular"} 1
lustre_jobstats_entries{class="login",target="my-fs-MDT0000",users="regular"} 1
lustre_jobstats_entries{class="malformed",target="my-fs-MDT0000",users="unknown"} 2
# HELP lustre_jobstats_folded_entries Living entries without series of their own, which are added up in folded series, and why.
# TYPE lustre_jobstats_folded_entries gauge
lustre_jobstats_folded_entries{reason="labels",target="my-fs-MDT0000"} 0
lustre_jobstats_folded_entries{reason="limit",target="my-fs-MDT0000"} 0
lustre_jobstats_folded_entries{reason="malformed",target="my-fs-MDT0000"} 2
lustre_jobstats_folded_entries{reason="nodes",target="my-fs-MDT0000"} 1
lustre_jobstats_folded_entries{reason="system",target="my-fs-MDT0000"} 1
lustre_jobstats_folded_entries{reason="twin",target="my-fs-MDT0000"} 0
# HELP lustre_jobstats_read_duration_seconds How long the last read of the target's job_stats took.
# TYPE lustre_jobstats_read_duration_seconds gauge
lustre_jobstats_read_duration_seconds{target="my-fs-MDT0000"} 1.5
# HELP lustre_jobstats_resets_total Entries that began anew, and counters that fell alone.
# TYPE lustre_jobstats_resets_total counter
lustre_jobstats_resets_total{target="my-fs-MDT0000"} 2
lustre_jobstats_resets_total{target="scratch-OST0001"} 0
# HELP lustre_jobstats_target_up 1 if the last read of the target's job_stats was complete, 0 if not.
# TYPE lustre_jobstats_target_up gauge
lustre_jobstats_target_up{target="my-fs-MDT0000"} 1
lustre_jobstats_target_up{target="scratch-OST0001"} 0
# HELP lustre_jobstats_text_bytes Length of the target's job_stats at the last read.
# TYPE lustre_jobstats_text_bytes gauge
lustre_jobstats_text_bytes{target="my-fs-MDT0000"} %d
# HELP lustre_jobstats_unparsed_lines_total Lines and entries of job_stats that could not be used.
# TYPE lustre_jobstats_unparsed_lines_total counter
lustre_jobstats_unparsed_lines_total{target="my-fs-MDT0000"} 1
lustre_jobstats_unparsed_lines_total{target="scratch-OST0001"} 0
# HELP lustre_target_info A target of this server: its file system, and whether it holds metadata (mdt) or data (ost). Always 1.
# TYPE lustre_target_info gauge
lustre_target_info{fs="my-fs",kind="mdt",target="my-fs-MDT0000"} 1
lustre_target_info{fs="scratch",kind="ost",target="scratch-OST0001"} 1
`

func TestSmallFamilies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Ledger.MaxNodesPerJob = 2 })
		r.intervals["my-fs-MDT0000"], r.intervals[ost1Name] = 10*time.Minute, 0
		ids := []string{"1:2000:a", "1:2000:b", "1:2000:c", "2:0:a", ":2000:a", "2:2000:a.bullx", "wget.2000", "wget", ""}
		all := func(n uint64) (text []string) {
			for _, id := range ids {
				text = append(text, opens(id, n))
			}
			return text
		}
		v := r.add("my-fs-MDT0000", stats(all(5)...))
		w := r.add(ost1Name, stats())
		gone := r.add(ost2Name, stats(opens("1:2000:a", 1)))
		r.must()
		r.unmount(gone)
		text := stats(slices.Concat(all(6)[:8], []string{"mischief\n"}, []string{opens("", 2)})...)
		r.change(func() { v.slow, v.text, w.openErr = 1500*time.Millisecond, text, errors.New("broken") })
		page, err := r.c.Observe(t.Context(), collector.Client{})
		if err != nil {
			t.Fatal(err)
		}
		if err := testutil.CollectAndCompare(unchecked(page.Collect), strings.NewReader(fmt.Sprintf(whole, len(text)))); err != nil {
			t.Error(err)
		}
		if problems, err := testutil.CollectAndLint(unchecked(page.Collect)); err != nil || len(problems) > 0 {
			t.Errorf("promlint: %v %v", problems, err)
		}
	})
}

func TestNothingToShow(t *testing.T) {
	r := newRig(t)
	if s := r.must(); len(s) != 0 {
		t.Errorf("no Lustre, and shows %v", s)
	}
	if r.c.Name() != "lustre" {
		t.Errorf("named %q", r.c.Name())
	}
}

// A class stays, at 0, once it was met: a gauge that vanishes would look like one that was never there.
func TestClassesStay(t *testing.T) {
	const name = `lustre_jobstats_entries{class="login",target="scratch-OST0000",users="regular"}`
	r := newRig(t)
	v := r.add(ost0Name, stats(opens("1:2000:a", 1)))
	f := func(text string, want float64, there bool) {
		t.Helper()
		r.change(func() { v.text = text })
		if got, ok := r.must()[name]; got != want || ok != there {
			t.Errorf("%s is %v, %v; want %v, %v", name, got, ok, want, there)
		}
	}
	f(stats(opens("1:2000:a", 1)), 0, false)
	f(stats(opens("wget.2000", 1), opens("ls.2000", 1)), 2, true)
	f(stats(opens("1:2000:a", 1)), 0, true)
}

// A page shows what it showed, whatever is observed after it.
func TestPagesDoNotChange(t *testing.T) {
	r := newRig(t)
	v := r.add(ost0Name, stats(opens("1:2000:a", 1)))
	page, err := r.c.Observe(t.Context(), collector.Client{})
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(r.read(page))
	r.change(func() { v.text = stats(opens("2:2000:b", 100)) + "mischief\n" })
	r.must()
	if after := fmt.Sprint(r.read(page)); after != before {
		t.Errorf("a page showed\n%s and then\n%s", before, after)
	}
}
