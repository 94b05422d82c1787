package code

import (
	"embed"
	"strings"
	"sync"
)

// The tables of what each language's functions do. One line is one fact:
//
//	path action [argument] [words]
//
// The path is how the function is reached, written with dots in all languages. *.name is a method of
// any value, type.name a method of an object that a row with ->type made, and text.name and
// list.name are methods of texts and lists. *.name.name is a method of a member with that name, and
// name.** is everything in a module that no other row names. The action is a function of actions.go,
// or of fold.go for a fold. The argument is the index of the one that matters, or r for the
// receiver.
//
//go:embed apis/*.txt
var apiFiles embed.FS

// tables are loaded when their language is first used.
var tables = func() map[string]func() *table {
	all := map[string]func() *table{}
	for _, lang := range [...]string{"python", "node", "perl", "ruby", "php", "lua", "awk", "powershell"} {
		all[lang] = sync.OnceValue(func() *table { return load(lang) })
	}
	return all
}()

func tableOf(lang string) *table { return tables[lang]() }

func load(lang string) *table {
	t := &table{d: dialects[lang], rows: map[string][]entry{}, methods: map[string][]entry{}, dangers: map[string]bool{}}
	raw, err := apiFiles.ReadFile("apis/" + lang + ".txt")
	if err != nil {
		return t
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0][0] == '#' {
			continue
		}
		path, r := fields[0], entry{row: row{action: fields[1], arg: argNone}, do: actions[fields[1]]}
		r.dangerous = dangerousActions[r.action]
		r.runs = runningActions[r.action] || r.action == "argv" && !t.d.library.argvOperands
		if r.action == "root" {
			t.roots = append(t.roots, path)
			continue
		}
		for _, word := range fields[2:] {
			r.word(word)
		}
		if r.action == "fold" || r.action == "property" {
			r.fold = foldOf(r.param)
		}
		if method, ok := strings.CutPrefix(path, "*."); ok {
			t.methods[method] = append(t.methods[method], r)
			continue
		}
		t.rows[path] = append(t.rows[path], r)
		if first, _, dotted := strings.Cut(path, "."); dotted && r.dangerous {
			t.dangers[first] = true
		}
	}
	return t
}
