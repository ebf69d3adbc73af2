// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats_test

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// One entry is reused for a whole text, so that reading allocates nothing.
func ExampleScanner() {
	text := `job_stats:
- job_id:          dd.4854
  snapshot_time:   1495525343
  read_bytes:      { samples:       13666, unit: bytes, min: 1048576, max: 2097152, sum:     14330888192 }
  write_bytes:     { samples:        4168, unit: bytes, min:     140, max:16777216, sum:     67455942796 }
  getattr:         { samples:           2, unit:  reqs }
`
	s := jobstats.NewScanner(strings.NewReader(text), jobstats.Options{})
	var e jobstats.Entry
	for s.Next(&e) == jobstats.EntryRead {
		for _, op := range e.Ops {
			fmt.Printf("%s %s: %d samples, %d %s\n", e.ID, op.Name, op.Samples, op.Sum, op.Unit)
		}
	}
	fmt.Println("complete:", s.Err() == nil && !s.Truncated())
	// Output:
	// dd.4854 read_bytes: 13666 samples, 14330888192 bytes
	// dd.4854 write_bytes: 4168 samples, 67455942796 bytes
	// dd.4854 getattr: 2 samples, 0 reqs
	// complete: true
}

// Output of lctl says whose entries follow.
func ExampleScanner_framed() {
	text := `obdfilter.scratch-OST0000.job_cleanup_interval=600
obdfilter.scratch-OST0000.job_stats=job_stats:
obdfilter.scratch-OST0001.job_stats=
job_stats:
- job_id:          bash.0
  snapshot_time:   1495525343
  punch:           { samples:           3, unit:  reqs }
`
	s := jobstats.NewScanner(strings.NewReader(text), jobstats.Options{Framed: true})
	var e jobstats.Entry
	for {
		switch s.Next(&e) {
		case jobstats.FrameRead:
			fmt.Printf("%s %s %q\n", s.Frame().Target, s.Frame().Param, s.Frame().Value)
		case jobstats.EntryRead:
			fmt.Printf("  %s\n", e.ID)
		case jobstats.End:
			return
		}
	}
	// Output:
	// scratch-OST0000 job_cleanup_interval "600"
	// scratch-OST0000 job_stats ""
	// scratch-OST0001 job_stats ""
	//   bash.0
}

// A dialect prints what servers of one generation would.
func ExampleDialect() {
	ops := []jobstats.Op{{Name: []byte("open"), Unit: jobstats.Microseconds, Samples: 3, Min: 20, Max: 95, Sum: 160, SumSq: 10025}}
	for _, name := range []string{"2.14", "2.15.0", "2.16"} {
		d, _ := jobstats.DialectNamed(name)
		os.Stdout.Write(d.AppendEntry(nil, []byte("has sp"), 1896533*time.Second, 1896500*time.Second, ops))
	}
	// Output:
	// - job_id:          has sp
	//   snapshot_time:   1896533
	//   open:            { samples:           3, unit: usecs, min:      20, max:      95, sum:             160, sumsq:              10025 }
	// - job_id:          has sp
	// snapshot_time   : 1896533.000000000 secs.nsecs
	// start_time      : 1896500.000000000 secs.nsecs
	// elapsed_time    : 33.000000000 secs.nsecs
	//   open:            { samples:           3, unit: usecs, min:       20, max:       95, sum:              160, sumsq:              10025 }
	// - job_id:          "has\x20sp"
	//   snapshot_time:   1896533.000000000 secs.nsecs
	//   start_time:      1896500.000000000 secs.nsecs
	//   elapsed_time:    33.000000000 secs.nsecs
	//   open:            { samples:           3, unit: usecs, min:       20, max:       95, sum:              160, sumsq:              10025 }
}
