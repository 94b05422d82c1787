package sqltext

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

func (a *analysis) drop(t []token, i int) {
	what, next := at(t, i+1).s, i+2
	kind, bits := effect.RemoteDelete, effect.Bits(0)
	switch what {
	case "owned": // DROP OWNED BY
		next, bits = next+1, effect.Bulk|effect.Recursive
	case "database", "schema", "keyspace", "tablespace", "catalog":
		bits = effect.Bulk | effect.Recursive
	case "foreign", "external", "materialized": // DROP FOREIGN TABLE
		what, next, bits = "table", next+1, effect.Bulk
	case "table", "collection", "measurement", "series":
		bits = effect.Bulk
	case "index", "view", "column", "sequence", "type", "domain", "partition", "stream", "topic", "dictionary", "bucket",
		"graph":
	case "user", "role", "login", "group":
		kind = effect.Permission
	case "policy", "trigger", "constraint", "rule", "extension", "publication", "subscription", "server", "function",
		"procedure", "aggregate", "event", "package", "routine", "masking", "audit":
		name, _ := object(t, next)
		a.add(kind, what+" "+name, "DROP "+strings.ToUpper(what), 0)
		return
	default: // also temporary things, which belong to a session
		if !effect.IsKnown(what) {
			a.add(kind, what, "DROP", effect.Bulk)
		}
		return
	}
	a.list(t, next, "DROP "+strings.ToUpper(what), what+" ", kind, bits)
}

// whereOf returns the condition of a statement, if it has one, and the number of rows that its limit
// leaves.
func whereOf(t []token) (cond []token, given bool, rows int) {
	level, from, to := 0, -1, len(t)
	for k, x := range t {
		switch {
		case x.is("("):
			level++
			if k > 0 && t[k-1].is("top") {
				rows = positive(at(t, k+1).s)
			}
		case x.is(")"):
			level--
		case level > 0:
		case x.is("top") && at(t, k+1).kind == tNumber:
			rows = positive(at(t, k+1).s)
		case x.is("where"):
			from = k + 1
		case x.is("limit"):
			rows = positive(at(t, k+1).s)
			to = min(to, k)
		case x.is("returning"), x.is("order"), x.is("output"), x.is("option"), x.is("allow"):
			if from >= 0 {
				to = min(to, k)
			}
		}
	}
	if from < 0 {
		return nil, false, rows
	}
	return t[from:max(from, to)], true, rows
}

// targetOf returns the table after DELETE or UPDATE, and after their TOP (n).
func targetOf(t []token) string {
	k := 1
	if at(t, k).is("top") {
		k = closing(t, k+1) + 1
	}
	table, _ := object(t, k)
	return table
}

func (a *analysis) delete(t []token, i int, depth int) {
	t = t[i:statementEnd(t, i)]
	if len(t) < 2 && !at(t, 0).is("delete") {
		return
	}
	table := targetOf(t)
	if f := index(t, 1, "from"); f > 0 {
		table, _ = object(t, f+1)
	}
	if len(t) == 1 { // MERGE … THEN DELETE, TRUNCATE's kin
		a.add(effect.RemoteDelete, "rows", "DELETE", 0)
		return
	}
	cond, given, rows := whereOf(t)
	selects := has(t, "using") || has(t, "join") // the join selects rows
	a.rows("DELETE", table, !given && !selects || given && always(cond, table, depth*4), rows)
}

func (a *analysis) update(t []token, i int, depth int) {
	t = t[i:statementEnd(t, i)]
	if at(t, 1).is("set") || !has(t, "set") || at(t, 1).is("statistics") {
		return // ON CONFLICT DO UPDATE SET, FOR UPDATE
	}
	table := targetOf(t)
	cond, given, rows := whereOf(t)
	selects := has(t, "from") || has(t, "join")
	a.rows("UPDATE", table, !given && !selects || given && always(cond, table, depth*4), rows)
}

