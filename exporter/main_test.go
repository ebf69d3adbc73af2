// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestRun runs the whole command on the real collector.
func TestRun(t *testing.T) {
	before := runtime.NumGoroutine()
	dump := filepath.Join("testdata", "server.lctl.txt")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stdout := &logged{}, &logged{}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"--web.listen-address=127.0.0.1:0", "--lustre.source=file", "--lustre.file=" + dump}, stdout, out)
	}()
	var url string
	waitFor(t, "listening", func() bool {
		if m := regexp.MustCompile(`msg="Listening on" address=(\S+)`).FindStringSubmatch(out.String()); m != nil {
			url = "http://" + m[1]
		}
		return url != ""
	})
	waitFor(t, "readiness", func() bool { r, _ := get(t, url+"/-/ready"); return r.StatusCode == http.StatusOK })
	for _, accept := range []string{acceptText, acceptOpen, acceptProtobuf} {
		r, body := get(t, url+"/metrics", "Accept", accept, timeoutHeader, "10")
		found := families(t, r.Header.Get("Content-Type"), body)
		// Two targets have entries, and what is read first is shown as it is.
		if n := len(found["lustre_job_operations_total"].GetMetric()); n < 20 {
			t.Errorf("%s: %d series of operations in\n%s", accept, n, body)
		}
		for _, name := range []string{"lustre_target_info", "lustre_jobstats_target_up", "lustre_jobstats_entries"} {
			if len(found[name].GetMetric()) < 3 {
				t.Errorf("%s: no %s for 3 targets", accept, name)
			}
		}
	}
	cancel()
	if got := <-code; got != exitOK || stdout.String() != "" {
		t.Errorf("exit code %d, standard output %q", got, stdout)
	}
	if strings.Contains(out.String(), "level=warn") || strings.Contains(out.String(), "level=error") {
		t.Errorf("it complains:\n%s", out)
	}
	waitFor(t, "end of all goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

func TestRunThatCannotListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir, out := t.TempDir(), &logged{}
	code := run(t.Context(), []string{"--web.listen-address=" + taken.Addr().String(), "--path.procfs=" + dir, "--path.sysfs=" + dir}, out, out)
	if code != exitFailed || !strings.Contains(out.String(), "address already in use") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
