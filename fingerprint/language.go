package fingerprint

import (
	"strings"

	"approver.example/reflexcore/wordset"
)

// A language describes a family of interpreters: which flags and variables load code
// besides the script. Fields are lists of words.
type language struct {
	Programs string // names; a version may follow
	Inline   string // flags whose value is code, which the card shows
	Letters  string // letters that are such a flag in a group of them: perl -lane
	Takes    string // further flags that take the next word
	Loads    string // flags whose value is a module that is loaded
	Dirs     string // flags whose value is a folder of modules
	Options  string // variables with further flags
	Paths    string // variables with folders of modules
	Endings  string // endings that the name of a module may omit
}

var languages = tableOf[language]("languages.txt")

// languageOf is the family of a program, or nil.
func languageOf(name string) *language {
	name = strings.ToLower(name)
	plain := strings.TrimRight(name, "0123456789.-")
	all := languages()
	for n := range all {
		if wordset.Has(all[n].Programs, name) || wordset.Has(all[n].Programs, plain) {
			return &all[n]
		}
	}
	return nil
}

// interprets reports whether a program runs code, so that its words may be data.
func interprets(name string) bool {
	return name == "java" || name == "javaw" || languageOf(name) != nil
}

// An interpreterWords is the parsed command line of an interpreter.
type interpreterWords struct {
	modules, dirs []string
	main          string // its script; "" is none
	inline        bool
}

// starts parses the words after an interpreter's name.
func (l *language) starts(words []string) (s interpreterWords) {
	for n := 0; n < len(words); n++ {
		w := words[n]
		next := func() string {
			if n++; n < len(words) {
				return words[n]
			}
			return ""
		}
		if value, has := flagValue(w, l.Loads); has {
			if value == "" {
				value = next()
			}
			s.modules = append(s.modules, value)
			continue
		}
		if value, has := flagValue(w, l.Dirs); has {
			if value == "" {
				value = next()
			}
			s.dirs = append(s.dirs, value)
			continue
		}
		name, _, joined := strings.Cut(w, "=")
		switch {
		case wordset.Has(l.Inline, strings.ToLower(name)) || wordset.Has(l.Inline, name) ||
			len(w) > 1 && w[0] == '-' && w[1] != '-' && l.Letters != "" && strings.ContainsAny(letters(w[1:]), l.Letters):
			s.inline = true
			if !joined {
				next()
			}
		case wordset.Has(l.Takes, w):
			next()
		case w == "--":
			s.main = next()
			return s
		case w == "-m": // of Python; the walk says which module
			return s
		case w == "-":
			return s
		case operand(w):
			s.main = w
			return s
		}
	}
	return s
}
