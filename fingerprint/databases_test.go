//go:build unix

package fingerprint

import (
	"maps"
	"os"
	"slices"
	"testing"
)

// What a client does to its own database does not end the approval of the next time.
func TestADatabaseThatTheCommandChangesIsNotBound(t *testing.T) {
	const v1, v2 = "SQLite format 3\x00v1", "SQLite format 3\x00v2"
	for _, command := range []string{
		"sqlite3 app.db 'update t set a=1'", "sqlite3 -cmd '.timeout 1' app.db 'update t set a=1'", "sqlite3 app.db < m.sql",
		"sqlite3 ./app.db '.read m.sql'", "sqlite3 -batch -bail app.db vacuum", "cd . && sqlite3 app.db vacuum",
		"make", "./t",
	} {
		p := newPlayground(t)
		h := hole{files: "m.sql=select 1; Makefile=all:|\tsqlite3 app.db vacuum; t=#!/bin/sh|sqlite3 app.db vacuum"}
		h.lay(p)
		for _, text := range []string{"", v1} {
			p.write("app.db", text)
			before := p.of(command)
			p.write("app.db", v2)
			if !maps.Equal(before, p.of(command)) {
				t.Errorf("%s: its own database counts: %v", command, before)
			}
		}
	}
}

// A file that is no database, one that another command executes, and a name that leads
// elsewhere by now count as before.
func TestWhatIsNoDatabaseIsBound(t *testing.T) {
	const v1, v2 = "SQLite format 3\x00v1", "SQLite format 3\x00v2"
	for _, c := range []struct{ command, file, before, after string }{
		{"sqlite3 app.db '.read m.sql'", "m.sql", "select 1", "select 2"},
		{"sqlite3 app.db < m.sql", "m.sql", "select 1", "select 2"},
		{"sqlite3 -init rc app.db vacuum", "rc", "a", "b"},
		{"sqlite3 rc vacuum", "rc", "a", "b"},
		{"sqlite3 app.db \"attach 'other.db' as o\" other.db", "other.db", v1, v2},
		{"psql -f app.db", "app.db", v1, v2},
		{"sqlite3 app.db .dump | sh", "app.db", v1, v2},
		{"sh $(sqlite3 app.db 'select 1')", "app.db", v1, v2},
		{"./app.db", "app.db", v1, v2},
		{"python3 app.db", "app.db", v1, v2},
	} {
		p := newPlayground(t, "m.sql", "other.db")
		p.write("app.db", v1)
		p.write(c.file, c.before)
		before := p.of(c.command)
		p.write(c.file, c.after)
		if maps.Equal(before, p.of(c.command)) {
			t.Errorf("%s: %s does not count", c.command, c.file)
		}
	}
	p := newPlayground(t)
	p.write("a.db", v1)
	p.write("b.db", v1)
	for _, to := range []string{"a.db", "b.db"} {
		_ = os.Remove(p.path("app.db"))
		must(t, os.Symlink(p.path(to), p.path("app.db")))
		if files := p.of("sqlite3 app.db vacuum"); files["leads "+p.path("app.db")] != p.path(to) {
			t.Errorf("where app.db leads is not bound: %v", slices.Sorted(maps.Keys(files)))
		}
	}
}

// A repository whose root is the home folder has hooks and settings like any other.
func TestARepositoryInTheHomeFolderIsBound(t *testing.T) {
	for _, c := range []struct{ command, file string }{
		{"git push", ".git/hooks/pre-push"}, {"git commit -m x", ".git/config"}, {"cd sub && git commit -m x",
			".git/hooks/pre-commit"},
		{"cd sub && git push", ".git/config"}, {"cd sub/deep && npm test", "package.json"}, {"cd sub && just x", "justfile"},
	} {
		p := newPlayground(t, ".git/HEAD", ".git/config", ".git/hooks/pre-push", ".git/hooks/pre-commit", "sub/deep/x",
			"justfile")
		p.write(".git/config", "[a]\n")
		p.write("package.json", "{}")
		if !slices.Contains(p.bound(c.command), c.file) {
			t.Errorf("%s: %s is not bound: %q", c.command, c.file, p.bound(c.command))
		}
	}
}
