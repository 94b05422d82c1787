// Package sqltext says what a text does to a database: SQL with the commands of its clients, and the
// calls of Redis, MongoDB and Elasticsearch.
//
// [Effects] splits a text into tokens as the dialect does (comments, quotes, escapes). If the
// dialect is not known, it tries three. Then it looks at each place where a verb can be: at the
// beginning of a statement, after EXPLAIN ANALYZE, in a WITH, in a DO block, in the text that EXEC
// runs. It is no parser of SQL: an unknown statement has no effect here.
//
// Deleted and emptied things are effect.RemoteDelete, with effect.Bulk for a whole table or database:
// a DELETE or UPDATE without WHERE, or with one that holds for every row, unless a LIMIT leaves few.
// Rights and accounts are effect.Permission. Files of the server or the client are effect.Read and
// effect.Write. A shell command inside (\!, .shell, COPY … PROGRAM, xp_cmdshell) is an effect.Exec
// and a payload.
//
// Read sql.go, verbs.go and always.go for statements, lex.go and tokens.go for their tokens, and the
// others by name.
package sqltext

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// Effects appends what a text does. The dialect is psql, mysql, sqlite3, mssql, sqlplus, redis-cli,
// mongosh, or the name of their server; empty if it is not known. Shell commands also go to payload,
// which may be nil.
func Effects(dst []effect.Effect, dialect, text string, lim Limits, payload func(effect.Payload)) []effect.Effect {
	a := &analysis{lim: lim, dialect: canonical[strings.ToLower(dialect)], dst: dst, base: len(dst),
		payload: payload}
	switch a.dialect {
	case "redis":
		return RedisText(dst, text, lim)
	case "mongo":
		return Mongo(dst, text, lim, payload)
	}
	a.judgeText(text)
	return a.dst
}

// judgeText analyzes a whole text, in each dialect that it may have.
func (a *analysis) judgeText(text string) {
	if len(text) > a.lim.Bytes {
		a.add(effect.Opaque, "", "SQL", effect.Partial)
		text = text[:max(a.lim.Bytes, 0)]
	}
	if a.dialect != "" {
		a.run(text, dialects[a.dialect], a.lim.Depth)
		return
	}
	a.run(text, dialects["postgres"], a.lim.Depth)
	if strings.ContainsAny(text, "\\#$`[\"") || strings.Contains(text, "/*") || strings.Contains(text, "--") {
		a.run(text, dialects["mysql"], a.lim.Depth)
		a.run(text, dialects["sqlite"], a.lim.Depth)
	}
}

// run splits a text into statements.
func (a *analysis) run(text string, q quirks, depth int) {
	if depth <= 0 {
		a.add(effect.Opaque, "", "SQL", effect.Partial)
		return
	}
	l := &lexer{s: text, q: q}
	var t []token
	flush := func() {
		if len(t) > 0 {
			a.statementOf(t, q, depth)
		}
		t = t[:0]
	}
	for {
		if len(t) == 0 && a.meta(l) {
			continue
		}
		tok, ok := l.next()
		if !ok {
			break
		}
		if a.tokens++; a.tokens > a.lim.Tokens {
			a.add(effect.Opaque, "", "SQL", effect.Partial)
			break
		}
		switch {
		case tok.is(";"), tok.is("go") && len(t) > 0 && a.dialect != "postgres":
			flush()
		case tok.is("\\"): // a command of psql in the middle of a line
			flush()
			l.at--
			if !a.meta(l) {
				l.at++
			}
		default:
			t = append(t, tok)
		}
	}
	if l.open && len(t) > 0 {
		a.partial = true
	}
	flush()
}

// starters are words after which another statement can begin.
var starters = wordset.Of("( ) then else begin loop as analyze analyse verbose do atomic declare immediate " +
	"transaction work query is execute materialized ~~")

