// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Tags of io.prometheus.client (client_model v0.6.3, metrics.proto): field number
// and wire type. Fields are written in the order of their numbers, as Go's
// protobuf does.
const (
	tagName  = 1<<3 | wireBytes // LabelPair.name, MetricFamily.name
	tagValue = 2<<3 | wireBytes // LabelPair.value

	tagFamilyHelp   = 2<<3 | wireBytes
	tagFamilyType   = 3<<3 | wireVarint
	tagFamilyMetric = 4<<3 | wireBytes
	tagFamilyUnit   = 5<<3 | wireBytes

	tagMetricLabel     = 1<<3 | wireBytes
	tagMetricGauge     = 2<<3 | wireBytes
	tagMetricCounter   = 3<<3 | wireBytes
	tagMetricHistogram = 7<<3 | wireBytes

	tagDouble         = 1<<3 | wireFixed64 // Gauge.value, Counter.value
	tagCounterCreated = 3<<3 | wireBytes

	tagCount            = 1<<3 | wireVarint
	tagSum              = 2<<3 | wireFixed64
	tagSchema           = 5<<3 | wireVarint
	tagZeroThreshold    = 6<<3 | wireFixed64
	tagZeroCount        = 7<<3 | wireVarint
	tagPositiveSpan     = 12<<3 | wireBytes
	tagPositiveDelta    = 13<<3 | wireVarint // not packed: proto2
	tagHistogramCreated = 15<<3 | wireBytes

	tagOffset = 1<<3 | wireVarint // BucketSpan
	tagLength = 2<<3 | wireVarint

	tagSeconds = 1<<3 | wireVarint // google.protobuf.Timestamp
	tagNanos   = 2<<3 | wireVarint

	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// Values of enum MetricType.
const (
	typeCounter   = 0
	typeGauge     = 1
	typeHistogram = 4
)

// doubleSize is a double with its tag; all tags here are one byte.
const doubleSize = 1 + 8

// protoFamily writes one length-prefixed MetricFamily, the metrics streamed.
func (e *Encoder) protoFamily(s *Series, f Family, produce func(s *Series)) {
	s.start(e, f)
	s.sizing = true
	produce(s)
	s.sizing = false
	if s.size == 0 {
		return
	}
	s.restart()

	frame := 2 // type
	for _, v := range []string{f.Name, f.Help, f.Unit} {
		if v != "" {
			frame += protoStringSize(len(v))
		}
	}
	e.room(binary.MaxVarintLen64 + frame)
	b := binary.AppendUvarint(e.buf, uint64(frame+s.size))
	b = appendProtoString(b, tagName, f.Name)
	if f.Help != "" {
		b = appendProtoString(b, tagFamilyHelp, f.Help)
	}
	e.buf = append(b, tagFamilyType, protoType(f.Type))

	produce(s)
	if e.err == nil && s.written != s.size {
		e.err = ErrUnstable
	}
	if e.err == nil && f.Unit != "" {
		e.room(protoStringSize(len(f.Unit)))
		e.buf = appendProtoString(e.buf, tagFamilyUnit, f.Unit)
	}
}

func protoType(t Type) byte {
	switch t {
	case Gauge:
		return typeGauge
	case NativeHistogram:
		return typeHistogram
	default:
		return typeCounter
	}
}

// metric begins a Metric whose Counter, Gauge or Histogram, called tag, is
// of that size, and writes its labels. It returns false if there is nothing to
// write: in the sizing pass, or if the message would become longer than it
// said it is. Otherwise the encoder's buffer has room for the value.
func (s *Series) metric(variable string, withVariable bool, tag byte, value int) ([]byte, bool) {
	labels, pair := s.labelSize, 0
	if withVariable {
		pair = len(s.variableName) + protoStringSize(len(variable))
		labels += 1 + varintSize(uint64(pair)) + pair
	}
	body := labels + 1 + varintSize(uint64(value)) + value
	all := 1 + varintSize(uint64(body)) + body
	if s.sizing {
		s.size += all
		return nil, false
	}
	s.written += all
	if s.written > s.size {
		s.e.err = ErrUnstable
		return nil, false
	}

	s.e.room(all)
	b := appendVarint(append(s.e.buf, tagFamilyMetric), uint64(body))
	b = append(b, s.before...)
	if withVariable {
		b = appendVarint(append(b, tagMetricLabel), uint64(pair))
		b = append(b, s.variableName...)
		b = appendProtoString(b, tagValue, variable)
	}
	b = append(b, s.after...)
	return appendVarint(append(b, tag), uint64(value)), true
}

// protoValue writes one Metric with a Counter or Gauge.
func (s *Series) protoValue(variable string, value uint64, created int64) {
	tag, size := byte(tagMetricGauge), doubleSize
	counter := s.family.Type == Counter
	if counter {
		tag = tagMetricCounter
		size += s.stampSize(created)
	}
	b, ok := s.metric(variable, s.variable != "", tag, size)
	if !ok {
		return
	}
	b = binary.LittleEndian.AppendUint64(append(b, tagDouble), value)
	if counter && created != 0 {
		b = append(append(b, tagCounterCreated), s.stamp...)
	}
	s.e.buf = b
}

// protoHistogram writes one Metric with the histogram in s.layout. The zero
// bucket is there because native histograms have one; it is empty and has no
// width, as sizes are at least 1.
func (s *Series) protoHistogram(sum float64, created int64) {
	l := &s.layout
	const fixed = doubleSize /* sum */ + 2 /* schema */ + doubleSize /* zero threshold */ + 2 /* zero count */
	size := 1 + varintSize(l.count) + fixed + l.size() + s.stampSize(created)
	b, ok := s.metric("", false, tagMetricHistogram, size)
	if !ok {
		return
	}
	b = appendVarint(append(b, tagCount), l.count)
	b = binary.LittleEndian.AppendUint64(append(b, tagSum), math.Float64bits(sum))
	b = append(b, tagSchema, 0)
	b = append(b, tagZeroThreshold, 0, 0, 0, 0, 0, 0, 0, 0)
	b = append(b, tagZeroCount, 0)
	b = l.append(b)
	if created != 0 {
		b = append(append(b, tagHistogramCreated), s.stamp...)
	}
	s.e.buf = b
}

// size is that of what append appends.
func (l *layout) size() int {
	n := len(l.deltas)
	for _, p := range l.spans {
		n += 2 + p.size()
	}
	return n
}

func (l *layout) append(b []byte) []byte {
	for _, p := range l.spans {
		b = append(b, tagPositiveSpan, byte(p.size()))
		b = appendVarint(append(b, tagOffset), zigzag(int64(p.offset)))
		b = appendVarint(append(b, tagLength), uint64(p.length))
	}
	return append(b, l.deltas...)
}

func (p span) size() int {
	return 1 + varintSize(zigzag(int64(p.offset))) + 1 + varintSize(uint64(p.length))
}

// stampSize returns the size of a created_timestamp field, 0 if there is none,
// and leaves the field in s.stamp. The series of an entry mostly share it.
func (s *Series) stampSize(created int64) int {
	if created == 0 {
		return 0
	}
	if created != s.created {
		s.created = created
		s.stamp = appendTimestamp(s.stamp[:0], created)
	}
	return 1 + len(s.stamp)
}

// appendTimestamp appends a length-prefixed google.protobuf.Timestamp. Its
// fields are proto3's: zero is left out.
func appendTimestamp(b []byte, ms int64) []byte {
	seconds, rest := ms/1000, ms%1000
	if rest < 0 {
		// Nanoseconds count forwards, before the epoch too.
		seconds--
		rest += 1000
	}
	start := len(b)
	b = append(b, 0)
	if seconds != 0 {
		b = appendVarint(append(b, tagSeconds), uint64(seconds))
	}
	if rest != 0 {
		b = appendVarint(append(b, tagNanos), uint64(rest*1e6))
	}
	b[start] = byte(len(b) - start - 1)
	return b
}

func appendProtoLabels(b []byte, labels []Label) []byte {
	for _, l := range labels {
		b = appendVarint(append(b, tagMetricLabel), uint64(protoPairSize(l)))
		b = appendProtoString(b, tagName, l.Name)
		b = appendProtoString(b, tagValue, l.Value)
	}
	return b
}

func protoLabelsSize(labels []Label) int {
	n := 0
	for _, l := range labels {
		n += protoStringSize(protoPairSize(l))
	}
	return n
}

func protoPairSize(l Label) int {
	return protoStringSize(len(l.Name)) + protoStringSize(len(l.Value))
}

// protoStringSize is the size of a length-delimited field of n bytes.
func protoStringSize(n int) int { return 1 + varintSize(uint64(n)) + n }

func appendProtoString(b []byte, tag byte, v string) []byte {
	b = appendVarint(append(b, tag), uint64(len(v)))
	return append(b, v...)
}

// appendVarint is binary.AppendUvarint with the common cases ahead of its loop.
func appendVarint(b []byte, v uint64) []byte {
	if v < 1<<7 {
		return append(b, byte(v))
	}
	if v < 1<<14 {
		return append(b, byte(v)|0x80, byte(v>>7))
	}
	return binary.AppendUvarint(b, v)
}

// varintSize is ceil(bits/7), at least 1, without a division.
func varintSize(v uint64) int { return (9*bits.Len64(v) + 64) >> 6 }

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }
