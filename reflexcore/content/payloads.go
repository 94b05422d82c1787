package content

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// Payloads yields what runs of a content at a path. Content that cannot be read (malformed, over a
// limit) is a payload of which nothing is known. Unknown parts stay as [effect.Unknown].
func Payloads(path, content string, lim Limits, yield func(effect.Payload)) {
	s := Classify(path)
	if s.Prompts() && !IsPrompt(path) {
		s.format = nil
	}
	if s.format == nil && strings.HasPrefix(content, "#!") {
		s.format = formats["script"]
	}
	// A place of which too little is known may run all of it.
	if s.format == nil && s.Kind == Unclear && content != "" {
		yield(effect.Payload{Why: "a file at a place that is not known", Path: path, Later: true})
		return
	}
	if s.format == nil || content == "" {
		return
	}
	x := &extractor{sink: s, path: path, lim: lim, yield: yield}
	if len(content) > lim.Bytes {
		x.hidden("more than is read of a file")
		content = content[:max(lim.Bytes, 0)]
		if s.format.whole {
			return
		}
	}
	s.format.read(x, strings.TrimPrefix(content, "\ufeff"))
}

// An extractor yields the payloads of one content, within limits.
type extractor struct {
	sink  Sink
	path  string
	lim   Limits
	yield func(effect.Payload)
	count int

	contained bool // what is read runs in a container of which no port is published
	image     bool // what is read builds an image
}

func (x *extractor) emit(lang, text, why string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	switch x.count++; {
	case x.count == x.lim.Payloads+1:
		x.yield(effect.Payload{Why: "more parts than are read of a file", Path: x.path, Later: true})
	case x.count > x.lim.Payloads:
	default:
		x.yield(effect.Payload{Lang: lang, Text: text, Why: why, Path: x.path, Later: true,
			Contained: x.contained, Image: x.image})
	}
}

// hidden yields a payload of which nothing is known.
func (x *extractor) hidden(why string) {
	x.yield(effect.Payload{Why: x.sink.Name + ": " + why, Path: x.path, Later: true})
}

// A format is a kind of content, and how the parts of it that run are found.
type format struct {
	read   func(x *extractor, content string)
	lines  bool // there are command lines in it, between other things
	whole  bool // the beginning of a content cannot be read by itself
	prompt bool // it is a text for agents
}

// formats are the formats by their names in the table of places.
var formats = map[string]*format{
	"script":   {read: (*extractor).script},
	"cron":     {read: func(x *extractor, content string) { x.cron(content, 5) }, lines: true},
	"usercron": {read: func(x *extractor, content string) { x.cron(content, 6) }, lines: true},
	"unit":     {read: (*extractor).unit, lines: true},
	"plist":    {read: (*extractor).plist},
	"yaml":     {read: (*extractor).yaml, lines: true, whole: true},
	"git":      {read: (*extractor).git},
	"gitlink":  {read: (*extractor).gitLink},
	"todo":     {read: (*extractor).todo},
	"dotenv":   {read: (*extractor).dotenv},
	"npm":      {read: (*extractor).npm, lines: true, whole: true},
	"json":     {read: (*extractor).json, whole: true},
	"make":     {read: (*extractor).makefile, lines: true},
	"docker":   {read: (*extractor).docker, lines: true},
	"authkey":  {read: (*extractor).authorizedKeys},
	"ssh":      {read: (*extractor).ssh},
	"pth":      {read: (*extractor).pth},
	"udev":     {read: (*extractor).udev},
	"groovy":   {read: (*extractor).groovy, lines: true},
	"toml":     {read: (*extractor).toml, lines: true},
	"prompt":   {read: (*extractor).prompt, prompt: true},
}

// script yields a file that runs as a whole. Its first line says the language, or else its ending.
func (x *extractor) script(content string) {
	lang := x.sink.Lang
	if first, _, _ := strings.Cut(content, "\n"); strings.HasPrefix(first, "#!") {
		if _, command, ok := strings.Cut(first, " -S"); ok { // of env: several words, which may be code
			x.emit(effect.Shell, command+" "+shellJoin([]string{x.path}), "a first line")
		}
		lang = Shebang(first)
		if lang == "" {
			x.hidden("a script in a language that is not known")
			return
		}
	}
	name := x.sink.Name
	if name == "" {
		name = "a script"
	}
	if lang == "" {
		// Without such a first line, a text in a place of programs is for a shell, and other content is
		// binary.
		if strings.IndexByte(content, 0) >= 0 || strings.HasPrefix(content, "\x7fELF") {
			x.hidden("a binary")
			return
		}
		lang = effect.Shell
	}
	x.emit(lang, content, name)
}

// interpreters are languages by the name of their program, without a version.
//
//go:embed interpreters.txt
var interpretersText string

var interpreters = wordset.Index(interpretersText, func(language string) string { return language })

// Interpreter returns the language that a program runs; empty if it is not known.
func Interpreter(program string) string {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	return interpreters[strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.")]
}

// Shebang returns the language in a first line; empty if it is not known.
func Shebang(line string) string {
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	for word := range strings.FieldsSeq(line) {
		name := strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
		if launchers[name] || strings.HasPrefix(name, "-") || strings.Contains(name, "=") {
			continue
		}
		return Interpreter(name)
	}
	return ""
}

// launchers are words of a first line before the interpreter.
var launchers = wordset.Of("env npx bunx pnpx pnpm yarn dlx exec")

// lines calls each with every line. Continued lines are joined by glue, as what reads the file does:
// systemd puts a space in the place of the backslash and the end of the line, others nothing.
func lines(content, glue string, each func(line string)) {
	var joined strings.Builder
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := strings.CutSuffix(line, "\\"); ok {
			joined.WriteString(rest + glue)
			continue
		}
		if joined.Len() > 0 {
			line = joined.String() + line
			joined.Reset()
		}
		each(line)
	}
	if joined.Len() > 0 {
		each(joined.String())
	}
}

