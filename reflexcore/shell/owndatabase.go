package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether a statement acts in a database of the project's own compose file. Its accounts and
// what a migration makes again are the developer's; its tables are data all the same.

// entersOwnDatabase reports whether a command runs something in the container of a database of the own compose
// project.
func (a *application) entersOwnDatabase() bool {
	if !wordset.Has("docker-compose_exec docker_compose_exec", strings.ReplaceAll(a.line.p.Program.Name, " ", "_")) {
		return false
	}
	dir, words := a.in.cwd.dir, a.line.argv
	at := slices.Index(words, "exec")
	if at < 0 || at > 2 || slices.Contains(words[:at], "") || a.in.rep.bits&effect.Remote != 0 ||
		a.isElsewhere() || a.isFamilySet(ofCompose) ||
		isUnsure(dir) || !within(dir, a.in.ctx.Dir) || a.in.changesCompose() {
		return false
	}
	for _, w := range words[at+1:] {
		switch {
		case wordset.Has("-T -t -i -it -ti --no-TTY --no-tty --interactive", w):
		default:
			return !isUnsure(w) && isDatabaseService(w)
		}
	}
	return false
}

// changesCompose reports whether the text so far has written what compose reads, or has set variables that nobody
// sees.
func (in *interp) changesCompose() bool {
	return slices.ContainsFunc(in.rep.res.Effects, func(e effect.Effect) bool {
		base := path.Base(e.Target)
		return wordset.Has("source .", e.By) ||
			e.Kind == effect.Write &&
				(!effect.IsKnown(base) || strings.HasPrefix(base, ".env") || strings.Contains(base, "compose"))
	})
}

// isDatabaseService reports whether the name of a service says that it is a database.
func isDatabaseService(name string) bool {
	name = strings.ToLower(name)
	if wordset.ContainsAny(name, "proxy", "export", "bounce", "admin", "tunnel", "pool", "gateway", "forward", "replica") {
		return false // it may lead to another one
	}
	return wordset.ContainsAny(name, "mysql", "maria", "postgres", "psql", "database", "timescale") ||
		slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }),
			func(part string) bool { return wordset.Has("db pg sql", part) })
}

// isOwnStatement reports whether what a client of SQL does in a database of the own project is to let an account
// in, or to drop what a migration makes again. The client may name no host but the container itself.
func (a *application) isOwnStatement(e *effect.Effect) bool {
	of := clients[a.line.argv[0]]
	if !a.in.rep.ownDatabase || a.in.changesCompose() || of != psql && of != mysql ||
		e.Bits&(effect.Recursive|effect.Bulk) != 0 &&
			e.Kind != effect.Permission || !a.isOfMigration(e) {
		return false
	}
	there := *of
	there.stays = func(string) bool { return true } // what it does is known by its effects
	d := databaseWords{of: &there}
	words := slices.Clone(a.line.argv[1:])
	for i, w := range words {
		if !effect.IsKnown(w) && wordset.HasAnyPrefix(w, "-p", "--password=") {
			words[i] = "-p"
		} else if isUnsure(w) {
			return false
		}
	}
	d.read(words)
	return !d.elsewhere && !a.isFamilySet(ofDatabases)
}

// isOfMigration reports whether an effect on a database lets an account in, or drops what has no data of its own.
func (a *application) isOfMigration(e *effect.Effect) bool {
	kind, _, _ := strings.Cut(e.Target, " ")
	switch e.Kind {
	case effect.Permission:
		return wordset.Has("account user role grant", kind)
	case effect.RemoteDelete:
		return wordset.Has("trigger view index function procedure routine aggregate rule constraint", kind)
	default:
		return false
	}
}
