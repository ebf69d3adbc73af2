// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

const (
	mdt0Name = "scratch-MDT0000"
	ost0Name = "scratch-OST0000"
	ost1Name = "scratch-OST0001"
	ost2Name = "scratch-OST0002"
	jobOps   = "lustre_job_operations_total"
)

func identifier(t testing.TB) *jobid.Identifier {
	t.Helper()
	x, err := jobid.New(jobid.Config{Formats: jobid.DefaultFormats()})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// born is when the entries of the tests were created.
const born = 1792000000 * time.Second

// stats is a job_stats text as Lustre 2.16 prints it.
func stats(entries ...string) string { return "job_stats:\n" + strings.Join(entries, "") }

// opens is an entry with so many opens.
func opens(id string, n uint64) string { return opensSince(born, id, n) }

func opensSince(start time.Duration, id string, n uint64) string {
	return entry(id, start, jobstats.Op{Name: []byte("open"), Unit: jobstats.Microseconds, Samples: n, Min: 1, Max: 9, Sum: 5 * n, SumSq: 25 * n, Has: jobstats.HasRange | jobstats.HasSumSq})
}

func entry(id string, start time.Duration, ops ...jobstats.Op) string {
	d, ok := jobstats.DialectNamed("2.16")
	if !ok {
		panic("no dialect 2.16")
	}
	return string(d.AppendEntry(nil, []byte(id), start+time.Hour, start, ops))
}

// bulk is a line about reads or writes, with a histogram of 2^exp: count.
func bulk(name string, buckets map[uint8]uint64) jobstats.Op {
	op := jobstats.Op{Name: []byte(name), Unit: jobstats.Bytes, Has: jobstats.HasRange | jobstats.HasSumSq | jobstats.HasHist, Min: 4096, Max: 1 << 20}
	for exp := range uint8(32) {
		if n := buckets[exp]; n > 0 {
			op.Samples += n
			op.Sum += n << exp
			op.Hist = append(op.Hist, jobstats.Bucket{Exp: exp, Count: n})
		}
	}
	return op
}

// ids returns n identifiers of one user, each of a job of its own.
func ids(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%d:17627127:r01c%02d", 11317000+i, i%48)
	}
	return list
}

// frame is what lctl prints before the text of a target.
func frame(kind, target string) string { return kind + "." + target + ".job_stats=\n" }

// labelOf returns the value of a label in a series' name, "" if there is none.
func labelOf(name, label string) string {
	for _, before := range []string{"{", ","} {
		if _, rest, ok := strings.Cut(name, before+label+`="`); ok {
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
	}
	return ""
}
