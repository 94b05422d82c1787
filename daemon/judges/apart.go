package judges

import (
	"sync/atomic"

	"approver.example"
)

// This file tells people that a file says something else than what calls are judged by:
// one that is broken, or that loosens and waits for people.

// unusedReason is why the files of a standard are not in force. The zero value: they are.
type unusedReason struct{ why atomic.Pointer[string] }

// set notes why; empty is that they are in force.
func (a *unusedReason) set(why string) { a.why.Store(&why) }

func (a *unusedReason) text() string {
	if why := a.why.Load(); why != nil {
		return approver.OneLine(*why)
	}
	return ""
}
