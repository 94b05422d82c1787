package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// call evaluates a call: of a function of the code, or of one in the table.
func (m *machine) call(callee value, args []arg) value {
	if !m.budget.step() {
		return unknown(0)
	}
	if callee.fn != nil {
		return m.apply(callee.fn, m.escapes.orderArguments(callee.fn, args))
	}
	m.programs.pipeWrites(callee, args)
	c := callSite{m, callee, args, argTaint(args) | callee.taint}
	if callee.of != nil {
		c.taint |= callee.of.taint
	}
	named := callee.kind == nameValue && (!strings.HasPrefix(callee.s, "$") || callee.of != nil)
	switch {
	case m.d.calls.callableTexts && !named && !callee.known():
		m.out.found(Found{Text: "$function()", Taint: c.taint, By: "$function()"})
		return unknown(c.taint)
	case m.d.calls.callableTexts && !named: // $f(…) calls what $f names
		c.callee = value{kind: nameValue, s: callee.str()}
	case m.d.calls.textNames && callee.kind == textValue && callee.known() && callee.s != "": // &{"system"}(…)
		c.callee = value{kind: nameValue, s: callee.s}
	}
	if c.callee.kind != nameValue {
		m.escapes.handed(callee, args)
		m.escapes.unresolvedCall(callee, args)
		c.callbacks()
		return unknown(c.taint)
	}
	return c.applyRows(m.api.rowsOf(c.callee))
}

// applyRows applies the rows of the table for a function, if there are any.
func (c *callSite) applyRows(rows []entry) value {
	if rows == nil || rows[0].action == "fold" || rows[0].action == "unknown" || rows[0].action == "callback" {
		c.m.escapes.handed(c.callee, c.args)
	}
	if remote, ok := named(c.args, "trust_remote_code"); ok && remote.truthy() {
		c.m.out.found(Found{Text: c.callee.s, Taint: c.taint | effect.Network, By: c.callee.s})
	}
	if rows == nil {
		if v, ok := c.indirect(); ok {
			return v
		}
		c.m.escapes.unresolvedCall(c.callee, c.args)
		c.unknownCall()
		return unknown(c.taint)
	}
	result, folded := value{}, false
	for _, r := range rows {
		if v, ok := (invocation{r, *c}).act(); ok {
			result, folded = v, true
		}
	}
	switch rows[0].action {
	case "callback":
	case "fold":
		if !folded || result.kind != nameValue {
			c.handlers()
		}
	default:
		c.callbacks()
	}
	if !folded {
		return unknown(c.taint)
	}
	return result
}

// indirect finds a function that is not called by its name: one that replaces a method of a class,
// or a member that is looked up in a module.
func (c *callSite) indirect() (value, bool) {
	dot := strings.LastIndexByte(c.callee.s, '.')
	if dot < 0 {
		return value{}, false
	}
	module, name := c.callee.s[:dot], c.callee.s[dot+1:]
	if own, ok := c.m.scope.get(name); ok && own.kind == nameValue && own.of == nil && c.m.api.isDanger(own.s) {
		return c.m.call(own, c.args), true
	}
	first, _, _ := strings.Cut(module, ".")
	if c.callee.of == nil && len(c.args) > 0 && c.m.api.dangers[first] &&
		(name == "get" || name == "__getattribute__" || name == "__getitem__") {
		return c.m.memberOf(value{kind: nameValue, s: module}, c.args[0].str()), true
	}
	return value{}, false
}

// unknownCall handles a call of something that is not in the table.
func (c *callSite) unknownCall() {
	if !effect.IsKnown(c.callee.s) {
		first, _, _ := strings.Cut(c.callee.s, ".")
		if c.callee.of == nil && (c.m.api.dangers[first] || first == effect.Unknown) || c.callee.of != nil &&
			c.callee.of.kind == listValue && c.callee.of.keys == nil {
			c.m.out.found(Found{Text: c.callee.s, Taint: c.taint, By: first})
		}
	}
	c.callbacks()
}

// callbacks handles functions among the arguments, which the callee may call with its other
// arguments.
func (c *callSite) callbacks() {
	for i := range c.args {
		fn := c.args[i].fn
		if fn == nil {
			continue
		}
		params := slices.Repeat([]value{unknown(c.taint)}, len(fn.params))
		if module, ok := strings.CutSuffix(c.callee.s, ".then"); ok && c.callee.of == nil &&
			len(params) > 0 { // import("x").then(m => …)
			params[0] = value{kind: nameValue, s: module}
		}
		c.m.apply(fn, params)
	}
	c.handlers()
}

