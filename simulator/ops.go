// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import "math/rand/v2"

// op is an operation that a client asks of a target. Reads and writes of data are one operation each here, however
// many lines a dialect prints about them.
type op uint8

// Operations of MDTs and OSTs together, by the names that Jobstats prints (format reference 3.1).
const (
	opOpen op = iota
	opClose
	opMknod
	opLink
	opUnlink
	opMkdir
	opRmdir
	opRename
	opGetattr
	opSetattr
	opGetxattr
	opSetxattr
	opStatfs
	opSync
	opSamedirRename
	opCrossdirRename
	opParallelRenameFile
	opParallelRenameDir
	opRenameTrylocks
	opRead
	opWrite
	opPunch
	opMigrate
	opFallocate
	opReadpage
	opDestroy
	opCreate
	opGetInfo
	opSetInfo
	opQuotactl
	opPrealloc
	numOps
)

// opTraits are an operation's printed name and its median service time. The times are plausible for a busy server
// with flash for metadata and disks for data; nothing depends on their exact values.
var opTraits = [numOps]struct {
	name   string
	micros float64
}{
	opOpen: {"open", 120}, opClose: {"close", 40}, opMknod: {"mknod", 250}, opLink: {"link", 300},
	opUnlink: {"unlink", 350}, opMkdir: {"mkdir", 400}, opRmdir: {"rmdir", 300}, opRename: {"rename", 500},
	opGetattr: {"getattr", 30}, opSetattr: {"setattr", 150}, opGetxattr: {"getxattr", 35}, opSetxattr: {"setxattr", 200},
	opStatfs: {"statfs", 15}, opSync: {"sync", 20000}, opSamedirRename: {"samedir_rename", 500},
	opCrossdirRename: {"crossdir_rename", 700}, opParallelRenameFile: {"parallel_rename_file", 450},
	opParallelRenameDir: {"parallel_rename_dir", 650}, opRenameTrylocks: {"rename_trylocks", 60},
	opRead: {"read", 1500}, opWrite: {"write", 2500}, opPunch: {"punch", 400}, opMigrate: {"migrate", 2000},
	opFallocate: {"fallocate", 400}, opReadpage: {"readpage", 90}, opDestroy: {"destroy", 200}, opCreate: {"create", 150},
	opGetInfo: {"get_info", 20}, opSetInfo: {"set_info", 20}, opQuotactl: {"quotactl", 30}, opPrealloc: {"prealloc", 800},
}

func (o op) String() string { return opTraits[o].name }

// opNamed finds an operation by its printed name.
func opNamed(name string) (op, bool) {
	for o := range opTraits {
		if opTraits[o].name == name {
			return op(o), true
		}
	}
	return 0, false
}

// share is an operation's part of a mix.
type share struct {
	op     op
	weight float64
}

// mix is what a client does: its operations by weight.
type mix struct {
	ops    []op
	picker picker
}

// newMix leaves out what the server would not count; without anything left it is nil.
func newMix(l *layout, shares ...share) *mix {
	m := &mix{}
	for _, s := range shares {
		if l.counts(s.op) {
			m.ops = append(m.ops, s.op)
			m.picker.add(s.weight)
		}
	}
	if len(m.ops) == 0 {
		return nil
	}
	return m
}

// split divides n operations among those of the mix.
func (m *mix) split(r *rand.Rand, n uint64, each func(o op, n uint64)) {
	if n > 2*singles {
		for i, o := range m.ops {
			if part := round(r, float64(n)*m.picker.weight(i)); part > 0 {
				each(o, uint64(part))
			}
		}
		return
	}
	for range n {
		each(m.ops[m.picker.pick(r)], 1)
	}
}

// mixes of a target: those of people, by probability, and those of the system.
type mixes struct {
	user, system []*mix
	picker       picker // of user
}

func (m *mixes) pick(r *rand.Rand, system bool) *mix {
	if system && len(m.system) > 0 {
		return choose(r, m.system)
	}
	return m.user[m.picker.pick(r)]
}

func (m *mixes) addUser(l *layout, weight float64, shares ...share) {
	if x := newMix(l, shares...); x != nil {
		m.user = append(m.user, x)
		m.picker.add(weight)
	}
}

