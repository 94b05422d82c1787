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

// scratch says whether a command deletes what is there to be made again: effect.Named if its own name or
// place says so, effect.Scratch if only its host does, or "". target is what it deletes.
func (a *application) scratch(target string) string {
	words, name := a.line.argv[1:], path.Base(a.line.argv[0])
	unsure := func(w string) bool { return !effect.IsKnown(w) || effect.IsProduction(w) }
	if unsure(target) || slices.ContainsFunc(words, unsure) ||
		!slices.ContainsFunc(words, func(w string) bool { return w != "" }) {
		return ""
	}
	switch {
	case a.isCompose():
		return a.scratchVolumes(words, target)
	case wordset.Has("docker podman nerdctl", name) && len(words) > 1 && words[0] == "volume":
		if !a.isElsewhere("DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST") && isScratchName(target) {
			return effect.Named
		}
	case wordset.Has("kind minikube k3d", name):
		return effect.Scratch
	case clusters[name]:
		return a.scratchInCluster(words)
	case wordset.Has("aws awslocal tflocal cdklocal samlocal", name):
		return a.emulated(name, words)
	case environments[name] != "":
		return a.scratchEnvironment(name, words)
	case clients[name]:
		return a.scratchDatabase(words, target)
	}
	return ""
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

// environments are programs that take the database from settings that an environment has, and the variable
// that names it.
var environments = map[string]string{"rails": "RAILS_ENV", "rake": "RAILS_ENV", "php": "APP_ENV", "artisan": "APP_ENV",
	"console": "APP_ENV", "symfony": "APP_ENV", "mix": "MIX_ENV", "sequelize": "NODE_ENV", "sequelize-cli": "NODE_ENV",
	"knex": "NODE_ENV", "prisma": "DATABASE_URL", "manage.py": "DJANGO_SETTINGS_MODULE",
	"django-admin": "DJANGO_SETTINGS_MODULE"}

// clusters are programs that delete in the cluster of a context.
var clusters = wordset.Of("kubectl oc helm flux cilium istioctl linkerd")

// isElsewhere reports whether a variable may name another host.
func (a *application) isElsewhere(names ...string) bool {
	return slices.ContainsFunc(names, a.in.vars.isGiven)
}

// given returns the value of a variable, of the text or of the environment; known is false if it is set to
// what is not known.
func (a *application) given(name string) (value string, set, known bool) {
	if v := a.in.vars.find(name); v != nil {
		return v.text, true, len(v.alts) == 0 && effect.IsKnown(v.text)
	}
	value, set = a.in.ctx.Env[name]
	return value, set, true
}

// scratchEnvironment says whether the environment of a framework, and the database that it is given, are for
// tests.
func (a *application) scratchEnvironment(name string, words []string) string {
	what := ""
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if wordset.Has("--env --environment --database --settings", flag) || flag == "-e" && name == "rails" {
			if !isScratchName(value[strings.LastIndexByte(value, '.')+1:]) {
				return ""
			}
			what = effect.Named
		}
	}
	if v, set, known := a.given(environments[name]); set && name != "prisma" {
		if !known || effect.IsProduction(v) {
			return ""
		}
		if isScratchName(v[strings.LastIndexByte(v, '.')+1:]) {
			what = effect.Named
		}
	}
	if v, set, known := a.given("NODE_ENV"); name == "prisma" && set && known && isScratchName(v) {
		what = effect.Scratch // it does not read the variable, but what starts it may
	}
	if v, set, known := a.given("DATABASE_URL"); set {
		if !known || effect.IsProduction(v) {
			return ""
		}
		host, db := hostAndName(v)
		switch {
		case !isNear(host):
			return ""
		case isScratchName(db):
			what = effect.Named
		case what == "":
			what = effect.Scratch
		}
	}
	return what
}