// statementOf judges one statement.
func (a *analysis) statementOf(t []token, q quirks, depth int) {
	a.partial = slices.ContainsFunc(t, func(x token) bool { return x.kind == tWord && !effect.IsKnown(x.s) })
	if a.partial && !effect.IsKnown(t[0].s) {
		a.add(effect.Opaque, t[0].s, "SQL", 0)
	}
	defer func() { a.partial = false }()
	if (t[0].is("explain") || t[0].is("describe") || t[0].is("desc")) && !has(t, "analyze") && !has(t, "analyse") {
		return
	}
	for i := range t {
		if i == 0 || t[i-1].kind != tText && t[i-1].kind != tName && starters[t[i-1].s] {
			a.judgeVerb(t, i, q, depth)
		}
	}
	a.calls(t, q, depth)
	a.files(t)
}

// judgeVerb judges the statement that begins at i.
func (a *analysis) judgeVerb(t []token, i int, q quirks, depth int) {
	switch v := t[i]; v.s {
	case "drop":
		a.drop(t, i)
	case "truncate":
		if at(t, i+1).is("(") || at(t, i+1).is(",") {
			return // a function
		}
		a.list(t, i+1, "TRUNCATE", "table ", effect.RemoteDelete, effect.Bulk)
	case "delete":
		a.delete(t, i, depth)
	case "update":
		a.update(t, i, depth)
	case "alter":
		a.alter(t, i)
	case "grant", "revoke":
		if i > 0 && !t[i-1].is("then") && !t[i-1].is("begin") {
			return
		}
		a.grant(t, i)
	case "create":
		a.create(t, i, q, depth)
	case "shutdown":
		a.add(effect.Kill, "the server", "SHUTDOWN", effect.Bulk)
	case "kill":
		a.add(effect.Kill, "connection "+at(t, len(t)-1).s, "KILL", 0)
	case "reset", "purge":
		if at(t, i+1).isIn(logs) {
			a.add(effect.Discard, "logs", strings.ToUpper(v.s), effect.Bulk)
		}
	case "set":
		a.set(t, i)
	case "do":
		a.do(t, i, q, depth)
	case "exec", "execute", "call", "prepare":
		a.execute(t, i, q, depth)
	case "pragma":
		if at(t, i+1).is("writable_schema") || at(t, i+1).is("journal_mode") && has(t, "off") {
			a.add(effect.Permission, t[i+1].s, "PRAGMA", 0)
		}
	default:
		a.fileVerb(t, i)
	}
}

// logs are what RESET and PURGE discard.
var logs = wordset.Of("master binary replica slave recyclebin")

// fileVerb judges a statement that reads or writes files of the server.
func (a *analysis) fileVerb(t []token, i int) {
	switch v := t[i]; v.s {
	case "attach":
		if k := slices.IndexFunc(t[i+1:], func(x token) bool { return x.kind != tWord }); k >= 0 {
			a.add(effect.Write, t[i+1+k].s, "ATTACH DATABASE", 0)
		}
	case "vacuum":
		if k := index(t, i, "into"); k > 0 {
			a.add(effect.Write, at(t, k+1).s, "VACUUM INTO", 0)
		}
	case "copy":
		a.copyRows(t, i, "COPY")
	case "load":
		a.load(t, i)
	case "install":
		if at(t, i+1).is("plugin") || i == 0 && len(t) > 1 {
			a.add(effect.Exec, at(t, i+1).s, "INSTALL", 0)
		}
	case "backup", "restore":
		for k, x := range t {
			if x.is("disk") && at(t, k+1).is("=") {
				kind := effect.Write
				if v.is("restore") {
					kind = effect.Read
				}
				a.add(kind, at(t, k+2).s, strings.ToUpper(v.s), 0)
			}
		}
		if v.is("restore") {
			a.add(effect.RemoteDelete, "database", "RESTORE", effect.Bulk)
		}
	case "bulk":
		if k := firstText(t, i); k >= 0 {
			a.add(effect.Read, t[k].s, "BULK INSERT", 0)
		}
	}
}
