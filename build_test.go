// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package pfs_exporter_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read returns the text of a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// versionVariables lists the variables that the linker sets in a build description.
func versionVariables(text string) []string {
	text = strings.ReplaceAll(text, "$(VERSION_PKG)", "github.com/prometheus/common/version")
	var names []string
	for _, m := range regexp.MustCompile(`-X (\S+)\.([A-Z]\w+)=\S`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1]+"."+m[2])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A binary built by promu must say of itself what one built by make does.
func TestPromuAndMakeSetTheSameVersion(t *testing.T) {
	var want []string
	for _, name := range []string{"Branch", "BuildDate", "BuildUser", "Revision", "Version"} {
		want = append(want, "github.com/prometheus/common/version."+name)
	}
	for _, file := range []string{".promu.yml", "Makefile"} {
		if got := versionVariables(read(t, file)); !slices.Equal(got, want) {
			t.Errorf("%s sets %q, want %q", file, got, want)
		}
	}
}

// Make links VERSION in as it is, into a flag: it must be one word, and a version that the changelog can have.
func TestVersionFile(t *testing.T) {
	if v := read(t, "VERSION"); !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?\n$`).MatchString(v) {
		t.Errorf("VERSION is %q, want MAJOR.MINOR.PATCH[-PRERELEASE] and a newline", v)
	}
}
