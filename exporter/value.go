// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
)

// value is a flag's value for kingpin. Unlike kingpin's own, it says in its errors which flag was
// given what, and what would be right.
type value[T any] struct {
	flag  string
	to    *T
	parse func(string) (T, error)
}

// Set reads the flag's text.
func (v *value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err != nil {
		return badFlag(v.flag, text, err)
	}
	*v.to = parsed
	return nil
}

// String is for kingpin, which takes defaults from it that are not set otherwise.
func (v *value[T]) String() string { return "" }

// list is a flag that may be repeated.
type list[T any] struct{ value[[]T] }

func (l *list[T]) IsCumulative() bool { return true }

// badFlag is the error of a flag's value.
func badFlag(flag, text string, err error) error {
	return fmt.Errorf("--%s=%q: %w", flag, text, err)
}

// registry is what takes flags: kingpin's application, or one of its commands.
type registry interface {
	Flag(name, help string) *kingpin.FlagClause
}

// set defines a flag that is read by parse.
func set[T any](r registry, to *T, name, defaultText string, parse func(string) (T, error), help string) *kingpin.FlagClause {
	f := r.Flag(name, help)
	f.SetValue(&value[T]{name, to, parse})
	return f.Default(defaultText)
}

// setList defines a flag that may be repeated; what is given replaces all the defaults.
func setList[T any](r registry, to *[]T, name string, defaults []string, parse func(string) (T, error), help string) *kingpin.FlagClause {
	grow := func(text string) ([]T, error) {
		one, err := parse(text)
		return append(*to, one), err
	}
	f := r.Flag(name, help)
	f.SetValue(&list[T]{value[[]T]{name, to, grow}})
	return f.Default(defaults...)
}

func anyText(s string) (string, error) { return s, nil }

func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		return "", fmt.Errorf("want %s", alternatives(words))
	}
}

func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func parseLevel(s string) (level slog.Level, err error) {
	if _, err = oneOf(logLevels()...)(s); err == nil {
		err = level.UnmarshalText([]byte(s))
	}
	return level, err
}

// durationFrom reads a duration that is at least so long.
func durationFrom(least time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return 0, errors.New("want a number with its unit, for example 500ms, 10s or 1m30s")
		case d < least && least == 0:
			return 0, errors.New("must not be negative")
		case d < least:
			return 0, fmt.Errorf("must be at least %s", least)
		}
		return d, nil
	}
}

// short writes a duration as people do: 1m, not 1m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// countFrom reads a whole number that is at least so large.
func countFrom(least int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return 0, fmt.Errorf("want a whole number of at least %d", least)
		}
		return n, nil
	}
}

func parseUID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("want a whole number from 1 (only root is a system user) to %d; "+
			"to show all of them as users give --lustre.system-users=keep", uint32(math.MaxUint32))
	}
	return uint32(n), nil
}

// parseBytes reads a number of bytes, or of the units that people write them in.
func parseBytes(s string) (int64, error) {
	digits := strings.TrimRight(s, "BKMGTki")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := byteUnit(s[len(digits):])
	if err != nil || n <= 0 || unit == 0 || n > math.MaxInt64/unit {
		return 0, errors.New("want a number of bytes above 0, for example 500MB or 4GiB")
	}
	return n * unit, nil
}

func byteUnit(suffix string) int64 {
	units := map[string]int64{
		"": 1, "B": 1,
		"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
	return units[suffix]
}
