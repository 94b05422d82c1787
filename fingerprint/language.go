package fingerprint

import (
	"strings"
)

// This file finds the code that interpreters load beside their script: what flags and
// variables name, and what a name means that is not one of a file.

// A language is a family of interpreters. Fields are lists of words.
type language struct {
	programs string // names; a version may follow
	inline   string // flags whose value is code, which is on the card
	letters  string // letters that are such a flag in a group of them: perl -lane
	takes    string // further flags that take the next word
	loads    string // flags whose value is a module that is loaded
	dirs     string // flags whose value is a folder of modules
	options  string // variables with further flags
	paths    string // variables with folders of modules
	endings  string // that the name of a module may lack
}

var languages = []language{
	{
		programs: "node nodejs bun deno tsx ts-node", inline: "-e --eval -p --print", letters: "ep",
		takes:   "-C --conditions --input-type --stack-trace-limit",
		loads:   "-r --require --import --loader --experimental-loader --preload",
		options: "NODE_OPTIONS", paths: "NODE_PATH", endings: ".js .cjs .mjs .ts .cts .mts .jsx .tsx .json .node",
	},
	{programs: "python pypy", inline: "-c", letters: "c", takes: "-W -X --check-hash-based-pycs", paths: "PYTHONPATH",
		endings: ".py .pyc .so .pth"},
	{programs: "ruby jruby", inline: "-e", letters: "e", takes: "-C -E -K", loads: "-r", dirs: "-I", options: "RUBYOPT",
		paths: "RUBYLIB", endings: ".rb .so"},
	{programs: "perl", inline: "-e -E", letters: "eE", loads: "-M -m", dirs: "-I", options: "PERL5OPT",
		paths: "PERL5LIB PERLLIB", endings: ".pm .pl .so"},
	{programs: "lua luajit", inline: "-e", loads: "-l", paths: "LUA_PATH LUA_CPATH", endings: ".lua .so"},
	{programs: "php", inline: "-r -R -B -E", takes: "-c -d -z -S -t", endings: ".php .inc"},
	{programs: "julia", inline: "-e -E --eval --print", loads: "-L --load", paths: "JULIA_LOAD_PATH", endings: ".jl"},
	{programs: "rscript", inline: "-e", endings: ".R .r"},
	{programs: "groovy elixir", inline: "-e --eval", takes: "-S", loads: "-r", dirs: "-cp -classpath --classpath -pa -pz",
		endings: ".groovy .exs .ex .jar"},
	{programs: "pwsh powershell", inline: "-c -command", letters: "", loads: "-f -file", endings: ".ps1 .psm1"},
	{programs: "osascript", inline: "-e", takes: "-l -s"},
	{programs: "tclsh wish guile racket sbcl escript erl ocaml swipl dart crystal nim raku",
		inline: "-e -c -g -eval --eval --load", endings: ".tcl .scm .rkt .lisp .dart .cr .nim .raku"},
}

// languageOf is the family of a program, or nil.
func languageOf(name string) *language {
	name = strings.ToLower(name)
	plain := strings.TrimRight(name, "0123456789.-")
	for n := range languages {
		if oneOf(languages[n].programs, name) || oneOf(languages[n].programs, plain) {
			return &languages[n]
		}
	}
	return nil
}

// interprets reports whether a program runs code: its words may be data.
func interprets(name string) bool {
	return name == "java" || name == "javaw" || languageOf(name) != nil
}

// A interpreterWords is what the words of an interpreter say.
type interpreterWords struct {
	modules, dirs []string
	main          string // its script; "" is none
	inline        bool
}

// starts reads the words behind an interpreter's name.
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
