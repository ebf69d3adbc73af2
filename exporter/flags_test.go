// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobid"
	"github.com/pfs-exporter/pfs_exporter/collector/lustre/ledger"
)

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func mustParse(t *testing.T, args ...string) *options {
	t.Helper()
	var out bytes.Buffer
	o, answered, err := parseArgs(args, &out, &out)
	if err != nil || answered {
		t.Fatalf("%q: answered %v, %v\n%s", args, answered, err, &out)
	}
	return o
}

// Fails when a default changes, which is something to tell users.
func TestDefaults(t *testing.T) {
	o := mustParse(t)
	c, err := o.lustre.config()
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Config{
		ScrapeInterval: time.Minute, FirstZero: ledger.Hold, MaxEntries: 5000, MaxNodesPerJob: 64, MaxUsers: 2000, Identifier: c.Ledger.Identifier,
	}
	if c.Ledger != want {
		t.Errorf("ledger: got %+v, want %+v", c.Ledger, want)
	}
	if c.ObservationInterval != time.Second || c.ReadTimeout != 8*time.Second || c.MaxTargetBytes != 4<<30 || c.MaxTargetEntries != 2_000_000 {
		t.Errorf("limits: %+v", c)
	}
	if c.Source.Name() != "procfs" || o.lustre.source.ProcPath != "/proc" || o.lustre.source.SysPath != "/sys" {
		t.Errorf("source: %+v", o.lustre.source)
	}
	if !reflect.DeepEqual(o.lustre.formats, jobid.DefaultFormats()) || o.lustre.system != jobid.PolicyFold || o.lustre.malformed != jobid.PolicyFold ||
		o.lustre.firstUID != 1000 || o.lustre.labels != nil {
		t.Errorf("identifiers: %+v", o.lustre)
	}
	if o.command != "run" || o.web.path != "/metrics" || o.web.pprof || o.web.bare || o.web.maxRequests != 40 || o.web.offset != time.Second/2 {
		t.Errorf("command %s, web: %+v", o.command, o.web)
	}
	if a := *o.web.toolkit.WebListenAddresses; len(a) != 1 || a[0] != ":9169" {
		t.Errorf("listens on %q", a)
	}
	if o.log != (logOptions{slog.LevelInfo, "logfmt"}) {
		t.Errorf("log: %+v", o.log)
	}
}

func TestFlags(t *testing.T) {
	f := func(get func(o *options) any, want any, args ...string) {
		t.Helper()
		if got := get(mustParse(t, args...)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v", args, got, want)
		}
	}
	f(func(o *options) any { return o.command }, "run", "run")
	f(func(o *options) any { return o.command }, "check", "check")
	f(func(o *options) any { return o.command }, "check", "--path.procfs=/x", "check", "--file", "d")
	f(func(o *options) any { return o.check }, checkOptions{"d", "t", "json"}, "check", "--file=d", "--target=t", "--format=json")
	f(func(o *options) any { return o.web.path }, "/a/b", "--web.telemetry-path=/a/b")
	f(func(o *options) any { return o.web.pprof }, true, "--web.enable-pprof")
	f(func(o *options) any { return o.web.bare }, true, "--web.disable-exporter-metrics")
	f(func(o *options) any { return *o.web.toolkit.WebListenAddresses }, []string{":1", ":2"}, "--web.listen-address=:1", "--web.listen-address=:2")
	f(func(o *options) any { return o.web.offset }, time.Duration(0), "--web.timeout-offset=0s")
	f(func(o *options) any { return o.log }, logOptions{slog.LevelDebug, "json"}, "--log.level=debug", "--log.format=json")
	f(func(o *options) any { return o.lustre.firstZero }, ledger.Created, "--lustre.first-zero=created")
	f(func(o *options) any { return o.lustre.scrapeInterval }, 90*time.Second, "--lustre.scrape-interval=1m30s")
	f(func(o *options) any { return o.lustre.system }, jobid.PolicyKeep, "--lustre.system-users=keep")
	f(func(o *options) any { return o.lustre.malformed }, jobid.PolicyDrop, "--lustre.malformed=drop")
	f(func(o *options) any { return o.lustre.firstUID }, uint32(1), "--lustre.first-uid=1")
	f(func(o *options) any { return o.lustre.labels }, []jobid.Label{jobid.UID, jobid.JobID}, "--lustre.labels=uid, jobid")
	f(func(o *options) any { return len(o.lustre.formats) }, 1, "--lustre.jobid-format=a=%j.%u")
	f(func(o *options) any { return len(o.lustre.formats) }, 2, "--lustre.jobid-format=a=%j.%u", "--lustre.jobid-format=b=%e:%u")
	f(func(o *options) any { return o.lustre.maxEntries }, 0, "--lustre.max-entries=0")
	f(func(o *options) any { return o.lustre.jobSeconds && o.lustre.sizes }, true, "--lustre.job-seconds", "--lustre.sizes")
	for text, want := range map[string]int64{"1": 1, "1B": 1, "500MB": 500e6, "4GiB": 4 << 30, "2KiB": 2048, "3kB": 3000, "1TiB": 1 << 40} {
		f(func(o *options) any { return o.lustre.maxTargetBytes }, want, "--lustre.max-target-bytes="+text)
	}
}

