package code

import "approver.example/reflexcore/effect"

// A report passes findings to the caller of Scan.
type report struct {
	budget *budget
	cwd    *workdir
	yield  func(Found) bool
	insert func(text string)
	taint  effect.Taint // the taint of the code that is being evaluated
	quiet  bool         // what is inserted was reported before
}

// found yields a finding, with its paths relative to where the code began.
func (r *report) found(f Found) {
	if r.budget.stopped {
		return
	}
	f.Taint |= r.taint
	if r.cwd.dir != "" {
		r.cwd.relocate(&f)
	}
	r.budget.stopped = !r.yield(f)
}

// inserts reports text that is inserted into the stream.
func (r *report) inserts(text string) {
	if r.insert != nil && text != "" && !r.quiet {
		r.insert(text)
	}
}

// writeOf returns a write to a file, with its content if that is known.
func writeOf(path string, v value, bits effect.Bits, name string) Found {
	f := Found{Op: Write, Text: path, Taint: v.taint, Bits: bits, By: name}
	if v.known() {
		f.Args = []string{v.str()}
	}
	return f
}
