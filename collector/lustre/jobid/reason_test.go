// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

import (
	"strings"
	"testing"
)

func TestReasons(t *testing.T) {
	f := func(flags, id, want string) {
		t.Helper()
		all := DefaultFormats()
		if flags != "" {
			all = formats(t, strings.Fields(flags)...)
		}
		x := mustNew(t, Config{Formats: all, System: PolicyKeep})
		for _, raw := range spellings(id) {
			if got := x.Identify([]byte(raw)).Reason; got != want {
				t.Errorf("%s with %q:\n got %q\nwant %q", raw, flags, got, want)
			}
		}
	}
	f("", "11317854:17627127:r01c01", "")
	f("", ":17627127:r01c01", "")
	f("", "wget.0", "")
	f("", "1:1000:r01c01.bullx", reasonQualified)
	f("", "12345678:17627127:longhostname12", reasonTruncated)
	f("", "", reasonEmpty)
	f("", strings.Repeat("x", 81), reasonLong)
	f("", strings.Repeat("x", 500), reasonLong)
	f("", "wget", reasonNoUID)
	f("", "wget.", reasonNoUID)
	f("", ".1000", reasonNoUID) // as a job of that name
	f("", "11317854", reasonJobOnly)
	f("", "11317854:", reasonNoUID)
	f("", "11317854:17627127", reasonNoHost)
	f("", "11317854:17627127:", reasonNoHost)
	f("", ":1317854:17627127:r01c01", reasonBadHost)
	f("", "1:01:r01c01", reasonBadUID)
	f("", "1:x:r01c01", reasonBadUID)
	f("", "wget.01000", reasonBadUID)
	f("", "1:1000:a.02000", reasonLikeUID)
	f("", "1:1000:a.", reasonLikeUID)
	f("", "12345678901234567890123456:17627", reasonCutUID)
	f("", "an_executable_of_20byt.17627127", reasonCutUID)
	f("", "1234567890123456789012345678901", reasonCut)
	f("", "12345678901234567890123:1000000:", reasonCut)
	f("a=%j:%u:%H a:H=util.*", "1:1000:n1", reasonPattern)
	f("a=%j:%u:%H a:H=util.*", "1:1000:", reasonNoHost)
	f("a=<%e>%g.%p", "x", reasonNone)
	f("a=<%e>%g.%p", "<", reasonNoExe)
	f("a=<%e>%g.%p", "<x", reasonNoGID)
	f("a=<%e>%g.%p", "<x>1.", reasonNoPID)
	f("a=<%e>%g.%p", "<x>1.x", reasonBadPID)
	f("a=<%e>%g.%p", "<x>x.1", reasonBadGID)
	f("a=%u/%j;", "1", reasonNoJob)
	f("a=%u/%j;", "1/5", reasonTooShort)
	f("a=%u/%j;", "1/5;6", reasonNone)
}

func TestNodeOf(t *testing.T) {
	f := func(flags, id, want string) {
		t.Helper()
		all := DefaultFormats()
		if flags != "" {
			all = formats(t, strings.Fields(flags)...)
		}
		x := mustNew(t, Config{Formats: all})
		for _, raw := range spellings(id) {
			if got := x.NodeOf([]byte(raw)); got != want {
				t.Errorf("%s with %q: node %q, want %q", raw, flags, got, want)
			}
		}
	}
	f("", "1:1000:r01c01.bullx", "r01c01.bullx")
	f("", "1:1000:r01c01", "r01c01")
	f("", ":1317854:17627127:r01c01", "r01c01")
	f("", "1:x:r01c01", "r01c01")
	f("", "11317854:17627127", "")
	f("", "11317854:17627127:", "")
	f("", "wget", "")
	f("", "wget.", "")
	f("", "wget.1000", "")
	f("", "", "")
	f("", "1:17627127:a.2000", "") // a process at a login node
	f("", "1:x:a.2000", "")
	f("", strings.Repeat("x", 90)+":n1", "")
	f("", strings.Repeat("x", 900)+":n1", "")
	f("a=%h/%u/%j", "n1/x", "n1")
	f("a=%h/%u/%j", "n1", "")
	f("a=%h/%u/%j", "a b/x", "")
	f("a=%u/%h/%j", "x/n1/1", "") // in the middle: nobody knows
	f("a=%u/%h/%j", "1/n1/1", "n1")
	f("a=%j:%u:%H a:H=util.*", "1:1000:n1", "n1") // refused by the pattern
}
