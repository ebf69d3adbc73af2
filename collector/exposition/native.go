// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package exposition

import "math"

// Native is a native histogram of schema 0. Its count is the sum of its
// buckets, since Prometheus rejects a scrape in which the two differ.
type Native struct {
	Sum     float64        // of all observations, in the family's unit
	Buckets []NativeBucket // ascending by Index; those with Count 0 may be left out
}

// NativeBucket holds Count observations (not cumulated) in (2^(Index-1), 2^Index].
type NativeBucket struct {
	Index int32
	Count uint64
}

// Buckets of schema 0 that a float64 can fall into; beyond the largest number
// there is one more, for infinity.
const (
	minIndex = -1074
	maxIndex = 1025
)

// maxGap is the number of empty buckets that client_golang (histogram.go,
// makeBuckets) writes rather than beginning a new span.
const maxGap = 2

// span is a BucketSpan: length consecutive buckets, offset after the last one.
type span struct {
	offset int32
	length uint32
}

// layout is a histogram as protobuf has it: spans of buckets, and the difference
// of each bucket's count to the previous bucket's, as positive_delta fields.
type layout struct {
	count  uint64
	spans  []span
	deltas []byte
}

// set lays out buckets. It reports false if they are not ascending, out of
// range, or more than an int64 can count, any of which would make Prometheus
// reject the whole scrape.
func (l *layout) set(buckets []NativeBucket) bool {
	l.count, l.spans, l.deltas = 0, l.spans[:0], l.deltas[:0]
	previous := int32(minIndex - 1)
	next, last := int32(0), int64(0)
	for _, b := range buckets {
		if b.Index <= previous || b.Index > maxIndex || b.Count > math.MaxInt64-l.count {
			return false
		}
		previous = b.Index
		if b.Count == 0 {
			continue
		}
		l.count += b.Count
		if gap := b.Index - next; gap != 0 || len(l.spans) == 0 {
			last = l.skip(gap, last)
		}
		l.add(int64(b.Count) - last)
		last, next = int64(b.Count), b.Index+1
	}
	if len(l.spans) == 0 {
		// A span of nothing tells an empty native histogram from a classic one.
		l.spans = append(l.spans, span{})
	}
	return true
}

// skip passes over gap buckets after the last one, whose count was last, and
// returns the count that the next delta refers to.
func (l *layout) skip(gap int32, last int64) int64 {
	if len(l.spans) == 0 || gap > maxGap {
		l.spans = append(l.spans, span{offset: gap})
		return last
	}
	for range gap {
		l.add(-last)
		last = 0
	}
	return last
}

// add appends a bucket to the last span.
func (l *layout) add(delta int64) {
	l.spans[len(l.spans)-1].length++
	// Most deltas take two bytes; one append instead of two saves a sixth of a histogram.
	if z := zigzag(delta); z>>7 != 0 && z < 1<<14 {
		l.deltas = append(l.deltas, tagPositiveDelta, byte(z)|0x80, byte(z>>7))
	} else {
		l.deltas = appendVarint(append(l.deltas, tagPositiveDelta), z)
	}
}
