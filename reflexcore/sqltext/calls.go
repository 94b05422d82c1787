package sqltext

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// A call is what a function of a server does with the text it is given.
type call uint8

const (
	readsFile call = iota + 1
	writesFile
	runsShell
	runsBatch
	runsSQL
	loadsCode
	reachesOut
	kills
	permits
	opaque
)

// functions by name. Most exist in one database only; what a text means
// elsewhere is an error there.
var functions = map[string]call{
	"load_file": readsFile, "pg_read_file": readsFile, "pg_read_binary_file": readsFile, "pg_ls_dir": readsFile, "pg_stat_file": readsFile, "lo_import": readsFile, "readfile": readsFile, "openrowset": readsFile, "utl_file.fopen": readsFile, "xp_dirtree": readsFile, "xp_fileexist": readsFile, "read_text": readsFile, "read_blob": readsFile, "file": readsFile,
	"lo_export": writesFile, "pg_file_write": writesFile, "writefile": writesFile, "adminpack": writesFile, "pg_file_unlink": writesFile,
	"sys_exec": runsShell, "sys_eval": runsShell, "sys_bineval": opaque, "executable": runsShell, "system": runsShell, "edit": opaque, "fts3_tokenizer": opaque,
	"xp_cmdshell": runsBatch, "sp_oacreate": opaque, "sp_oamethod": runsBatch, "xp_regwrite": permits, "xp_servicecontrol": permits, "sp_configure": permits, "sp_addsrvrolemember": permits, "sp_addlogin": permits, "sp_addrolemember": permits, "sp_start_job": opaque, "sp_add_jobstep": opaque,
	"dbms_scheduler.create_job": opaque, "dbms_java.runjava": opaque, "query_to_xml": runsSQL, "database_to_xml": opaque, "dblink_exec": runsSQL, "sp_executesql": runsSQL, "sp_msforeachtable": runsSQL, "sp_msforeachdb": runsSQL, "cron.schedule": runsSQL, "eval": runsSQL,
	"load_extension": loadsCode, "dblink_connect": reachesOut, "dblink": reachesOut, "utl_http.request": reachesOut, "httpuritype": reachesOut, "url": reachesOut, "remote": reachesOut, "http_get": reachesOut, "http_post": reachesOut, "net.http_post": reachesOut, "net.http_get": reachesOut, "opendatasource": reachesOut, "utl_inaddr.get_host_address": reachesOut, "s3": reachesOut, "aws_s3.query_export_to_s3": reachesOut,
	"pg_terminate_backend": kills, "pg_cancel_backend": kills, "pg_rotate_logfile": 0, "set_config": 0, "pg_reload_conf": 0, "pg_switch_wal": 0,
}

// bare functions are also called without brackets, by EXEC.
func bare(c call, name string) bool {
	return strings.HasPrefix(name, "xp_") || strings.HasPrefix(name, "sp_")
}

// calls looks at the functions of a statement.
func (a *analysis) calls(t []token, q quirks, depth int) {
	for i, x := range t {
		if x.kind != tWord && x.kind != tName {
			continue
		}
		name := x.s
		c := functions[name]
		if c == 0 && i >= 2 && t[i-1].is(".") {
			name = t[i-2].s + "." + x.s
			c = functions[name]
		}
		open := at(t, i+1).is("(")
		if c == 0 || !open && !bare(c, x.s) {
			continue
		}
		end := len(t)
		if open {
			end = closing(t, i+1)
		}
		args := t[i+1 : end]
		arg, known := "", false
		nth := 0
		for _, y := range args {
			if y.kind == tText {
				arg, known = y.s, true
				if nth++; c != writesFile || nth > 1 || x.s != "lo_export" {
					break
				}
			}
		}
		if !known {
			arg = effect.Unknown
		}
		a.call(c, name, arg, q, depth)
	}
}

func (a *analysis) call(c call, name, arg string, q quirks, depth int) {
	switch c {
	case readsFile:
		a.file(effect.Read, arg, name)
	case writesFile:
		a.file(effect.Write, arg, name)
	case runsShell:
		a.shell(effect.Shell, arg, name)
	case runsBatch:
		a.shell(effect.Batch, arg, name)
	case runsSQL:
		if arg == effect.Unknown {
			a.add(effect.Effect{Kind: effect.Opaque, By: name, Bits: effect.Partial})
			return
		}
		a.run(arg, q, depth-1)
	case loadsCode:
		a.add(effect.Effect{Kind: effect.Exec, Target: arg, By: name})
	case reachesOut:
		a.add(effect.Effect{Kind: effect.NetOut, Target: arg, By: name, Taint: effect.File})
	case kills:
		a.add(effect.Effect{Kind: effect.Kill, Target: "connection", By: name})
	case permits:
		a.add(effect.Effect{Kind: effect.Permission, Target: arg, By: name})
	case opaque:
		a.add(effect.Effect{Kind: effect.Exec, Target: arg, By: name, Bits: effect.Partial})
	}
}

