package shell

import "strings"

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
