// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// grace is how long a process has between SIGTERM and SIGKILL.
const grace = 15 * time.Second

// Process is a child in a process group of its own, so that a Ctrl-C at the terminal reaches this program alone, which
// then ends its children in order.
type Process struct {
	// Name is what messages call it.
	Name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait; read after done
}

// Start runs a program and sends what it prints to the file log.
func Start(name, log, program string, args ...string) (*Process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer out.Close() // the child has its own
	p := &Process{Name: name, log: log, cmd: exec.Command(program, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = ownGroup()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID is the process id, which is its group's too.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended, for whatever reason.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how a process that ended by itself did, with the last lines it printed.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	how := "ended by itself"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s: %s; it printed:\n%s", p.Name, how, p.tail(15))
}

// tail returns the last lines of the log.
func (p *Process) tail(n int) string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Stop ends the group, politely first, and waits for the process. What our programs are has no children of its own, so
// the group is empty then.
func (p *Process) Stop() error {
	err := p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return err
	case <-time.After(grace):
	}
	return errors.Join(err, fmt.Errorf("%s did not end within %v of SIGTERM: killed", p.Name, grace), p.Kill())
}

// Kill ends the group at once, as a crash would.
func (p *Process) Kill() error {
	err := p.signal(syscall.SIGKILL)
	<-p.done
	return err
}

// signal leaves alone what has ended: its id may be another's by now.
func (p *Process) signal(s syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := syscall.Kill(-p.PID(), s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("%v to %s: %w", s, p.Name, err)
	}
	return nil
}

// WaitUntil asks again and again until ok says yes, the process is gone, or ctx is done.
func (p *Process) WaitUntil(ctx context.Context, ok func(context.Context) bool) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !ok(ctx) {
		select {
		case <-p.done:
			return p.Err()
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w; it printed:\n%s", p.Name, context.Cause(ctx), p.tail(15))
		case <-tick.C:
		}
	}
	return nil
}
