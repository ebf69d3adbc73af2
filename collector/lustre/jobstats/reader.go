// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package jobstats

import (
	"bytes"
	"errors"
	"io"
)

const (
	bufferSize = 256 << 10
	minFree    = 64 << 10 // room that every Read gets
	slack      = 192      // room behind the text: no name, fixed column or line of zeros that is compared in one go is longer
	maxIdle    = 100      // reads in a row that give nothing, as in bufio
)

var errBadRead = errors.New("reader returned an impossible count")

// lineForm is how a line ends.
type lineForm uint8

const (
	noLine    lineForm = iota // the text is over
	wholeLine                 // ended by a newline
	cutLine                   // ended by the end of the text
	longLine                  // longer than the limit; only its beginning is there
)

// reader cuts a text into lines over one reused buffer.
type reader struct {
	r        io.Reader
	buf      []byte // buf[end] is always a newline, so that no scan runs beyond the text
	pos, end int    // the text read and not consumed
	seen     int    // buf[pos:seen] has no newline
	maxLine  int
	maxBytes int64
	bytes    int64 // read so far
	stripped bool  // the framing prefix of the line at pos is already consumed
	done     bool  // nothing more to read
	err      error
}

// reset starts over with another text and keeps the buffer.
func (d *reader) reset(r io.Reader, maxLine int, maxBytes int64) {
	buf := d.buf
	if buf == nil {
		buf = make([]byte, bufferSize)
	}
	*d = reader{r: r, buf: buf, maxLine: maxLine, maxBytes: maxBytes}
	d.buf[0] = '\n'
}

// line finds the line at pos and does not consume it. It may be called again for the same line at no cost.
func (d *reader) line() ([]byte, lineForm) {
	for {
		i := bytes.IndexByte(d.buf[d.seen:d.end], '\n')
		if i < 0 {
			d.seen = d.end
		} else {
			d.seen += i
		}
		switch {
		case d.seen-d.pos > d.maxLine:
			return d.buf[d.pos : d.pos+d.maxLine], longLine
		case i >= 0:
			return d.buf[d.pos:d.seen], wholeLine
		case !d.done:
			d.fill()
		case d.pos < d.end:
			return d.buf[d.pos:d.end], cutLine
		default:
			return nil, noLine
		}
	}
}

// strip consumes n bytes of the line at pos, its framing prefix.
func (d *reader) strip(n int) {
	d.pos += n
	d.stripped = true
}

// skip consumes the rest of the line at pos and reports whether it had a newline.
func (d *reader) skip() bool {
	d.stripped = false
	for {
		if i := bytes.IndexByte(d.buf[d.seen:d.end], '\n'); i >= 0 {
			d.pos = d.seen + i + 1
			d.seen = d.pos
			return true
		}
		d.pos, d.seen = d.end, d.end
		if d.done {
			return false
		}
		d.fill()
	}
}

// stop ends the text here.
func (d *reader) stop(err error) {
	d.done, d.err = true, err
	d.pos, d.seen = d.end, d.end
}

// fill moves the unconsumed text to the front, which keeps the working set small, and reads once.
func (d *reader) fill() {
	d.compact()
	for range maxIdle {
		n, err := d.r.Read(d.buf[d.end : len(d.buf)-slack])
		if n < 0 || n > len(d.buf)-slack-d.end {
			n, err = 0, errBadRead
		}
		d.bytes += int64(n)
		if over := d.bytes - d.maxBytes; over > 0 {
			n, err = n-int(over), ErrLimit
			d.bytes = d.maxBytes
		}
		d.end += n
		d.buf[d.end] = '\n'
		if err != nil {
			d.done = true
			if err != io.EOF {
				d.err = err
			}
		}
		if n > 0 || err != nil {
			return
		}
	}
	d.done, d.err = true, io.ErrNoProgress
}

// compact makes room for a read; the buffer grows only for a line that is nearly as long.
func (d *reader) compact() {
	n := copy(d.buf, d.buf[d.pos:d.end])
	d.seen -= d.pos
	d.pos, d.end = 0, n
	if len(d.buf)-slack-n < minFree {
		grown := make([]byte, 2*len(d.buf))
		copy(grown, d.buf[:n])
		d.buf = grown
	}
}
