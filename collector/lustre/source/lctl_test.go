// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// None of these tests is parallel: a script that is still open for writing in a process just forked cannot be
// executed (ETXTBSY).

const goodOutput = "mdt.fs-MDT0000.job_stats=job_stats:\n" +
	"obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id:          a.0\n" +
	"mdt.fs-MDT0000.job_cleanup_interval=600\n"

// fakeLctl writes a shell script that stands for lctl; it runs in a directory of its own, $DIR.
func fakeLctl(t *testing.T, script string) (command, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "output"), []byte(goodOutput), 0o644); err != nil {
		t.Fatal(err)
	}
	command = filepath.Join(dir, "lctl")
	text := "#!/bin/sh\nDIR='" + dir + "'\n" + script + "\n"
	if err := os.WriteFile(command, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return command, dir
}

func TestLctlOutcome(t *testing.T) {
	mdt, ost := Target{"fs-MDT0000", KindMDT}, Target{"fs-OST0001", KindOST}
	const good = "cat $DIR/output\n"
	missing := "echo \"error: get_param: param_path 'mdt/*/job_stats': No such file or directory\" >&2\n"
	broken := func(file string) string {
		return "echo \"error: read_param: '" + file + "': Input/output error\" >&2\n"
	}
	f := func(what, script, wantText string, want *LctlError) {
		t.Helper()
		command, _ := fakeLctl(t, script)
		text, readErr, err := readAll(t, t.Context(), discover(t, NewLctl(command))[0])
		if text != wantText || readErr != nil {
			t.Errorf("%s: got %q, %v", what, text, readErr)
		}
		if want == nil {
			if err != nil {
				t.Errorf("%s: Close: %v", what, err)
			}
			return
		}
		var got *LctlError
		if !errors.As(err, &got) {
			t.Fatalf("%s: Close gave %v", what, err)
		}
		if got.Killed != want.Killed || !reflect.DeepEqual(got.Unreadable, want.Unreadable) || (got.Err != nil) != (want.Err != nil) {
			t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
		}
		if got.Partial() != (want.Err == nil && !want.Killed) {
			t.Errorf("%s: Partial() = %v", what, got.Partial())
		}
		if want.Err != nil && !strings.Contains(err.Error(), want.Err.Error()) {
			t.Errorf("%s: %q is not in %q", what, want.Err, err)
		}
	}
	fails := func(text string) *LctlError { return &LctlError{Err: errors.New(text)} }

	f("good", good, goodOutput, nil)
	f("no targets", "exit 0", "", nil)
	f("an OSS", good+missing+"exit 2", goodOutput, nil)
	f("neither kind", missing+missing+"exit 2", "", nil)
	f("not root, 2.16", good+"exit 2", goodOutput, nil)
	f("2.5", good+"echo 'error: get_param: /proc/{fs,sys}/{lnet,lustre}/mdt/*/job_stats: Found no match' >&2; exit 3", goodOutput, nil)
	f("warnings", good+"echo 'debugfs is not mounted' >&2", goodOutput, nil)
	f("a child keeps stderr open", good+"sleep 3 >/dev/null &", goodOutput, nil)
	f("unmounted meanwhile", good+"echo \"error: read_param: '/proc/fs/lustre/mdt/x-MDT0000/job_stats': No such file or directory\" >&2; exit 2", goodOutput, nil)
	f("interval unreadable", good+broken("/sys/fs/lustre/mdt/fs-MDT0000/job_cleanup_interval")+"exit 5", goodOutput, nil)

	f("one target unreadable", good+broken("/proc/fs/lustre/mdt/fs-MDT0000/job_stats")+"exit 5", goodOutput,
		&LctlError{Unreadable: []Target{mdt}})
	f("one unreadable, 2.17 exits 0", good+broken("/proc/fs/lustre/mdt/fs-MDT0000/job_stats"), goodOutput,
		&LctlError{Unreadable: []Target{mdt}})
	f("two unreadable on an OSS", missing+broken("/proc/fs/lustre/obdfilter/fs-OST0001/job_stats")+
		broken("/proc/fs/lustre/mdt/fs-MDT0000/job_stats")+"exit 2", "", &LctlError{Unreadable: []Target{ost, mdt}})

	f("a kind denied", good+"echo \"error: get_param: param_path 'mdt/*/job_stats': Permission denied\" >&2; exit 13", goodOutput,
		fails("Permission denied"))
	f("a kind denied and a target broken", broken("/proc/fs/lustre/mdt/fs-MDT0000/job_stats")+
		"echo 'error: get_param: out of memory' >&2; exit 12", "", &LctlError{Unreadable: []Target{mdt}, Err: errors.New("out of memory")})
	f("not lctl", "echo 'usage: something else' >&2; exit 2", "", fails("exit status 2"))
	f("not lctl, silent", "exit 1", "", fails("exit status 1"))
	f("the wrapped command is missing", good+missing+"exit 127", goodOutput, fails("exit status 127"))
	f("crash", good+"kill -SEGV $$", goodOutput, &LctlError{Killed: true, Err: errors.New("segmentation fault")})
}

