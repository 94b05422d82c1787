package fingerprint

import (
	_ "embed" // the table
	"strings"
	"sync"
)

// A language describes a family of interpreters: which flags and variables load code
// besides the script. Fields are lists of words.
type language struct {
	programs string // names; a version may follow
	inline   string // flags whose value is code, which the card shows
	letters  string // letters that are such a flag in a group of them: perl -lane
	takes    string // further flags that take the next word
	loads    string // flags whose value is a module that is loaded
	dirs     string // flags whose value is a folder of modules
	options  string // variables with further flags
	paths    string // variables with folders of modules
	endings  string // endings that the name of a module may omit
}

//go:embed languages.txt
var languagesText string

var languages = sync.OnceValue(func() []language {
	return readTable(languagesText, func(l *language) map[string]any {
		return map[string]any{
			"programs": &l.programs, "inline": &l.inline, "letters": &l.letters, "takes": &l.takes, "loads": &l.loads,
			"dirs": &l.dirs, "options": &l.options, "paths": &l.paths, "endings": &l.endings,
		}
	})
})

// languageOf is the family of a program, or nil.
func languageOf(name string) *language {
	name = strings.ToLower(name)
	plain := strings.TrimRight(name, "0123456789.-")
	all := languages()
	for n := range all {
		if oneOf(all[n].programs, name) || oneOf(all[n].programs, plain) {
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
		if value, has := flagValue(w, l.loads); has {
			if value == "" {
				value = next()
			}
			s.modules = append(s.modules, value)
			continue
		}
		if value, has := flagValue(w, l.dirs); has {
			if value == "" {
				value = next()
			}
			s.dirs = append(s.dirs, value)
			continue
		}
		name, _, joined := strings.Cut(w, "=")
		switch {
		case oneOf(l.inline, strings.ToLower(name)) || oneOf(l.inline, name) ||
			len(w) > 1 && w[0] == '-' && w[1] != '-' && l.letters != "" && strings.ContainsAny(letters(w[1:]), l.letters):
			s.inline = true
			if !joined {
				next()
			}
		case oneOf(l.takes, w):
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
