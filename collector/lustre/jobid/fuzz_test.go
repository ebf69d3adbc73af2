// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// zoo are configurations that differ in everything an identity depends on.
func zoo(t testing.TB) []*Identifier {
	sets := []string{
		"compute=%j:%u:%H login=%e.%u",
		"utility=%j:%u:%H utility:H=^util[0-9]+$ utility:j=[0-9]* compute=%j:%u:%H",
		"exa=%e@%u@%h all=%e.%g.%u.%p:%j:%H",
		"first=%H.%u two=%H-%e",
		"group=%g/%j any=%e",
		"odd=<%%%e--%u--%j]] rest=%j",
	}
	var all []*Identifier
	for _, set := range sets {
		f := formats(t, strings.Fields(set)...)
		all = append(all,
			mustNew(t, Config{Formats: f}),
			mustNew(t, Config{Formats: f, System: PolicyKeep, Malformed: PolicyKeep}),
			mustNew(t, Config{Formats: f, System: PolicyDrop, Malformed: PolicyDrop}),
			mustNew(t, Config{Formats: f, Labels: []Label{NodeName, UID}, Malformed: PolicyKeep}))
	}
	return all
}

func seeds(f *testing.F, add func(id string)) {
	f.Helper()
	for _, id := range []string{
		"11317854:17627127:r01c01", ":17627127:r01c01.bullx", "wget.17627127", "1:17627127:a.2000", "", "\"", `"\x3A"`,
		"12345678:17627127:longhostname12", "1:1000:util7", "cp@1000@n1", "a.b.5.1000.77:3:n1", "100/a", "<%a--1000--7]]",
		"\xff\xfe.1000", "\uFFFD:1000:n1", "other:1000:other", "1:0:n", "n1.d.1000", strings.Repeat("1.", 40), strings.Repeat("a@1", 26),
		strings.Repeat("1", 81), strings.Repeat("\\x41", 90), "n1-\x00\n",
	} {
		add(id)
	}
}

func FuzzIdentify(f *testing.F) {
	seeds(f, func(id string) { f.Add([]byte(id)) })
	all := zoo(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		for _, x := range all {
			i := x.Identify(raw)
			checkIdentity(t, x, Decode(nil, raw), i)
			if again := x.Identify(raw); again != i {
				t.Errorf("%q: %+v, then %+v", raw, i, again)
			}
			if node := x.NodeOf(raw); !utf8.ValidString(node) || !bytes.Contains(Decode(nil, raw), []byte(node)) {
				t.Errorf("%q: node %q", raw, node)
			}
		}
		if !bytes.Equal(before, raw) {
			t.Errorf("%q became %q", before, raw)
		}
	})
}

// checkIdentity holds for every identifier and configuration.
func checkIdentity(t *testing.T, x *Identifier, id []byte, i Identity) {
	t.Helper()
	class := x.Classes()[i.Class]
	values := i.Labels.Values()
	for l, v := range values {
		if !utf8.ValidString(v) {
			t.Errorf("%q: %s %q is not UTF-8", id, Label(l), v)
		}
		if v != "" && !x.keep[l] {
			t.Errorf("%q: %s was left out but is %q", id, Label(l), v)
		}
	}
	if MakeLabels(values) != i.Labels {
		t.Errorf("%q: labels %q are not packed as %q", id, i.Labels, values)
	}
	if i.Exact && (i.Reduced || i.Outcome != Keep) {
		t.Errorf("%q: exact, but %+v", id, i)
	}
	if (class == malformedClass) != (i.Users == Unknown) {
		t.Errorf("%q: class %s, users %s", id, class, i.Users)
	}
	explained := i.Users == Unknown || strings.HasSuffix(class, "_qualified") || strings.HasSuffix(class, "_truncated")
	if explained != (i.Reason != "") {
		t.Errorf("%q: class %s, reason %q", id, class, i.Reason)
	}
	checkUID(t, x, id, i)
	if i.Exact && i.Users != Unknown {
		if text := render(t, x, i); text != string(id) {
			t.Errorf("%q: exact labels %q say %q", id, values, text)
		}
	}
	if i.Exact && i.Users == Unknown && values[JobID] != string(id) {
		t.Errorf("%q: exact, but jobid %q", id, values[JobID])
	}
}

