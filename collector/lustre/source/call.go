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
	"syscall"
	"time"
)

var (
	errClosedEarly = errors.New("closed before the end of the output")
	errStuck       = errors.New("killed, but it does not end")
)

// call is one run of lctl: its standard output as a reader, its outcome as Close's error.
//
// The process is waited for only after its output has ended or was given up. Until then it is alive or a
// zombie, so its number, which is also its group's, cannot have become somebody else's when it is killed.
type call struct {
	ctx    context.Context // a call lives as long as its context
	owner  *lctl
	out    *os.File
	stderr *complaints
	kill   func() error
	wait   func() error
	unhook func() bool
	delay  time.Duration

	ended   chan struct{} // closed when wait has returned
	waitErr error         // valid then

	whole  bool  // the output was read to its end
	cut    error // why it was not
	closed bool
	result error
}

// Read gives lctl's standard output. Its end is an error where it is not lctl's own doing.
func (c *call) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	switch {
	case err == nil:
		return n, nil
	case c.ctx.Err() != nil: // the kill ends the output like any other end
		c.cut = fmt.Errorf("lctl: output stopped: %w", context.Cause(c.ctx))
	case errors.Is(err, io.EOF):
		c.whole = true
		return n, io.EOF
	default:
		c.cut = fmt.Errorf("lctl: reading its output: %w", err)
	}
	return n, c.cut
}

// Close waits for lctl to end, kills it if its output was not read to the end, and returns *LctlError if
// anything is missing in the output. Called again it returns the same.
func (c *call) Close() error {
	if c.closed {
		return c.result
	}
	c.closed = true
	if !c.whole {
		c.abandon()
	}
	go func() {
		c.waitErr = c.wait()
		close(c.ended)
	}()
	hangs := !c.awaitEnd()
	c.unhook()
	c.out.Close()
	c.result = c.outcome(hangs)
	return c.result
}

func (c *call) abandon() {
	if c.cut == nil {
		c.cut = errClosedEarly
		if c.ctx.Err() != nil {
			c.cut = context.Cause(c.ctx)
		}
	}
	// An error can only say that it has ended already, and then the wait tells more.
	_ = c.kill()
}

// awaitEnd reports whether lctl ended. One that was not killed has until the deadline; then, and where it was
// killed, it has twice the delay: exec's own delay, and some time to notice.
func (c *call) awaitEnd() bool {
	if c.whole {
		select {
		case <-c.ended:
			return true
		case <-c.ctx.Done():
		}
	}
	grace := time.NewTimer(2 * c.delay)
	defer grace.Stop()
	select {
	case <-c.ended:
		return true
	case <-grace.C:
		c.owner.setStuck(c)
		return false
	}
}

func (c *call) outDeadline(t time.Time) {
	// It fails only where the pipe is closed already, and then nobody waits in a Read.
	_ = c.out.SetReadDeadline(t)
}

// outcome judges, from the worst to the harmless.
func (c *call) outcome(hangs bool) error {
	v := c.stderr.verdict()
	e := &LctlError{Unreadable: v.unreadable, Stderr: v.text}
	switch {
	case hangs:
		e.Killed, e.Err = true, fmt.Errorf("%w: %w", c.killCause(), errStuck)
	case c.cut != nil, signaled(c.waitErr):
		e.Killed, e.Err = true, c.killCause()
	case v.failure != "":
		e.Err = errors.New("it failed for more than single targets: " + firstLine(v.failure))
	case len(v.unreadable) > 0: // explains any status
	case !harmless(c.waitErr, v):
		e.Err = c.waitErr
	default:
		return nil
	}
	return e
}

// killCause: after its whole output was read, a signal is most likely our own.
func (c *call) killCause() error {
	if c.cut != nil {
		return c.cut
	}
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	return c.waitErr
}

func signaled(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// harmless are the ends of a call that printed all there is. Status 2 is ENOENT, a pattern without a match, for
// which 2.16 prints no message when not run by root; up to 2.5 it was 3, ESRCH. Other programs exit 2 as well,
// so with other messages it must be explained. A child of lctl's that keeps standard error open, or a
// deadline that passed after the end, changes nothing about the output.
func harmless(err error, v verdict) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err == nil || errors.Is(err, exec.ErrWaitDelay) ||
			errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	}
	nothing := exit.ExitCode() == 2 || exit.ExitCode() == 3
	return v.interval || nothing && (v.missing || v.text == "")
}
