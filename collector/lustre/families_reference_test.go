// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"bytes"
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
)

// specimen says what a family is, once more and apart from the code: design.md section 3.
type specimen struct {
	name, help string
	kind       ledger.Kind
	users      bool        // of the rows per user
	sum        ledger.Kind // of a histogram
	buckets    bool
}

func specimens(mode ledger.FirstZero) []specimen {
	holds := ""
	if mode == ledger.Hold {
		holds = " A new series shows 0 for one scrape interval."
	}
	return []specimen{
		{name: "lustre_job_operations_total", help: "Operations that a job did on a target, as Lustre counts them; renames are counted again by kind of rename." + holds, kind: ledger.Operation},
		{name: "lustre_job_read_bytes_total", help: "Bytes that a job read from a target." + holds, kind: ledger.ReadBytes},
		{name: "lustre_job_write_bytes_total", help: "Bytes that a job wrote to a target." + holds, kind: ledger.WriteBytes},
		{name: "lustre_user_operation_seconds_total", help: "Time that the server of a target spent on a user's operations (Lustre 2.14 and later)." + holds, kind: ledger.Microseconds, users: true},
		{name: "lustre_job_operation_seconds_total", help: "Time that the server of a target spent on a job's operations (Lustre 2.14 and later)." + holds, kind: ledger.Microseconds},
		{name: "lustre_job_read_size_bytes", help: "Sizes of a job's bulk reads from a target (Lustre 2.16 and later)." + holds, kind: ledger.ReadSize, sum: ledger.ReadBytes, buckets: true},
		{name: "lustre_job_write_size_bytes", help: "Sizes of a job's bulk writes to a target (Lustre 2.16 and later)." + holds, kind: ledger.WriteSize, sum: ledger.WriteBytes, buckets: true},
	}
}

// reference builds the family from a sheet with the objects that common's encoders take.
func (x specimen) reference(t testing.TB, sheet *ledger.Sheet) *dto.MetricFamily {
	t.Helper()
	kind := dto.MetricType_COUNTER
	if x.buckets {
		kind = dto.MetricType_HISTOGRAM
	}
	family := &dto.MetricFamily{Name: &x.name, Help: &x.help, Type: &kind}
	for _, target := range sheet.Targets {
		rows := &target.Jobs
		if x.users {
			rows = &target.Users
		}
		for i := range rows.Len() {
			labels, cells, created := rows.Row(i)
			pairs := pairsOf(target.Name, labels)
			if x.buckets {
				family.Metric = append(family.Metric, x.histogram(t, pairs, cells, created)...)
				continue
			}
			for c, cell := range cells {
				if cell.Key.Kind() == x.kind {
					family.Metric = append(family.Metric, x.counter(sheet, pairs, cell, stamp(created, c)))
				}
			}
		}
	}
	return family
}

func (x specimen) counter(sheet *ledger.Sheet, pairs []*dto.LabelPair, cell ledger.Cell, created int64) *dto.Metric {
	value := float64(cell.Count)
	if x.kind == ledger.Microseconds {
		value /= 1e6
	}
	if x.kind == ledger.Operation || x.kind == ledger.Microseconds {
		pairs = sorted(append(slices.Clone(pairs), pair("operation", sheet.Names[cell.Key.Index()])))
	}
	return &dto.Metric{Label: pairs, Counter: &dto.Counter{Value: &value, CreatedTimestamp: timestamp(created)}}
}

// histogram has client_golang lay out the buckets, and returns nothing for a row without any.
func (x specimen) histogram(t testing.TB, pairs []*dto.LabelPair, cells []ledger.Cell, created []int64) []*dto.Metric {
	t.Helper()
	buckets, count, sum := map[int]int64{}, uint64(0), 0.0
	found, oldest := false, int64(0)
	for i, cell := range cells {
		switch cell.Key.Kind() {
		case x.sum:
			sum = float64(cell.Count)
		case x.kind:
			if at := stamp(created, i); !found || at < oldest {
				oldest = at
			}
			found = true
			if cell.Count > 0 {
				buckets[int(cell.Key.Index())] = int64(cell.Count)
			}
			count += cell.Count
		}
	}
	if !found {
		return nil
	}
	metric, err := prometheus.NewConstNativeHistogram(prometheus.NewDesc("h", "", nil, nil), count, sum, buckets, nil, 0, 0, 0, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var m dto.Metric
	if err := metric.Write(&m); err != nil {
		t.Fatal(err)
	}
	m.Label, m.Histogram.CreatedTimestamp = pairs, timestamp(oldest)
	return []*dto.Metric{&m}
}

func stamp(created []int64, i int) int64 {
	if len(created) == 0 {
		return 0
	}
	return created[i]
}

func timestamp(ms int64) *timestamppb.Timestamp {
	if ms == 0 {
		return nil
	}
	return timestamppb.New(time.UnixMilli(ms))
}

func pairsOf(target string, labels jobid.Labels) []*dto.LabelPair {
	pairs := []*dto.LabelPair{pair("target", target)}
	for l := range jobid.NumLabels {
		if v := labels.Get(l); v != "" {
			pairs = append(pairs, pair(l.String(), v))
		}
	}
	return sorted(pairs)
}

func pair(name, value string) *dto.LabelPair {
	return &dto.LabelPair{Name: proto.String(name), Value: proto.String(value)}
}

func sorted(pairs []*dto.LabelPair) []*dto.LabelPair {
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return pairs
}

// encoded is what common's encoder writes of the families that have series.
func encoded(t testing.TB, format expfmt.Format, p *page) []byte {
	t.Helper()
	var b bytes.Buffer
	e := expfmt.NewEncoder(&b, format)
	for _, x := range specimens(p.c.cfg.Ledger.FirstZero) {
		f := x.reference(t, p.o.sheet)
		if len(f.Metric) == 0 || x.buckets && format.FormatType() != expfmt.TypeProtoDelim {
			continue
		}
		if err := e.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