// checkUID: a uid is shown only if the identifier has it as a full run of
// digits, which the cut at 31 bytes did not touch.
func checkUID(t *testing.T, x *Identifier, id []byte, i Identity) {
	t.Helper()
	uid := i.Labels.Get(UID)
	switch {
	case i.Outcome == Drop:
		if i.Labels != "" {
			t.Errorf("%q: dropped with labels %q", id, i.Labels)
		}
		return
	case i.Outcome == Fold:
		want := map[Users]string{System: "system", Unknown: "unknown"}[i.Users]
		if want == "" || i.Labels != MakeLabels([NumLabels]string{UID: want}) {
			t.Errorf("%q: folded into %q", id, i.Labels.Values())
		}
		return
	case i.Users == Unknown || uid == "":
		if i.Users == Unknown && uid != "unknown" {
			t.Errorf("%q: malformed with uid %q", id, uid)
		}
		return
	}
	n, ok := parseNumber([]byte(uid))
	if !ok || (n < x.firstUID) != (i.Users == System) {
		t.Errorf("%q: uid %q, users %s", id, uid, i.Users)
	}
	for _, run := range digitRuns(id) {
		if string(id[run.lo:run.hi]) == uid && (len(id) < idSize || int(run.hi) < len(id)) {
			return
		}
	}
	t.Errorf("%q: uid %q is not in it", id, uid)
}

func digitRuns(id []byte) (runs []span) {
	for lo := 0; lo < len(id); lo++ {
		hi := lo
		for hi < len(id) && isDigit(id[hi]) {
			hi++
		}
		if hi > lo {
			runs = append(runs, span{uint8(lo), uint8(hi)})
			lo = hi
		}
	}
	return runs
}

// render writes the identifier that exact labels stand for. It knows nothing of
// how identifiers are split, so it proves that labels determine them.
func render(t *testing.T, x *Identifier, i Identity) string {
	t.Helper()
	class, values := x.Classes()[i.Class], i.Labels.Values()
	for _, r := range x.formats {
		suffix, ok := strings.CutPrefix(class, r.Name)
		if !ok || !strings.Contains("_no_job _qualified _truncated", suffix) {
			continue
		}
		return strings.NewReplacer("%%", "%", "%e", values[Executable], "%g", values[GID], "%j", values[JobID],
			"%h", values[NodeName], "%H", values[NodeName], "%u", values[UID]).Replace(r.Template)
	}
	t.Fatalf("class %s has no format", class)
	return ""
}

func FuzzExactLabelsTellIdentifiersApart(f *testing.F) {
	seeds(f, func(id string) { f.Add([]byte(id), []byte(id+"x")) })
	f.Add([]byte(":1000:n1"), []byte(`":1000:n1"`))
	f.Add([]byte("a\xff.1000"), []byte("a\xfe.1000"))
	f.Add([]byte("a\xff.1000"), []byte("a\uFFFD.1000"))
	f.Add([]byte("a.5.1000.7::n1"), []byte("a.5.1000.8::n1"))
	all := zoo(f)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, x := range all {
			first, second := x.Identify(a), x.Identify(b)
			if !first.Exact || !second.Exact || first.Class != second.Class || first.Labels != second.Labels {
				continue
			}
			if !bytes.Equal(Decode(nil, a), Decode(nil, b)) {
				t.Errorf("%q and %q have the labels %q", a, b, first.Labels.Values())
			}
		}
	})
}

// FuzzFormats: no template and no pattern panics, and whatever New accepts holds
// the properties, too.
func FuzzFormats(f *testing.F) {
	f.Add("%j:%u:%H", "%e.%u", "util.*", []byte("1:1000:n1"))
	f.Add("%j?%H", "%.3u", "(", []byte(""))
	f.Add("%e\xff%u", "%%%g", "", []byte("a\xff1000"))
	f.Fuzz(func(t *testing.T, first, second, pattern string, raw []byte) {
		if len(pattern) > 50 {
			return
		}
		a, b := Format{Name: "first", Template: first}, Format{Name: "second", Template: second}
		_ = a.SetPattern('H', pattern)
		x, err := New(Config{Formats: []Format{a, b}, System: PolicyKeep, Malformed: PolicyKeep})
		if err != nil {
			if x != nil || err.Error() == "" {
				t.Errorf("error %v with %v", err, x)
			}
			return
		}
		id := Decode(nil, raw)
		if strings.Contains(first+second, "%%") {
			x.Identify(raw) // the simple render reads %%u differently
			return
		}
		checkIdentity(t, x, id, x.Identify(raw))
	})
}
