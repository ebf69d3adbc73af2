// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package lustre

import (
	"errors"
	"slices"
	"testing"
)

const (
	noLustre  = "INFO No Lustre targets on this machine; serving the exporter's own metrics and looking again at every scrape"
	found     = "INFO Found Lustre targets"
	unfound   = "ERROR Cannot find all Lustre targets; those it misses are not judged"
	findAgain = "INFO Can find all Lustre targets again"
	unread    = "ERROR Cannot read target; its job series are left out until it can be read "
	readAgain = "INFO Target can be read again "
)

// TestDiary checks that a change of state is one line, and no change none, by scraping three times in each state.
func TestDiary(t *testing.T) {
	r := newRig(t)
	f := func(what string, change func(), want ...string) {
		t.Helper()
		r.change(change)
		for range 3 {
			_, _ = r.scrape() // what it returns is other tests' matter
		}
		if got := r.log.take(); !slices.Equal(got, want) {
			t.Errorf("%s: logged\n%q; want\n%q", what, got, want)
		}
	}
	v := &volume{text: stats(opens("1:2000:a", 1))}
	v.target.Name, v.target.Kind = ost0Name, "obdfilter"
	w := *v
	w.target.Name = ost1Name
	broken := errors.New("broken")

	f("no Lustre", func() {}, noLustre)
	f("cannot look", func() { r.broken = broken }, unfound)
	f("fails otherwise", func() { r.broken = errors.New("broken otherwise") })
	f("still no Lustre", func() { r.broken = nil }, findAgain)
	f("targets come", func() { r.volumes = []*volume{v, &w} }, found)
	f("one breaks", func() { v.openErr = broken }, unread+ost0Name)
	f("it breaks otherwise", func() { v.openErr, v.readErr = nil, broken })
	f("the other breaks too", func() { w.openErr = broken }, unread+ost1Name)
	f("cannot look while they are broken", func() { r.broken = broken }, unfound)
	f("can look again", func() { r.broken = nil }, findAgain)
	f("one is well again", func() { v.readErr = nil }, readAgain+ost0Name)
	f("the broken one is unmounted", func() { r.volumes = r.volumes[:1] })
	f("it returns, broken", func() { r.volumes = []*volume{v, &w} }, unread+ost1Name)
	f("all are unmounted", func() { r.volumes = nil }, noLustre)
	f("one comes back", func() { r.volumes = []*volume{v} }, found)
}

func TestDiaryOfAFirstLookThatFails(t *testing.T) {
	r := newRig(t)
	r.broken = errors.New("broken")
	_, _ = r.scrape()
	r.change(func() { r.broken = nil })
	r.add(ost0Name, stats())
	r.must()
	if got, want := r.log.take(), []string{unfound, findAgain, found}; !slices.Equal(got, want) {
		t.Errorf("logged %q; want %q", got, want)
	}
}
