// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 20

// Prometheus asks a Prometheus server; its value is the base address, http://127.0.0.1:9090.
type Prometheus string

// Sample is one element of an instant vector.
type Sample struct {
	Labels map[string]string
	Value  float64
	Time   time.Time
}

// Ready tells whether the server answers queries.
func (p Prometheus) Ready(ctx context.Context) bool { return ready(ctx, string(p)) }

// Query evaluates an expression that gives an instant vector, now.
func (p Prometheus) Query(ctx context.Context, expr string) ([]Sample, error) {
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := get(ctx, string(p)+"/api/v1/query?"+url.Values{"query": {expr}}.Encode(), &answer); err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	var samples []Sample
	for _, r := range answer.Data.Result {
		at, _ := r.Value[0].(float64)
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", expr, err)
		}
		samples = append(samples, Sample{Labels: r.Metric, Value: v, Time: time.UnixMilli(int64(at * 1000))})
	}
	return samples, nil
}

// Value is the value of an expression that gives one sample, and 0 where it gives none.
func (p Prometheus) Value(ctx context.Context, expr string) (float64, error) {
	samples, err := p.Query(ctx, expr)
	if err != nil || len(samples) == 0 {
		return 0, err
	}
	return samples[0].Value, nil
}

// RuleGroup is what Prometheus says of a group: how long it took last, in seconds, and the rules that failed.
type RuleGroup struct {
	Name           string
	Interval       float64
	EvaluationTime float64
	LastEvaluation time.Time
	Rules          []struct {
		Name, Type, Health, LastError string
		EvaluationTime                float64
	}
}

// Rules lists the rule groups.
func (p Prometheus) Rules(ctx context.Context) ([]RuleGroup, error) {
	var answer struct {
		Data struct{ Groups []RuleGroup }
	}
	if err := get(ctx, string(p)+"/api/v1/rules", &answer); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return answer.Data.Groups, nil
}

// Alertmanager asks an Alertmanager; its value is the base address.
type Alertmanager string

// Alert is an alert that Alertmanager holds.
type Alert struct {
	Labels, Annotations map[string]string
	StartsAt, EndsAt    time.Time
	Receivers           []struct{ Name string }
	Status              struct {
		State       string // active, suppressed or unprocessed
		InhibitedBy []string
	}
}

// Ready tells whether Alertmanager answers.
func (a Alertmanager) Ready(ctx context.Context) bool { return ready(ctx, string(a)) }

// Alerts lists what fires, inhibited or not, by name and target.
func (a Alertmanager) Alerts(ctx context.Context) ([]Alert, error) {
	var alerts []Alert
	if err := get(ctx, string(a)+"/api/v2/alerts", &alerts); err != nil {
		return nil, fmt.Errorf("alerts: %w", err)
	}
	slices.SortFunc(alerts, func(x, y Alert) int { return strings.Compare(x.key(), y.key()) })
	return alerts, nil
}

func (a Alert) key() string {
	return strings.Join([]string{a.Labels["alertname"], a.Labels["target"], a.Labels["uid"], a.Labels["instance"]}, "\x00")
}

func ready(ctx context.Context, base string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return get(ctx, base+"/-/ready", nil) == nil
}

// get reads a JSON answer into v; with a nil v only the status counts.
func get(ctx context.Context, address string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(body[:min(len(body), 500)])))
	case v == nil:
		return nil
	}
	return json.Unmarshal(body, v)
}
