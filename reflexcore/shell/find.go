package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// An expression reads the expression of a find command, but only to learn which names an action
// can reach. Whatever is not certain restricts nothing.
type expression struct {
	words  []string
	next   int
	action int      // the index of the word that is asked about
	names  []string // patterns of its targets; nil: anything
	depth  int
}

// findWords says how many arguments a test or an action takes; those not in it take none.
var findWords = func() map[string]int {
	m := map[string]int{}
	for operand := range strings.FieldsSeq(section("find operands")) {
		m[operand]++
	}
	return m
}()

// empty stands for the folders that find reaches only if nothing is in them.
const empty = "\x00empty"

// reach returns the patterns of the names that the action at an index reaches, as paths below each
// folder that is searched. Nil: any.
func reach(argv []string, action int) []string {
	x := expression{words: argv, next: 1, action: action}
	for x.next < len(argv) && !strings.HasPrefix(argv[x.next], "-") && argv[x.next] != "(" && argv[x.next] != "!" {
		x.next++
	}
	x.anyOf(nil)
	return x.names
}

// anyOf reads alternatives and returns the patterns of all of them. Nil: any name.
func (x *expression) anyOf(outer []string) []string {
	var out []string
	open := false
	if x.depth++; x.depth > 32 {
		x.next = len(x.words)
		return nil
	}
	for {
		one := x.allOf(outer)
		open = open || one == nil
		out = append(out, one...)
		if x.next < len(x.words) && (x.words[x.next] == "-o" || x.words[x.next] == "-or" || x.words[x.next] == ",") {
			x.next++
			continue
		}
		break
	}
	x.depth--
	if open || len(out) > 16 {
		return nil
	}
	return out
}

