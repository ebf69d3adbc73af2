// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseDuration reads a duration as the templates write it: Go's, or whole days.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}

// promDuration writes a duration as Prometheus does, in milliseconds at the finest: 1d, 23h30m, 1m30s, 600ms.
func promDuration(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	var b strings.Builder
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := d / u.unit; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.unit
		}
	}
	return b.String()
}

// divided returns a duration divided by the speedup. As it must not come out as 0, it is a second at least.
func (o Options) divided(text string) (time.Duration, error) {
	d, err := parseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("duration %q: %w", text, err)
	}
	if o.Speedup != 1 {
		d = max(time.Duration(float64(d)/o.Speedup).Round(time.Second), time.Second)
	}
	return d, nil
}

// scaled writes a divided duration as PromQL has it.
func (o Options) scaled(text string) (string, error) {
	d, err := o.divided(text)
	return promDuration(d), err
}

// seconds writes a divided duration as a number.
func (o Options) seconds(text string) (string, error) {
	d, err := o.divided(text)
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64), err
}