// files finds INTO OUTFILE and its like.
func (a *analysis) files(t []token) {
	for i, x := range t {
		if (x.is("outfile") || x.is("dumpfile")) && i > 0 && t[i-1].is("into") {
			a.file(effect.Write, at(t, i+1).s, "INTO "+strings.ToUpper(x.s))
		}
	}
}

// load is LOAD DATA INFILE, LOAD 'library' and LOAD extension.
func (a *analysis) load(t []token, i int) {
	if k := index(t, i, "infile"); k > 0 {
		by := "LOAD DATA"
		if has(t, "local") {
			by = "LOAD DATA LOCAL"
		}
		a.file(effect.Read, at(t, k+1).s, by)
		return
	}
	if i == 0 && len(t) == 2 {
		a.add(effect.Effect{Kind: effect.Exec, Target: t[1].s, By: "LOAD"})
	}
}

// copy is COPY … FROM|TO 'file' | PROGRAM 'command', also psql's \copy.
func (a *analysis) copy(t []token, i int, by string) {
	level := 0
	for k := i; k < len(t); k++ {
		switch {
		case t[k].is("("):
			level++
		case t[k].is(")"):
			level--
		case level > 0:
		case t[k].is("to"), t[k].is("from"):
			target := at(t, k+1)
			switch {
			case target.is("program"):
				command := at(t, k+2)
				if command.kind != tText {
					command.s = effect.Unknown
				}
				a.shell(effect.Shell, command.s, by+" … PROGRAM")
			case target.kind == tText, by == `\copy` && target.kind == tWord && !target.is("stdin") && !target.is("stdout") && !target.is("pstdin") && !target.is("pstdout"):
				kind := effect.Read
				if t[k].is("to") {
					kind = effect.Write
				}
				a.file(kind, target.s, by)
			}
		}
	}
}

// meta reads a command of a client, which ends with its line. It stands at the
// beginning of a statement.
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
		ok = a.backslash(line)
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

// script is a file of statements that is run.
func (a *analysis) script(path string) {
	path = strings.Trim(strings.TrimSpace(path), `'";`)
	if command, ok := strings.CutPrefix(path, "|"); ok {
		a.shell(effect.Shell, command, "input of the client")
		return
	}
	a.file(effect.Read, path, "a script of the client")
	a.add(effect.Effect{Kind: effect.Exec, Target: path, By: "a script of the client", Taint: effect.File})
}

// output is a file or a |command.
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

// backslash is a command of psql or mysql. Backquotes in psql's arguments run.
func (a *analysis) backslash(line string) bool {
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
		l := &lexer{s: arg, q: dialects["postgres"]}
		var t []token
		for tok, ok := l.next(); ok && len(t) < 1000; tok, ok = l.next() {
			t = append(t, tok)
		}
		// A bare file name is more than one token.
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
	case `\setenv`, `\set`, `\pset`, `\echo`, `\qecho`, `\warn`, `\prompt`, `\if`, `\elif`, `\c`, `\connect`, `\cd`, `\password`, `\bind`, `\watch`, `\gset`, `\gexec`, `\d`, `\dt`, `\l`, `\q`, `\x`, `\timing`, `\h`, `\?`, `\z`, `\df`, `\dn`, `\du`, `\dp`, `\di`, `\dv`, `\ds`, `\G`, `\u`, `\r`, `\endif`, `\else`, `\p`, `\a`, `\t`, `\n`:
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
	// Another command on the same line.
	if i := strings.LastIndexByte(line, '\\'); i > 1 && line[i-1] == ' ' {
		a.backslash(line[i:])
	}
	return true
}

// copyArgs finds \copy's file: bare or quoted after TO or FROM.
func (a *analysis) copyArgs(t []token, arg string) {
	a.copy(t, 0, `\copy`)
	low := strings.ToLower(arg)
	for _, to := range [...]string{" to ", " from "} {
		i := strings.LastIndex(low, to)
		if i < 0 {
			continue
		}
		file, _, _ := strings.Cut(strings.TrimSpace(arg[i+len(to):]), " ")
		switch {
		case file == "" || file[0] == '\'' || strings.EqualFold(file, "program") || strings.EqualFold(file, "stdin") || strings.EqualFold(file, "stdout") || strings.EqualFold(file, "pstdin") || strings.EqualFold(file, "pstdout"):
		case to == " to ":
			a.file(effect.Write, file, `\copy`)
		default:
			a.file(effect.Read, file, `\copy`)
		}
	}
}

// dot is a command of sqlite3, which takes any beginning that is its own.
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

// wordCommand is a command of mysql or sqlplus that is a word.
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
