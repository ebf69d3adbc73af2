// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"math"
	"time"
)

// stormNodes is on how many nodes an injected storm runs.
const stormNodes = 4

// InjectStorm lets a new batch job of the user, who need not exist yet, hammer one target from now: on four nodes, with
// one operation, at rate requests per second in all and whatever the time of day. It returns the id of the job.
func (c *Cluster) InjectStorm(uid uint32, targetName, operation string, rate float64, duration time.Duration) (string, error) {
	t, err := c.target(targetName, true)
	if err != nil {
		return "", err
	}
	o, ok := opNamed(operation)
	if !ok || !t.layout.counts(o) {
		return "", fmt.Errorf("%w: operation %q is not counted on %s", ErrConfig, operation, targetName)
	}
	if rate <= 0 || duration <= 0 {
		return "", fmt.Errorf("%w: a storm of %g operations per second for %v", ErrConfig, rate, duration)
	}
	j := &job{class: Compute, user: c.userOf(uid), uid: uid, id: c.newJobID(), style: &sawtooth, peers: stormNodes, steady: true}
	first := c.rng.IntN(len(c.nodes.compute))
	for i := range stormNodes {
		host := c.nodes.compute[(first+i)%len(c.nodes.compute)]
		c.addFlow(j, t, computeID(j.id, uid, host), 0)
	}
	for _, f := range j.flows {
		f.rate, f.mix = rate/stormNodes, newMix(t.layout, share{o, 1})
	}
	c.enlist(j, false)
	j.active, j.until, j.ends = true, math.MaxInt64, c.now+int64(duration)
	return j.id, nil
}

func (c *Cluster) userOf(uid uint32) *user {
	for _, u := range c.users {
		if u.uid == uid {
			return u
		}
	}
	return c.addUser(uid)
}
