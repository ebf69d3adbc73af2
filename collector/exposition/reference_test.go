// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"bytes"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// formats are those a handler may negotiate, with a parameter that must not matter.
var formats = []struct {
	name   string
	format expfmt.Format
}{
	{"text", expfmt.FmtText},
	{"openmetrics-0.0.1", expfmt.FmtOpenMetrics_0_0_1},
	{"openmetrics-1.0.0", expfmt.FmtOpenMetrics_1_0_0 + "; escaping=allow-utf-8"},
	{"protobuf", expfmt.FmtProtoDelim + "; escaping=underscores"},
}

// sample is one series; exactly one of count, float and native is set.
type sample struct {
	before, after []Label
	name, value   string // the variable label; name "" = none
	count         *uint64
	float         *float64
	native        *Native
	created       int64
}

type family struct {
	Family
	samples []sample
}

// produce emits the family, calling Labels only where they change.
func (f family) produce(s *Series) {
	for i, x := range f.samples {
		s.Variable(x.name)
		if i == 0 || !sameLabels(f.samples[i-1], x) {
			s.Labels(x.before, x.after)
		}
		switch {
		case x.count != nil:
			s.Count(x.value, *x.count, x.created)
		case x.float != nil:
			s.Float(x.value, *x.float, x.created)
		default:
			s.Histogram(x.native, x.created)
		}
	}
}

func sameLabels(a, b sample) bool {
	same := func(x, y []Label) bool {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	return same(a.before, b.before) && same(a.after, b.after)
}

// message is the dto that expfmt gets for the same family.
func (f family) message(t testing.TB) *dto.MetricFamily {
	m := &dto.MetricFamily{Name: &f.Name}
	if f.Help != "" {
		m.Help = &f.Help
	}
	if f.Unit != "" {
		m.Unit = &f.Unit
	}
	for _, x := range f.samples {
		metric := &dto.Metric{Label: x.pairs()}
		var created *timestamppb.Timestamp
		if x.created != 0 {
			created = timestamppb.New(time.UnixMilli(x.created))
		}
		var value float64
		if x.count != nil {
			value = float64(*x.count)
		} else if x.float != nil {
			value = *x.float
		}
		switch f.Type {
		case Counter:
			m.Type = dto.MetricType_COUNTER.Enum()
			metric.Counter = &dto.Counter{Value: &value, CreatedTimestamp: created}
		case Gauge:
			m.Type = dto.MetricType_GAUGE.Enum()
			metric.Gauge = &dto.Gauge{Value: &value}
		default:
			m.Type = dto.MetricType_HISTOGRAM.Enum()
			metric.Histogram = clientGolang(t, x.native)
			metric.Histogram.CreatedTimestamp = created
		}
		m.Metric = append(m.Metric, metric)
	}
	return m
}

func (x sample) pairs() []*dto.LabelPair {
	var pairs []*dto.LabelPair
	add := func(labels ...Label) {
		for _, l := range labels {
			pairs = append(pairs, &dto.LabelPair{Name: proto.String(l.Name), Value: proto.String(l.Value)})
		}
	}
	add(x.before...)
	if x.name != "" && x.native == nil {
		add(Label{x.name, x.value})
	}
	add(x.after...)
	return pairs
}

// clientGolang has the reference implementation lay out the buckets.
func clientGolang(t testing.TB, h *Native) *dto.Histogram {
	t.Helper()
	buckets, count := map[int]int64{}, uint64(0)
	for _, b := range h.Buckets {
		if b.Count > 0 {
			buckets[int(b.Index)] = int64(b.Count)
			count += b.Count
		}
	}
	desc := prometheus.NewDesc("h", "", nil, nil)
	metric, err := prometheus.NewConstNativeHistogram(desc, count, h.Sum, buckets, nil, 0, 0, 0, time.Time{})
	if err != nil {
		t.Fatalf("reference histogram: %v", err)
	}
	var m dto.Metric
	if err := metric.Write(&m); err != nil {
		t.Fatalf("reference histogram: %v", err)
	}
	return m.Histogram
}

// want is what expfmt writes, without the families that this package leaves out.
func want(t testing.TB, f expfmt.Format, families []family) []byte {
	t.Helper()
	var b bytes.Buffer
	e := expfmt.NewEncoder(&b, f)
	for _, x := range families {
		skip := x.Type == NativeHistogram && f.FormatType() != expfmt.TypeProtoDelim
		if len(x.samples) == 0 || skip {
			continue
		}
		if err := e.Encode(x.message(t)); err != nil {
			t.Fatalf("expfmt: %v", err)
		}
	}
	return b.Bytes()
}

func got(t testing.TB, f expfmt.Format, families []family) []byte {
	t.Helper()
	var b bytes.Buffer
	e, err := New(&b, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range families {
		if err := e.Family(x.Family, x.produce); err != nil {
			t.Fatalf("Family(%s): %v", x.Name, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return b.Bytes()
}

// checkEqual compares both encoders in every format.
func checkEqual(t *testing.T, families ...family) {
	t.Helper()
	for _, f := range formats {
		w, g := want(t, f.format, families), got(t, f.format, families)
		if !bytes.Equal(w, g) {
			i := 0
			for i < len(w) && i < len(g) && w[i] == g[i] {
				i++
			}
			t.Errorf("%s: differs at byte %d\n got %q\nwant %q", f.name, i, around(g, i), around(w, i))
		}
	}
}

func around(b []byte, i int) []byte {
	return b[max(0, i-60):min(len(b), i+60)]
}

func uints(v uint64) *uint64    { return &v }
func floats(v float64) *float64 { return &v }
func labels(nv ...string) []Label {
	var l []Label
	for i := 0; i < len(nv); i += 2 {
		l = append(l, Label{nv[i], nv[i+1]})
	}
	return l
}
