// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Class is what kind of process an identifier stands for.
type Class uint8

// Classes of processes. The formats are %j:%u:%H on nodes and %e.%u on login nodes.
const (
	Login       Class = iota // bash.17627127
	Compute                  // 11317854:17627127:r01c01
	NoJob                    // :17627127:r01c01, a client that did not find the job id (monitoring 3)
	Utility                  // :17627127:util01
	SystemJob                // 11317854:0:r01c01, prolog and epilog
	SystemNoJob              // :0:r01c01
	SystemLogin              // kworker/86:1.0
	Qualified                // 11317854:17627127:r01c01.bullx, beside the entry of the short name
	Malformed                // partly built (LU-16251) or without an id
	Truncated                // cut at 31 bytes (LUSTRE_JOBID_SIZE)
	numClasses
)

var classNames = [numClasses]string{
	"login", "compute", "no_job", "utility", "system_job", "system_no_job", "system_login",
	"qualified", "malformed", "truncated",
}

// String is the class in lower case, "no_job".
func (c Class) String() string { return classNames[c] }

// System reports whether the process belongs to the machine rather than to a person.
func (c Class) System() bool { return c == SystemJob || c == SystemNoJob || c == SystemLogin }

// group is the population in which a class counts: truncated entries are compute entries that hit a long name.
func (c Class) group() Class {
	if c == Truncated {
		return Compute
	}
	return c
}

// maxID is LUSTRE_JOBID_SIZE without its NUL.
const maxID = 31

func truncated(id string) string { return id[:min(len(id), maxID)] }

// nodes are the host names of the cluster.
type nodes struct {
	compute []string
	utility []string
	next    int // daemons run on one node after another
}

// domain is the rest of a fully qualified host name.
const domain = ".bullx"

// makeNodes names racks of 64 nodes r01c01 to r99c64, enough for a daemon entry on each.
func makeNodes(c *Cluster) nodes {
	var n nodes
	for i := range min(max(32, int(1.3*c.plan[SystemNoJob].clients)), 99*64) {
		n.compute = append(n.compute, fmt.Sprintf("r%02dc%02d", 1+i/64, 1+i%64))
	}
	for i := range 12 {
		n.utility = append(n.utility, fmt.Sprintf("util%02d", 1+i))
	}
	return n
}

// executables seen on login nodes, the common ones first; comm is at most 15 bytes and may hold any of them.
var executables = []string{
	"bash", "python3", "ls", "rsync", "vim", "git", "wget", "sftp-server", "tar", "cp", "find", "conda",
	"R", "ssh", "nano", "grep", "du", "rm", "squeue", "sbatch", "node", "mv", "less", "julia", "matlab_helper", "jupyter-lab",
	"nextflow", "snakemake", "java", "tmux: server", "mpi job", "étude",
}

// daemons that show up with a system uid on any node.
var daemons = []string{
	"(ostnamed)", "(sd-pam)", "kswapd0", "ll_sa_4711", "ptlrpcd_01_12", "systemd", "crond", "updatedb",
	"slurmstepd",
}

// daemonName is most often a kernel thread, which clients before 2.16 call by their full names (8a9c503c00).
func daemonName(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return choose(r, daemons)
	case 1:
		return fmt.Sprintf("kworker/u%d:%d", 1<<(4+r.IntN(5)), r.IntN(40))
	}
	return fmt.Sprintf("kworker/%d:%d", r.IntN(256), r.IntN(4))
}

// systemUIDs are below the first uid of people; nearly all such work is root's.
var systemUIDs = []uint32{0, 0, 0, 0, 0, 0, 0, 32, 89, 994, 999}

// executable picks a program, at times one of the user's own.
func executable(r *rand.Rand) string {
	if r.IntN(4) == 0 {
		return fmt.Sprintf("run_%d", r.IntN(100))
	}
	return executables[min(r.IntN(len(executables)), r.IntN(len(executables)))]
}

func computeID(jobid string, uid uint32, host string) string {
	return jobid + ":" + strconv.FormatUint(uint64(uid), 10) + ":" + host
}

func loginID(exe string, uid uint32) string {
	return exe[:min(len(exe), 15)] + "." + strconv.FormatUint(uint64(uid), 10)
}

// malformations are the ways in which identifiers came out wrong on Puhti, by their number per OST (monitoring 5.2), and
// those that later releases still let through.
var malformations = []struct {
	weight float64
	make   func(r *rand.Rand, jobid, uid, host string) string
}{
	{2.6, func(_ *rand.Rand, jobid, _, _ string) string { return jobid }},
	{1.2, func(_ *rand.Rand, jobid, uid, _ string) string { return jobid + ":" + uid }},
	{.6, func(_ *rand.Rand, jobid, uid, _ string) string { return jobid + ":" + uid + ":" }},
	{.3, func(r *rand.Rand, _, _, _ string) string { return executable(r) }},
	{.3, func(r *rand.Rand, _, _, _ string) string { return executable(r) + "." }},
	{.2, func(_ *rand.Rand, _, uid, host string) string { return ":" + uid[1:] + ":" + uid + ":" + host }},
	{.1, func(_ *rand.Rand, jobid, _, _ string) string { return jobid + ":" }},
	{.1, func(_ *rand.Rand, _, _, _ string) string { return "" }},
	{.03, func(_ *rand.Rand, _, uid, _ string) string { return ":" + uid }},
}

// malformed makes a broken identifier of a process.
func malformed(r *rand.Rand, jobid string, uid uint32, host string) string {
	var p picker
	for _, m := range malformations {
		p.add(m.weight)
	}
	return malformations[p.pick(r)].make(r, jobid, strconv.FormatUint(uint64(uid), 10), host)
}
