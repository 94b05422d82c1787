package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/shell"
)

// This file tells the database that a command works on from the files that say what it does.

// embedded are clients whose database is a file, with the flags that take the next word.
var embedded = map[string]string{
	"sqlite3": "-cmd -init -separator -newline -nullvalue -mmap -lookaside -heap -maxsize -pagecache -vfs -A",
	"sqlite":  "-cmd -init -separator -newline -nullvalue", "duckdb": "-cmd -c -init -f -separator -newline -nullvalue",
	"litecli": "-e -l",
}

// database is the word of a step that names its database; "" is none.
func database(st *shell.Step) string {
	takes, ok := embedded[first(st)]
	if !ok {
		return ""
	}
	for n := 1; n < len(st.Argv); n++ {
		switch w := st.Argv[n]; {
		case slices.Contains(strings.Fields(takes), strings.Replace(w, "--", "-", 1)):
			n++
		case operand(w):
			return w
		}
	}
	return ""
}

// changesItself reports whether a file is the database of a step, which is data that the
// step itself changes. Where its name leads is bound: it must stay the same database. A file
// of any other kind is none.
func (f *flow) changesItself(i int, file string) bool {
	if i < 0 || i >= len(f.Steps) || f.captured {
		return false
	}
	for n := range f.commands {
		if f.commands[n].fed && n != i { // what is in the database may run
			return false
		}
	}
	word := database(&f.Steps[i])
	if word == "" || !slices.ContainsFunc(f.workDirs(&f.Steps[i]), func(base string) bool {
		return filepath.Clean(abs(base, word)) == filepath.Clean(file)
	}) {
		return false
	}
	opened, info, err := open(file)
	if err != nil {
		return false
	}
	defer func() { _ = opened.Close() }() // it was only looked at
	head := make([]byte, 16)
	n, _ := opened.Read(head) // of an empty file nothing
	if info.Size() > 0 && string(head[:n]) != "SQLite format 3\x00" && !strings.HasPrefix(string(head[min(8, n):n]),
		"DUCK") {
		return false
	}
	f.leads(filepath.Clean(file))
	return true
}
