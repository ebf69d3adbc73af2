// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"bytes"
	"testing"
)

func TestDecode(t *testing.T) {
	f := func(raw, want string) {
		t.Helper()
		if got := Decode([]byte("kept"), []byte(raw)); string(got) != "kept"+want {
			t.Errorf("%q: got %q, want %q after kept", raw, got, want)
		}
	}
	f(``, ``)
	f(`1:1000:n1`, `1:1000:n1`)
	f(`"1:1000:n1"`, `1:1000:n1`)
	f(`"1\x3A1000\x3an1"`, `1:1000:n1`)
	f(`"has\x20sp.0"`, `has sp.0`)
	f(`"a\x5Cb"`, `a\b`)
	f(`"a\x22b"`, `a"b`)
	f(`"\x5Cx41"`, `\x41`) // decoded once
	f(`"\xff\x00\x0A"`, "\xff\x00\n")
	f("\"\xC3\\xA9\"", "é")
	// A bare identifier keeps its backslashes and quotes.
	f(`a\x41`, `a\x41`)
	f(`a\x41"`, `a\x41"`)
	f(`"a`, `"a`)
	f(`"`, `"`)
	f(`""`, ``)
	f(`"""`, `"`)
	// What is no escape stays.
	f(`"\x4"`, `\x4`)
	f(`"\x"`, `\x`)
	f(`"\"`, `\`)
	f(`"\x4g\X41\n"`, `\x4g\X41\n`)
	f(`"\\x41"`, `\A`)
}

func FuzzDecodeOfWhatServersWrite(f *testing.F) {
	f.Add([]byte("1:1000:n1"))
	f.Add([]byte(`a"\x41`))
	f.Fuzz(func(t *testing.T, id []byte) {
		for _, raw := range spellings(string(id))[2:] { // escaped: no ambiguity
			if got := Decode(nil, []byte(raw)); !bytes.Equal(got, id) {
				t.Errorf("%q: got %q, want %q", raw, got, id)
			}
		}
	})
}