// handlers handles functions among the arguments that run something.
func (c *callSite) handlers() {
	for i := range c.args {
		switch a := &c.args[i].value; {
		case a.kind == nameValue && a.of == nil && c.m.api.isDanger(a.s):
			c.handedOver(a.s)
		case a.kind == textValue && c.m.d.calls.callableTexts && c.m.api.takesCallable(c.callee) &&
			c.m.api.runs(strings.ToLower(a.s)):
			c.handedOver(strings.ToLower(a.s))
		}
	}
}

// handedOver handles a dangerous function that is an argument. Its own arguments are known if the
// callee runs it over a list.
func (c *callSite) handedOver(path string) {
	fn := value{kind: nameValue, s: path}
	each := func(list []value) {
		for _, e := range list {
			c.m.call(fn, []arg{{value: e}})
		}
	}
	lists := false
	for _, a := range c.args {
		switch {
		case a.kind != listValue || a.keys != nil:
			continue
		case a.name == "args" || a.name == "" && !runsOverList(c.callee.s):
			c.m.call(fn, asArgs(a.list))
		default:
			each(a.list)
		}
		lists = true
	}
	switch {
	case lists:
		return
	case c.callee.of != nil && c.callee.of.kind == listValue:
		each(c.callee.of.list)
		return
	}
	if c.callee.of != nil && c.callee.of.kind == textValue { // "text".replace(/.*/, f)
		c.m.call(fn, []arg{{value: *c.callee.of}})
	}
	for i := range c.args { // pcall(f, "a")
		if c.args[i].s == path && i+1 < len(c.args) && c.args[i+1].fn == nil && c.args[i+1].kind != unknownValue &&
			c.args[i+1].kind != numberValue {
			c.m.call(fn, c.args[i+1:])
			return
		}
	}
	c.m.call(fn, []arg{{value: unknown(c.taint)}})
}

func runsOverList(path string) bool {
	return wordset.Has("map filter array_map list.each", path) || strings.HasSuffix(path, ".map") ||
		strings.HasSuffix(path, ".forEach")
}

// callChanging evaluates a call and what it changes. base is the name of the receiver, and first the
// first word of the arguments.
func (m *machine) callChanging(callee value, args []arg, base, first string) value {
	result := m.call(callee, args)
	if callee.kind != nameValue {
		return result
	}
	name := lastName(callee.s)
	switch {
	case !slices.Contains(changing, name):
	case callee.of == nil:
		m.scope.forgetValue(first)
	case callee.of.kind != listValue || name == "concat" && m.d.library.concatCopies:
	default:
		m.changed(*callee.of, args, base, name)
	}
	return result
}

// evaluateCode runs nested code. It is evaluated here if it is fully known and in the same language.
func (m *machine) evaluateCode(r row, v value, by string) value {
	lang := r.param
	if lang == "" {
		lang = m.d.name
	}
	switch {
	case v.fn != nil:
		return m.apply(v.fn, nil)
	case v.kind == objectValue && (v.s == "code" || v.s == "scriptblock"), v.kind == numberValue:
		return unknown(v.taint) // the code of compile() was judged already
	case !v.known():
		m.out.found(Found{Op: Code, Text: v.str(), Taint: v.taint, By: by})
		return unknown(v.taint)
	case lang != m.d.name:
		m.out.found(Found{Op: Code, Lang: lang, Text: v.s, Taint: v.taint, By: by})
		return unknown(v.taint)
	}
	m.out.found(Found{Op: Code, Text: v.s, Taint: v.taint, By: by})
	outer := m.out.taint
	m.out.taint |= v.taint
	result := m.evaluate(v.s, 0)
	m.out.taint = outer
	if r.result != "" {
		return value{kind: objectValue, s: r.result, taint: v.taint}
	}
	return result
}

// runsStdin runs the standard input as code, if a path means that.
func (m *machine) runsStdin(v value, by string) bool {
	if !isStdinPath(v) {
		return false
	}
	m.evaluateCode(row{}, m.inputs.input(), by)
	return true
}
