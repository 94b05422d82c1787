package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// xargsWords takes the input of xargs apart: at blanks, or at ends of lines where it puts
// each line in the place of a text. Quotes and backslashes are its own, as in a shell: a
// quote ends at the end of its line at the latest.
func xargsWords(text string, lines bool) []string {
	var words []string
	var word []byte
	begun := false
	end := func() {
		if begun {
			words = append(words, string(word))
		}
		word, begun = word[:0], false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\n':
			end()
		case ' ', '\t', '\v', '\f', '\r':
			if lines && begun {
				word = append(word, c)
			} else {
				end()
			}
		case '\\':
			begun = true
			if i++; i < len(text) {
				word = append(word, text[i])
			}
		case '\'', '"':
			begun = true
			stop := strings.IndexAny(text[i+1:], string(c)+"\n")
			if stop < 0 {
				stop = len(text) - i - 1
			}
			word = append(word, text[i+1:i+1+stop]...)
			i += stop
			if i+1 < len(text) && text[i+1] == c {
				i++
			}
		default:
			begun = true
			word = append(word, c)
		}
	}
	end()
	return words
}

// replaced is the text that xargs puts its input in the place of; empty: there is none.
func replaced(argv []string) string {
	place := ""
	for i := 1; i < len(argv); i++ {
		w := argv[i]
		switch {
		case len(w) < 2 || w[0] != '-' || w == "--":
			return place
		case strings.HasPrefix(w, "--re"):
			if _, place, _ = strings.Cut(w, "="); place == "" {
				place = "{}"
			}
		case w[1] == '-':
			if !strings.Contains(w, "=") && takesNext(w) {
				i++
			}
		default:
			letter, value := shortValue(w[1:])
			if letter != 0 && letter != 'i' && value == "" {
				if i++; i < len(argv) {
					value = argv[i]
				}
			}
			switch {
			case letter == 'I', letter == 'J':
				place = value
			case letter == 'i' && value == "":
				place = "{}"
			case letter == 'i':
				place = value
			}
		}
	}
	return place
}

// takesNext reports whether a long flag of xargs has its value in the next word.
func takesNext(flag string) bool {
	return slices.ContainsFunc([]string{"--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--process-slot-var"}, func(f string) bool {
		return strings.HasPrefix(f, flag)
	})
}

// shortValue is the flag of xargs among letters that are written together that has a value,
// and that value, if it is in the same word.
func shortValue(letters string) (letter byte, value string) {
	for i := range len(letters) {
		switch c := letters[i]; {
		case strings.IndexByte("adEIJLnPRsSi", c) >= 0:
			return c, letters[i+1:]
		case c == 'e' || c == 'l':
			return 0, ""
		}
	}
	return 0, ""
}

// contents are what a use reads its words from: the standard input, or a file, and if it is
// not known what that holds the text of the input besides. The name may be another one of it.
func (lr *listRunner) contents(u *grammar.Use) []input {
	n, descriptor := lr.a.in.fs.descriptorOf(lr.a.pathOf(u))
	if isStdin(u.Text) || descriptor && n == 0 {
		if lr.a.std.present {
			return []input{*lr.a.std}
		}
		return []input{{data: unknown, present: true}}
	}
	file := input{data: lr.a.in.fs.contentOf(lr.a.pathOf(u)), present: true}
	if !file.known() && lr.a.std.present {
		return []input{file, *lr.a.std}
	}
	return []input{file}
}

// read are what xargs reads its words from: a file that it is told, or else its input, and
// if nobody gave it one whatever the call has. More than one: it is not known which.
func (lr *listRunner) read() []input {
	for i := range lr.a.line.p.Uses {
		if u := &lr.a.line.p.Uses[i]; u.Role == grammar.Read && u.Word > 0 && lr.a.line.p.Program.Name == "xargs" {
			return lr.contents(u)
		}
	}
	if lr.a.std.present {
		return []input{*lr.a.std}
	}
	return []input{{data: unknown, present: true}}
}

// wordsOf are the words of an input.
func wordsOf(std *input) []field {
	switch {
	case !std.present:
		return nil
	case !std.known():
		return []field{{data: data{effect.Unknown, std.taint}, splits: true}}
	}
	var out []field
	for w := range strings.FieldsSeq(std.text) {
		out = append(out, field{data: data{w, std.taint}})
	}
	return out
}

// fromLists are the words that parallel reads from files, or from an input that nobody gave it.
func (lr *listRunner) fromLists() []field {
	var out []field
	given := lr.a.std.present
	for i := range lr.a.line.p.Uses {
		switch u := &lr.a.line.p.Uses[i]; {
		case u.Role == grammar.Read && u.Word > 0:
			given = true
			for _, std := range lr.contents(u) {
				out = append(out, wordsOf(&std)...)
			}
		case u.Role == grammar.Args:
			given = true
		}
	}
	if !given {
		return []field{{data: unknown, splits: true}}
	}
	return out
}
