package shell

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	location "approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// unknownProgram walks a command whose name is unknown.
func (pr *programRunner) unknownProgram(mark int, std *input, sink *data) {
	pr.in.rep.res.Opaque++
	pr.in.rep.noteOddity(NameUnknown, effect.Show(pr.in.exp.fields[mark].text))
	args := pr.in.exp.fields[mark:]
	e := effect.Effect{Kind: effect.Exec, Target: args[0].text, Taint: args[0].taint | std.taint, Bits: effect.Partial}
	if args[0].isUnnamed() && (!args[0].isOneOfOwn() || !pr.in.fs.isUntouched(args[0].text)) {
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

// isOneOfOwn reports whether a word is the path of a program below the working directory of which only the end of the
// name is not known, as in ./bin/tool-$(uname -m): the value cannot lead elsewhere, unless a folder is called like the
// beginning of that name.
func (f *field) isOneOfOwn() bool {
	const counts = effect.File | effect.Secret | effect.Network | effect.Decoded
	known, _, _ := strings.Cut(f.text, effect.Unknown)
	folder, name := path.Split(known)
	return f.taint&counts == 0 && folder != "" && folder[0] != '/' && folder[0] != '~' && len(name) > 1 &&
		!strings.Contains(f.text, "..") && !strings.Contains(f.text[len(known):], "/")
}

// isUntouched reports whether a path that is not known is in the project, and the text has written no file and unpacked
// nothing there.
func (fsys *filesystem) isUntouched(p string) bool {
	p = fsys.abs(p)
	return within(p, fsys.in.ctx.Dir) && len(fsys.list) == 0 && fsys.under(p) == 0
}

// wipes reports whether a word is a combination of flags that only rm has.
func wipes(s string) bool {
	return len(s) > 2 && len(s) < 6 && s[0] == '-' && strings.ContainsAny(s, "rR") && strings.Contains(s, "f") &&
		strings.Trim(s[1:], "rRfvdI") == ""
}

// asRemoval walks a command with an unknown name as if it were rm.
func (pr *programRunner) asRemoval(from int) {
	mark := len(pr.in.exp.fields)
	before := len(pr.in.rep.res.Effects)
	pr.in.exp.fields = append(pr.in.exp.fields, pr.in.exp.fields[from:]...)
	pr.in.exp.fields[mark] = field{data: data{text: "rm"}}
	pr.runProgram(mark, &input{}, nil)
	pr.in.exp.fields = pr.in.exp.fields[:mark]
	pr.in.rep.markFrom(before, effect.Partial)
}

// patterns are the programs that a path pattern is matched against.
var patterns = strings.Fields(section("pattern programs"))

// tryPattern walks a command whose program is a pattern, such as /bin/r?, once as each harmful
// program that matches.
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

// unlisted walks a program that is in no table: what it does is unknown. It examines what the
// program would run or touch if it were a wrapper.
func (pr *programRunner) unlisted(mark int, std *input, sink *data) {
	pr.in.rep.res.Unlisted++
	args := pr.in.exp.fields[mark:]
	name := args[0].text
	if strings.IndexByte(name, '/') < 0 {
		runs := std.taint
		if converts(name) {
			runs = 0
		}
		pr.in.add(effect.Effect{Kind: effect.Exec, Target: name, Taint: args[0].taint | runs, By: name})
	}
	taint := std.taint
	for _, f := range args {
		taint |= f.taint
	}
	pr.in.payloads.saysDelete(args[1:], name)
	pr.saysTurn(args)
	pr.saysOutput(args[1:], name, true)
	pr.saysDevice(args[1:], name)
	pr.handsProgram(args)
	if handsShell(args[1:]) {
		pr.in.add(effect.Effect{Kind: effect.Attack, Target: "a shell", What: "shell", Bits: effect.Partial, By: name})
	}
	if i := slices.IndexFunc(args, func(f field) bool { return strings.TrimLeft(f.text, "-") == "hashes" }); i > 0 &&
		i+1 < len(args) && strings.Contains(args[i+1].text, ":") { // it logs in with the hash of a password
		pr.in.add(effect.Effect{Kind: effect.Attack, Target: "accounts", Bits: effect.Partial, By: name})
	}
	if slices.ContainsFunc(args[1:], func(f field) bool { return unchecks(f.text) }) {
		pr.in.add(effect.Effect{Kind: effect.Permission, Target: "agent-approvals", Bits: effect.Partial, By: name})
	}
	if !strings.ContainsAny(name[max(0, len(name)-1):], ",:!") { // sentence punctuation: not a wrapper
		pr.suspects(mark + 1)
		pr.saysCode(pr.in.exp.fields[mark:])
	}
	sink.add(data{effect.Unknown, taint})
}

// formats are those of data, by which programs are named that turn one into another.
var formats = wordset.Of(section("formats"))

// converts reports whether the name of a program says that it turns data into other data, as xml2json does.
// Such a program reads its input; whatever else has an unknown name may run it.
func converts(name string) bool {
	from, to, ok := strings.Cut(name, "2")
	if !ok {
		from, to, ok = strings.Cut(name, "-to-")
	}
	return ok && formats[from] && formats[to]
}

// saysTurn reads the words of an unknown program as those of a cloud: reset-password, dns record create. A
// script of the project means its own things by them.
func (pr *programRunner) saysTurn(args []field) {
	name := args[0].text
	if strings.IndexByte(name, '/') >= 0 || len(args) < 2 {
		return
	}
	words := len(pr.words)
	pr.words = append(pr.words, "=turns")
	for _, f := range args[1:] {
		pr.words = append(pr.words, f.text)
	}
	a := pr.borrow()
	pr.in.Table.Parse(pr.words[words:], &a.parsed)
	for i := range a.parsed.Uses {
		if u := &a.parsed.Uses[i]; u.Role == grammar.Discard && (!ofAnything(u.Text) || ofCloud(args)) {
			pr.in.add(effect.Effect{Kind: effect.Discard, Target: u.Text, What: u.Arg, Bits: effect.Partial, By: name})
		}
	}
	pr.giveBack(a)
	pr.words = pr.words[:words]
}

// ofAnything reports whether a word of [programRunner.saysTurn] is also one of programs that know no cloud.
func ofAnything(word string) bool {
	return wordset.Has("record records sink sinks forwarding forwarder credential credentials", word) ||
		wordset.ContainsAny(word, "detach", "disassociate", "unassign")
}

// ofCloud reports whether a word of a command is a thing that clouds have.
func ofCloud(args []field) bool {
	return slices.ContainsFunc(args[1:], func(f field) bool {
		return wordset.Has("dns domain domains zone zones volume volumes disk disks policy policies instance address", f.text)
	})
}

// saysDevice notes a disk that an unknown program gets: it may write there. Those that only look are in
// the tables.
func (pr *programRunner) saysDevice(args []field, by string) {
	for _, f := range args {
		at := strings.Index(f.text, "/dev/") // also in --to=/dev/sdb and of=/dev/sdb
		if at == 0 || at > 0 && (f.text[at-1] == '=' || f.text[at-1] == ':') || at == len("-o") && f.text[0] == '-' {
			if p := f.text[at:]; location.IsDisk(p) {
				pr.in.add(effect.Effect{Kind: effect.Attack, Target: p, What: "device", Bits: effect.Partial, By: by})
				return
			}
		}
	}
}

// handsShell reports whether the words of an unknown program are the path of a shell, an address and
// a port: whoever answers there gets the shell.
func handsShell(args []field) bool {
	shell, address, port := false, false, false
	for _, f := range args {
		text := f.text
		if host, number, ok := strings.Cut(text, ":"); ok && isPort(number) {
			text, port = host, true
		}
		_, err := netip.ParseAddr(text)
		address = address || err == nil
		port = port || isPort(text)
		shell = shell || strings.HasPrefix(text, "/") && shellNames[path.Base(text)]
	}
	return shell && address && port
}

// isPort reports whether a word is the number of a port.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// unchecks reports whether a flag tells a program to skip questions and checks. Agents have such
// flags, and there are more agents than any table has.
func unchecks(flag string) bool {
	name, ok := strings.CutPrefix(strings.ToLower(flag), "--")
	if !ok {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	return name == "yolo" || wordset.HasAnyPrefix(name, uncheckedFlags...)
}

// uncheckedFlags are the prefixes of such flags.
var uncheckedFlags = strings.Fields(section("unchecked flags"))

// saysDelete judges an unknown program by the name of its subcommand: delete deletes something,
// usually on a remote system, and disable switches something off. args are the words after the
// program name, and by is that name.
func (pl *payloadRunner) saysDelete(args []field, by string) {
	words := 0
	for i := 0; i < len(args) && words < 2; i++ {
		text := args[i].text
		if text == "" || text[0] == '-' {
			continue
		}
		if i == 0 || !takesValue(args[i-1].text) {
			words++
		} else if words > 0 && strings.ContainsAny(text, "-_") && !strings.HasSuffix(text, "-all") {
			continue // a verb alone is one behind any option
		}
		kind := meant(text)
		if kind == effect.Opaque && isWholly(text, args) {
			pl.in.add(effect.Effect{Kind: effect.RemoteDelete, Target: text, Bits: effect.Partial | effect.Bulk, By: by})
			return
		}
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
			if e.What = "named"; e.Target == text { // mode disable: it concerns the program itself
				return
			}
		}
		pl.in.add(e)
		return
	}
}

// isWholly reports whether a verb that alone says little takes all there is away, by an option of the same
// command: reset --hard, rm --all, uninstall --purge. What is only a cache can be made again.
func isWholly(verb string, args []field) bool {
	verb = strings.ToLower(verb)
	if wordset.Has("factory-reset reset-all remove-all clear-all", verb) {
		return true
	}
	if !wordset.Has("reset rm remove clear flush uninstall revert forget", verb) {
		return false
	}
	all := false
	for _, f := range args {
		if strings.Contains(f.text, "cache") {
			return false
		}
		flag, _, _ := strings.Cut(f.text, "=")
		all = all || wordset.Has("--all --hard --factory --factory-reset --purge --everything --wipe --delete-data", flag)
	}
	return all
}

// takesValue reports whether the word behind this one may be the value of an option, and no verb. An option
// that stands alone in most programs takes none, and that of some says what is done.
func takesValue(option string) bool {
	name, long := strings.CutPrefix(option, "--")
	return long && name != "" && !strings.Contains(name, "=") && !strings.HasPrefix(name, "no-") &&
		!wordset.Has(switches, name) &&
		!wordset.Has("action task operation op do command cmd run exec verb job step mode", name)
}

// switches are the long options that have no value in most programs.
const switches = "force yes verbose debug quiet silent dry-run recursive all json help interactive non-interactive " +
	"assume-yes auto-approve confirm wait watch global purge cascade ignore-not-found insecure color batch"

// meant returns what a subcommand does, judged by the verb at the beginning or the end of its
// name: RemoteDelete, Kill, or Opaque if the name does not say. Some verbs, such as remove, are
// common in package managers and count only with a noun.
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

// flagLetters are the characters in names of flags and variables.
const flagLetters = "-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// suspects walks what an unknown wrapper may run: it looks for the first word that begins a
// command which the tables know to be harmful. The effects are partial.
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
			pr.in.rep.res.Effects = pr.in.rep.res.Effects[:before] // only a subcommand of that name: tomb dig x
			continue
		}
		pr.in.rep.markFrom(before, effect.Partial)
		return
	}
}

