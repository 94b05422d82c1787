package sqltext

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// Limits bound the work on one text. The zero value reads nothing and returns an opaque effect.
type Limits struct {
	Bytes  int `yaml:"bytes"`  // of text
	Tokens int `yaml:"tokens"` // in all statements together
	Depth  int `yaml:"depth"`  // of texts that run texts, and of brackets in conditions
}

// DefaultLimits returns limits that suit a tool call.
func DefaultLimits() Limits { return Limits{Bytes: 256 << 10, Tokens: 50_000, Depth: 16} }

// Where says which rows a statement affects. The zero value is all of them.
type Where uint8

// The answers.
const (
	Missing Where = iota // no condition
	Always               // a condition that holds for every row
	Some                 // a condition
)

// A Statement is one verb of a text.
type Statement struct {
	Verb   string // in capitals, such as "DROP TABLE" or "DELETE"
	Object string // the object, in lower case
	Where  Where  // of DELETE and UPDATE
	Rows   int    // that a LIMIT or TOP leaves; 0 is no limit
	Lost   bool   // data, or its container, is lost
}

// An analysis goes through one text.
type analysis struct {
	lim        Limits
	dialect    string
	dst        []effect.Effect
	base       int // where its own effects begin in dst
	payload    func(effect.Payload)
	statement  func(Statement)
	tokens     int
	partial    bool // the statement has unknown parts
	payloadsOf map[string]bool
}

func (a *analysis) add(e effect.Effect) {
	if a.partial {
		e.Bits |= effect.Partial
	}
	for _, have := range a.dst[a.base:] {
		if have == e {
			return
		}
	}
	a.dst = append(a.dst, e)
}

// shell adds a command that the client or the server starts.
func (a *analysis) shell(lang, command, by string) {
	if lang != effect.Python {
		command = strings.TrimSpace(command)
	}
	a.add(effect.Effect{Kind: effect.Exec, Target: command, By: by})
	if a.payload != nil && command != "" && !a.payloadsOf[lang+command] {
		a.payloadsOf[lang+command] = true
		a.payload(effect.Payload{Lang: lang, Text: command, Why: by})
	}
}

func (a *analysis) file(kind effect.Kind, path, by string) {
	a.add(effect.Effect{Kind: kind, Target: path, By: by})
}

func (a *analysis) say(s Statement, kind effect.Kind, bits effect.Bits) {
	if a.statement != nil {
		a.statement(s)
	}
	if kind != effect.Opaque {
		a.add(effect.Effect{Kind: kind, Target: s.Object, By: s.Verb, Bits: bits})
	}
}

// list adds the same effect for each name in a list.
func (a *analysis) list(t []token, i int, verb, prefix string, kind effect.Kind, bits effect.Bits) {
	for {
		name, after := object(t, i)
		if name == "" {
			name = "…"
		}
		a.say(Statement{Verb: verb, Object: prefix + name, Lost: true}, kind, bits)
		if !at(t, after).is(",") {
			return
		}
		i = after + 1
	}
}

func (a *analysis) rows(verb, table string, w Where, rows int) {
	bits := effect.Bits(0)
	if w != Some && (rows == 0 || rows > fewRows) {
		bits = effect.Bulk
	}
	what := "rows of " + table
	if rows > 0 {
		what = strconv.Itoa(rows) + " " + what
	}
	s := Statement{Verb: verb, Object: what, Where: w, Rows: rows, Lost: verb == "DELETE" || bits != 0}
	kind := effect.RemoteDelete
	if verb == "UPDATE" && bits == 0 {
		kind = effect.Opaque // an ordinary update has no effect
	}
	a.say(s, kind, bits)
}

// fewRows is the number of rows that do not count as a whole table.
const fewRows = 1000
