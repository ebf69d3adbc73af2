// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pfs-exporter/pfs_exporter/collector/lustre/jobstats"
)

// The world of the property test: Lustre targets that do true work, of which reads show a part.

// work is counted per (target, uid, counter).
type work struct {
	target, uid string
	key         Key
}

type tally map[work]uint64

// totals returns the sums over all users.
func (t tally) totals() tally {
	sums := tally{}
	for w, n := range t {
		sums[work{w.target, "", w.key}] += n
	}
	return sums
}

// identity is an identifier and the uid it stands for in what is exposed.
type identity struct{ id, uid string }

// lustreEntry is one incarnation as a server holds it.
type lustreEntry struct {
	identity
	start         time.Duration // since the world began
	counters      counters
	skipped       int           // reads in a row that did not have it
	absent        int           // reads that will not have it
	missed, shown time.Duration // when a read last did not have it, and when one last did
	read          counters
	known         bool // some complete read had it
	late          int  // the observation that had it first, if that was after a gap
}

type lustreTarget struct {
	name    string
	host    int // which exporter's server it is mounted on
	entries []*lustreEntry
}

// counter numbers what an entry of the world counts.
type counter int

const (
	opens counter = iota
	openTime
	reads
	readTime
	readBytes
	punches
	smallReads // by size
	largeReads
	numCounters
)

func (c counter) key() Key {
	return [numCounters]Key{
		makeKey(Operation, 2), makeKey(Microseconds, 2), makeKey(Operation, opRead), makeKey(Microseconds, opRead),
		makeKey(ReadBytes, 0), makeKey(Operation, 21), makeKey(ReadSize, 12), makeKey(ReadSize, 20),
	}[c]
}

type counters [numCounters]uint64

// dialect is what the world's servers print.
type dialect struct {
	start, boot bool
}

// world is a set of targets, the truth about them, and how often everything happened.
type world struct {
	rng     *rand.Rand
	dialect dialect
	now     time.Duration
	started time.Duration // the youngest start_time
	epoch   time.Time
	targets []*lustreTarget
	ids     []identity
	truth   tally
	// visible is what some complete read showed, per exporter.
	visible [2]tally
	// gap is work of entries that a read first showed after a long gap: whether Prometheus adds it
	// up depends on what it has of an earlier entry of the same labels.
	gap [2]tally
	// fallen is what counters had when they fell alone, which Lustre never lets happen. It may be
	// lost where a scraper had not seen it; what comes after must not.
	fallen [2]tally
	// excess bounds what may be counted twice: see the limits listed in property_test.go.
	excess   tally
	happened map[string]int
	trace    *tracer
	// met reports whether every scraper has had a response with a target, of an observation or a later one.
	met     func(x int, target string, since int) bool
	printed jobstats.Entry
	sizes   bool
	hist    [2]jobstats.Bucket
	// observations counts those of both exporters.
	observations int
}

func newWorld(rng *rand.Rand, d dialect, users int, sizes bool) *world {
	w := &world{
		rng: rng, dialect: d, sizes: sizes, epoch: time.Unix(1_700_000_000, 0), now: time.Hour,
		truth: tally{}, visible: [2]tally{{}, {}}, gap: [2]tally{{}, {}}, fallen: [2]tally{{}, {}}, excess: tally{}, happened: map[string]int{},
	}
	for i := range 3 {
		w.targets = append(w.targets, &lustreTarget{name: fmt.Sprintf("fs-OST%04x", i), host: i % 2})
	}
	for u := range users {
		uid := fmt.Sprint(1000 + u)
		for j := range 3 {
			job := fmt.Sprint(70 + 10*u + j)
			w.ids = append(w.ids,
				identity{job + ":" + uid + ":n1", uid}, identity{job + ":" + uid + ":n2", uid},
				identity{job + ":" + uid + ":n1.bullx", uid})
		}
		w.ids = append(w.ids, identity{":" + uid + ":n1", uid}, identity{"wget." + uid, uid}, identity{"a b." + uid, uid})
	}
	w.ids = append(w.ids, identity{"kworker/1:0.0", "system"}, identity{"7:12:n3", "system"},
		identity{"garbage", "unknown"}, identity{"", "unknown"}, identity{"1:2:3:4", "unknown"})
	return w
}

func (w *world) note(what string) { w.happened[what]++ }

func (w *world) do(t *lustreTarget, e *lustreEntry, c counter, n uint64) {
	e.counters[c] += n
	w.truth[work{t.name, e.uid, c.key()}] += n
}

// act lets an entry do some work; operations may happen for the first time late in its life.
func (w *world) act(t *lustreTarget, e *lustreEntry) {
	old := e.counters
	defer func() {
		for c, n := range old {
			if n == 0 && e.counters[c] > 0 && old != (counters{}) {
				w.note("operation first happens late")
			}
		}
	}()
	n := 1 + w.rng.Uint64N(40)
	switch w.rng.IntN(3) {
	case 0:
		w.do(t, e, opens, n)
		if w.dialect.start {
			w.do(t, e, openTime, 7*n)
		}
	case 1:
		w.do(t, e, reads, n)
		w.do(t, e, readBytes, 4096*n)
		if large := n / 3; w.sizes {
			w.do(t, e, smallReads, n-large)
			w.do(t, e, largeReads, large)
		}
		if w.dialect.start {
			w.do(t, e, readTime, 9*n)
		}
	default:
		w.do(t, e, punches, n)
	}
}

