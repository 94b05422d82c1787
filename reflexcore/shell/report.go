package shell

import "approver.example/reflexcore/effect"

// A report collects what a walk finds, and counts what it uses of the limits. Beyond a limit
// nothing is added: [report.stopped].
type report struct {
	ctx *Context

	lim      *Limits
	res      *Result
	step     int
	bits     effect.Bits // of the place: remote
	depth    int
	level    int
	steps    int
	expanded int
	typed    bool // something asked what is typed
}
