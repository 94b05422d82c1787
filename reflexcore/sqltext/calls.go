package sqltext

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A call is what a server's function does with its text argument.
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

// functionsText has the functions by name. Most exist in one database only, and are errors in the
// others.
//
//go:embed functions.txt
var functionsText string

var functions = wordset.Index(functionsText, func(heading string) call {
	return call(wordset.Number(callNames, heading))
})

// callNames are the names of the calls in the table of functions, in order.
var callNames = strings.Fields("nothing readsFile writesFile runsShell runsBatch runsSQL loadsCode reachesOut kills " +
	"permits opaque")

// calls adds the effects of the functions in a statement.
func (a *analysis) calls(t []token, q quirks, depth int) {
	for i, x := range t {
		if x.kind != tWord && x.kind != tName {
			continue
		}
		a.serverCode(t, i)
		name := x.s
		c := functions[name]
		if c == 0 && i >= 2 && t[i-1].is(".") {
			name = t[i-2].s + "." + x.s
			c = functions[name]
		}
		open := at(t, i+1).is("(")
		if c == 0 || !open && !wordset.HasAnyPrefix(x.s, "xp_", "sp_") { // EXEC calls these without brackets
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
		if strings.HasPrefix(name, "dblink") {
			host, statement := remoteServer(args)
			if host != "" {
				a.ofServer(effect.NetOut, host, effect.File)
			}
			if arg = statement; arg == "" || c != runsSQL {
				continue
			}
		}
		a.call(c, name, arg, q, depth)
	}
}

func (a *analysis) call(c call, name, arg string, q quirks, depth int) {
	switch c {
	case readsFile:
		a.add(effect.Read, arg, name, 0)
	case writesFile:
		a.add(effect.Write, arg, name, 0)
	case runsShell:
		a.shell(effect.Shell, arg, name)
	case runsBatch:
		a.shell(effect.Batch, arg, name)
	case runsSQL:
		if arg == effect.Unknown {
			a.add(effect.Opaque, "", name, effect.Partial)
			return
		}
		a.run(arg, q, depth-1)
	case loadsCode:
		a.add(effect.Exec, arg, name, 0)
	case reachesOut:
		a.addTainted(effect.NetOut, arg, name, 0, effect.File)
	case kills:
		a.add(effect.Kill, "connection", name, 0)
	case permits:
		a.add(effect.Permission, arg, name, 0)
	case opaque:
		a.add(effect.Exec, arg, name, effect.Partial)
	}
}

// files finds INTO OUTFILE and similar clauses.
func (a *analysis) files(t []token) {
	for i, x := range t {
		if (x.is("outfile") || x.is("dumpfile")) && i > 0 && t[i-1].is("into") {
			a.add(effect.Write, at(t, i+1).s, "INTO "+strings.ToUpper(x.s), 0)
		}
	}
}

// load reads LOAD DATA INFILE, LOAD 'library' and LOAD extension.
func (a *analysis) load(t []token, i int) {
	if k := index(t, i, "infile"); k > 0 {
		by := "LOAD DATA"
		if has(t, "local") {
			by = "LOAD DATA LOCAL"
		}
		a.add(effect.Read, at(t, k+1).s, by, 0)
		return
	}
	if i == 0 && len(t) == 2 {
		a.add(effect.Exec, t[1].s, "LOAD", 0)
	}
}

// streams are words of \copy for the client's own input and output.
var streams = wordset.Of("stdin stdout pstdin pstdout")

// copyRows reads COPY … FROM|TO 'file' | PROGRAM 'command', and psql's \copy.
func (a *analysis) copyRows(t []token, i int, by string) {
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
			case target.kind == tText, by == `\copy` && target.kind == tWord && !streams[target.s]:
				kind := effect.Read
				if t[k].is("to") {
					kind = effect.Write
				}
				a.add(kind, target.s, by, 0)
			}
		}
	}
}

// untrusted are the languages of functions in which the code does what the server may.
var untrusted = wordset.Of("plpython3u plpythonu plpython2u plperlu pltclu plsh pl/sh")

// serverCode adds code that gets into the server: a language in which functions may do all, and a library.
func (a *analysis) serverCode(t []token, i int) {
	name := at(t, i+1)
	if t[i].is("extension") && name.is("if") { // CREATE EXTENSION IF NOT EXISTS
		name = at(t, i+4)
	}
	if t[i].is("extension") && untrusted[name.s] || t[i].is("soname") && name.kind == tText {
		a.ofServer(effect.Exec, name.s, 0)
	}
}

// ofServer adds what the server does by itself.
func (a *analysis) ofServer(kind effect.Kind, target string, taint effect.Taint) {
	from := len(a.dst)
	a.addTainted(kind, target, "", 0, taint)
	for i := range a.dst[from:] {
		a.dst[from+i].What = effect.Server
	}
}

// remoteServer returns the host and the statement that a function for another server is given: a connection and
// a statement, or a connection, or the name of one that is open and a statement.
func remoteServer(args []token) (host, statement string) {
	for _, x := range args {
		if x.kind != tText {
			continue
		}
		connects := strings.Contains(x.s, "=") && !strings.Contains(x.s, "'") || strings.Contains(x.s, "://")
		if connects && host == "" && statement == "" {
			host = x.s
			for field := range strings.FieldsSeq(x.s) {
				if value, ok := strings.CutPrefix(field, "host="); ok {
					host = value
				}
			}
			continue
		}
		statement = x.s
	}
	return host, statement
}
