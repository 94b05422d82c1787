package sqltext

import (
	"net/url"
	"strings"

	"approver.example/reflexcore/effect"
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
	ok := false
	switch c := rest[0]; {
	case c == '\\':
		ok = a.psqlCommand(line)
	case c == '.' && len(rest) > 1 && rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z':
		ok = a.dot(line)
	case c == '!' || strings.HasPrefix(rest, ":!!"):
		a.shell(effect.Shell, strings.TrimLeft(line, ":! "), "! of the client")
		ok = true
	case c == '@' && a.dialect == "oracle", strings.HasPrefix(rest, ":r "):
		a.script(strings.TrimLeft(line, "@:r "))
		ok = true
	case strings.HasPrefix(rest, ":out "):
		a.file(effect.Write, strings.TrimSpace(line[4:]), ":out")
		ok = true
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
	a.file(effect.Read, path, "a script of the client")
	a.add(effect.Effect{Kind: effect.Exec, Target: path, By: "a script of the client", Taint: effect.File})
}

// output adds a file or a |command.
func (a *analysis) output(arg, by string) {
	arg = strings.Trim(strings.TrimSpace(arg), `'"`)
	switch {
	case arg == "" || arg == "stdout" || arg == "off":
	case arg[0] == '|':
		a.shell(effect.Shell, arg[1:], by)
	default:
		a.file(effect.Write, arg, by)
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
		a.file(effect.Write, strings.Trim(file, " '"), cmd)
	case `\lo_import`:
		a.file(effect.Read, strings.Trim(arg, " '"), cmd)
	case `\e`, `\edit`, `\ef`, `\ev`:
		a.shell(effect.Shell, "$EDITOR "+arg, "the client's editor")
	case `\setenv`, `\set`, `\pset`, `\echo`, `\qecho`, `\warn`, `\prompt`, `\if`, `\elif`, `\c`, `\connect`, `\cd`,
		`\password`, `\bind`, `\watch`, `\gset`, `\gexec`, `\d`, `\dt`, `\l`, `\q`, `\x`, `\timing`, `\h`, `\?`, `\z`,
		`\df`, `\dn`, `\du`, `\dp`, `\di`, `\dv`, `\ds`, `\G`, `\u`, `\r`, `\endif`, `\else`, `\p`, `\a`, `\t`, `\n`:
		if cmd == `\gexec` {
			a.add(effect.Effect{Kind: effect.Opaque, By: `\gexec`, Bits: effect.Partial})
		}
		if cmd == `\password` {
			a.add(effect.Effect{Kind: effect.Permission, Target: "account " + arg, By: cmd})
		}
	default:
		if a.dialect == "mysql" {
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
		case file == "" || file[0] == '\'' || strings.EqualFold(file, "program") || strings.EqualFold(file, "stdin") ||
			strings.EqualFold(file, "stdout") || strings.EqualFold(file, "pstdin") ||
			strings.EqualFold(file, "pstdout"):
		case to == " to ":
			a.file(effect.Write, file, `\copy`)
		default:
			a.file(effect.Read, file, `\copy`)
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
		a.add(effect.Effect{Kind: effect.Exec, Target: last, By: cmd})
	case begins("import", 1):
		for f := range strings.FieldsSeq(arg) {
			if f = strings.Trim(f, `'"`); strings.HasPrefix(f, "|") {
				a.shell(effect.Shell, strings.Trim(arg, `'"|`), cmd+" of the client")
				break
			} else if !strings.HasPrefix(f, "-") {
				a.file(effect.Read, f, cmd)
				break
			}
		}
	case begins("backup", 1), begins("save", 2), begins("clone", 2), begins("archive", 2), begins("open", 2):
		if last != "" {
			a.file(effect.Write, last, cmd)
		}
	case begins("restore", 3):
		a.file(effect.Read, last, cmd)
		a.add(effect.Effect{Kind: effect.RemoteDelete, Target: "database main", By: cmd, Bits: effect.Bulk})
	case begins("edit", 4):
		a.add(effect.Effect{Kind: effect.Exec, By: cmd, Bits: effect.Partial})
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
	last := strings.Trim(path, "/")
	last = last[strings.LastIndexByte(last, '/')+1:]
	switch {
	case method == "DELETE":
		bits := effect.Bits(0)
		first := strings.Trim(path, "/")
		// The root, all indexes, a pattern, or a list.
		if first == "" || strings.HasPrefix(first, "_all") || strings.ContainsAny(first, "*,") ||
			!effect.IsKnown(first) && strings.IndexByte(first, '/') < 0 {
			bits |= effect.Bulk
		}
		dst = append(dst, effect.Effect{Kind: effect.RemoteDelete, Target: address, By: by, Bits: bits})
	case last == "_delete_by_query", last == "_bulk" && strings.Contains(body, `"delete"`):
		bits := effect.Bits(0)
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
