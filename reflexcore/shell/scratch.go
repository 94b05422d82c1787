package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether what a command deletes elsewhere is there to be made again: a database
// for tests or on this machine, the volumes of a compose project, a cluster in containers. It only
// makes a question milder, so that all of the command must be known and no word may say production.

// scratch reports whether a command deletes what is there to be made again. target is what it
// deletes.
func (a *application) scratch(target string) bool {
	words := a.line.argv[1:]
	if !effect.IsKnown(target) || !slices.ContainsFunc(words, func(w string) bool { return w != "" }) ||
		slices.ContainsFunc(words, func(w string) bool { return !effect.IsKnown(w) || effect.IsProduction(w) }) ||
		effect.IsProduction(target) {
		return false
	}
	switch {
	case a.isCompose():
		return target == "volumes" && !a.isElsewhere("DOCKER_HOST", "DOCKER_CONTEXT")
	case wordset.Has("kind minikube k3d", a.line.argv[0]):
		return true
	case frameworks[a.line.argv[0]] || frameworks[path.Base(a.line.argv[0])]:
		return !a.isElsewhere("DATABASE_URL") && a.testsOnly(words)
	case clients[path.Base(a.line.argv[0])]:
		return !a.isElsewhere("PGHOST", "PGSERVICE", "MYSQL_HOST", "DATABASE_URL", "PGHOSTADDR") &&
			scratchDatabase(words, target)
	}
	return false
}

// onOwnMachine reports whether all words of a command are known, none says production, and no
// variable makes docker or compose act elsewhere.
func (a *application) onOwnMachine() bool {
	return a.in.rep.bits&effect.Remote == 0 &&
		!a.isElsewhere("DOCKER_HOST", "DOCKER_CONTEXT", "COMPOSE_FILE", "COMPOSE_PROJECT_NAME") &&
		!slices.ContainsFunc(a.line.argv, func(w string) bool { return !effect.IsKnown(w) || effect.IsProduction(w) })
}

// rebuilt reports whether a command deletes one cluster in containers, which the next start makes
// again.
func (a *application) rebuilt(target string) bool {
	all := func(w string) bool { return wordset.Has("--all -A --purge clusters", w) }
	return wordset.Has("kind minikube k3d", path.Base(a.line.argv[0])) && effect.IsKnown(target) && a.onOwnMachine() &&
		a.line.p.Bits&effect.Bulk == 0 && !slices.ContainsFunc(a.line.argv, all)
}

// ownCompose reports whether a command acts on the project of the compose file that compose finds in
// the working folder, or in one below it.
func (a *application) ownCompose() bool {
	dir := a.in.cwd.dir
	return a.onOwnMachine() && effect.IsKnown(dir) && within(dir, a.in.ctx.Dir) && !effect.IsProduction(dir) &&
		namesNoProject(a.line.argv[1:])
}

// namesNoProject reports whether no word of compose names another host, project or file than compose
// finds by itself.
func namesNoProject(words []string) bool {
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case flag == "-f" || flag == "--file":
			if !wordset.Has("docker-compose.yml docker-compose.yaml compose.yml compose.yaml", strings.TrimPrefix(value, "./")) {
				return false
			}
		case wordset.HasAnyPrefix(flag, "-p", "--project", "--profile", "--context", "-c", "-H", "--host", "--env-file"):
			return false
		}
	}
	return true
}

// upAfterDown marks the volumes that a compose down before deletes as rebuilt, if the command is the
// compose up of the same project: it makes them again at once.
func (a *application) upAfterDown() {
	down := &a.in.rep.down
	if down.dir == "" || a.line.p.Program == nil || !a.isCompose() || !slices.Contains(a.line.argv, "up") ||
		slices.Contains(a.line.argv, "--dry-run") || down.dir != a.in.cwd.dir || !a.ownCompose() {
		return
	}
	effects := a.in.rep.res.Effects
	for i := range effects[min(down.from, len(effects)):] {
		if e := &effects[down.from+i]; e.Kind == effect.RemoteDelete && e.Target == "volumes" && e.What == effect.Scratch {
			e.What = effect.Rebuilt
		}
	}
	*down = composeDown{}
}

