package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

// An awkScript evaluates an awk program. Its most frequent operations differ from other languages:
// adjacent values are concatenated, and print has redirections. Its statements and expressions take the
// place of the machine's.
type awkScript struct {
	*machine
	record *value // $0, where it is known
}

// run evaluates the program. If the program may pass its input to a shell, it runs once for each
// known line.
func (a *awkScript) run(src string) {
	a.scope.preset(a.inputs.lim.Vars)
	lines := a.inputs.inputLines()
	if len(lines) == 0 || len(src) > 1024 || !strings.Contains(src, "system") && !strings.Contains(src, "|") {
		a.program(src)
		return
	}
	yield, seen := a.out.yield, map[string]bool{}
	a.out.yield = func(f Found) bool { // a finding that all lines have is yielded once
		key := f.Op.String() + "\x00" + f.Text + "\x00" + f.By + strings.Join(f.Args, "\x00")
		if seen[key] {
			return true
		}
		seen[key] = true
		return yield(f)
	}
	for i := range lines {
		a.record = &lines[i]
		a.record.taint |= effect.File
		a.program(src)
	}
}

// program evaluates the program once.
func (a *awkScript) program(src string) {
	defer a.in.enter(src)()
	a.scope.findJoined(a.in.toks, a.d)
	a.in.eachStatement(a.statement)
}

func (a *awkScript) statement() {
	t := a.in.tok()
	switch {
	case t.IsOp("@"): // @include "file", @load "library"
		a.in.i += 2
		if a.in.is("(") { // @f(…) calls what f names
			a.out.found(Found{Op: Shell, Text: effect.Unknown, By: "awk @" + a.in.ahead(-1).Text})
			return
		}
		if a.in.tok().Kind == lex.String {
			a.out.found(Found{Op: Exec, Text: a.in.tok().Text, By: "awk @" + a.in.ahead(-1).Text})
		}
	case t.Kind == lex.Op && (t.Text == "(" || t.Text == "$" || t.Text == "!" || t.Text == "-"):
		a.expr(true)
	case t.Kind == lex.Op:
		a.in.i++
	case t.Kind == lex.Name && (t.Text == "print" || t.Text == "printf"):
		a.in.i++
		a.print(t.Text == "printf")
	case t.IsName("function"):
		a.in.i += 2
	case t.Kind == lex.Name && a.d.syntax.IsKeyword(t.Text) && t.Text != "getline":
		a.in.i++
	default:
		a.expr(true)
	}
}

// print evaluates print, and its redirection.
func (a *awkScript) print(formatted bool) {
	var out []value
	if a.in.is("(") { // print (a, b) > "x", but also print (a) b
		end := a.in.match(a.in.i)
		if next := end + 1; next >= len(a.in.toks) || a.in.toks[next].NewLine || a.in.toks[next].Kind == lex.Op &&
			a.in.toks[next].Text != "$" && a.in.toks[next].Text != "(" {
			a.in.i++
			out = a.bracketed()
		}
	}
	if out == nil {
		out = a.list("")
	}
	body := text(concat(out, " "), taints(out))
	if formatted && len(out) > 0 {
		body = sprintf(out[0], out[1:])
	}
	if len(out) == 0 {
		body = a.line()
	}
	t := a.in.tok()
	if t.Kind != lex.Op || a.in.ends() {
		return
	}
	switch t.Text {
	case ">", ">>":
		a.in.i++
		a.write(a.concat(), body, t.Text == ">>")
	case "|":
		a.in.i++
		if a.in.take("&") {
			a.coprocess(a.concat(), body)
			return
		}
		a.pipe(a.concat(), body)
	}
}

// line returns $0.
func (a *awkScript) line() value {
	if a.record == nil {
		return unknown(effect.File)
	}
	return *a.record
}

