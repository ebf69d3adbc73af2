// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"math"
	"time"
)

// job is what runs together: a batch job on its nodes, a login session, a daemon. All its processes work, burst and
// idle at the same time.
type job struct {
	class Class
	user  *user // nil for the system
	uid   uint32
	id    string // decimal, "" without
	flows []*flow
	style *style
	peers float64 // about how many flows the user has on a target, among which the user's rate is divided

	ends   int64 // nanoseconds since 1970
	until  int64 // end of the present phase
	bursts int64 // end of the burst that opens an active phase
	active bool
	burst  float64 // the burst's factor
	steady bool    // not slowed at night
}

// flow is one process' traffic to one target, under one identifier.
type flow struct {
	target *target
	id     string
	rate   float64 // mean operations per second in an active phase
	mix    *mix
	sizes  *sizes
	record *record // the last known; may be gone
	known  bool    // has had a record: no longer pending
	truth  *account
}

// style is a rhythm, in units of the clean-up interval: active phases, idle gaps between them, and a life of a lognormal
// length. The sawtooth jobs of the thesis work 60 to 100 minutes, first at 3 to 5 times their mean, then pause for longer
// than the interval of 10 minutes, so that their entries are cleaned up and start anew (monitoring 5.3).
type style struct {
	activeLeast, activeMost float64
	gapLeast, gapMost       float64
	life, lifeSigma         float64
}

var (
	sawtooth = style{6, 10, 1.1, 3, 8, 1.2}
	spikes   = style{.2, 1.8, 6, 10, 40, .5}  // pattern (a): 2 to 18 minutes every 100
	session  = style{.5, 3, .3, 4, 12, 1}     // a person at a terminal
	daemon   = style{50, 100, .1, .2, 500, 1} // practically always
	brief    = style{9, 10, 1, 2, .25, .4}    // prolog and epilog, a broken identifier
	aside    = style{9, 10, 1, 2, 2, .6}      // a qualified name beside the short one
)

// burstLength is how long an active phase is faster at its start: two minutes of ten.
const burstLength = .2

// diurnal is the time of day's factor, 0.6 at 01:30 to 1.4 at 13:30 UTC.
func diurnal(now int64) float64 {
	day := float64(now%int64(24*time.Hour)) / float64(24*time.Hour)
	return 1 + .4*math.Cos(2*math.Pi*(day-13.5/24))
}

// begin starts a job now or, while populating a new cluster, lets it be somewhere in its life.
func (c *Cluster) begin(j *job, midlife bool) {
	unit := float64(c.pace)
	life := min(144, lognormal(c.rng, j.style.life, j.style.lifeSigma)) * unit
	if midlife {
		life *= c.rng.Float64()
	}
	j.ends = c.now + int64(life)
	j.until = c.now
	if !midlife {
		c.wake(j, c.now)
		return
	}
	j.active = true
	j.until += int64(c.rng.Float64() * j.style.activeMost * unit)
}

// wake opens an active phase with its burst.
func (c *Cluster) wake(j *job, now int64) {
	j.active = true
	j.until = now + int64(between(c.rng, j.style.activeLeast, j.style.activeMost)*float64(c.pace))
	j.bursts = now + int64(burstLength*float64(c.pace))
	j.burst = between(c.rng, 3, 5)
}

// turn moves a job to the phase it is in at the given time, and gives the factor on its rates.
func (c *Cluster) turn(j *job, now int64) float64 {
	if now >= j.until {
		if j.active {
			j.active = false
			j.until = now + int64(between(c.rng, j.style.gapLeast, j.style.gapMost)*float64(c.pace))
		} else {
			c.wake(j, now)
		}
	}
	switch {
	case !j.active:
		return 0
	case j.steady:
		return 1
	case now < j.bursts && !j.class.System():
		return j.burst
	}
	return diurnal(now)
}

// work lets a job run from the given time for d, and reports whether it lives on.
func (c *Cluster) work(j *job, from int64, d time.Duration) bool {
	d = min(d, time.Duration(j.ends-from))
	if factor := c.turn(j, from); factor > 0 {
		for _, f := range j.flows {
			if !f.target.mounted {
				continue
			}
			if n := poisson(c.rng, f.rate*factor*d.Seconds()); n > 0 {
				c.serve(j, f, from, d, n)
			}
		}
	}
	return c.now < j.ends
}

// dismiss ends a job: what never made an entry no longer will.
func (c *Cluster) dismiss(j *job) {
	for _, f := range j.flows {
		c.plan[j.class.group()].flows--
		if !f.known {
			c.plan[j.class.group()].pending--
		}
	}
}
