package places

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"approver.example/display/shape"
)

// This file finds the places in a text where a program that is known takes a
// credential. A flag means something only to its program: -u is a login for curl and a
// remote for git, -p a password for mysql and parents for mkdir.

// A Kind is what a known program takes at a place. The zero value is unclear.
type Kind uint8

const (
	Unclear    Kind = iota // a name of somebody's choice says that it is a secret
	ByPosition             // by its position it is a credential, if it looks like one
	Credential             // what proves who asks, and nothing else
)

// A Span is a place for a credential in a text.
type Span struct {
	From, To int
	Kind     Kind
	Variable string // that holds it
	field    string // that it is the value of, where somebody may have chosen the name
	Followed bool   // it is where a value comes from that goes to such a place
	Holder   string // the variable that brings it there, if one does
	Carrier  bool   // a variable stands there, of which a part is the credential
}

// anyMixed is the field of a span that is hidden only if it has letters and digits.
const anyMixed = "*"

// A Segment is one simple command of a text, and what is known of its program.
type Segment struct {
	From, To int
	Program  string
	Operands int // where the words behind the program's name begin
}

// A Found is what a text has.
type Found struct {
	Segments  []Segment
	Spans     []Span
	Variables Variables
}

// Of finds the commands, the variables and the places for credentials in a text, each once.
func Of(s string) Found {
	l := &lexer{text: s, left: max(4*len(s), shape.MaxSteps), files: writtenFiles{}}
	l.lex(0, len(s), 0)
	l.variables.finish()
	l.resolve()
	return Found{l.segments, l.spans, l.variables}
}

// MayBe is a quick look: most texts name no program with such flags, and no
// place that needs none.
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
		if w := strings.TrimSuffix(s[from:to], ".exe"); len(w) <= maxProgram && (hasFlags(s, w) || w[0] == 'n' && hasFlags(s, w[1:]) || flagged && isKnown(w)) { // n: a line break of JSON
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

// A lexer takes a text apart as a shell would, roughly: what stands inside quotes is
// read once more, as the text of a command, because it may be one.
type lexer struct {
	text     string
	left     int // bytes that may still be read
	segments []Segment
	spans    []Span

	variables   Variables         // that are set
	wants       []want            // variables in places for credentials
	bound       map[string][]Span // what builtins put into variables
	assignments [][]int           // where variables get their values
	holder      string            // of what is being added
	prints      bool              // out collects what the commands write
	out         []Span
	nested      int
	files       writtenFiles
	spreads     []spread
	unread      []string // variables that read fills with what stands behind the loop
	again       Span     // the words that a second shell reads
	inside      bool     // of what a launcher runs, in which an assignment may be another shell's
}

// maxNested bounds the quotes within quotes that are read.
const maxNested = 3

// lex reads the words of a stretch.
func (l *lexer) lex(from, to, depth int) {
	if l.left -= to - from; l.left < 0 {
		return
	}
	var words []word
	p := pipeline{to: to, depth: depth}
	end := func(by string) {
		if len(words) > 0 {
			l.command(words, &p)
		}
		if l.prints && by != "|" && by != "|&" {
			l.out = append(l.out, p.writes...)
		}
		p.after(by)
		words = nil
	}
	for i := from; i < to; {
		switch c := l.text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '\\' && i+1 < to && l.text[i+1] == '\n', l.escape(i, to, depth, "tr"):
			i += 2
		case l.escape(i, to, depth, "n"):
			end("\n")
			i += 2
		case strings.IndexByte("\n;&|()`", c) >= 0:
			n := 1
			if i+1 < to && (c == '|' || c == '&') && (l.text[i+1] == c || l.text[i+1] == '&') {
				n = 2
			}
			end(l.text[i : i+n])
			i += n
		default:
			w := l.word(i, to, depth)
			words, i = append(words, w), w.to
		}
	}
	end("\n")
}

// A word is a stretch of a text.
type word struct{ from, to int }

// word reads one word, and what is quoted in it as another text.
func (l *lexer) word(i, to, depth int) word {
	w := word{from: i}
	for i < to {
		switch c := l.text[i]; {
		case l.escape(i, to, depth, "ntr"):
			w.to = i
			return w
		case l.escape(i, to, depth, "\""): // the quote of a text within JSON
			if n := strings.Index(l.text[i+2:to], `\"`); n >= 0 {
				if depth < maxNested && strings.ContainsAny(l.text[i+2:i+2+n], " \\") {
					l.lex(i+2, i+2+n, depth+1)
				}
				i += n + 3
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			n := shape.EndOfQuote(l.text[i+1:to], c)
			if n < 0 {
				break
			}
			if inside := l.text[i+1 : i+1+n]; depth < maxNested && strings.ContainsAny(inside, " \t\n\\") {
				l.lex(i+1, i+1+n, depth+1)
			}
			i += n + 1
		case c == '$' && i+1 < to && l.text[i+1] == '{':
			if n := strings.IndexByte(l.text[i:to], '}'); n > 0 {
				i += n
			}
		case strings.IndexByte(" \t\r\n;&|()`", c) >= 0:
			w.to = i
			return w
		}
		i++
	}
	w.to = min(i, to)
	return w
}

// escape reports a backslash before one of some letters, inside quotes: in a string of
// JSON that is the character which they stand for.
func (l *lexer) escape(i, to, depth int, letters string) bool {
	return depth > 0 && l.text[i] == '\\' && i+1 < to && strings.IndexByte(letters, l.text[i+1]) >= 0
}

// bare is a word without the quotes around it, and where that text begins.
func (w word) bare(src string) (string, int) {
	s := src[w.from:w.to]
	if len(s) >= 4 && strings.HasPrefix(s, `\"`) && strings.HasSuffix(s, `\"`) {
		return s[2 : len(s)-2], w.from + 2
	}
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1], w.from + 1
	}
	return s, w.from
}

