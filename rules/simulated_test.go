// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pfs-exporter/pfs_exporter/simulator"
)

// What the rules record, compared with the thesis' equations on what a simulated cluster counts. Go computes between
// which two numbers each rate and density must lie and hands them to promtool as series of their own; promtool finds no
// recorded sample outside.

const (
	scrapes   = 20 // simulated, one a minute
	firstEval = 10
)

// counter is one series: who, where, what, and its values.
type counter struct {
	target, uid, operation, metric string
	observed
}

// simulate counts like an exporter that shows a zero first: at a birth, and now and then at a new incarnation.
func simulate(t *testing.T) []*counter {
	t.Helper()
	cluster, err := simulator.New(simulator.Config{Seed: 7, MDTs: 1, OSTs: 2, Users: 40, Entries: 60})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Step(5 * time.Minute)
	rng := rand.New(rand.NewPCG(1, 2))
	type key struct {
		simulator.Key
		metric string
	}
	counters := make(map[key]*counter)
	base, last := make(map[key]uint64), make(map[key]uint64)
	var order []*counter
	sample := func(at int, k key, n uint64) {
		c := counters[k]
		switch {
		case n == 0:
			return
		case c == nil:
			c = &counter{target: k.Target, uid: uidLabel(k.Key), operation: k.Operation, metric: k.metric, observed: observed{first: at}}
			counters[k], order = c, append(order, c)
			if at > 0 { // new since the last scrape: shown as 0; at the first scrape Lustre's value is shown
				c.c = append(c.c, 0)
				return
			}
		case rng.IntN(40) == 0: // cleaned up and back with a zero, nothing lost
			base[k] = last[k]
			c.c = append(c.c, 0)
			return
		}
		c.c = append(c.c, float64(n-base[k]))
		last[k] = n
	}
	for at := range scrapes {
		for k, n := range cluster.Truth() {
			sample(at, key{k, "operations"}, n.Samples)
			if k.Operation == "read" || k.Operation == "write" {
				sample(at, key{k, k.Operation + "_bytes"}, n.Bytes)
			}
		}
		cluster.Step(time.Minute)
	}
	return order
}

func uidLabel(k simulator.Key) string {
	switch {
	case k.Class == simulator.Malformed:
		return "unknown"
	case k.UID < 1000:
		return "system"
	}
	return fmt.Sprint(k.UID)
}

// bounds are the least and most that a rule may record.
type bounds struct{ low, high float64 }

// expected is what rate(x[5m]) may say at t of the equations' rate over the window. Five scrapes fall into it and so four
// intervals, which C7 makes one. rate() divides by these four minutes, unless that would mean that the counter had begun
// below zero: then by more, up to five.
func expected(o observed, t int) bounds {
	from := max(t-4, o.first)
	grown := o.integral(from, t)
	four, five := grown/interval(t-4, t), grown/interval(t-5, t)
	switch first := o.value(from); {
	case from == t-4 && first >= grown/4: // C7, exactly
		return bounds{o.resampled(from, t), o.resampled(from, t)}
	case first == 0: // nothing to extrapolate to
		return bounds{five, five}
	default:
		return bounds{five, four}
	}
}

// series writes promtool's input and expectations.
type series struct{ b strings.Builder }

// add writes one series with its values by scrape; none where ok is false.
func (s *series) add(name string, labels []string, at func(t int) (v float64, ok bool)) {
	fmt.Fprintf(&s.b, "      - {series: '%s{", name)
	for i := 0; i < len(labels); i += 2 {
		fmt.Fprintf(&s.b, "%s=%q,", labels[i], labels[i+1])
	}
	s.b.WriteString("}', values: '")
	for t := range scrapes {
		if v, ok := at(t); ok {
			fmt.Fprintf(&s.b, "%v ", v)
		} else {
			s.b.WriteString("_ ")
		}
	}
	s.b.WriteString("'}\n")
}

// addBounds writes a pair of series, name_low and name_high, for the times at which the rules are looked at.
func (s *series) addBounds(name string, labels []string, at func(t int) bounds) {
	s.add(name+"_low", labels, func(t int) (float64, bool) { return at(t).low, t >= firstEval })
	s.add(name+"_high", labels, func(t int) (float64, bool) { return at(t).high, t >= firstEval })
}

// group is the series of one user, or of all, with one target and operation.
type group struct{ target, uid, operation string }

// grouped sorts the counters of a metric by user.
func grouped(all []*counter, metrics ...string) (groups []group, members map[group][]*counter) {
	members = make(map[group][]*counter)
	for _, c := range all {
		if slices.Contains(metrics, c.metric) {
			g := group{c.target, c.uid, c.operation}
			if members[g] == nil {
				groups = append(groups, g)
			}
			members[g] = append(members[g], c)
		}
	}
	return groups, members
}

// sum is C8 over bounds.
func sum(members []*counter, t int) bounds {
	var low, high []float64
	for _, c := range members {
		if b := expected(c.observed, t); c.first <= t {
			low, high = append(low, b.low), append(high, b.high)
		}
	}
	return bounds{total(low), total(high)}
}

// rounding is what sums in another order may differ by.
const rounding = 1e-9

