package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"mvdan.cc/sh/v3/syntax"
)

// readFile notes that a file is read and returns what is in it.
func (fsys *filesystem) readFile(p data, by string) data {
	target := fsys.abs(p.text)
	if host, ok := socket(target); ok {
		fsys.in.add(effect.Effect{Kind: effect.NetIn, Target: host, By: by})
		return data{effect.Unknown, effect.Network}
	}
	d := fsys.contentOf(target)
	if !strings.HasPrefix(target, "/dev/fd/") && target != "/dev/null" {
		fsys.in.add(effect.Effect{Kind: effect.Read, Target: target, Taint: d.taint | p.taint, By: by})
	}
	return d
}

// wrote adds the effect of a write to a path, and keeps the data as [filesystem.write] does.
func (fsys *filesystem) wrote(p string, d data, more bool, by string) {
	target := fsys.abs(p)
	if host, ok := socket(target); ok {
		fsys.in.add(effect.Effect{Kind: effect.NetOut, Target: host, Taint: d.taint, By: by})
		return
	}
	switch target {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2":
		return
	}
	if !strings.HasPrefix(target, "/dev/fd/") {
		e := effect.Effect{Kind: effect.Write, Target: target, Taint: d.taint, By: by}
		if more {
			e.Bits = effect.Append
		}
		fsys.in.add(e)
	}
	fsys.write(target, d, more)
}

// reportLeft reports what the text leaves in files.
func (fsys *filesystem) reportLeft() {
	scripts := fsys.madePrograms()
	for i := range fsys.list {
		f := &fsys.list[i]
		t := f.taint
		for _, v := range f.older {
			t |= v.taint
		}
		if f.alias != "" {
			t |= fsys.contentOf(f.alias).taint
			f = &fsys.list[i] // the list may have moved
		}
		if t &= lasting; t != 0 && f.sink == nil {
			fsys.in.rep.res.Files = append(fsys.in.rep.res.Files, File{f.path, t, f.tree})
			for _, end := range firstPieces {
				if f.pieces {
					fsys.in.rep.res.Files = append(fsys.in.rep.res.Files, File{fsys.in.arena.concat(f.path, end), t, false})
				}
			}
		}
		if f.sink == nil && !f.ran && !strings.HasPrefix(f.path, "/dev/") {
			script := slices.Contains(scripts, f.path)
			fsys.leaves(f, f.current(), script)
			for _, v := range f.older {
				fsys.leaves(f, v, script)
			}
		}
	}
}

// madePrograms returns the files that the text makes programs of.
func (fsys *filesystem) madePrograms() (paths []string) {
	if len(fsys.list) == 0 {
		return nil
	}
	for i := range fsys.in.rep.res.Effects {
		if e := &fsys.in.rep.res.Effects[i]; e.Kind == effect.Permission && e.What == "run" {
			paths = append(paths, e.Target)
		}
	}
	return paths
}

// leaves reports the text of a version of a file. A program whose first line names no interpreter is run by
// a shell, whoever starts it.
func (fsys *filesystem) leaves(f *virtual, v version, program bool) {
	text, cut := strings.CutPrefix(v.text, effect.Unknown)
	if v.alias != "" || text == "" {
		return
	}
	if program && path.Ext(f.path) == "" && !strings.HasPrefix(text, "#!") {
		text = "#!/bin/sh\n" + text
	}
	fsys.in.rep.res.Texts = append(fsys.in.rep.res.Texts, Text{Path: f.path, Text: text, Behind: cut})
	if other, ok := fsys.in.echoes.spoken(text); ok { // sh -c "echo 'a:\n\tCOMMAND' > Makefile; make"
		fsys.in.rep.res.Texts = append(fsys.in.rep.res.Texts, Text{Path: f.path, Text: other, Behind: cut})
	}
}

