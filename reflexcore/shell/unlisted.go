package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// unknownProgram is a command whose name is not known.
func (pr *programRunner) unknownProgram(mark int, std *input, sink *data) {
	pr.in.rep.res.Opaque++
	pr.in.rep.noteOddity(NameUnknown, effect.Show(pr.in.exp.fields[mark].text))
	args := pr.in.exp.fields[mark:]
	e := effect.Effect{Kind: effect.Exec, Target: args[0].text, Taint: args[0].taint | std.taint, Bits: effect.Partial}
	if args[0].isUnnamed() {
		e.What = "any"
	}
	for _, f := range args[1:] {
		e.Taint |= f.taint &^ effect.Decoded
		if wipes(f.text) {
			pr.asRemoval(mark)
		}
	}
	pr.in.add(e)
	pr.suspects(mark + 1)
	sink.add(data{effect.Unknown, e.Taint})
}

// wipes reports whether a word is the flags of rm that nothing else has.
func wipes(s string) bool {
	return len(s) > 2 && len(s) < 6 && s[0] == '-' && strings.ContainsAny(s, "rR") && strings.Contains(s, "f") &&
		strings.Trim(s[1:], "rRfvdI") == ""
}

// asRemoval walks a command of which only the name is not known as if it were rm.
func (pr *programRunner) asRemoval(from int) {
	mark := len(pr.in.exp.fields)
	before := len(pr.in.rep.res.Effects)
	pr.in.exp.fields = append(pr.in.exp.fields, pr.in.exp.fields[from:]...)
	pr.in.exp.fields[mark] = field{data: data{text: "rm"}}
	pr.runProgram(mark, &input{}, nil)
	pr.in.exp.fields = pr.in.exp.fields[:mark]
	pr.in.rep.markFrom(before, effect.Partial)
}

// patterns are the programs that a pattern of a path is tried for.
var patterns = strings.Fields(section("pattern programs"))

// tryPattern walks a command whose program is a pattern, such as /bin/r?, as each of
// the programs that do harm and that it matches.
func (pr *programRunner) tryPattern(mark int, std *input, sink *data) {
	base := path.Base(pr.in.exp.fields[mark].text)
	found := false
	for _, name := range patterns {
		if ok, err := path.Match(base, name); !ok || err != nil || strings.Trim(base, "*?") == "" && len(base) != len(name) {
			continue
		}
		found = true
		from := len(pr.in.exp.fields)
		pr.in.exp.fields = append(pr.in.exp.fields, pr.in.exp.fields[mark:]...)
		pr.in.exp.fields[from] = field{data: data{text: name}}
		pr.in.rep.level++
		pr.runProgram(from, std, sink)
		pr.in.rep.level--
		pr.in.exp.fields = pr.in.exp.fields[:from]
	}
	if !found {
		pr.unlisted(mark, std, sink)
	}
}

// unlisted is a program that no table has: what it does is not known. What it
// would run or touch if it were a wrapper is looked at.
func (pr *programRunner) unlisted(mark int, std *input, sink *data) {
	pr.in.rep.res.Unlisted++
	args := pr.in.exp.fields[mark:]
	name := args[0].text
	if strings.IndexByte(name, '/') < 0 {
		pr.in.add(effect.Effect{Kind: effect.Exec, Target: name, Taint: args[0].taint | std.taint, By: name})
	}
	taint := std.taint
	for _, f := range args {
		taint |= f.taint
	}
	pr.in.payloads.saysDelete(args[1:], name)
	if slices.ContainsFunc(args[1:], func(f field) bool { return unchecks(f.text) }) {
		pr.in.add(effect.Effect{Kind: effect.Permission, Target: "agent-approvals", Bits: effect.Partial, By: name})
	}
	if !strings.ContainsAny(name[max(0, len(name)-1):], ",:!") { // as words of a sentence end, and no wrapper's name
		pr.suspects(mark + 1)
	}
	sink.add(data{effect.Unknown, taint})
}

