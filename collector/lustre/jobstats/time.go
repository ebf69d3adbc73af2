// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"math"
)

// Time is a time as printed: seconds, `1723114647.887515895` or, up to 2.14, `1495525343`. Nil when the line is absent.
// The printed digits identify an incarnation exactly; a converted time would not, since boot times are only estimates.
type Time []byte

// bootLimit separates seconds since boot from seconds since 1970: 1e9 is 31 years of uptime, or September 2001.
const bootLimit = 1_000_000_000

const nanosecond = 1_000_000_000 // nanoseconds in a second

// Nanoseconds converts the printed time; digits beyond nanoseconds are cut. Not ok if the time is absent, is not a time, or
// does not fit, as an elapsed time below zero, which servers print as 18446744073709551615.500000000, does not.
func (t Time) Nanoseconds() (ns int64, ok bool) {
	sec, frac, ok := t.split()
	if !ok || sec > math.MaxInt64/nanosecond-1 {
		return 0, false
	}
	scale := int64(nanosecond)
	for _, c := range frac {
		scale /= 10
		ns += int64(c-'0') * scale
	}
	return int64(sec)*nanosecond + ns, true
}

// BootRelative reports that the time counts from the server's boot: Lustre 2.15.0, 2.15.1 and HPE's builds of them (LU-16231).
// Of an absent time it says no.
func (t Time) BootRelative() bool {
	sec, _, ok := t.split()
	return ok && sec < bootLimit
}

// split gives whole seconds and the digits after the point.
func (t Time) split() (sec uint64, frac []byte, ok bool) {
	whole, frac, point := bytes.Cut(t, []byte{'.'})
	sec, n := decimal(whole)
	if n == 0 || n != len(whole) || point && len(frac) == 0 {
		return 0, nil, false
	}
	for _, c := range frac {
		if !isDigit(c) {
			return 0, nil, false
		}
	}
	return sec, frac, true
}

// equal tells absent from present; a present time is never empty.
func (t Time) equal(o Time) bool { return bytes.Equal(t, o) }

// timeKind is one of the three time lines.
type timeKind uint8

const (
	snapshotTime timeKind = iota
	startTime
	elapsedTime
	numTimes
)

// timeNames are the lines' names in print order.
var timeNames = [numTimes]string{"snapshot_time", "start_time", "elapsed_time"}
