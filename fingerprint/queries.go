package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file finds the files that the text of a query includes.

// queriers are programs that take queries, with the words by which these include files.
var queriers = map[string][]string{
	"psql": {`\i`, `\ir`, `\include`, `\include_relative`, `\copy`, `\o`, `\lo_import`, `\gexec`, `\!`}, "mysql": {"source", `\.`, "system", `\!`}, "mariadb": {"source", `\.`, "system", `\!`},
	"sqlite3": {".read", ".import", ".load", ".restore", ".open", ".shell", ".system"}, "sqlite": {".read", ".import", ".load"}, "duckdb": {".read", ".import", ".load", ".open", ".shell", ".system"},
	"cqlsh": {"source", "SOURCE"}, "sqlplus": {"@", "@@", "start"}, "sqlcmd": {":r"}, "redis-cli": {"--eval"}, "mongosh": {"load"}, "mongo": {"load"},
}

// queries binds the files that queries include: those on the command's own words, and
// those in the files that it is given.
func (p *pass) queries(i int, name string, bases []string) {
	words := queriers[name]
	if words == nil {
		return
	}
	for _, w := range p.Steps[i].Argv[1:] {
		if effect.IsKnown(w) {
			p.query(w, words, bases, 0)
			for _, base := range bases {
				p.queryFile(abs(base, strings.TrimPrefix(w, "-f")), words, bases, 0)
			}
		}
	}
	for n := range p.Effects {
		if e := &p.Effects[n]; e.Kind == effect.Read && effect.IsKnown(e.Target) && (e.Step == i || e.Step < 0) {
			p.queryFile(e.Target, words, bases, 0)
		}
	}
}

// queryFile reads a file of queries that is bound.
func (p *pass) queryFile(file string, words, bases []string, depth int) {
	if !p.isQuery(file) || !p.once("query", file) {
		return
	}
	if depth >= maxFollowed {
		p.unread(file, "includes")
		return
	}
	text, _ := p.text(file, "includes")
	p.query(text, words, append([]string{filepath.Dir(file)}, bases...), depth+1)
}

// query binds what a text of queries includes.
func (p *pass) query(text string, words, bases []string, depth int) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		fields := strings.Fields(line)
		for n, f := range fields {
			if !slices.Contains(words, f) && !slices.Contains(words, strings.ToLower(f)) || n > 0 && fields[n][0] != '\\' {
				continue
			}
			if f == `\!` || f == ".shell" || f == ".system" || f == "system" {
				if p.depth >= maxFollowed {
					p.unread(p.of, "runs")
					break
				}
				call := p.call
				call.Command, call.Args, call.Raw = strings.Join(fields[n+1:], " "), nil, nil
				p.walk(call, scope{strict: p.strict, words: true, depth: p.depth + 1, of: p.of})
				break
			}
			for _, name := range fields[n+1:] {
				name = strings.Trim(name, `"'()`)
				for _, base := range bases {
					if file := abs(base, name); name != "" && !p.visit(file, code) {
						p.queryFile(file, words, bases, depth)
					}
				}
			}
		}
	}
}

// isQuery reports whether a bound file may be one of queries.
func (p *pass) isQuery(file string) bool {
	return p.out[filepath.Clean(file)] != "" && !slices.Contains([]string{".db", ".sqlite", ".sqlite3", ".csv", ".dump"}, filepath.Ext(file))
}
