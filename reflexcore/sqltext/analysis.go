package sqltext

import (
	"slices"
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

// An analysis goes through one text.
type analysis struct {
	lim        Limits
	dialect    string
	dst        []effect.Effect
	base       int // where its own effects begin in dst
	payload    func(effect.Payload)
	tokens     int
	partial    bool // the statement has unknown parts
	payloadsOf map[string]bool
}

// add adds an effect, unless the text has the same one already.
func (a *analysis) add(kind effect.Kind, target, by string, bits effect.Bits) {
	a.addTainted(kind, target, by, bits, 0)
}

func (a *analysis) addTainted(kind effect.Kind, target, by string, bits effect.Bits, taint effect.Taint) {
	if a.partial {
		bits |= effect.Partial
	}
	e := effect.Effect{Kind: kind, Target: target, By: by, Bits: bits, Taint: taint}
	if !slices.Contains(a.dst[a.base:], e) {
		a.dst = append(a.dst, e)
	}
}

// shell adds a command that the client or the server starts.
func (a *analysis) shell(lang, command, by string) {
	if lang != effect.Python {
		command = strings.TrimSpace(command)
	}
	a.add(effect.Exec, command, by, 0)
	if a.payload != nil && command != "" && !a.payloadsOf[lang+command] {
		if a.payloadsOf == nil {
			a.payloadsOf = map[string]bool{}
		}
		a.payloadsOf[lang+command] = true
		a.payload(effect.Payload{Lang: lang, Text: command, Why: by})
	}
}

// list adds the same effect for each name in a list.
func (a *analysis) list(t []token, i int, verb, prefix string, kind effect.Kind, bits effect.Bits) {
	for {
		name, after := object(t, i)
		if name == "" {
			name = effect.Unknown
		}
		a.add(kind, prefix+name, verb, bits)
		if !at(t, after).is(",") {
			return
		}
		i = after + 1
	}
}

// rows adds what a DELETE or UPDATE does to a table. most is the number of rows that a LIMIT or TOP
// leaves; 0 is no limit.
func (a *analysis) rows(verb, table string, every bool, most int) {
	bits := effect.Bits(0)
	if every && (most == 0 || most > fewRows) {
		bits = effect.Bulk
	}
	what := "rows of " + table
	if most > 0 {
		what = strconv.Itoa(most) + " " + what
	}
	if verb == "DELETE" || bits != 0 { // an ordinary update has no effect
		a.add(effect.RemoteDelete, what, verb, bits)
	}
}

// fewRows is the number of rows that do not count as a whole table.
const fewRows = 1000
