// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// intervalFile is the parameter that says after how long an idle entry is removed.
const intervalFile = "job_cleanup_interval"

// intervalLimit is far more than a number of seconds takes.
const intervalLimit = 64

// ParseInterval reads a value of job_cleanup_interval, which is a whole number of seconds; 0 means never.
// It reports false for anything else.
func ParseInterval(text string) (time.Duration, bool) {
	seconds, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil || seconds > uint64(math.MaxInt64/time.Second) {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

// readStart reads a small file in one go. More than the limit is cut off, and will not parse.
func readStart(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var buf [intervalLimit]byte
	n, err := io.ReadFull(f, buf[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	return string(buf[:n]), nil
}
