package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// maxLines bounds the lines of an input that are looked at one by one.
const maxLines = 16

// input is all of the standard input.
func (m *machine) input() value {
	if !m.lim.HasInput {
		return unknown(0)
	}
	return text(m.lim.Input, m.lim.InputTaint)
}

// inputLines are the lines of the standard input; nil if they are not known.
func (m *machine) inputLines() []value {
	all := strings.TrimRight(m.lim.Input, "\n")
	if !m.lim.HasInput || all == "" || strings.Count(all, "\n") >= maxLines {
		return nil
	}
	var out []value
	for line := range strings.SplitSeq(all, "\n") {
		out = append(out, text(line, m.lim.InputTaint))
	}
	return out
}

// inputLine is the next line. In a loop it may be any of them.
func (m *machine) inputLine() value {
	lines := m.inputLines()
	if m.lineAt >= len(lines) || len(lines) > 1 && m.loops() {
		return unknown(m.lim.InputTaint)
	}
	m.lineAt++
	return lines[m.lineAt-1]
}

// stdin is a function that reads the standard input as a row says.
func (m *machine) stdin(r row) value {
	switch r.param {
	case "line":
		return m.inputLine()
	case "lines":
		if lines := m.inputLines(); lines != nil {
			return list(lines, m.lim.InputTaint)
		}
		return unknown(m.lim.InputTaint)
	}
	return m.input()
}

// opensOperands judges the operands of a script of Perl that are programs: <> runs what
// begins or ends with a bar.
func (m *machine) opensOperands() {
	for _, a := range m.lim.Args {
		m.opensOperand(text(a, 0))
	}
}

// opensTexts judges the texts of the source that would be programs among the operands.
func (m *machine) opensTexts() {
	for i := range m.toks {
		if t := &m.toks[i]; t.kind == tkString {
			m.opensOperand(m.literal(t))
		}
	}
}

func (m *machine) opensOperand(v value) {
	line := strings.TrimSpace(v.str())
	if command := strings.Trim(line, "| "); len(command) < len(line) && (line[0] == '|' || line[len(line)-1] == '|') {
		m.shell(text(command, v.taint), "<>")
	}
}

// readsInput evaluates Perl's <STDIN> and <>, of which the current token is the first.
func (m *machine) readsInput() (value, bool) {
	n := 1
	switch next := m.ahead(1); {
	case m.d.name != "perl":
		return value{}, false
	case m.is("<>"):
	case m.is("<") && next.kind == tkName && next.text == "STDIN" && m.ahead(2).text == ">":
		n = 3
	case m.is("<") && next.kind == tkOp && next.text == ">":
		n = 2
	default:
		return value{}, false
	}
	whole := m.i > 0 && m.toks[m.i-1].kind == tkOp && m.toks[m.i-1].text == "(" && m.i > 1 && m.toks[m.i-2].text == "while"
	m.i += n
	if len(m.lim.Args) > 0 && n != 3 { // the files that are its operands
		return unknown(effect.File), true
	}
	if set, ok := m.get("@ARGV"); ok && n != 3 {
		for _, w := range set.list {
			m.opensOperand(w)
		}
		m.opensOperand(set)
		m.opensTexts()
		return unknown(effect.File | set.taint), true
	}
	if n != 3 {
		m.opensTexts()
	}
	v := m.inputLine()
	if whole {
		m.bind("$_", v)
	}
	return v, true
}
