// Package sqltext says what a text does to a database: SQL with the commands of its clients, and the
// calls of Redis, MongoDB and Elasticsearch.
//
// [Effects] splits a text into tokens as the dialect does (comments, quotes, escapes). If the
// dialect is not known, it tries three. Then it looks at each place where a verb can be: at the
// beginning of a statement, after EXPLAIN ANALYZE, in a WITH, in a DO block, in the text that EXEC
// runs. It is no parser of SQL: an unknown statement has no effect here.
//
// [Statements] returns for each verb its object, whether WHERE is missing or holds for every row,
// and how many rows a LIMIT leaves. Deleted and emptied things are effect.RemoteDelete, with
// effect.Bulk for a whole table or database. Rights and accounts are effect.Permission. Files of the
// server or the client are effect.Read and effect.Write. A shell command inside (\!, .shell, COPY …
// PROGRAM, xp_cmdshell) is an effect.Exec and a payload.
//
// Read sql.go, verbs.go and always.go for statements, lex.go and tokens.go for their tokens, and the
// others by name.
package sqltext

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// Effects appends what a text does. The dialect is psql, mysql, sqlite3, mssql, sqlplus, redis-cli,
// mongosh, or the name of their server; empty if it is not known. Shell commands also go to payload,
// which may be nil.
func Effects(dst []effect.Effect, dialect, text string, lim Limits, payload func(effect.Payload)) []effect.Effect {
	switch strings.ToLower(dialect) {
	case "redis", "redis-cli", "valkey", "valkey-cli", "keydb-cli":
		return RedisText(dst, text, lim)
	case "mongo", "mongosh", "mongodb":
		return Mongo(dst, text, lim, payload)
	}
	a := &analysis{lim: lim, dst: dst, base: len(dst), payload: payload, payloadsOf: map[string]bool{}}
	a.judgeText(dialect, text)
	return a.dst
}

// Statements yields the verbs of a text.
func Statements(dialect, text string, lim Limits, yield func(Statement)) {
	a := &analysis{lim: lim, statement: yield, payloadsOf: map[string]bool{}}
	a.judgeText(dialect, text)
}

// judgeText analyzes a whole text, in each dialect that it may have.
func (a *analysis) judgeText(dialect, text string) {
	if len(text) > a.lim.Bytes {
		a.add(effect.Effect{Kind: effect.Opaque, By: "SQL", Bits: effect.Partial})
		text = text[:max(a.lim.Bytes, 0)]
	}
	if d := canonical(dialect); d != "" {
		a.dialect = d
		a.run(text, dialects[d], a.lim.Depth)
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
		a.add(effect.Effect{Kind: effect.Opaque, By: "SQL", Bits: effect.Partial})
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
			a.add(effect.Effect{Kind: effect.Opaque, By: "SQL", Bits: effect.Partial})
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
	a.partial = false
	for _, x := range t {
		if x.kind == tWord && !effect.IsKnown(x.s) {
			a.partial = true
		}
	}
	if a.partial && !effect.IsKnown(t[0].s) {
		a.add(effect.Effect{Kind: effect.Opaque, Target: t[0].s, By: "SQL"})
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
	case "rename":
		name, _ := object(t, i+1)
		a.say(Statement{Verb: "RENAME", Object: name}, effect.Opaque, 0)
	case "shutdown":
		a.say(Statement{Verb: "SHUTDOWN", Object: "the server", Lost: false}, effect.Kill, effect.Bulk)
	case "kill":
		a.say(Statement{Verb: "KILL", Object: "connection " + at(t, len(t)-1).s}, effect.Kill, 0)
	case "reset", "purge":
		if at(t, i+1).is("master") || at(t, i+1).is("binary") || at(t, i+1).is("replica") || at(t, i+1).is("slave") ||
			at(t, i+1).is("recyclebin") {
			a.say(Statement{Verb: strings.ToUpper(v.s), Object: "logs", Lost: true}, effect.Discard, effect.Bulk)
		}
	case "set":
		a.set(t, i)
	case "do":
		a.do(t, i, q, depth)
	case "exec", "execute", "call", "prepare":
		a.execute(t, i, q, depth)
	case "pragma":
		if at(t, i+1).is("writable_schema") || at(t, i+1).is("journal_mode") && has(t, "off") {
			a.say(Statement{Verb: "PRAGMA", Object: t[i+1].s}, effect.Permission, 0)
		}
	default:
		a.fileVerb(t, i)
	}
}

// fileVerb judges a statement that reads or writes files of the server.
func (a *analysis) fileVerb(t []token, i int) {
	switch v := t[i]; v.s {
	case "attach":
		for _, x := range t[i+1:] {
			if x.kind != tWord {
				a.file(effect.Write, x.s, "ATTACH DATABASE")
				break
			}
		}
	case "vacuum":
		if k := index(t, i, "into"); k > 0 {
			a.file(effect.Write, at(t, k+1).s, "VACUUM INTO")
		}
	case "copy":
		a.copyRows(t, i, "COPY")
	case "load":
		a.load(t, i)
	case "install":
		if at(t, i+1).is("plugin") || i == 0 && len(t) > 1 {
			a.say(Statement{Verb: "INSTALL", Object: at(t, i+1).s}, effect.Exec, 0)
		}
	case "backup", "restore":
		for k, x := range t {
			if x.is("disk") && at(t, k+1).is("=") {
				a.file(map[string]effect.Kind{"backup": effect.Write, "restore": effect.Read}[v.s], at(t, k+2).s,
					strings.ToUpper(v.s))
			}
		}
		if v.is("restore") {
			a.say(Statement{Verb: "RESTORE", Object: "database", Lost: true}, effect.RemoteDelete, effect.Bulk)
		}
	case "bulk":
		for _, x := range t[i:] {
			if x.kind == tText {
				a.file(effect.Read, x.s, "BULK INSERT")
				break
			}
		}
	}
}
