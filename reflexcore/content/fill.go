package content

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxFilled    = 4_000_000 // bytes of a text with its arguments: Claude Code takes no longer one
	maxArguments = 64        // names of arguments, as Claude Code takes them
	maxArgument  = 64        // letters of a name; here bytes, which are not fewer
)

// Fill puts the arguments of a call in the places of a text that stand for them, as
// Claude Code does before it looks for commands. First is the number of the first
// argument: 0, or 1 in older versions. False means that what comes out is not known.
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
	return filled, idle(text, args) || ok && (plainArgs.MatchString(args) || p.indifferent(text, args, names))
}

// idle reports whether a text can have no command, whatever stands where in it: no agent
// runs anything without these signs.
func idle(text, args string) bool {
	has := func(sign string) bool { return strings.Contains(text, sign) || strings.Contains(args, sign) }
	return !has("!") || !has("`") && !has("{")
}

// plainArgs are arguments that a shell's reader splits at white space, and in no other way.
var plainArgs = regexp.MustCompile(`^[\p{L}\p{N}_.,:/@%+=~ \t\n-]*$`)

// indifferent reports whether words that are not known cannot change what runs of a text:
// none stands in a command, and none can begin or end one.
func (p *Prompt) indifferent(text, args string, names []string) bool {
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

// arguments are the names that the front matter gives arguments; false if there may be others.
// An item of a list is one name, and a value that is none has white space between them only.
func (f *Front) arguments() (names []string, ok bool) {
	names, ok = f.List("arguments")
	if lines := f.keys["arguments"]; len(lines) == 1 && lines[0] != "" && lines[0][0] != '[' {
		value, read := plain(lines[0])
		names, ok = strings.FieldsFunc(value, IsScriptSpace), read && !f.Odd
	}
	for _, name := range names {
		ok = ok && argumentName.MatchString(name) && len(name) <= maxArgument
	}
	return names, ok && len(names) <= maxArguments
}

var (
	argumentName  = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_-]*$`)
	argumentPlace = regexp.MustCompile(`^ARGUMENTS\[(\d+)\]|^(\d+)(?:\W|$)`)
)

// fill replaces the places of arguments in a text: $name, $0, $ARGUMENTS[0] by what pick
// has for their number, and $ARGUMENTS by all. One backslash before a place keeps it.
func fill(text string, names []string, all string, pick func(n int, named bool) (string, bool)) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		if !found || out.Len() > maxFilled {
			out.WriteString(text)
			return out.String()
		}
		word, size := place(rest, names, all, pick)
		digit := rest != "" && rest[0] >= '0' && rest[0] <= '9' // need not be a place to lose its backslash
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

// place is what stands for the place at the begin of a text behind its dollar, and how long
// the place is. A length of 0: it is none.
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
	if m := argumentPlace.FindStringSubmatch(rest); m != nil {
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

// wordByte reports whether JavaScript counts a byte to a word.
func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