// cron reads a table whose lines have a number of fields before the command.
func (x *extractor) cron(content string, fields int) {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		skip := fields
		if line[0] == '@' {
			skip -= 4 // one word stands for the five of the time
		} else if i := strings.IndexByte(line, '='); i > 0 && !strings.ContainsAny(strings.TrimSpace(line[:i]), " \t*") {
			// SHELL=…, PATH=… and their like change what the lines run.
			x.emit(effect.Shell, line, "a cron table's setting")
			continue
		}
		command := skipFields(line, skip)
		// An unescaped % ends the command: the rest is its input.
		for i := 0; i < len(command); i++ {
			if command[i] == '\\' {
				i++
			} else if command[i] == '%' {
				input := strings.ReplaceAll(command[i+1:], "%", "\n")
				command = command[:i] + " <<'CRON_INPUT'\n" + input + "\nCRON_INPUT"
				break
			}
		}
		x.emit(effect.Shell, strings.ReplaceAll(command, `\%`, "%"), "cron line")
	}
}

func skipFields(line string, n int) string {
	for ; n > 0; n-- {
		line = strings.TrimLeft(line, " \t")
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return ""
		}
		line = line[i:]
	}
	return strings.TrimLeft(line, " \t")
}

// unit yields the commands in key=value files of systemd and of desktops.
func (x *extractor) unit(content string) {
	lines(content, " ", func(line string) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !ok || key == "" || key[0] == '#' || key[0] == ';' {
			return
		}
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(key, "exec"), key == "tryexec":
			// - @ : + ! | say how to run it, not what.
			x.emit(effect.Shell, strings.ReplaceAll(strings.TrimLeft(value, "-@:+!|"), "%%", "%"), key+"= of "+x.sink.Name)
		case key == "environment":
			x.emit(effect.Shell, "export "+value, "environment of "+x.sink.Name)
		}
	})
}

// authorizedKeys yields command="…" before a key.
func (x *extractor) authorizedKeys(content string) {
	for line := range strings.Lines(content) {
		low := strings.ToLower(line)
		i := strings.Index(low, `command="`)
		if i < 0 || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		text, _ := quoted(line[i+len(`command=`):])
		x.emit(effect.Shell, text, "forced command of a key")
	}
}

// quoted reads a text in double quotes with backslashes.
func quoted(s string) (text, rest string) {
	if s == "" || s[0] != '"' {
		return "", s
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			return b.String(), s[i+1:]
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// sshCommands are options of ssh and sshd whose value runs.
var sshCommands = wordset.Of(`proxycommand localcommand remotecommand knownhostscommand authorizedkeyscommand
	authorizedprincipalscommand forcecommand xauthlocation pkcs11provider securitykeyprovider subsystem`)

func (x *extractor) ssh(content string) {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		i := strings.IndexAny(line, " \t=")
		if i < 0 || line[0] == '#' {
			continue
		}
		key, value := strings.ToLower(line[:i]), strings.Trim(line[i:], " \t=")
		if strings.HasPrefix(value, `"`) && strings.Count(value, `"`) == 2 && strings.HasSuffix(value, `"`) {
			value = strings.Trim(value, `"`)
		}
		if key == "subsystem" {
			value = skipFields(value, 1)
		}
		switch {
		case key == "match":
			if _, after, ok := strings.Cut(value, "exec "); ok {
				x.emit(effect.Shell, strings.Trim(after, ` "`), "condition of ssh")
			}
		case sshCommands[key] && !strings.EqualFold(value, "none") && value != "internal-sftp":
			x.emit(effect.Shell, value, key+" of ssh")
		}
	}
}

func (x *extractor) pth(content string) {
	for line := range strings.Lines(content) {
		if strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "import\t") {
			x.emit(effect.Python, line, "a line that Python runs at its start")
		}
	}
}

// udev yields the commands in RUN and PROGRAM keys.
func (x *extractor) udev(content string) {
	lines(content, "", func(line string) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			return
		}
		for rest := line; ; {
			i := strings.IndexByte(rest, '"')
			if i < 0 {
				return
			}
			key := strings.TrimSpace(rest[:i])
			key = strings.TrimLeft(key[strings.LastIndexByte(key, ',')+1:], " ")
			var text string
			text, rest = quoted(rest[i:])
			if strings.HasPrefix(key, "RUN") || strings.HasPrefix(key, "PROGRAM") || strings.HasPrefix(key, "IMPORT{program}") {
				x.emit(effect.Shell, text, "a udev rule's program")
			}
		}
	})
}

// shellJoin quotes words for a shell.
func shellJoin(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w != "" && strings.IndexFunc(w, func(r rune) bool {
			return r != '-' && r != '_' && r != '.' && r != '/' && r != ':' && r != '=' && r != ',' && r != '@' && r != '+' &&
				(r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) < 0 {
			b.WriteString(w)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String()
}