// write keeps the data that was written to a path; with more, it is appended.
func (fsys *filesystem) write(p string, d data, more bool) {
	fsys.written++
	if f := fsys.fileAt(p); f != nil {
		f.written = fsys.written
		if f.sink != nil {
			f.built, f.from, f.ran = false, nil, true
			fsys.in.scoped(func() {
				fsys.in.io.out = connected{} // the process was started before
				fsys.in.exp.nested(f.sink, &input{d, true}, f.to)
			})
			return
		}
		if more || fsys.in.branches > 0 { // the old content may remain
			f.built, f.from = false, nil
			if !fsys.in.rep.made((1 + len(f.older)) * (len(f.text) + len(d.text))) { // a file that is written to itself doubles
				return
			}
			if f.alias != "" { // readers follow the alias, so this text is a version of its own
				f.mayHoldBesides(d)
			}
			if more {
				f.extend(d)
			} else if v := (version{data: d}); !v.blank() { // alone, as its beginning may hide the rest
				f.mayHold(v)
			}
			if !more && f.text != "" && d.text != "" {
				d.text = "\n" + d.text
			}
			f.add(d)
		} else {
			f.ages()
			f.data, f.alias, f.built, f.from = d, "", false, nil
		}
		return
	}
	if len(fsys.list) >= fsys.in.rep.lim.Fields {
		fsys.in.rep.over("files")
		return
	}
	if more {
		d = data{effect.Unknown + d.text, d.taint}
	}
	fsys.list = append(fsys.list, virtual{path: p, data: d, written: fsys.written})
}

// agesInBranch keeps the content of a file that becomes a copy or a link in a branch.
func (fsys *filesystem) agesInBranch(f *virtual) {
	if v := f.current(); fsys.in.branches > 0 && (v.alias != "" || !v.blank() || v.taint&lasting != 0) {
		f.mayHold(v)
	}
}

// printed notes that a program of the project printed a file, or that a file is made from
// unchanged files of the project: python gen.py > a.sh. Running it is running those, so its
// unknown text counts no more against it than against them. Nothing that the call says may have
// influenced it: no variable, file or function, and no words other than plain names.
func (fsys *filesystem) printed(s *syntax.Stmt, std *input, t target, d data) {
	if t.fd != 1 || t.more || std.present || d.text == "" || strings.Trim(d.text, effect.Unknown) != "" ||
		d.taint&^effect.File != 0 {
		return
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || s.Background || !fsys.untouched() || !fsys.in.src.isPlainCall() {
		return
	}
	from, ok := fsys.fedBy(s.Redirs)
	if !ok {
		return
	}
	words := make([]string, 0, len(call.Args))
	for _, w := range call.Args {
		text, ok := verbatim(w)
		if !ok {
			return
		}
		words = append(words, text)
	}
	if from = fsys.madeOf(words, from); len(from) == 0 {
		return
	}
	p := fsys.abs(t.path)
	if f := fsys.fileAt(p); f != nil && f.path == p && f.alias == "" && f.sink == nil &&
		strings.Trim(f.text, effect.Unknown) == "" {
		for i := range from {
			from[i] = fsys.abs(from[i])
		}
		f.from = from
	}
}

// untouched reports whether this text can have influenced a program of the project only by its
// words and its input.
func (fsys *filesystem) untouched() bool {
	if fsys.in.rep.bits != 0 || len(fsys.in.def.funcs)+len(fsys.in.def.aliases)+len(fsys.in.def.active) > 0 ||
		!effect.IsKnown(fsys.in.cwd.dir) || !within(fsys.in.cwd.dir, fsys.in.ctx.Dir) {
		return false
	}
	fsys.in.rep.steps += (len(fsys.in.vars.list) + len(fsys.list)) / 16
	for i := range fsys.in.vars.list {
		switch fsys.in.vars.list[i].name {
		case "", "PWD", "OLDPWD", "_":
		default:
			return false
		}
	}
	return !slices.ContainsFunc(fsys.list, func(f virtual) bool {
		return f.taint&^effect.File != 0 || f.sink != nil || strings.Trim(f.text, effect.Unknown) != ""
	})
}

// fedBy is the file that a statement has as its input, if any. It is false if its redirections do
// anything other than read that file, send the output to a file, or discard errors.
func (fsys *filesystem) fedBy(redirs []*syntax.Redirect) (from []string, ok bool) {
	for _, r := range redirs {
		word, plain := "", false
		if r.Word != nil {
			word, plain = verbatim(r.Word)
		}
		switch {
		case !plain:
			return nil, false
		case r.Op == syntax.RdrOut && (r.N == nil || r.N.Value == "1" || word == "/dev/null"):
		case r.Op == syntax.RdrIn && r.N == nil && len(from) == 0 && fsys.isOwn(word):
			from = append(from, word)
		default:
			return nil, false
		}
	}
	return from, true
}

// isOwn reports whether a word is the path of a project file that neither this text nor, as far as
// is known, an earlier one has touched.
func (fsys *filesystem) isOwn(word string) bool {
	if !isPlain(word) || word[0] == '-' || word[0] == '/' || slices.Contains(strings.Split(word, "/"), "..") {
		return false
	}
	p := fsys.abs(word)
	return within(p, fsys.in.ctx.Dir) && fsys.in.Table.Find(path.Base(p)) == nil && fsys.fileAt(p) == nil &&
		fsys.under(p) == 0 && fsys.mayRun(p) == nil
}

// printers print what they make from the files in their arguments: from all of them or, if they
// run a program of the project, from the first.
var printers = table("printers")

// madeOf returns the project files that decide what a command prints; none if others may. Input is
// the file that it has as its input.
func (fsys *filesystem) madeOf(words, input []string) []string {
	name, rest := words[0], words[1:]
	switch {
	case name == "go" && len(rest) > 0:
		name, rest = name+" "+rest[0], rest[1:]
	case name == "npx" && len(rest) > 0:
		name, rest = rest[0], rest[1:]
	}
	switch prints := strings.Join(printers[name], ""); {
	case name == "envsubst":
		if len(rest) > 1 || len(rest) == 1 && !strings.HasPrefix(rest[0], "$") {
			return nil
		}
		return input
	case name == "sed":
		return fsys.filledIn(rest, input)
	case prints == "all":
		if len(input) > 0 && name != "cat" || !fsys.areOwn(rest) {
			return nil
		}
		return append(input, rest...)
	case prints != "" && len(rest) > 0 && fsys.isOwn(rest[0]):
		return plainBehind(rest, input)
	case strings.Contains(name, "/") && fsys.isOwn(name):
		return plainBehind(words, input)
	}
	return nil
}

func (fsys *filesystem) areOwn(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !fsys.isOwn(w) })
}

