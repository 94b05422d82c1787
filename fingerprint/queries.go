package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A queryReader reads the query files of one command.
type queryReader struct {
	reading
	words string // by which a query includes a file
}

// bind binds the files that queries include: queries in the command's words, and in the files that
// it names or reads.
func (r queryReader) bind(read []string) {
	for _, w := range r.c.Argv[1:] {
		if effect.IsKnown(w) {
			r.query(w, r.bases, 0)
			for _, base := range r.bases {
				r.queryFile(abs(base, strings.TrimPrefix(w, "-f")), r.bases, 0)
			}
		}
	}
	for _, file := range read {
		r.queryFile(file, r.bases, 0)
	}
}

// queryFile reads a file of queries that is bound.
func (r queryReader) queryFile(file string, bases []string, depth int) {
	if !r.isQuery(file) || !r.Once("query", file) {
		return
	}
	if depth >= disk.MaxFollowed {
		r.Unread(file, "includes")
		return
	}
	text, _ := r.TextOf(file, "includes")
	r.query(text, append([]string{filepath.Dir(file)}, bases...), depth+1)
}

// query binds the files that a text of queries includes.
func (r queryReader) query(text string, bases []string, depth int) {
	for _, line := range splitAny(text, "\n;") {
		fields := strings.Fields(line)
		for n, f := range fields {
			if !wordset.Has(r.words, f) && !wordset.Has(r.words, strings.ToLower(f)) || n > 0 && fields[n][0] != '\\' {
				continue
			}
			if f == `\!` || f == ".shell" || f == ".system" || f == "system" {
				if r.depth >= disk.MaxFollowed {
					r.Unread(r.of, "runs")
					break
				}
				r.runs(strings.Join(fields[n+1:], " "), r.call.Dir, nil, scope{strict: r.strict, words: true, of: r.of})
				break
			}
			for _, name := range fields[n+1:] {
				name = strings.Trim(name, `"'()`)
				for _, base := range bases {
					if file := abs(base, name); name != "" && !r.Visit(file, disk.Code) {
						r.queryFile(file, bases, depth)
					}
				}
			}
		}
	}
}

// isQuery reports whether a bound file may be one of queries.
func (r queryReader) isQuery(file string) bool {
	return r.Bound[filepath.Clean(file)] != "" &&
		!slices.Contains([]string{".db", ".sqlite", ".sqlite3", ".csv", ".dump"}, filepath.Ext(file))
}
