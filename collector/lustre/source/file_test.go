// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFileText(t *testing.T) {
	const dump = "obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id:          a.0\n"
	f := func(what, content, want string) {
		t.Helper()
		path := filepath.Join(tree(t, map[string]string{"dump": content}), "dump")
		stream := discover(t, NewFile(path, Target{}))[0]
		for range 2 { // every observation reads the file again
			got, readErr, closeErr := readAll(t, t.Context(), stream)
			if got != want || readErr != nil || closeErr != nil {
				t.Errorf("%s: got %q, %v, %v", what, got, readErr, closeErr)
			}
		}
	}
	f("plain", dump, dump)
	f("empty", "", "")
	f("one byte", "j", "j")
	f("half the magic", "\x1f", "\x1f")
	f("nearly gzip", "\x1f\x8c"+dump, "\x1f\x8c"+dump)
	f("gzip", zipped(t, dump), dump)
	f("gzip of nothing", zipped(t, ""), "")
	f("two gzip members", zipped(t, dump)+zipped(t, dump), dump+dump)
	f("large", strings.Repeat(dump, 10000), strings.Repeat(dump, 10000))
	f("large gzip", zipped(t, strings.Repeat(dump, 10000)), strings.Repeat(dump, 10000))
}

func TestFileDamagedGzip(t *testing.T) {
	whole := zipped(t, strings.Repeat("- job_id:          a.0\n", 1000))
	f := func(what, content string, opens bool) {
		t.Helper()
		path := filepath.Join(tree(t, map[string]string{"dump.gz": content}), "dump.gz")
		r, err := discover(t, NewFile(path, Target{}))[0].Open(t.Context())
		if (err == nil) != opens {
			t.Fatalf("%s: Open: %v", what, err)
		}
		if opens {
			_, err = io.ReadAll(r)
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with the path", what, err)
		}
	}
	f("magic alone", "\x1f\x8b", false)
	f("not gzip", "\x1f\x8b this is not gzip at all", false)
	f("cut", whole[:len(whole)-10], true)
	f("checksum", whole[:len(whole)-8]+"\x00\x00\x00\x00"+whole[len(whole)-4:], true)
}

func TestFileTarget(t *testing.T) {
	f := func(path string, told, want Target) {
		t.Helper()
		root := tree(t, map[string]string{path: ""})
		stream := discover(t, NewFile(filepath.Join(root, path), told))[0]
		if stream.Target != want || !stream.Framed {
			t.Errorf("%s, %+v: got %+v, framed %v, want %+v", path, told, stream.Target, stream.Framed, want)
		}
	}
	ost := Target{"fs-OST0001", KindOST}
	f("dump", Target{}, UnknownTarget())
	f("dump", ost, ost)
	f("dump", Target{Name: "fs-OST0001"}, ost)
	f("dump", Target{Name: "odd"}, Target{Name: "odd"})
	f("x_fs-MDT0000.job_stats", Target{}, Target{"fs-MDT0000", KindMDT})
	f("x_fs-MDT0000.job_stats", ost, ost)
	f("obdfilter/fs-OST0001/job_stats", Target{}, ost)
}

func TestFileMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nothing")
	streams, err := NewFile(path, Target{}).Discover(t.Context())
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) || streams != nil {
		t.Errorf("missing: got %v, %v", streams, err)
	}
	if _, err := NewFile(dir, Target{}).Discover(t.Context()); err == nil || !strings.Contains(err.Error(), dir+" is a directory") {
		t.Errorf("directory: got %v", err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	stream := discover(t, NewFile(path, Target{}))[0]
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Open(t.Context()); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrGone) || !strings.Contains(err.Error(), path) {
		t.Errorf("removed: got %v", err)
	}
}

func TestFileDeadline(t *testing.T) {
	path := filepath.Join(tree(t, map[string]string{"dump": strings.Repeat("x", 100)}), "dump")
	s := NewFile(path, Target{})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := discover(t, s)[0].Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := r.Read(make([]byte, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: got %v", err)
	}
	if _, err := s.Discover(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Discover: got %v", err)
	}
}

func TestStandardInput(t *testing.T) {
	f := func(what string, in io.Reader, want string, wantErr error) {
		t.Helper()
		s := &dump{path: "-", target: UnknownTarget(), stdin: in}
		stream := discover(t, s)[0]
		r, err := stream.Open(t.Context())
		if wantErr != nil {
			if !errors.Is(err, wantErr) || !strings.Contains(err.Error(), "standard input") {
				t.Errorf("%s: Open: got %v", what, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: Open: %v", what, err)
		}
		got, err := io.ReadAll(r)
		if string(got) != want || err != nil || r.Close() != nil {
			t.Errorf("%s: got %q, %v", what, got, err)
		}
		if _, err := stream.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "save it to a file") {
			t.Errorf("%s: second Open: got %v", what, err)
		}
	}
	f("plain", strings.NewReader("job_stats:\n"), "job_stats:\n", nil)
	f("slow", iotest.OneByteReader(strings.NewReader("job_stats:\n")), "job_stats:\n", nil)
	f("slow gzip", iotest.OneByteReader(strings.NewReader(zipped(t, "job_stats:\n"))), "job_stats:\n", nil)
	f("broken", iotest.ErrReader(syscall.EIO), "", syscall.EIO)
}
