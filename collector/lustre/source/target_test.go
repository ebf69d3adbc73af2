// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import "testing"

func TestTarget(t *testing.T) {
	f := func(target Target, fs, kind string) {
		t.Helper()
		if got := target.FS(); got != fs {
			t.Errorf("%+v: FS() = %q, want %q", target, got, fs)
		}
		if got := target.KindLabel(); got != kind {
			t.Errorf("%+v: KindLabel() = %q, want %q", target, got, kind)
		}
	}
	f(Target{"scratch-OST000f", KindOST}, "scratch", "ost")
	f(Target{"scratch-MDT0000", KindMDT}, "scratch", "mdt")
	f(Target{"my-fs_1-MDT0000", KindMDT}, "my-fs_1", "mdt")
	f(UnknownTarget(), "unknown", "unknown")
	f(Target{"-OST0000", KindOST}, "", "ost")
	f(Target{}, "", "unknown")
}

func TestParseTargetName(t *testing.T) {
	f := func(name, kind string) {
		t.Helper()
		got, ok := ParseTargetName(name)
		if ok != (kind != "") {
			t.Fatalf("%q: ok = %v", name, ok)
		}
		if ok && got != (Target{name, kind}) {
			t.Errorf("%q: got %+v, want kind %q", name, got, kind)
		}
	}
	f("scratch-OST000f", KindOST)
	f("scratch-MDT0000", KindMDT)
	f("scratch-OST00AF", KindOST)
	f("a-b_c-OST0000", KindOST)
	f("MDT-OST0001", KindOST)
	f("", "")
	f("-OST0000", "")
	f("OST0000", "")
	f("scratch", "")
	f("scratch-OST", "")
	f("scratch-OST000", "")
	f("scratch-OST00000", "")
	f("scratch-OST000g", "")
	f("scratch-ost0000", "")
	f("scratch-MGT0000", "")
	f("scr/tch-OST0000", "")
	f("scr tch-OST0000", "")
	f("scr\x00tch-OST0000", "")
}

func TestTargetFromPath(t *testing.T) {
	f := func(path, name, kind string) {
		t.Helper()
		got, ok := TargetFromPath(path)
		if ok != (name != "") {
			t.Fatalf("%q: got %+v, %v", path, got, ok)
		}
		if ok && got != (Target{name, kind}) {
			t.Errorf("%q: got %+v, want %s %s", path, got, kind, name)
		}
	}
	f("lustre_2.7_lustrefs-OST0000.job_stats", "lustrefs-OST0000", KindOST)
	f("/tmp/lustre_2.10.1_lustrefs-MDT0000.job_stats", "lustrefs-MDT0000", KindMDT)
	f("lustre_2.10-2.12_public1-OST0005.job_stats", "public1-OST0005", KindOST)
	f("scratch-OST000f.job_stats", "scratch-OST000f", KindOST)
	f("scratch-OST000f.job_stats.gz", "scratch-OST000f", KindOST)
	f("obdfilter.scratch-OST000f.job_stats.2026-11-21.txt", "scratch-OST000f", KindOST)
	f("/proc/fs/lustre/obdfilter/fs-OST0000/job_stats", "fs-OST0000", KindOST)
	f("copy/mdt/fs-MDT0001/job_stats.gz", "fs-MDT0001", KindMDT)
	f("mdt/oddname/job_stats", "oddname", KindMDT)
	f("mdt/../job_stats", "", "")
	f("osd-ldiskfs/fs-MDT0001/job_stats", "", "")
	f("job_stats", "", "")
	f("/job_stats", "", "")
	f("-", "", "")
	f("", "", "")
	f("manual_2.4_mdt.txt", "", "")
	f("mdt_2.17.txt", "", "")
	f("scratch-OST000f.txt", "", "")
	f("scratch-OST000f/dump.job_stats", "", "")
}

func TestInTree(t *testing.T) {
	f := func(name, kind string, want bool) {
		t.Helper()
		if got := (Target{name, kind}).inTree(); got != want {
			t.Errorf("%q of kind %q: got %v", name, kind, got)
		}
	}
	f("fs-OST0000", KindOST, true)
	f("fs.a_b-MDT0000", KindMDT, true)
	f("fs-OST0000", "", false)
	f("fs-OST0000", "mds", false)
	f("", KindOST, false)
	f(".", KindOST, false)
	f("..", KindOST, false)
	f("../../etc", KindOST, false)
	f("a*", KindOST, false)
	f("\xff", KindOST, false)
}
