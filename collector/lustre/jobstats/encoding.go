// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

// encoding is how a server generation prints the identifier's bytes.
type encoding uint8

const (
	verbatim  encoding = iota // up to 2.7: any byte, a newline too
	masked                    // 2.8 to 2.15.1: bytes not printable as '?' (LU-7187)
	escaped                   // 2.15.2 to 2.15.8: quoted with \xHH for all but alphanumerics and .@-_ (LU-11407)
	escaped16                 // since 2.16: ':' and '/' stay as they are; ':' or a leading '@' quotes (LU-16555, LU-17358)
)

func (c encoding) append(dst, id []byte) []byte {
	switch c {
	case masked:
		return appendMasked(dst, id)
	case escaped, escaped16:
		return c.appendEscaped(dst, id)
	default:
		return append(dst, id...)
	}
}

func appendMasked(dst, id []byte) []byte {
	for _, b := range id {
		if !isPrint(b) {
			b = '?'
		}
		dst = append(dst, b)
	}
	return dst
}

func (c encoding) appendEscaped(dst, id []byte) []byte {
	const hex = "0123456789ABCDEF"
	quoted := c.quotes(id)
	if quoted {
		dst = append(dst, '"')
	}
	for _, b := range id {
		if c.safe(b) {
			dst = append(dst, b)
		} else {
			dst = append(dst, '\\', 'x', hex[b>>4], hex[b&15])
		}
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst
}

// quotes reports whether the identifier would not be a plain YAML scalar.
func (c encoding) quotes(id []byte) bool {
	for i, b := range id {
		if !c.safe(b) || c == escaped16 && (b == ':' || i == 0 && b == '@') {
			return true
		}
	}
	return false
}

func (c encoding) safe(b byte) bool {
	switch b {
	case '.', '@', '-', '_':
		return true
	case ':', '/':
		return c == escaped16
	default:
		return isAlnum(b)
	}
}

// isAlnum and isPrint are the kernel's, whose table is Latin-1 (linux/lib/ctype.c), not ASCII.
func isAlnum(b byte) bool {
	return b-'0' < 10 || b-'A' < 26 || b-'a' < 26 || b >= 0xC0 && b != 0xD7 && b != 0xF7
}

func isPrint(b byte) bool { return b-' ' < 0x7F-' ' || b >= 0xA0 }
