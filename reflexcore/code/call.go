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
	taint := argTaint(args) | callee.taint
	if callee.of != nil {
		taint |= callee.of.taint
	}
	named := callee.kind == nameValue && (!strings.HasPrefix(callee.s, "$") || callee.of != nil)
	switch {
	case m.d.calls.callableTexts && !named && !callee.known():
		m.out.found(Found{Text: "$function()", Taint: taint, By: "$function()"})
		return unknown(taint)
	case m.d.calls.callableTexts && !named: // $f(…) calls what $f names
		callee = value{kind: nameValue, s: callee.str()}
	case m.d.calls.textNames && callee.kind == textValue && callee.known() && callee.s != "": // &{"system"}(…)
		callee = value{kind: nameValue, s: callee.s}
	}
	if callee.kind != nameValue {
		m.escapes.handed(callee, args)
		m.escapes.unresolvedCall(callee, args)
		m.callbacks(callee, args, taint)
		return unknown(taint)
	}
	return m.callRows(m.api.rowsOf(callee), callee, args, taint)
}

// callRows applies the rows of the table for a function, if there are any.
func (m *machine) callRows(rows []entry, callee value, args []arg, taint effect.Taint) value {
	if rows == nil || rows[0].action == "fold" || rows[0].action == "unknown" || rows[0].action == "callback" {
		m.escapes.handed(callee, args)
	}
	if remote, ok := named(args, "trust_remote_code"); ok && remote.truthy() {
		m.out.found(Found{Text: callee.s, Taint: taint | effect.Network, By: callee.s})
	}
	if rows == nil {
		if v, ok := m.indirect(callee, args); ok {
			return v
		}
		m.escapes.unresolvedCall(callee, args)
		m.unknownCall(callee, args, taint)
		return unknown(taint)
	}
	result, folded := value{}, false
	for _, r := range rows {
		if v, ok := m.act(invocation{r, callee, args, taint}); ok {
			result, folded = v, true
		}
	}
	switch rows[0].action {
	case "callback":
	case "fold":
		if !folded || result.kind != nameValue {
			m.handlers(callee, args, taint)
		}
	default:
		m.callbacks(callee, args, taint)
	}
	if !folded {
		return unknown(taint)
	}
	return result
}

// indirect finds a function that is not called by its name: one that replaces a method of a class,
// or a member that is looked up in a module.
func (m *machine) indirect(callee value, args []arg) (value, bool) {
	dot := strings.LastIndexByte(callee.s, '.')
	if dot < 0 {
		return value{}, false
	}
	module, name := callee.s[:dot], callee.s[dot+1:]
	if own, ok := m.scope.get(name); ok && own.kind == nameValue && own.of == nil && m.api.isDanger(own.s) {
		return m.call(own, args), true
	}
	first, _, _ := strings.Cut(module, ".")
	if callee.of == nil && len(args) > 0 && m.api.dangers[first] &&
		(name == "get" || name == "__getattribute__" || name == "__getitem__") {
		return m.memberOf(value{kind: nameValue, s: module}, args[0].str()), true
	}
	return value{}, false
}

// unknownCall handles a call of something that is not in the table.
func (m *machine) unknownCall(callee value, args []arg, taint effect.Taint) {
	if !effect.IsKnown(callee.s) {
		first, _, _ := strings.Cut(callee.s, ".")
		if callee.of == nil && (m.api.dangers[first] || first == effect.Unknown) || callee.of != nil &&
			callee.of.kind == listValue && callee.of.keys == nil {
			m.out.found(Found{Text: callee.s, Taint: taint, By: first})
		}
	}
	m.callbacks(callee, args, taint)
}

// callbacks handles functions among the arguments, which the callee may call with its other
// arguments.
func (m *machine) callbacks(callee value, args []arg, taint effect.Taint) {
	for i := range args {
		fn := args[i].fn
		if fn == nil {
			continue
		}
		params := slices.Repeat([]value{unknown(taint)}, len(fn.params))
		if module, ok := strings.CutSuffix(callee.s, ".then"); ok && callee.of == nil &&
			len(params) > 0 { // import("x").then(m => …)
			params[0] = value{kind: nameValue, s: module}
		}
		m.apply(fn, params)
	}
	m.handlers(callee, args, taint)
}

// handlers handles functions among the arguments that run something.
func (m *machine) handlers(callee value, args []arg, taint effect.Taint) {
	for i := range args {
		switch a := &args[i].value; {
		case a.kind == nameValue && a.of == nil && m.api.isDanger(a.s):
			m.handedOver(a.s, callee, args, taint)
		case a.kind == textValue && m.d.calls.callableTexts && m.api.takesCallable(callee) &&
			m.api.runs(strings.ToLower(a.s)):
			m.handedOver(strings.ToLower(a.s), callee, args, taint)
		}
	}
}

