// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

// weights are what operations cost a metadata server, in getattrs. They are judgement: changing operations take a
// journal transaction, and no published table was found.
var weights = map[string]int{
	"getattr": 1, "close": 1, "getxattr": 1, "statfs": 1,
	"open":    2,
	"setattr": 3, "setxattr": 3,
	"mknod": 4, "link": 4, "unlink": 4,
	"mkdir": 5, "rmdir": 5,
	"rename": 6,
	"sync":   10,
}

// threshold is one number that decides whether an alert fires.
type threshold struct {
	Title   string // begins a section
	Name    string // lustre:threshold:NAME
	Value   string // as written in PromQL
	Comment []string
}

// thresholds are all of them. [C] is calibrated on Puhti's day, [J] is judgement.
var thresholds = []threshold{
	{"Symptoms: LustreMetadataSlow, LustreDataSlow", "metadata_seconds", "0.01", []string{
		"Mean service time of open, getattr, mknod or unlink that people feel [J].",
	}},
	{"", "data_seconds", "0.2", []string{"The same of a bulk read or write on an OST: some 10 ms to 50 ms on a busy disk [J]."}},
	{"", "slow_factor", "5", []string{"And so many times its own median of a day [J]."}},
	{"", "slow_operations", "10", []string{"And at so many operations per second: the mean of a handful means nothing [J]."}},

	{"Spikes and plateaus of a target: Lustre{Metadata,Data,Request}{Spike,Plateau}", "trend_ratio", "3", []string{
		"Spike: the mean of 10 minutes is so many times the mean of a day. 3 found the 10 true spikes of the day; 1",
		"is crossed by noise alone [C].",
	}},
	{"", "robust_z", "3.5", []string{"Plateau: so many robust standard deviations above the median of a day; marked exactly the 5 h incident [C]."}},
	{"", "target_metadata_load", "0.1", []string{"Floor: busy metadata threads of an MDT (2,000 getattrs per second at the nominal cost) [J]."}},
	{"", "target_bytes", "5e8", []string{"Floor: bytes per second read from or written to an OST (its p99 of the day was 1e9) [C]."}},
	{"", "target_requests", "500", []string{"Floor: read or write requests per second on an OST (its p90 of the day was 529) [C]."}},
	{"", "trend_crossing", "1.5", []string{"Where trend_crossing counts a crossing: annotations of dashboards, no alert."}},

	{"Users: LustreUserMetadataHog, LustreUserBandwidthHog and the ceilings", "user_metadata_load", "0.1", []string{
		"Floor: busy metadata threads that one user causes on an MDT. Calibrated as 2,000 getattrs per second [C].",
	}},
	{"", "user_metadata_share", "0.5", []string{"And so much of the MDT's load. Never alone: the median of the largest share was 0.45 to 0.66 all day [C].",
		"Alerts about a target offer a command for its heaviest user only beyond this share, too.",
	}},
	{"", "baseline_factor", "3", []string{"And the target's total at so many times its median of a day [C]."}},
	{"", "user_bytes", "5e8", []string{"Floor: bytes per second of one user on one OST (p99.9 of users and intervals: 1.4e9) [C]."}},
	{"", "user_bytes_share", "0.5", []string{"And so much of the OST's bytes [C]."}},
	{"", "user_metadata_ceiling", "20000", []string{
		"Ceiling: getattrs per second (weighted operations) of one user on an MDT, whatever the day was like. Catches",
		"who is older than the baseline [J].",
	}},
	{"", "user_bytes_ceiling", "3e9", []string{"Ceiling: bytes per second of one user on one OST; all of an OST at Puhti reached 3.2e9 [C]."}},

	{"How users work: LustreUnstripedFile, LustreSmallIO, LustreFileChurn, LustreOSTImbalance", "stripe_concentration", "0.8", []string{
		"Share of a user's bytes that goes to one OST [J].",
	}},
	{"", "stripe_bytes", "5e8", []string{"At so many bytes per second [C]."}},
	{"", "small_io_bytes", "65536", []string{"Mean bytes per bulk RPC; full ones have 1 MiB and more [J]."}},
	{"", "small_io_requests", "1000", []string{"At so many per second [J]."}},
	{"", "file_churn", "50", []string{"Files made and removed per second by one user on an MDT; all users together: median 26 to 35, p99 180 to 300 [C]."}},
	{"", "ost_imbalance", "6", []string{"The hottest OST against the mean of all; p95 of the day was 5.4 (writes) and 8.7 (reads) [C]."}},
	{"", "ost_imbalance_bytes", "1e9", []string{"And so many bytes per second on it [C]."}},

	{"Data quality", "malformed_ratio", "0.05", []string{"Share of malformed identifiers; 0.011 is normal before LU-16251 is fixed on all clients, 0.3 was a burst [C]."}},
	{"", "no_job_ratio", "0.3", []string{"Share of compute entries without a job id; 0.13 to 0.14 is normal [C]."}},
	{"", "entries", "50", []string{"Targets with fewer entries have no ratios [J]."}},

	{"The exporter itself", "cleanup_fraction", "0.5", []string{
		"Longest scrape interval as a fraction of job_cleanup_interval: beyond it entries come and go unseen.",
	}},
	{"", "scrape_seconds", "5", []string{"A scrape that takes longer is close to Prometheus' default timeout of 10 s."}},
}