func (a *analysis) alter(t []token, i int) {
	what := at(t, i+1).s
	name, _ := object(t, i+2)
	switch what {
	case "user", "role", "login", "group":
		a.add(effect.Permission, what+" "+name, "ALTER "+strings.ToUpper(what), allRights(t))
	case "system":
		a.setting(t, i)
		a.add(effect.Permission, at(t, i+3).s, "ALTER SYSTEM", 0)
	case "default":
		a.add(effect.Permission, "privileges", "ALTER DEFAULT PRIVILEGES", 0)
	case "database", "schema", "table":
		if k := index(t, i, "owner"); k > 0 {
			a.add(effect.Permission, what+" "+name, "ALTER "+strings.ToUpper(what), 0)
		}
		for k := i + 2; k < len(t); k++ {
			if !t[k].is("drop") && !t[k].is("truncate") {
				continue
			}
			n, from := at(t, k+1), k+1
			if n.isIn(constraints) {
				continue
			}
			if n.is("column") || n.is("partition") {
				from++
			}
			column, _ := object(t, from)
			a.add(effect.RemoteDelete, "column "+name+"."+column, "ALTER TABLE … DROP", 0)
		}
		if has(t, "disable") && (has(t, "trigger") || has(t, "security")) {
			a.add(effect.Permission, "table "+name, "ALTER TABLE … DISABLE", 0)
		}
	}
}

// constraints are parts of a table without data.
var constraints = wordset.Of("constraint default not index key primary foreign check identity expression")

// powerful are rights that include all others, or lead to them.
var powerful = wordset.Of("superuser sysadmin sysdba dba super bypassrls replication")

// allRights returns Bulk if an account gets all rights.
func allRights(t []token) effect.Bits {
	for i, x := range t {
		if x.isIn(powerful) || x.is("all") && (at(t, i+1).is("privileges") || at(t, i+1).is("on")) {
			return effect.Bulk
		}
	}
	return 0
}

func (a *analysis) grant(t []token, i int) {
	verb := strings.ToUpper(t[i].s)
	to := "to"
	if verb == "REVOKE" {
		to = "from"
	}
	k := index(t, i, to)
	name, _ := object(t, k+1)
	a.add(effect.Permission, "account "+name, verb, allRights(t))
}

// setting judges server settings whose value runs.
func (a *analysis) setting(t []token, i int) {
	for k := i; k < len(t); k++ {
		switch t[k].s {
		case "archive_command", "restore_command", "archive_cleanup_command", "recovery_end_command",
			"ssl_passphrase_command":
			for _, x := range t[k+1:] {
				if x.kind == tText {
					a.add(effect.Persist, x.s, "ALTER SYSTEM", 0)
					a.shell(effect.Shell, x.s, t[k].s+" of the server")
				}
			}
		case "shared_preload_libraries", "session_preload_libraries", "local_preload_libraries",
			"dynamic_library_path", "plugin_dir", "init_file", "general_log_file", "slow_query_log_file":
			a.add(effect.Persist, at(t, len(t)-1).s, t[k].s, 0)
		}
	}
}

func (a *analysis) set(t []token, i int) {
	if i > 0 {
		return
	}
	switch n := at(t, 1); {
	case n.is("global"), n.is("persist"), strings.HasPrefix(n.s, "@@global"), n.is("@@"), n.is("password"):
		a.setting(t, i)
		a.add(effect.Permission, at(t, 2).s, "SET "+strings.ToUpper(n.s), 0)
	}
}

// languages are the languages of server-side code other than the database's own.
var languages = map[string]string{"plpythonu": effect.Python, "plpython3u": effect.Python, "plpython2u": effect.Python,
	"plperlu": effect.Perl, "plperl": effect.Perl, "plsh": effect.Shell, "plrubyu": effect.Ruby,
	"plv8": effect.JavaScript, "pllua": effect.Lua, "javascript": effect.JavaScript, "python": effect.Python,
	"js": effect.JavaScript}

