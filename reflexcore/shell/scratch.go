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
	name := a.line.p.Program.Name
	switch {
	case strings.HasPrefix(name, "docker-compose") || strings.HasPrefix(name, "docker compose"):
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
