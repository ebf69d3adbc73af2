// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Kind says which metric a Key belongs to.
type Kind uint8

// The kinds of counters that an entry carries.
const (
	// Operation counts requests: the samples of an operation line.
	Operation Kind = iota
	// ReadBytes and WriteBytes add up bytes: the sum of a line whose unit is bytes.
	ReadBytes
	WriteBytes
	// Microseconds adds up server time: the sum of a line whose unit is usecs.
	Microseconds
	// ReadSize and WriteSize count bulk RPCs by size; the index is the bucket's exponent.
	ReadSize
	WriteSize
	numKinds
)

// Key names one counter of an entry: its kind, and the operation or bucket.
type Key uint16

func makeKey(k Kind, index uint8) Key { return Key(k)<<8 | Key(index) }

// Kind returns which metric the key belongs to.
func (k Key) Kind() Kind { return Kind(k >> 8) }

// Index returns the operation's number in Names, or the bucket's exponent.
func (k Key) Index() uint8 { return uint8(k) }

// maxNames bounds the operation names kept: a name is one byte of a Key, and forged lines (possible
// on Lustre 2.3-2.7, LU-7187) must not grow the number of series without end.
const maxNames = 256

// Names numbers operation names. It only grows, is bounded, and is safe for concurrent use.
type Names struct {
	mu    sync.Mutex
	index map[string]uint8
	list  atomic.Pointer[[]string]
}

// NewNames returns a table that already holds the operations Lustre is known to print, so that no
// forged name can take the place of a real one.
func NewNames() *Names {
	n := &Names{index: make(map[string]uint8, maxNames)}
	list := slices.Clone(knownOperations())
	for i, name := range list {
		n.index[name] = uint8(i)
	}
	n.list.Store(&list)
	return n
}

// Number returns the number of a name, adding it when there is room. A name that is not UTF-8, which no
// Lustre prints but which can be forged, has none: Prometheus would reject the whole scrape for it.
func (n *Names) Number(name []byte) (uint8, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, ok := n.index[string(name)]; ok {
		return i, true
	}
	old := *n.list.Load()
	if len(old) >= maxNames || !utf8.Valid(name) {
		return 0, false
	}
	i := uint8(len(old))
	grown := append(slices.Clone(old), string(name))
	n.index[grown[i]] = i
	n.list.Store(&grown)
	return i, true
}

// List returns all names by number. The slice is never changed afterwards.
func (n *Names) List() []string { return *n.list.Load() }

// The operations that a line's name alone decides about.
const (
	opRead uint8 = iota
	opWrite
)

// knownOperations lists every operation of lustre-release up to master 2.17.57 (mdt_lproc.c, lproc_ofd.c).
func knownOperations() []string {
	return []string{
		"read", "write", "open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr",
		"setattr", "getxattr", "setxattr", "statfs", "sync", "samedir_rename", "crossdir_rename",
		"parallel_rename_file", "parallel_rename_dir", "rename_trylocks", "punch", "migrate", "fallocate", "readpage",
		"destroy", "create", "get_info", "set_info", "quotactl", "prealloc",
	}
}
