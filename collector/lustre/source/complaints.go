// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"slices"
	"sync"
)

const (
	stderrLimit    = 64 << 10 // of lctl's messages, kept for people to read
	complaintLimit = 8 << 10  // of one message: a path is 4 KiB at most
	targetLimit    = 4096     // of unreadable targets named
)

// complaints reads what lctl writes to standard error, line by line and however much it is, keeping a bounded
// part. Its messages are (lustre/utils/lustre_param.c, lustre_cfg.c; jobstats_format.md section 8)
//
//	error: get_param: param_path 'mdt/*/job_stats': No such file or directory          a kind nobody has here
//	error: read_param: '/proc/fs/lustre/mdt/fs-MDT0000/job_stats': Input/output error  one file
//
// with other words around the path in other releases, so only the path and the reason are relied on. Lustre
// 2.17 may exit 0 after such a message: the status alone tells nothing.
type complaints struct {
	mu         sync.Mutex // a killed lctl may still be writing while its call is given up
	text       []byte
	line       []byte
	unreadable []Target
	failure    string // first error that is about something else than one target
	missing    bool   // some pattern or file was not there
	interval   bool   // some interval could not be read
}

// Write never fails: lctl must not die of SIGPIPE because it complains a lot.
func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, p[:min(len(p), stderrLimit-len(c.text))]...)
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			c.extend(rest)
			break
		}
		c.extend(rest[:i])
		c.endLine()
		rest = rest[i+1:]
	}
	return len(p), nil
}

func (c *complaints) extend(part []byte) {
	c.line = append(c.line, part[:min(len(part), complaintLimit-len(c.line))]...)
}

func (c *complaints) endLine() {
	c.judge(bytes.TrimSpace(c.line))
	c.line = c.line[:0]
}

// verdict is what standard error said in all.
type verdict struct {
	text       string
	unreadable []Target
	failure    string
	missing    bool
	interval   bool
}

func (c *complaints) verdict() verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLine() // the last line may lack its newline
	return verdict{
		text: string(bytes.ToValidUTF8(c.text, []byte("?"))), unreadable: slices.Clone(c.unreadable),
		failure: c.failure, missing: c.missing, interval: c.interval,
	}
}

func (c *complaints) judge(line []byte) {
	t, file, ok := subject(line)
	switch {
	case !bytes.HasPrefix(line, []byte("error")): // a warning, or a wrapper's chatter
	case missing(line):
		c.missing = true
	case ok && file == statsFile:
		c.addUnreadable(t)
	case ok:
		c.interval = true // merely not known
	case c.failure == "":
		c.failure = string(bytes.ToValidUTF8(line, []byte("?")))
	}
}

func (c *complaints) addUnreadable(t Target) {
	if len(c.unreadable) < targetLimit && !slices.Contains(c.unreadable, t) {
		c.unreadable = append(c.unreadable, t)
	}
}

// missing: a pattern without a match is a machine without that kind of target, and a file that is gone since
// lctl listed it is a target unmounted meanwhile. The second wording is that of 2.5 and before.
func missing(line []byte) bool {
	return bytes.HasSuffix(line, []byte("No such file or directory")) || bytes.HasSuffix(line, []byte("Found no match"))
}

// subject finds the target that a message's path names, and which of its files. A pattern is no target.
func subject(line []byte) (t Target, file string, ok bool) {
	for _, file := range []string{statsFile, intervalFile} {
		dir, _, found := bytes.Cut(line, []byte("/"+file))
		if !found {
			continue
		}
		start := bytes.LastIndexAny(dir, " '\"(") + 1 // whatever stands before the path
		t, ok := targetFromTree(string(dir[start:]))
		return t, file, ok
	}
	return Target{}, "", false
}
