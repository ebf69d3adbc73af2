// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// gzipBuffer is how much compressed text is read at a time.
const gzipBuffer = 64 << 10

// dump reads a saved text. It may hold one target's job_stats or lctl's framed output of many.
type dump struct {
	path   string
	target Target
	stdin  io.Reader
	taken  atomic.Bool // standard input can be read once
}

// NewFile reads a saved dump, plain or compressed by gzip (told by its first bytes), or standard input where
// path is "-". The stream is always framed: without framing the whole text is t's. Where t has no name, it is
// TargetFromPath's guess or else UnknownTarget; what operations the dump has is not looked at for that. A
// missing kind is told from the name.
//
// How much a compressed dump expands to is not limited here: the reader of the stream counts what it reads.
func NewFile(path string, t Target) Source {
	return &dump{path: path, target: ownerOf(path, t), stdin: os.Stdin}
}

func ownerOf(path string, told Target) Target {
	switch {
	case told.Name != "" && told.Kind != "":
		return told
	case told.Name != "":
		if t, ok := ParseTargetName(told.Name); ok {
			return t
		}
		return told
	}
	if t, ok := TargetFromPath(path); ok {
		return t
	}
	return UnknownTarget()
}

func (d *dump) Name() string { return File }

// Discover fails where there is no dump: unlike a target, a file that was asked for does not come and go.
func (d *dump) Discover(ctx context.Context) ([]Stream, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", d.label(), context.Cause(ctx))
	}
	if d.path != "-" {
		info, err := os.Stat(d.path)
		if err != nil {
			return nil, fmt.Errorf("saved dump: %w", err)
		}
		if info.IsDir() {
			return nil, fmt.Errorf("saved dump: %s is a directory; name one file", d.path)
		}
	}
	return []Stream{{Target: d.target, Framed: true, Open: d.open}}, nil
}

// CleanupInterval is not known of a dump, unless a frame in it tells.
func (d *dump) CleanupInterval(Target) (time.Duration, bool) { return 0, false }

func (d *dump) label() string {
	if d.path == "-" {
		return "standard input"
	}
	return d.path
}

func (d *dump) open(ctx context.Context) (io.ReadCloser, error) {
	in, closer, err := d.bytes()
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, path: d.label(), closer: closer}
	if r.Reader, err = uncompressed(in); err != nil {
		_ = r.Close() // nothing was read from it
		return nil, fmt.Errorf("%s: %w", d.label(), err)
	}
	return r, nil
}

func (d *dump) bytes() (io.Reader, io.Closer, error) {
	if d.path == "-" {
		if d.taken.Swap(true) {
			return nil, nil, errors.New("standard input was read before and cannot be read again: save it to a file")
		}
		return d.stdin, nil, nil // not ours to close
	}
	f, err := os.Open(d.path)
	if err != nil {
		return nil, nil, fmt.Errorf("saved dump: %w", err)
	}
	return f, f, nil
}

// uncompressed looks at the first two bytes only: no job_stats text starts with gzip's 0x1f 0x8b.
func uncompressed(in io.Reader) (io.Reader, error) {
	var head [2]byte
	n, err := io.ReadFull(in, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), in)
	if n < 2 || head != [2]byte{0x1f, 0x8b} {
		return whole, nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(whole, gzipBuffer))
	if err != nil {
		return nil, fmt.Errorf("starts like gzip but is not: %w", err)
	}
	return z, nil
}
