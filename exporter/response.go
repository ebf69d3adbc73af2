// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/common/expfmt"

	"github.com/pfs-exporter/pfs_exporter/collector"
	"github.com/pfs-exporter/pfs_exporter/collector/exposition"
)

// errFault marks errors that are this program's and not the client's.
var errFault = errors.New("fault in the exposition")

// gzipPool reuses compressors, which are some hundred kilobytes each.
type gzipPool struct{ pool sync.Pool }

func (p *gzipPool) get(w io.Writer) *gzip.Writer {
	if z, ok := p.pool.Get().(*gzip.Writer); ok {
		z.Reset(w)
		return z
	}
	// The level is one that exists, and no other error is possible. Better levels take several times the
	// time for a tenth of the bytes.
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	return z
}

func (p *gzipPool) put(z *gzip.Writer) {
	z.Reset(io.Discard) // lets go of the response
	p.pool.Put(z)
}

// response writes the body of one scrape, compressed or not.
type response struct {
	w      http.ResponseWriter
	form   agreement
	pool   *gzipPool
	zipper *gzip.Writer // nil without compression
	body   io.Writer
}

func newResponse(w http.ResponseWriter, form agreement, pool *gzipPool) *response {
	out := &response{w: w, form: form, pool: pool, body: w}
	form.describe(w.Header())
	if form.gzip {
		out.zipper = pool.get(w)
		out.body = out.zipper
	}
	return out
}

func (out *response) release() {
	if out.zipper != nil {
		out.pool.put(out.zipper)
	}
}

// write sends everything, down to the network. If err is nil the response is one that a client can read,
// and incomplete tells what had to be left out of it.
func (out *response) write(small []byte, pages []collector.Page) (incomplete, err error) {
	if _, err := out.body.Write(small); err != nil {
		return nil, err
	}
	var left []error
	for _, page := range pages {
		missing, err := out.writePage(page)
		if err != nil {
			return nil, err
		}
		left = append(left, missing)
	}
	if out.form.format.FormatType() == expfmt.TypeOpenMetrics {
		if _, err := io.WriteString(out.body, "# EOF\n"); err != nil {
			return nil, err
		}
	}
	return errors.Join(left...), out.finish()
}

// writePage writes the large families of a page. The encoder tells whether the stream is still intact.
func (out *response) writePage(page collector.Page) (incomplete, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: panic: %v\n%s", errFault, cause, debug.Stack())
		}
	}()
	encoder, err := exposition.New(out.body, out.form.format)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFault, err)
	}
	incomplete = page.WriteFamilies(encoder)
	if err := encoder.Close(); errors.Is(err, exposition.ErrUnstable) {
		return nil, fmt.Errorf("%w: %w", errFault, err)
	} else if err != nil {
		return nil, err
	}
	return incomplete, nil
}

// finish sends what is still buffered here and in net/http.
func (out *response) finish() error {
	if out.zipper != nil {
		if err := out.zipper.Close(); err != nil {
			return fmt.Errorf("compressing: %w", err)
		}
	}
	if err := http.NewResponseController(out.w).Flush(); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	return nil
}
