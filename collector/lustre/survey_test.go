// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/source"
)

// scripted is a source that says what a test wants.
type scripted struct {
	streams []source.Stream
	err     error
}

func (s *scripted) Name() string                                        { return "scripted" }
func (s *scripted) Discover(context.Context) ([]source.Stream, error)   { return s.streams, s.err }
func (s *scripted) CleanupInterval(source.Target) (time.Duration, bool) { return 0, false }
func (s *scripted) add(t source.Target, framed bool, text string, closeErr error) {
	s.streams = append(s.streams, source.Stream{Target: t, Framed: framed, Open: func(context.Context) (io.ReadCloser, error) {
		return &ended{Reader: strings.NewReader(text), err: closeErr}, nil
	}})
}

// ended is a stream that says something when it is closed.
type ended struct {
	io.Reader
	err error
}

func (e *ended) Close() error { return e.err }

// failing is a reader that fails after its text.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func surveyConfig(t *testing.T, s source.Source) Config {
	t.Helper()
	x, err := jobid.New(jobid.Config{Formats: jobid.DefaultFormats()})
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Source:              s,
		ReadTimeout:         DefaultReadTimeout,
		ObservationInterval: DefaultObservationInterval,
		Ledger: ledger.Config{
			ScrapeInterval: ledger.DefaultScrapeInterval, MaxEntries: ledger.DefaultMaxEntries, MaxNodesPerJob: ledger.DefaultMaxNodesPerJob,
			MaxUsers: ledger.DefaultMaxUsers, Identifier: x,
		},
	}
}

func survey(t *testing.T, s source.Source) *Report {
	t.Helper()
	r, err := Survey(t.Context(), surveyConfig(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const oneOp = "  open:            { samples:           3, unit: usecs, min:       20, max:       95, sum:              160, sumsq:              10025 }\n"

func entries(ids ...string) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "- job_id:          %s\n  snapshot_time:   1723114647.887515895 secs.nsecs\n  start_time:      1723102025.057286226 secs.nsecs\n%s", id, oneOp)
	}
	return b.String()
}

var mdt0 = source.Target{Name: "scratch-MDT0000", Kind: source.KindMDT}

func TestSurveyCountsAndExplains(t *testing.T) {
	s := &scripted{}
	s.add(mdt0, false, "job_stats:\n"+entries(
		"11317854:17627127:r01c01", "11317855:17627127:r01c01.bullx", "11317856:17627127:r01c01.bullx", "11317857:17627127:r01c02.bullx",
		"wget.0", "11317854", "11317854:17627127:")+"  garbage\n", nil)
	r := survey(t, s)
	want := TargetReport{
		Name: "scratch-MDT0000", FS: "scratch", Kind: "mdt", Lines: 30, Unparsed: 1, Entries: 7,
		// One operation for each of the 4 own and 2 folded, and its time for each of 3 users.
		Series: 6 + 3,
		Classes: []ClassReport{
			{"compute", "regular", 1}, {"compute_qualified", "regular", 3}, {"login", "system", 1}, {"malformed", "unknown", 2},
		},
		Folded: []FoldReport{{"system", 1}, {"malformed", 2}},
		Oddities: []OddityReport{
			{
				Class: "compute_qualified", Reason: "qualified host name", Entries: 3,
				Examples: []string{"11317855:17627127:r01c01.bullx", "11317856:17627127:r01c01.bullx", "11317857:17627127:r01c02.bullx"},
				Nodes:    []NodeReport{{"r01c01.bullx", 2}, {"r01c02.bullx", 1}},
			},
			{Class: "malformed", Reason: "no format matches: host missing", Entries: 1, Examples: []string{"11317854:17627127:"}, Nodes: []NodeReport{}},
			{Class: "malformed", Reason: "no format matches: job id only", Entries: 1, Examples: []string{"11317854"}, Nodes: []NodeReport{}},
		},
	}
	if len(r.Targets) != 1 || !reflect.DeepEqual(r.Targets[0], want) {
		t.Errorf("got  %+v\nwant %+v", r.Targets, want)
	}
	if !r.Complete() || r.Source != "scripted" {
		t.Errorf("got %+v", r)
	}
}

