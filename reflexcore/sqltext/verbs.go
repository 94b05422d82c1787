package sqltext

import (
	"strings"

	"approver.example/reflexcore/effect"
)

func (a *analysis) drop(t []token, i int) {
	what := at(t, i+1).s
	next := i + 2
	switch what {
	case "database", "schema", "keyspace", "tablespace", "catalog", "owned":
		if what == "owned" {
			next++
		}
		a.list(t, next, "DROP "+strings.ToUpper(what), what+" ", effect.RemoteDelete, effect.Bulk|effect.Recursive)
	case "table", "foreign", "external", "collection", "index", "view", "materialized", "column", "sequence", "type",
		"domain", "partition", "stream", "topic", "dictionary", "bucket", "graph", "measurement", "series":
		bits := effect.Bits(0)
		switch what {
		case "table", "foreign", "external", "materialized":
			if what != "table" {
				next++
			}
			bits = effect.Bulk
			what = "table"
		case "collection", "keyspace", "measurement", "series":
			bits = effect.Bulk
		}
		a.list(t, next, "DROP "+strings.ToUpper(what), what+" ", effect.RemoteDelete, bits)
	case "temporary", "temp": // a session's own
	case "user", "role", "login", "group":
		a.list(t, next, "DROP "+strings.ToUpper(what), what+" ", effect.Permission, 0)
	case "policy", "trigger", "constraint", "rule", "extension", "publication", "subscription", "server", "function",
		"procedure", "aggregate", "event", "package", "routine", "masking", "audit":
		name, _ := object(t, next)
		a.say(Statement{Verb: "DROP " + strings.ToUpper(what), Object: what + " " + name, Lost: true},
			effect.RemoteDelete, 0)
	default:
		if !effect.IsKnown(what) {
			a.say(Statement{Verb: "DROP", Object: what, Lost: true}, effect.RemoteDelete, effect.Bulk)
		}
	}
}

// where reads the condition of a statement, and its limit.
func (a *analysis) where(t []token, table string, depth int) (w Where, rows int) {
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
		return Missing, rows
	}
	cond := t[from:max(from, to)]
	if len(cond) == 0 || len(cond) == 1 && !effect.IsKnown(cond[0].s) || always(cond, table, depth*4) {
		return Always, rows
	}
	return Some, rows
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
		a.say(Statement{Verb: "DELETE", Object: "rows", Where: Some, Lost: true}, effect.RemoteDelete, 0)
		return
	}
	w, rows := a.where(t, table, depth)
	if w == Missing && (has(t, "using") || has(t, "join")) {
		w = Some // the join selects rows
	}
	a.rows("DELETE", table, w, rows)
}

func (a *analysis) update(t []token, i int, depth int) {
	t = t[i:statementEnd(t, i)]
	if at(t, 1).is("set") || !has(t, "set") || at(t, 1).is("statistics") {
		return // ON CONFLICT DO UPDATE SET, FOR UPDATE
	}
	table := targetOf(t)
	w, rows := a.where(t, table, depth)
	if w == Missing && (has(t, "from") || has(t, "join")) {
		w = Some
	}
	a.rows("UPDATE", table, w, rows)
}

func (a *analysis) alter(t []token, i int) {
	what := at(t, i+1).s
	name, _ := object(t, i+2)
	switch what {
	case "user", "role", "login", "group":
		a.say(Statement{Verb: "ALTER " + strings.ToUpper(what), Object: what + " " + name}, effect.Permission,
			allRights(t))
	case "system":
		a.setting(t, i)
		a.say(Statement{Verb: "ALTER SYSTEM", Object: at(t, i+3).s}, effect.Permission, 0)
	case "default":
		a.say(Statement{Verb: "ALTER DEFAULT PRIVILEGES", Object: "privileges"}, effect.Permission, 0)
	case "database", "schema", "table":
		if k := index(t, i, "owner"); k > 0 {
			a.say(Statement{Verb: "ALTER " + strings.ToUpper(what), Object: what + " " + name}, effect.Permission, 0)
		}
		for k := i + 2; k < len(t); k++ {
			if !t[k].is("drop") && !t[k].is("truncate") {
				continue
			}
			switch n := at(t, k+1); {
			case n.is("constraint"), n.is("default"), n.is("not"), n.is("index"), n.is("key"), n.is("primary"),
				n.is("foreign"), n.is("check"), n.is("identity"), n.is("expression"):
			default:
				verb := "ALTER TABLE … DROP"
				column, _ := object(t, k+2)
				if !n.is("column") && !n.is("partition") {
					column, _ = object(t, k+1)
				}
				a.say(Statement{Verb: verb, Object: "column " + name + "." + column, Lost: true}, effect.RemoteDelete,
					0)
			}
		}
		if has(t, "disable") && (has(t, "trigger") || has(t, "security")) {
			a.say(Statement{Verb: "ALTER TABLE … DISABLE", Object: "table " + name}, effect.Permission, 0)
		}
	}
}

