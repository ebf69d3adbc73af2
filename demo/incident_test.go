// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/demo/rig"
	"github.com/pfs-exporter/pfs_exporter/simulator"
)

func TestNames(t *testing.T) {
	f := func(a rig.Alert, want bool) {
		t.Helper()
		if got := names(a, "21001"); got != want {
			t.Errorf("%v: %v, want %v", a, got, want)
		}
	}
	f(rig.Alert{}, false)
	f(rig.Alert{Labels: map[string]string{"uid": "21001"}}, true)
	f(rig.Alert{Labels: map[string]string{"uid": "2100"}}, false)
	f(rig.Alert{Annotations: map[string]string{"users": "uid 7 60%: job 1; uid 21001 30%"}}, true)
	f(rig.Alert{Annotations: map[string]string{"users": "uid 121001 60%: job 210011"}}, false)
}

// world is a Prometheus and an Alertmanager that say what the test wants.
type world struct {
	top    string // uid of the heaviest user
	alerts []map[string]any
	asked  []string
}

func (w *world) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	var answer any
	switch r.URL.Path {
	case "/api/v1/query":
		w.asked = append(w.asked, r.FormValue("query"))
		result := []any{}
		if w.top != "" {
			result = append(result, map[string]any{"metric": map[string]string{"uid": w.top}, "value": []any{1.5, "7"}})
		}
		answer = map[string]any{"data": map[string]any{"result": result}}
	case "/api/v2/alerts":
		answer = w.alerts
	}
	_ = json.NewEncoder(response).Encode(answer)
}

func newIncidents(t *testing.T, w *world) *incidents {
	t.Helper()
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	cluster, err := rig.NewCluster(t.TempDir(), simulator.Config{MDTs: 2, OSTs: 4, Users: 2, Entries: 2, NoTruth: true})
	if err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"--exporter=e", "--prometheus=p", "--alertmanager=a"})
	if err != nil {
		t.Fatal(err)
	}
	stack := &rig.Stack{Prometheus: rig.Prometheus(server.URL), Alerts: rig.Alertmanager(server.URL)}
	return &incidents{options: o, cluster: cluster, stack: stack, events: &journal{}, series: recordedFor(o.rig.Rules.Window), next: time.Now().Add(time.Hour)}
}

func (x *incidents) mustStep(t *testing.T) {
	t.Helper()
	if err := x.step(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
}

func TestIncidentIsSeenAndHeard(t *testing.T) {
	w := &world{}
	x := newIncidents(t, w)
	x.mustStep(t)
	if len(x.all) != 0 {
		t.Fatal("an incident before its time")
	}
	x.next = time.Now()
	x.mustStep(t)
	if len(x.all) != 1 || !x.next.After(time.Now().Add(x.options.incident)) {
		t.Fatalf("%d incidents, the next at %v", len(x.all), x.next)
	}
	i := x.all[0]
	w.top = "7" // somebody else
	x.mustStep(t)
	if !i.seen.IsZero() {
		t.Error("another user was taken for the culprit")
	}
	w.top = i.uid
	x.mustStep(t)
	if i.seen.IsZero() || !i.alerted.IsZero() {
		t.Errorf("seen %v, alerted %v; want only the first", i.seen, i.alerted)
	}
	w.alerts = []map[string]any{{"labels": map[string]string{"alertname": "Hog", "uid": i.uid}}}
	x.mustStep(t)
	if i.alerted.IsZero() {
		t.Error("the alert was not noticed")
	}
	asked := strings.Join(w.asked, "\n")
	if !strings.Contains(asked, `uid_target:lustre_metadata_load:rate20s{target="scratch-MDT0000"}`) {
		t.Errorf("asked\n%s", asked)
	}
	log := strings.Join(x.events.recent(), "\n")
	for _, want := range []string{"metadata storm begins: uid 21001", "names uid 21001 as the heaviest user", "alert Hog names uid 21001"} {
		if !strings.Contains(log, want) {
			t.Errorf("the journal has no %q:\n%s", want, log)
		}
	}
}

// Every kind of incident must be one that its target counts.
func TestKinds(t *testing.T) {
	x := newIncidents(t, &world{})
	for range kinds {
		if err := x.cause(); err != nil {
			t.Error(err)
		}
	}
}

func TestVerdict(t *testing.T) {
	f := func(strict bool, ago, seenAfter time.Duration, want error, text string) {
		t.Helper()
		x := &incidents{}
		x.options.rig.Scrape = 5 * time.Second
		i := &incident{uid: "21001", start: time.Now().Add(-ago)}
		if seenAfter > 0 {
			i.seen = i.start.Add(seenAfter)
		}
		x.all = []*incident{i}
		var out bytes.Buffer
		if err := x.verdict(&screen{out: &out}, strict); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		if !strings.Contains(out.String(), text) {
			t.Errorf("printed\n%swithout %q", out.String(), text)
		}
	}
	f(true, time.Minute, 15*time.Second, nil, "seen after 15.0 s (3.0 scrape intervals), no alert")
	f(true, time.Minute, 16*time.Second, errMissed, "TOO LATE")
	f(true, time.Minute, 0, errMissed, "not seen, TOO LATE")
	f(false, time.Minute, 0, nil, "not seen, TOO LATE")
	f(true, 2*time.Second, 0, nil, "not seen, no alert") // there is time left
}

func TestParse(t *testing.T) {
	good := []string{"--exporter=e", "--prometheus=p", "--alertmanager=a"}
	o, err := parse(append(good, "--scrape-interval=2s"))
	if err != nil || o.rig.Rules.Window != 8*time.Second || o.rig.Evaluate != time.Second {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range [][]string{nil, good[:2], append(good, "--every=1ms"), append(good, "--scrape-interval=0s"), append(good, "x")} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