func (a *awkScript) list(end string) []value {
	var out []value
	for a.budget.step() && !a.in.ends() && (end == "" || !a.in.is(end)) {
		before := a.in.i
		t := a.in.tok()
		if t.Kind == lex.Op && (t.Text == ";" || t.Text == "}" || t.Text == ">" || t.Text == ">>" || t.Text == "|") {
			break
		}
		out = append(out, a.expr(end != ""))
		if !a.in.take(",") || a.in.i == before {
			break
		}
	}
	return out
}

// bracketed evaluates a list up to and including its closing bracket.
func (a *awkScript) bracketed() []value {
	a.in.paren++
	out := a.list(")")
	a.in.paren--
	a.in.take(")")
	return out
}

func (a *awkScript) write(path, body value, appends bool) {
	p := path.str()
	if strings.HasPrefix(p, "/dev/std") || strings.HasPrefix(p, "/dev/fd/") {
		return
	}
	if strings.HasPrefix(p, "/inet") {
		a.coprocess(path, body)
		return
	}
	bits := effect.Bits(0)
	if appends {
		bits = effect.Append
	}
	a.out.found(writeOf(p, add(body, text("\n", 0), true), bits, "awk print >"))
}

// pipe evaluates print | "command". A shell there executes what is printed.
func (a *awkScript) pipe(command, body value) {
	a.programs.shell(command, "awk print |")
	a.programs.noteInput(command.str())
	if isShellLine(command.str()) {
		a.out.found(Found{Op: Shell, Text: body.str(), Taint: body.taint, By: "awk print |"})
	}
}

// coprocess evaluates |&: a command, or gawk's /inet/tcp/0/host/port.
func (a *awkScript) coprocess(command, body value) {
	rest, ok := strings.CutPrefix(command.str(), "/inet")
	if !ok {
		a.pipe(command, body)
		return
	}
	parts := strings.Split(strings.TrimLeft(rest, "46"), "/")
	where := effect.Unknown
	if len(parts) >= 5 {
		where = parts[3] + ":" + parts[4]
	}
	a.programs.connected = true
	a.out.found(Found{Op: NetOut, Text: where, Taint: body.taint, By: "awk |&"})
}

// expr evaluates an expression. redirects is set outside of print: > and | are operators there.
func (a *awkScript) expr(redirects bool) value {
	if !a.budget.step() || !a.budget.deeper() {
		return unknown(0)
	}
	defer func() { a.budget.depth-- }()
	left := a.concat()
	for a.budget.step() && !a.in.ends() {
		t := a.in.tok()
		if t.IsName("in") {
			a.in.i++
			a.concat()
			left = unknown(left.taint)
			continue
		}
		if t.Kind != lex.Op {
			return left
		}
		switch t.Text {
		case "|":
			amp := a.in.ahead(1).Kind == lex.Op && a.in.ahead(1).Text == "&"
			skip := 1
			if amp {
				skip = 2
			}
			if next := a.in.ahead(skip); !next.IsName("getline") {
				return left
			}
			a.in.i += skip
			left = a.getline(&left)
		case "?":
			a.in.i++
			yes := a.expr(redirects)
			a.in.take(":")
			left = join(yes, a.expr(redirects))
		case ">", "<", ">>":
			if !redirects {
				return left
			}
			fallthrough
		case "==", "!=", "<=", ">=", "~", "!~", "&&", "||", "+", "-", "*", "/", "%", "^", "**":
			a.in.i++
			left = unknown(left.taint | a.concat().taint)
		default:
			return left
		}
	}
	return left
}

// concat evaluates adjacent values.
func (a *awkScript) concat() value {
	v := a.primary()
	for a.budget.step() && !a.in.ends() {
		t := a.in.tok()
		begins := t.Kind == lex.String || t.Kind == lex.Number || t.Kind == lex.Name && !a.d.syntax.IsKeyword(t.Text) ||
			t.Kind == lex.Op && (t.Text == "$" || t.Text == "(")
		if !begins {
			return v
		}
		v = add(v, a.primary(), true)
	}
	return v
}