// command looks at the words of one simple command.
func (l *lexer) command(words []word, p *pipeline) {
	first := l.prefix(words, p)
	if first == len(words) {
		return
	}
	name, _ := words[first].bare(l.text)
	name = programName(name)
	defer func(depth int) { p.depth = depth }(p.depth)
	l.segments = append(l.segments, Segment{words[first].from, words[len(words)-1].to, name, words[first].to})
	if name == "function" && len(words) > first+3 { // its name and {
		l.command(words[first+3:], p)
		return
	}
	given := words[first+1:]
	l.variables.command(l.text, name, given, p.depth, l.inside)
	if base := path.Base(name); base != name && (programFlags()[base] != nil || launchings()[base] != nil) {
		name, p.depth = base, max(p.depth, 1) // by its name: what is in that folder is not known
	}
	flags, operands := flagsOf(l.text, name, given)
	l.settings(name, given, p.depth)
	p.words = words
	if name == "done" && len(l.unread) > 0 {
		l.behindLoop(given, p)
	}
	if builtins[name] {
		l.binding(name, given, p)
	}
	var runs []program
	if l.nested < maxNested {
		runs = programsOf(l.text, name, given)
	}
	if len(runs) == 0 || flags["<"] != "" || p.sudo != "" {
		l.stdin(name, flags["<"], given, p)
	}
	given = l.launchAll(runs, given, p)
	if _, known := shape.KnownPrograms[name]; flags == nil && !known {
		return
	}
	l.arguments(flags, operands, given, p.depth)
}

// arguments looks at what a program is given.
func (l *lexer) arguments(flags map[string]string, operands int, given []word, depth int) {
	position := 0
	for i := 0; i < len(given); i++ {
		text, at := given[i].bare(l.text)
		a := argument{text: text, at: at, depth: depth, more: given[i+1:]}
		switch {
		case text == "--": // what stands behind it is no flag of this program
			depth = max(depth, 1)
		case strings.HasPrefix(text, "-") && (position == 0 || flags["options"] != "first"):
			i += l.flag(flags, a)
		case i >= operands:
			position++
			l.operand(flags, position, a)
			if name := wholeReference(text); name != "" && at == given[i].from && len(l.spreads) < MaxWants {
				l.spreads = append(l.spreads, spread{flags, name, depth})
			}
		}
	}
}

// An argument is one word that a program is given, and those behind it.
type argument struct {
	text      string // without its quotes
	at, depth int
	more      []word
}

// flagsOf returns what the flags and operands of a program take, and how many of its
// words belong to its subcommand.
func flagsOf(src, name string, words []word) (flags map[string]string, operands int) {
	all := programFlags()
	flags, found := all[name]
	for i := 0; found && i < len(words); i++ {
		text, _ := words[i].bare(src)
		if strings.HasPrefix(text, "-") {
			if kind := flags[text]; globalFlags[text] || kind != "" && kind != "glued" && kind != "maybe" {
				i++
			}
			continue
		}
		name += " " + strings.ToLower(text)
		var sub map[string]string
		if sub, found = all[name]; found {
			operands = i + 1
		}
		if sub != nil {
			flags = sub
		}
	}
	return flags, operands
}

// programName is a program without the folder of the system's programs.
func programName(name string) string {
	name = strings.TrimSuffix(name, ".exe")
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/local/bin/"} {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.Contains(rest, "/") {
			return rest
		}
	}
	return name
}

// add notes a place. In a text inside another its program is only a guess.
func (l *lexer) add(s Span, depth int) {
	if l.decidesAgain(s) {
		return
	}
	if depth > 0 {
		s.Kind = Unclear
	}
	if l.holder != "" {
		s.Followed, s.Holder = true, l.holder
	}
	if s.From < s.To && len(l.spans) < maxSpans {
		l.spans = append(l.spans, s)
		l.follow(len(l.spans)-1, depth)
	}
}

// maxSpans bounds the places of one text.
const maxSpans = 1 << 14

// programFlags is credentialFlags, taken apart.
var programFlags = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for programs, text := range credentialFlags {
		flags := map[string]string{}
		for _, f := range strings.Fields(text) {
			name, kind, _ := strings.Cut(f, ":")
			flags[name] = cmp.Or(kind, "secret")
		}
		for _, p := range strings.Split(programs, "|") {
			if out[p] == nil {
				out[p] = map[string]string{}
			}
			maps.Copy(out[p], flags)
		}
	}
	// A subcommand's program takes what its own flags say, and each of its words is found.
	for _, p := range slices.Sorted(maps.Keys(out)) {
		for n := strings.LastIndexByte(p, ' '); n > 0; n = strings.LastIndexByte(p[:n], ' ') {
			above := out[p[:n]]
			if above == nil {
				out[p[:n]] = nil
			}
			for flag, kind := range above {
				if strings.HasPrefix(flag, "-") && out[p][flag] == "" {
					out[p][flag] = kind
				}
			}
		}
		if name, _, sub := strings.Cut(p, " "); sub && out[name] == nil {
			out[name] = map[string]string{}
		}
	}
	return out
})