// allRights returns Bulk if an account gets all rights.
func allRights(t []token) effect.Bits {
	for i, x := range t {
		if x.is("superuser") || x.is("sysadmin") || x.is("all") &&
			(at(t, i+1).is("privileges") || at(t, i+1).is("on")) || x.is("sysdba") || x.is("dba") || x.is("super") ||
			x.is("bypassrls") || x.is("replication") {
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
	a.say(Statement{Verb: verb, Object: "account " + name}, effect.Permission, allRights(t))
}

// setting judges server settings whose value runs.
func (a *analysis) setting(t []token, i int) {
	for k := i; k < len(t); k++ {
		switch t[k].s {
		case "archive_command", "restore_command", "archive_cleanup_command", "recovery_end_command",
			"ssl_passphrase_command":
			for _, x := range t[k+1:] {
				if x.kind == tText {
					a.add(effect.Effect{Kind: effect.Persist, Target: x.s, By: "ALTER SYSTEM"})
					a.shell(effect.Shell, x.s, t[k].s+" of the server")
				}
			}
		case "shared_preload_libraries", "session_preload_libraries", "local_preload_libraries",
			"dynamic_library_path", "plugin_dir", "init_file", "general_log_file", "slow_query_log_file":
			a.add(effect.Effect{Kind: effect.Persist, Target: at(t, len(t)-1).s, By: t[k].s})
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
		a.say(Statement{Verb: "SET " + strings.ToUpper(n.s), Object: at(t, 2).s}, effect.Permission, 0)
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

func (a *analysis) create(t []token, i int, q quirks, depth int) {
	k := i + 1
	for at(t, k).is("or") || at(t, k).is("replace") || at(t, k).is("aggregate") || at(t, k).is("trusted") ||
		at(t, k).is("definer") {
		k++
	}
	switch what := at(t, k).s; what {
	case "user", "role", "login":
		name, _ := object(t, k+1)
		a.say(Statement{Verb: "CREATE " + strings.ToUpper(what), Object: what + " " + name}, effect.Permission,
			allRights(t))
	case "extension", "language", "plugin", "assembly", "library":
		name, _ := object(t, k+1)
		a.say(Statement{Verb: "CREATE " + strings.ToUpper(what), Object: what + " " + name}, effect.Permission, 0)
	case "function", "procedure":
		if s := index(t, k, "soname"); s > 0 {
			a.add(effect.Effect{Kind: effect.Exec, Target: at(t, s+1).s, By: "CREATE FUNCTION … SONAME"})
		}
		lang := language(t, k)
		for n, x := range t[k:] {
			if x.kind != tText || n == 0 || !t[k+n-1].is("as") {
				continue
			}
			switch {
			case lang == "c":
				a.add(effect.Effect{Kind: effect.Exec, Target: x.s, By: "CREATE FUNCTION … LANGUAGE c"})
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
	for _, x := range t[i+1:] {
		if x.kind != tText {
			continue
		}
		if languages[lang] != "" {
			a.shell(languages[lang], x.s, "a DO block in "+lang)
			return
		}
		a.run(x.s, q, depth-1)
		return
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
		a.add(effect.Effect{Kind: effect.Opaque, Target: what.s, By: "EXECUTE", Bits: effect.Partial})
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
