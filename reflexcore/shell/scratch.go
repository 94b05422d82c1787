package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether what a command deletes elsewhere is there to be made again: a database
// for tests or on this machine, the volumes of a compose project, a cluster in containers. It only
// makes a question milder, so that all of the command must be known and no word may say production.

// scratch says whether a command deletes what is there to be made again: effect.Named if its own name or
// place says so, effect.Scratch if only its host does, or "". target is what it deletes, statement the text of
// SQL that does. On another host, or inside a container, neither a name nor a variable of this side says
// anything.
func (a *application) scratch(target, statement string) string {
	words, name := a.line.argv[1:], a.line.argv[0]
	if a.in.rep.bits&effect.Remote != 0 || isUnsure(target) || slices.ContainsFunc(words, isUnsure) ||
		!slices.ContainsFunc(words, func(w string) bool { return w != "" }) {
		return ""
	}
	switch {
	case a.isCompose():
		return a.scratchVolumes(words, target)
	case wordset.Has(boxPrograms, name) && len(words) > 1 && words[0] == "volume":
		if !a.isElsewhere() && isScratchName(target) {
			return effect.Named
		}
	case wordset.Has(localClusters, name):
		return effect.Scratch
	case clusters[name]:
		return a.scratchInCluster(words)
	case wordset.Has("aws awslocal tflocal cdklocal samlocal", name):
		return a.emulated(name, words)
	case environments[path.Base(name)] != "":
		return a.scratchEnvironment(environments[path.Base(name)], words)
	case clients[name] != nil:
		return a.scratchDatabase(clients[name], words, target, statement)
	}
	return ""
}

// isUnsure reports whether a word is not known, or says production.
func isUnsure(w string) bool { return !effect.IsKnown(w) || effect.IsProduction(w) }

const (
	// boxPrograms are programs that make containers on this machine, if nothing says that it is another one.
	boxPrograms = "docker podman nerdctl"
	// localClusters are programs that make clusters in containers.
	localClusters = "kind minikube k3d"
)

// hostsOfDocker are the variables that make docker and podman act elsewhere.
var hostsOfDocker = strings.Fields("DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG CONTAINER_HOST CONTAINER_CONNECTION")

// onOwnMachine reports whether all words of a command are known, none says production, and no
// variable makes docker or compose act elsewhere.
func (a *application) onOwnMachine() bool {
	return a.in.rep.bits&effect.Remote == 0 &&
		!a.isElsewhere() && !a.isFamilySet(ofCompose) && !slices.ContainsFunc(a.line.argv, isUnsure)
}

// rebuilt reports whether a command deletes one cluster in containers, which the next start makes
// again.
func (a *application) rebuilt(target string) bool {
	all := func(w string) bool { return wordset.Has("--all -A --purge clusters", w) }
	return wordset.Has(localClusters, path.Base(a.line.argv[0])) && effect.IsKnown(target) && a.onOwnMachine() &&
		a.line.p.Bits&effect.Bulk == 0 && !slices.ContainsFunc(a.line.argv, all)
}