func language(t []token, i int) string {
	if k := index(t, i, "language"); k >= 0 {
		return at(t, k+1).s
	}
	return ""
}

// modifiers are words between CREATE and what it creates.
var modifiers = wordset.Of("or replace aggregate trusted definer")

func (a *analysis) create(t []token, i int, q quirks, depth int) {
	k := i + 1
	for at(t, k).isIn(modifiers) {
		k++
	}
	switch what := at(t, k).s; what {
	case "user", "role", "login":
		name, _ := object(t, k+1)
		a.add(effect.Permission, what+" "+name, "CREATE "+strings.ToUpper(what), allRights(t))
	case "extension", "language", "plugin", "assembly", "library":
		name, _ := object(t, k+1)
		a.add(effect.Permission, what+" "+name, "CREATE "+strings.ToUpper(what), 0)
	case "function", "procedure":
		if s := index(t, k, "soname"); s > 0 {
			a.add(effect.Exec, at(t, s+1).s, "CREATE FUNCTION … SONAME", 0)
		}
		lang := language(t, k)
		for n, x := range t[k:] {
			if x.kind != tText || n == 0 || !t[k+n-1].is("as") {
				continue
			}
			switch {
			case lang == "c":
				a.add(effect.Exec, x.s, "CREATE FUNCTION … LANGUAGE c", 0)
			case languages[lang] != "":
				a.shell(languages[lang], x.s, "a function in "+lang)
			default:
				a.run(x.s, q, depth-1)
			}
		}
	case "database", "table":
		if k2 := index(t, k, "program"); k2 > 0 && at(t, k2+1).kind == tText {
			a.shell(effect.Shell, t[k2+1].s, "CREATE … PROGRAM")
		}
	}
}

func (a *analysis) do(t []token, i int, q quirks, depth int) {
	lang := language(t, i)
	k := firstText(t, i+1)
	switch {
	case k < 0:
	case languages[lang] != "":
		a.shell(languages[lang], t[k].s, "a DO block in "+lang)
	default:
		a.run(t[k].s, q, depth-1)
	}
}

// execute judges text that runs: EXEC('…'), EXECUTE IMMEDIATE '…', PREPARE s FROM '…', sp_executesql
// N'…', EXECUTE format('…').
func (a *analysis) execute(t []token, i int, q quirks, depth int) {
	if at(t, i+1).kind == tWord && strings.HasPrefix(strings.TrimPrefix(procedure(t, i+1), "sys."), "xp_") ||
		strings.HasPrefix(procedure(t, i+1), "sp_oa") {
		return // calls knows it
	}
	found, joined := false, ""
	for k, x := range t[i+1:] {
		prev := t[i+k]
		if x.kind == tText && (joined == "" || prev.is("||") || prev.is("+") || prev.is("concat") || prev.is(",")) {
			joined += x.s
			found = true
			if next := at(t, i+k+2); !next.is("||") && !next.is("+") {
				break
			}
		} else if found && x.kind == tWord && (prev.is("||") || prev.is("+")) {
			joined += effect.Unknown
			a.partial = true
		}
	}
	switch {
	case found && strings.TrimSpace(joined) != "":
		partial := a.partial
		a.run(joined, q, depth-1)
		a.partial = partial
	case t[i].is("execute") && at(t, i+1).is("immediate"), at(t, i+1).is("(") && !t[i].is("prepare"),
		strings.HasPrefix(at(t, i+1).s, "@") && !t[i].is("call"):
		what := at(t, i+1)
		if what.is("(") || what.is("immediate") {
			what = at(t, i+2)
		}
		a.add(effect.Opaque, what.s, "EXECUTE", effect.Partial)
	}
}

func procedure(t []token, i int) string {
	name, after := object(t, i)
	for at(t, after).is(".") { // master..xp_cmdshell
		var rest string
		rest, after = object(t, after+1)
		name += "." + rest
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}
