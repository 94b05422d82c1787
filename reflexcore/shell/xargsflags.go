package shell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// xargsWords splits the input of xargs into words: at blanks, or at line ends if xargs replaces a
// text by each line. Quotes and backslashes work roughly as in a shell, but a quote ends at the
// end of its line at the latest.
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

// readXargs reads the flags of xargs, up to the command that it runs.
func readXargs(argv []string) (x xargsFlags) {
	for i := 1; i < len(argv) && len(argv[i]) > 1 && argv[i][0] == '-' && argv[i] != "--"; i++ {
		w := argv[i]
		letter, value := byte(0), ""
		switch {
		case strings.HasPrefix(w, "--re"):
			_, value, _ = strings.Cut(w, "=")
			x.place = cmp.Or(value, "{}")
			continue
		case strings.HasPrefix(w, "--nu"):
			x.ends = lineEnds
			continue
		case strings.HasPrefix(w, "--d"):
			letter = 'd'
			_, value, _ = strings.Cut(w, "=")
		case w[1] == '-':
			name, value, given := strings.Cut(w, "=")
			if !given && i+1 < len(argv) &&
				slices.ContainsFunc(xargsValues, func(flag string) bool { return strings.HasPrefix(flag, w) }) {
				i++
				value = argv[i]
			}
			switch {
			case strings.HasPrefix(name, "--max-a"):
				x.mostWords = count(value)
			case strings.HasPrefix(name, "--max-l"):
				x.mostLines = max(count(value), 1)
			}
			continue
		default:
			if letter, value = shortValue(w[1:]); letter == 0 && strings.Contains(w, "l") {
				x.mostLines = max(count(w[strings.IndexByte(w, 'l')+1:]), 1)
			}
			if valueless := len(w) - len(strings.TrimLeft(w, "-0oprtx")); strings.Contains(w[:valueless], "0") {
				x.ends = lineEnds
			}
		}
		if letter != 0 && letter != 'i' && value == "" {
			if i++; i < len(argv) {
				value = argv[i]
			}
		}
		switch letter {
		case 'I', 'J':
			x.place = value
		case 'i':
			x.place = cmp.Or(value, "{}")
		case 'd':
			x.ends, x.delimited = delimiter(value), true
		case 'n':
			x.mostWords = count(value)
		case 'L':
			x.mostLines = count(value)
		}
	}
	return x
}

// count is the value of a flag that counts something; 0 if it is no number.
func count(value string) int {
	n, _ := strconv.Atoi(value)
	return max(n, 0)
}

// delimiter is what words end with where a flag of xargs says it; what is no letter by itself and
// no end of a line is not known.
func delimiter(value string) string {
	switch {
	case value == `\n` || value == `\0`:
		return lineEnds
	case value == `\t`:
		return "\t" + lineEnds
	case len(value) == 1 && value != `\`:
		return value + lineEnds
	}
	return effect.Unknown
}

// words are the words of a text that is known.
func (x xargsFlags) words(text string) []string {
	switch x.ends {
	case "":
		return xargsWords(text, x.place != "")
	case effect.Unknown:
		return []string{effect.Unknown}
	}
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(x.ends, r) })
}

// shortValue returns the first flag that takes a value in a group of short flags of xargs, and
// that value if it is in the same word.
func shortValue(letters string) (letter byte, value string) {
	at := strings.IndexAny(letters, "adEIJLnPRsSi"+"el")
	if at < 0 || letters[at] == 'e' || letters[at] == 'l' { // which take a value only in the same word
		return 0, ""
	}
	return letters[at], letters[at+1:]
}
