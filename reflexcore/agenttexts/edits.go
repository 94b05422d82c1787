package agenttexts

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"unicode"

	"approver.example/reflexcore/shell"
)

// If sed edits a text that agents load in place, the result is judged, if it is simple: one
// replacement of words in one file.

// sedFlags are the flags of a simple edit; the value says whether it is in place.
var sedFlags = map[string]bool{"-i": true, "-Ei": true, "-ri": true, "-E": false, "-r": false, "-s": false}

// sedReplaces returns what a command of sed replaces; ok says that it does nothing else.
func sedReplaces(command string, lim shell.Limits) (from, to string, all, ok bool) {
	if !strings.Contains(command, "sed") || strings.ContainsAny(command, "`\\$\n") {
		return "", "", false, false
	}
	words := shell.LiteralCommand(command, lim)
	if len(words) < 4 || words[0].Quote != 0 || words[0].Text != "sed" && words[0].Text != "gsed" {
		return "", "", false, false
	}
	inPlace := false
	for words = words[1:]; len(words) > 2 && words[0].Quote == 0; {
		edits, known := sedFlags[words[0].Text]
		if !known {
			break
		}
		inPlace = inPlace || edits
		bsd := words[0].Text == "-i" && words[1].Text == "" // -i '' keeps no copy
		if words = words[1:]; bsd {
			words = words[1:]
		}
	}
	if len(words) == 3 && words[0] == (shell.Literal{Text: "-e"}) {
		words = words[1:]
	}
	if !inPlace || len(words) != 2 || words[1].Quote != 0 || !isWordOf(words[1].Text, "./~-") {
		return "", "", false, false
	}
	return replacement(words[0])
}

// replacement parses a script of sed that is one replacement of words.
func replacement(script shell.Literal) (from, to string, all, ok bool) {
	text, delimiters, never := script.Text, "/|#,", "&;"
	switch script.Quote {
	case 0:
		delimiters = "/,"
	case '"':
		never += "!" // the shell may put a part of its history there
	}
	if len(text) < 2 || text[0] != 's' || strings.IndexByte(delimiters, text[1]) < 0 || strings.ContainsAny(text, never) {
		return "", "", false, false
	}
	parts := strings.Split(text[2:], text[1:2])
	if len(parts) != 3 || parts[0] == "" || parts[2] != "" && parts[2] != "g" {
		return "", "", false, false
	}
	if script.Quote == 0 && !isWordOf(parts[0]+parts[1], ".:@%+=-") {
		return "", "", false, false
	}
	return parts[0], parts[1], parts[2] == "g", true
}

// isWordOf reports whether a text has only letters, digits, underscores and the characters in more.
func isWordOf(text, more string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') &&
			!strings.ContainsRune(more, r)
	})
}

// editedPlainly judges the result of an edit in place; false: it is not known.
func (r *Reader) editedPlainly(target string) bool {
	from, to, all, ok := sedReplaces(r.Text, r.Analyzer.Limits.Shell)
	if !ok || strings.ContainsAny(from, `*[]^+?(){}|`) {
		return false
	}
	b, err := r.Analyzer.Files.ReadFile(target, MaxPrompt)
	if errors.Is(err, fs.ErrNotExist) {
		return true // then nothing is edited
	}
	before := string(b)
	dotted := strings.Contains(from, ".")
	if err != nil || dotted && strings.ContainsFunc(before, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false // a dot is a letter or a byte, as the language of the machine says
	}
	matches := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(from), `\.`, "."))
	lines := strings.Split(before, "\n")
	for i, line := range lines {
		if at := matches.FindStringIndex(line); all {
			lines[i] = matches.ReplaceAllLiteralString(line, to)
		} else if at != nil {
			lines[i] = line[:at[0]] + to + line[at[1]:]
		}
	}
	r.Changed(target, before, strings.Join(lines, "\n"))
	return true
}