func (m *mixes) addSystem(l *layout, shares ...share) {
	if x := newMix(l, shares...); x != nil {
		m.system = append(m.system, x)
	}
}

// mdtMixes has close far above open, as on Puhti, where failed opens are not counted; the rest is near the medians of
// monitoring 5.3. Four or five operations are non-zero in the typical entry.
func mdtMixes(l *layout) *mixes {
	m := &mixes{}
	m.addUser(l, 50, share{opOpen, 8}, share{opClose, 60}, share{opGetattr, 20}, share{opMknod, .4}, share{opUnlink, .3},
		share{opGetxattr, .5}, share{opSetattr, .2})
	m.addUser(l, 25, share{opGetattr, 80}, share{opOpen, 8}, share{opClose, 8}, share{opReadpage, 4}) // find, ls -l
	m.addUser(l, 10, share{opMknod, 20}, share{opUnlink, 20}, share{opOpen, 25}, share{opClose, 25}, share{opRename, 4})
	m.addUser(l, 6, share{opMkdir, 5}, share{opMknod, 30}, share{opClose, 30}, share{opSetattr, 30}, share{opSetxattr, 5})
	m.addUser(l, 6, share{opOpen, 20}, share{opClose, 20}, share{opRead, 25}, share{opWrite, 20}, share{opPunch, 1},
		share{opSync, .5}) // data on the MDT
	m.addUser(l, 3, share{opRename, 30}, share{opLink, 10}, share{opRmdir, 10}, share{opUnlink, 30}, share{opGetattr, 20},
		share{opMigrate, .1}, share{opFallocate, 1})
	m.addSystem(l, share{opStatfs, 70}, share{opGetattr, 30})
	m.addSystem(l, share{opGetattr, 60}, share{opGetxattr, 20}, share{opOpen, 10}, share{opClose, 10})
	m.addSystem(l, share{opSync, 5}, share{opClose, 60}, share{opSetattr, 35})
	return m
}

// ostMixes has readers, writers, both, temporary files and checkpoints.
func ostMixes(l *layout) *mixes {
	m := &mixes{}
	m.addUser(l, 35, share{opRead, 90}, share{opGetattr, 5}, share{opStatfs, 1})
	m.addUser(l, 25, share{opWrite, 85}, share{opPunch, 3}, share{opSync, 1}, share{opSetattr, 5})
	m.addUser(l, 25, share{opRead, 60}, share{opWrite, 25}, share{opPunch, 1}, share{opSetattr, 2}, share{opGetInfo, 2})
	m.addUser(l, 10, share{opCreate, 5}, share{opWrite, 60}, share{opPunch, 20}, share{opDestroy, 15})
	m.addUser(l, 5, share{opWrite, 60}, share{opPrealloc, 10}, share{opSetInfo, 10}, share{opSync, 5})
	m.addSystem(l, share{opQuotactl, 90}, share{opGetInfo, 10})
	m.addSystem(l, share{opStatfs, 60}, share{opSetInfo, 10}, share{opSetattr, 30})
	m.addSystem(l, share{opRead, 60}, share{opWrite, 40})
	return m
}

// batch is a number of operations of equal size.
type batch struct {
	value, count uint64
}

// singles is up to how many operations are drawn one by one. More are drawn as a few batches of equal values, which keeps
// samples, min, max, sum, sumsq and hist consistent with one another at any rate.
const singles = 4

// latencies draws the service times of n operations in microseconds, appended to dst.
func latencies(r *rand.Rand, dst []batch, o op, n uint64) []batch {
	median := opTraits[o].micros
	if n <= singles {
		for range n {
			dst = append(dst, batch{max(1, uint64(lognormal(r, median, .8))), 1})
		}
		return dst
	}
	slow, tail := n/5, n/20
	for _, part := range [...]struct {
		factor float64
		count  uint64
	}{{.7, n - slow - tail}, {2, slow}, {8, tail}} {
		if part.count > 0 {
			dst = append(dst, batch{max(1, uint64(median*part.factor*between(r, .8, 1.2))), part.count})
		}
	}
	return dst
}
