package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// An entry is a row with its action.
type entry struct {
	row
	do        actionFunc // nil: nothing
	fold      foldFunc   // for the actions that compute a value
	runs      bool       // it runs a command or code
	dangerous bool       // it must not be reached through an unknown name
}

// A callSite is a call that the machine evaluates: a function and its arguments.
type callSite struct {
	m      *machine
	callee value
	args   []arg
	taint  effect.Taint // of the callee and the arguments
}

// An invocation is a call of a function that a row of the table describes.
type invocation struct {
	entry
	callSite
}

// An actionFunc evaluates a call of a row. If ok is true, v is the result.
type actionFunc func(m *machine, c invocation) (v value, ok bool)

// A foldFunc computes the result of a function without effects.
type foldFunc func(m *machine, c invocation) value

// by returns the name of the function, for people.
func (c *invocation) by() string { return c.callee.s }

// target returns what the function works on: an argument, or the receiver.
func (c *invocation) target() value {
	if c.arg == argReceiver {
		return c.receiver()
	}
	if a, found := argument(c.args, max(0, c.arg)); found {
		return a
	}
	return unknown(c.taint)
}

// receiver returns the receiver of the method.
func (c *invocation) receiver() value {
	if c.callee.of != nil {
		return *c.callee.of
	}
	return unknown(0)
}

// argv returns the arguments from the program on. If it is missing, it is unknown.
func (c *invocation) argv() (vs []value, given bool) {
	vs = values(c.args)
	if c.arg < 0 || c.arg >= len(vs) {
		return []value{unknown(argTaint(c.args))}, false
	}
	return vs[c.arg:], true
}

func (c *invocation) first() value {
	v, _ := argument(c.args, 0)
	return v
}

func (c *invocation) second() value {
	v, _ := argument(c.args, 1)
	return v
}

// unknown returns a result that cannot be computed.
func (c *invocation) unknown() value { return unknown(c.taint | c.row.taint) }

// joinElements returns the elements of a list with a separator in between.
func (c *invocation) joinElements(v value, sep string) value {
	if v.kind != listValue {
		return c.unknown()
	}
	return text(concat(v.list, sep), c.taint)
}

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

// act evaluates the call of a row that may have no action.
func (c invocation) act() (v value, ok bool) {
	if c.do == nil {
		return value{}, false
	}
	return c.do(c.m, c)
}