// ownCompose reports whether a command acts on the project of the compose file that compose finds in
// the working folder, or in one below it.
func (a *application) ownCompose() bool {
	dir, c := a.in.cwd.dir, readCompose(a.line.argv)
	own := len(c.files) == 0 || len(c.files) == 1 &&
		wordset.Has("docker-compose.yml docker-compose.yaml compose.yml compose.yaml", strings.TrimPrefix(c.files[0], "./"))
	return a.onOwnMachine() && effect.IsKnown(dir) && within(dir, a.in.ctx.Dir) && !effect.IsProduction(dir) &&
		own && c.known && c.project == "" && !c.profile
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

// environments are programs that take the database from settings that an environment has, and the variable
// that names it.
var environments = map[string]string{"rails": "RAILS_ENV", "rake": "RAILS_ENV", "php": "APP_ENV", "artisan": "APP_ENV",
	"console": "APP_ENV", "symfony": "APP_ENV", "mix": "MIX_ENV", "sequelize": "NODE_ENV", "sequelize-cli": "NODE_ENV",
	"knex": "NODE_ENV", "prisma": "DATABASE_URL", "manage.py": "DJANGO_SETTINGS_MODULE",
	"django-admin": "DJANGO_SETTINGS_MODULE"}

// clusters are programs that delete in the cluster of a context.
var clusters = wordset.Of("kubectl oc helm flux cilium istioctl linkerd")

// ActsInCluster reports whether a program deletes in the cluster of a context.
func ActsInCluster(program string) bool { return clusters[program] }

// isElsewhere reports whether a variable may make docker or podman act on another host.
func (a *application) isElsewhere() bool {
	return slices.ContainsFunc(hostsOfDocker, a.in.vars.isGiven)
}

// given returns the value of a variable that the command surely has; known is false if it is set, but to
// what is not known. Only what the text itself sets and exports is known: the environment may be that of
// something else, and sudo or env -u may take it away.
func (a *application) given(name string) (value string, set, known bool) {
	if v := a.in.vars.find(name); v != nil {
		return v.text, true, v.passed && !v.unset && !v.array && !v.clobbered && len(v.alts)+len(v.forms) == 0 &&
			effect.IsKnown(v.text) && !effect.IsProduction(v.text)
	}
	_, set = a.in.ctx.Env[name]
	return "", set, false
}

// isFamilySet reports whether the text or the environment sets a variable of a family.
func (a *application) isFamilySet(has func(name string) bool) bool {
	for i := range a.in.vars.list {
		if has(a.in.vars.list[i].name) {
			return true
		}
	}
	for name := range a.in.ctx.Env {
		if has(name) {
			return true
		}
	}
	return false
}

// ofDatabases reports whether a variable may say where a database is.
func ofDatabases(name string) bool {
	return (wordset.HasAnyPrefix(name, "PG", "MYSQL", "MARIADB", "POSTGRES", "DB_", "REDIS", "MONGO", "SQLCMD",
		"CLICKHOUSE", "DIRECT_URL") || wordset.ContainsAny(name, "DATABASE", "_DSN", "_DB_")) &&
		!wordset.Has("PGPASSWORD PGUSER PGPORT PGSSLMODE PGTZ PGAPPNAME PGCONNECT_TIMEOUT PGCLIENTENCODING PGDATA "+
			"MYSQL_PWD MYSQL_TCP_PORT", name) &&
		!strings.HasSuffix(name, "_PASSWORD") && !strings.HasSuffix(name, "_USER")
}

// plainOptions are options of frameworks that name no database.
const plainOptions = "--force -f --yes -y --noinput --no-input --no-interaction -n --seed --quiet -q --skip-seed " +
	"--skip-generate --force-reset --if-exists --trace --accept-data-loss"

// scratchEnvironment says whether the environment of a framework, and the database that it is given, are for
// tests. variable names its environment.
func (a *application) scratchEnvironment(variable string, words []string) string {
	what, names := "", 0
	for i := 0; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		switch {
		case wordset.Has("--env --environment --database --settings", flag) ||
			flag == "-e" && variable == "RAILS_ENV" || flag == variable && joined:
			if i++; joined {
				i--
			} else if i < len(words) {
				value = words[i]
			}
			if names++; !isScratchName(value[strings.LastIndexByte(value, '.')+1:]) || names > 1 {
				return ""
			}
			what = effect.Named
		case strings.HasPrefix(flag, "-") && (joined || !wordset.Has(plainOptions, flag)), joined,
			strings.HasSuffix(flag, ":all"):
			return "" // what the option does is not known
		}
	}
	rest := func(name string) bool { return name != "DATABASE_URL" && name != variable && ofDatabases(name) }
	if a.isFamilySet(rest) {
		return ""
	}
	if v, set, known := a.given(variable); set && variable != "DATABASE_URL" {
		if !known || !isScratchName(v[strings.LastIndexByte(v, '.')+1:]) {
			return ""
		}
		what = effect.Named
	}
	if v, set, known := a.given("NODE_ENV"); variable == "DATABASE_URL" && set && known && isScratchName(v) {
		what = effect.Scratch // it does not read the variable, but what starts it may
	}
	if v, set, known := a.given("DATABASE_URL"); set {
		host, db := hostAndName(v)
		switch {
		case !known || !isLoopback(host):
			return ""
		case isScratchName(db):
			return effect.Named
		}
		return effect.Scratch
	}
	return what
}

// inMemory reports whether a client of SQLite has a database that is only in memory.
func (a *application) inMemory() bool {
	opens := func(w string) bool {
		return !effect.IsKnown(w) || wordset.ContainsAny(strings.ToLower(w), ".open", ".restore", "attach", ".read")
	}
	return wordset.Has("sqlite3 sqlite duckdb", path.Base(a.line.argv[0])) && len(a.line.argv) > 1 &&
		a.line.argv[1] == ":memory:" && !slices.ContainsFunc(a.line.argv, opens)
}

// hostAndName returns the host and the database of an address that has nothing else which may name one.
func hostAndName(address string) (host, name string) {
	_, rest, _ := strings.Cut(address, "://")
	rest, settings, _ := strings.Cut(rest, "?")
	for s := range strings.SplitSeq(settings, "&") {
		if key, _, _ := strings.Cut(s, "="); !wordset.Has("sslmode schema connection_limit connect_timeout charset", key) &&
			s != "" {
			return "", ""
		}
	}
	host, name, _ = strings.Cut(rest, "/")
	if strings.ContainsAny(rest, "#\\, %;") || strings.ContainsAny(name, "@:/?") {
		return "", "" // another host may be meant
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if !strings.HasPrefix(host, "[") {
		host, _, _ = strings.Cut(host, ":")
	}
	return host, name
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool { return wordset.Has("localhost 127.0.0.1 ::1 [::1] 0.0.0.0", host) }

// isScratchName reports whether a name begins or ends with a word that says that it is for tests, or ends
// with one that says that it is for one's own work.
func isScratchName(name string) bool {
	if strings.ContainsFunc(name, func(r rune) bool { return strings.ContainsRune(" \t\n/.:;=@", r) }) {
		return false // an address, a path or a statement
	}
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return testWords[parts[0]] || testWords[last] || wordset.Has("dev devel development local ci", last)
}

var testWords = wordset.Of("test tests testing tmp temp scratch sandbox")

// isScratchFile reports whether the name of a file without its ending is one for tests, or the file is a
// temporary one.
func isScratchFile(file string) bool {
	if strings.Contains(file, "..") {
		return false
	}
	base := path.Base(file)
	return wordset.HasAnyPrefix(file, "/tmp/", "/var/tmp/") ||
		isScratchName(strings.ReplaceAll(strings.TrimSuffix(base, path.Ext(base)), ".", "-"))
}
