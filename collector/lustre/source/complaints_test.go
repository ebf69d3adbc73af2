// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestComplaints(t *testing.T) {
	mdt, ost := Target{"fs-MDT0000", KindMDT}, Target{"fs-OST0000", KindOST}
	f := func(text string, want verdict) {
		t.Helper()
		want.text = text
		for _, size := range []int{1, 7, len(text) + 1} { // however the pipe cuts it
			c := new(complaints)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if got, err := c.Write([]byte(rest[:n])); got != n || err != nil {
					t.Fatalf("%q: Write gave %d, %v", text, got, err)
				}
				rest = rest[n:]
			}
			if got := c.verdict(); !reflect.DeepEqual(got, want) {
				t.Errorf("%q in pieces of %d:\n got %+v\nwant %+v", text, size, got, want)
			}
		}
	}
	f("", verdict{})
	f("\n\n", verdict{})
	// a pattern without a match: 2.6 and later, then up to 2.5
	f("error: get_param: param_path 'mdt/*/job_stats': No such file or directory\n", verdict{missing: true})
	f("error: get_param: /proc/{fs,sys}/{lnet,lustre}/mdt/*/job_stats: Found no match\n", verdict{missing: true})
	// one file, in several wordings
	f("error: read_param: '/proc/fs/lustre/mdt/fs-MDT0000/job_stats': Input/output error\n", verdict{unreadable: []Target{mdt}})
	f("error: get_param: stat '/proc/fs/lustre/obdfilter/fs-OST0000/job_stats': Permission denied", verdict{unreadable: []Target{ost}})
	f("error: get_param: opening('/proc/fs/lustre/obdfilter/fs-OST0000/job_stats') failed: Permission denied\n", verdict{unreadable: []Target{ost}})
	f("error: get_param: reading /proc/fs/lustre/mdt/fs-MDT0000/job_stats: Permission denied\r\n", verdict{unreadable: []Target{mdt}})
	f("error: read_param: '/proc/fs/lustre/mdt/fs-MDT0000/job_stats': Input/output error\n"+
		"error: read_param: '/proc/fs/lustre/obdfilter/fs-OST0000/job_stats': Input/output error\n"+
		"error: read_param: '/proc/fs/lustre/mdt/fs-MDT0000/job_stats': Input/output error\n", verdict{unreadable: []Target{mdt, ost}})
	// unmounted between lctl's glob and its open
	f("error: read_param: '/proc/fs/lustre/mdt/fs-MDT0000/job_stats': No such file or directory\n", verdict{missing: true})
	// an interval is no reason to distrust the entries
	f("error: read_param: '/sys/fs/lustre/mdt/fs-MDT0000/job_cleanup_interval': Permission denied\n", verdict{interval: true})
	// a whole kind failed
	denied := "error: get_param: param_path 'mdt/*/job_stats': Permission denied"
	f(denied+"\n", verdict{failure: denied})
	f(denied+"\nerror: out of memory\n", verdict{failure: denied})
	astray := "error: read_param: '/proc/fs/lustre/mdt/../job_stats': Input/output error"
	f(astray+"\n", verdict{failure: astray})
	other := "error: read_param: '/proc/fs/lustre/ldlm/fs-MDT0000/job_stats': Input/output error"
	f(other+"\n", verdict{failure: other})
	// not lctl's error: nothing follows from it
	f("warning: debugfs is not mounted\nmdt/fs-MDT0000/job_stats\n", verdict{})
}

func TestComplaintsAreBounded(t *testing.T) {
	c := new(complaints)
	noise := []byte(strings.Repeat("y", 10_000) + "\n")
	for range 1000 {
		if n, err := c.Write(noise); n != len(noise) || err != nil {
			t.Fatalf("Write gave %d, %v", n, err)
		}
	}
	for i := range 2 * targetLimit {
		fmt.Fprintf(c, "error: read_param: '/proc/fs/lustre/mdt/fs%d-MDT0000/job_stats': Input/output error\n", i)
	}
	v := c.verdict()
	if len(v.text) != stderrLimit || len(v.unreadable) != targetLimit || cap(c.line) > 2*complaintLimit {
		t.Errorf("kept %d bytes, %d targets, a line of %d", len(v.text), len(v.unreadable), cap(c.line))
	}
	if v.unreadable[0].Name != "fs0-MDT0000" {
		t.Errorf("messages after the kept text are lost: %v", v.unreadable[0])
	}
}

func TestComplaintsAreValidUTF8(t *testing.T) {
	c := new(complaints)
	c.Write([]byte("error: \xff\xfe\n"))
	if v := c.verdict(); v.text != "error: ?\n" || v.failure != "error: ?" {
		t.Errorf("got %+v", v)
	}
}