func TestLctlCall(t *testing.T) {
	command, dir := fakeLctl(t, `for a in "$@"; do echo "$a"; done; echo "LC_ALL=$LC_ALL HOME=$HOME"; pwd >/dev/null`)
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("HOME", dir)
	got, readErr, closeErr := readAll(t, t.Context(), discover(t, NewLctl(command))[0])
	want := "get_param\nmdt.*.job_stats\nobdfilter.*.job_stats\nmdt.*.job_cleanup_interval\nobdfilter.*.job_cleanup_interval\n" +
		"LC_ALL=C HOME=" + dir + "\n"
	if got != want || readErr != nil || closeErr != nil {
		t.Errorf("got %q, %v, %v", got, readErr, closeErr)
	}
}

func TestLctlMissing(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, command := range []string{"lctl", filepath.Join(dir, "lctl"), plain, dir, "lctl; true"} {
		streams, err := NewLctl(command).Discover(t.Context())
		if err == nil || streams != nil || !strings.Contains(err.Error(), command) ||
			!strings.Contains(err.Error(), "install lustre-client utilities or use --lustre.source=procfs") {
			t.Errorf("%s: got %v, %v", command, streams, err)
		}
	}
}

func TestLctlGoneBeforeOpen(t *testing.T) {
	command, _ := fakeLctl(t, "exit 0")
	stream := discover(t, NewLctl(command))[0]
	if err := os.Remove(command); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	if r, err := stream.Open(t.Context()); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, %v", r, err)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d open files before, %d after", before, after)
	}
}

func TestLctlTooLate(t *testing.T) {
	command, _ := fakeLctl(t, "exit 0")
	stream := discover(t, NewLctl(command))[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewLctl(command).Discover(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Discover: got %v", err)
	}
	if _, err := stream.Open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: got %v", err)
	}
}

func TestLctlHugeStderr(t *testing.T) {
	command, _ := fakeLctl(t, `cat $DIR/output
i=0; line=$(printf '%0200d' 0)
while [ $i -lt 5000 ]; do echo "$line" >&2; i=$((i+1)); done
echo "error: read_param: '/proc/fs/lustre/mdt/fs-MDT0000/job_stats': Input/output error" >&2
exit 5`)
	text, readErr, err := readAll(t, t.Context(), discover(t, NewLctl(command))[0])
	var got *LctlError
	if text != goodOutput || readErr != nil || !errors.As(err, &got) {
		t.Fatalf("got %q, %v, %v", text, readErr, err)
	}
	if len(got.Stderr) != stderrLimit || len(got.Unreadable) != 1 || !got.Partial() {
		t.Errorf("got %d bytes, %v, %v", len(got.Stderr), got.Unreadable, got.Err)
	}
	if n := len(err.Error()); n > 500 || strings.Contains(err.Error(), "\n") {
		t.Errorf("the message has %d bytes: %q", n, err)
	}
}

