package sqltext

import (
	"net/url"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// meta reads a command of a client, at the beginning of a statement. It ends with its line.
func (a *analysis) meta(l *lexer) bool {
	start := l.at
	for l.at < len(l.s) && l.s[l.at] <= ' ' && l.s[l.at] != 0 {
		l.at++
	}
	rest := l.s[l.at:]
	if rest == "" {
		l.at = start
		return false
	}
	line, _, _ := strings.Cut(rest, "\n")
	ok := true
	switch c := rest[0]; {
	case c == '\\':
		ok = a.psqlCommand(line)
	case c == '.' && len(rest) > 1 && rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z':
		ok = a.dot(line)
	case c == '!' || strings.HasPrefix(rest, ":!!"):
		a.shell(effect.Shell, strings.TrimLeft(line, ":! "), "! of the client")
	case c == '@' && a.dialect == "oracle", strings.HasPrefix(rest, ":r "):
		a.script(strings.TrimLeft(line, "@:r "))
	case strings.HasPrefix(rest, ":out "):
		a.add(effect.Write, strings.TrimSpace(line[4:]), ":out", 0)
	default:
		ok = a.wordCommand(line)
	}
	if !ok {
		l.at = start
		return false
	}
	l.at += len(line)
	return true
}

// script adds a file of statements that is run.
func (a *analysis) script(path string) {
	path = strings.Trim(strings.TrimSpace(path), `'";`)
	if command, ok := strings.CutPrefix(path, "|"); ok {
		a.shell(effect.Shell, command, "input of the client")
		return
	}
	a.add(effect.Read, path, "a script of the client", 0)
	a.addTainted(effect.Exec, path, "a script of the client", 0, effect.File)
}

// output adds a file or a |command.
func (a *analysis) output(arg, by string) {
	arg = strings.Trim(strings.TrimSpace(arg), `'"`)
	switch {
	case arg == "" || arg == "stdout" || arg == "off":
	case arg[0] == '|':
		a.shell(effect.Shell, arg[1:], by)
	default:
		a.add(effect.Write, arg, by, 0)
	}
}

// psqlCommand reads a command of psql or mysql. psql runs backquotes in arguments.
func (a *analysis) psqlCommand(line string) bool {
	cmd, arg, _ := strings.Cut(line, " ")
	if strings.HasPrefix(line, `\!`) {
		cmd, arg = `\!`, line[2:]
	}
	arg = strings.TrimSpace(arg)
	switch cmd {
	case `\!`:
		a.shell(effect.Shell, arg, `\! of the client`)
		return true
	case `\copy`:
		t, _ := (&lexer{s: arg, q: dialects["postgres"]}).tokens(1000)
		// A file name without quotes has several tokens.
		a.copyArgs(t, arg)
	case `\i`, `\ir`, `\include`, `\include_relative`, `\.`:
		a.script(arg)
	case `\o`, `\out`, `\g`, `\gx`, `\w`, `\write`, `\s`, `\T`:
		a.output(strings.TrimSuffix(arg, ";"), cmd+" of the client")
	case `\P`:
		a.shell(effect.Shell, arg, "pager of the client")
	case `\lo_export`:
		_, file, _ := strings.Cut(arg, " ")
		a.add(effect.Write, strings.Trim(file, " '"), cmd, 0)
	case `\lo_import`:
		a.add(effect.Read, strings.Trim(arg, " '"), cmd, 0)
	case `\e`, `\edit`, `\ef`, `\ev`:
		a.shell(effect.Shell, "$EDITOR "+arg, "the client's editor")
	case `\gexec`:
		a.add(effect.Opaque, "", cmd, effect.Partial)
	case `\password`:
		a.add(effect.Permission, "account "+arg, cmd, 0)
	default:
		if a.dialect == "mysql" && !quietCommands[cmd] {
			return false
		}
	}
	for {
		_, after, ok := strings.Cut(arg, "`")
		command, rest, closed := strings.Cut(after, "`")
		if !ok || !closed {
			break
		}
		a.shell(effect.Shell, command, "backquotes of the client")
		arg = rest
	}
	// Another command can follow on the same line.
	if i := strings.LastIndexByte(line, '\\'); i > 1 && line[i-1] == ' ' {
		a.psqlCommand(line[i:])
	}
	return true
}

// quietCommands are commands of psql and mysql that have no effect outside of the client.
var quietCommands = wordset.Of(`\setenv \set \pset \echo \qecho \warn \prompt \if \elif \c \connect \cd \bind
	\watch \gset \d \dt \l \q \x \timing \h \? \z \df \dn \du \dp \di \dv \ds \G \u \r \endif \else \p \a \t \n`)

// copyArgs finds the file of \copy, with or without quotes after TO or FROM.
func (a *analysis) copyArgs(t []token, arg string) {
	a.copyRows(t, 0, `\copy`)
	low := strings.ToLower(arg)
	for _, to := range [...]string{" to ", " from "} {
		i := strings.LastIndex(low, to)
		if i < 0 {
			continue
		}
		file, _, _ := strings.Cut(strings.TrimSpace(arg[i+len(to):]), " ")
		switch {
		case file == "" || file[0] == '\'' || strings.EqualFold(file, "program") || streams[strings.ToLower(file)]:
		case to == " to ":
			a.add(effect.Write, file, `\copy`, 0)
		default:
			a.add(effect.Read, file, `\copy`, 0)
		}
	}
}

// dot reads a command of sqlite3, which accepts unique prefixes.
func (a *analysis) dot(line string) bool {
	if a.dialect != "" && a.dialect != "sqlite" {
		return false
	}
	cmd, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	arg = strings.TrimSpace(arg)
	begins := func(full string, least int) bool {
		return len(cmd)-1 >= least && strings.HasPrefix(full, strings.ToLower(cmd[1:]))
	}
	last := strings.Trim(arg[strings.LastIndexByte(arg, ' ')+1:], `'"`)
	switch {
	case begins("shell", 2), begins("system", 2):
		a.shell(effect.Shell, arg, cmd+" of the client")
	case begins("output", 1), begins("once", 2), begins("log", 3), begins("trace", 2):
		a.output(strings.TrimPrefix(strings.TrimPrefix(arg, "-e "), "-x "), cmd+" of the client")
	case begins("excel", 3):
	case begins("read", 3):
		a.script(arg)
	case begins("load", 3):
		a.add(effect.Exec, last, cmd, 0)
	case begins("import", 1):
		for f := range strings.FieldsSeq(arg) {
			if f = strings.Trim(f, `'"`); strings.HasPrefix(f, "|") {
				a.shell(effect.Shell, strings.Trim(arg, `'"|`), cmd+" of the client")
				break
			} else if !strings.HasPrefix(f, "-") {
				a.add(effect.Read, f, cmd, 0)
				break
			}
		}
	case begins("backup", 1), begins("save", 2), begins("clone", 2), begins("archive", 2), begins("open", 2):
		if last != "" {
			a.add(effect.Write, last, cmd, 0)
		}
	case begins("restore", 3):
		a.add(effect.Read, last, cmd, 0)
		a.add(effect.RemoteDelete, "database main", cmd, effect.Bulk)
	case begins("edit", 4):
		a.add(effect.Exec, "", cmd, effect.Partial)
	}
	return true
}

// wordCommand reads a command of mysql or sqlplus that is a word.
func (a *analysis) wordCommand(line string) bool {
	cmd, arg, ok := strings.Cut(strings.TrimRight(line, "\r "), " ")
	arg = strings.TrimSpace(arg)
	cmd = strings.ToLower(cmd)
	mysql := a.dialect == "mysql" || a.dialect == ""
	oracle := a.dialect == "oracle" || a.dialect == ""
	switch {
	case !ok || arg == "":
		return false
	case cmd == "system" && mysql, cmd == "host" && oracle:
		a.shell(effect.Shell, strings.TrimSuffix(arg, ";"), cmd+" of the client")
	case cmd == "source" && mysql, cmd == "start" && a.dialect == "oracle":
		a.script(arg)
	case (cmd == "tee" || cmd == "notee") && mysql, cmd == "spool" && oracle:
		a.output(arg, cmd+" of the client")
	case cmd == "pager" && mysql:
		a.shell(effect.Shell, arg, "pager of the client")
	default:
		return false
	}
	return true
}

// HTTP appends what a request to a database service does, by its method, address and body: deleted
// resources, and delete-by-query calls of Elasticsearch. Reads have no effect here.
func HTTP(dst []effect.Effect, method, address, body string) []effect.Effect {
	path := address
	if u, err := url.Parse(address); err == nil {
		path = u.Path
	}
	method = strings.ToUpper(strings.TrimSpace(method))
	by := method + " request"
	trimmed := strings.Trim(path, "/")
	last := trimmed[strings.LastIndexByte(trimmed, '/')+1:]
	bits := effect.Bits(0)
	switch {
	case method == "DELETE":
		// The root, all indexes, a pattern, or a list.
		if trimmed == "" || strings.HasPrefix(trimmed, "_all") || strings.ContainsAny(trimmed, "*,") ||
			!effect.IsKnown(trimmed) && strings.IndexByte(trimmed, '/') < 0 {
			bits = effect.Bulk
		}
		dst = append(dst, effect.Effect{Kind: effect.RemoteDelete, Target: address, By: by, Bits: bits})
	case last == "_delete_by_query", last == "_bulk" && strings.Contains(body, `"delete"`):
		if body == "" || strings.Contains(body, "match_all") || !effect.IsKnown(body) || strings.Contains(path, "*") ||
			strings.Contains(path, "_all") {
			bits = effect.Bulk
		}
		dst = append(dst, effect.Effect{Kind: effect.RemoteDelete, Target: address, By: by + " " + last, Bits: bits})
	case method == "POST" && (last == "_close" || last == "_forcemerge"), method == "PUT" &&
		(last == "_settings" || strings.HasPrefix(last, "_security")):
		dst = append(dst, effect.Effect{Kind: effect.Permission, Target: address, By: by})
	}
	return dst
}