func TestPatternsBelongToTheirFormats(t *testing.T) {
	o := mustParse(t, "--lustre.jobid-format=utility=%j:%u:%H", "--lustre.jobid-format=compute=%j:%u:%H", "--lustre.jobid-pattern=utility:H=^util[0-9]+$")
	c, err := o.lustre.config()
	if err != nil {
		t.Fatal(err)
	}
	classes := c.Ledger.Identifier.Classes()
	for id, want := range map[string]string{"1:1000:util7": "utility", "1:1000:r01c01": "compute"} {
		if got := classes[c.Ledger.Identifier.Identify([]byte(id)).Class]; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// Every error names the flag, what was given, and what to do; and the exit code is 2.
func TestBadFlags(t *testing.T) {
	f := func(wants string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(ended(t), args, &stdout, &stderr); code != exitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
		got := stderr.String()
		if stdout.Len() != 0 || !strings.HasPrefix(got, "pfs_exporter: error: ") || !strings.HasSuffix(got, "\n") {
			t.Errorf("%q: stdout %q, stderr %q", args, stdout.String(), got)
		}
		for want := range strings.SplitSeq(wants, "|") {
			if !strings.Contains(got, want) {
				t.Errorf("%q: no %q in %q", args, want, got)
			}
		}
	}
	f("unknown long flag '--bogus'|--help", "--bogus")
	f("unexpected bogus|--help", "bogus")
	f("--file", "run", "--file=x")
	f("expected argument for flag '--lustre.file'", "--lustre.file")
	f("expected argument for flag '--lustre.file'", "--lustre.file", "--web.enable-pprof")
	f("expected argument for flag '--web.listen-address'", "run", "--web.listen-address")
	f("expected argument for flag '--file'", "check", "--file")
	f("cannot be repeated", "--lustre.first-uid=1", "--lustre.first-uid=2")
	f(`--log.level="loud"|debug, info, warn or error`, "--log.level=loud")
	f(`--log.format="xml"|logfmt or json`, "--log.format=xml")
	f(`--web.telemetry-path="metrics"|/metrics`, "--web.telemetry-path=metrics")
	for _, path := range []string{"/", "/a/", "//a", "/a b", "/{x}", "/-/ready", "/-/healthy", "/debug/pprof", "/debug/pprof/heap", "/a/../b", "/.", ""} {
		f(`--web.telemetry-path=|/metrics`[:23], "--web.telemetry-path="+path)
	}
	f(`--web.max-requests="0"|at least 1`, "--web.max-requests=0")
	f(`--web.timeout-offset="-1s"|negative`, "--web.timeout-offset=-1s")
	f(`--web.timeout-offset="5"|10s`, "--web.timeout-offset=5")
	f(`--lustre.source="sysfs"|procfs, lctl or file`, "--lustre.source=sysfs")
	f(`--lustre.source=file|--lustre.file=PATH`, "--lustre.source=file")
	f(`--lustre.file="x"|--lustre.source=file|procfs`, "--lustre.file=x")
	f(`--lustre.file="-"|save it`, "--lustre.source=file", "--lustre.file=-")
	f(`--lustre.target="x"|--lustre.source=file`, "--lustre.target=x")
	f(`"a/b"|--lustre.target|scratch-OST000f`, "--lustre.source=file", "--lustre.file=x", "--lustre.target=a/b")
	f("--path.procfs", "--path.procfs=")
	f("--lustre.lctl-command", "--lustre.source=lctl", "--lustre.lctl-command=")
	f(`--lustre.jobid-format="%j"|NAME=TEMPLATE|compute=%j:%u:%H`, "--lustre.jobid-format=%j")
	f(`--lustre.jobid-format="a=%z"|%z`, "--lustre.jobid-format=a=%z")
	f("--lustre.jobid-format|can never match|remove one", "--lustre.jobid-format=a=%j:%u", "--lustre.jobid-format=b=%j:%u")
	f(`--lustre.jobid-pattern="a:H=("|regexp`, "--lustre.jobid-pattern=a:H=(")
	f(`--lustre.jobid-pattern="none:H=x"|no --lustre.jobid-format is named none|compute, login`, "--lustre.jobid-pattern=none:H=x")
	f(`--lustre.jobid-pattern="login:H=x"|%H`, "--lustre.jobid-pattern=login:H=x")
	f(`--lustre.system-users="hide"|fold, drop or keep`, "--lustre.system-users=hide")
	f(`--lustre.malformed=""|fold, drop or keep`, "--lustre.malformed=")
	f(`--lustre.first-uid="0"|from 1|--lustre.system-users=keep`, "--lustre.first-uid=0")
	f(`--lustre.first-uid="-1"|4294967295`, "--lustre.first-uid=-1")
	f(`--lustre.first-uid="4294967296"`, "--lustre.first-uid=4294967296")
	f(`--lustre.labels="jobid"|add uid`, "--lustre.labels=jobid")
	f(`--lustre.labels="uid,host"|"host"|nodename`, "--lustre.labels=uid,host")
	f(`--lustre.labels=""`, "--lustre.labels=")
	f(`--lustre.first-zero="yes"|hold, created or off`, "--lustre.first-zero=yes")
	f(`--lustre.scrape-interval="0s"|at least 1s`, "--lustre.scrape-interval=0s")
	f(`--lustre.scrape-interval="60"|1m30s`, "--lustre.scrape-interval=60")
	f("--lustre.observation-interval=40s|half of --lustre.scrape-interval=1m", "--lustre.observation-interval=40s")
	f(`--lustre.observation-interval="-1s"|negative`, "--lustre.observation-interval=-1s")
	f(`--lustre.max-entries="-1"|at least 0`, "--lustre.max-entries=-1")
	f(`--lustre.max-nodes-per-job="x"|whole number`, "--lustre.max-nodes-per-job=x")
	f(`--lustre.max-users="1.5"|whole number`, "--lustre.max-users=1.5")
	f(`--lustre.read-timeout="0s"|at least`, "--lustre.read-timeout=0s")
	for _, bytes := range []string{"0", "-1", "x", "1XB", "10000000TiB", "1.5GB", "", "GB", "1 GB", "1GBB"} {
		f(`--lustre.max-target-bytes="`+bytes+`"|4GiB`, "--lustre.max-target-bytes="+bytes)
	}
	f(`--lustre.max-target-entries="0"`, "--lustre.max-target-entries=0")
	f(`--format="yaml"|text or json`, "check", "--format=yaml")
	f(`--lustre.target="x"|--lustre.source=file`, "check", "--target=x")
}

// All that is wrong with values that parse is told at once.
func TestBadFlagsTogether(t *testing.T) {
	var stderr bytes.Buffer
	run(t.Context(), []string{"--lustre.source=file", "--lustre.observation-interval=40s", "--lustre.jobid-pattern=none:H=x"}, &stderr, &stderr)
	for _, want := range []string{"--lustre.source=file", "--lustre.observation-interval", "--lustre.jobid-pattern"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %s in\n%s", want, &stderr)
		}
	}
}

func TestAnsweredByHelpOrVersion(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
			t.Errorf("%q: exit code %d", args, code)
		}
		if !strings.Contains(stdout.String(), want) || stderr.Len() != 0 {
			t.Errorf("%q: stdout\n%s\nstderr %q", args, &stdout, &stderr)
		}
	}
	f("--lustre.jobid-format", "--help")
	f("--web.listen-address", "-h")
	f("check [<flags>]", "--help")
	f("--file=DUMP", "check", "--help")
	f("--file=DUMP", "check", "-h")
	f("--file=DUMP", "help", "check")
	f("--lustre.jobid-format", "help")
	f("pfs_exporter, version ", "--version")
	f("go version:", "--version", "--bogus")
}

