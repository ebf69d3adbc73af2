// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// numbers are edges of the eight-digit steps and of 64 bits, and random ones of every length.
func numbers() (list []uint64) {
	list = []uint64{0, 1, 9, 10, math.MaxInt64, math.MaxUint64, math.MaxUint64 - 1}
	for p := uint64(10); p < 1e19; p *= 10 {
		list = append(list, p-1, p, p+1)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		list = append(list, rnd.Uint64()>>rnd.IntN(64))
	}
	return list
}

func TestNumber(t *testing.T) {
	for _, v := range numbers() {
		for _, blanks := range []int{0, 1, 7, 8, 9, 20} {
			for _, zeros := range []string{"", "0", "0000000000000000000000"} {
				digits := zeros + strconv.FormatUint(v, 10)
				text := []byte("x" + strings.Repeat(" ", blanks) + digits + ",\n" + strings.Repeat("7", slack))
				got, next := number(text, 1)
				if want := 1 + blanks + len(digits); got != v || next != want {
					t.Fatalf("%q is %d up to %d, want %d up to %d", text[:want+1], got, next, v, want)
				}
				if got, n := decimal([]byte(digits)); got != v || n != len(digits) {
					t.Fatalf("decimal(%s) is %d of %d digits", digits, got, n)
				}
			}
		}
	}
	for _, text := range []string{"", " ", ",", "\n", "-1", "x1", "/", ":", "\xb0", "\t1", "18446744073709551616", "99999999999999999999", "184467440737095516150"} {
		if v, next := number([]byte(text+"\n"+strings.Repeat("1", slack)), 0); next != 0 {
			t.Errorf("%q is %d", text, v)
		}
		if v, n := decimal([]byte(text)); n != 0 {
			t.Errorf("decimal(%q) is %d", text, v)
		}
	}
}

// TestColumns compares with strconv over right-justified numbers and over random text of the bytes that matter.
func TestColumns(t *testing.T) {
	check := func(text string) {
		t.Helper()
		digits := strings.TrimLeft(text, " ")
		want, err := strconv.ParseUint(digits, 10, 64)
		if strings.Trim(digits, "0123456789") != "" {
			err = strconv.ErrSyntax
		}
		v, wrong := column16(load8([]byte(text), 0), load8([]byte(text), 8))
		if (wrong != 0) != (err != nil) || wrong == 0 && v != want {
			t.Fatalf("column16(%q) is %d, wrong %x, want %d, %v", text, v, wrong, want, err)
		}
		if text[:8] != "        " {
			return
		}
		v, wrong = column8(load8([]byte(text), 8))
		if (wrong != 0) != (err != nil) || wrong == 0 && v != want {
			t.Fatalf("column8(%q) is %d, wrong %x, want %d, %v", text, v, wrong, want, err)
		}
	}
	for _, v := range numbers() {
		if v < 1e16 {
			check(fmt.Sprintf("%16d", v))
		}
	}
	const alphabet = " 0123456789!),:\n/\x00\x10\x80\xa0\xb0\xff"
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		text := []byte(fmt.Sprintf("%16d", rnd.Uint64N(1e16)>>rnd.IntN(54)))
		for range rnd.IntN(3) {
			text[rnd.IntN(16)] = alphabet[rnd.IntN(len(alphabet))]
		}
		check(string(text))
	}
}

func TestSkipSpaces(t *testing.T) {
	for n := range 40 {
		for _, c := range []byte{'\n', '!', 0, 0xA0, '\t', 0x1F} {
			text := append(bytes.Repeat([]byte{' '}, n), c)
			text = append(text, bytes.Repeat([]byte{' '}, slack)...)
			if got := skipSpaces(text, 0); got != n {
				t.Fatalf("skipSpaces of %d blanks and %q is %d", n, c, got)
			}
		}
	}
}

func TestDigits(t *testing.T) {
	for _, v := range numbers() {
		if got, want := digits(v), len(strconv.FormatUint(v, 10)); got != want {
			t.Errorf("digits(%d) is %d", v, got)
		}
		if got, want := string(appendRight(nil, v, 11)), fmt.Sprintf("%11d", v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBucketLabels(t *testing.T) {
	want := strings.Fields("1 2 4 8 16 32 64 128 256 512 1K 2K 4K 8K 16K 32K 64K 128K 256K 512K 1M 2M 4M 8M 16M 32M 64M 128M 256M 512M 1G 2G")
	for exp, label := range want {
		if got := string(appendLabel(nil, uint8(exp))); got != label {
			t.Errorf("2^%d is %s, want %s", exp, got, label)
		}
		if got, ok := bucketExp([]byte(label)); !ok || int(got) != exp {
			t.Errorf("%s is 2^%d, want 2^%d", label, got, exp)
		}
	}
	for _, label := range []string{"", "K", "0", "3", "1024", "4G", "1T", "1k", "1KB", "001", "-1", "1 K", "99999999999999999999"} {
		if got, ok := bucketExp([]byte(label)); ok {
			t.Errorf("%q is 2^%d", label, got)
		}
	}
}
