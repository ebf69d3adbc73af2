// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Text is the target's job_stats as a reader would get it now; nil if it is not mounted.
func (c *Cluster) Text(name string) []byte { return c.AppendText(nil, name) }

// AppendText appends what Text returns. Reading has no effect on entries here; [Cluster.ExpireIdle] is that effect.
func (c *Cluster) AppendText(dst []byte, name string) []byte {
	t := c.byName[name]
	if t == nil || !t.mounted {
		return dst
	}
	epoch := int64(0)
	if t.dialect.BootRelative() {
		epoch = t.boot
	}
	dst = t.dialect.AppendHeader(dst, len(t.records))
	for _, r := range t.records {
		c.ops, c.hist = t.layout.appendOps(c.ops[:0], c.hist[:0], r)
		dst = t.dialect.AppendEntry(dst, []byte(r.id), time.Duration(r.last-epoch), time.Duration(r.start-epoch), c.ops)
	}
	return dst
}

// Interval is the target's job_cleanup_interval as the server understood it: since 2.15 an odd number is one less.
func (c *Cluster) Interval(name string) (time.Duration, bool) {
	t := c.byName[name]
	if t == nil {
		return 0, false
	}
	return t.interval, true
}

// Framed is the text of all targets as `lctl get_param *.*.job_stats` up to 2.16 frames it: a name and = before each.
func (c *Cluster) Framed() []byte {
	var dst []byte
	for _, t := range c.targets {
		if !t.mounted {
			continue
		}
		dst = append(dst, t.kind.dir()+"."+t.name+".job_stats="...)
		if len(t.records) > 0 {
			dst = append(dst, '\n')
		}
		from := len(dst)
		dst = c.AppendText(dst, t.name)
		if len(dst) == from {
			dst = append(dst, '\n')
		}
	}
	return dst
}

// written is what a tree holds of a target.
type written struct {
	present bool
	version uint64
}

// Names of the files of a target.
const (
	statsFile    = "job_stats"
	intervalFile = "job_cleanup_interval"
)

// WriteTree makes the tree below root show the cluster as it is now: root/proc/fs/lustre and root/sys/fs/lustre. Each
// file is replaced as a whole by a rename, so that no reader sees half of it; files that did not change are left alone,
// and what belongs to unmounted targets, or to targets of this file system from an earlier run, is removed. Nothing else
// below root is touched.
func (c *Cluster) WriteTree(root string) error {
	state := c.written[root]
	if state == nil {
		if err := c.removeStrangers(root); err != nil {
			return err
		}
		state = make(map[string]written)
		c.written[root] = state
	}
	for _, t := range c.targets {
		now := written{t.mounted, t.version}
		before, seen := state[t.name]
		if before == now && seen {
			continue
		}
		if err := c.writeTarget(root, t, before.present); err != nil {
			delete(state, t.name)
			return fmt.Errorf("writing %s: %w", t.name, err)
		}
		state[t.name] = now
	}
	return nil
}

func (c *Cluster) writeTarget(root string, t *target, present bool) error {
	proc, interval := dirs(root, t.kind, t.name)
	if !t.mounted {
		return errors.Join(removeTarget(proc), removeTarget(interval))
	}
	if !t.era.sysfs {
		interval = proc
	}
	if !present {
		for _, dir := range []string{proc, interval} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		text := strconv.AppendInt(nil, int64(t.interval/time.Second), 10)
		if err := replace(filepath.Join(interval, intervalFile), append(text, '\n')); err != nil {
			return err
		}
	}
	c.text = c.AppendText(c.text[:0], t.name)
	return replace(filepath.Join(proc, statsFile), c.text)
}

// dirs are the target's directories in procfs and sysfs.
func dirs(root string, k kind, name string) (proc, sys string) {
	return filepath.Join(root, "proc/fs/lustre", k.dir(), name), filepath.Join(root, "sys/fs/lustre", k.dir(), name)
}

// replace writes a file beside the one of that name, then puts it in its place.
func replace(path string, text []byte) error {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(temporary, text, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// removeTarget removes what writeTarget makes, and nothing else: root may be mistaken.
func removeTarget(dir string) error {
	for _, name := range []string{statsFile, intervalFile, "." + statsFile + ".new", "." + intervalFile + ".new", ""} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeStrangers removes targets of this file system's name that an earlier run left.
func (c *Cluster) removeStrangers(root string) error {
	for k := range numKinds {
		infix := c.cfg.FSName + [...]string{mdt: "-MDT", ost: "-OST"}[k]
		proc, sys := dirs(root, k, "")
		for _, parent := range []string{proc, sys} {
			entries, err := os.ReadDir(parent)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("looking for targets of an earlier run: %w", err)
			}
			for _, e := range entries {
				mine := slices.ContainsFunc(c.targets, func(t *target) bool { return t.name == e.Name() })
				if !strings.HasPrefix(e.Name(), infix) || mine {
					continue
				}
				if err := removeTarget(filepath.Join(parent, e.Name())); err != nil {
					return fmt.Errorf("removing a target of an earlier run: %w", err)
				}
			}
		}
	}
	return nil
}
