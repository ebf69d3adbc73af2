// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
)

func TestNewFormats(t *testing.T) {
	for _, f := range formats {
		if _, err := New(io.Discard, f.format); err != nil {
			t.Errorf("New(%q): %v", f.format, err)
		}
	}
	for _, f := range []expfmt.Format{
		"", expfmt.FmtUnknown, expfmt.FmtProtoText, expfmt.FmtProtoCompact, expfmt.FmtOpenMetrics_2_0_0,
		expfmt.FmtOpenMetrics_2_0_0 + "; escaping=allow-utf-8", "text/plain; version=1.0.0", "text/html",
		"application/openmetrics-text; charset=utf-8", "application/json",
	} {
		if e, err := New(io.Discard, f); !errors.Is(err, ErrFormat) || e != nil {
			t.Errorf("New(%q) = %v, %v, want ErrFormat", f, e, err)
		}
	}
}

func TestInvalidNames(t *testing.T) {
	for _, f := range formats {
		for _, name := range []string{"", "0a", "a b", "ä_total", "a\n", "_total"} {
			var b bytes.Buffer
			e, _ := New(&b, f.format)
			called := false
			err := e.Family(Family{Name: name}, func(s *Series) { called = true; s.Count("", 1, 0) })
			if !errors.Is(err, ErrName) || called {
				t.Errorf("%s: Family(%q) = %v, produced %v", f.name, name, err, called)
			}
			if err := e.Close(); err != nil || b.Len() > 0 {
				t.Errorf("%s: after %q: Close = %v, %d bytes", f.name, name, err, b.Len())
			}
		}
	}
}

// A sample that cannot be written costs itself, not the family nor the stream.
func TestInvalidSamples(t *testing.T) {
	bad := &Native{Buckets: []NativeBucket{{2, 1}, {1, 1}}}
	good := &Native{Buckets: []NativeBucket{{1, 1}}}
	for _, f := range formats {
		var b bytes.Buffer
		e, _ := New(&b, f.format)
		err := e.Family(Family{Name: "a_total", Type: Counter}, func(s *Series) {
			s.Histogram(good, 0)
			s.Count("", 3, 0)
			s.Histogram(good, 0)
		})
		if !errors.Is(err, ErrSample) || !strings.Contains(err.Error(), "2 in a_total") {
			t.Errorf("%s: histograms in a counter: %v", f.name, err)
		}
		err = e.Family(Family{Name: "h", Type: NativeHistogram}, func(s *Series) {
			s.Count("", 1, 0)
			s.Histogram(bad, 0)
			s.Histogram(good, 0)
			s.Float("", 1, 0)
		})
		if proto := f.format.FormatType() == expfmt.TypeProtoDelim; errors.Is(err, ErrSample) != proto {
			t.Errorf("%s: counts in a histogram: %v", f.name, err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("%s: Close: %v", f.name, err)
		}
		w := want(t, f.format, []family{
			{Family{Name: "a_total", Type: Counter}, []sample{{count: uints(3)}}},
			{Family{Name: "h", Type: NativeHistogram}, []sample{{native: good}}},
		})
		if !bytes.Equal(b.Bytes(), w) {
			t.Errorf("%s: got %q, want %q", f.name, b.Bytes(), w)
		}
	}
}

func TestUnstableProducer(t *testing.T) {
	for name, second := range map[string]int{"fewer": 1, "more": 3} {
		var b bytes.Buffer
		e, _ := New(&b, expfmt.FmtProtoDelim)
		calls := []int{2, second}
		err := e.Family(Family{Name: "a_total"}, func(s *Series) {
			n := calls[0]
			calls = calls[1:]
			for range n {
				s.Count("", 1, 0)
			}
		})
		if !errors.Is(err, ErrUnstable) {
			t.Errorf("%s: %v", name, err)
		}
		if err := e.Close(); !errors.Is(err, ErrUnstable) || b.Len() > 0 {
			t.Errorf("%s: Close = %v after %d bytes", name, err, b.Len())
		}
	}
}

var errDisk = errors.New("gone")

// failing takes n bytes and then fails, or writes short without an error.
type failing struct {
	n     int
	short bool
	calls int
}

func (w *failing) Write(p []byte) (int, error) {
	w.calls++
	if len(p) <= w.n {
		w.n -= len(p)
		return len(p), nil
	}
	if w.short {
		return w.n, nil
	}
	return w.n, errDisk
}

func TestWriteErrors(t *testing.T) {
	for _, f := range formats {
		for _, w := range []*failing{{}, {n: 2 * bufferSize}, {short: true}} {
			wanted, first := errDisk, w.n/bufferSize+1
			if w.short {
				wanted = io.ErrShortWrite
			}
			e, _ := New(w, f.format)
			failed := 0
			err := e.Family(Family{Name: "a_total"}, func(s *Series) {
				for range 50_000 {
					s.Labels(labels("a", "value"), nil)
					s.Count("", 1, 0)
					if s.Failed() {
						failed++
					}
				}
			})
			if !errors.Is(err, wanted) || failed == 0 {
				t.Errorf("%s: Family = %v, Failed %d times", f.name, err, failed)
			}
			produced := false
			if err := e.Family(Family{Name: "b_total"}, func(*Series) { produced = true }); !errors.Is(err, wanted) || produced {
				t.Errorf("%s: second Family = %v, produced %v", f.name, err, produced)
			}
			if err := e.Close(); !errors.Is(err, wanted) || w.calls != first {
				t.Errorf("%s: Close = %v, %d writes, want %d", f.name, err, w.calls, first)
			}
		}
	}
}

// A small family's error shows at Close at the latest.
func TestCloseReturnsWriteError(t *testing.T) {
	e, _ := New(&failing{}, expfmt.FmtText)
	if err := e.Family(Family{Name: "a_total"}, func(s *Series) { s.Count("", 1, 0) }); err != nil {
		t.Errorf("Family: %v", err)
	}
	if err := e.Close(); !errors.Is(err, errDisk) {
		t.Errorf("Close: %v", err)
	}
}

// Labels and Variable may come in any order, and slices given are not kept.
func TestCallOrder(t *testing.T) {
	w := family{Family{Name: "a_total"}, []sample{
		{before: labels("a", "1"), name: "op", value: "x", after: labels("z", "2"), count: uints(1)},
		{before: labels("a", "1"), after: labels("z", "2"), count: uints(2)},
		{before: labels("a", "1"), name: "op", value: "y", after: labels("z", "2"), count: uints(3)},
	}}
	for _, f := range formats {
		var b bytes.Buffer
		e, _ := New(&b, f.format)
		for range 2 { // state must not leak into the next family
			if err := e.Family(w.Family, func(s *Series) {
				before, after := labels("a", "1"), labels("z", "2")
				s.Labels(before, after)
				before[0], after[0] = Label{"no", "no"}, Label{"no", "no"}
				s.Variable("op")
				s.Count("x", 1, 0)
				s.Variable("")
				s.Count("x", 2, 0)
				s.Variable("op")
				s.Count("y", 3, 0)
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Errorf("%s: Close: %v", f.name, err)
		}
		if exp := want(t, f.format, []family{w, w}); !bytes.Equal(b.Bytes(), exp) {
			t.Errorf("%s: got %q, want %q", f.name, b.Bytes(), exp)
		}
	}
}
