package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// awk scans an awk program. Its expressions differ from those of the other
// languages in what they do most: two values beside each other are joined, and
// print has redirections.
func (m *machine) awk(src string) {
	m.d, m.api = dialects["awk"], tableOf("awk")
	m.variables(m.lim.Vars)
	lines := m.inputLines()
	if len(lines) == 0 || len(src) > 1024 || !strings.Contains(src, "system") && !strings.Contains(src, "|") {
		m.awkProgram(src)
		return
	}
	yield, seen := m.yield, map[string]bool{}
	m.yield = func(f Found) bool { // what every line does is said once
		key := f.Op.String() + "\x00" + f.Text + "\x00" + f.By + strings.Join(f.Args, "\x00")
		if seen[key] {
			return true
		}
		seen[key] = true
		return yield(f)
	}
	for i := range lines {
		m.record = &lines[i]
		m.record.taint |= effect.File
		m.awkProgram(src)
	}
}

// awkProgram evaluates the program once.
func (m *machine) awkProgram(src string) {
	defer m.enter(src)()
	m.findJoined(m.toks, m.d)
	for m.i < len(m.toks) && m.step() {
		before := m.i
		m.awkStatement()
		if m.i == before {
			m.i++
		}
	}
}

func (m *machine) awkStatement() {
	t := m.tok()
	switch {
	case t.kind == tkOp && t.text == "@": // @include "file", @load "library"
		m.i += 2
		if m.is("(") { // @f(…) calls what f names
			m.found(Found{Op: Shell, Text: effect.Unknown, By: "awk @" + m.ahead(-1).text})
			return
		}
		if m.tok().kind == tkString {
			m.found(Found{Op: Exec, Text: m.tok().text, By: "awk @" + m.ahead(-1).text})
		}
	case t.kind == tkOp && (t.text == "(" || t.text == "$" || t.text == "!" || t.text == "-"):
		m.awkExpr(true)
	case t.kind == tkOp:
		m.i++
	case t.kind == tkName && (t.text == "print" || t.text == "printf"):
		m.i++
		m.awkPrint(t.text == "printf")
	case t.kind == tkName && t.text == "function":
		m.i += 2
	case t.kind == tkName && m.d.isKeyword(t.text) && t.text != "getline":
		m.i++
	default:
		m.awkExpr(true)
	}
}

// awkPrint evaluates what is printed, and to where.
func (m *machine) awkPrint(formatted bool) {
	var out []value
	if m.is("(") { // print (a, b) > "x", but also print (a) b
		end := m.match(m.i)
		if next := end + 1; next >= len(m.toks) || m.toks[next].nl || m.toks[next].kind == tkOp && m.toks[next].text != "$" && m.toks[next].text != "(" {
			m.i++
			m.paren++
			out = m.awkList(")")
			m.paren--
			m.take(")")
		}
	}
	if out == nil {
		out = m.awkList("")
	}
	body := text(concat(out, " "), taints(out))
	if formatted && len(out) > 0 {
		body = sprintf(out[0], out[1:])
	}
	if len(out) == 0 {
		body = m.awkRecord()
	}
	t := m.tok()
	if t.kind != tkOp || m.ends() {
		return
	}
	switch t.text {
	case ">", ">>":
		m.i++
		m.awkWrite(m.awkConcat(), body, t.text == ">>")
	case "|":
		m.i++
		if m.take("&") {
			m.awkCoprocess(m.awkConcat(), body)
			return
		}
		m.awkPipe(m.awkConcat(), body)
	}
}

// awkRecord is $0.
func (m *machine) awkRecord() value {
	if m.record == nil {
		return unknown(effect.File)
	}
	return *m.record
}

func (m *machine) awkList(end string) []value {
	var out []value
	for m.step() && !m.ends() && (end == "" || !m.is(end)) {
		before := m.i
		t := m.tok()
		if t.kind == tkOp && (t.text == ";" || t.text == "}" || t.text == ">" || t.text == ">>" || t.text == "|") {
			break
		}
		out = append(out, m.awkExpr(end != ""))
		if !m.take(",") || m.i == before {
			break
		}
	}
	return out
}

func (m *machine) awkWrite(path, body value, appends bool) {
	p := path.str()
	if strings.HasPrefix(p, "/dev/std") || strings.HasPrefix(p, "/dev/fd/") {
		return
	}
	if strings.HasPrefix(p, "/inet") {
		m.awkCoprocess(path, body)
		return
	}
	f := Found{Op: Write, Text: p, Taint: body.taint, By: "awk print >"}
	if appends {
		f.Bits = effect.Append
	}
	if body.known() {
		f.Args = []string{body.str() + "\n"}
	}
	m.found(f)
}

// awkPipe is print | "command". A shell there executes what is printed.
func (m *machine) awkPipe(command, body value) {
	m.shell(command, "awk print |")
	m.hasInput(command.str())
	if isShellLine(command.str()) {
		m.found(Found{Op: Shell, Text: body.str(), Taint: body.taint, By: "awk print |"})
	}
}

// awkCoprocess is |&: a command, or gawk's /inet/tcp/0/host/port.
func (m *machine) awkCoprocess(command, body value) {
	rest, ok := strings.CutPrefix(command.str(), "/inet")
	if !ok {
		m.awkPipe(command, body)
		return
	}
	parts := strings.Split(strings.TrimLeft(rest, "46"), "/")
	where := effect.Unknown
	if len(parts) >= 5 {
		where = parts[3] + ":" + parts[4]
	}
	m.connected = true
	m.found(Found{Op: NetOut, Text: where, Taint: body.taint, By: "awk |&"})
}

