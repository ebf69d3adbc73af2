// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"strconv"
	"time"
)

// onPuhti is the number of living entries per class on the day of the thesis: of all 4 MDTs, and of one OST of 24
// (monitoring 5.2). Malformed ones, with qualified ones, are 1.07 % of the entries of people on an OST.
var onPuhti = [numClasses]struct{ mdts, ost float64 }{
	Login:       {487, 100},
	Compute:     {1288, 415},
	NoJob:       {186, 69},
	Utility:     {53, 3.6},
	SystemJob:   {327, 66.7},
	SystemNoJob: {746, 152},
	SystemLogin: {54, 11.3},
	Qualified:   {0, 1},
	Malformed:   {0, 5.4},
}

// plan is how many entries of a class there should be, and how the processes that make them spread over targets.
type plan struct {
	share   [numKinds]float64 // of a target's entries
	clients float64           // processes at a time
	onMDT   float64           // probability that a process uses its MDT
	onOST   float64           // probability that it uses any one OST

	flows   int // of jobs that live
	pending int // of these, those that have made no entry yet
}

// makePlan scales Puhti's day to the number of targets and entries. A process uses at most one MDT, its user's, and a
// part of the OSTs; where one MDT faces few OSTs, the numbers only fit if some processes use no MDT.
func (c *Cluster) makePlan() {
	var mdts, osts float64
	for _, n := range onPuhti {
		mdts += n.mdts
		osts += n.ost
	}
	entries := float64(c.cfg.Entries)
	for class := range c.plan {
		p := &c.plan[class]
		p.share = [numKinds]float64{mdt: onPuhti[class].mdts / mdts, ost: onPuhti[class].ost / osts}
		onMDTs, onEach := entries*p.share[mdt]*float64(c.cfg.MDTs), entries*p.share[ost]
		if c.cfg.OSTs == 0 {
			onEach = 0
		}
		if p.clients = max(onMDTs, onEach); p.clients > 0 {
			p.onMDT, p.onOST = onMDTs/p.clients, onEach/p.clients
		}
	}
}

// wanting is how many entries of a class are still to come to reach the plan. More processes than three times the
// plan, which share identifiers then, are not started whatever it says.
func (c *Cluster) wanting(class Class) float64 {
	p := &c.plan[class]
	desired, living := 0.0, p.pending
	for _, t := range c.targets {
		if t.mounted {
			desired += float64(c.cfg.Entries) * t.weight * p.share[t.kind]
			living += t.living[class]
		}
	}
	if float64(p.flows) > 3*desired+8 {
		return 0
	}
	return desired - float64(living)
}

// populate starts what would have been running for long.
func (c *Cluster) populate() {
	for class := range numClasses {
		for tries := 0; c.wanting(class) >= 1 && tries < 1<<20; tries++ {
			if !c.start(class, true) {
				break
			}
		}
	}
}

// recruit starts new jobs where entries are wanting, spread over an eighth of the interval, so that not all come at
// once after a clean-up.
func (c *Cluster) recruit(d time.Duration) {
	for class := range numClasses {
		wanting := c.wanting(class)
		if wanting <= 0 {
			continue
		}
		expected := wanting * min(1, float64(d)/(float64(c.pace)/8))
		for n := round(c.rng, expected/c.flowsPerClient(class)); n > 0 && c.wanting(class) > 0; n-- {
			if !c.start(class, false) {
				break
			}
		}
	}
}

func (c *Cluster) flowsPerClient(class Class) float64 {
	p := &c.plan[class]
	if class == Qualified || class == Malformed {
		return 1
	}
	return max(1, p.onMDT+p.onOST*float64(c.cfg.OSTs))
}

// start begins one job of the class; false if it cannot at this time.
func (c *Cluster) start(class Class, midlife bool) bool {
	switch class {
	case Qualified, Malformed:
		return c.startBroken(class)
	case SystemJob, SystemNoJob, SystemLogin:
		c.startSystem(class, midlife)
	case Login:
		c.startSession(midlife)
	default:
		c.startJob(class, midlife)
	}
	return true
}

func (c *Cluster) startSession(midlife bool) {
	u, peers := c.pickUser()
	j := &job{class: Login, user: u, uid: u.uid, style: &session, peers: peers}
	for range 1 + c.rng.IntN(3) {
		osts, inUse := c.stripe(Login, 1)
		c.connect(j, loginID(executable(c.rng), u.uid), osts, inUse)
	}
	c.enlist(j, midlife)
}

