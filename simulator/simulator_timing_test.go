// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"io"
	"testing"
	"time"
)

// puhti is the system of the thesis: 4 MDTs and 24 OSTs with 23,000 entries.
func puhti(b *testing.B) *Cluster {
	b.Helper()
	c := newCluster(b, Config{Seed: 1, MDTs: 4, OSTs: 24, Users: 300, Entries: 825, NoTruth: true})
	c.Step(20 * time.Minute)
	b.ReportAllocs()
	b.ResetTimer()
	return c
}

func BenchmarkStepPuhti(b *testing.B) {
	c := puhti(b)
	for b.Loop() {
		c.Step(time.Second)
	}
}

// BenchmarkTickPuhti is what the command does every tick.
func BenchmarkTickPuhti(b *testing.B) {
	c, root := puhti(b), b.TempDir()
	entries := 0
	for b.Loop() {
		c.Step(time.Second)
		c.ExpireIdle()
		if err := c.WriteTree(root); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range c.Targets() {
		entries += c.Living(name)
	}
	b.ReportMetric(float64(entries), "entries")
}

func BenchmarkTextPuhti(b *testing.B) {
	c := puhti(b)
	var text []byte
	for b.Loop() {
		text = text[:0]
		for _, name := range c.Targets() {
			text = c.AppendText(text, name)
		}
		b.SetBytes(int64(len(text)))
	}
}

func BenchmarkWriteBench50000(b *testing.B) {
	b.ReportAllocs()
	for step := 0; b.Loop(); step++ {
		if err := WriteBench(io.Discard, 50000, step); err != nil {
			b.Fatal(err)
		}
	}
}
