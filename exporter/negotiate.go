// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
)

// offeredFormats are those that package exposition streams, best first. Protobuf as text is for people,
// who have the text format.
func offeredFormats() []expfmt.Format {
	return []expfmt.Format{expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtProtoDelim, expfmt.FmtText}
}

// agreement is the form of a response that both sides understand.
type agreement struct {
	format expfmt.Format
	gzip   bool
}

func agree(h http.Header) agreement {
	return agreement{
		format: expfmt.NegotiateAccept(h, offeredFormats()...),
		gzip:   acceptsGzip(h.Values("Accept-Encoding")),
	}
}

// describe sets the header fields that say what was agreed.
func (a agreement) describe(h http.Header) {
	h.Set("Content-Type", string(a.format))
	h.Add("Vary", "Accept, Accept-Encoding")
	if a.gzip {
		h.Set("Content-Encoding", "gzip")
	}
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3). A weight of 0 refuses; gzip's own
// weight goes before that of *. Prometheus wants gzip whenever it accepts it, so weights above 0 are not compared.
func acceptsGzip(values []string) bool {
	named, others := unsaid, unsaid
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			coding, parameters, _ := strings.Cut(one, ";")
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				named = max(named, wishOf(parameters))
			case "*":
				others = max(others, wishOf(parameters))
			}
		}
	}
	if named != unsaid {
		return named == wanted
	}
	return others == wanted
}

type wish int

const (
	unsaid wish = iota
	refused
	wanted
)

func wishOf(parameters string) wish {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		// What is no weight refuses: an uncompressed response is right for everybody.
		if err != nil || !(weight > 0 && weight <= 1) {
			return refused
		}
	}
	return wanted
}
