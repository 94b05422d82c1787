package places

import (
	"strings"
	"sync"

	"approver.example/display/shape"
)

// This file finds the places in a text where a program that is known takes a
// credential. A flag means something only to its program: -u is a login for curl and a
// remote for git, -p a password for mysql and parents for mkdir.

// A Found is what a text has: its simple commands, the places for credentials in them, and
// the variables that it sets.
type Found struct {
	Segments  []Segment
	Spans     []Span
	Variables Variables
}

// Of finds the commands, the variables and the places for credentials in a text.
func Of(s string) Found {
	l := &lexer{text: s, left: max(4*len(s), shape.MaxSteps), files: writtenFiles{}, bound: map[string][]Span{}}
	l.lex(0, len(s), 0)
	l.variables.finish()
	l.resolve()
	return Found{l.segments, l.spans, l.variables}
}

// MayBe reports whether a text may have a place for a credential. It is quick: most texts name no
// program with such flags, and have no place that needs none.
func MayBe(s string) bool {
	return len(s) <= shape.MaxSteps/8 && (namesProgram(s) || mayRefer(s))
}

// namesProgram reports a program that takes a credential.
func namesProgram(s string) bool {
	flagged := strings.Contains(s, "--") && shape.ContainsAny(s, flagWords)
	for from := 0; from < len(s); {
		if wordBreaks[s[from]] {
			from++
			continue
		}
		to := from + 1
		for to < len(s) && !wordBreaks[s[to]] {
			to++
		}
		if w := strings.TrimSuffix(s[from:to], ".exe"); len(w) <= maxProgram &&
			(hasFlags(s, w) || w[0] == 'n' && hasFlags(s, w[1:]) || flagged && isKnown(w)) { // n: a line break of JSON
			return true
		}
		from = to
	}
	return false
}

// flagWords are in the names of flags of credentials.
var flagWords = []string{"password", "passwd", "passphrase", "token", "key", "secret"}

// maxProgram is longer than the names of all programs and variables in the tables.
const maxProgram = 32

// hasFlags reports a program that takes a credential: of those that do so with some
// subcommands only, one of them must be in the text.
func hasFlags(text, w string) bool {
	subcommands, ok := programSubcommands()[w]
	return ok && (subcommands == nil || shape.ContainsAny(text, subcommands)) || shape.IsConventional(w)
}

// programSubcommands are the first words of the subcommands with places, by program; nil
// is a program that has places without any.
var programSubcommands = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for name, flags := range programFlags() {
		program, sub, is := strings.Cut(name, " ")
		sub, _, _ = strings.Cut(sub, " ")
		switch {
		case !is && len(flags) > 0:
			out[program] = nil
		case is && len(programFlags()[program]) == 0:
			out[program] = shape.AppendNew(out[program], []string{sub})
		}
	}
	return out
})

// isKnown reports a program of which every flag of a credential is in a row, or none is.
func isKnown(w string) bool {
	_, known := shape.KnownPrograms[w]
	return known
}

// wordBreaks are the bytes that stand between words, quotes and folders among them.
var wordBreaks = func() (out [256]bool) {
	for _, b := range []byte(" \t\r\n;&|(){}`\"'=,/\\") {
		out[b] = true
	}
	return out
}()