// allOf reads terms that must all hold and returns their patterns. Nil: any name.
func (x *expression) allOf(now []string) []string {
	folders, nothing, links := false, false, false
	for x.next < len(x.words) {
		w := x.words[x.next]
		if x.next == x.action {
			x.names = now
		}
		switch x.next++; w {
		case "-o", "-or", ",", ")":
			x.next--
			return now
		case "!", "-not":
			if nothing = nothing || links && x.testsExistence(); nothing && links {
				now = []string{empty} // links that lead to nothing
			}
			x.negated(now)
		case "(":
			inner := x.anyOf(now)
			x.next++ // the closing parenthesis
			if inner != nil {
				now = inner
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			for x.next < len(x.words) && x.words[x.next] != ";" && (x.words[x.next] != "+" || x.words[x.next-1] != "{}") {
				x.next++
			}
			x.next++
		case "-empty":
			if nothing = true; now == nil {
				now = []string{"*"}
			}
		default:
			n := findWords[w]
			if x.next+n > len(x.words) {
				x.next = len(x.words)
				return nil
			}
			args := x.words[x.next : x.next+n]
			if names := narrowed(w, args); names != nil {
				now = both(now, names)
			} else if now == nil && selects(w, args) {
				now = []string{"*"} // some of what is there
			}
			folders = folders || w == "-type" && args[0] == "d"
			links = links || w == "-type" && args[0] == "l"
			if w == "-xtype" && args[0] == "l" {
				now = []string{empty}
			}
			x.next += n
		}
		if folders && nothing { // an empty file may be of use
			now = []string{empty}
		}
	}
	return now
}

// testsExistence reports whether the next words run a test whether a file is there.
func (x *expression) testsExistence() bool {
	return x.next+3 < len(x.words) && x.words[x.next] == "-exec" && wordset.Has("test [", path.Base(x.words[x.next+1])) &&
		x.words[x.next+2] == "-e" && x.words[x.next+3] == "{}"
}

// selects reports whether a test plainly chooses only some files: links, what has nothing in it, what is
// older than a day, or a name by its letters. Whatever else it asks for, all files may have.
func selects(test string, words []string) bool {
	if len(words) == 0 || !effect.IsKnown(words[0]) {
		return false
	}
	switch w := words[0]; test {
	case "-type", "-xtype":
		return w == "l"
	case "-size":
		return w == "0"
	case "-mtime":
		days, ok := strings.CutPrefix(w, "+")
		return ok && strings.Trim(days, "0123456789") == "" && strings.Trim(days, "0") != ""
	case "-regex", "-iregex":
		return !wordset.ContainsAny(w, "[", "|", `\w`, `\W`, `\S`, `\s`, "?", "{") && strings.ContainsFunc(w, isNameLetter)
	}
	return false
}

// isNameLetter reports whether a character tells names apart.
func isNameLetter(c rune) bool {
	return c == '~' || c == '#' || unicode.IsLetter(c) || unicode.IsDigit(c)
}

// both combines patterns of paths and patterns of names that must both match.
func both(paths, names []string) []string {
	if len(paths) == 1 && len(names) == 1 && strings.HasSuffix(paths[0], "/*") && !strings.Contains(names[0], "/") {
		return []string{strings.TrimSuffix(paths[0], "*") + names[0]}
	}
	return names
}

// negated reads what must not hold, which restricts nothing.
func (x *expression) negated(now []string) {
	if x.next >= len(x.words) {
		return
	}
	w := x.words[x.next]
	if x.next == x.action {
		x.names = now
	}
	if x.next++; w == "(" {
		x.anyOf(now)
		x.next++
		return
	}
	if x.next += findWords[w]; strings.HasPrefix(w, "-exec") {
		for x.next < len(x.words) && x.words[x.next-1] != ";" {
			x.next++
		}
	}
}

// narrowed is the restriction of one test, or nil.
func narrowed(test string, words []string) []string {
	if len(words) == 0 || !effect.IsKnown(words[0]) {
		return nil
	}
	p := words[0]
	switch test {
	case "-name", "-iname":
		if strings.Contains(p, "/") {
			return nil
		}
	case "-path", "-ipath", "-wholename", "-iwholename":
		var ok bool
		if p, ok = strings.CutPrefix(p, "*/"); !ok {
			if p, ok = strings.CutPrefix(p, "./"); !ok {
				return nil
			}
		}
		if strings.Contains("/"+p+"/", "/../") {
			return nil
		}
	default:
		return nil
	}
	at, end := strings.IndexByte(p, '['), strings.IndexByte(p, ']')
	if at >= 0 && end > at && end-at < 8 && !strings.ContainsAny(p[at+1:end], "!^-[:") && strings.Count(p, "[") == 1 &&
		strings.Count(p, "]") == 1 {
		var out []string
		for _, c := range []byte(p[at+1 : end]) {
			out = append(out, p[:at]+string(rune(c))+p[end+1:])
		}
		return out
	}
	if at >= 0 || !strings.ContainsFunc(p, isNameLetter) && !strings.HasPrefix(p, "._") {
		return nil
	}
	return []string{p}
}

// findTargets returns the targets of an action of find, if it is restricted and find searches only
// below the working directory, the home or a temporary folder. Nil: everything in the folders that
// are searched.
func (lr *listRunner) findTargets(action int, roots ...string) []string {
	names := reach(lr.line.argv, action)
	if names == nil {
		return nil
	}
	var out []string
	for _, root := range roots {
		if !effect.IsKnown(root) || !lr.in.fs.near(root) && !lr.in.atHome(root) {
			return nil
		}
		for _, name := range names {
			if strings.Contains(root+"/", "/.git/") && name != "*.lock" && name != "*.sample" {
				return nil // anything else there is history
			}
			if name == empty {
				out = append(out, empty)
				continue
			}
			out = append(out, root+"/"+effect.Unknown+"/"+name)
		}
	}
	return out
}

// deletesFound adds what find deletes if its expression restricts that. It is false if not.
func (lr *listRunner) deletesFound(u *grammar.Use, taint effect.Taint) bool {
	var list []string
	for i, w := range lr.line.argv {
		if w != "-delete" && w != "-rm" {
			continue
		}
		more := lr.findTargets(i, lr.pathOf(u))
		if more == nil {
			return false
		}
		list = append(list, more...)
	}
	for _, p := range list {
		e := effect.Effect{Kind: effect.Delete, Target: p, Bits: lr.bitsOf(u) | effect.Glob, Taint: taint, By: lr.line.by}
		if isNumbered(path.Base(p)) && within(p, lr.in.ctx.Dir) && !slices.ContainsFunc(lr.line.argv, followsLinks) {
			e.Bits &^= effect.Recursive // of folders only those in which nothing is left
		}
		if p == empty { // only what has nothing in it
			e.Target = lr.pathOf(u) + "/" + effect.Unknown
			e.Bits &^= effect.Recursive
		}
		if !lr.line.p.Dry {
			lr.in.add(e)
		}
	}
	return list != nil
}

// isNumbered reports whether a pattern is for the names that a program gives to one file after the other, such
// as agent-* and localhost:*. Any other beginning may be that of files that people write.
func isNumbered(pattern string) bool {
	if stem, ok := strings.CutSuffix(pattern, ":*"); ok {
		return len(stem) > 2 && !strings.ContainsAny(stem, "*?[")
	}
	stem, ok := strings.CutSuffix(pattern, "-*")
	return ok && wordset.Has("agent core crash dump heap tmp temp cache debug trace", stem)
}

// followsLinks reports whether a word of find makes it go where links lead.
func followsLinks(w string) bool { return wordset.Has("-L -follow", w) }

// near reports whether a folder lies in the working directory of the call, or in a
// folder for temporary files.
func (fsys *filesystem) near(p string) bool {
	dirs := [...]string{strings.TrimSuffix(fsys.in.ctx.Dir, "/"), "/tmp", "/var/tmp", "/private/tmp"}
	return slices.ContainsFunc(dirs[:], func(dir string) bool {
		rest, ok := strings.CutPrefix(p, dir)
		return ok && dir != "" && (rest == "" && dir[1:] != "tmp" || strings.HasPrefix(rest, "/"))
	})
}

// atHome reports whether a path is the home or lies in it.
func (in *interp) atHome(p string) bool {
	home := strings.TrimSuffix(in.par.valueOf("HOME").text, "/")
	rest, ok := strings.CutPrefix(p, home)
	return ok && strings.Count(home, "/") > 1 && effect.IsKnown(home) && (rest == "" || rest[0] == '/')
}

// roots are the folders that find searches.
func (lr *listRunner) roots() []string {
	var out []string
	for i := range lr.line.p.Uses {
		if u := &lr.line.p.Uses[i]; u.Word >= 0 && u.Word < len(lr.line.argv) && (u.Arg == "" || u.Arg == "found") &&
			lr.line.isOperand(u.Word) {
			if p := lr.pathOf(u); !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, lr.in.cwd.dir)
	}
	return out
}

// isOperand reports whether a word of find stands before its expression.
func (l *commandLine) isOperand(word int) bool {
	return !slices.ContainsFunc(l.argv[1:word+1], func(w string) bool {
		return w == "(" || w == "!" || strings.HasPrefix(w, "-") && w != "-L" && w != "-H" && w != "-P"
	})
}

// listed is what find prints, as far as it is known.
func (lr *listRunner) listed() (data, bool) {
	if slices.ContainsFunc(lr.line.argv, func(w string) bool {
		return wordset.HasAnyPrefix(w, "-exec", "-ok", "-fprint") || w == "-printf" || w == "-ls" || !effect.IsKnown(w)
	}) {
		return data{}, false
	}
	action := slices.IndexFunc(lr.line.argv, func(w string) bool { return w == "-print" || w == "-print0" })
	argv := lr.line.argv
	if action < 0 { // without an action, find prints what the whole expression matches
		argv = slices.Concat(argv[:1], lr.line.wrapped(), []string{"-print"})
		action = len(argv) - 1
	}
	names := reach(argv, action)
	var text strings.Builder
	for _, root := range lr.roots() {
		if effect.IsKnown(root) && !lr.in.fs.near(root) { // whatever its name is, it is not of the project
			text.WriteString(strings.TrimSuffix(root, "/") + "/" + effect.Unknown + "\n")
			continue
		}
		if names == nil || !effect.IsKnown(root) {
			return data{}, false
		}
		for _, name := range names {
			if name == empty {
				return data{}, false
			}
			text.WriteString(root + "/" + effect.Unknown + "/" + name + "\n")
		}
	}
	return data{text.String(), lr.taint}, true
}

// wrapped returns the words after find, with the expression in parentheses.
func (l *commandLine) wrapped() []string {
	at := 1
	for at < len(l.argv) && l.isOperand(at) {
		at++
	}
	return slices.Concat(l.argv[1:at], []string{"("}, l.argv[at:], []string{")"})
}

// ancestor is the deepest folder that contains all of the paths.
func ancestor(paths []string) string {
	out := paths[0]
	for _, p := range paths[1:] {
		for p != out && !strings.HasPrefix(p, strings.TrimSuffix(out, "/")+"/") {
			if !strings.HasPrefix(out, "/") || out == "/" {
				return "/"
			}
			out = path.Dir(out)
		}
	}
	return out
}

// mktemp is the name of a new temporary file, as far as it is known.
func (a *applied) mktemp() string {
	in := a.in
	tmp, template, inTmp := cmp.Or(in.par.valueOf("TMPDIR").text, "/tmp"), "", false
	for u := range a.line.uses(grammar.Text) {
		switch u.Arg {
		case "template":
			template = u.Text
		case "folder":
			if inTmp = true; a.line.argv[u.Word] != "--tmpdir" { // which may have no value
				tmp = u.Text
			}
		default: // -t
			inTmp = true
		}
	}
	stem := template
	if at := strings.Index(stem, "XXX"); at >= 0 {
		stem = stem[:at]
	}
	if template == "" {
		stem, inTmp = "tmp.", true
	}
	if strings.Contains(stem, "..") || strings.Contains(template[min(len(stem), len(template)):], "/") {
		return effect.Unknown + "\n"
	}
	if inTmp && !strings.HasPrefix(stem, "/") {
		stem = strings.TrimSuffix(tmp, "/") + "/" + stem
	}
	return in.fs.expandHome(stem) + effect.Unknown + "\n"
}
