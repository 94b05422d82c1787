package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// The tables say what the words of a program mean, but no table has every flag that names an
// output file, nor the command languages of databases and editors. So file names in the words of
// a command are noted wherever no effect accounts for them.

const (
	maxMentions  = 64       // per text
	maxMentioned = 64 << 10 // the longest word that is scanned, in bytes
)

// readers are programs that only read the files that their operands name.
var readers = wordset.Of(section("readers"))

// tellers are programs whose arguments are mostly text for people and services, such as issue
// trackers.
var tellers = wordset.Of(`gh glab hub tea bd jira linear slack acli`)

// writesTo are the flags of readers, and of git, that name an output file.
var writesTo = wordset.Of(`--output --output-file --out --log-file --logfile --LOG-FILE --file --output-directory
	--outdir`)

// mentions notes the files that the words of a command name, and those that its input names if
// the input is code, unless an effect accounts for them. by is the [agentcli.ProgramName] of the
// command. The effects of the command start at index from.
func (pr *programRunner) mentions(argv []string, by string, from int, p *grammar.Parsed, std *input) {
	if pr.in.ctx.Written || pr.in.rep.bits&effect.Remote != 0 || p.Dry {
		return
	}
	hidden := strings.Contains(pr.in.cwd.dir, "/.") || strings.HasPrefix(pr.in.cwd.dir, "/etc")
	fed := std.present && len(std.text) < maxMentioned && (feeds[by] || hasRole(p.Stdin, grammar.Code, grammar.Sql))
	if !hidden && !slices.ContainsFunc(argv[1:], hint) && (!fed || !hint(std.text)) {
		return // the common case
	}
	m := mentioner{in: pr.in, by: by, hidden: hidden, odd: p.Odd}
	m.setKind(argv)
	m.fills(argv)
	for i := 1; i < len(argv); i++ {
		if w := argv[i]; len(w) > 3 && len(w) <= maxMentioned && !m.quiet(argv, i, p) {
			m.scan(w)
			m.writesInto(argv[i-1], w)
		}
	}
	if fed && !m.reads {
		m.scan(std.text)
	}
	m.joined()
	m.tell(from)
}

// settingNames are parts of the names of settings files and of approver's sockets.
var settingNames = strings.Fields(section("setting names"))

// settingsFrom maps a first byte to the setting names that begin with it.
var settingsFrom = func() (t [256][]string) {
	for _, name := range settingNames {
		t[name[0]] = append(t[name[0]], name)
	}
	return t
}()

// hint reports whether a word may name a protected file: it contains a hidden name, or part of
// the name of a settings file.
func hint(w string) bool {
	if len(w) < 5 {
		return false
	}
	if len(w) <= 64 { // the common case: one pass over the bytes is fastest
		for i := 0; i < len(w)-3; i++ {
			c := w[i]
			if c == '.' && startsHidden(w, i) {
				return true
			}
			for _, name := range settingsFrom[c] {
				if name[1] == w[i+1] && strings.HasPrefix(w[i:], name) {
					return true
				}
			}
		}
		return false
	}
	for at := 0; ; at++ {
		i := strings.IndexByte(w[at:], '.')
		if i < 0 {
			break
		}
		if at += i; startsHidden(w, at) {
			return true
		}
	}
	return wordset.ContainsAny(w, settingNames...)
}

// startsHidden reports whether the dot at index i begins a hidden name.
func startsHidden(w string, at int) bool {
	return at+3 < len(w) && startsName(w[at+1]) && (at == 0 || !isName(w[at-1]))
}

func startsName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '*' || c == '?' || c == '['
}

