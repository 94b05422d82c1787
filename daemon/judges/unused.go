package judges

import (
	"sync/atomic"

	"approver.example/display"
)

// An unusedReason is why files are not in force: they are broken, or they loosen and wait
// for people. The zero value: they are in force.
type unusedReason struct{ why atomic.Pointer[string] }

// set notes why; empty is that they are in force.
func (a *unusedReason) set(why string) { a.why.Store(&why) }

func (a *unusedReason) text() string {
	if why := a.why.Load(); why != nil {
		return display.OneLine(*why)
	}
	return ""
}