// startJob begins a batch job, with or without its id, or a process on a utility node.
func (c *Cluster) startJob(class Class, midlife bool) {
	u, peers := c.pickUser()
	j := &job{class: class, user: u, uid: u.uid, style: &sawtooth, peers: peers}
	hosts := c.nodes.compute
	count := min(int(pareto(c.rng, 1, 1, 64)), max(1, int(c.plan[class].clients/10)))
	printed := ""
	switch class {
	case Utility:
		hosts, count = c.nodes.utility, 1
	case Compute:
		j.id = c.newJobID()
		printed = j.id
	}
	suffix := ""
	if class == Compute && c.rng.IntN(200) == 0 {
		j.class, suffix = Truncated, "-gpu-bigmem.bullx"
	}
	if u.hot != nil {
		j.style = &spikes
	}
	osts, inUse := c.stripe(class, 1+c.rng.Float64())
	first := c.rng.IntN(len(hosts))
	for i := range count {
		host := hosts[(first+i)%len(hosts)] + suffix
		c.connect(j, computeID(printed, u.uid, host), osts, inUse)
	}
	c.enlist(j, midlife)
}

func (c *Cluster) newJobID() string {
	c.nextJob += 1 + c.rng.Uint64N(3)
	return strconv.FormatUint(c.nextJob, 10)
}

func (c *Cluster) startSystem(class Class, midlife bool) {
	j := &job{class: class, uid: choose(c.rng, systemUIDs), style: &daemon, peers: 1}
	host := c.nodes.compute[c.nodes.next%len(c.nodes.compute)]
	c.nodes.next++
	id := loginID(daemonName(c.rng), j.uid)
	switch class {
	case SystemJob:
		j.id, j.uid, j.style = c.newJobID(), 0, &brief
		id = computeID(j.id, j.uid, host)
	case SystemNoJob:
		id = computeID("", j.uid, host)
	}
	osts, inUse := c.stripe(class, 1)
	c.connect(j, id, osts, inUse)
	c.enlist(j, midlife)
}

// startBroken lets one process of a running job use an identifier that went wrong, on one OST where it works.
func (c *Cluster) startBroken(class Class) bool {
	for range 32 {
		if len(c.jobs) == 0 {
			return false
		}
		victim := choose(c.rng, c.jobs)
		if victim.class != Compute || !victim.active || len(victim.flows) == 0 {
			continue
		}
		f := choose(c.rng, victim.flows)
		if f.target.kind != ost || !f.target.mounted {
			continue
		}
		c.breakID(class, victim, f)
		return true
	}
	return false
}

func (c *Cluster) breakID(class Class, victim *job, f *flow) {
	j := &job{class: class, user: victim.user, uid: victim.uid, id: victim.id, style: &brief, peers: victim.peers}
	id := f.id + domain
	if class == Qualified {
		j.style = &aside
	} else {
		id = malformed(c.rng, victim.id, victim.uid, choose(c.rng, c.nodes.compute))
	}
	c.addFlow(j, f.target, id, f.rate)
	c.enlist(j, false)
}

// stripe chooses the OSTs that hold the files of a job, each with the probability that one process uses it times wider.
func (c *Cluster) stripe(class Class, wider float64) (osts []*target, inUse float64) {
	p := c.plan[class.group()].onOST
	wide := min(1, p*wider)
	for _, t := range c.targets[c.cfg.MDTs:] {
		if c.rng.Float64() < wide {
			osts = append(osts, t)
		}
	}
	return osts, p / max(wide, 1e-9)
}

// connect gives a process of a job its flows: perhaps to its MDT, and to those of the OSTs that it uses.
func (c *Cluster) connect(j *job, id string, osts []*target, inUse float64) {
	if c.rng.Float64() < c.plan[j.class.group()].onMDT {
		home := c.pickMDT()
		if j.user != nil && c.rng.IntN(10) > 0 {
			home = j.user.home
		}
		c.addFlow(j, home, id, c.rate(j, home))
	}
	for _, t := range osts {
		if c.rng.Float64() < inUse {
			c.addFlow(j, t, id, c.rate(j, t))
		}
	}
}

// rate is the mean of one flow: its share of what the user does on such a target, seldom enough to be noticed as one
// process, often enough that its entry lives while the job works.
func (c *Cluster) rate(j *job, t *target) float64 {
	least := 3 / c.pace.Seconds()
	if j.user == nil {
		return least * lognormal(c.rng, 2, .7)
	}
	mean := j.user.rate[t.kind]
	if t == j.user.hot {
		mean = j.user.hotRate
	}
	return max(least, lognormal(c.rng, mean/j.peers, .5))
}

func (c *Cluster) addFlow(j *job, t *target, id string, rate float64) {
	id = truncated(id)
	f := &flow{target: t, id: id, rate: rate, mix: t.mixes.pick(c.rng, j.user == nil), sizes: ioStyles[0].sizes}
	if t.kind == ost {
		f.sizes = pickSizes(c.rng)
		f.rate = min(f.rate, mostBytes/j.peers/f.sizes.mean)
	}
	f.truth = c.truth.account(accountKey{t.name, j.uid, j.id, id}, j.class)
	j.flows = append(j.flows, f)
}

// enlist makes a job run, unless it uses no target.
func (c *Cluster) enlist(j *job, midlife bool) {
	if len(j.flows) == 0 {
		return
	}
	p := &c.plan[j.class.group()]
	p.flows += len(j.flows)
	p.pending += len(j.flows)
	c.begin(j, midlife)
	c.jobs = append(c.jobs, j)
}