// plainBehind returns a program and its input if the arguments are plain, or else nil.
func plainBehind(words, input []string) []string {
	if slices.ContainsFunc(words[1:], func(w string) bool { return !isPlain(w) }) {
		return nil
	}
	return append(input, words[0])
}

// filledIn returns the templates that sed fills in, or nil if it does anything else.
func (fsys *filesystem) filledIn(words, input []string) []string {
	programs := 0
	for len(words) > 1 && words[0] == "-e" && placeholder().MatchString(words[1]) {
		words, programs = words[2:], programs+1
	}
	if programs == 0 && len(words) > 0 && placeholder().MatchString(words[0]) {
		words, programs = words[1:], 1
	}
	if programs == 0 || len(words) > 0 && len(input) > 0 || !fsys.areOwn(words) {
		return nil
	}
	return append(input, words...)
}

// runsFrom adds the files that run when a file that was made from them runs.
func (fsys *filesystem) runsFrom(file string, v *version) {
	for _, p := range v.from {
		fsys.in.add(effect.Effect{Kind: effect.Exec, Target: p, Taint: v.taint | fsys.under(p), By: "file " + file})
	}
}

// What follows finds files that a call wrote and runs by another path, or in pieces.

// notePieces notes the files that split and csplit write: all that begin with a name.
func (fsys *filesystem) notePieces(base string, uses []grammar.Use, taint effect.Taint) {
	prefix := map[string]string{"split": "x", "csplit": "xx"}[base]
	if prefix == "" {
		return // the usual case
	}
	for i := range uses {
		if u := &uses[i]; u.Role == grammar.Write && u.Word >= 0 {
			prefix = u.Text
		}
	}
	if len(fsys.list) >= fsys.in.rep.lim.Fields {
		fsys.in.rep.over("files")
		return
	}
	fsys.list = append(fsys.list, virtual{path: fsys.abs(prefix), data: data{effect.Unknown, taint}, pieces: true})
}

// firstPieces are the suffixes of the first pieces, which are reported for later calls.
var firstPieces = strings.Fields("aa ab ac ad ae af ag ah 00 01 02 03 04 05 06 07")

// mayRun is the file of this text that a path may name: a piece of one that was split or, if the
// path has an unknown folder, one whose path has the same end. It is nil if there is none.
func (fsys *filesystem) mayRun(p string) *virtual {
	at := strings.LastIndex(p, effect.Unknown)
	rest, open := p[at+1:], at >= 0
	fsys.in.rep.steps += len(fsys.list) / 16
	for i := len(fsys.list) - 1; i >= 0; i-- {
		f := &fsys.list[i]
		if f.pieces && strings.HasPrefix(p, f.path) ||
			open && len(rest) > 1 && rest[0] == '/' && strings.HasSuffix(f.path, rest) {
			return f
		}
	}
	return nil
}
