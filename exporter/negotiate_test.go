// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"testing"

	"github.com/prometheus/common/expfmt"
)

func TestFormatAgreedOn(t *testing.T) {
	f := func(client, accept string, want expfmt.Format) {
		t.Helper()
		h := http.Header{}
		if accept != "" {
			h.Set("Accept", accept)
		}
		got := agree(h).format
		// What follows about escaping is the client's wish and changes nothing: our names need none.
		if len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s: got %q, want %q", client, got, want)
		}
		if got.FormatType() != want.FormatType() {
			t.Errorf("%s: type %v, want %v", client, got.FormatType(), want.FormatType())
		}
	}
	f("Prometheus 3, default",
		"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"+
			"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1", expfmt.FmtOpenMetrics_1_0_0)
	f("Prometheus 3, protobuf first",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"+
			"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1", expfmt.FmtProtoDelim)
	f("Prometheus 3, PrometheusText0.0.4", "text/plain;version=0.0.4;q=0.6,*/*;q=0.5", expfmt.FmtText)
	f("Prometheus 3, PrometheusText1.0.0 first", "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.4", expfmt.FmtText)
	f("Prometheus 2.45",
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		expfmt.FmtOpenMetrics_1_0_0)
	f("Prometheus 2.20", "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", expfmt.FmtOpenMetrics_0_0_1)
	f("curl", "*/*", expfmt.FmtText)
	f("nothing", "", expfmt.FmtText)
	f("a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", expfmt.FmtText)
	f("something unknown", "application/json", expfmt.FmtText)
	f("something unreadable", ";;;q=x,,", expfmt.FmtText)
	f("OpenMetrics 2, which we do not stream", "application/openmetrics-text;version=2.0.0,text/plain;version=0.0.4;q=0.5", expfmt.FmtText)
	f("protobuf as text, which we do not stream",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text,*/*;q=0.1", expfmt.FmtText)
}

func TestCompressionAgreedOn(t *testing.T) {
	f := func(want bool, values ...string) {
		t.Helper()
		if got := acceptsGzip(values); got != want {
			t.Errorf("%q: got %v, want %v", values, got, want)
		}
	}
	f(false)
	f(false, "")
	f(true, "gzip")
	f(true, "GZIP")
	f(true, "x-gzip")
	f(true, "deflate, gzip;q=1.0, *;q=0.5")
	f(true, "gzip;q=0.001")
	f(true, "gzip ; Q=0.5")
	f(true, "*")
	f(true, "br", "gzip")
	f(false, "identity")
	f(false, "br, zstd")
	f(false, "gzip;q=0")
	f(false, "gzip; q=0.000")
	f(false, "*;q=0")
	f(false, "gzip;q=0, *")
	f(true, "*;q=0, gzip")
	f(false, "gzip;q=x")
	f(false, "gzip;q=-1")
	f(false, "gzip;q=2")
	f(false, "gzip;q=NaN")
	f(false, "gzipped")
}
