// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"fmt"
	"strings"
	"testing"
)

func mustNew(t testing.TB, c Config) *Identifier {
	t.Helper()
	x, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// formats reads "name=template" and "name:code=regexp".
func formats(t testing.TB, flags ...string) []Format {
	t.Helper()
	var all []Format
	for _, flag := range flags {
		if before, _, _ := strings.Cut(flag, "="); !strings.Contains(before, ":") {
			f, err := ParseFormat(flag)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
			continue
		}
		name, code, expression, err := ParsePattern(flag)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].Name == name {
				if err := all[i].SetPattern(code, expression); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return all
}

// show writes what matters of an identity: class, kind of user, outcome, labels,
// and how far the labels can be trusted.
func show(x *Identifier, i Identity) string {
	s := fmt.Sprintf("%s %s %s", x.Classes()[i.Class], i.Users, i.Outcome)
	for l, v := range i.Labels.Values() {
		if v != "" {
			s += fmt.Sprintf(" %s=%s", Label(l), v)
		}
	}
	if i.Exact {
		s += " exact"
	}
	if i.Reduced {
		s += " reduced"
	}
	return s
}

// spellings are the ways in which servers print one identifier: verbatim; in
// quotes although nothing is escaped (2.16 with a colon); escaped (2.15.2).
func spellings(id string) []string {
	upper, lower := "", ""
	for i := range len(id) {
		c := id[i]
		if isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte(".@-_", c) >= 0 {
			upper, lower = upper+string(c), lower+string(c)
			continue
		}
		upper += fmt.Sprintf(`\x%02X`, c)
		lower += fmt.Sprintf(`\x%02x`, c)
	}
	return []string{id, `"` + id + `"`, `"` + upper + `"`, `"` + lower + `"`}
}

func TestIdentifyDesignTable(t *testing.T) {
	x := mustNew(t, Config{Formats: DefaultFormats()})
	malformed := "malformed unknown fold uid=unknown"
	f := func(id, want string) {
		t.Helper()
		for _, raw := range spellings(id) {
			if got := show(x, x.Identify([]byte(raw))); got != want {
				t.Errorf("%s:\n got %s\nwant %s", raw, got, want)
			}
		}
	}
	f("11317854:17627127:r01c01", "compute regular keep jobid=11317854 nodename=r01c01 uid=17627127 exact")
	f(":17627127:r01c01", "compute_no_job regular keep nodename=r01c01 uid=17627127 exact")
	f("11317854:17627127:r01c01.bullx", "compute_qualified regular keep jobid=11317854 nodename=r01c01.bullx uid=17627127 exact")
	f(":17627127:r01c01.bullx", "compute_qualified regular keep nodename=r01c01.bullx uid=17627127 exact")
	f("wget.17627127", "login regular keep executable=wget nodename=login uid=17627127 exact")
	f("a.b.17627127", "login regular keep executable=a.b nodename=login uid=17627127 exact")
	f("1:17627127:a.2000", "login regular keep executable=1:17627127:a nodename=login uid=2000 exact")
	f("1234567:17627127:longhostname1", "compute regular keep jobid=1234567 nodename=longhostname1 uid=17627127 exact")
	f("12345678:17627127:longhostname1", "compute_truncated regular keep jobid=12345678 nodename=longhostname1 uid=17627127 exact")
	f("1234567:17627127:long.hostname", "compute_qualified regular keep jobid=1234567 nodename=long.hostname uid=17627127 exact")
	f("12345678:17627127:long.hostname", "compute_truncated regular keep jobid=12345678 nodename=long.hostname uid=17627127 exact")
	f(":17627127:longhostname.longdomain", "compute_truncated regular keep nodename=longhostname.longdomain uid=17627127 exact")
	f("1:1000:R-0_1c", "compute regular keep jobid=1 nodename=R-0_1c uid=1000 exact")
	f("11317854:0:r01c01", "compute system fold uid=system")
	f("11317854:999:r01c01", "compute system fold uid=system")
	f("11317854:1000:r01c01", "compute regular keep jobid=11317854 nodename=r01c01 uid=1000 exact")
	f("kworker/162:1.0", "login system fold uid=system")
	f("(sd-pam).0", "login system fold uid=system")
	f("mpi job.1000", "login regular keep executable=mpi job nodename=login uid=1000 exact")
	for _, id := range []string{
		"wget", "wget.", "11317854", "11317854:", "113178544", "11317854:17627127", "11317854:17627127:",
		":1317854:17627127:r01c01", "",
	} {
		f(id, malformed)
	}
	// A host that ends like executable.uid is none, wherever it is cut.
	f("1:17627127:a.", malformed)
	f("1:17627127:a.02000", malformed)
	f("1:17627127:a.4294967296", malformed)
	f("12345678:17627127:long.12345678", malformed)
	f("12345678:17627127:longhostname.", "compute_truncated regular keep jobid=12345678 nodename=longhostname. uid=17627127 exact")
	// The cut may touch the uid of the other format.
	f("an_executable_of_20byt.17627127", malformed)
	f("an_executable_of_19by.17627127", "login regular keep executable=an_executable_of_19by nodename=login uid=17627127 exact")
	// Numbers are as the kernel prints them.
	f("1:01000:r01c01", malformed)
	f("1:4294967295:r01c01", "compute regular keep jobid=1 nodename=r01c01 uid=4294967295 exact")
	f("1:4294967296:r01c01", malformed)
	f("1:-1:r01c01", malformed)
	f("1:1000:r01/c01", malformed)
	f("wget.+1000", malformed)
	f(strings.Repeat("x", 79)+":", malformed)
	f(strings.Repeat("x", 200), malformed)
}

func TestOnlyComputeConfigured(t *testing.T) {
	x := mustNew(t, Config{Formats: DefaultFormats()[:1]})
	for _, id := range []string{"1:17627127:a.2000", "1:17627127:10.0.0.1", "wget.17627127"} {
		if i := x.Identify([]byte(id)); i.Users != Unknown || i.Labels.Get(UID) != "unknown" {
			t.Errorf("%s: %s", id, show(x, i))
		}
	}
}

func TestOtherTemplates(t *testing.T) {
	type ids map[string]string
	f := func(flags string, want ids) {
		t.Helper()
		x := mustNew(t, Config{Formats: formats(t, strings.Fields(flags)...)})
		for id, identity := range want {
			if got := show(x, x.Identify([]byte(id))); got != identity {
				t.Errorf("%s with %s:\n got %s\nwant %s", id, flags, got, identity)
			}
		}
	}
	const malformed = "malformed unknown fold uid=unknown"
	f("exa=%e@%u@%h", ids{
		"cp@1000@n1":     "exa regular keep executable=cp nodename=n1 uid=1000 exact",
		"a@b@1000@n1":    "exa regular keep executable=a@b nodename=n1 uid=1000 exact",
		"a@1000@n1.dom":  "exa regular keep executable=a nodename=n1.dom uid=1000 exact", // %h may hold dots
		"a@1000@n1.5":    malformed,
		"@1000@n1":       malformed,
		"a@1@1000@2@n1":  "exa system fold uid=system",
		"cp@1000@n1@x@2": malformed,
	})
	f("all=%e.%g.%u.%p:%j:%H", ids{
		"a.b.5.1000.77:3:n1":   "all regular keep executable=a.b gid=5 jobid=3 nodename=n1 uid=1000 reduced",
		"a.5.1000.77::n1":      "all_no_job regular keep executable=a gid=5 nodename=n1 uid=1000 reduced",
		"a.5.1000.77:3:n1.dom": "all_qualified regular keep executable=a gid=5 jobid=3 nodename=n1.dom uid=1000 reduced",
		"a.5.1000.077:3:n1":    malformed,
		"5.1000.77:3:n1":       malformed,
	})
	f("first=%H.%u", ids{
		"n1.1000":     "first regular keep nodename=n1 uid=1000 exact",
		"n1.dom.1000": "first_qualified regular keep nodename=n1.dom uid=1000 exact",
		"n1.5.1000":   malformed,
	})
	f("group=%g/%j", ids{ // no uid, no host
		"100/a/b": "group regular keep gid=100 jobid=a/b nodename=group exact",
		"100/":    "group_no_job regular keep gid=100 nodename=group exact",
		"/a":      malformed,
	})
	f("job=%j", ids{"x": "job regular keep jobid=x nodename=job exact", "": malformed})
	f("exe=%e", ids{"x": "exe regular keep executable=x nodename=exe exact", "": malformed})
	f("text=job%%[%j]%u]", ids{
		"job%[7]1000]": "text regular keep jobid=7 nodename=text uid=1000 exact",
		"job%[]1000]":  "text_no_job regular keep nodename=text uid=1000 exact",
		"job%[7]1000":  malformed,
		"job%[" + strings.Repeat("7", 26) + "]1000]": "text regular keep jobid=" + strings.Repeat("7", 26) + " nodename=text uid=1000 exact",
	})
	f("twice=%j--%u--%e", ids{
		"a--1000--b--c": "twice regular keep executable=b--c jobid=a nodename=twice uid=1000 exact",
		"a-b--1000--c":  malformed, // %j never holds the first byte of what follows
	})
	f("gid=%e:%u:%g", ids{
		strings.Repeat("e", 22) + ":1000:100": "gid_truncated regular keep executable=" + strings.Repeat("e", 22) + " gid=100 nodename=gid uid=1000 exact",
		strings.Repeat("e", 22) + ":999:1000": "gid_truncated system fold uid=system",
	})
}

func TestFirstFormatWins(t *testing.T) {
	x := mustNew(t, Config{Formats: formats(t,
		"utility=%j:%u:%H", "utility:H=^util[0-9]+$", "array=%j:%u:%H", "array:j=[0-9]+_[0-9]+", "array:u=1...",
		"compute=%j:%u:%H", "mail=%e.%u", "mail:e=sendmail|postfix", "login=%e.%u")})
	f := func(id, class string) {
		t.Helper()
		if got := x.Classes()[x.Identify([]byte(id)).Class]; got != class {
			t.Errorf("%s: class %s, want %s", id, got, class)
		}
	}
	f("1:1000:util7", "utility")
	f(":1000:util7", "utility_no_job")
	f("1:1000:util7.dom", "compute_qualified") // the pattern is anchored
	f("1:1000:xutil7", "compute")
	f("1_2:1000:n1", "array")
	f("1_2:2000:n1", "compute")
	f(":1000:n1", "compute_no_job") // a pattern has to fit an empty job, too
	f("postfix.1000", "mail")
	f("postfixx.1000", "login")
	f("xpostfix.1000", "login") // the alternatives are anchored together
	want := "utility utility_no_job utility_qualified utility_truncated array array_no_job array_qualified array_truncated " +
		"compute compute_no_job compute_qualified compute_truncated mail mail_truncated login login_truncated malformed"
	if got := strings.Join(x.Classes(), " "); got != want {
		t.Errorf("classes\n got %s\nwant %s", got, want)
	}
}

func TestClassesAreACopy(t *testing.T) {
	x := mustNew(t, Config{Formats: DefaultFormats()})
	x.Classes()[0] = "changed"
	want := "compute compute_no_job compute_qualified compute_truncated login login_truncated malformed"
	if got := strings.Join(x.Classes(), " "); got != want {
		t.Errorf("classes %s", got)
	}
}

func TestPolicies(t *testing.T) {
	f := func(system, malformed Policy, id, want string) {
		t.Helper()
		x := mustNew(t, Config{Formats: DefaultFormats(), System: system, Malformed: malformed})
		if got := show(x, x.Identify([]byte(id))); got != want {
			t.Errorf("%s with %s, %s:\n got %s\nwant %s", id, system, malformed, got, want)
		}
	}
	f(PolicyFold, PolicyDrop, "1:5:n1", "compute system fold uid=system")
	f(PolicyDrop, PolicyFold, "1:5:n1.dom", "compute_qualified system drop")
	f(PolicyKeep, PolicyFold, "1:5:n1", "compute system keep jobid=1 nodename=n1 uid=5 exact")
	f(PolicyKeep, PolicyFold, "1:5:other", "compute system keep jobid=1 nodename=other uid=5")
	f(PolicyDrop, PolicyFold, "wget", "malformed unknown fold uid=unknown")
	f(PolicyFold, PolicyDrop, "wget", "malformed unknown drop")
	f(PolicyFold, PolicyDrop, "", "malformed unknown drop")
	f(PolicyFold, PolicyKeep, "wget", "malformed unknown keep jobid=wget uid=unknown exact")
	f(PolicyFold, PolicyKeep, "other", "malformed unknown keep jobid=other uid=unknown")
	f(PolicyFold, PolicyKeep, "a\xffb", "malformed unknown keep jobid=a\uFFFDb uid=unknown")
	f(PolicyFold, PolicyKeep, "a\uFFFDb", "malformed unknown keep jobid=a\uFFFDb uid=unknown")
	f(PolicyFold, PolicyKeep, "", "malformed unknown fold uid=unknown")
	f(PolicyFold, PolicyKeep, strings.Repeat("x", 80), "malformed unknown keep jobid="+strings.Repeat("x", 80)+" uid=unknown exact")
	f(PolicyFold, PolicyKeep, strings.Repeat("x", 81), "malformed unknown fold uid=unknown")
	f(PolicyFold, PolicyKeep, strings.Repeat("x", 999), "malformed unknown fold uid=unknown")
}

func TestPolicyWords(t *testing.T) {
	for _, p := range []Policy{PolicyFold, PolicyDrop, PolicyKeep} {
		if got, err := ParsePolicy(p.String()); got != p || err != nil {
			t.Errorf("%s: %s, %v", p, got, err)
		}
	}
	for _, word := range []string{"", "Fold", "policy 3", "none"} {
		if _, err := ParsePolicy(word); err == nil || !strings.Contains(err.Error(), "use fold, drop or keep") {
			t.Errorf("%q: error %v", word, err)
		}
	}
}

func TestFirstUID(t *testing.T) {
	f := func(first uint32, uid string, want Users) {
		t.Helper()
		x := mustNew(t, Config{Formats: DefaultFormats(), FirstUID: first})
		if got := x.Identify([]byte("1:" + uid + ":n1")).Users; got != want {
			t.Errorf("uid %s with first uid %d: %s, want %s", uid, first, got, want)
		}
	}
	f(0, "999", System)
	f(0, "1000", Regular)
	f(1, "0", System)
	f(1, "1", Regular)
	f(500, "499", System)
	f(500, "500", Regular)
	f(1<<32-1, "4294967294", System)
	f(1<<32-1, "4294967295", Regular)
}

func TestLeftOutLabels(t *testing.T) {
	f := func(labels []Label, malformed Policy, id, want string) {
		t.Helper()
		x := mustNew(t, Config{Formats: DefaultFormats(), Labels: labels, Malformed: malformed})
		if got := show(x, x.Identify([]byte(id))); got != want {
			t.Errorf("%s with %v:\n got %s\nwant %s", id, labels, got, want)
		}
	}
	f([]Label{UID}, PolicyFold, "1:1000:n1", "compute regular keep uid=1000 reduced")
	f([]Label{UID}, PolicyFold, "wget.1000", "login regular keep uid=1000 reduced")
	f([]Label{UID, JobID}, PolicyFold, "1:1000:n1.dom", "compute_qualified regular keep jobid=1 uid=1000 reduced")
	f([]Label{NodeName, UID}, PolicyFold, ":1000:n1", "compute_no_job regular keep nodename=n1 uid=1000 exact") // had no job
	f([]Label{NodeName, UID}, PolicyFold, "1:1000:n1", "compute regular keep nodename=n1 uid=1000 reduced")
	f([]Label{JobID, NodeName, UID}, PolicyFold, "1:1000:n1", "compute regular keep jobid=1 nodename=n1 uid=1000 exact")
	f([]Label{JobID, NodeName, UID}, PolicyFold, "wget.1000", "login regular keep nodename=login uid=1000 reduced")
	f([]Label{JobID, UID}, PolicyFold, "other:1000:n1", "compute regular keep jobid=other uid=1000 reduced")
	f([]Label{UID}, PolicyFold, "1:0:n1", "compute system fold uid=system")
	f([]Label{UID}, PolicyKeep, "wget", "malformed unknown keep uid=unknown reduced")
	f([]Label{UID, JobID}, PolicyKeep, "wget", "malformed unknown keep jobid=wget uid=unknown exact")
}

func TestValuesThatAreNotExact(t *testing.T) {
	x := mustNew(t, Config{Formats: DefaultFormats()})
	f := func(id, want string) {
		t.Helper()
		if got := show(x, x.Identify([]byte(id))); got != want {
			t.Errorf("%q:\n got %q\nwant %q", id, got, want)
		}
	}
	f("a\xff\xfeb.1000", "login regular keep executable=a\uFFFDb nodename=login uid=1000")
	f("a\xffb.1000", "login regular keep executable=a\uFFFDb nodename=login uid=1000")
	f("a\uFFFDb.1000", "login regular keep executable=a\uFFFDb nodename=login uid=1000")
	f("é.1000", "login regular keep executable=é nodename=login uid=1000 exact")
	f("\"\xC3\\xA9.1000\"", "login regular keep executable=é nodename=login uid=1000 exact") // Latin-1 isalnum, format section 4.3
	f("\x00\n\x1b.1000", "login regular keep executable=\x00\n\x1b nodename=login uid=1000 exact")
	f("other:1000:n1", "compute regular keep jobid=other nodename=n1 uid=1000")
	f("1:1000:other", "compute regular keep jobid=1 nodename=other uid=1000")
	f("other.1000", "login regular keep executable=other nodename=login uid=1000 exact")
	f("others:1000:n1", "compute regular keep jobid=others nodename=n1 uid=1000 exact")
	x = mustNew(t, Config{Formats: formats(t, "x=%e;")})
	f(strings.Repeat("\xff.", 39)+"\xff;", "x regular keep executable="+strings.Repeat("\uFFFD.", 39)+"\uFFFD nodename=x")
}
