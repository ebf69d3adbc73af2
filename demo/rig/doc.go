// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package rig starts the real programs around pretended Lustre servers: an exporter per server, Prometheus with the
// shipped configuration and rules, and Alertmanager, each in a process group of its own and listening on 127.0.0.1
// alone. The demo shows it, the end-to-end tests and bench-rules use it.
package rig