// scratchDatabase says whether a client is given a database that is for tests, and no host but this one or
// one for tests. A word behind a flag may be its value, so that it names nothing.
func (a *application) scratchDatabase(words []string, target string) string {
	d := databaseWords{}
	for _, name := range [...]string{"PGHOST", "PGHOSTADDR", "MYSQL_HOST", "DATABASE_URL", "PGDATABASE"} {
		v, set, known := a.given(name)
		switch {
		case !set:
		case !known || effect.IsProduction(v):
			return ""
		case name == "PGDATABASE":
			d.named = isScratchName(v)
		case name == "DATABASE_URL":
			host, _ := hostAndName(v)
			d.host(host)
		default:
			d.host(v)
		}
	}
	if a.isElsewhere("PGSERVICE", "PGSERVICEFILE", "REDISCLI_AUTH") {
		return ""
	}
	if kind, name, found := strings.Cut(target, " "); !found || kind == "database" || kind == "schema" {
		d.named = d.named || isScratchName(cmp.Or(name, kind)) // dropdb NAME, or DROP DATABASE
	}
	d.client = path.Base(a.line.argv[0])
	for i := range words {
		d.word(words, i)
	}
	switch {
	case d.elsewhere:
	case d.named:
		return effect.Named
	case d.hosted:
		return effect.Scratch
	}
	return ""
}

// databaseWords are what the words of a client say about where its database is.
type databaseWords struct {
	client           string
	named, hosted    bool
	elsewhere, first bool // the first operand was there
}

// host takes in the name of a host.
func (d *databaseWords) host(name string) {
	near := isNear(name)
	d.elsewhere = d.elsewhere || !near
	d.hosted = d.hosted || near
}

// word takes in one word.
func (d *databaseWords) word(words []string, i int) {
	w := words[i]
	flag, value, joined := strings.Cut(w, "=")
	if !joined && i+1 < len(words) {
		value = words[i+1]
	}
	switch {
	case strings.Contains(w, "://"):
		host, db := hostAndName(w)
		d.host(host)
		d.named = d.named || isScratchName(db)
	case wordset.Has("--service --login-path --defaults-file --defaults-extra-file", flag):
		d.elsewhere = true
	case strings.HasPrefix(w, "-") && wordset.Has("-h --host", flag):
		d.host(value)
	case len(w) > 2 && strings.HasPrefix(w, "-h") && w != "-help":
		d.host(w[2:])
	case wordset.Has("-d -D --dbname --database", flag) && !strings.Contains(value, "="):
		d.named = d.named || isScratchName(value)
	case flag == "-n" && d.client != "psql" && value != "0" && strings.Trim(value, "0123456789") == "" && value != "":
		d.hosted = true // a numbered database of a Redis, which is on this machine unless a host is named
	case strings.Contains(w, "host=") || strings.Contains(w, "hostaddr=") || strings.Contains(w, "service="):
		d.connection(w)
	case w != "" && w[0] != '-' && !d.first && (i == 0 || words[i-1] == "" || words[i-1][0] != '-'):
		d.first = true
		if !strings.HasSuffix(d.client, "-cli") || d.client == "litecli" {
			d.named = d.named || isScratchName(w)
		}
	}
}

// connection takes in a connection string of Postgres.
func (d *databaseWords) connection(w string) {
	d.first = true
	for part := range strings.FieldsSeq(w) {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "host", "hostaddr":
			d.host(strings.Trim(value, "'"))
		case "dbname":
			d.named = d.named || isScratchName(strings.Trim(value, "'"))
		case "service":
			d.elsewhere = true
		}
	}
}

// inMemory reports whether a client of SQLite has a database that is only in memory.
func (a *application) inMemory() bool {
	opens := func(w string) bool {
		return !effect.IsKnown(w) || wordset.ContainsAny(strings.ToLower(w), ".open", ".restore", "attach", ".read")
	}
	return wordset.Has("sqlite3 sqlite duckdb", path.Base(a.line.argv[0])) && len(a.line.argv) > 1 &&
		a.line.argv[1] == ":memory:" && !slices.ContainsFunc(a.line.argv, opens)
}

// hostAndName returns the host and the database of an address.
func hostAndName(address string) (host, name string) {
	_, rest, _ := strings.Cut(address, "://")
	if strings.ContainsAny(rest, "#\\, ") || strings.Contains(rest, "host=") || strings.Contains(rest, "service=") {
		return "", "" // another host may be meant
	}
	rest, _, _ = strings.Cut(rest, "?")
	host, name, _ = strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = strings.Cut(host, ":")
	return host, name
}

// isNear reports whether a host is this machine, or says that it is for tests.
func isNear(host string) bool {
	return isLoopback(host) || strings.HasPrefix(host, "/") || !strings.Contains(host, ".") && isScratchName(host)
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool { return wordset.Has("localhost 127.0.0.1 ::1 [::1] 0.0.0.0", host) }

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
