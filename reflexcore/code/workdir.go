package code

import (
	"path"
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

// A visit is a folder that the code returns to at the end of a block.
type visit struct {
	dir string
	src string // the source of the block
	end int    // the token after the block, or 0
	col int32  // without end: the block ends before the first line that is not indented deeper than this
}

// A workdir is the current folder of the code.
type workdir struct {
	in     *cursor
	d      *dialect
	lim    *Limits
	dir    string  // empty if it did not change
	visits []visit // the folders to return to at the ends of blocks
}

// chdir evaluates a function that changes the folder: for good, or until the end of its block.
func (w *workdir) chdir(r row, args []arg) value {
	before := w.dir
	to, ok := argument(args, max(0, r.arg))
	switch {
	case ok:
		w.goTo(to)
	case r.param == "home":
		w.goTo(text(w.lim.Home, 0))
	default:
		return unknown(0)
	}
	v := visit{dir: before, src: w.in.src, col: w.in.indent()}
	switch next := w.in.tok(); {
	case r.param == "block":
	case w.d.calls.blocks && next.IsOp("{"):
		v.end = w.in.match(w.in.i) + 1
	case w.d.calls.blocks && next.IsName("do") && !next.NewLine:
	default:
		return unknown(0)
	}
	w.visits = append(w.visits, v)
	return unknown(0)
}

// goTo enters a folder. An unknown one is effect.Unknown.
func (w *workdir) goTo(to value) {
	p := to.str()
	if p == "" {
		return
	}
	if w.dir = w.relative(p); w.dir == "" || len(w.dir) > maxText {
		w.dir = effect.Unknown
	}
}

// relative returns a path relative to the folder in which the code began.
func (w *workdir) relative(p string) string {
	switch {
	case w.dir == "", p == "", p[0] == '/', p[0] == '~', p[0] == '\\', strings.HasPrefix(p, effect.Unknown),
		len(p) > 1 && p[1] == ':':
		return p
	case strings.Contains(p, "..") && !effect.IsKnown(w.dir): // .. may leave what is not known
		return effect.Unknown
	}
	return path.Join(w.dir, p)
}

// folder returns the current folder.
func (w *workdir) folder(taint effect.Taint) value {
	p := w.dir
	if p == "" || p[0] != '/' && p[0] != '~' && !strings.HasPrefix(p, effect.Unknown) {
		if w.lim.Dir == "" {
			return unknown(taint)
		}
		p = path.Join(w.lim.Dir, p)
	}
	return text(p, taint)
}

// leaveBlocks returns from the folders of blocks that end before t.
func (w *workdir) leaveBlocks(t *lex.Token) {
	for n := len(w.visits) - 1; n >= 0; n-- {
		v := w.visits[n]
		over := v.end > 0 && w.in.i >= v.end || v.end == 0 && t.NewLine && t.Col <= v.col
		if v.src != w.in.src || !over {
			return
		}
		w.dir, w.visits = v.dir, w.visits[:n]
	}
}

// enterFor enters the folder in which a command runs, and returns a function to leave it.
func (w *workdir) enterFor(args []arg) func() {
	before := w.dir
	if to, ok := named(args, "cwd", "chdir", "workdir"); ok && !isNothing(to) {
		w.goTo(to)
	}
	return func() { w.dir = before }
}

// relocate makes a finding relative to the folder in which the code began.
func (w *workdir) relocate(f *Found) {
	switch f.Op {
	case Shell, Argv, Code:
		f.Dir = w.dir
	case Delete, Write, Permission:
		f.Text = w.relative(f.Text)
	case Read:
		if f.Text != "environment" {
			f.Text = w.relative(f.Text)
		}
	default: // nothing for the others
	}
}