// expect writes the bounds of a metric's rates and densities.
func (s *series) expect(metric string, groups []group, members map[group][]*counter) {
	ofTarget := make(map[group][]group)
	var targets []group
	for _, g := range groups {
		s.addBounds("want_"+metric, []string{"target", g.target, "uid", g.uid, "operation", g.operation}, func(t int) bounds { return sum(members[g], t) })
		all := group{target: g.target, operation: g.operation}
		if ofTarget[all] == nil {
			targets = append(targets, all)
		}
		ofTarget[all] = append(ofTarget[all], g)
	}
	for _, all := range targets {
		labels := []string{"target", all.target, "operation", all.operation}
		users := func(t int) (low, high []float64) {
			for _, g := range ofTarget[all] {
				if g.uid != "system" && g.uid != "unknown" {
					b := sum(members[g], t)
					low, high = append(low, b.low*(1-rounding)), append(high, b.high*(1+rounding))
				}
			}
			return low, high
		}
		s.addBounds("want_total_"+metric, labels, func(t int) bounds {
			var every []*counter
			for _, g := range ofTarget[all] {
				every = append(every, members[g]...)
			}
			return sum(every, t)
		})
		for y := -3; y < 12; y++ {
			s.addBounds("want_density_"+metric, append(slices.Clone(labels), "bucket", fmt.Sprint(y)), func(t int) bounds { return densityBounds(y, users, t) })
		}
		for _, le := range decades(-2, 11) {
			var edge float64
			fmt.Sscan(le, &edge)
			s.addBounds("want_below_"+metric, append(slices.Clone(labels), "le", le), func(t int) bounds {
				low, high := users(t)
				return bounds{float64(below(edge, high)), float64(below(edge, low))}
			})
		}
	}
}

// densityBounds is C10 for rates that are known to lie between bounds: who is in the bucket for sure, and who may be.
func densityBounds(y int, users func(t int) (low, high []float64), t int) bounds {
	low, high := users(t)
	sure, may := 0, 0
	for i := range low {
		in := density(y, low[i:i+1]) + density(y, high[i:i+1])
		if in == 2 {
			sure++
		}
		if in > 0 { // bounds are closer together than a decade
			may++
		}
	}
	return bounds{float64(sure), float64(may)}
}

// below counts the rates below an edge that are above 0.
func below(edge float64, rates []float64) int {
	n := 0
	for _, r := range rates {
		if r > 0 && r < edge {
			n++
		}
	}
	return n
}

func TestRulesAgreeWithThesis(t *testing.T) {
	promtool(t)
	counters := simulate(t)
	var input series
	for _, target := range []struct{ name, kind string }{{"scratch-MDT0000", "mdt"}, {"scratch-OST0000", "ost"}, {"scratch-OST0001", "ost"}} {
		input.add("lustre_target_info", []string{"instance", "a", "target", target.name, "fs", "scratch", "kind", target.kind}, func(int) (float64, bool) { return 1, true })
	}
	for i, c := range counters {
		labels := []string{"instance", "a", "target", c.target, "uid", c.uid, "jobid", fmt.Sprint(i)}
		name := "lustre_job_" + c.metric + "_total"
		if c.metric == "operations" {
			labels = append(labels, "operation", c.operation)
		}
		input.add(name, labels, func(t int) (float64, bool) { return c.value(t), t >= c.first })
	}
	for metric, names := range map[string][]string{"operations": {"operations"}, "bytes": {"read_bytes", "write_bytes"}} {
		groups, members := grouped(counters, names...)
		if len(groups) < 60 {
			t.Fatalf("only %d users, targets and operations of %s", len(groups), metric)
		}
		input.expect(metric, groups, members)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("rule_files: [%s/lustre-constants.yml, %s/lustre-usage.yml]\n", here, here) +
		"evaluation_interval: 1m\ngroup_eval_order: [lustre-constants, lustre-usage, lustre-quality]\ntests:\n  - interval: 1m\n    input_series:\n" +
		input.b.String() + "    promql_expr_test:\n" + outside()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "simulated.test.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "test", "rules", "simulated.test.yml")
}

// outside asks for every recorded sample that is outside its bounds, and for those that are missing or too many.
func outside() string {
	var b strings.Builder
	for _, metric := range []string{"operations", "bytes"} {
		for _, c := range []struct {
			recorded, want, on string
			exact              float64 // this part of the expectations at least is one number
			some               int     // so many samples at least
		}{
			{"uid_target_operation:lustre_" + metric + ":rate5m", "want_" + metric, "target, uid, operation", 0.8, 20},
			{"target_operation:lustre_" + metric + ":rate5m", "want_total_" + metric, "target, operation", 0.1, 3},
			{"target_operation_bucket:lustre_" + metric + ":density", "want_density_" + metric, "target, operation, bucket", 0.9, 20},
			{"target_operation_le:lustre_" + metric + ":density", "want_below_" + metric, "target, operation, le", 0.9, 20},
		} {
			for t := firstEval; t < scrapes; t += 3 {
				for _, expr := range []string{
					fmt.Sprintf("%s < on (%s) %s_low * (1 - %g)", c.recorded, c.on, c.want, rounding),
					fmt.Sprintf("%s > on (%s) %s_high * (1 + %g)", c.recorded, c.on, c.want, rounding),
					fmt.Sprintf(`%s{le!="+Inf"} unless on (%s) %s_high`, c.recorded, c.on, c.want),
					fmt.Sprintf(`%s_low{le!~"0.01|0.1|.{7,}"} > 0 unless on (%s) %s`, c.want, c.on, c.recorded),
				} {
					fmt.Fprintf(&b, "      - {expr: '%s', eval_time: %dm, exp_samples: []}\n", expr, t)
				}
				// a test of the test: something is there, and most of it is known exactly
				for _, expr := range []string{
					fmt.Sprintf("count(%s_low == %s_high) / count(%s_high) > bool %g", c.want, c.want, c.want, c.exact),
					fmt.Sprintf("count(%s > 0) > bool %d", c.recorded, c.some),
				} {
					fmt.Fprintf(&b, "      - {expr: '%s', eval_time: %dm, exp_samples: [{labels: '{}', value: 1}]}\n", expr, t)
				}
			}
		}
	}
	return b.String()
}
