package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// This file is what uses of a program do to files that others named: those that a
// search found, and copies.

// deletesFound adds what find deletes, if its expression says what that is like.
func (fn *fileNotes) deletesFound(u *grammar.Use, taint effect.Taint) bool {
	var list []string
	for i, w := range fn.a.line.argv {
		if w != "-delete" && w != "-rm" {
			continue
		}
		more := fn.a.lists.findTargets(i, fn.a.pathOf(u))
		if more == nil {
			return false
		}
		list = append(list, more...)
	}
	for _, p := range list {
		e := effect.Effect{Kind: effect.Delete, Target: p, Bits: fn.a.bitsOf(u) | effect.Glob, Taint: taint, By: fn.a.line.by}
		if p == empty { // only what has nothing in it
			e.Target = fn.a.pathOf(u) + "/" + effect.Unknown
			e.Bits &^= effect.Recursive
		}
		if !fn.a.line.p.Dry {
			fn.a.in.add(e)
		}
	}
	return list != nil
}

// namesOf is what ls -d prints: the words that it is given.
func (a *applied) namesOf() (data, bool) {
	d := data{taint: a.taint}
	for _, w := range a.line.argv[1:] {
		if !strings.HasPrefix(w, "-") {
			d.text += a.in.fs.expandHome(w) + "\n"
		}
	}
	return d, d.text != "" && slices.Contains(a.line.argv, "-d") && len(d.text) < 4096
}

// deleteBefore adds what is deleted if the last cd failed, where that is worse: in
// the root, in a folder of it, or in the home.
func (fn *fileNotes) deleteBefore(u *grammar.Use, taint effect.Taint) {
	in := fn.a.in
	if in.cwd.before == "" || in.cwd.before == in.cwd.dir || u.Word < 0 || strings.HasPrefix(u.Text, "/") || strings.HasPrefix(u.Text, "~") {
		return
	}
	if strings.LastIndexByte(in.cwd.before, '/') != 0 && in.cwd.before != in.par.valueOf("HOME").text {
		return
	}
	dir := in.cwd.dir
	in.cwd.dir = in.cwd.before
	fn.a.add(effect.Delete, u, fn.a.pathOf(u), taint)
	in.cwd.dir = dir
}

// takesAway reports whether a use writes the file that mv takes away, and notes that nobody
// knows who made what lies there now. Its text is no new one: it is gone, or what it was.
func (fn *fileNotes) takesAway(u *grammar.Use, p string) bool {
	f := fn.a.in.fs.fileAt(p)
	if !fn.a.line.p.Copies || u.Word < 0 || f == nil || f.path != p || f.sink != nil {
		return false
	}
	if !slices.ContainsFunc(fn.a.line.p.Uses, func(o grammar.Use) bool { return o.Role == grammar.Read && o.Word == u.Word }) {
		return false
	}
	f.built, f.from = false, nil
	if slices.ContainsFunc(fn.a.line.argv, func(w string) bool { return strings.HasPrefix(w, "--ex") }) {
		fn.exchanged(u, p)
	}
	return true
}

// exchanged notes that a file has what another one had: mv --exchange.
func (fn *fileNotes) exchanged(u *grammar.Use, p string) {
	for i := range fn.a.line.p.Uses {
		if o := &fn.a.line.p.Uses[i]; o.Role == grammar.Write && o.Word >= 0 && o.Word != u.Word {
			fn.a.in.fs.write(p, fn.a.in.fs.contentOf(fn.a.pathOf(o)), false)
		}
	}
}

// copied notes that a file is another one now, so that running the copy is
// running the original. Fresh is that nothing was known of it.
func (fn *fileNotes) copied(to string, fresh bool) {
	for i := range fn.a.line.p.Uses {
		if u := &fn.a.line.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 && fn.a.reads == 1 {
			fn.another(to, fn.a.pathOf(u), u)
			if fresh {
				fn.inherits(to, fn.a.pathOf(u))
			}
		}
	}
	fn.copiedInto(to)
}

// copiedInto notes what is copied as if the target were a folder.
func (fn *fileNotes) copiedInto(folder string) {
	for i := range fn.a.line.p.Uses {
		if u := &fn.a.line.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
			from := fn.a.pathOf(u)
			if to := strings.TrimSuffix(folder, "/") + "/" + path.Base(from); from != folder && from != to {
				fresh := fn.a.in.fs.fileAt(to) == nil
				fn.a.in.fs.write(to, fn.a.in.fs.contentOf(from), false)
				fn.another(to, from, u)
				if fresh {
					fn.inherits(to, from)
				}
			}
		}
	}
}

// another notes that a file is another one now: a copy, or a link.
func (fn *fileNotes) another(to, from string, u *grammar.Use) {
	f := fn.a.in.fs.fileAt(to)
	switch {
	case f == nil:
	case u.Arg != "link":
		if fn.a.in.fs.fileAt(from) == nil {
			fn.a.in.fs.agesInBranch(f)
			f.alias = from
		}
	default:
		if fn.a.line.symbolic() && !strings.HasPrefix(from, "~") && u.Text != "" && u.Text[0] != '/' {
			// It leads on from its own folder.
			from = fn.a.in.fs.abs(fn.a.in.arena.concat(path.Dir(to), "/", u.Text))
			f = fn.a.in.fs.fileAt(to)
		}
		if from != to && f != nil {
			fn.a.in.fs.agesInBranch(f)
			f.alias, f.link = from, true
			fn.a.in.fs.links++
		}
	}
}

// symbolic reports whether a program that makes links makes symbolic ones.
func (l *commandLine) symbolic() bool {
	for _, w := range l.argv[1:] {
		short := len(w) > 1 && w[0] == '-' && w[1] != '-'
		if short && strings.Contains(w, "s") || strings.HasPrefix(w, "--sym") {
			return true
		}
	}
	return false
}

// inside reports whether a copy takes what is in a folder, and not the folder.
func (l *commandLine) inside(word string) bool {
	if !l.p.Copies {
		return false
	}
	if word == "." || strings.HasSuffix(strings.TrimSuffix(word, "/"), "/.") || l.by == "rsync" && strings.HasSuffix(word, "/") {
		return true
	}
	for _, w := range l.argv[1:] {
		short := len(w) > 1 && w[0] == '-' && w[1] != '-'
		if l.by != "rsync" && (short && strings.Contains(w, "T") || strings.HasPrefix(w, "--no-target")) {
			return true
		}
	}
	return false
}