// handedOver handles a dangerous function that is an argument. Its own arguments are known if the
// callee runs it over a list.
func (m *machine) handedOver(path string, callee value, args []arg, taint effect.Taint) {
	fn := value{kind: nameValue, s: path}
	each := func(list []value) {
		for _, e := range list {
			m.call(fn, []arg{{value: e}})
		}
	}
	lists := false
	for _, a := range args {
		switch {
		case a.kind != listValue || a.keys != nil:
			continue
		case a.name == "args" || a.name == "" && !runsOverList(callee.s):
			m.call(fn, asArgs(a.list))
		default:
			each(a.list)
		}
		lists = true
	}
	switch {
	case lists:
		return
	case callee.of != nil && callee.of.kind == listValue:
		each(callee.of.list)
		return
	}
	if callee.of != nil && callee.of.kind == textValue { // "text".replace(/.*/, f)
		m.call(fn, []arg{{value: *callee.of}})
	}
	for i := range args { // pcall(f, "a")
		if args[i].s == path && i+1 < len(args) && args[i+1].fn == nil && args[i+1].kind != unknownValue &&
			args[i+1].kind != numberValue {
			m.call(fn, args[i+1:])
			return
		}
	}
	m.call(fn, []arg{{value: unknown(taint)}})
}

func runsOverList(path string) bool {
	return wordset.Has("map filter array_map list.each", path) || strings.HasSuffix(path, ".map") ||
		strings.HasSuffix(path, ".forEach")
}

// resolved replaces names that mean values by these values: the environment, the operands,
// constants.
func (m *machine) resolved(v value) value {
	if v.kind != nameValue || v.of != nil || v.fn != nil {
		return v
	}
	for _, r := range m.api.find(v.s) {
		switch r.action {
		case "argv":
			if m.api.executes(v.s) {
				return v
			}
			return m.inputs.operands(r.arg)
		case "stdin":
			return m.inputs.stdin(r.row)
		case "shift":
			return m.shift()
		case "const":
			return text(r.param, 0)
		case "home":
			return text(m.lim.Home, 0)
		case "environment":
			m.out.found(Found{Op: Read, Text: "environment", Taint: effect.Secret, By: v.s})
			return unknown(effect.Secret)
		case "unknown":
			return unknown(r.taint)
		}
	}
	if dot := strings.LastIndexByte(v.s, '.'); dot > 0 {
		for _, r := range m.api.find(v.s[:dot]) {
			if r.action == "environment" {
				return m.inputs.env(v.s[dot+1:], v.s[:dot])
			}
		}
	}
	return v
}

// indexed evaluates an element of a name that means a value.
func (m *machine) indexed(path string, key value) (value, bool) {
	for _, r := range m.api.find(path) {
		switch r.action {
		case "argv":
			if key.kind != numberValue {
				return unknown(0), true
			}
			return at(m.inputs.operands(r.arg), key.n), true
		case "modules":
			return value{kind: nameValue, s: m.api.canonical(key.str())}, true
		case "environment":
			return m.inputs.env(key.str(), path), true
		case "unknown":
			return unknown(r.taint), true
		}
	}
	return value{}, false
}

// imported returns the name of a module. A module that is a file runs.
func (m *machine) imported(v value, by string) value {
	name := v.str()
	if v.kind != textValue || !effect.IsKnown(name) {
		m.out.found(Found{Text: by, Taint: v.taint, By: by})
		return value{kind: nameValue, s: effect.Unknown, taint: v.taint}
	}
	if wordset.HasAnyPrefix(name, ".", "/") {
		op := Exec
		if strings.HasSuffix(name, ".json") {
			op = Read
		}
		m.out.found(Found{Op: op, Text: name, Taint: v.taint, By: by})
		return unknown(v.taint | effect.File)
	}
	if wordset.HasAnyPrefix(name, "http://", "https://") {
		m.out.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Network, By: by})
		m.out.found(Found{Op: NetIn, Text: name, By: by})
	}
	if m.d.library.importsNothing {
		return unknown(0)
	}
	return value{kind: nameValue, s: m.api.canonical(name)}
}

// methodNamed returns the method of callee's receiver with the name in a value.
func (m *machine) methodNamed(callee, name value) value {
	if callee.of != nil && callee.of.kind != unknownValue {
		return m.memberOf(*callee.of, name.str())
	}
	if dot := strings.LastIndexByte(callee.s, '.'); dot > 0 && callee.of == nil {
		return m.memberOf(value{kind: nameValue, s: callee.s[:dot]}, name.str())
	}
	if !name.known() {
		m.out.found(Found{Text: callee.s, Taint: name.taint, By: callee.s})
		return unknown(name.taint)
	}
	return value{kind: nameValue, s: name.str()}
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
