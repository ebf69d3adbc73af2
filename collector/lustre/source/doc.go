// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package source finds the Jobstats of this machine's Lustre targets and opens them as streams of bytes. It
// knows where the text is, not what it says.
//
// Three sources give the same text:
//
//   - procfs (the default) reads <proc>/fs/lustre/{mdt,obdfilter}/<target>/job_stats, one stream per target.
//     The files are readable by every user. The cleanup interval is read from sysfs (2.13 and later) or procfs.
//   - lctl runs `lctl get_param` once for everything, as one framed stream; intervals are frames of it too.
//   - file reads a saved dump of either shape, plain or compressed by gzip, or standard input.
//
// Every Discover looks anew, because targets come and go: they fail over, and are unmounted. What that means
// for the caller:
//
//	Discover fails                      nothing is known about any target
//	a target is not in it               it is not mounted here
//	Open or Read fails with ErrGone     it has been unmounted since
//	Open or Read fails otherwise        it is mounted and cannot be read
//	Close of lctl's stream fails        *LctlError says which targets, or everything not yet seen
//
// Reads are not buffered, because a Lustre 2.17 server on a kernel of 5.10 or later may leak a reference to an
// entry that does not fit the buffer (jobstats_format.md section 7.6): the caller brings at least 64 KiB of
// free space to each. They end with their context, though a read(2) that hangs in the kernel only ends when the
// kernel lets it; lctl's, which is another process, can be given up, and then no new one is started while the
// old one hangs.
//
// Nothing is ever written to Lustre, and nothing here is specific to Prometheus.
package source
