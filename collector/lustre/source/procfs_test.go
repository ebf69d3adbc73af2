// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

// tree writes files below a new directory; a text that starts with "->" is a symbolic link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write := func() error { return os.WriteFile(path, []byte(text), 0o644) }
		if link, ok := strings.CutPrefix(text, "->"); ok {
			write = func() error { return os.Symlink(link, path) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func discover(t *testing.T, s Source) []Stream {
	t.Helper()
	streams, err := s.Discover(t.Context())
	if err != nil {
		t.Fatalf("Discover: %v", err)
	}
	return streams
}

// readAll reads with room for a page, as the scanner does, and returns what Read and Close said.
func readAll(t *testing.T, ctx context.Context, s Stream) (text string, readErr, closeErr error) {
	t.Helper()
	r, err := s.Open(ctx)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	all, readErr := io.ReadAll(r)
	return string(all), readErr, r.Close()
}

func TestProcfsDiscover(t *testing.T) {
	f := func(what string, files map[string]string, want ...Target) {
		t.Helper()
		root := tree(t, files)
		var got []Target
		for _, s := range discover(t, NewProcfs(filepath.Join(root, "proc"), filepath.Join(root, "sys"))) {
			if s.Framed {
				t.Errorf("%s: %s is framed", what, s.Target.Name)
			}
			got = append(got, s.Target)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	const mdt, ost = "proc/fs/lustre/mdt/", "proc/fs/lustre/obdfilter/"
	f("not even procfs", nil)
	f("no Lustre", map[string]string{"proc/version": "Linux"})
	f("a client", map[string]string{"proc/fs/lustre/llite/fs-ffff/stats": "x"})
	f("no targets", map[string]string{ost + "num_refs": "1"})
	f("an OSS", map[string]string{ost + "fs-OST0001/job_stats": "x", ost + "fs-OST0000/job_stats": ""},
		Target{"fs-OST0000", KindOST}, Target{"fs-OST0001", KindOST})
	f("an MDS", map[string]string{mdt + "fs-MDT0000/job_stats": ""}, Target{"fs-MDT0000", KindMDT})
	f("both", map[string]string{ost + "a-OST0000/job_stats": "", mdt + "z-MDT0000/job_stats": ""},
		Target{"z-MDT0000", KindMDT}, Target{"a-OST0000", KindOST})
	f("jobstats not compiled in", map[string]string{ost + "fs-OST0000/stats": "x", ost + "fs-OST0001/job_stats": ""},
		Target{"fs-OST0001", KindOST})
	f("names that are none", map[string]string{
		ost + "a b/job_stats": "", ost + "a*/job_stats": "", ost + "\xff/job_stats": "", ost + "ok.1_-/job_stats": "",
	}, Target{"ok.1_-", KindOST})
	f("job_stats is a directory", map[string]string{ost + "fs-OST0000/job_stats/x": ""})
	f("linked target and linked file", map[string]string{
		"real/one/job_stats": "", "real/two": "",
		ost + "fs-OST0000": "->../../../../real/one", ost + "fs-OST0001/job_stats": "->../../../../../real/two",
	}, Target{"fs-OST0000", KindOST}, Target{"fs-OST0001", KindOST})
	f("links to nowhere", map[string]string{
		ost + "fs-OST0000": "->nowhere", ost + "fs-OST0001/job_stats": "->nowhere",
	})
}

func TestProcfsSkipsFIFO(t *testing.T) {
	root := tree(t, map[string]string{"fs/lustre/mdt/fs-MDT0000/stats": ""})
	if err := syscall.Mkfifo(filepath.Join(root, "fs/lustre/mdt/fs-MDT0000/job_stats"), 0o644); err != nil {
		t.Skip(err)
	}
	if got := discover(t, NewProcfs(root, root)); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestProcfsLooksAnew(t *testing.T) {
	root := t.TempDir()
	s := NewProcfs(root, root)
	dir := filepath.Join(root, "fs/lustre/obdfilter/fs-OST0000")
	for round := range 2 {
		if got := discover(t, s); len(got) != 0 {
			t.Fatalf("round %d: got %v before the mount", round, got)
		}
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "job_stats"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		if got := discover(t, s); len(got) != 1 {
			t.Fatalf("round %d: got %v after the mount", round, got)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProcfsDiscoverError(t *testing.T) {
	f := func(fail string, cause error, want ...string) {
		t.Helper()
		s := &procfs{proc: "/p", sys: "/s", list: func(dir string) ([]fs.DirEntry, error) {
			if filepath.Base(dir) == fail {
				return nil, cause
			}
			return nil, fs.ErrNotExist
		}}
		streams, err := s.Discover(t.Context())
		if err == nil || streams != nil {
			t.Fatalf("%v: got %v, %v", cause, streams, err)
		}
		for _, w := range append(want, "/p/fs/lustre/"+fail) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v: %q is not in %q", cause, w, err)
			}
		}
	}
	open := func(dir string, err error) error {
		return &fs.PathError{Op: "open", Path: "/p/fs/lustre/" + dir, Err: err}
	}
	f("mdt", open("mdt", syscall.EACCES), "permission denied", "ProtectProc=")
	f("obdfilter", open("obdfilter", syscall.EIO), "input/output error", "kernel log")
	f("obdfilter", syscall.EIO, "input/output error")
	f("mdt", open("mdt", syscall.ENOTDIR), "path of procfs")
}

func TestProcfsDiscoverRealErrors(t *testing.T) {
	loop := tree(t, map[string]string{"fs/lustre/mdt": "->mdt"})
	if _, err := NewProcfs(loop, loop).Discover(t.Context()); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop: got %v", err)
	}
	file := tree(t, map[string]string{"proc": "x"})
	if _, err := NewProcfs(filepath.Join(file, "proc"), file).Discover(t.Context()); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewProcfs(t.TempDir(), "/").Discover(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("too late: got %v", err)
	}
}

func TestProcfsOpen(t *testing.T) {
	const text = "job_stats:\n- job_id:          a.0\n"
	root := tree(t, map[string]string{
		"fs/lustre/mdt/fs-MDT0000/job_stats": text, "fs/lustre/obdfilter/fs-OST0000/job_stats": "",
	})
	for i, s := range discover(t, NewProcfs(root, root)) {
		want := []string{text, ""}[i]
		got, readErr, closeErr := readAll(t, t.Context(), s)
		if got != want || readErr != nil || closeErr != nil {
			t.Errorf("%s: got %q, %v, %v", s.Target.Name, got, readErr, closeErr)
		}
	}
}

func TestProcfsUnbuffered(t *testing.T) {
	root := tree(t, map[string]string{"fs/lustre/mdt/fs-MDT0000/job_stats": strings.Repeat("x", 300<<10)})
	r, err := discover(t, NewProcfs(root, root))[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := r.Read(make([]byte, 256<<10)); n != 256<<10 || err != nil {
		t.Errorf("one Read into 256 KiB gave %d, %v: a buffer lies between", n, err)
	}
}

func TestProcfsGone(t *testing.T) {
	f := func(what string, remove func(root string) error, gone bool) {
		t.Helper()
		root := tree(t, map[string]string{"fs/lustre/obdfilter/fs-OST0000/job_stats": "x"})
		stream := discover(t, NewProcfs(root, root))[0]
		if err := remove(filepath.Join(root, "fs/lustre/obdfilter/fs-OST0000")); err != nil {
			t.Fatal(err)
		}
		_, err := stream.Open(t.Context())
		if err == nil || errors.Is(err, ErrGone) != gone || !strings.Contains(err.Error(), "fs-OST0000") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	f("file removed", func(d string) error { return os.Remove(d + "/job_stats") }, true)
	f("directory removed", os.RemoveAll, true)
	f("replaced by a file", func(d string) error { return errors.Join(os.RemoveAll(d), os.WriteFile(d, nil, 0o644)) }, true)
	f("broken, not gone", func(d string) error {
		return errors.Join(os.Remove(d+"/job_stats"), os.Symlink("job_stats", d+"/job_stats"))
	}, false)
}

func TestProcfsUnreadableTargetIsDiscovered(t *testing.T) {
	root := tree(t, map[string]string{
		"fs/lustre/mdt/fs-MDT0000/job_stats": "->job_stats", "fs/lustre/mdt/fs-MDT0001/job_stats": "x",
	})
	streams := discover(t, NewProcfs(root, root))
	if len(streams) != 2 {
		t.Fatalf("got %v", streams)
	}
	if _, err := streams[0].Open(t.Context()); !errors.Is(err, syscall.ELOOP) || errors.Is(err, ErrGone) {
		t.Errorf("broken target: got %v", err)
	}
	if text, readErr, _ := readAll(t, t.Context(), streams[1]); text != "x" || readErr != nil {
		t.Errorf("its neighbour: got %q, %v", text, readErr)
	}
}

func TestReaderErrors(t *testing.T) {
	here := filepath.Join(tree(t, map[string]string{"job_stats": ""}), "job_stats")
	f := func(what, path string, procfs, gone bool) {
		t.Helper()
		r := &reader{Reader: iotest.ErrReader(syscall.EIO), ctx: t.Context(), path: path, procfs: procfs}
		n, err := r.Read(make([]byte, 1))
		if n != 0 || !errors.Is(err, syscall.EIO) || errors.Is(err, ErrGone) != gone || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %d, %v", what, n, err)
		}
	}
	f("broken target", here, true, false)
	f("unmounted while read", here+"x", true, true)
	f("dump removed while read", here+"x", false, false)
}

func TestReaderStops(t *testing.T) {
	root := tree(t, map[string]string{"fs/lustre/mdt/fs-MDT0000/job_stats": strings.Repeat("x", 100)})
	stream := discover(t, NewProcfs(root, root))[0]
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	r, err := stream.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(make([]byte, 10)); n != 10 || err != nil {
		t.Fatalf("before: got %d, %v", n, err)
	}
	cancel()
	if n, err := r.Read(make([]byte, 10)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after: got %d, %v", n, err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := stream.Open(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrGone) {
		t.Errorf("Open: got %v", err)
	}
}

func TestCleanupInterval(t *testing.T) {
	ost := Target{"fs-OST0000", KindOST}
	const proc, sys = "proc/fs/lustre/obdfilter/fs-OST0000/", "sys/fs/lustre/obdfilter/fs-OST0000/"
	f := func(what string, target Target, files map[string]string, want time.Duration, ok bool) {
		t.Helper()
		root := tree(t, files)
		got, known := NewProcfs(filepath.Join(root, "proc"), filepath.Join(root, "sys")).CleanupInterval(target)
		if got != want || known != ok {
			t.Errorf("%s: got %v, %v, want %v, %v", what, got, known, want, ok)
		}
	}
	one := func(name, text string) map[string]string { return map[string]string{name + intervalFile: text} }
	f("2.13", ost, one(sys, "600\n"), 10*time.Minute, true)
	f("2.12", ost, one(proc, "600\n"), 10*time.Minute, true)
	f("both", ost, map[string]string{sys + intervalFile: "60\n", proc + intervalFile: "600\n"}, time.Minute, true)
	f("MDT", Target{"fs-MDT0000", KindMDT}, one("sys/fs/lustre/mdt/fs-MDT0000/", "4"), 4*time.Second, true)
	f("never", ost, one(sys, "0\n"), 0, true)
	f("nowhere", ost, nil, 0, false)
	f("a directory", ost, map[string]string{sys + intervalFile + "/x": ""}, 0, false)
	f("a directory, then a file", ost, map[string]string{sys + intervalFile + "/x": "", proc + intervalFile: "5"}, 5*time.Second, true)
	f("garbage hides procfs", ost, map[string]string{sys + intervalFile: "soon", proc + intervalFile: "600\n"}, 0, false)
	f("another target", Target{"fs-OST0001", KindOST}, one(sys, "600\n"), 0, false)
	f("a name that leads astray", Target{"../../../x", KindOST}, map[string]string{"sys/x/" + intervalFile: "600\n"}, 0, false)
	f("no kind", Target{Name: "fs-OST0000"}, map[string]string{"sys/fs/lustre/fs-OST0000/" + intervalFile: "600\n"}, 0, false)
}

func TestParseInterval(t *testing.T) {
	f := func(text string, want time.Duration, ok bool) {
		t.Helper()
		if got, known := ParseInterval(text); got != want || known != ok {
			t.Errorf("%q: got %v, %v, want %v, %v", text, got, known, want, ok)
		}
	}
	f("600", 10*time.Minute, true)
	f(" 600 \n", 10*time.Minute, true)
	f("0", 0, true)
	f("9223372036", 9223372036*time.Second, true)
	f("9223372037", 0, false)
	f("18446744073709551616", 0, false)
	f("-1", 0, false)
	f("600s", 0, false)
	f("6e2", 0, false)
	f("600\n600\n", 0, false)
	f("", 0, false)
	f("\n", 0, false)
}

func TestReadStartIsBounded(t *testing.T) {
	root := tree(t, map[string]string{"long": "1" + strings.Repeat(" ", 1000)})
	text, err := readStart(filepath.Join(root, "long"))
	if err != nil || len(text) != intervalLimit {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}
