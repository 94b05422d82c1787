package settings

import (
	"errors"
	"strings"
)

// ShellWord quotes a word for a POSIX shell, if it needs it.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// CommandLine returns the command line of words.
func CommandLine(words []string) Command {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, ShellWord(w))
	}
	return Command(strings.Join(quoted, " "))
}

// Words undoes [CommandLine]. Any other line is an error.
func (c Command) Words() (words []string, err error) {
	rest := string(c)
	for rest != "" {
		var word strings.Builder
		for rest != "" && rest[0] != ' ' {
			switch {
			case rest[0] == '\'':
				inner, after, ok := strings.Cut(rest[1:], "'")
				if !ok {
					return nil, errors.New("a quote is not closed")
				}
				word.WriteString(inner)
				rest = after
			case strings.HasPrefix(rest, `\'`):
				word.WriteByte('\'')
				rest = rest[2:]
			default:
				word.WriteByte(rest[0])
				rest = rest[1:]
			}
		}
		words = append(words, word.String())
		rest = strings.TrimPrefix(rest, " ")
	}
	if CommandLine(words) != c {
		return nil, errors.New("it is not a command line as approver writes it")
	}
	return words, nil
}
