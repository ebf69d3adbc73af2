// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package exposition writes large metric families to a scrape response as they
// are produced, without an object per series.
//
// Its output is byte for byte what github.com/prometheus/common/expfmt v0.72.1
// writes for the same family, in the Prometheus text format 0.0.4, OpenMetrics
// 0.0.1 and 1.0.0 (without options, so without _created lines) and delimited
// protobuf. It knows these formats and nothing of Lustre.
//
//	e, err := exposition.New(w, format)
//	err = e.Family(family, func(s *exposition.Series) {
//		s.Variable("operation")
//		for _, entry := range entries {
//			s.Labels(entry.before, entry.after)
//			for _, op := range entry.ops {
//				s.Count(op.name, op.value, 0)
//			}
//		}
//	})
//	err = e.Close()
package exposition

import (
	"errors"
	"fmt"
	"io"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Errors that callers may tell apart with errors.Is.
var (
	// ErrFormat is returned by New for a format this package does not write.
	ErrFormat = errors.New("exposition: unsupported format")
	// ErrName is returned by Family for a metric name that is empty or would
	// need quoting; nothing was written.
	ErrName = errors.New("exposition: metric name is not a legacy name")
	// ErrSample is returned by Family when samples were left out because they
	// do not fit the family's type, or because a histogram's buckets are not
	// ascending or overflow. The rest of the family was written and the stream
	// is intact.
	ErrSample = errors.New("exposition: invalid sample left out")
	// ErrUnstable is returned when the two protobuf passes of a producer
	// differ. The message is broken, so the response must be aborted; the
	// encoder writes nothing more.
	ErrUnstable = errors.New("exposition: producer emitted different samples in its second pass")
)

// Type is the metric type of a family.
type Type uint8

// The types that families may have.
const (
	Counter         Type = iota
	NativeHistogram      // sparse histogram, schema 0; exists in protobuf only
	Gauge
)

// Label is one name and value. The name must be legacy-valid
// ([a-zA-Z_][a-zA-Z0-9_]*), which is not checked; the value may be any bytes,
// although Prometheus rejects those that are not UTF-8.
type Label struct{ Name, Value string }

// Family is what the series of one metric share.
type Family struct {
	Name string // complete: counters with _total, and the unit as a suffix
	Help string // "" writes no HELP
	Unit string // "" writes no UNIT; the text format has none
	Type Type
}

// bufferSize makes writes large enough that a compressing or chunking
// writer's cost per call does not matter.
const bufferSize = 64 << 10

type encoding uint8

const (
	text encoding = iota
	openMetrics
	protobuf
)

// Encoder writes families to one response. It is not safe for concurrent use.
type Encoder struct {
	w        io.Writer
	encoding encoding
	buf      []byte
	err      error // first one that left the stream unusable; never cleared
	series   Series
}

// New returns an Encoder that writes to w in format f, as negotiated with
// expfmt. Parameters that only concern names, such as escaping, are accepted
// and change nothing. The error is ErrFormat for any other format, OpenMetrics
// 2.0.0 included.
func New(w io.Writer, f expfmt.Format) (*Encoder, error) {
	enc, ok := encodingOf(f)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrFormat, string(f))
	}
	return &Encoder{w: w, encoding: enc, buf: make([]byte, 0, bufferSize)}, nil
}

func encodingOf(f expfmt.Format) (encoding, bool) {
	switch f.FormatType() {
	case expfmt.TypeTextPlain:
		return text, true
	case expfmt.TypeOpenMetrics:
		// FormatType does not look at the version, and 2.0.0 is written differently.
		v := f.Version()
		return openMetrics, v == expfmt.OpenMetricsVersion_0_0_1 || v == expfmt.OpenMetricsVersion_1_0_0
	case expfmt.TypeProtoDelim:
		return protobuf, true
	default:
		return 0, false
	}
}

// Family writes one family with the series that produce emits. A family without
// series writes nothing at all; a NativeHistogram family writes nothing in the
// text formats, and produce is then not called.
//
// In protobuf produce is called twice, because a message starts with its length,
// and must emit the same both times. It must not call the Encoder, nor keep
// the Series. Output is complete in the underlying writer only after Close.
//
// The error is the first write error of the Encoder, ErrUnstable, ErrName or
// ErrSample; the first two are final: later calls return them and do nothing.
func (e *Encoder) Family(f Family, produce func(s *Series)) error {
	if e.err != nil {
		return e.err
	}
	// OpenMetrics would leave nothing of a counter named like its suffix.
	if !model.LegacyValidation.IsValidMetricName(f.Name) || f.Name == totalSuffix {
		return fmt.Errorf("%w: %q", ErrName, f.Name)
	}
	s := &e.series
	if e.encoding == protobuf {
		e.protoFamily(s, f, produce)
	} else if f.Type != NativeHistogram {
		s.start(e, f)
		produce(s)
	} else {
		return nil
	}
	if e.err != nil {
		return e.err
	}
	if s.invalid > 0 {
		return fmt.Errorf("%w: %d in %s", ErrSample, s.invalid, f.Name)
	}
	return nil
}

// Close writes out what is buffered and returns the Encoder's first error. It
// neither writes OpenMetrics' "# EOF" nor closes the writer: the end of the
// response belongs to the caller, who may have more to write.
func (e *Encoder) Close() error {
	e.flush()
	return e.err
}

// room makes sure that n bytes can be appended to the buffer without growing it.
// The buffer only ever grows for a single series longer than itself.
func (e *Encoder) room(n int) {
	if n <= cap(e.buf)-len(e.buf) {
		return
	}
	e.flush()
	if n > cap(e.buf) {
		e.buf = make([]byte, 0, n)
	}
}

func (e *Encoder) flush() {
	if e.err == nil && len(e.buf) > 0 {
		n, err := e.w.Write(e.buf)
		if err == nil && n < len(e.buf) {
			err = io.ErrShortWrite
		}
		if err != nil {
			e.err = fmt.Errorf("exposition: write: %w", err)
		}
	}
	e.buf = e.buf[:0]
}