// unchecks reports whether a flag tells a program to ask nobody and to check nothing:
// agents have such flags, and there are more agents than any table has.
func unchecks(flag string) bool {
	name, ok := strings.CutPrefix(strings.ToLower(flag), "--")
	if !ok {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	return name == "yolo" || wordset.HasAnyPrefix(name, uncheckedFlags...)
}

// uncheckedFlags are how such flags begin.
var uncheckedFlags = strings.Fields(section("unchecked flags"))

// saysDelete takes a program of which nothing is known at its word: one whose
// subcommand is called delete deletes something, most often elsewhere, and one whose
// subcommand is called disable switches something off. Args are its words without its
// name, which is by.
func (pl *payloadRunner) saysDelete(args []field, by string) {
	words := 0
	for i := 0; i < len(args) && words < 2; i++ {
		text := args[i].text
		if text == "" || text[0] == '-' {
			continue
		}
		words++
		kind := meant(text)
		if i+1 == len(args) && words > 1 || kind == effect.Opaque {
			continue
		}
		e := effect.Effect{Kind: kind, Target: text, Bits: effect.Partial, By: by}
		for _, f := range args[i+1:] {
			if f.text != "" && f.text[0] != '-' {
				e.Target = f.text
				break
			}
		}
		if kind == effect.Kill {
			if e.What = "named"; e.Target == text { // mode disable: it is its own
				return
			}
		}
		pl.in.add(e)
		return
	}
}

// meant is what a subcommand does by its name, which is a verb alone or with more
// words before or after it: RemoteDelete, Kill, or Opaque where
// it says nothing. Some verbs say little
// alone, such as remove, which package managers have, and much with a noun.
func meant(word string) effect.Kind {
	if len(word) > 40 || strings.ContainsAny(word, "./ ") {
		return effect.Opaque
	}
	parts := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return r == '-' || r == '_' || r == ':' })
	if len(parts) == 0 {
		return effect.Opaque
	}
	for _, part := range [...]string{parts[0], parts[len(parts)-1]} {
		switch part {
		case "delete", "destroy", "purge", "wipe", "terminate", "nuke", "erase", "drop":
			return effect.RemoteDelete
		case "kill", "disable", "deactivate":
			return effect.Kill
		case "remove", "clear", "revoke", "truncate":
			if len(parts) > 1 && !slices.Contains(parts, "cache") {
				return effect.RemoteDelete
			}
		}
	}
	return effect.Opaque
}

// flagLetters are what names of flags and variables are made of.
const flagLetters = "-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// suspects walks what an unknown wrapper may run: each word from which on the
// words are a command that a table knows to do harm. Its effects are partial.
func (pr *programRunner) suspects(from int) {
	if pr.in.rep.level > pr.in.rep.lim.Nesting {
		return
	}
	n := len(pr.in.exp.fields)
	for i := from; i < n && i < from+8; i++ {
		f := pr.in.exp.fields[i]
		if f.text == "" {
			continue
		}
		if name, value, ok := strings.Cut(f.text, "="); ok && name != "" && strings.Trim(name, flagLetters) == "" {
			if strings.ContainsAny(value, " ;|&\n") && !strings.Contains(value, "://") {
				pr.maybeShell(data{value, f.taint}) // --cmd='rm -rf x'
			}
			continue
		}
		if f.text[0] == '-' {
			continue
		}
		if strings.ContainsAny(f.text, " ;|&\n") && n-i <= 2 && !strings.Contains(f.text, "://") {
			pr.maybeShell(f.data)
			continue
		}
		if pr.in.Table.Plausible(f.text) == nil || i == n-1 {
			continue
		}
		before := len(pr.in.rep.res.Effects)
		pr.in.exp.fields = append(pr.in.exp.fields, pr.in.exp.fields[i:n]...)
		pr.in.inProcess(func() { pr.in.runWords(n, &input{}, nil, false) })
		pr.in.exp.fields = pr.in.exp.fields[:n]
		if !slices.ContainsFunc(pr.in.rep.res.Effects[before:], harms) {
			pr.in.rep.res.Effects = pr.in.rep.res.Effects[:before] // the words of a subcommand that is called so: tomb dig x
			continue
		}
		pr.in.rep.markFrom(before, effect.Partial)
		return
	}
}

// harms reports whether an effect is one for which a program that nobody knows
// is taken for a wrapper.
func harms(e effect.Effect) bool {
	moves := e.Kind == effect.Read || e.Kind == effect.NetIn || e.Kind == effect.NetOut || e.Kind == effect.Write
	return !moves || e.Taint&(effect.Secret|effect.Network|effect.Decoded) != 0
}

// maybeShell walks a word that looks like a command line and that an unknown
// program got as its last word, or as the value of a flag.
func (pr *programRunner) maybeShell(d data) {
	if len(d.text) > 4096 || !d.known() {
		return
	}
	first, _, _ := strings.Cut(strings.TrimSpace(d.text), " ")
	name, _, assigns := strings.Cut(first, "=")
	if p := pr.in.Table.Find(first); p == nil && !builtins[first] && (!assigns || strings.Trim(name, flagLetters) != "") {
		return
	}
	before := len(pr.in.rep.res.Effects)
	pr.in.inProcess(func() { pr.in.payloads.sub(d, "argument of an unknown program", &input{}, nil) })
	pr.in.rep.markFrom(before, effect.Partial)
}
