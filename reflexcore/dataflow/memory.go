package dataflow

import (
	"slices"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/memory"
)

// Remember remembers what the call brings before the model and the destinations
// that it uses, and labels what it leaves. An error means that the call must not run.
func (f *Flow) Remember(v approver.Verdict) error {
	if f.Policy == nil || f.call.Past == nil {
		return nil
	}
	reads := f.reads
	if !f.Policy.Counts(reads) {
		reads = flow.Public
	}
	// A destination counts as used if nothing could have been carried there.
	var to []string
	if f.out && v.Decision > approver.Ask && f.Policy.Judge(f.sessionLabel(), flow.External, flow.Session).Action == flow.Allow {
		to = f.destinations()
	}
	err := f.Err
	if err == nil {
		err = f.call.Past.See(reads, to)
	}
	if files := append(onlyLabels(f.call.Leaves()), f.repositoryLabel()...); err == nil && len(files) > 0 {
		err = f.call.Past.Leave(files)
	}
	if f.Policy.Mode != flow.Enforce {
		return nil // audit stops nothing
	}
	return err
}

// onlyLabels are the files that nothing but a label is left in.
func onlyLabels(files []memory.File) []memory.File {
	return slices.DeleteFunc(files, func(f memory.File) bool { return f.Taint&^(effect.Labels|effect.File) != 0 })
}

// Ran remembers the destinations of a call that ran: if it needed people, they
// let it.
func (f *Flow) Ran() {
	if f.out && f.call.Past != nil {
		_ = f.call.Past.See(flow.Public, f.destinations()) // not knowing them asks once more
	}
}
