// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Servers gives each pretended Lustre server the targets it has mounted: a tree of its own with symbolic links to the
// directories that the simulator writes for the whole cluster. So one cluster, with users who are busy everywhere,
// feeds many exporters, and a failover is a link that moves.
type Servers struct {
	cluster string // the root that the simulator writes to
	dir     string // what holds the servers' trees
}

// NewServers makes no server yet; cluster is the simulator's root, and dir is where the trees go.
func NewServers(cluster, dir string) *Servers { return &Servers{cluster: cluster, dir: dir} }

// Root is the server's tree; Root/proc and Root/sys are the exporter's --path.procfs and --path.sysfs.
func (s *Servers) Root(server string) string { return filepath.Join(s.dir, server) }

// Mount lets the server have the target, which no other may have at that time.
func (s *Servers) Mount(server, target string) error {
	for _, p := range places(target) {
		link := filepath.Join(s.Root(server), p)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return fmt.Errorf("mounting %s on %s: %w", target, server, err)
		}
		if err := os.Symlink(filepath.Join(s.cluster, p), link); err != nil {
			return fmt.Errorf("mounting %s on %s: %w", target, server, err)
		}
	}
	return nil
}

// Unmount takes the target from the server.
func (s *Servers) Unmount(server, target string) error {
	for _, p := range places(target) {
		if err := os.Remove(filepath.Join(s.Root(server), p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("unmounting %s from %s: %w", target, server, err)
		}
	}
	return nil
}

// places are a target's directories below a root: in procfs, and in sysfs, where 2.13 moved job_cleanup_interval.
func places(target string) []string {
	kind := "obdfilter"
	if strings.Contains(target, "-MDT") {
		kind = "mdt"
	}
	return []string{filepath.Join("proc/fs/lustre", kind, target), filepath.Join("sys/fs/lustre", kind, target)}
}
