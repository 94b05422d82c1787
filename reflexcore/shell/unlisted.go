package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// unknownProgram is a command whose name is not known.
func (in *interp) unknownProgram(mark int, std *input, sink *data) {
	in.res.Opaque++
	args := in.fields[mark:]
	e := effect.Effect{Kind: effect.Exec, Target: args[0].text, Taint: args[0].taint | std.taint, Bits: effect.Partial}
	for _, f := range args[1:] {
		e.Taint |= f.taint &^ effect.Decoded
		if wipes(f.text) {
			in.asRemoval(mark)
		}
	}
	in.add(e)
	in.suspects(mark + 1)
	sink.append(data{effect.Unknown, e.Taint})
}

// wipes reports whether a word is the flags of rm that nothing else has.
func wipes(s string) bool {
	return len(s) > 2 && len(s) < 6 && s[0] == '-' && strings.ContainsAny(s, "rR") && strings.Contains(s, "f") && strings.Trim(s[1:], "rRfvdI") == ""
}

// asRemoval walks a command of which only the name is not known as if it were rm.
func (in *interp) asRemoval(from int) {
	mark := len(in.fields)
	before := len(in.res.Effects)
	in.fields = append(in.fields, in.fields[from:]...)
	in.fields[mark] = field{data: data{text: "rm"}}
	in.program(mark, &input{}, nil)
	in.fields = in.fields[:mark]
	for i := before; i < len(in.res.Effects); i++ {
		in.res.Effects[i].Bits |= effect.Partial
	}
}

// patterns are the programs that a pattern of a path is tried for.
var patterns = [...]string{"rm", "sh", "bash", "dash", "zsh", "dd", "cat", "nc", "cp", "mv", "tee", "curl", "wget", "find", "chmod", "shred", "python3", "perl", "node", "ruby", "base64", "xargs", "env", "sudo", "ssh", "scp"}

// pattern walks a command whose program is a pattern, such as /bin/r?, as each of
// the programs that do harm and that it matches.
func (in *interp) pattern(mark int, std *input, sink *data) {
	base := path.Base(in.fields[mark].text)
	found := false
	for _, name := range patterns {
		if ok, err := path.Match(base, name); !ok || err != nil || strings.Trim(base, "*?") == "" && len(base) != len(name) {
			continue
		}
		found = true
		from := len(in.fields)
		in.fields = append(in.fields, in.fields[mark:]...)
		in.fields[from] = field{data: data{text: name}}
		in.level++
		in.program(from, std, sink)
		in.level--
		in.fields = in.fields[:from]
	}
	if !found {
		in.unlisted(mark, std, sink)
	}
}

// unlisted is a program that no table has: what it does is not known. What it
// would run or touch if it were a wrapper is looked at.
func (in *interp) unlisted(mark int, std *input, sink *data) {
	in.res.Unlisted++
	args := in.fields[mark:]
	name := args[0].text
	if strings.IndexByte(name, '/') < 0 {
		in.add(effect.Effect{Kind: effect.Exec, Target: name, Taint: args[0].taint | std.taint, By: name})
	}
	taint := std.taint
	for _, f := range args {
		taint |= f.taint
	}
	in.suspects(mark + 1)
	sink.append(data{effect.Unknown, taint})
}

// suspects walks what an unknown wrapper may run: each word from which on the
// words are a command that a table knows to do harm. Its effects are partial.
func (in *interp) suspects(from int) {
	if in.level > in.lim.Nesting {
		return
	}
	n := len(in.fields)
	for i := from; i < n && i < from+8; i++ {
		f := in.fields[i]
		if f.text == "" || f.text[0] == '-' || strings.IndexByte(f.text, '=') > 0 {
			continue
		}
		if strings.ContainsAny(f.text, " ;|&\n") && n-i <= 2 && !strings.Contains(f.text, "://") {
			in.maybeShell(f.data)
			continue
		}
		if in.Table.Plausible(f.text) == nil || i == n-1 {
			continue
		}
		in.level++
		before := len(in.res.Effects)
		mark := len(in.fields)
		in.fields = append(in.fields, in.fields[i:n]...)
		in.run(mark, &input{}, nil, false)
		in.fields = in.fields[:mark]
		in.level--
		if !slices.ContainsFunc(in.res.Effects[before:], harms) {
			in.res.Effects = in.res.Effects[:before] // the words of a subcommand that is called so: tomb dig x
			continue
		}
		for j := before; j < len(in.res.Effects); j++ {
			in.res.Effects[j].Bits |= effect.Partial
		}
		return
	}
}

// harms reports whether an effect is one for which a program that nobody knows
// is taken for a wrapper.
func harms(e effect.Effect) bool {
	switch e.Kind {
	case effect.Read, effect.NetIn, effect.NetOut, effect.Write:
		return e.Taint&(effect.Secret|effect.Network|effect.Decoded) != 0
	default: // nothing for the others
	}
	return true
}

// maybeShell walks a word that looks like a command line and that an unknown
// program got as its last.
func (in *interp) maybeShell(d data) {
	if len(d.text) > 4096 || !d.known() {
		return
	}
	first, _, _ := strings.Cut(strings.TrimSpace(d.text), " ")
	if p := in.Table.Find(first); p == nil && builtinOf(first) == nil {
		return
	}
	before := len(in.res.Effects)
	in.level++
	in.sub(d, "argument of an unknown program", &input{}, nil)
	in.level--
	for j := before; j < len(in.res.Effects); j++ {
		in.res.Effects[j].Bits |= effect.Partial
	}
}
