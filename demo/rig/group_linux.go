// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import "syscall"

// ownGroup puts a child in a process group of its own, and ends it should this program be killed. The kernel watches the
// thread that started it; the Go runtime keeps its threads.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