func (w *world) born(t *lustreTarget, id identity) *lustreEntry {
	w.started = max(w.started+time.Millisecond, w.now-time.Second+time.Duration(w.rng.IntN(900))*time.Millisecond)
	e := &lustreEntry{identity: id, start: w.started}
	t.entries = append(t.entries, e)
	w.act(t, e)
	w.note("entry born")
	if w.dialect.boot {
		w.note("start time counts from boot")
	}
	if short, qualified := strings.CutSuffix(id.id, ".bullx"); qualified && w.find(t, short) >= 0 {
		w.note("short and qualified names together")
	}
	return e
}

func (w *world) find(t *lustreTarget, id string) int {
	return slices.IndexFunc(t.entries, func(e *lustreEntry) bool { return e.id == id })
}

// live lets everything on all targets go on for a moment.
func (w *world) live() {
	for _, t := range w.targets {
		for range w.rng.IntN(4) {
			id := w.ids[w.rng.IntN(len(w.ids))]
			if at := w.find(t, id.id); at >= 0 {
				w.note("entry grows")
				w.act(t, t.entries[at])
			} else {
				w.born(t, id)
			}
		}
		w.accident(t)
	}
}

// accident does what servers do now and then.
func (w *world) accident(t *lustreTarget) {
	if len(t.entries) == 0 {
		return
	}
	at := w.rng.IntN(len(t.entries))
	e := t.entries[at]
	switch w.rng.IntN(14) {
	case 0:
		t.entries = slices.Delete(t.entries, at, at+1)
		w.note("entry cleaned up")
	case 1: // cleaned up and back before anyone looks
		t.entries = slices.Delete(t.entries, at, at+1)
		back := w.born(t, e.identity)
		if back.counters[opens] < e.counters[opens] {
			w.note("back smaller")
		} else {
			for range 8 {
				w.act(t, back)
			}
			w.note("back larger")
		}
	case 2:
		if w.rng.IntN(4) == 0 {
			t.entries = nil
			w.note("clear")
		}
	case 3:
		if w.dialect.start && e.counters[punches] > 1 {
			// The counter was reset alone and has done a little since.
			e.counters[punches] = 0
			if w.rng.IntN(2) == 0 {
				w.do(t, e, punches, 1)
			}
			w.note("one counter falls alone")
		}
	case 4:
		if w.rng.IntN(6) == 0 {
			t.entries, t.host = nil, 1-t.host
			w.note("target moves to the other server")
		}
	default:
		w.note("entry idle")
	}
}

// secs prints a time as the dialect does.
func (w *world) secs(d time.Duration) []byte {
	if w.dialect.boot {
		return fmt.Appendf(nil, "%d.%09d", d/time.Second, d%time.Second)
	}
	at := w.epoch.Add(d)
	return fmt.Appendf(nil, "%d.%09d", at.Unix(), at.Nanosecond())
}

// print renders an entry as the dialect does. It is overwritten by the next.
func (w *world) print(e *lustreEntry) *jobstats.Entry {
	out := &w.printed
	out.ID, out.Start, out.Ops = append(out.ID[:0], e.id...), nil, out.Ops[:0]
	op := func(name string, u jobstats.Unit, samples, sum uint64) {
		out.Ops = append(out.Ops, jobstats.Op{Name: []byte(name), Unit: u, Samples: samples, Sum: sum})
	}
	c := &e.counters
	op("read_bytes", jobstats.Bytes, c[reads], c[readBytes])
	if w.sizes {
		w.hist[0], w.hist[1] = jobstats.Bucket{Exp: 12, Count: c[smallReads]}, jobstats.Bucket{Exp: 20, Count: c[largeReads]}
		out.Ops[0].Hist = w.hist[:]
	}
	if !w.dialect.start {
		op("open", jobstats.Requests, c[opens], 0)
		op("punch", jobstats.Requests, c[punches], 0)
		return out
	}
	out.Start = w.secs(e.start)
	op("open", jobstats.Microseconds, c[opens], c[openTime])
	op("read", jobstats.Microseconds, c[reads], c[readTime])
	op("punch", jobstats.Requests, c[punches], 0)
	return out
}

// see notes that exporter x was shown an entry: what it shows beyond the last time is visible work.
func (w *world) see(x int, t *lustreTarget, e *lustreEntry, counts bool) {
	forgotten := e.known && e.skipped >= rememberReads && e.missed-e.shown > rememberIntervals*testInterval
	if forgotten {
		w.note("entry skipped until it was forgotten")
		e.late = w.observations // it starts without a zero, as after a gap
		if w.dialect.boot {
			w.twice(t, e)
		}
	}
	for c, n := range e.counters {
		old, key := e.read[c], work{t.name, e.uid, counter(c).key()}
		if n < old {
			w.fallen[x][key] += old
			old = 0
		}
		if n == old {
			continue
		}
		if !counts && !e.known {
			w.gap[x][key] += n
			e.late = w.observations
			continue
		}
		// Of an entry that was forgotten and is back the ledger knows by its age alone that it is not
		// new, if it knows its age.
		if forgotten {
			w.fallen[x][key] += n - old
		}
		// It has no zero to start from: what it does before every scraper has met it is not seen.
		if e.late > 0 && !w.met(x, t.name, e.late) {
			w.fallen[x][key] += n - old
		}
		w.visible[x][key] += n - old
		w.trace.log(x, key, "visible %d more, now %d: %q of %s", n-old, n, e.id, e.start)
	}
	// Only what stood in the read may be subtracted next time.
	e.read, e.known, e.skipped, e.shown = e.counters, true, 0, w.now
}

// twice notes that the ledger cannot tell an entry from a new one: all it did may be counted again.
func (w *world) twice(t *lustreTarget, e *lustreEntry) {
	for c, n := range e.counters {
		w.excess[work{t.name, e.uid, counter(c).key()}] += n
	}
}
