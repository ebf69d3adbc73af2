// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// reader hands Reads through unbuffered, and ends them with the context. A read(2) that hangs in the kernel
// cannot be interrupted: ctx is looked at between reads.
type reader struct {
	io.Reader
	ctx    context.Context // a reader is one call, and has no other way to learn of its end
	path   string
	closer io.Closer
	procfs bool // an error may mean that the target is being unmounted
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, fmt.Errorf("%s: reading stopped: %w", r.path, context.Cause(r.ctx))
	}
	n, err := r.Reader.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, r.explain(err)
}

// explain names the file, which gzip's errors do not. A procfs file whose owner has removed it fails with EIO
// (fs/proc/inode.c, proc_reg_read): whether that is a broken target or an unmounted one, the path tells.
func (r *reader) explain(err error) error {
	err = fmt.Errorf("%s: %w", r.path, err)
	if r.procfs && vanished(r.path, err) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

func (r *reader) Close() error {
	if r.closer == nil {
		return nil
	}
	err := r.closer.Close()
	r.closer = nil
	return err
}

// vanished reports whether err, met at path, means that there is no such file any more.
func vanished(path string, err error) bool {
	if absent(err) {
		return true
	}
	_, statErr := os.Stat(path)
	return absent(statErr)
}

// absent is what a stat of a path says when some part of it is not there, or is a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
