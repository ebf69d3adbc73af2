// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"strings"
	"testing"
)

func BenchmarkIdentify(b *testing.B) {
	plain := Config{Formats: DefaultFormats()}
	patterns := Config{Formats: formats(b, "utility=%j:%u:%H", "utility:H=^util[0-9]+$", "compute=%j:%u:%H", "login=%e.%u")}
	keep := Config{Formats: DefaultFormats(), Malformed: PolicyKeep}
	f := func(name string, c Config, raw string) {
		b.Run(name, func(b *testing.B) {
			x := mustNew(b, c)
			text := []byte(raw)
			b.ReportAllocs()
			for b.Loop() {
				x.Identify(text)
			}
		})
	}
	f("compute", plain, `"11317854:17627127:r01c01"`)
	f("escaped", plain, `"11317854\x3A17627127\x3Ar01c01"`)
	f("login", plain, "wget.17627127")
	f("system", plain, "kworker/162:1.0")
	f("malformed", plain, "11317854:17627127")
	f("malformed-keep", keep, "11317854:17627127")
	f("replaced", plain, "a\xff\xfeb.1000")
	f("pattern", patterns, `"11317854:17627127:r01c01"`)
	f("hostile", Config{Formats: formats(b, "x=%e.%h.%u.%g")}, strings.Repeat("1.a.", 20))
}

func BenchmarkLabelsGet(b *testing.B) {
	l := MakeLabels([NumLabels]string{JobID: "11317854", NodeName: "r01c01", UID: "17627127"})
	b.ReportAllocs()
	for b.Loop() {
		l.Get(UID)
	}
}