// awkExpr evaluates an expression; with redirects, > and | have their meaning
// outside print.
func (m *machine) awkExpr(redirects bool) value {
	if !m.step() || !m.deeper() {
		m.depth--
		return unknown(0)
	}
	defer func() { m.depth-- }()
	left := m.awkConcat()
	for m.step() && !m.ends() {
		t := m.tok()
		if t.kind == tkName && t.text == "in" {
			m.i++
			m.awkConcat()
			left = unknown(left.taint)
			continue
		}
		if t.kind != tkOp {
			return left
		}
		switch t.text {
		case "|":
			amp := m.ahead(1).kind == tkOp && m.ahead(1).text == "&"
			skip := 1
			if amp {
				skip = 2
			}
			if next := m.ahead(skip); next.kind != tkName || next.text != "getline" {
				return left
			}
			m.i += skip
			left = m.awkGetline(&left)
		case "?":
			m.i++
			yes := m.awkExpr(redirects)
			m.take(":")
			left = join(yes, m.awkExpr(redirects))
		case ">", "<", ">>":
			if !redirects {
				return left
			}
			fallthrough
		case "==", "!=", "<=", ">=", "~", "!~", "&&", "||", "+", "-", "*", "/", "%", "^", "**":
			m.i++
			left = unknown(left.taint | m.awkConcat().taint)
		default:
			return left
		}
	}
	return left
}

// awkConcat evaluates values that stand beside each other.
func (m *machine) awkConcat() value {
	v := m.awkPrimary()
	for m.step() && !m.ends() {
		t := m.tok()
		begins := t.kind == tkString || t.kind == tkNumber || t.kind == tkName && (!m.d.isKeyword(t.text)) ||
			t.kind == tkOp && (t.text == "$" || t.text == "(")
		if !begins {
			return v
		}
		v = add(v, m.awkPrimary(), true)
	}
	return v
}

func (m *machine) awkPrimary() value {
	if !m.deeper() {
		m.depth--
		return unknown(0)
	}
	defer func() { m.depth-- }()
	t := m.tok()
	m.i++
	switch t.kind {
	case tkString:
		return text(m.d.unescape(t.text), 0)
	case tkNumber:
		return number(t.text)
	case tkName:
		return m.awkName(t)
	case tkOp:
		switch t.text {
		case "(":
			m.paren++
			out := m.awkList(")")
			m.paren--
			m.take(")")
			if len(out) == 1 {
				return out[0]
			}
			return list(out, 0)
		case "$":
			n := m.awkPrimary()
			if isAssign(m.tok()) {
				m.record = nil
			}
			if n.kind == numberValue && n.n == 0 {
				return m.awkRecord()
			}
			return unknown(effect.File)
		case "!", "-", "+", "++", "--":
			return unknown(m.awkPrimary().taint)
		}
		m.i--
	case tkEnd:
		m.i--
	default:
	}
	return unknown(0)
}

func (m *machine) awkName(t *token) value {
	next := m.tok()
	switch {
	case t.text == "getline":
		m.i--
		return m.awkGetline(nil)
	case next.kind == tkOp && next.text == "(" && !next.sp:
		m.i++
		m.paren++
		out := m.awkList(")")
		m.paren--
		m.take(")")
		return m.awkCall(t.text, out)
	case next.kind == tkOp && next.text == "[":
		m.i++
		m.paren++
		key := m.awkExpr(true)
		for m.step() && m.tok().kind != tkEnd && !m.take("]") {
			m.i++
		}
		m.paren--
		if t.text == "ARGV" && key.kind == numberValue {
			return at(m.operands(1), key.n)
		}
		if t.text == "ENVIRON" {
			return m.env(key.str(), "ENVIRON")
		}
		if isAssign(m.tok()) {
			m.i++
			m.awkExpr(true)
		}
		return unknown(0)
	case isAssign(next) && !m.ends():
		m.i++
		v := m.awkExpr(true)
		if next.text != "=" {
			v = unknown(v.taint)
		}
		m.set(t.text, v)
		return v
	}
	if v, ok := m.get(t.text); ok {
		return v
	}
	return unknown(0)
}

// awkGetline is getline, with a command before it or a file behind it.
func (m *machine) awkGetline(command *value) value {
	m.i++
	target := ""
	if t := m.tok(); t.kind == tkName && !m.ends() && !m.d.isKeyword(t.text) {
		target = t.text
		m.i++
	}
	taint := effect.File
	switch {
	case command != nil && strings.HasPrefix(command.str(), "/inet"):
		m.awkCoprocess(*command, unknown(0))
		taint = effect.Network
	case command != nil:
		m.shell(*command, "awk | getline")
	case m.take("<"):
		path := m.awkPrimary()
		m.found(Found{Op: Read, Text: path.str(), By: "awk getline <"})
	}
	if target != "" {
		m.bind(target, unknown(taint))
	} else {
		m.record = nil
	}
	return unknown(taint)
}

func (m *machine) awkCall(name string, args []value) value {
	t := taints(args)
	switch name {
	case "sub", "gsub":
		if len(args) < 3 {
			m.record = nil
		}
	case "system":
		if len(args) > 0 {
			m.shell(args[0], "awk system")
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
