package approver

import (
	"slices"
	"strings"
)

// This file finds the logs that a command merely reads. A log grows while a
// person thinks, so that binding its content would make each approval of
// `tail app.log` void. Everything here is a reason to leave such a file out of
// the fingerprint, so it takes only what is plain to see and gives up at the rest.

// Programs that run nothing of a file that they are given and put it nowhere but
// on their output, whatever their options.
var readers = []string{"cat", "cut", "du", "egrep", "fgrep", "grep", "head", "ls", "nl", "rm", "stat", "tac", "tail", "wc"}

// What may stand before a reader: programs whose name no shell takes for its
// own, and builtins that do not change what a name means. `alias tail=sh` does.
var harmless = []string{
	"cd", "curl", "date", "docker", "echo", "git", "go", "journalctl", "kill", "kubectl", "make", "mkdir", "npm", "podman",
	"pwd", "service", "sleep", "sudo", "systemctl", "touch", "true",
}

// A shellWord is a word of a command that is easy to read.
type shellWord struct {
	text       string // without quotes
	start, end int    // where it is in the command
	quoted     bool
	opaque     bool // it has a variable, a pattern, or quotes around what may be a command
}

// A simpleCommand is what stands between two operators.
type simpleCommand struct {
	words      []shellWord
	redirected bool // to something that is not /dev/null or the other output
	pipes      bool // into the next one
}

func (c simpleCommand) name() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0].text
}

// reads reports whether the command shows what it is given, and no more.
func (c simpleCommand) reads() bool {
	name := c.name()
	for _, dir := range []string{"/usr/bin/", "/bin/"} {
		name = strings.TrimPrefix(name, dir)
	}
	return !c.redirected && slices.Contains(readers, name)
}

// filters reports whether the command passes on what it is piped: options that
// take no file.
func (c simpleCommand) filters() bool {
	if name := c.name(); c.redirected || name != "sort" && name != "uniq" {
		return false
	}
	return !slices.ContainsFunc(c.words[1:], func(w shellWord) bool {
		return len(w.text) < 2 || w.text[0] != '-' || strings.Trim(w.text[1:], "bcdfghiknruV0123456789.,") != ""
	})
}

// leavesNames reports whether names mean the same after the command as before.
func (c simpleCommand) leavesNames() bool {
	name := c.name()
	program := strings.Contains(name, "/") && !strings.Contains(name, "=")
	return program || slices.Contains(harmless, name) || slices.Contains(readers, name) || c.filters()
}

// opaque reports whether the command may lead to a file without naming it.
func (c simpleCommand) opaque() bool {
	return slices.ContainsFunc(c.words, func(w shellWord) bool { return w.opaque })
}

// onlyRead returns the command without the logs that its readers are given, and
// these. A log that the rest names too is bound all the same.
func onlyRead(command string) (rest string, logs []string) {
	if !strings.Contains(command, ".log") {
		return command, nil
	}
	commands, ok := simpleCommands(command)
	if !ok {
		return command, nil
	}
	var kept strings.Builder
	from, known := 0, true // known: a reader's name means the reader
	for i, c := range commands {
		if !known || !c.reads() || !shown(commands[i:]) {
			if c.opaque() {
				return command, nil
			}
			known = known && c.leavesNames()
			continue
		}
		for _, w := range c.words[1:] {
			if strings.HasSuffix(w.text, ".log") {
				kept.WriteString(command[from:w.start])
				from = w.end
				logs = append(logs, w.text)
			}
		}
	}
	kept.WriteString(command[from:])
	return kept.String(), logs
}

// shown reports whether what the first command writes goes through readers and
// filters alone.
func shown(commands []simpleCommand) bool {
	for i, c := range commands {
		if i > 0 && !c.reads() && !c.filters() {
			return false
		}
		if !c.pipes {
			return true
		}
	}
	return false // into nothing
}