func TestSurveyKeepsFewExamples(t *testing.T) {
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("%d:1000:n%02d.domain", i, i%10), "4711")
	}
	s := &scripted{}
	s.add(mdt0, false, entries(ids...), nil)
	odd := survey(t, s).Targets[0].Oddities
	if len(odd) != 2 || len(odd[0].Examples) != 5 || len(odd[0].Nodes) != 5 || odd[0].Entries != 100 || odd[0].Nodes[0] != (NodeReport{"n00.domain", 10}) {
		t.Errorf("got %+v", odd)
	}
	// The same identifier again is no further example.
	if odd[1].Entries != 100 || len(odd[1].Examples) != 1 {
		t.Errorf("got %+v", odd[1])
	}
}

func TestSurveyOfFramedText(t *testing.T) {
	s := &scripted{}
	s.add(source.Target{}, true, "# lctl get_param\n"+
		"mdt.scratch-MDT0000.job_stats=\njob_stats:\n"+entries("1:1000:a", "2:1000:a")+"mdt.scratch-MDT0000.job_cleanup_interval=600\n"+
		"obdfilter.scratch-OST0001.job_stats=\njob_stats:\n"+entries("1:1000:a")+"  nonsense\n"+
		"obdfilter.scratch-OST0000.job_stats=\n", nil)
	r := survey(t, s)
	type row struct {
		name, kind string
		entries    int
		unparsed   uint64
	}
	var got []row
	for i := range r.Targets {
		f := &r.Targets[i]
		got = append(got, row{f.Name, f.Kind, f.Entries, f.Unparsed})
	}
	// What comes before the first frame is attributed to its target.
	want := []row{{"scratch-MDT0000", "mdt", 2, 1}, {"scratch-OST0000", "ost", 0, 0}, {"scratch-OST0001", "ost", 1, 1}}
	if !reflect.DeepEqual(got, want) || !r.Complete() {
		t.Errorf("got %+v, want %+v", got, want)
	}
	total := r.Total()
	if total.Entries != 3 || total.Unparsed != 2 || total.Series != r.Targets[0].Series+r.Targets[2].Series ||
		!reflect.DeepEqual(total.Classes, []ClassReport{{"compute", "regular", 3}}) {
		t.Errorf("total %+v", total)
	}
}

func TestSurveyOfTextWithoutFraming(t *testing.T) {
	f := func(text, wantName string, wantEntries int) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "dump")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := survey(t, source.NewFile(path, source.Target{}))
		if len(r.Targets) != 1 || r.Targets[0].Name != wantName || r.Targets[0].Entries != wantEntries || !r.Complete() {
			t.Errorf("%q: got %+v", text, r)
		}
	}
	f("", "unknown", 0)
	f("job_stats:\n", "unknown", 0)
	f("nothing\nof\nours\n", "unknown", 0)
	f(entries("1:1000:a"), "unknown", 1)
	f("obdfilter.scratch-OST0000.job_stats=\n"+entries("1:1000:a"), "scratch-OST0000", 1)
}

