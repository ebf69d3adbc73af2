// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

// point is one counter of a record or a sum, in 16 bytes: hundreds of thousands stay in memory.
type point struct {
	// count is what Lustre says, or what was added up.
	count uint64
	// When the series was first exposed, or its created timestamp: a tick in 48 bits.
	bornLow  uint32
	bornHigh uint16
	// bits is the Key, and two flags above it.
	bits uint16
}

const (
	// heldPoint: the series shows 0 until its first zero was seen.
	heldPoint = 1 << 15
	// datedPoint: the series has a created timestamp.
	datedPoint = 1 << 14
	keyBits    = datedPoint - 1
)

func newPoint(k Key, count uint64) point { return point{count: count, bits: uint16(k)} }

func (p *point) key() Key    { return Key(p.bits & keyBits) }
func (p *point) held() bool  { return p.bits&heldPoint != 0 }
func (p *point) dated() bool { return p.bits&datedPoint != 0 }
func (p *point) born() tick  { return tick(p.bornHigh)<<32 | tick(p.bornLow) }

func (p *point) set(flag uint16, on bool) {
	p.bits &^= flag
	if on {
		p.bits |= flag
	}
}

func (p *point) setBorn(t tick) { p.bornLow, p.bornHigh = uint32(t), uint16(t>>32) }

// shown is the value to expose.
func (p *point) shown() uint64 {
	if p.held() {
		return 0
	}
	return p.count
}
