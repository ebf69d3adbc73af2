// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s: %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestPoisson(t *testing.T) {
	r := newRand()
	for _, mu := range []float64{0, .01, .7, 5, 60, 70, 1e6} {
		const n = 20000
		var sum, squares float64
		for range n {
			x := float64(poisson(r, mu))
			sum += x
			squares += (x - mu) * (x - mu)
		}
		near(t, "mean", sum/n, mu, 5*math.Sqrt(mu/n))
		near(t, "variance", squares/n, mu, .1*mu)
	}
	if poisson(r, -1) != 0 {
		t.Error("less than nothing happened")
	}
}

// TestTailsOfDraws compares quantiles with those of the distributions.
func TestTailsOfDraws(t *testing.T) {
	r := newRand()
	quantile := func(q float64, draw func() float64) float64 {
		x := make([]float64, 50000)
		for i := range x {
			x[i] = draw()
		}
		slices.Sort(x)
		return x[int(q*float64(len(x)))]
	}
	body := func() float64 { return lognormal(r, .15, 2) }
	near(t, "lognormal, median", quantile(.5, body), .15, .01)
	near(t, "lognormal, 1 sigma", quantile(.8413, body), .15*math.Exp(2), .08)
	tail := func() float64 { return pareto(r, 10, .5, 1e4) }
	near(t, "pareto, least", quantile(0, tail), 10, .01)
	near(t, "pareto, median", quantile(.5, tail), 40, 2)
	near(t, "pareto, 0.9", quantile(.9, tail), 1000, 100)
	near(t, "pareto, cap", quantile(.99, tail), 1e4, 0)
}

func TestPickerAndRound(t *testing.T) {
	r := newRand()
	var p picker
	for _, w := range []float64{1, 0, 3} {
		p.add(w)
	}
	var got [3]float64
	whole := 0.0
	for range 10000 {
		got[p.pick(r)] += 1. / 10000
		whole += float64(round(r, 2.3)) / 10000
	}
	near(t, "weight 1 of 4", got[0], .25, .02)
	near(t, "weight 0", got[1], 0, 0)
	near(t, "weight 3 of 4", got[2], p.weight(2), .02)
	near(t, "round", whole, 2.3, .02)
}

// TestBatchesAddUp: any number of operations has as many latencies and sizes.
func TestBatchesAddUp(t *testing.T) {
	r := newRand()
	for n := uint64(1); n < 1e6; n = n*3/2 + 1 {
		for _, style := range ioStyles {
			count := uint64(0)
			for _, b := range style.sizes.draw(r, nil, n) {
				count += b.count
				if b.value == 0 || b.value > 16<<20 {
					t.Errorf("an RPC of %d bytes", b.value)
				}
			}
			if count != n {
				t.Errorf("%d sizes of %d RPCs", count, n)
			}
		}
		var sum, count uint64
		for _, b := range latencies(r, nil, opOpen, n) {
			count += b.count
			sum += b.value * b.count
		}
		if count != n {
			t.Errorf("%d latencies of %d operations", count, n)
		}
		if mean := float64(sum) / float64(n); n > singles && (mean < 60 || mean > 400) {
			t.Errorf("%d opens took %v us on average", n, mean)
		}
	}
}

// TestStat compares with lprocfs_counter_add by hand.
func TestStat(t *testing.T) {
	s := stat{hist: new([32]uint64)}
	for _, b := range []batch{{5, 1}, {4096, 2}, {4097, 1}, {0, 1}, {3 << 30, 1}} {
		s.add(b)
	}
	want := stat{
		samples: 6, min: 0, max: 3 << 30, sum: 5 + 2*4096 + 4097 + 3<<30,
		sumsq: 25 + 2*4096*4096 + 4097*4097 + (3<<30)*(3<<30),
	}
	got := s
	got.hist = nil
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	buckets := [32]uint64{0: 1, 3: 1, 12: 2, 13: 1, 31: 1}
	if *s.hist != buckets {
		t.Errorf("buckets %v, want %v", *s.hist, buckets)
	}
}

// TestRatesAreHeavyTailed looks at the users of one target over an hour: the busiest does most of it.
func TestRatesAreHeavyTailed(t *testing.T) {
	c := newCluster(t, Config{Seed: 51, MDTs: 1, OSTs: 3, Users: 300, Entries: 800})
	c.Step(time.Hour)
	perUser := make(map[uint32]float64)
	total := 0.0
	for k, n := range c.Totals() {
		if k.Target == testMDT && k.UID >= 1000 {
			perUser[k.UID] += float64(n.Samples) / 3600
			total += float64(n.Samples) / 3600
		}
	}
	var rates []float64
	for _, x := range perUser {
		rates = append(rates, x)
	}
	slices.Sort(rates)
	if len(rates) < 100 {
		t.Fatalf("%d users", len(rates))
	}
	median, p90, top := rates[len(rates)/2], rates[len(rates)*9/10], rates[len(rates)-1]
	if median < .02 || median > 1 || p90 < 5*median || top < 20*p90 {
		t.Errorf("rates of %d users: median %.3g, p90 %.3g, top %.3g, total %.3g", len(rates), median, p90, top, total)
	}
	if share := top / total; share < .2 {
		t.Errorf("the busiest user has %.0f %% of the operations; on Puhti the median was 45 to 66 %%", 100*share)
	}
}

// TestBurst: an active phase starts at three to five times its mean.
func TestBurst(t *testing.T) {
	c := newCluster(t, Config{OSTs: 1})
	j := &job{class: Compute, style: &sawtooth}
	c.begin(j, false)
	start := c.now
	if f := c.turn(j, start); f < 3 || f > 5 {
		t.Errorf("factor %v at the start", f)
	}
	if f := c.turn(j, start+int64(2*time.Minute)); f < .6 || f > 1.4 {
		t.Errorf("factor %v after the burst", f)
	}
	end := j.until
	if length := time.Duration(end - start); length < 60*time.Minute || length > 100*time.Minute {
		t.Errorf("active for %v", length)
	}
	if f := c.turn(j, end); f != 0 {
		t.Errorf("factor %v in the gap", f)
	}
	if gap := time.Duration(j.until - end); gap < 11*time.Minute || gap > 30*time.Minute {
		t.Errorf("a gap of %v, the interval is 10 minutes", gap)
	}
	if f := c.turn(j, j.until); f < 3 {
		t.Errorf("factor %v at the return", f)
	}
}
