package places

import (
	"strings"
	"sync"

	"approver.example/display/shape"
)

// This file has the entry points, [Of] and [MayBe].

// A Found lists what was found in a text: its simple commands, the places for credentials, and the
// variables that it sets.
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

// MayBe reports whether a text may have a place for a credential. It is a quick check before [Of].
// It returns false for a text of more than [shape.MaxSteps]/8 bytes.
func MayBe(s string) bool {
	return len(s) <= shape.MaxSteps/8 && (namesProgram(s) || mayRefer(s))
}

// namesProgram reports whether a text has the name of a program that takes a credential.
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

// flagWords are the words in the names of flags that take a credential.
var flagWords = []string{"password", "passwd", "passphrase", "token", "key", "secret"}

// maxProgram is a length that no name of a program or variable in the tables exceeds.
const maxProgram = 32

// hasFlags reports whether w is a program that takes a credential, or a variable for one. If only
// some subcommands of the program do, one of them must be in the text.
func hasFlags(text, w string) bool {
	subcommands, ok := programSubcommands()[w]
	return ok && (subcommands == nil || shape.ContainsAny(text, subcommands)) || shape.IsConventional(w)
}

// programSubcommands are the first words of the subcommands with places, by program. nil means that
// the program has places without a subcommand.
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

// isKnown reports whether w is one of [shape.KnownPrograms].
func isKnown(w string) bool {
	_, known := shape.KnownPrograms[w]
	return known
}

// wordBreaks are the bytes that separate words, including quotes and slashes.
var wordBreaks = func() (out [256]bool) {
	for _, b := range []byte(" \t\r\n;&|(){}`\"'=,/\\") {
		out[b] = true
	}
	return out
}()
