// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector"
)

// A client that leaves must not be taken for one that saw what it was sent.
func TestClientThatLeavesWhileReading(t *testing.T) {
	f := func(accept, encoding string) {
		t.Helper()
		page := &fakePage{large: 3_000_000}
		h, out := startHandler(t, testOptions(), showing("fake", page))
		conn := ask(t, h.Listener.Addr().String(), accept, encoding, "30")
		if _, err := io.ReadFull(conn, make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		waitFor(t, "end of the scrape", func() bool { return strings.Contains(out.String(), "a scrape was broken off") })
		if page.served.Load() != 0 {
			t.Error("counts as served")
		}
		if strings.Contains(out.String(), "level=error") || strings.Contains(out.String(), "level=warn") {
			t.Errorf("a client that leaves is no fault of ours:\n%s", out)
		}
	}
	f(acceptText, "identity")
	f(acceptOpen, "identity")
	f(acceptProtobuf, "identity")
}

func TestClientThatLeavesWhileWaiting(t *testing.T) {
	page := &fakePage{large: 1}
	entered := make(chan struct{})
	fake := &fakeCollector{name: "fake", see: func(ctx context.Context, _ collector.Client) (collector.Page, error) {
		close(entered)
		<-ctx.Done()
		return page, ctx.Err()
	}}
	h, out := startHandler(t, testOptions(), fake)
	conn := ask(t, h.Listener.Addr().String(), acceptText, "identity", "30")
	<-entered
	conn.Close()
	waitFor(t, "end of the scrape", func() bool { return strings.Contains(out.String(), "a scrape was broken off") })
	if page.served.Load() != 0 || strings.Contains(out.String(), "level=warn") {
		t.Errorf("served %d times, logged\n%s", page.served.Load(), out)
	}
}

// A client that does not read holds the response only as long as it said it would wait.
func TestClientThatDoesNotRead(t *testing.T) {
	page := &fakePage{large: 3_000_000}
	h, out := startHandler(t, testOptions(), showing("fake", page))
	began := time.Now()
	ask(t, h.Listener.Addr().String(), acceptText, "identity", "0.5")
	waitFor(t, "end of the scrape", func() bool { return strings.Contains(out.String(), "a scrape was broken off") })
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("broken off after %s", took)
	}
	if page.served.Load() != 0 {
		t.Error("counts as served")
	}
}

// The write deadline of a request must not stand in the way of the connection's next one: net/http takes it back.
func TestDeadlineDoesNotOutliveItsRequest(t *testing.T) {
	h, _ := startHandler(t, testOptions(), showing("fake", &fakePage{large: 1}))
	conn, err := net.Dial("tcp", h.Listener.Addr().String()) // an http.Client would quietly try again on a new connection
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for _, path := range []string{"/metrics", "/-/healthy", "/metrics", "/"} {
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n%s: 0.05\r\n\r\n", path, timeoutHeader)
		r, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_, err = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, %v", path, r.StatusCode, err)
		}
		time.Sleep(80 * time.Millisecond) // beyond the deadline
	}
}

// ask sends a request and reads nothing of the response.
func ask(t *testing.T, addr, accept, encoding, timeout string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	var request bytes.Buffer
	fmt.Fprintf(&request, "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: %s\r\nAccept-Encoding: %s\r\n%s: %s\r\n\r\n", accept, encoding, timeoutHeader, timeout)
	if _, err := conn.Write(request.Bytes()); err != nil {
		t.Fatal(err)
	}
	return conn
}