func isName(c byte) bool {
	return startsName(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == ')' || c == ']' || c == '.'
}

// isPathByte reports whether a byte may occur in an unquoted path.
func isPathByte(c byte) bool {
	return isName(c) && c != ')' || c == '/' || c == '~' || c == '+' || c == 0 || c >= 0x80
}

// mentioner collects the paths that one command names.
type mentioner struct {
	in     *interp
	by     string
	odd    bool // the command has a flag that its table does not list
	reads  bool // the program is a reader: only flags that write count
	tells  bool // its arguments are text for people
	git    string
	hidden bool // the working directory is hidden or below /etc
	paths  []string
	counts []int
	bases  []string // file names without a directory
	dirs   []string // hidden directories
}

// setKind classifies the program of the command.
func (m *mentioner) setKind(argv []string) {
	m.reads = readers[m.by]
	m.tells = tellers[m.by] || len(agentcli.Named(m.by)) > 0
	switch m.by {
	case "git":
		for i := 1; i < len(argv) && m.git == ""; i++ {
			if w := argv[i]; w == "-C" || w == "-c" {
				i++
			} else if w != "" && w[0] != '-' {
				m.git = w
			}
		}
		m.reads = !wordset.Has("bundle config format-patch archive fast-export hash-object", m.git)
	case "prettier", "eslint", "biome", "taplo", "yq", "dprint", "json_pp", "jsonschema", "black", "ruff":
		m.reads = !slices.ContainsFunc(argv, func(w string) bool {
			return wordset.Has("--write -w -i --inplace --fix -o --output-file --in-place fmt", w) ||
				w == "format" && m.by != "prettier"
		})
	case "bash", "sh", "zsh", "dash", "ksh":
		m.reads = slices.Contains(argv, "-n")
	}
}

// quiet reports whether a word names no file that could be written.
func (m *mentioner) quiet(argv []string, i int, p *grammar.Parsed) bool {
	w := argv[i]
	if m.tells {
		before := argv[i-1]
		return !writesTo[before] && before != "-O" && before != "-D" && before != "--dir"
	}
	if m.reads {
		flag, _, valued := strings.Cut(w, "=")
		before := argv[i-1]
		switch {
		case m.git != "" && before == "-c":
			return !strings.HasPrefix(w, "trace2.") && !strings.HasPrefix(w, "core.trace")
		case valued && writesTo[flag], writesTo[before]:
			return m.git != "" && (flag == "--file" || before == "--file")
		case m.by == "less":
			return !strings.HasPrefix(w, "-o") && !strings.HasPrefix(w, "-O") && before != "-o" && before != "-O"
		}
		return true
	}
	for j := range p.Uses {
		u := &p.Uses[j]
		covers := u.Word == i || u.Word >= 0 && u.Word <= i && i < u.End
		if !covers {
			continue
		}
		switch u.Role {
		case grammar.Shell, grammar.Argv, grammar.Args, grammar.Send, grammar.Dir:
			return true
		case grammar.Env:
			return !buildsWithWords[m.by]
		default: // the other roles may name files
		}
	}
	if at := strings.Index(w, "://"); at > 0 && at < 12 && !strings.ContainsAny(w[:at], "/ '\"") {
		return !m.mirrors(argv)
	}
	return false
}

// buildsWithWords are the programs that pass NAME=VALUE to rules, which may write to the file
// that VALUE names.
var buildsWithWords = wordset.Of("make gmake bmake remake just task ninja")

// looks are the functions that only ask whether a file exists, or how large it is.
var looks = strings.Fields(section("look-ups"))

// asked reports whether the text before a name is a call that only asks about the file.
func asked(before string) bool {
	before, ok := strings.CutSuffix(strings.TrimRight(before, "\"'"), "(")
	return ok && slices.ContainsFunc(looks, func(look string) bool { return strings.HasSuffix(before, look) })
}

// mirrors reports whether a program creates files that are named after parts of a URL.
func (m *mentioner) mirrors(argv []string) bool {
	return m.by == "httrack" || (m.by == "wget" || m.by == "wget2") &&
		hasFlag(argv, "xrmp", "--force-d", "--mirror", "--recursive", "--page-req")
}

// compressed are the suffixes that decompression removes from a file name.
var compressed = strings.Fields(section("packed endings"))

// scan collects the file names in a word.
func (m *mentioner) scan(w string) {
	for i := 0; i < len(w); {
		if !isPathByte(w[i]) {
			i++
			continue
		}
		start := i
		for i < len(w) && isPathByte(w[i]) {
			i++
		}
		token := w[start:i]
		if asked(w[:start]) {
			continue
		}
		if len(token) < 4 || len(token) > 1024 || !m.hidden && !hint(token) {
			continue
		}
		if token[0] == '-' { // -o.claude/x
			if at := strings.IndexAny(token, "./~"); at > 0 {
				token = token[at:]
			}
		}
		if at := strings.Index(token, "//"); at >= 0 && start > 0 && w[start-1] == ':' { // a URL
			if _, path, ok := strings.Cut(token[at+2:], "/"); ok {
				m.addName(path)
				m.addName(path[strings.IndexByte(path, '/')+1:])
			}
			continue
		}
		m.addName(token)
	}
}

// addName notes one file name.
func (m *mentioner) addName(token string) {
	if token == "" || len(m.paths) >= maxMentions {
		return
	}
	for _, ending := range compressed {
		if plain, ok := strings.CutSuffix(token, ending); ok {
			m.add(plain, 2) // an effect on the compressed file does not account for this one
		}
	}
	if base := token[strings.LastIndexByte(token, '/')+1:]; base == token {
		m.bases = append(m.bases, token)
	}
	if dir := strings.TrimSuffix(token, "/"); strings.HasPrefix(dir[strings.LastIndexByte(dir, '/')+1:], ".") {
		m.dirs = append(m.dirs, dir)
	}
	m.add(token, 1)
}

func (m *mentioner) add(token string, n int) {
	p := m.in.fs.expandHome(token)
	if i := slices.Index(m.paths, p); i >= 0 {
		m.counts[i] += n
		return
	}
	m.paths, m.counts = append(m.paths, p), append(m.counts, n)
}

// joined notes paths that are spread over several words of the command: a hidden directory in one
// word and a file name in another, as in -d .claude -o settings.json.
func (m *mentioner) joined() {
	for _, dir := range m.dirs[:min(len(m.dirs), 4)] {
		for _, base := range m.bases[:min(len(m.bases), 8)] {
			if base != dir {
				m.add(dir+"/"+base, 1)
			}
		}
	}
}

// lowOpens are the functions that open a file in a mode that only a number gives.
var lowOpens = wordset.Of("os.open posix.open sysopen IO.sysopen openSync fs.openSync syscall.Open unix.Open")

// makers are programs that make files from other files and never read settings. What the tables
// take for one more input file may be the output file.
var makers = wordset.Of(`gcc g++ cc c++ clang clang++ tsc swc esbuild babel sass dasel ffmpeg protoc rustc javac ld as
	sox convert magick pandoc`)

// feeds are the programs that read commands from their input, which may write files, without a
// table saying so.
var feeds = wordset.Of("ftp lftp ncftp tnftp gnuplot")

// explains reports whether an effect accounts for the file. An execution counts only if the
// program itself runs the file, not if some other language merely resembles shell code.
func (m *mentioner) explains(ef *effect.Effect) bool {
	switch ef.Kind {
	case effect.Exec:
		by, _, _ := strings.Cut(ef.By, " ")
		return agentcli.ProgramName(by) == m.by
	case effect.Read:
		return !lowOpens[ef.By] && !m.odd && !makers[m.by]
	default:
		return true
	}
}

// writesInto notes the settings file in a hidden directory that a flag names as the output
// directory.
func (m *mentioner) writesInto(before, w string) {
	flag, value, ok := strings.Cut(w, "=")
	if !ok {
		flag, value = before, w
	}
	if dir := strings.TrimSuffix(value, "/"); strings.HasPrefix(dir[strings.LastIndexByte(dir, '/')+1:], ".") &&
		strings.HasPrefix(flag, "-") && (strings.Contains(flag, "out") || flag == "-D" && m.by == "gh" || flag == "--dir") {
		m.add(dir+"/settings.json", 1)
	}
}

// folderFillers are programs that fill a given directory without a table saying so. For git, an
// entry is the subcommand.
var folderFillers = wordset.Of(section("folder fillers"))

// renamesMembers reports whether a flag of tar renames the files that it extracts.
func renamesMembers(flag string) bool {
	return wordset.HasAnyPrefix(flag, "--one", "--xf", "--trans")
}

// fills notes the settings files in a hidden directory that a program is told to fill.
func (m *mentioner) fills(argv []string) {
	remote := m.by == "scp" || m.by == "docker" || m.by == "podman" || m.by == "kubectl" || m.by == "rsync"
	clones := m.by == "gh" && slices.Contains(argv, "clone") || m.by == "npm" && slices.Contains(argv, "--prefix")
	if !remote && !clones && !folderFillers[m.by] && (m.by != "git" || !folderFillers[m.git]) {
		return
	}
	if strings.HasPrefix(m.by, "python") && !slices.Contains(argv, "-e") && !slices.Contains(argv, "--extract") {
		return
	}
	if m.git == "worktree" && !slices.Contains(argv, "add") {
		return
	}
	for i, w := range argv[1:] {
		if strings.HasSuffix(m.by, "tar") && !renamesMembers(w) && !renamesMembers(argv[i]) {
			continue
		}
		if _, after, ok := strings.Cut(w, ":"); remote && (!ok || after == "" || i+2 == len(argv)) {
			continue // only copies from the remote side count
		}
		for part := range strings.FieldsFuncSeq(w, func(r rune) bool {
			return r == '=' || r == ',' || r == ':' ||
				r == '|'
		}) {
			dir := strings.TrimSuffix(part, "/")
			if base := dir[strings.LastIndexByte(dir, '/')+1:]; len(base) > 3 && base[0] == '.' && base[1] != '.' {
				m.add(dir+"/settings.json", 1)
				m.add(dir+"/hooks.json", 1)
			}
		}
	}
}

// unpacks adds the writes of programs that extract archives without a table saying so.
func (pr *programRunner) unpacks(argv []string) {
	if len(argv) < 3 || !strings.HasSuffix(argv[0], "jar") && !strings.Contains(argv[0], "python") {
		return
	}
	switch base := agentcli.ProgramName(argv[0]); {
	case base == "jar" && (strings.HasPrefix(strings.TrimPrefix(argv[1], "-"), "x") || argv[1] == "--extract"):
		pr.in.add(effect.Effect{Kind: effect.Write, Target: pr.in.cwd.dir, Bits: effect.Append, By: base})
	case len(argv) > 4 && strings.HasPrefix(base, "python") && argv[1] == "-m":
		if extracts := argv[3] == "-e" || argv[3] == "--extract"; extracts && (argv[2] == "tarfile" || argv[2] == "zipfile") {
			dir := pr.in.cwd.dir
			if len(argv) > 5 {
				dir = pr.in.fs.expandHome(argv[5])
			}
			pr.in.add(effect.Effect{Kind: effect.Write, Target: dir, Bits: effect.Append, By: "extractall"})
		}
	}
}

// tell adds the paths that are named more often than effects account for.
func (m *mentioner) tell(from int) {
	in := m.in
	for i, p := range m.paths {
		told := 0
		for j := min(from, len(in.rep.res.Effects)); j < len(in.rep.res.Effects); j++ {
			if ef := &in.rep.res.Effects[j]; ef.Target == p && m.explains(ef) {
				told++
			}
		}
		mention := Mention{Path: p, By: m.by}
		if p != "" && m.counts[i] > told && len(in.rep.res.Mentions) < maxMentions &&
			!slices.Contains(in.rep.res.Mentions, mention) {
			in.rep.res.Mentions = append(in.rep.res.Mentions, mention)
		}
	}
}
