package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether the database that a client is given is one for tests. Every option has to be
// known, and no statement may name another database.

// A dialect says what the words of a client mean.
type dialect struct {
	kinds    map[string]byte // of an option: 'd'atabase, 'h'ost, 's'tatement, 'v'alue, 'j'oined value or 'p'lain
	long     bool            // its options have one dash
	postgres bool
	files    bool
	stays    func(statement string) bool // it does not name another database
}

func dialectOf(d dialect, kinds ...string) *dialect {
	d.kinds = map[string]byte{}
	for _, k := range kinds {
		for _, flag := range strings.Fields(k[1:]) {
			d.kinds[flag] = k[0]
		}
	}
	return &d
}

var (
	psql = dialectOf(dialect{postgres: true, stays: staysInSQL}, "d-d --dbname", "h-h --host", "s-c --command",
		"v-p --port -U --username -v --set -P --pset -F -R",
		"p-q --quiet -t --tuples-only -A --no-align -X --no-psqlrc -w --no-password -W --password "+
			"-1 --single-transaction -a -b -e -E -x --expanded")
	mysql = dialectOf(dialect{stays: staysInSQL}, "d-D --database", "h-h --host", "s-e --execute", "v-u --user -P --port",
		"j-p", "p--password -N -B -s -f --force -t --silent --batch --skip-column-names --raw -r")
	dropdb = dialectOf(dialect{stays: staysInSQL}, "h-h --host", "v-p --port -U --username",
		"p-f --force -e --echo --if-exists -w --no-password -W --password")
	sqlite = dialectOf(dialect{long: true, files: true, stays: staysInSQL}, "s-cmd -c",
		"p-batch -bail -header -noheader -json -csv -line -list -column -box -table -markdown -quote -echo -safe")
	redis = dialectOf(dialect{stays: staysInRedis}, "h-h", "v-p -a --user --pass", "n-n", "p--no-auth-warning")
	mongo = dialectOf(dialect{stays: mongoDeletes().MatchString}, "h--host", "s--eval",
		"v--port -u --username -p --password --authenticationDatabase", "p--quiet")
	house = dialectOf(dialect{stays: staysInSQL}, "d-d --database", "h-h --host", "s-q --query",
		"v-u --user --password --port", "p-m --multiline")
	sqlcmd = dialectOf(dialect{stays: staysInSQL}, "d-d", "h-S", "s-q -Q", "v-U -P", "p-E -C -b")
)

// clients are programs that are given a database by name, by host or as a file.
var clients = map[string]*dialect{"psql": psql, "pgcli": psql, "mysql": mysql, "mariadb": mysql, "mycli": mysql,
	"mysqladmin": mysql, "dropdb": dropdb, "sqlite3": sqlite, "sqlite": sqlite, "litecli": sqlite, "duckdb": sqlite,
	"redis-cli": redis, "valkey-cli": redis, "keydb-cli": redis, "mongosh": mongo, "mongo": mongo,
	"clickhouse-client": house, "sqlcmd": sqlcmd}

// mongoDeletes are statements that delete in the database that is given.
var mongoDeletes = lazyregexp.New(`^\s*(db(\.\w+)?\.(drop|dropDatabase|deleteMany|remove)\((\{\})?\)\s*;?\s*)*$`)

// leaves are words of statements that go to another database, or that run text.
var leaves = wordset.Of("use attach connect dblink fdw server foreign dbname hostaddr service keyspace open restore " +
	"read source system load import export copy execute prepare do call sp exec")

// staysInSQL reports whether a statement names no other database.
func staysInSQL(text string) bool {
	text = strings.ToLower(text)
	if strings.ContainsAny(strings.ReplaceAll(text, "public.", ""), `.\$!:`) {
		return false
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if leaves[word] {
			return false
		}
	}
	return true
}

// staysInRedis reports whether a command of Redis acts in one database only.
func staysInRedis(text string) bool {
	command, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	return wordset.Has("flushdb del unlink hdel srem zrem", command) && !strings.ContainsAny(text, "\r\n;")
}

// databaseWords are what the words of a client say about where its database is.
type databaseWords struct {
	of                *dialect
	names             []string
	hosted, elsewhere bool
	operands          int
	command           []string // of Redis
}

// placesOfDatabases are the variables that say in which database a client is, as far as they are read.
const placesOfDatabases = "PGHOST PGHOSTADDR MYSQL_HOST PGDATABASE"

