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
// The path is how the function is reached, with dots whatever the language
// writes; *.name is a method of that name of anything, type.name one of an object
// that a row with ->type made, text.name and list.name those of texts and lists.
// The action is a function of actions.go, of a fold one of fold.go. The argument is the index of
// the one that counts, or r for what the method is called on. *.name.name is a method
// of what has that name; name.** is all that a module has and no other row names.
//
//go:embed apis/*.txt
var apiFiles embed.FS

// tables are read when their language first occurs.
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
		if first, _, dotted := strings.Cut(path, "."); dotted && r.dangerous() {
			t.dangers[first] = true
		}
	}
	return t
}
