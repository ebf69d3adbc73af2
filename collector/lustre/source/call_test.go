// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// hangingCall is a run of lctl that does not end when killed, as a process in uninterruptible sleep, until
// release is closed.
func hangingCall(t *testing.T, ctx context.Context, l *lctl) (c *call, release chan struct{}) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	release = make(chan struct{})
	return &call{
		ctx: ctx, owner: l, out: out, stderr: new(complaints), delay: 10 * time.Millisecond, ended: make(chan struct{}),
		kill: func() error { return nil }, wait: func() error { <-release; return nil }, unhook: func() bool { return true },
	}, release
}

func TestStuckCall(t *testing.T) {
	f := func(what string, ctx context.Context, read bool, cause error) {
		t.Helper()
		command, _ := fakeLctl(t, "exit 0")
		l := &lctl{command: command}
		c, release := hangingCall(t, ctx, l)
		if read {
			if _, err := io.ReadAll(c); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		err := c.Close()
		var got *LctlError
		if !errors.As(err, &got) || !got.Killed || !errors.Is(err, errStuck) || !errors.Is(err, cause) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Close: got %v", what, err)
		}
		stream := discover(t, l)[0]
		if r, err := stream.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "has not ended") {
			t.Errorf("%s: Open while it hangs: got %v, %v", what, r, err)
		}
		close(release)
		<-c.ended
		if _, _, err := readAll(t, t.Context(), stream); err != nil {
			t.Errorf("%s: Open after it ended: got %v", what, err)
		}
	}
	f("closed early", t.Context(), false, errClosedEarly)
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	f("deadline after the whole output", soon, true, context.DeadlineExceeded)
	f("deadline before", soon, false, context.DeadlineExceeded)
}

func TestCallReadError(t *testing.T) {
	c, release := hangingCall(t, t.Context(), &lctl{})
	close(release)
	c.out.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("Read: got %v", err)
	}
	var got *LctlError
	if err := c.Close(); !errors.As(err, &got) || !got.Killed || !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close: got %v", err)
	}
}

func TestHarmless(t *testing.T) {
	exit := func(code string) error { return exec.Command("sh", "-c", "exit "+code).Run() }
	f := func(what string, err error, v verdict, want bool) {
		t.Helper()
		if got := harmless(err, v); got != want {
			t.Errorf("%s: got %v", what, got)
		}
	}
	f("fine", nil, verdict{}, true)
	f("stderr kept open by a child", exec.ErrWaitDelay, verdict{}, true)
	f("deadline after the end", context.DeadlineExceeded, verdict{}, true)
	f("wait failed", os.ErrInvalid, verdict{}, false)
	f("nothing there, silent", exit("2"), verdict{}, true)
	f("nothing there, 2.5", exit("3"), verdict{}, true)
	f("nothing there, said so", exit("2"), verdict{text: "x", missing: true}, true)
	f("chatter", exit("2"), verdict{text: "x"}, false)
	f("an unexplained status", exit("1"), verdict{text: "x", missing: true}, false)
	f("an interval", exit("13"), verdict{text: "x", interval: true}, true)
}

func TestLctlErrorText(t *testing.T) {
	f := func(e LctlError, want string) {
		t.Helper()
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	two := []Target{{"fs-OST0000", KindOST}, {"fs-OST0001", KindOST}}
	f(LctlError{Err: io.ErrClosedPipe}, "lctl get_param: io: read/write on closed pipe")
	f(LctlError{Unreadable: two, Stderr: "\na\x01b\nc\n"},
		`lctl get_param: 2 target(s) could not be read, fs-OST0000 first; lctl said "a\x01b"`)
	f(LctlError{Stderr: strings.Repeat("ä", 300)}, `lctl get_param: lctl said "`+strings.Repeat("ä", 100)+`..."`)
	f(LctlError{Stderr: "x" + strings.Repeat("ä", 300)}, `lctl get_param: lctl said "x`+strings.Repeat("ä", 99)+`..."`)
}