// simpleCommands splits a command in which nothing is hidden: no substitution,
// no group, no function, no here-document, no comment, no escape outside quotes.
func simpleCommands(command string) (commands []simpleCommand, ok bool) {
	var c simpleCommand
	some := false // of c was read; not so at a line break behind |
	end := func(pipes bool) {
		if some || pipes {
			c.pipes = pipes
			commands = append(commands, c)
		}
		c, some = simpleCommand{}, false
	}
	for i := 0; i < len(command); {
		rest := command[i:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
		case rest[0] == '\n' || rest[0] == ';':
			end(false)
			i++
		case strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||"):
			end(false)
			i += 2
		case strings.HasPrefix(rest, "&>"):
			n, quiet := redirection(rest[1:])
			if n == 0 {
				return nil, false
			}
			c.redirected, some = c.redirected || !quiet, true
			i += 1 + n
		case rest[0] == '&':
			end(false)
			i++
		case rest[0] == '|':
			end(true)
			i++
		case rest[0] == '>' || rest[0] == '<':
			n, quiet := redirection(rest)
			if n == 0 {
				return nil, false
			}
			c.redirected, some = c.redirected || !quiet, true
			i += n
		default:
			w, n := readWord(rest)
			if n == 0 {
				return nil, false
			}
			if w.start, w.end = i, i+n; !descriptor(w, command[i+n:]) {
				c.words = append(c.words, w)
			}
			some = true
			i += n
		}
	}
	end(false)
	return commands, true
}

// descriptor reports the 2 in 2>file.
func descriptor(w shellWord, after string) bool {
	return !w.quoted && strings.Trim(w.text, "0123456789") == "" && after != "" && (after[0] == '>' || after[0] == '<')
}

// redirection returns the length of the operator at the start of text, or with
// its target where that is no file; 0 if it is not plain to see.
func redirection(text string) (n int, quiet bool) {
	after := text[1:]
	if text[0] == '>' {
		for _, target := range []string{"&1", "&2", "/dev/null", " /dev/null"} {
			if rest, ok := strings.CutPrefix(after, target); ok && (rest == "" || strings.IndexByte(" \t\n;|&", rest[0]) >= 0) {
				return 1 + len(target), true
			}
		}
		after = strings.TrimPrefix(after, ">")
	}
	if after == "" || strings.IndexByte("<>&|", after[0]) >= 0 {
		return 0, false
	}
	return len(text) - len(after), false
}

// readWord reads the word at the start of text; 0 if it is not plain to see.
func readWord(text string) (w shellWord, n int) {
	var b strings.Builder
	i := 0
	for i < len(text) && strings.IndexByte(" \t\n;&|<>", text[i]) < 0 {
		c := text[i]
		switch {
		case plainByte(c) || c == '~' && i == 0 && (len(text) == 1 || strings.IndexByte("/ \t\n;&|", text[1]) >= 0):
		case strings.IndexByte("*?[]{}", c) >= 0:
			w.opaque = true
		case c == '$' && i+1 < len(text) && nameStart(text[i+1]):
			w.opaque = true
		case c == '\'' || c == '"':
			inner, ok := quotedPart(text[i:])
			if !ok {
				return w, 0
			}
			w.quoted = true
			w.opaque = w.opaque || strings.ContainsFunc(inner, func(r rune) bool { return r > '~' || r != ' ' && !plainByte(byte(r)) })
			b.WriteString(inner)
			i += len(inner) + 2
			continue
		default:
			return w, 0
		}
		b.WriteByte(c)
		i++
	}
	w.text = b.String()
	return w, i
}

// quotedPart returns what stands between the quotes at the start of text.
func quotedPart(text string) (inner string, ok bool) {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == quote:
			return text[1:i], true
		case c < ' ' || c == 0x7f:
			return "", false
		case quote == '\'' && c == '\\': // some shells take it for an escape
			if i+1 == len(text) || text[i+1] == '\'' || text[i+1] == '\\' {
				return "", false
			}
		case quote == '\'':
		case c == '`' || c == '!' || c == '$' && (i+1 == len(text) || !nameStart(text[i+1])):
			return "", false
		case c == '\\':
			if i++; i == len(text) || text[i] < ' ' {
				return "", false
			}
		}
	}
	return "", false
}

func nameStart(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func plainByte(c byte) bool {
	return nameStart(c) || c >= '0' && c <= '9' || strings.IndexByte("./:=,+@%-", c) >= 0
}