func (a *awkScript) primary() value {
	if !a.budget.deeper() {
		return unknown(0)
	}
	defer func() { a.budget.depth-- }()
	t := a.in.tok()
	a.in.i++
	switch t.Kind {
	case lex.String:
		return text(a.d.syntax.Unescape(t.Text), 0)
	case lex.Number:
		return number(t.Text)
	case lex.Name:
		return a.name(t)
	case lex.Op:
		switch t.Text {
		case "(":
			out := a.bracketed()
			if len(out) == 1 {
				return out[0]
			}
			return list(out, 0)
		case "$":
			n := a.primary()
			if isAssign(a.in.tok()) {
				a.record = nil
			}
			if n.kind == numberValue && n.n == 0 {
				return a.line()
			}
			return unknown(effect.File)
		case "!", "-", "+", "++", "--":
			return unknown(a.primary().taint)
		}
		a.in.i--
	case lex.End:
		a.in.i--
	default:
	}
	return unknown(0)
}

func (a *awkScript) name(t *lex.Token) value {
	next := a.in.tok()
	switch {
	case t.Text == "getline":
		a.in.i--
		return a.getline(nil)
	case next.IsOp("(") && !next.Spaced:
		a.in.i++
		return a.call(t.Text, a.bracketed())
	case next.IsOp("["):
		a.in.i++
		a.in.paren++
		key := a.expr(true)
		for a.budget.step() && a.in.tok().Kind != lex.End && !a.in.take("]") {
			a.in.i++
		}
		a.in.paren--
		if t.Text == "ARGV" && key.kind == numberValue {
			return at(a.inputs.operands(1), key.n)
		}
		if t.Text == "ENVIRON" {
			return a.inputs.env(key.str(), "ENVIRON")
		}
		if isAssign(a.in.tok()) {
			a.in.i++
			a.expr(true)
		}
		return unknown(0)
	case isAssign(next) && !a.in.ends():
		a.in.i++
		v := a.expr(true)
		if next.Text != "=" {
			v = unknown(v.taint)
		}
		a.scope.set(t.Text, v)
		return v
	}
	if v, ok := a.scope.get(t.Text); ok {
		return v
	}
	return unknown(0)
}

// getline evaluates getline, with a command before it or a file after it.
func (a *awkScript) getline(command *value) value {
	a.in.i++
	target := ""
	if t := a.in.tok(); t.Kind == lex.Name && !a.in.ends() && !a.d.syntax.IsKeyword(t.Text) {
		target = t.Text
		a.in.i++
	}
	taint := effect.File
	switch {
	case command != nil && strings.HasPrefix(command.str(), "/inet"):
		a.coprocess(*command, unknown(0))
		taint = effect.Network
	case command != nil:
		a.programs.shell(*command, "awk | getline")
	case a.in.take("<"):
		path := a.primary()
		a.out.found(Found{Op: Read, Text: path.str(), By: "awk getline <"})
	}
	if target != "" {
		a.scope.bind(target, unknown(taint))
	} else {
		a.record = nil
	}
	return unknown(taint)
}

func (a *awkScript) call(name string, args []value) value {
	t := taints(args)
	switch name {
	case "sub", "gsub":
		if len(args) < 3 {
			a.record = nil
		}
	case "system":
		if len(args) > 0 {
			a.programs.shell(args[0], "awk system")
		}
	case "sprintf":
		if len(args) > 0 {
			return sprintf(args[0], args[1:])
		}
	case "tolower", "toupper":
		if len(args) == 1 && args[0].known() {
			if name == "tolower" {
				return text(strings.ToLower(args[0].str()), t)
			}
			return text(strings.ToUpper(args[0].str()), t)
		}
	case "substr":
		if len(args) > 1 && args[0].known() && args[1].kind == numberValue && args[1].n > 0 {
			from := args[1].n - 1
			var to *int64
			if len(args) > 2 {
				if args[2].kind != numberValue || args[2].n < 0 || args[2].n > maxText {
					return unknown(t)
				}
				end := from + args[2].n
				to = &end
			}
			return slice(text(args[0].str(), t), &from, to, 1)
		}
	}
	return unknown(t)
}
