// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// files lists all files below root, and empty directories with a slash.
func files(t *testing.T, root string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root+"/")
		if !d.IsDir() {
			names = append(names, name)
			return nil
		}
		if in, err := os.ReadDir(path); err != nil || len(in) == 0 {
			names = append(names, name+"/")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

func TestWriteTree(t *testing.T) {
	root := t.TempDir()
	c := newCluster(t, Config{Seed: 41, MDTs: 1, OSTs: 1, Entries: 20, Dialects: []string{"2.12", "2.16"}, CleanupInterval: 5 * time.Minute})
	c.Step(time.Minute)
	if err := c.WriteTree(root); err != nil {
		t.Fatal(err)
	}
	want := `proc/fs/lustre/mdt/scratch-MDT0000/job_cleanup_interval
proc/fs/lustre/mdt/scratch-MDT0000/job_stats
proc/fs/lustre/obdfilter/scratch-OST0000/job_stats
sys/fs/lustre/obdfilter/scratch-OST0000/job_cleanup_interval`
	if got := files(t, root); got != want {
		t.Errorf("files\n%s\nwant\n%s", got, want)
	}
	for _, name := range c.Targets() {
		dir := c.byName[name].kind.dir()
		if got := read(t, root, "proc/fs/lustre", dir, name, "job_stats"); got != string(c.Text(name)) || got == "" {
			t.Errorf("%s: the file differs from the text", name)
		}
	}
	if got := read(t, root, "sys/fs/lustre/obdfilter", testOST, "job_cleanup_interval"); got != "300\n" {
		t.Errorf("interval %q", got)
	}
	info, err := os.Stat(filepath.Join(root, "proc/fs/lustre/mdt", testMDT, "job_stats"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestWriteTreeLeavesTheUnchanged tells by the inode, which a replacement changes.
func TestWriteTreeLeavesTheUnchanged(t *testing.T) {
	root := t.TempDir()
	c := newCluster(t, Config{Seed: 42, Entries: 20})
	c.Step(time.Minute)
	path := filepath.Join(root, "proc/fs/lustre/obdfilter", testOST, "job_stats")
	stat := func() os.FileInfo {
		t.Helper()
		if err := c.WriteTree(root); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := stat()
	c.jobs = nil
	c.Step(0)
	if second := stat(); !os.SameFile(first, second) {
		t.Error("nothing happened, but the file was replaced")
	}
	if err := c.Clear(testOST); err != nil {
		t.Fatal(err)
	}
	if third := stat(); os.SameFile(first, third) || third.Size() != int64(len("job_stats:\n")) {
		t.Errorf("cleared, but the file of %d bytes was not replaced", third.Size())
	}
}

func TestWriteTreeRemovesTheUnmounted(t *testing.T) {
	root := t.TempDir()
	write := func(c *Cluster) string {
		t.Helper()
		if err := c.WriteTree(root); err != nil {
			t.Fatal(err)
		}
		return files(t, root)
	}
	c := newCluster(t, Config{OSTs: 3, Entries: 5})
	all := write(c)
	if err := c.Unmount("scratch-OST0001"); err != nil {
		t.Fatal(err)
	}
	if got := write(c); strings.Contains(got, "OST0001") || !strings.Contains(got, "OST0002") {
		t.Errorf("after the unmount:\n%s", got)
	}
	if err := c.Mount("scratch-OST0001"); err != nil {
		t.Fatal(err)
	}
	if got := write(c); got != all {
		t.Errorf("after the mount:\n%s\nbefore:\n%s", got, all)
	}

	// A later run with fewer targets leaves what is not its own.
	other := filepath.Join(root, "proc/fs/lustre/obdfilter/home-OST0002")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	got := write(newCluster(t, Config{OSTs: 1, Entries: 5}))
	if strings.Contains(got, "scratch-OST0002") || !strings.Contains(got, "home-OST0002/") || !strings.Contains(got, testOST) {
		t.Errorf("after a smaller run:\n%s", got)
	}
}

// TestWriteTreeIsAtomic reads while the file is replaced: every text is one that was written as a whole.
func TestWriteTreeIsAtomic(t *testing.T) {
	root := t.TempDir()
	c := newCluster(t, Config{Seed: 43, OSTs: 1, Entries: 300, NoTruth: true})
	whole := make(map[string]bool)
	write := func() {
		c.Step(5 * time.Second)
		whole[string(c.Text(testOST))] = true
		if err := c.WriteTree(root); err != nil {
			t.Error(err)
		}
	}
	write()
	done, got := make(chan struct{}), make(chan map[string]bool)
	go func() {
		seen := make(map[string]bool)
		for {
			select {
			case <-done:
				got <- seen
				return
			default:
			}
			b, err := os.ReadFile(filepath.Join(root, "proc/fs/lustre/obdfilter", testOST, "job_stats"))
			if err != nil {
				t.Error(err)
			}
			seen[string(b)] = true
		}
	}()
	for range 60 {
		write()
	}
	close(done)
	seen := <-got
	for text := range seen {
		if !whole[text] {
			t.Fatalf("a reader saw %d bytes that were never the whole text", len(text))
		}
	}
	if len(seen) < 2 {
		t.Errorf("the reader saw %d texts", len(seen))
	}
}

func TestWriteTreeFails(t *testing.T) {
	root := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, Config{OSTs: 1, Entries: 5})
	if err := c.WriteTree(root); err == nil {
		t.Error("a tree was written below a file")
	}
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteTree(root); err != nil {
		t.Errorf("after the obstacle was removed: %v", err)
	}
}

// TestWriteBench reads two steps back: the same entries, and every counter that is not zero has grown.
func TestWriteBench(t *testing.T) {
	steps := [2]map[string]entry{}
	var texts [2]bytes.Buffer
	for step := range steps {
		if err := WriteBench(&texts[step], 3000, step); err != nil {
			t.Fatal(err)
		}
		steps[step] = make(map[string]entry)
		for _, e := range parse(t, texts[step].Bytes()) {
			steps[step][e.id] = e
			busy := 0
			for _, l := range e.ops {
				if l.samples > 0 {
					busy++
				}
			}
			if busy != 5 || len(e.ops) != 15 {
				t.Fatalf("%s: %d of %d operations are not zero", e.id, busy, len(e.ops))
			}
		}
		if len(steps[step]) != 3000 {
			t.Fatalf("%d distinct entries", len(steps[step]))
		}
	}
	for id, before := range steps[0] {
		after := steps[1][id]
		if after.start != before.start || after.last <= before.last {
			t.Errorf("%s: created %s and %s, last %d and %d", id, before.start, after.start, before.last, after.last)
		}
		for name, l := range before.ops {
			if m := after.ops[name]; l.samples > 0 && (m.samples <= l.samples || m.sum <= l.sum) || l.hist > m.hist {
				t.Errorf("%s %s: %+v, then %+v", id, name, l, m)
			}
		}
	}
	var again bytes.Buffer
	if err := WriteBench(&again, 3000, 1); err != nil || !bytes.Equal(again.Bytes(), texts[1].Bytes()) {
		t.Errorf("the second step is not the same twice: %v", err)
	}
	var none bytes.Buffer
	if err := WriteBench(&none, 0, 0); err != nil || none.String() != "job_stats:\n" {
		t.Errorf("no entries are %q, %v", none.String(), err)
	}
}

// full refuses to be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteBenchFails(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		if err := WriteBench(full{}, n, 0); err == nil {
			t.Errorf("%d entries were written to nowhere", n)
		}
	}
}
