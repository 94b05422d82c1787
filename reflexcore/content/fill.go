package content

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example/internal/lazyregexp"
)

const (
	maxFilled    = 4_000_000 // bytes of a text with its arguments: Claude Code takes no longer one
	maxArguments = 64        // names of arguments, as Claude Code takes them
	maxArgument  = 64        // letters of a name; here bytes, which are not fewer
)

// Fill replaces the placeholders in a text by the arguments of a call, as Claude Code does before
// it looks for commands. first is the number of the first argument: 0, or 1 in older versions.
// False means that the result is not known.
func (p *Prompt) Fill(text, args string, first int) (string, bool) {
	places := strings.Count(text, "$")
	if places == 0 {
		return text, true
	}
	if places > (maxFilled-len(text))/max(1, len(args)) {
		return text, false
	}
	names, ok := p.Front.arguments()
	words := strings.Fields(args)
	filled := fill(text, names, args, func(n int, named bool) (string, bool) {
		if !named {
			n -= first
		}
		if n < 0 || n >= len(words) {
			return "", named
		}
		return words[n], true
	})
	return filled, hasNoCommand(text, args) || ok && (isPlainArgs(args) || p.isIndependent(text, args, names))
}

// hasNoCommand reports whether a text cannot have a command, wherever the arguments are: no agent runs
// anything without these characters.
func hasNoCommand(text, args string) bool {
	has := func(sign string) bool { return strings.Contains(text, sign) || strings.Contains(args, sign) }
	return !has("!") || !has("`") && !has("{")
}

// isPlainArgs reports whether a shell splits arguments only at white space.
func isPlainArgs(args string) bool {
	return !strings.ContainsFunc(args, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_.,:/@%+=~ \t\n-", r)
	})
}

// isIndependent reports whether unknown words cannot change what a text runs: none is in a command,
// and none can begin or end one.
func (p *Prompt) isIndependent(text, args string, names []string) bool {
	used := false
	with := func(word string) []string {
		var out Prompt
		filled := fill(text, names, "", func(int, bool) (string, bool) { used = true; return word, true })
		out.commands(filled, claude)
		return out.Commands
	}
	commands := with("x")
	if !used {
		return true
	}
	return !strings.ContainsAny(args, "`!") && slices.Equal(commands, with("")) && slices.Equal(commands, with(" "))
}

// arguments returns the names of arguments in the front matter; false if there may be others. Each
// item of a list is one name. In another value, names are separated by white space.
func (f *Front) arguments() (names []string, ok bool) {
	names, ok = f.List("arguments")
	if lines := f.keys["arguments"]; len(lines) == 1 && lines[0] != "" && lines[0][0] != '[' {
		value, read := plain(lines[0])
		names, ok = strings.FieldsFunc(value, IsScriptSpace), read && !f.Odd
	}
	for _, name := range names {
		ok = ok && isArgumentName(name) && len(name) <= maxArgument
	}
	return names, ok && len(names) <= maxArguments
}

var argumentPlace = lazyregexp.New(`^ARGUMENTS\[(\d+)\]|^(\d+)(?:\W|$)`)

// isArgumentName reports whether a name is letters, digits, _ and -, and begins with a letter or _.
func isArgumentName(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return (unicode.IsLetter(first) || first == '_') && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '-'
	})
}

// fill replaces the placeholders in a text: $name, $0 and $ARGUMENTS[0] by what pick returns for
// their number, and $ARGUMENTS by all arguments. A placeholder after one backslash stays.
func fill(text string, names []string, all string, pick func(n int, named bool) (string, bool)) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		if !found || out.Len() > maxFilled {
			out.WriteString(text)
			return out.String()
		}
		word, size := place(rest, names, all, pick)
		digit := rest != "" && rest[0] >= '0' && rest[0] <= '9' // need not be a placeholder to lose its backslash
		switch {
		case (size > 0 || digit) && strings.HasSuffix(before, `\`) && !strings.HasSuffix(before, `\\`):
			out.WriteString(strings.TrimSuffix(before, `\`) + "$" + rest[:size])
		case size > 0:
			out.WriteString(before + word)
		default:
			out.WriteString(before + "$")
		}
		text = rest[size:]
	}
}

// place returns the replacement for the placeholder at the beginning of a text, which is without
// its dollar, and the length of the placeholder. A length of 0 means that there is none.
func place(rest string, names []string, all string, pick func(n int, named bool) (string, bool)) (word string,
	size int) {
	index := -1
	for i, name := range names {
		after, ok := strings.CutPrefix(rest, name)
		if ok && len(name) > size && (after == "" || after[0] != '[' && !wordByte(after[0])) {
			index, size = i, len(name)
		}
	}
	if index >= 0 {
		word, _ = pick(index, true)
		return word, size
	}
	if m := argumentPlace().FindStringSubmatch(rest); m != nil {
		n, err := strconv.Atoi(m[1] + m[2])
		size = len(m[2])
		if m[1] != "" {
			size = len(m[0])
		}
		if word, ok := pick(n, false); ok && err == nil {
			return word, size
		}
		return "$" + rest[:size], size
	}
	if strings.HasPrefix(rest, "ARGUMENTS") {
		return all, len("ARGUMENTS")
	}
	return "", 0
}

// wordByte reports whether a byte is a word character in JavaScript.
func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
