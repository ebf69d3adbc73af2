// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Escape sequences of every terminal since the VT100.
const (
	home  = "\x1b[H"
	below = "\x1b[J"     // clears from here to the end
	wipe  = "\x1b[K\r\n" // clears the rest of the line
)

// screen shows frames: in place on a terminal, one below the other elsewhere.
type screen struct {
	out   io.Writer
	live  bool
	drawn bool // the next frame goes over this one
}

func newScreen(f *os.File, plain bool) *screen {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
	return &screen{out: f, live: terminal && !plain}
}

// Write prints what is no frame.
func (s *screen) Write(b []byte) (int, error) { return s.out.Write(b) }

// every is the time between two frames: short where they replace one another.
func (s *screen) every(plain time.Duration) time.Duration {
	if s.live {
		return 2 * time.Second
	}
	return plain
}

// show draws a frame.
func (s *screen) show(frame string) {
	if !s.live {
		fmt.Fprint(s.out, "\n", frame)
		return
	}
	start := home
	if !s.drawn {
		start = strings.Repeat("\r\n", 60) + home // what was there before stays in the scrollback
	}
	s.drawn = true
	fmt.Fprint(s.out, start, strings.ReplaceAll(frame, "\n", wipe), below)
}

// finish leaves the last frame where it is; what is printed next comes below.
func (s *screen) finish() { s.drawn = false }

// journal keeps what happened, for the last lines of a frame. It may be written to from anywhere.
type journal struct {
	mu    sync.Mutex
	lines []string
}

// kept is how many lines a frame shows.
const kept = 8

func (j *journal) add(at time.Time, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, at.Format(time.TimeOnly)+"  "+inert(fmt.Sprintf(format, args...)))
}

func (j *journal) recent() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines[max(0, len(j.lines)-kept):]...)
}

// inert makes text from identifiers, which any user of the cluster may choose, safe for a terminal.
func inert(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// table aligns columns; numbers to the right.
func table(b *strings.Builder, head []string, right []bool, rows [][]string) {
	if len(rows) == 0 {
		b.WriteString("  none yet\n")
		return
	}
	width := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for _, row := range append([][]string{head}, rows...) {
		line := " "
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-len([]rune(cell)))
			if right[i] {
				line += " " + pad + cell + " "
			} else {
				line += " " + cell + pad + " "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
