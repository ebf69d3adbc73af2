// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobid

// Decode appends the identifier behind the printed text raw to dst: what the
// client sent, in bytes that need not be UTF-8.
//
// Servers from 2.15.2 on write every unsafe byte as \xHH and then put the whole
// in quotes; backslash and quote are always escaped, and no other escape exists
// (lustre/obdclass/lprocfs_jobstats.c; format section 4.2). So text that begins
// and ends with a quote is stripped of both, and its \xHH (either case) are
// replaced; anything else, also a backslash that starts no such escape, stays.
//
// Servers up to 2.15.1 never quote, and there an identifier may itself begin and
// end with a quote. The text alone does not tell; such an identifier loses its
// quotes here. Quotes at both ends are what new servers write all day and what
// old ones print only for odd process names.
func Decode(dst, raw []byte) (decoded []byte) {
	if !quoted(raw) {
		return append(dst, raw...)
	}
	raw = raw[1 : len(raw)-1]
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' && i+3 < len(raw) && raw[i+1] == 'x' {
			high, low := hexDigit(raw[i+2]), hexDigit(raw[i+3])
			if high < 16 && low < 16 {
				c = high<<4 | low
				i += 3
			}
		}
		dst = append(dst, c)
	}
	return dst
}

func quoted(raw []byte) bool {
	return len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"'
}

// hexDigit returns 16 for a byte that is none.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}
