package code

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// A visit is a folder to go back to where the block ends for which the code left it.
type visit struct {
	dir string
	src string // the block is in this source
	end int    // the token behind the block, or 0
	col int32  // without end: the first line that begins no further right than this
}

// chdir is a function that changes the folder, for good or, with a block behind it or
// the param block, up to the block's end.
func (m *machine) chdir(r row, args []arg) value {
	before := m.dir
	to, ok := argument(args, max(0, r.arg))
	switch {
	case ok:
		m.goTo(to)
	case r.param == "home":
		m.goTo(text(m.lim.Home, 0))
	default:
		return unknown(0)
	}
	v := visit{dir: before, src: m.src, col: m.indent()}
	switch next := m.tok(); {
	case r.param == "block":
	case m.d.name == "ruby" && next.kind == tkOp && next.text == "{":
		v.end = m.match(m.i) + 1
	case m.d.name == "ruby" && next.kind == tkName && next.text == "do" && !next.nl:
	default:
		return unknown(0)
	}
	m.visits = append(m.visits, v)
	return unknown(0)
}

// goTo enters a folder. One of which nothing is known is effect.Unknown.
func (m *machine) goTo(to value) {
	p := to.str()
	if p == "" {
		return
	}
	if m.dir = m.below(p); m.dir == "" || len(m.dir) > maxText {
		m.dir = effect.Unknown
	}
}

// below is a path as it is seen from the folder in which the code began.
func (m *machine) below(p string) string {
	switch {
	case m.dir == "", p == "", p[0] == '/', p[0] == '~', p[0] == '\\', strings.HasPrefix(p, effect.Unknown), len(p) > 1 && p[1] == ':':
		return p
	case strings.Contains(p, "..") && !effect.IsKnown(m.dir): // .. may leave what is not known
		return effect.Unknown
	}
	return path.Join(m.dir, p)
}

// folder is the present folder.
func (m *machine) folder(taint effect.Taint) value {
	p := m.dir
	if p == "" || p[0] != '/' && p[0] != '~' && !strings.HasPrefix(p, effect.Unknown) {
		if m.lim.Dir == "" {
			return unknown(taint)
		}
		p = path.Join(m.lim.Dir, p)
	}
	return text(p, taint)
}

// indent is where the line of the current token begins.
func (m *machine) indent() int32 {
	for i := min(m.i, len(m.toks)-1); i >= 0; i-- {
		if m.toks[i].nl || i == 0 {
			return m.toks[i].col
		}
	}
	return 0
}

// leaveBlocks goes back to the folders that blocks left which end before t.
func (m *machine) leaveBlocks(t *token) {
	for n := len(m.visits) - 1; n >= 0; n-- {
		v := m.visits[n]
		over := v.end > 0 && m.i >= v.end || v.end == 0 && t.nl && t.col <= v.col
		if v.src != m.src || !over {
			return
		}
		m.dir, m.visits = v.dir, m.visits[:n]
	}
}

// elsewhere enters the folder that is named for a command, and returns how to leave it.
func (m *machine) elsewhere(args []arg) func() {
	before := m.dir
	if to, ok := named(args, "cwd", "chdir", "workdir"); ok && !isNothing(to) {
		m.goTo(to)
	}
	return func() { m.dir = before }
}

// isNothing reports whether a value is the one that stands for none.
func isNothing(v value) bool {
	if v.kind != nameValue {
		return false
	}
	switch v.s {
	case "None", "nil", "null", "NULL", "undefined":
		return true
	}
	return false
}

// placed says of a finding what the present folder means for it.
func (m *machine) placed(f *Found) {
	switch f.Op {
	case Shell, Argv, Code:
		f.Dir = m.dir
	case Delete, Write, Permission:
		f.Text = m.below(f.Text)
	case Read:
		if f.Text != "environment" {
			f.Text = m.below(f.Text)
		}
	default: // nothing for the others
	}
}