func TestSurveyTellsWhatCannotBeRead(t *testing.T) {
	broken := errors.New("input/output error")
	reads := func(text string, err error) func(context.Context) (io.ReadCloser, error) {
		return func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(text), failing{err})), nil
		}
	}
	f := func(what, wantTarget, wantProblem string, wantEntries int, s *scripted) {
		t.Helper()
		r := survey(t, s)
		if r.Complete() {
			t.Errorf("%s: complete: %+v", what, r)
		}
		if wantTarget == "" {
			if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], wantProblem) {
				t.Errorf("%s: problems %q", what, r.Problems)
			}
			return
		}
		for i := range r.Targets {
			if f := &r.Targets[i]; f.Name == wantTarget && strings.Contains(f.Problem, wantProblem) && f.Entries == wantEntries {
				return
			}
		}
		t.Errorf("%s: got %+v", what, r)
	}
	f("discovery", "", "no proc", 0, &scripted{err: errors.New("no proc")})
	f("open", mdt0.Name, "input/output", 0, &scripted{streams: []source.Stream{{Target: mdt0, Open: func(context.Context) (io.ReadCloser, error) { return nil, broken }}}})
	f("open of all", "", "input/output", 0, &scripted{streams: []source.Stream{{Framed: true, Open: func(context.Context) (io.ReadCloser, error) { return nil, broken }}}})
	f("read", mdt0.Name, "input/output", 1, &scripted{streams: []source.Stream{{Target: mdt0, Open: reads(entries("1:1000:a"), broken)}}})
	f("read of the first", mdt0.Name, "input/output", 0, &scripted{streams: []source.Stream{{Target: mdt0, Open: reads("", broken)}}})

	cut := &scripted{}
	text := entries("1:1000:a", "2:1000:a")
	cut.add(mdt0, false, text[:len(text)-20], nil)
	f("cut short", mdt0.Name, "cut short", 2, cut)

	f("lctl", "scratch-OST0007", "lctl said", 0, lctlSays(&source.LctlError{
		Unreadable: []source.Target{{Name: "scratch-OST0007", Kind: source.KindOST}}, Stderr: "error: get_param: x",
	}))
	f("lctl killed", "", "deadline", 0, lctlSays(&source.LctlError{Killed: true, Err: errors.New("deadline")}))
	f("another error at the end", mdt0.Name, "input/output", 1, lctlSays(broken))

	limited := &scripted{}
	limited.add(mdt0, false, entries("1:1000:a", "2:1000:a"), nil)
	c := surveyConfig(t, limited)
	c.MaxTargetEntries = 1
	r, err := Survey(t.Context(), c)
	if err != nil || r.Complete() || r.Targets[0].Entries != 1 || !strings.Contains(r.Targets[0].Problem, "limit") {
		t.Errorf("limit: %+v, %v", r, err)
	}
}

func lctlSays(err error) *scripted {
	s := &scripted{}
	s.add(source.Target{}, true, "mdt.scratch-MDT0000.job_stats=\n"+entries("1:1000:a"), err)
	return s
}

// A target that is unmounted meanwhile is absent, and nobody's failure.
func TestSurveyOfATargetThatIsGone(t *testing.T) {
	gone := fmt.Errorf("%w: x", source.ErrGone)
	s := &scripted{streams: []source.Stream{
		{Target: mdt0, Open: func(context.Context) (io.ReadCloser, error) { return nil, gone }},
		{Target: source.Target{Name: "scratch-MDT0001", Kind: source.KindMDT}, Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(entries("1:1000:a")), failing{gone})), nil
		}},
	}}
	if r := survey(t, s); !r.Complete() || len(r.Targets) != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestSurveyCountsHistogramsOnce(t *testing.T) {
	text := "- job_id: 1:1000:a\n" +
		"  read_bytes:      { samples: 8, unit: bytes, min: 4, max: 4, sum: 32, hist: { 4K: 2, 8K: 3, 1M: 3 } }\n" +
		"  write_bytes:     { samples: 1, unit: bytes, min: 4, max: 4, sum: 32, hist: { 4K: 1 } }\n"
	s := &scripted{}
	s.add(mdt0, false, text, nil)
	c := surveyConfig(t, s)
	plain, err := Survey(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Ledger.Sizes = true
	sized, err := Survey(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if p, s := plain.Targets[0].Series, sized.Targets[0].Series; p != 4 || s != 6 {
		t.Errorf("got %d without and %d with sizes, want 4 and 6", p, s)
	}
}

func TestSurveyRefusesABadConfiguration(t *testing.T) {
	c := surveyConfig(t, &scripted{})
	c.ReadTimeout = 0
	if _, err := Survey(t.Context(), c); err == nil {
		t.Error("no error")
	}
	c = surveyConfig(t, &scripted{})
	c.Ledger.MaxUsers = -1
	if _, err := Survey(t.Context(), c); err == nil {
		t.Error("no error")
	}
}

func TestSurveySurvivesHostileText(t *testing.T) {
	s := &scripted{}
	s.add(mdt0, false, entries("\"\\xff\\x00\"", "\x1b[2J", "", "'", "\"", strings.Repeat("x", 900), strings.Repeat("9", 31))+"\x00\x01\n", nil)
	r := survey(t, s)
	if len(r.Targets) != 1 || r.Targets[0].Entries != 7 || len(r.Targets[0].Oddities) == 0 {
		t.Errorf("got %+v", r)
	}
}