// isCompose reports whether a command is one of compose.
func (a *application) isCompose() bool {
	return wordset.HasAnyPrefix(a.line.p.Program.Name, "docker-compose", "docker compose")
}

// A composeDown is a compose down of the working folder's own project that deletes its volumes.
type composeDown struct {
	dir  string // the working folder; empty is none
	from int    // the index of its effect
}

// clients are programs that are given a database by name, by host or as a file.
var clients = wordset.Of("psql pgcli mysql mariadb mycli dropdb mysqladmin sqlite3 sqlite litecli redis-cli " +
	"valkey-cli keydb-cli mongosh mongo cqlsh clickhouse-client sqlcmd duckdb usql")

// frameworks are programs that take the database from settings that an environment has.
var frameworks = wordset.Of("rails rake bin/rails bin/rake php artisan mix prisma sequelize sequelize-cli knex console")

// isElsewhere reports whether a variable may name another host.
func (a *application) isElsewhere(names ...string) bool {
	return slices.ContainsFunc(names, a.in.vars.isGiven)
}

// testsOnly reports whether the environment of a framework is one for tests.
func (a *application) testsOnly(words []string) bool {
	for i, w := range words {
		if v, found := strings.CutPrefix(w, "--env="); found && isScratchName(v) ||
			w == "--env" && i+1 < len(words) && isScratchName(words[i+1]) {
			return true
		}
	}
	for _, name := range [...]string{"RAILS_ENV", "APP_ENV", "NODE_ENV", "MIX_ENV"} {
		if v := a.in.vars.find(name); v != nil && len(v.alts) == 0 && effect.IsKnown(v.text) && isScratchName(v.text) {
			return true
		}
	}
	return false
}

// scratchDatabase reports whether the words of a client name a database that is for tests, and no
// host but this one or one for tests. A word behind a flag may be its value, so that it names nothing.
func scratchDatabase(words []string, target string) bool {
	named, hosted := false, false
	if kind, name, found := strings.Cut(target, " "); !found || kind == "database" || kind == "schema" {
		named = isScratchName(cmp.Or(name, kind)) // dropdb NAME, or DROP DATABASE
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		flag, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case strings.Contains(w, "://"):
			host, db := hostAndName(w)
			if !isNear(host) {
				return false
			}
			hosted, named = true, named || isScratchName(db)
		case flag == "-h" || flag == "--host":
			if !isNear(value) {
				return false
			}
			hosted = true
		case len(w) > 2 && strings.HasPrefix(w, "-h") && w != "-help":
			if !isNear(w[2:]) {
				return false
			}
			hosted = true
		case wordset.Has("-d -D --dbname --database", flag):
			named = named || isScratchName(value)
		case w != "" && w[0] != '-' && (i == 0 || words[i-1] == "" || words[i-1][0] != '-'):
			named = named || isScratchName(w)
		}
	}
	return named || hosted
}

// hostAndName returns the host and the database of an address.
func hostAndName(address string) (host, name string) {
	_, rest, _ := strings.Cut(address, "://")
	rest, _, _ = strings.Cut(rest, "?")
	host, name, _ = strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = strings.Cut(host, ":")
	return host, name
}

// isNear reports whether a host is this machine, or says that it is for tests.
func isNear(host string) bool {
	switch host {
	case "localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0":
		return true
	}
	return strings.HasPrefix(host, "/") || !strings.Contains(host, ".") && isScratchName(host)
}

// isScratchName reports whether a part of a name says that it is for tests or for one's own work. Of
// a file only the last name counts, unless it is a temporary one.
func isScratchName(name string) bool {
	if strings.ContainsAny(name, " \t\n") {
		return false // a statement
	}
	if strings.HasPrefix(name, "/tmp/") || strings.HasPrefix(name, "/var/tmp/") {
		return !strings.Contains(name, "..")
	}
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if scratchWords[part] {
			return true
		}
	}
	return false
}

var scratchWords = wordset.Of("test tests testing dev devel development local tmp temp scratch sandbox ci")
