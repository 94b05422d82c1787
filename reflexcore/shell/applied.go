package shell

import (
	"cmp"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// asksHelp reports whether a command consists only of the words of its program and a flag that
// asks for help: it has no operand to act on. Shells take -h for another flag and then run their
// input, and programs that stop the host may stop it.
func (l *commandLine) asksHelp(fed bool) bool {
	switch l.argv[len(l.argv)-1] {
	case "-h", "-help", "--help", "--version":
	default:
		return false
	}
	if len(l.argv) < 2 || l.p.Program.Words() != len(l.argv)-1 || fed && len(l.p.Stdin) > 0 {
		return false
	}
	return !slices.ContainsFunc(l.p.Uses, func(u grammar.Use) bool { return u.Role == grammar.Kill && u.Arg == "host" })
}

// runsText reports whether a command gets code beside a flag that asks for help: shells and env run it, and may say
// what they are for as well.
func (l *commandLine) runsText() bool {
	asked := slices.ContainsFunc(l.argv[1:], func(w string) bool { return wordset.Has("-h --help -help --version", w) })
	return asked && slices.ContainsFunc(l.p.Uses, func(u grammar.Use) bool {
		return u.Role == grammar.Shell || u.Role == grammar.Code || u.Role == grammar.Argv && u.Word < 0
	})
}

// take takes over the next command.
func (a *applied) take(in *interp, argv []string, mark int, std *input, by string) {
	a.application = application{in: in, line: commandLine{&a.parsed, argv, by}, mark: mark, std: std}
}

// field is the word that a use is about.
func (a *application) field(u *grammar.Use) field {
	f := a.in.exp.fields[a.mark+u.Word]
	f.text = u.Text
	return f
}

// words are all words of the command.
func (a *application) words() []field { return a.in.exp.fields[a.mark : a.mark+len(a.line.argv)] }

// bitsOf returns the bits of an effect on the word of a use.
func (a *application) bitsOf(u *grammar.Use) effect.Bits {
	b := u.Bits | a.bits | a.line.p.Bits
	if u.Word >= 0 && u.Word < len(a.line.argv) {
		f := a.in.exp.fields[a.mark+u.Word]
		if f.glob {
			b |= effect.Glob
		}
		if f.splits {
			b |= effect.Splits
		}
		if a.shown(&f) {
			b |= effect.Filled
		}
		// A partly unknown other word does not make the delete of this one uncertain.
		if a.line.p.Program.Name == "rm" && u.Role == grammar.Delete && f.known() && !f.splits && u.Bits&effect.Partial == 0 {
			b &^= effect.Partial
		}
	}
	return b
}

// pathOf is the path that a use names.
func (a *application) pathOf(u *grammar.Use) string {
	if u.Word < 0 {
		if strings.IndexByte(u.Arg, ':') > 1 {
			return u.Arg // not a path: secret:aws
		}
		return a.in.fs.expandHome(u.Arg)
	}
	return a.in.fs.expandHome(u.Text)
}

func isStdin(p string) bool {
	return p == "-" || p == "/dev/stdin" || p == "/dev/fd/0" || p == "/proc/self/fd/0"
}

func (a *application) add(k effect.Kind, u *grammar.Use, target string, taint effect.Taint) {
	if a.line.p.Dry {
		return
	}
	e := effect.Effect{Kind: k, Target: target, Bits: a.bitsOf(u), Taint: taint, By: a.line.by}
	if u.Word >= 0 {
		e.What = u.Arg
	}
	if k == effect.Discard {
		e.Dir = a.gitFolder()
	}
	a.in.add(e)
}

// removesBox reports whether a command removes containers by their ids.
func (l *commandLine) removesBox() bool {
	program, verb, _ := strings.Cut(l.by, " ")
	return wordset.Has("docker podman nerdctl", program) &&
		wordset.Has("rm remove", strings.TrimPrefix(verb, "container ")) &&
		!slices.ContainsFunc(l.argv[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") && !wordset.Has("-f --force -v --volumes -fv -vf", w)
		})
}

// programAndVerb are the name of the program and the last word of its subcommand.
func (l *commandLine) programAndVerb() (program, verb string) {
	program, verb, _ = strings.Cut(l.by, " ")
	return program, verb[strings.LastIndexByte(verb, ' ')+1:]
}

// remoteDelete adds what is deleted elsewhere.
func (a *application) remoteDelete(u *grammar.Use, target string, taint effect.Taint) {
	from := len(a.in.rep.res.Effects)
	a.add(effect.RemoteDelete, u, target, taint)
	added, what := a.in.rep.res.Effects[from:], ""
	switch {
	case len(added) == 0:
	case a.rebuilt(target):
		what = effect.Rebuilt
	case target == effect.Unknown && u.Word >= 0 && a.field(u).box && a.line.removesBox():
		what = effect.Named
	case a.ofProduction(target):
		what = effect.Production
	default:
		what = a.scratch(target, "")
		if what != "" && target == "volumes" && a.isCompose() {
			if added[0].Dir = a.composeFile(what == effect.Named); added[0].Dir == "" {
				what = effect.Scratch
			}
			if what == effect.Scratch && a.ownCompose() {
				a.in.rep.down = composeDown{a.in.cwd.dir, from}
			}
		}
	}
	for i := range added {
		added[i].What = cmp.Or(what, added[i].What)
	}
}

// gitFolder is the folder in which a git command acts. It is empty if that may be another one than
// the working directory of the command.
func (a *application) gitFolder() string {
	elsewhere := func(w string) bool {
		return wordset.HasAnyPrefix(w, "--git-d", "--work-t", "--name") || w == "-c" || !effect.IsKnown(w)
	}
	words := a.line.argv
	if i := slices.Index(words, "reset"); a.line.by == "git reset" && i > 0 {
		words = words[:i] // behind it are options of reset, and commits
	}
	if slices.ContainsFunc(gitFolders, a.in.vars.isGiven) || slices.ContainsFunc(words, elsewhere) {
		return ""
	}
	return a.in.cwd.dir
}

// gitFolders are the variables that make git use other folders.
var gitFolders = strings.Fields("GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR")

// secrets is the taint that a command may carry elsewhere: that of its words, and of the data that
// it sends.
func (a *application) secrets() effect.Taint {
	var t effect.Taint
	for i := range a.line.argv {
		t |= a.in.exp.fields[a.mark+i].taint
	}
	if hasRole(a.line.p.Uses, grammar.SendFile, grammar.Send) {
		t |= a.taint
	}
	if hasRole(a.line.p.Stdin, grammar.Send) {
		t |= a.std.taint
	}
	return t
}

// borrow returns the memory for one command. Commands nest, so several may be in use.
func (pr *programRunner) borrow() *applied {
	if n := len(pr.spare); n > 0 {
		a := pr.spare[n-1]
		pr.spare = pr.spare[:n-1]
		return a
	}
	a := &applied{}
	a.notes.application, a.lists.application = &a.application, &a.application
	return a
}

// giveBack clears the memory of a command and keeps it for the next one.
func (pr *programRunner) giveBack(a *applied) {
	if len(pr.spare) < 32 {
		clear(a.parsed.Uses)
		clear(a.notes.origins)
		a.notes.origins, a.application = a.notes.origins[:0], application{}
		pr.spare = append(pr.spare, a)
	}
}

// hasRole reports whether there is a use of one of those roles.
func hasRole(uses []grammar.Use, roles ...grammar.Role) bool {
	return slices.ContainsFunc(uses, func(u grammar.Use) bool { return slices.Contains(roles, u.Role) })
}

// uses returns the uses with a role that belong to a word of the command.
func (l *commandLine) uses(role grammar.Role) iter.Seq[*grammar.Use] {
	return func(yield func(*grammar.Use) bool) {
		for i := range l.p.Uses {
			if u := &l.p.Uses[i]; u.Role == role && u.Word >= 0 && !yield(u) {
				return
			}
		}
	}
}

// isFind reports whether a command is find.
func (l *commandLine) isFind() bool { return l.p.Program != nil && l.p.Program.Name == "find" }

// joined is the text of a use that may span several words.
func (a *application) joined(u *grammar.Use) data {
	if u.End <= u.Word+1 {
		return a.field(u).data
	}
	fields := a.in.exp.fields[a.mark+u.Word : a.mark+u.End]
	if p := a.line.p.Program; p != nil && p.Name == "tmux send-keys" {
		return typed(a.line.argv[:u.Word], fields)
	}
	return words(fields)
}

// typed is the text of what tmux types, one argument right behind the other. A line ends where Enter is
// pressed. Arguments without any blank are taken for the words of a command all the same. With the flag -H,
// each is the number of a letter.
func typed(flags []string, fields []field) data {
	keys := slices.Clone(fields)
	if slices.ContainsFunc(flags, func(w string) bool { return len(w) > 1 && w[0] == '-' && strings.Contains(w, "H") }) {
		for i := range keys {
			if n, err := strconv.ParseUint(strings.TrimPrefix(keys[i].text, "0x"), 16, 21); err == nil {
				keys[i].text = strings.ReplaceAll(string(rune(n)), "\r", "\n")
			} else {
				keys[i].text = effect.Unknown
			}
		}
		return join(dataOf(keys), "")
	}
	for i := range keys {
		switch strings.ToLower(keys[i].text) {
		case "enter", "kpenter", "c-m", "c-j":
			keys[i].text = "\n"
		case "space", "tab", "c-c", "c-d", "c-l", "c-u", "escape":
			keys[i].text = " "
		}
	}
	if d := join(dataOf(keys), ""); strings.ContainsAny(strings.TrimSpace(d.text), " \t") {
		return d
	}
	return words(keys)
}

// wordsAfter are the words after those of a use.
func (a *application) wordsAfter(u *grammar.Use) []field {
	from := min(a.mark+max(u.End, u.Word+1), len(a.in.exp.fields))
	to := min(a.mark+len(a.line.argv), len(a.in.exp.fields))
	if from >= to {
		return nil
	}
	return a.in.exp.fields[from:to]
}

// shown reports whether an operand of rm begins with a folder that a guard shows to be nonempty,
// and nothing in the call says that it may be the root.
func (a *application) shown(f *field) bool {
	return f.filled && a.line.p.Program.Name == "rm" && !a.in.src.mayRoot() && effect.IsKnown(a.line.argv[0])
}

// clears reports whether a program withholds, or may withhold, part of its environment from what
// it starts.
func (l *commandLine) clears() bool {
	switch l.p.Program.Name {
	case "sudo", "doas", "su", "runuser", "pkexec", "setpriv", "machinectl", "systemd-run":
		return true
	case "env":
		return hasFlag(l.argv, "", "-")
	}
	return false
}

// findsAll reports whether a pattern of pkill, or of killall -r, matches every process: it matches
// the empty string, or pkill -v inverts it.
func (l *commandLine) findsAll(word int, pattern string) bool {
	name := agentcli.ProgramName(l.argv[0])
	if word < 1 || name != "pkill" && name != "killall" || len(pattern) > 64 || !effect.IsKnown(pattern) {
		return false
	}
	flag := func(letter byte, long string) bool {
		return slices.ContainsFunc(l.argv[1:], func(w string) bool {
			return w == long || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ToUpper(w) != w &&
				strings.IndexByte(w, letter) > 0
		})
	}
	if name == "killall" && !flag('r', "--regexp") {
		return false
	}
	if name == "pkill" && (flag('v', "--inverse")) {
		return true
	}
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString("")
}

// asksSetting reports whether a command reads an .env file without showing a secret in it: grep
// for a name that no secret has, grep -q or -c for the whole name of any variable, or wc. Its
// output still has the taint of that file, wherever it goes.
func (l *commandLine) asksSetting(u *grammar.Use, list []field) bool {
	if u.Word < 0 {
		return false
	}
	switch l.by {
	case "grep", "egrep", "fgrep", "wc":
	default:
		return false
	}
	if name := path.Base(u.Text); name != ".env" && !strings.HasPrefix(name, ".env.") {
		return false
	}
	var words [2]string
	n, quiet := 0, false
	for i, w := range l.argv[1:] {
		switch {
		case list[i+1].glob || list[i+1].splits:
			return false
		case l.by == "wc":
			if strings.HasPrefix(w, "--") {
				return false
			}
		case len(w) > 1 && w[0] == '-':
			if strings.Trim(w[1:], "qcnosEFhHwx") != "" {
				return false
			}
			quiet = quiet || strings.ContainsAny(w, "qc")
		case n == len(words):
			return false
		default:
			words[n] = w
			n++
		}
	}
	if l.by == "wc" {
		return true
	}
	return n == 2 && words[1] == u.Text && (quiet && wholeName().MatchString(words[0]) || isHarmlessName(words[0]))
}

// wholeName matches a pattern that finds a variable by its name alone. With a part of the value in
// the pattern, the value could be guessed.
var wholeName = lazyregexp.New(`^\^[A-Za-z_]\w*=$`)

// secretParts are parts of the names of variables that hold a secret, or the place of one.
var secretParts = strings.Fields("KEY TOKEN SECRET PASS PWD CRED AUTH PRIVATE SALT DSN UR CERT SESSION COOKIE SIGN")

// isHarmlessName reports whether a pattern finds only the line of a variable whose name shows that
// it is no secret. The pattern must have the whole name, or at least three words of it.
func isHarmlessName(pattern string) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "=")
	if !wholeName().MatchString(pattern) && strings.Count(name, "_") < 2 ||
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return false
	}
	last := name[strings.LastIndexByte(name, '_')+1:]
	return !wordset.ContainsAny(name, secretParts...) && wordset.Has(`REGION PORT HOST ENV ENVIRONMENT DEBUG LEVEL TIMEOUT
		TZ TIMEZONE LOCALE MODE VERSION ENABLED DISABLED`, last)
}
