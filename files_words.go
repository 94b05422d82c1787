package approver

import (
	"path/filepath"
	"strings"
)

// This file finds the words of a command that may name files.

// gather collects the words of a command, read in two ways: as a shell splits
// it, and at every operator with quotes and backslashes left in or dropped.
func (s *scan) gather(command string) {
	rest := s.split(command, 0)
	operator := func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&<>(){}$`=,", r) }
	for _, word := range strings.FieldsFunc(strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(rest), operator) {
		s.add(word)
	}
	for _, word := range strings.FieldsFunc(rest, operator) {
		s.add(word)
	}
}

// add notes a word, and what else it can mean: the parts of --file=x, a:b and
// user@host, -fx, ~/x and what it expands to.
func (s *scan) add(word string) (isNew bool) {
	if word == "" || s.known[word] || strings.ContainsRune(word, 0) {
		return false
	}
	s.known[word] = true
	if len(word) <= maxPath {
		s.words = append(s.words, word)
	}
	if rest, ok := strings.CutPrefix(word, "~"); ok && (rest == "" || rest[0] == '/') && filepath.IsAbs(s.call.Env["HOME"]) {
		s.add(s.call.Env["HOME"] + rest)
	}
	if strings.ContainsAny(word, "=,:@{}") {
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=,:@{}", r) }) {
			s.add(part)
		}
	}
	if len(word) > 2 && word[0] == '-' && strings.ContainsAny(word, "./") {
		s.add(strings.TrimLeft(word, "-"))
		if word[2] != '-' {
			s.add(word[2:])
		}
	}
	if strings.Contains(word, "$") && len(word) <= maxPath {
		s.add(s.expand(word))
	}
	return true
}

// expand replaces each $NAME and ${NAME}.
func (s *scan) expand(word string) string {
	var b strings.Builder
	for i := 0; i < len(word); {
		if value, n := s.variable(word[i:]); n > 0 {
			b.WriteString(value)
			i += n
			continue
		}
		b.WriteByte(word[i])
		i++
	}
	return b.String()
}

// variable reads $NAME or ${NAME} at the start of text and returns its value in
// the call's environment and its length in text, 0 if there is none.
func (s *scan) variable(text string) (string, int) {
	if len(text) < 2 || text[0] != '$' {
		return "", 0
	}
	start := 1
	if text[1] == '{' {
		start = 2
	}
	end := start
	for end < len(text) && (text[end] == '_' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' || end > start && text[end] >= '0' && text[end] <= '9') {
		end++
	}
	name := text[start:end]
	if start == 2 {
		if end == len(text) || text[end] != '}' {
			return "", 0
		}
		end++
	}
	if name == "" {
		return "", 0
	}
	value := s.call.Env[name]
	if name == "PWD" {
		value = s.call.Dir
	}
	if s.expanded += len(value); s.expanded > maxExpanded {
		return "", end
	}
	return value, end
}

// split adds the words as a shell would see them: quotes and backslashes glue.
// What was quoted may be a command itself (sh -c '…') and is split in turn. It
// returns the command without the targets of > and >>: they are written to, not
// run, and a file that is appended to all day could never be approved.
func (s *scan) split(command string, depth int) (rest string) {
	var word, kept strings.Builder
	var quote byte
	flush := func() {
		w := word.String()
		word.Reset()
		if s.add(w) && depth < maxQuoting && strings.ContainsAny(w, " \t\n;|&<>()`'\"\\") {
			s.split(w, depth+1)
		}
	}
	// After a comment, a here-document, a substitution or a backslash, what looks
	// like > may be quoted (env -u '>' ./x.sh runs x.sh).
	from, doubt := 0, depth > 0
	for i := 0; i < len(command); i++ {
		c := command[i]
		doubt = doubt || strings.IndexByte("#$`\\", c) >= 0 || strings.HasPrefix(command[i:], "<<")
		value, n := "", 0
		if quote != '\'' {
			value, n = s.variable(command[i:])
		}
		switch {
		case n > 0:
			word.WriteString(value)
			i += n - 1
		case c == '\\' && quote != '\'' && i+1 < len(command):
			if i++; quote == '"' && !strings.ContainsRune("$`\"\\\n", rune(command[i])) {
				word.WriteByte(c)
			}
			if command[i] != '\n' {
				word.WriteByte(command[i])
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '$' && quote != '\'' && i+1 < len(command) && strings.IndexByte(`('"`, command[i+1]) >= 0:
			// of $(…), $'…' and $"…" the rest matters
		case quote == 0 && strings.IndexByte(" \t\r\n;|&<>()`", c) >= 0:
			flush()
			if c != '>' || doubt {
				continue
			}
			if end := outputTarget(command, i); end > 0 {
				kept.WriteString(command[from:i] + " ")
				from, i = end, end-1
			}
		default:
			word.WriteByte(c)
		}
	}
	flush()
	kept.WriteString(command[from:])
	return kept.String()
}

// outputTarget returns where the target of the redirection at i ends, or 0 if
// that is not plain to see. <> opens for reading.
func outputTarget(command string, i int) int {
	if i > 0 && (command[i-1] == '<' || command[i-1] == '>') {
		return 0
	}
	after := strings.TrimLeft(strings.TrimPrefix(command[i+1:], ">"), " \t")
	target := strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~-")
	if len(target) == len(after) || target != "" && strings.IndexByte(" \t\n;&|)", target[0]) < 0 {
		return 0
	}
	return len(command) - len(target)
}
