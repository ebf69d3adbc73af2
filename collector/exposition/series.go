// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import "math"

// Series takes the series of one family. It is only valid inside the produce
// function that received it. What Labels and Variable set holds until they are
// called again, in any order; a produce function starts with neither.
type Series struct {
	e       *Encoder
	family  Family
	invalid int // samples left out, see ErrSample

	// The labels before and after the variable one, rendered in the wire format
	// (text: each with a leading comma). In the sizing pass only their length.
	before, after []byte
	labelSize     int
	variable      string

	// Text: all of a line that is the same for every sample of these labels.
	head, tail []byte
	begun      bool // HELP and TYPE are written

	// Protobuf.
	sizing       bool
	size         int    // bytes of all metrics, from the first pass
	written      int    // of those, in the second pass
	variableName []byte // LabelPair.name of the variable label
	created      int64  // what stamp holds
	stamp        []byte // created_timestamp, without its tag
	layout       layout
}

func (s *Series) start(e *Encoder, f Family) {
	s.e, s.family, s.invalid = e, f, 0
	s.begun = false
	s.size, s.written = 0, 0
	s.restart()
}

// restart forgets labels, so that both passes of a producer begin alike.
func (s *Series) restart() {
	s.before, s.after, s.labelSize = s.before[:0], s.after[:0], 0
	s.variable, s.variableName = "", s.variableName[:0]
	s.created, s.stamp = 0, s.stamp[:0]
	s.compose()
}

// Labels sets the labels of the samples that follow, except the variable one:
// those whose names sort before and after the variable label's name, each in
// name order. Without a variable label it is before followed by after. They are
// rendered at once and not kept. A label without a value must be left out by the
// caller.
func (s *Series) Labels(before, after []Label) {
	switch {
	case s.e.err != nil:
		return
	case s.e.encoding != protobuf:
		s.before = appendTextLabels(s.before[:0], before)
		s.after = appendTextLabels(s.after[:0], after)
		s.compose()
	case s.sizing:
		s.labelSize = protoLabelsSize(before) + protoLabelsSize(after)
	default:
		s.before = appendProtoLabels(s.before[:0], before)
		s.after = appendProtoLabels(s.after[:0], after)
		s.labelSize = len(s.before) + len(s.after)
	}
}

// Variable names the label whose value is given with each sample; "" means that
// there is none and that the values given are ignored.
func (s *Series) Variable(name string) {
	if name == s.variable {
		return
	}
	s.variable = name
	if s.e.encoding != protobuf {
		s.compose()
		return
	}
	s.variableName = appendProtoString(s.variableName[:0], tagName, name)
}

// Count emits one sample of a Counter or Gauge with an integer value, exact
// below 2^53 as all Prometheus samples. created is when the counter started, in
// ms since the epoch, 0 if unknown; only protobuf counters carry it.
func (s *Series) Count(variable string, v uint64, created int64) {
	if !s.accept(s.family.Type != NativeHistogram) {
		return
	}
	if s.e.encoding == protobuf {
		s.protoValue(variable, math.Float64bits(float64(v)), created)
		return
	}
	b := appendCount(s.line(variable), v, s.e.encoding == openMetrics)
	s.e.buf = append(b, '\n')
}

// Float is Count for a value that is not an integer; NaN and infinities are
// written as they are.
func (s *Series) Float(variable string, v float64, created int64) {
	if !s.accept(s.family.Type != NativeHistogram) {
		return
	}
	if s.e.encoding == protobuf {
		s.protoValue(variable, math.Float64bits(v), created)
		return
	}
	b := appendFloat(s.line(variable), v, s.e.encoding == openMetrics)
	s.e.buf = append(b, '\n')
}

// Histogram emits one native histogram with the labels given to Labels alone:
// the variable label, if one is named, is left out. created is as for Count.
func (s *Series) Histogram(h *Native, created int64) {
	// A NativeHistogram family gets here in protobuf only.
	if s.accept(s.family.Type == NativeHistogram && s.layout.set(h.Buckets)) {
		s.protoHistogram(h.Sum, created)
	}
}

// Failed reports that the response can no longer be written, so that producers
// of many series may stop early. Emitting more is harmless.
func (s *Series) Failed() bool { return s.e.err != nil }

// accept reports whether a sample is to be written at all. Invalid ones are
// counted once, although protobuf producers emit them twice.
func (s *Series) accept(valid bool) bool {
	if s.e.err != nil {
		return false
	}
	if !valid && (s.sizing || s.e.encoding != protobuf) {
		s.invalid++
	}
	return valid
}