// harms reports whether an effect is a reason to take an unknown program for a wrapper.
func harms(e effect.Effect) bool {
	moves := e.Kind == effect.Read || e.Kind == effect.NetIn || e.Kind == effect.NetOut || e.Kind == effect.Write
	return !moves || e.Taint&(effect.Secret|effect.Network|effect.Decoded) != 0
}

// maybeShell walks a word that looks like a command line and that an unknown program got as its
// last word or as the value of a flag.
func (pr *programRunner) maybeShell(d data) {
	if len(d.text) > 4096 || !d.known() {
		return
	}
	first := strings.TrimSpace(d.text)
	if i := strings.IndexAny(first, " ;|&<>\n"); i >= 0 {
		first = first[:i]
	}
	name, _, assigns := strings.Cut(first, "=")
	if p := pr.in.Table.Find(first); p == nil && !builtins[first] && (!assigns || strings.Trim(name, flagLetters) != "") {
		return
	}
	before, inside := len(pr.in.rep.res.Effects), pr.in.payloads.inside
	pr.in.payloads.inside = true
	pr.in.inProcess(func() { pr.in.payloads.sub(d, "argument of an unknown program", &input{}, nil) })
	pr.in.payloads.inside = inside
	pr.in.rep.markFrom(before, effect.Partial)
}
