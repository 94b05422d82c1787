package agenttexts

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file judges the prompt of a Claude Code that a command starts: a word of the command, or its
// standard input. A prompt that begins with a slash loads a text.

// given is what is known about the command that contains a start.
type given struct {
	reads  []effect.Effect // of all of it
	before []shell.Step    // the commands in front of the start
	steps  []shell.Step    // all commands
	at     int             // the start among them

	slashes [][]string // the names of commands in the text of the call, as slashName finds them
	splits  bool       // the text has what makes words of one
}

const (
	maxGiven  = 16 // texts that are looked at which a command may give a Claude Code
	maxStarts = 64 // starts of one call that are looked at
)

// slashName matches a slash command in the text of a shell command.
var slashName = lazyregexp.New(`(?:^|[\s'"<=(n\\])/([\w:.-]+)(?:[ \t]+([^\n'"|;&<>]*)|[\n'"|;&<>)\\]|$)`)

// slashLine matches a slash command at the beginning of a line.
var slashLine = lazyregexp.New(`(?m)^[ \t]*/([\w:.-]+)(?:[ \t]+(.*))?$`)

// flagWord matches what may be a flag in a text, and splitWord what splits a text into words.
var (
	flagWord  = lazyregexp.New(`(?m)(^|[ \t])(--?[A-Za-z][^\s]*)`)
	splitWord = lazyregexp.New("xargs|parallel|(?:^|[^\"])(?:\\$\\(|\x60)|\\$\\w+")
)

// typedName returns the name of the slash command at the beginning of a prompt, and the words after
// it.
func typedName(prompt string) (name, args string, ok bool) {
	typed, command := strings.CutPrefix(prompt, "/")
	name, args, _ = strings.Cut(typed, " ")
	ok = command && name != "" && len(name) <= maxName && !strings.ContainsAny(name, "/*") && effect.IsKnown(name)
	return name, args, ok
}

// loadTyped loads the text that a prompt names.
func (l *loader) loadTyped(name, args string) {
	_, err := l.Analyzer.Files.Lstat("/" + name)
	typed := l.typed
	if args = strings.TrimSpace(args); args != l.args {
		l.args = args
		clear(l.done) // another text comes out
	}
	l.typed = !l.elsewhere || err == nil
	l.one(false, name)
	l.typed = typed
}

// given judges the prompt of a start: names in the text of the call, the files that it reads, and
// its words and standard input, as far as they are known. If the beginning of the prompt is
// unknown, it may be any name.
func (l *loader) given(s *shell.Step, g *given) {
	for _, m := range g.slashes {
		l.loadTyped(m[1], m[2])
	}
	sure, flags := l.readsAll(g)
	prompt, inWords := promptOf(s.Argv[1:])
	streams := slices.ContainsFunc(s.Argv, func(w string) bool { return strings.HasPrefix(w, "--input-format") })
	input := strings.TrimLeft(trimScript(s.Input), "\ufeff")
	switch {
	case inWords:
		l.judgeBegin(s, prompt, s.Fed && s.Input != "", sure && !flags)
	case !s.Fed || input == "":
	case streams && !effect.IsKnown(input):
		l.Unseen(promptOfStart(s))
	default:
		l.judgeBegin(s, input, false, sure)
	}
}

// judgeBegin judges a prompt by its beginning. more says that unknown words follow.
func (l *loader) judgeBegin(s *shell.Step, prompt string, more, sure bool) {
	prompt = trimScript(prompt)
	switch {
	case strings.HasPrefix(prompt, effect.Unknown) && !sure:
		l.Unseen(promptOfStart(s))
	case !strings.HasPrefix(prompt, "/"):
	case more || !effect.IsKnown(prompt):
		name, _, _ := strings.Cut(strings.Join(strings.Fields(prompt[1:]), " "), " ")
		if !effect.IsKnown(name) {
			if !strings.Contains(name[:strings.Index(name, effect.Unknown)], "/") { // else a path
				l.Unseen(promptOfStart(s))
			}
			return
		}
		l.loadTyped(name, anyArguments)
	default:
		if name, args, ok := typedName(strings.Join(strings.Fields(prompt), " ")); ok {
			l.loadTyped(name, args)
		}
	}
}

// anyArguments stands for unknown arguments.
const anyArguments = effect.Unknown

// promptOfStart names an unknown prompt.
func promptOfStart(s *shell.Step) string { return s.Argv[0] + " with a prompt that is not known" }

// printers are programs that print their arguments or a file, or run a command with them.
var printers = wordset.Of(`cat head tail tee echo printf cd pwd mkdir export set sleep read mapfile readarray exec
	timeout env xargs test [ : true`)

// readsAll judges the names in the files that a call reads. It reports whether nothing else can
// reach the Claude Code after them, and whether the files contain flags that are not harmless.
func (l *loader) readsAll(g *given) (all, flags bool) {
	read, sure := 0, true
	for i := range g.before {
		s := &g.before[i]
		if len(s.Argv) > 0 && !printers[path.Base(s.Argv[0])] && !agentcli.ClaudeProgram(s.Argv[0]) {
			sure = false
		}
	}
	for i := range g.reads {
		at := g.reads[i].Target
		if g.reads[i].Kind != effect.Read {
			continue
		}
		if !strings.HasPrefix(at, "/") || !effect.IsKnown(at) || read == maxGiven {
			sure = false
			continue
		}
		read++
		b, err := l.Analyzer.Files.ReadFile(l.follow(at), maxSearched)
		if errors.Is(err, fs.ErrNotExist) {
			continue // nothing is read
		}
		if err != nil {
			sure = false
			continue
		}
		text := trimScript(string(b))
		if name, args, ok := typedName(strings.Join(strings.Fields(text), " ")); ok {
			l.loadTyped(name, args)
		}
		for _, m := range flagWord().FindAllStringSubmatch(text, -1) {
			flags = flags || (g.splits || m[1] == "") && !agentcli.PlainClaudeFlag(m[2])
		}
		for _, m := range slashLine().FindAllStringSubmatch(text, maxGiven) {
			l.loadTyped(m[1], m[2])
		}
	}
	return sure && read > 0, flags
}

// promptOf returns the word of a start that is its prompt. False: there is none, or it is not
// known, and the standard input is the prompt.
func promptOf(words []string) (string, bool) {
	skip := agentcli.TakesNone
	for i, word := range words {
		switch {
		case word == "--":
			if i+1 < len(words) {
				return words[i+1], words[i+1] != ""
			}
			return "", false
		case len(word) > 1 && word[0] == '-':
			skip = agentcli.ClaudeTakes(word)
			if strings.Contains(word, "=") {
				skip = agentcli.TakesNone
			}
		case skip == agentcli.TakesOne, skip == agentcli.TakesMaybe:
			skip = agentcli.TakesNone
		case skip == agentcli.TakesNone:
			return word, word != "" && word != "-"
		}
	}
	return "", false
}

// addedFolders returns the folders that the words of a start add.
func addedFolders(words []string, dir string) (out []string) {
	adds := false
	for _, word := range words {
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case flag == "--add-dir" && joined:
			out = append(out, disk.Absolute(value, dir))
		case strings.HasPrefix(word, "-"):
			adds = word == "--add-dir"
		case adds:
			out = append(out, disk.Absolute(word, dir))
		}
	}
	return out
}
