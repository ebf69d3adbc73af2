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
	"sync"
	"syscall"
	"time"
)

// killDelay is how long a killed lctl, and whoever holds its output open, is given to end.
const killDelay = time.Second

// getParam asks for everything in one call: each call costs a fork and a walk of Lustre's trees. A pattern
// that matches nothing makes lctl exit 2, and harms the others in no way (jobstats_format.md section 8).
func getParam() []string {
	return []string{
		"get_param",
		"mdt.*.job_stats", "obdfilter.*.job_stats",
		"mdt.*.job_cleanup_interval", "obdfilter.*.job_cleanup_interval",
	}
}

// lctl runs `lctl get_param`.
type lctl struct {
	command string

	mu    sync.Mutex
	stuck *call // killed, but still in the kernel
}

// NewLctl runs the given lctl executable once per observation. It needs Unix process groups. The intervals
// come in the same framed stream as the entries, hence CleanupInterval never knows one.
func NewLctl(command string) Source { return &lctl{command: command} }

func (l *lctl) Name() string { return Lctl }

// Discover cannot know the targets before lctl has run: it gives one framed stream.
func (l *lctl) Discover(ctx context.Context) ([]Stream, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("looking for %s: %w", l.command, context.Cause(ctx))
	}
	path, err := exec.LookPath(l.command)
	if err != nil {
		return nil, fmt.Errorf("%w: install lustre-client utilities or use --lustre.source=procfs", err)
	}
	open := func(ctx context.Context) (io.ReadCloser, error) { return l.open(ctx, path) }
	return []Stream{{Framed: true, Open: open}}, nil
}

// CleanupInterval is never known here.
func (l *lctl) CleanupInterval(Target) (time.Duration, bool) { return 0, false }

func (l *lctl) open(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := l.checkStuck(); err != nil {
		return nil, err
	}
	// A pipe of our own: exec's would be closed under the reader by Wait.
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting lctl: %w", err)
	}
	c := &call{ctx: ctx, owner: l, out: out, stderr: new(complaints), ended: make(chan struct{}), delay: killDelay}
	cmd := command(ctx, path)
	cmd.Stdout, cmd.Stderr = in, c.stderr
	err = cmd.Start()
	in.Close() // the child has its own
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("starting lctl: %w", err)
	}
	c.kill, c.wait = cmd.Cancel, cmd.Wait
	// A child that left the process group may hold the pipe open for ever. What was written before the kill
	// may still be read.
	c.unhook = context.AfterFunc(ctx, func() { c.outDeadline(time.Now().Add(killDelay)) })
	return c, nil
}

// command is lctl in a process group of its own, which is killed as a whole: site wrappers are common, and a
// killed wrapper must not leave lctl behind.
func command(ctx context.Context, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, getParam()...)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // its messages are read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = killDelay
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return cmd
}

// checkStuck keeps calls from piling up: a process that hangs in the kernel does not even end when killed.
func (l *lctl) checkStuck() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stuck == nil {
		return nil
	}
	select {
	case <-l.stuck.ended:
		l.stuck = nil
		return nil
	default:
		return errors.New("starting lctl: the previous call was killed and has not ended: " +
			"it hangs in the kernel, see the kernel log for Lustre's errors")
	}
}

func (l *lctl) setStuck(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stuck = c
}
