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
func (a *applied) deletesFound(u *grammar.Use, taint effect.Taint) bool {
	var list []string
	for i, w := range a.argv {
		if w != "-delete" && w != "-rm" {
			continue
		}
		more := a.reaches(i, a.path(u))
		if more == nil {
			return false
		}
		list = append(list, more...)
	}
	for _, p := range list {
		e := effect.Effect{Kind: effect.Delete, Target: p, Bits: a.how(u) | effect.Glob, Taint: taint, By: a.by}
		if p == empty { // only what has nothing in it
			e.Target = a.path(u) + "/" + effect.Unknown
			e.Bits &^= effect.Recursive
		}
		if !a.p.Dry {
			a.in.add(e)
		}
	}
	return list != nil
}

// namesOf is what ls -d prints: the words that it is given.
func (a *applied) namesOf() (data, bool) {
	d := data{taint: a.taint}
	for _, w := range a.argv[1:] {
		if !strings.HasPrefix(w, "-") {
			d.text += a.in.fs.home(w) + "\n"
		}
	}
	return d, d.text != "" && slices.Contains(a.argv, "-d") && len(d.text) < 4096
}

// deleteBefore adds what is deleted if the last cd failed, where that is worse: in
// the root, in a folder of it, or in the home.
func (a *applied) deleteBefore(u *grammar.Use, taint effect.Taint) {
	in := a.in
	if in.cwd.before == "" || in.cwd.before == in.cwd.dir || u.Word < 0 || strings.HasPrefix(u.Text, "/") || strings.HasPrefix(u.Text, "~") {
		return
	}
	if strings.LastIndexByte(in.cwd.before, '/') != 0 && in.cwd.before != in.par.value("HOME").text {
		return
	}
	dir := in.cwd.dir
	in.cwd.dir = in.cwd.before
	a.add(effect.Delete, u, a.path(u), taint)
	in.cwd.dir = dir
}

// takesAway reports whether a use writes the file that mv takes away, and notes that nobody
// knows who made what lies there now. Its text is no new one: it is gone, or what it was.
func (a *applied) takesAway(u *grammar.Use, p string) bool {
	f := a.in.fs.file(p)
	if !a.p.Copies || u.Word < 0 || f == nil || f.path != p || f.sink != nil {
		return false
	}
	if !slices.ContainsFunc(a.p.Uses, func(o grammar.Use) bool { return o.Role == grammar.Read && o.Word == u.Word }) {
		return false
	}
	f.built, f.from = false, nil
	if slices.ContainsFunc(a.argv, func(w string) bool { return strings.HasPrefix(w, "--ex") }) {
		a.exchanged(u, p)
	}
	return true
}

// exchanged notes that a file has what another one had: mv --exchange.
func (a *applied) exchanged(u *grammar.Use, p string) {
	for i := range a.p.Uses {
		if o := &a.p.Uses[i]; o.Role == grammar.Write && o.Word >= 0 && o.Word != u.Word {
			a.in.fs.write(p, a.in.fs.contentOf(a.path(o)), false)
		}
	}
}

// copied notes that a file is another one now, so that running the copy is
// running the original. Fresh is that nothing was known of it.
func (a *applied) copied(to string, fresh bool) {
	for i := range a.p.Uses {
		if u := &a.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 && a.reads == 1 {
			a.another(to, a.path(u), u)
			if fresh {
				a.inherits(to, a.path(u))
			}
		}
	}
	a.copiedInto(to)
}

// copiedInto notes what is copied as if the target were a folder.
func (a *applied) copiedInto(folder string) {
	for i := range a.p.Uses {
		if u := &a.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
			from := a.path(u)
			if to := strings.TrimSuffix(folder, "/") + "/" + path.Base(from); from != folder && from != to {
				fresh := a.in.fs.file(to) == nil
				a.in.fs.write(to, a.in.fs.contentOf(from), false)
				a.another(to, from, u)
				if fresh {
					a.inherits(to, from)
				}
			}
		}
	}
}

// another notes that a file is another one now: a copy, or a link.
func (a *applied) another(to, from string, u *grammar.Use) {
	f := a.in.fs.file(to)
	switch {
	case f == nil:
	case u.Arg != "link":
		if a.in.fs.file(from) == nil {
			a.in.fs.agesInBranch(f)
			f.alias = from
		}
	default:
		if a.symbolic() && !strings.HasPrefix(from, "~") && u.Text != "" && u.Text[0] != '/' {
			// It leads on from its own folder.
			from = a.in.fs.abs(a.in.arena.concat(path.Dir(to), "/", u.Text))
			f = a.in.fs.file(to)
		}
		if from != to && f != nil {
			a.in.fs.agesInBranch(f)
			f.alias, f.link = from, true
			a.in.fs.links++
		}
	}
}

// symbolic reports whether a program that makes links makes symbolic ones.
func (a *applied) symbolic() bool {
	for _, w := range a.argv[1:] {
		short := len(w) > 1 && w[0] == '-' && w[1] != '-'
		if short && strings.Contains(w, "s") || strings.HasPrefix(w, "--sym") {
			return true
		}
	}
	return false
}

// inside reports whether a copy takes what is in a folder, and not the folder.
func (a *applied) inside(word string) bool {
	if !a.p.Copies {
		return false
	}
	if word == "." || strings.HasSuffix(strings.TrimSuffix(word, "/"), "/.") || a.by == "rsync" && strings.HasSuffix(word, "/") {
		return true
	}
	for _, w := range a.argv[1:] {
		short := len(w) > 1 && w[0] == '-' && w[1] != '-'
		if a.by != "rsync" && (short && strings.Contains(w, "T") || strings.HasPrefix(w, "--no-target")) {
			return true
		}
	}
	return false
}