// Each flag says what it is for; those with a value also what it is by default, or how it looks.
func TestHelpTeaches(t *testing.T) {
	var stdout, stderr bytes.Buffer
	run(t.Context(), []string{"check", "--help"}, &stdout, &stderr)
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ +--(?:\[no-\])?((?:lustre|path|web|log)[a-z0-9.-]*[a-z0-9])`).FindAllStringSubmatch(stdout.String(), -1) {
		found[m[1]] = true
	}
	for _, name := range []string{
		"lustre.source", "lustre.lctl-command", "lustre.file", "lustre.target", "lustre.jobid-format", "lustre.jobid-pattern", "lustre.system-users",
		"lustre.malformed", "lustre.first-uid", "lustre.labels", "lustre.first-zero", "lustre.scrape-interval", "lustre.observation-interval",
		"lustre.max-entries", "lustre.max-nodes-per-job", "lustre.max-users", "lustre.job-seconds", "lustre.sizes", "lustre.read-timeout",
		"lustre.max-target-bytes", "lustre.max-target-entries", "path.procfs", "path.sysfs", "web.listen-address", "web.config.file", "web.systemd-socket",
		"web.telemetry-path", "web.enable-pprof", "web.max-requests", "web.timeout-offset", "web.disable-exporter-metrics", "log.level", "log.format",
	} {
		if !found[name] {
			t.Errorf("--%s is not in the help", name)
		}
		delete(found, name)
	}
	if len(found) != 0 {
		t.Errorf("flags that this test does not know: %v", found)
	}
}

func TestDurationsAsPeopleWriteThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Minute: "1m", time.Second: "1s", 90 * time.Second: "1m30s", time.Hour: "1h", 10 * time.Minute: "10m", 0: "0s", time.Hour + time.Minute: "1h1m", 20 * time.Hour: "20h",
	} {
		if got := short(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestCheckChoosesItsSource(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		o := mustParse(t, args...)
		o.check.choose(&o.lustre)
		c, err := o.lustre.config()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if c.Source.Name() != want {
			t.Errorf("%q: reads from %s, want %s", args, c.Source.Name(), want)
		}
	}
	f("procfs", "check")
	f("file", "check", "--file=x")
	f("file", "check", "--file=-")
	f("file", "check", "--file="+filepath.Join(t.TempDir(), "x"), "--target=scratch-OST0000")
	f("lctl", "check", "--lustre.source=lctl")
	f("file", "check", "--lustre.source=file", "--lustre.file=x", "--target=scratch-OST0000")
}

// ended is a context in which nothing serves, should a command line be good after all.
func ended(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
