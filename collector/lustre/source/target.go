// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// The two directories of /proc/fs/lustre in which a target's job_stats may lie; they are Lustre's words for
// the kind of a target in paths and in lctl parameter names.
const (
	KindMDT = "mdt"
	KindOST = "obdfilter"
)

// statsFile is the file of a target that holds its Jobstats (lprocfs_jobstats.c, lprocfs_job_stats_init).
const statsFile = "job_stats"

// Target is an MDT or OST: the server side of a piece of a file system.
type Target struct {
	Name string // as Lustre names it, <fsname>-MDTxxxx or <fsname>-OSTxxxx
	Kind string // KindMDT, KindOST, or "" where nobody could tell
}

// UnknownTarget stands for the target of a dump that does not say whose it is.
func UnknownTarget() Target { return Target{Name: "unknown"} }

// FS is the name of the file system: what stands before the last '-', because a file system's name may
// contain '-' itself. A name without '-' is returned whole.
func (t Target) FS() string {
	if i := strings.LastIndexByte(t.Name, '-'); i >= 0 {
		return t.Name[:i]
	}
	return t.Name
}

// KindLabel is the kind as administrators say it: "mdt", "ost", or "unknown".
func (t Target) KindLabel() string {
	switch t.Kind {
	case KindMDT:
		return "mdt"
	case KindOST:
		return "ost"
	}
	return "unknown"
}

// ParseTargetName finds the kind of a target where only its name is known, from the -MDTxxxx or -OSTxxxx
// at its end (four hexadecimal digits). It reports false for any other name.
func ParseTargetName(name string) (Target, bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 1 || len(name)-i != len("-OST0000") || !validName(name) || !allHex(name[i+4:]) {
		return Target{}, false
	}
	switch name[i+1 : i+4] {
	case "MDT":
		return Target{Name: name, Kind: KindMDT}, true
	case "OST":
		return Target{Name: name, Kind: KindOST}, true
	}
	return Target{}, false
}

// TargetFromPath guesses from the path of a saved dump whose it is. It knows
//
//	.../obdfilter/<target>/job_stats   and .../mdt/<target>/job_stats, a copied /proc tree
//	<anything>_<fs>-OSTxxxx.job_stats  and the same with '.' instead of '_', or with nothing before <fs>
//
// either with anything appended (".gz", ".txt", a date). In the second form <fs> is what follows the last
// '_' or '.', so a file system whose own name has a '_' is better told by name.
func TargetFromPath(file string) (Target, bool) {
	base := filepath.Base(file)
	if strings.HasPrefix(base, statsFile) {
		return targetFromTree(filepath.ToSlash(filepath.Dir(file)))
	}
	name, _, found := strings.Cut(base, "."+statsFile)
	if !found {
		return Target{}, false
	}
	return ParseTargetName(name[strings.LastIndexAny(name, "_.")+1:])
}

// targetFromTree reads the kind and the name off a directory such as fs/lustre/obdfilter/fs-OST0000.
func targetFromTree(dir string) (Target, bool) {
	t := Target{Name: path.Base(dir), Kind: path.Base(path.Dir(dir))}
	return t, t.inTree()
}

// inTree reports whether the target names a directory below /proc/fs/lustre, and nothing else: names reach
// us from lctl's output and from file names too, and must not lead a path astray.
func (t Target) inTree() bool {
	return (t.Kind == KindMDT || t.Kind == KindOST) && validName(t.Name)
}

// check accepts a target that somebody typed: none at all, a name alone, or both.
func (t Target) check() error {
	switch {
	case t == (Target{}):
		return nil
	case !validName(t.Name):
		return fmt.Errorf("%q cannot be the name of a target: want one like scratch-OST000f", t.Name)
	case t.Kind != "" && !t.inTree():
		return fmt.Errorf("unknown kind %q of target %s: want %s or %s", t.Kind, t.Name, KindMDT, KindOST)
	}
	return nil
}

// validName accepts what Lustre lets a target be called, and '.', except "." and "..".
func validName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return true
}

func nameByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '_' || c == '-'
}

func allHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			return false
		}
	}
	return true
}
