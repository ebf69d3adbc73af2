// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"
)

// LctlError is what closing lctl's stream returns when its output is not all that it should be. Text read
// before it is good: what it lacks is told here.
type LctlError struct {
	// Unreadable are the targets whose job_stats lctl could not read. They are mounted; all others that are
	// not in the output are not, unless the call failed as a whole.
	Unreadable []Target
	// Killed: the call did not end by itself but by its deadline, by an early Close or by a signal. The last
	// target in the output may be cut short, and nothing may be concluded about those that are not in it.
	Killed bool
	// Stderr is what lctl wrote to standard error, 64 KiB of it at most, as valid UTF-8.
	Stderr string
	// Err is why the call failed as a whole; nil if the targets in Unreadable are all that is wrong.
	Err error
}

// Partial reports that lctl told about every target except those in Unreadable.
func (e *LctlError) Partial() bool { return !e.Killed && e.Err == nil }

// Error is one line, whatever lctl wrote.
func (e *LctlError) Error() string {
	var parts []string
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	if n := len(e.Unreadable); n > 0 {
		parts = append(parts, fmt.Sprintf("%d target(s) could not be read, %s first", n, e.Unreadable[0].Name))
	}
	if line := firstLine(e.Stderr); line != "" {
		parts = append(parts, "lctl said "+line)
	}
	return "lctl get_param: " + strings.Join(parts, "; ")
}

// Unwrap gives Err, so that a deadline is context.DeadlineExceeded.
func (e *LctlError) Unwrap() error { return e.Err }

// firstLine is quoted, because lctl repeats names that it was given, and short.
func firstLine(text string) string {
	const enough = 200
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	if line == "" {
		return ""
	}
	if len(line) > enough {
		line = strings.ToValidUTF8(line[:enough], "") + "..."
	}
	return fmt.Sprintf("%q", line)
}
