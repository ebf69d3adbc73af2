// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"errors"

	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
)

// firstZero is what the HELP of every job family has to say about the first value of a series.
func firstZero(mode ledger.FirstZero) string {
	if mode == ledger.Hold {
		return " A new series shows 0 for one scrape interval."
	}
	return ""
}

// operationLabel is the label that tells the series of one identity apart.
const operationLabel = "operation"

const (
	labelTarget = "target"
	// microseconds of a second; dividing by it gives the closest float, multiplying does not.
	microseconds = 1e6
)

// WriteFamilies implements collector.Page: the job families, straight from the ledger's sheet.
func (p *page) WriteFamilies(e *exposition.Encoder) error {
	s, held := p.o.sheet, firstZero(p.c.cfg.Ledger.FirstZero)
	families := []struct {
		family exposition.Family
		write  func(*exposition.Series)
	}{
		{exposition.Family{
			Name: "lustre_job_operations_total", Type: exposition.Counter,
			Help: "Operations that a job did on a target, as Lustre counts them; renames are counted again by kind of rename." + held,
		}, operations(s)},
		{exposition.Family{
			Name: "lustre_job_read_bytes_total", Type: exposition.Counter, Help: "Bytes that a job read from a target." + held,
		}, sums(s, ledger.ReadBytes)},
		{exposition.Family{
			Name: "lustre_job_write_bytes_total", Type: exposition.Counter, Help: "Bytes that a job wrote to a target." + held,
		}, sums(s, ledger.WriteBytes)},
		{exposition.Family{
			Name: "lustre_user_operation_seconds_total", Type: exposition.Counter,
			Help: "Time that the server of a target spent on a user's operations (Lustre 2.14 and later)." + held,
		}, seconds(s, func(t *ledger.TargetSheet) *ledger.Rows { return &t.Users })},
		{exposition.Family{
			Name: "lustre_job_operation_seconds_total", Type: exposition.Counter,
			Help: "Time that the server of a target spent on a job's operations (Lustre 2.14 and later)." + held,
		}, seconds(s, func(t *ledger.TargetSheet) *ledger.Rows { return &t.Jobs })},
		{exposition.Family{
			Name: "lustre_job_read_size_bytes", Type: exposition.NativeHistogram, Help: "Sizes of a job's bulk reads from a target (Lustre 2.16 and later)." + held,
		}, sizes(s, ledger.ReadSize, ledger.ReadBytes)},
		{exposition.Family{
			Name: "lustre_job_write_size_bytes", Type: exposition.NativeHistogram, Help: "Sizes of a job's bulk writes to a target (Lustre 2.16 and later)." + held,
		}, sizes(s, ledger.WriteSize, ledger.WriteBytes)},
	}
	var left error
	for _, f := range families {
		switch err := e.Family(f.family, f.write); {
		case errors.Is(err, exposition.ErrSample):
			left = errors.Join(left, err) // a histogram whose forged buckets overflow; the response is whole
		case err != nil:
			return err
		}
	}
	return left
}

// identity renders a row's labels for the encoder, in the order of their names.
type identity struct {
	before, after [jobid.NumLabels + 1]exposition.Label
}

// set gives the encoder the labels of a row, with those behind the variable label apart.
func (id *identity) set(s *exposition.Series, target string, labels jobid.Labels) {
	n := 0
	for l := jobid.Executable; l < jobid.UID; l++ {
		if v := labels.Get(l); v != "" {
			id.before[n] = exposition.Label{Name: l.String(), Value: v}
			n++
		}
	}
	id.after[0] = exposition.Label{Name: labelTarget, Value: target}
	after := id.after[:1]
	if uid := labels.Get(jobid.UID); uid != "" {
		id.after[1] = exposition.Label{Name: jobid.UID.String(), Value: uid}
		after = id.after[:2]
	}
	s.Labels(id.before[:n], after)
}

// each calls write for every cell of a kind, with the row's labels set.
func each(s *exposition.Series, sheet *ledger.Sheet, kind ledger.Kind, rows func(*ledger.TargetSheet) *ledger.Rows,
	write func(c ledger.Cell, created int64),
) {
	var id identity
	for i := range sheet.Targets {
		t := &sheet.Targets[i]
		r := rows(t)
		for row := range r.Len() {
			labels, cells, created := r.Row(row)
			labelled := false
			for c, cell := range cells {
				if cell.Key.Kind() != kind {
					continue
				}
				if !labelled {
					id.set(s, t.Name, labels)
					labelled = true
				}
				write(cell, createdAt(created, c))
			}
			if s.Failed() {
				return
			}
		}
	}
}

func createdAt(created []int64, i int) int64 {
	if created == nil {
		return 0
	}
	return created[i]
}

func jobs(t *ledger.TargetSheet) *ledger.Rows { return &t.Jobs }

func operations(sheet *ledger.Sheet) func(*exposition.Series) {
	return func(s *exposition.Series) {
		s.Variable(operationLabel)
		each(s, sheet, ledger.Operation, jobs, func(c ledger.Cell, created int64) {
			s.Count(sheet.Names[c.Key.Index()], c.Count, created)
		})
	}
}

func sums(sheet *ledger.Sheet, kind ledger.Kind) func(*exposition.Series) {
	return func(s *exposition.Series) {
		each(s, sheet, kind, jobs, func(c ledger.Cell, created int64) { s.Count("", c.Count, created) })
	}
}

func seconds(sheet *ledger.Sheet, rows func(*ledger.TargetSheet) *ledger.Rows) func(*exposition.Series) {
	return func(s *exposition.Series) {
		s.Variable(operationLabel)
		each(s, sheet, ledger.Microseconds, rows, func(c ledger.Cell, created int64) {
			s.Float(sheet.Names[c.Key.Index()], float64(c.Count)/microseconds, created)
		})
	}
}

// sizes writes one histogram per row. Its count is the sum of its buckets, as Prometheus demands;
// torn reads differ from it.
func sizes(sheet *ledger.Sheet, kind, sum ledger.Kind) func(*exposition.Series) {
	return func(s *exposition.Series) {
		var id identity
		var h exposition.Native
		for i := range sheet.Targets {
			t := &sheet.Targets[i]
			for row := range t.Jobs.Len() {
				labels, cells, created := t.Jobs.Row(row)
				if at := histogram(&h, cells, created, kind, sum); at >= 0 {
					id.set(s, t.Name, labels)
					s.Histogram(&h, at)
				}
			}
			if s.Failed() {
				return
			}
		}
	}
}

// histogram gathers a row's buckets and returns the oldest created timestamp among them, 0 when there
// is none, -1 when there is no histogram.
func histogram(h *exposition.Native, cells []ledger.Cell, created []int64, kind, sum ledger.Kind) int64 {
	h.Sum, h.Buckets = 0, h.Buckets[:0]
	oldest := int64(-1)
	for i, c := range cells {
		switch c.Key.Kind() {
		case sum:
			h.Sum = float64(c.Count)
		case kind:
			h.Buckets = insert(h.Buckets, exposition.NativeBucket{Index: int32(c.Key.Index()), Count: c.Count})
			if at := createdAt(created, i); oldest < 0 || at < oldest {
				oldest = at
			}
		}
	}
	return oldest
}

// insert keeps buckets in order; a bucket that filled late comes late in the row.
func insert(buckets []exposition.NativeBucket, b exposition.NativeBucket) []exposition.NativeBucket {
	buckets = append(buckets, b)
	for i := len(buckets) - 1; i > 0 && buckets[i].Index < buckets[i-1].Index; i-- {
		buckets[i], buckets[i-1] = buckets[i-1], buckets[i]
	}
	return buckets
}