// scratchDatabase says whether a client is given a database that is for tests, and no host but this one.
func (a *application) scratchDatabase(of *dialect, words []string, target, statement string) string {
	d := databaseWords{of: of}
	d.elsewhere = statement != "" && !of.stays(statement)
	d.read(words)
	client := a.line.argv[0]
	kind, name, found := strings.Cut(target, " ")
	switch {
	case client == "dropdb" || client == "mysqladmin":
		d.names = []string{target}
	case found && name != "" && (kind == "database" || kind == "schema" && !of.postgres):
		d.names = []string{name}
	}
	for variable := range strings.FieldsSeq(placesOfDatabases) {
		v, set, known := a.given(variable)
		switch {
		case !set:
		case !known:
			return ""
		case variable != "PGDATABASE":
			d.host(v)
		case len(d.names) == 0:
			d.name(v)
		}
	}
	rest := func(name string) bool {
		return ofDatabases(name) && !wordset.Has(placesOfDatabases, name)
	}
	switch {
	case d.elsewhere || a.isFamilySet(rest) || of == redis && !staysInRedis(strings.Join(d.command, " ")):
	case len(d.names) == 1 && isScratchName(d.names[0]), of.files && a.databaseFile() != "":
		return effect.Named
	case d.hosted:
		return effect.Scratch
	}
	return ""
}

// read takes in the words of a client as its options are read.
func (d *databaseWords) read(words []string) {
	for i := 0; i < len(words) && !d.elsewhere; i++ {
		w := words[i]
		flag, value, joined := strings.Cut(w, "=")
		kind := d.of.kinds[flag]
		switch {
		case w == "" || w[0] != '-':
			d.operand(w)
			continue
		case !strings.HasPrefix(w, "--") && !d.of.long:
			_, value, kind = d.cluster(w)
			joined = value != ""
		}
		switch {
		case kind == 0:
			d.elsewhere = true
		case kind == 'p' || kind == 'j':
		case joined:
			d.option(kind, value)
		default:
			if i++; i < len(words) {
				d.option(kind, words[i])
			}
		}
	}
}

// cluster reads short options in one word, of which the last may have a value.
func (d *databaseWords) cluster(w string) (flag, value string, kind byte) {
	for i := 1; i < len(w); i++ {
		flag = "-" + w[i:i+1]
		if kind = d.of.kinds[flag]; kind != 'p' {
			return flag, w[i+1:], kind
		}
	}
	return flag, "", kind
}

// option takes in an option with its value.
func (d *databaseWords) option(kind byte, value string) {
	switch kind {
	case 'd':
		d.name(value)
	case 'h':
		d.host(value)
	case 's':
		d.elsewhere = d.elsewhere || !d.of.stays(value)
	case 'n': // a numbered database of a Redis, which is on this machine unless a host is named
		d.hosted = d.hosted || value != "0" && strings.Trim(value, "0123456789") == "" && value != ""
	}
}

// operand takes in a word that is no option: first the database, then statements of SQLite, or another
// word, such as a user.
func (d *databaseWords) operand(w string) {
	d.operands++
	switch {
	case d.of == redis:
		d.command = append(d.command, w)
	case d.of == sqlcmd || d.of == house:
		d.elsewhere = true
	case d.operands == 1 && !d.of.files:
		d.name(w)
	case d.operands > 1 && d.of.files:
		d.elsewhere = d.elsewhere || !d.of.stays(w)
	}
}

// host takes in the name of a host, or of the folder of a socket.
func (d *databaseWords) host(name string) {
	near := isLoopback(name) || strings.HasPrefix(name, "/")
	d.elsewhere = d.elsewhere || !near
	d.hosted = d.hosted || near
}

// name takes in the name of a database, an address or a connection string of Postgres.
func (d *databaseWords) name(w string) {
	switch {
	case strings.Contains(w, "://"):
		host, db := hostAndName(w)
		d.host(host)
		d.names = append(d.names, db)
	case strings.Contains(w, "="):
		d.connection(w)
	default:
		d.elsewhere = d.elsewhere || strings.ContainsAny(w, "./:@ ")
		d.names = append(d.names, w)
	}
}

// connection takes in a connection string of Postgres.
func (d *databaseWords) connection(w string) {
	for part := range strings.FieldsSeq(w) {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "host":
			d.host(value)
		case "dbname":
			d.elsewhere = d.elsewhere || strings.ContainsAny(value, "./:@'")
			d.names = append(d.names, value)
		case "port", "user", "password", "sslmode":
			d.elsewhere = d.elsewhere || strings.ContainsAny(value, `'\`)
		default:
			d.elsewhere = true
		}
	}
}

// databaseFile is the path of the file for tests that a client of SQLite is given, or empty: one below the
// folder of the call, or a temporary one.
func (a *application) databaseFile() string {
	of := clients[a.line.argv[0]]
	if of == nil || !of.files {
		return ""
	}
	words := a.line.argv[1:]
	i := slices.IndexFunc(words, func(w string) bool { return w == "" || w[0] != '-' })
	if i < 0 || i > 0 && of.kinds[words[i-1]] == 's' || strings.Contains(words[i], ":") || !isScratchFile(words[i]) ||
		!effect.IsKnown(a.in.cwd.dir) {
		return ""
	}
	file := a.in.fs.expandHome(words[i])
	if !strings.HasPrefix(file, "/") {
		file = path.Join(a.in.cwd.dir, file)
	}
	if !within(path.Dir(file), a.in.ctx.Dir) && !wordset.HasAnyPrefix(file, "/tmp/", "/var/tmp/") {
		return ""
	}
	return file
}
