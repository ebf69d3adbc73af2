// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import "math/rand/v2"

// sizes is a distribution of the sizes of bulk RPCs in bytes.
type sizes struct {
	bytes  []uint64
	picker picker
	mean   float64
}

func newSizes(weights map[uint64]float64) *sizes {
	s := &sizes{}
	for exp := range 32 { // ascending: the order of a map would not be the same twice
		b := uint64(1) << exp
		if w := weights[b]; w > 0 {
			s.bytes = append(s.bytes, b)
			s.picker.add(w)
		}
	}
	for i, b := range s.bytes {
		s.mean += float64(b) * s.picker.weight(i)
	}
	return s
}

// styles of I/O with their probabilities. The median user moves some 4 KiB per RPC, the top of the tail full RPCs.
var ioStyles = []struct {
	weight float64
	sizes  *sizes
}{
	{50, newSizes(map[uint64]float64{512: 5, 4 << 10: 60, 16 << 10: 20, 64 << 10: 10, 256 << 10: 5})},
	{35, newSizes(map[uint64]float64{4 << 10: 10, 64 << 10: 10, 256 << 10: 30, 1 << 20: 50})},
	{15, newSizes(map[uint64]float64{64 << 10: 5, 1 << 20: 10, 4 << 20: 25, 16 << 20: 60})},
}

func pickSizes(r *rand.Rand) *sizes {
	x := r.Float64() * 100
	for _, s := range ioStyles {
		if x -= s.weight; x < 0 {
			return s.sizes
		}
	}
	return ioStyles[0].sizes
}

// draw appends the sizes of n RPCs to dst. One in four ends inside its power of two, as the last RPC of a file does.
func (s *sizes) draw(r *rand.Rand, dst []batch, n uint64) []batch {
	if n <= singles {
		for range n {
			b := s.bytes[s.picker.pick(r)]
			if r.IntN(4) == 0 {
				b -= r.Uint64N(b / 2)
			}
			dst = append(dst, batch{b, 1})
		}
		return dst
	}
	left := n
	for i, b := range s.bytes {
		part := min(left, uint64(float64(n)*s.picker.weight(i)))
		if i == len(s.bytes)-1 {
			part = left
		}
		left -= part
		if partial := part / 4; partial > 0 {
			dst = append(dst, batch{b - r.Uint64N(b/2), partial})
			part -= partial
		}
		if part > 0 {
			dst = append(dst, batch{b, part})
		}
	}
	return dst
}
