// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

// user is a person with habits.
type user struct {
	uid  uint32
	home *target // the MDT that holds most of the user's directories
	rate [numKinds]float64
	// A user in the tail works in spikes and hammers one target, like the incidents of the thesis: an MDT, or the OST of
	// an unstriped file. hot is nil for the others.
	hot     *target
	hotRate float64
}

// Rates of a user on one target, in operations per second: a lognormal body, and a Pareto tail for one user in ten on one
// target each. On Puhti, among the users of a target, log10 of the rate per operation had mean -0.7 to -0.9 and deviation
// 0.9 to 1.0, the 99th percentile was 80 to 290, the tail index 0.40 to 0.65 (monitoring 5.3).
const (
	medianRate = .15
	sigmaRate  = 2.1 // of the natural logarithm: 0.9 decades
	tailShare  = .1
	tailLeast  = 30
	tailIndex  = .5
	tailMost   = 8e3
	// mostBytes is what one user can get of one OST in bytes per second: the incident of the thesis.
	mostBytes = 1.5e9
)

// addUsers draws the people. Most uids have 8 digits, as the identity service of Puhti gives them; some are old.
func (c *Cluster) addUsers() {
	taken := make(map[uint32]bool)
	for i := range c.cfg.Users {
		uid := uint32(10_000_000 + c.rng.Uint32N(8_000_000))
		if i%10 == 9 {
			uid = 1000 + c.rng.Uint32N(60_000)
		}
		for taken[uid] {
			uid++
		}
		taken[uid] = true
		c.addUser(uid)
	}
	for range max(1, int(tailShare*float64(c.cfg.Users)+.5)) {
		u := choose(c.rng, c.users)
		u.hot = u.home
		if c.cfg.MDTs == 0 || c.cfg.OSTs > 0 && c.rng.IntN(2) == 0 {
			u.hot = choose(c.rng, c.targets[c.cfg.MDTs:])
		}
		u.hotRate = pareto(c.rng, tailLeast, tailIndex, tailMost)
	}
}

func (c *Cluster) addUser(uid uint32) *user {
	u := &user{uid: uid, home: c.pickMDT()}
	for k := range u.rate {
		u.rate[k] = lognormal(c.rng, medianRate, sigmaRate)
	}
	c.users = append(c.users, u)
	c.picker.add(lognormal(c.rng, 1, 1)) // how many jobs and sessions one has
	return u
}

// pickMDT chooses an MDT by its share of the load; nil where there is none.
func (c *Cluster) pickMDT() *target {
	if c.cfg.MDTs == 0 {
		return nil
	}
	var p picker
	for _, t := range c.targets[:c.cfg.MDTs] {
		p.add(t.weight)
	}
	return c.targets[p.pick(c.rng)]
}

// pickUser chooses whose job comes next, and tells how many of a target's entries are that user's on average: seven in
// ten are of people.
func (c *Cluster) pickUser() (u *user, peers float64) {
	i := c.picker.pick(c.rng)
	return c.users[i], max(1, c.picker.weight(i)*float64(c.cfg.Entries)*.7)
}

// Users lists the uids of all people, in no particular order.
func (c *Cluster) Users() []uint32 {
	var uids []uint32
	for _, u := range c.users {
		uids = append(uids, u.uid)
	}
	return uids
}
