// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"math"
	"math/rand/v2"
	"sort"
)

// poisson draws how many events happen where mu are expected. Above 64 the normal approximation is good to a percent.
func poisson(r *rand.Rand, mu float64) uint64 {
	switch {
	case mu <= 0:
		return 0
	case mu > 64:
		return uint64(max(0, math.Round(mu+math.Sqrt(mu)*r.NormFloat64())))
	}
	n, p := uint64(0), r.Float64()
	for limit := math.Exp(-mu); p > limit; n++ {
		p *= r.Float64()
	}
	return n
}

// lognormal draws a value whose median is given, and whose natural logarithm deviates by sigma.
func lognormal(r *rand.Rand, median, sigma float64) float64 {
	return median * math.Exp(sigma*r.NormFloat64())
}

// pareto draws from least upward with the tail index alpha; the mean is infinite below 1, so draws are capped.
func pareto(r *rand.Rand, least, alpha, most float64) float64 {
	return min(most, least*math.Pow(1-r.Float64(), -1/alpha))
}

// between draws uniformly from [low, high).
func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// round turns an expectation into a count whose mean it is.
func round(r *rand.Rand, x float64) int {
	n := int(x)
	if r.Float64() < x-float64(n) {
		n++
	}
	return n
}

// picker chooses an index with the probability of its weight.
type picker []float64 // cumulative weights

func (p *picker) add(weight float64) {
	total := weight
	if len(*p) > 0 {
		total += (*p)[len(*p)-1]
	}
	*p = append(*p, total)
}

func (p picker) pick(r *rand.Rand) int {
	x := r.Float64() * p[len(p)-1]
	return min(len(p)-1, sort.SearchFloat64s(p, x))
}

// weight is the probability of index i.
func (p picker) weight(i int) float64 {
	before := 0.0
	if i > 0 {
		before = p[i-1]
	}
	return (p[i] - before) / p[len(p)-1]
}

// choose picks one of the items, all alike.
func choose[T any](r *rand.Rand, items []T) T { return items[r.IntN(len(items))] }
