// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

// numBuckets is the number of a histogram's buckets (OBD_HIST_MAX).
const numBuckets = 32

// labels are the buckets' labels with their colon, as little-endian words with a mask of their length.
type labels [numBuckets]struct {
	word, mask uint64
	size       int
}

// bucketLabels is never changed.
var bucketLabels = makeLabels() //nolint:gochecknoglobals // a constant table that is computed

func makeLabels() (l labels) {
	for exp := range uint8(numBuckets) {
		text := append(appendLabel(nil, exp), ':')
		for i, c := range text {
			l[exp].word |= uint64(c) << (8 * i)
			l[exp].mask |= 0xFF << (8 * i)
		}
		l[exp].size = len(text)
	}
	return l
}

// fastHist reads `, hist: { 32K: 1, 64K: 1 }`, with nothing between two blanks when there is no bucket.
func fastHist(b []byte, k int, op *Op) int {
	if load8(b, k) != textHist || b[k+8] != '{' || b[k+9] != ' ' {
		return 0
	}
	op.Has |= HasHist
	k += 10
	if b[k] == ' ' && b[k+1] == '}' {
		return k + 2
	}
	for exp := 0; ; exp++ {
		word := load8(b, k)
		// Buckets ascend, usually without a gap.
		for exp < numBuckets && word&bucketLabels[exp].mask != bucketLabels[exp].word {
			exp++
		}
		if exp >= numBuckets {
			return 0
		}
		var count uint64
		if count, k = number(b, k+bucketLabels[exp].size); k == 0 {
			return 0
		}
		op.Hist = append(op.Hist, Bucket{uint8(exp), count})
		switch {
		case b[k] == ' ' && b[k+1] == '}':
			return k + 2
		case b[k] != ',' || b[k+1] != ' ':
			return 0
		}
		k += 2
	}
}
