package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// An entry is a row with what its action stands for.
type entry struct {
	row
	do   actionFunc // nil: nothing
	fold foldFunc   // for the actions that compute a value
}

// An invocation is a call of a function that a row of the table describes.
type invocation struct {
	entry
	callee value
	args   []arg
	taint  effect.Taint // of the callee and the arguments
}

// An actionFunc is what a row makes the machine do. If ok, v is the result of the call.
type actionFunc func(m *machine, c invocation) (v value, ok bool)

// A foldFunc computes what a function without effects gives.
type foldFunc func(m *machine, c invocation) value

// by is the name of the function, for people.
func (c *invocation) by() string { return c.callee.s }

// target is what the function works on: an argument, or what the method is called on.
func (c *invocation) target() value {
	if c.arg == argReceiver {
		return c.receiver()
	}
	if a, found := argument(c.args, max(0, c.arg)); found {
		return a
	}
	return unknown(c.taint)
}

// receiver is what the method is called on.
func (c *invocation) receiver() value {
	if c.callee.of != nil {
		return *c.callee.of
	}
	return unknown(0)
}

func (c *invocation) first() value {
	v, _ := argument(c.args, 0)
	return v
}

func (c *invocation) second() value {
	v, _ := argument(c.args, 1)
	return v
}

// unknown is what is known of a result that cannot be computed.
func (c *invocation) unknown() value { return unknown(c.taint | c.row.taint) }

func (c *invocation) replaced(d *dialect, in value) value {
	from, to := c.first(), c.second()
	if !in.known() || !from.known() || from.str() == "" || len(in.str())*max(1, len(to.str())) > maxText {
		return c.unknown()
	}
	n := -1
	if d.library.replacesOnce != "" && strings.HasSuffix(c.callee.s, d.library.replacesOnce) {
		n = 1
	}
	return text(strings.Replace(in.str(), from.str(), to.str(), n), c.taint)
}

// act does what a row of the table says.
func (m *machine) act(c invocation) (v value, ok bool) {
	if c.do == nil {
		return value{}, false
	}
	return c.do(m, c)
}