// TestLctlDeadline: whatever hangs, the deadline ends the call and all of its processes.
func TestLctlDeadline(t *testing.T) {
	const patience = time.Second // a shell has to start in it, on a machine that does other things too
	f := func(what, script, wantText string, readEnds bool) {
		t.Helper()
		command, dir := fakeLctl(t, script)
		l := NewLctl(command)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		start := time.Now()
		text, readErr, err := readAll(t, ctx, discover(t, l)[0])
		var got *LctlError
		if !errors.As(err, &got) || !got.Killed || got.Partial() || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: Close: got %v", what, err)
		}
		if text != wantText || (readErr == nil) != readEnds || !readEnds && !errors.Is(readErr, context.DeadlineExceeded) {
			t.Errorf("%s: Read: got %q, %v", what, text, readErr)
		}
		if took := time.Since(start); took < patience || took > patience+5*time.Second {
			t.Errorf("%s: took %v", what, took)
		}
		pids, err := os.ReadFile(filepath.Join(dir, "pids"))
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range strings.Fields(string(pids)) {
			awaitGone(t, what, pid)
		}
	}
	const self, child = "echo $$ >>$DIR/pids\n", "sleep 300 & echo $! >>$DIR/pids\n"
	f("lctl hangs", self+"cat $DIR/output; exec sleep 300", goodOutput, false)
	f("a wrapper and its child hang", self+child+"cat $DIR/output; wait", goodOutput, false)
	f("the wrapper has ended", self+child+"cat $DIR/output", goodOutput, false)
	f("the child ignores signals", self+"(trap '' TERM INT HUP; sleep 300) & echo $! >>$DIR/pids; cat $DIR/output; wait", goodOutput, false)
	f("hangs after its output", self+child+"cat $DIR/output; exec >&-; wait", goodOutput, false)
	f("writes for ever", self+"while :; do echo x; sleep 60; done", "x\n", false)
	f("stopped", self+"cat $DIR/output; kill -STOP $$", goodOutput, false)
	f("closed its output", self+"sleep 300 >/dev/null & echo $! >>$DIR/pids; cat $DIR/output; exec >&-; wait", goodOutput, true)
}

// TestLctlEscaped: a process that left the group keeps the output open; it cannot be ended, nor can it hold us.
func TestLctlEscaped(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	command, dir := fakeLctl(t, "cat $DIR/output; setsid sh -c 'echo $$ >'$DIR'/pid; exec sleep 300' & wait")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	text, readErr, err := readAll(t, ctx, discover(t, NewLctl(command))[0])
	if text != goodOutput || !errors.Is(readErr, context.DeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %q, %v, %v", text, readErr, err)
	}
	if took := time.Since(start); took > 10*killDelay {
		t.Errorf("took %v", took)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Errorf("it had not escaped: %v", err)
	}
}

func TestLctlClosedEarly(t *testing.T) {
	command, dir := fakeLctl(t, "echo $$ >$DIR/pid; cat $DIR/output; sleep 300")
	r, err := discover(t, NewLctl(command))[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, len(goodOutput))); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	err = r.Close()
	var got *LctlError
	if !errors.As(err, &got) || !got.Killed || !errors.Is(err, errClosedEarly) {
		t.Errorf("Close: got %v", err)
	}
	if again := r.Close(); !errors.Is(again, err) {
		t.Errorf("Close again: got %v", again)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	awaitGone(t, "closed early", strings.TrimSpace(string(pid)))
}

func TestLctlLeavesNothingOpen(t *testing.T) {
	command, _ := fakeLctl(t, "cat $DIR/output")
	stream := discover(t, NewLctl(command))[0]
	readAll(t, t.Context(), stream) // the runtime's own files are open now
	before := openFiles(t)
	for range 20 {
		if _, _, err := readAll(t, t.Context(), stream); err != nil {
			t.Fatal(err)
		}
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files before, %d after", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(files)
}

// awaitGone waits until the process is gone, or a zombie of a parent that does not care.
func awaitGone(t *testing.T, what, pid string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", pid))
		if err != nil {
			return
		}
		if _, rest, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(rest, "Z") {
			return
		}
	}
	t.Errorf("%s: process %s is still there", what, pid)
}
