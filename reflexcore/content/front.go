package content

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"approver.example/internal/lazyregexp"
)

// A Front is the front matter of a text. Only simple YAML is read: keys at the beginning of a line,
// and values that every YAML parser reads in the same way. The zero value means that there is no
// front matter.
type Front struct {
	Text string // line ends are \n
	// Odd says that there is other YAML, which may contain any key: braces, tags, anchors, merges,
	// keys in quotes or after a question mark, a repeated key, white space that only some parsers
	// recognize, or front matter that only some parsers find.
	Odd   bool
	whole string              // all that is front matter for any reader
	keys  map[string][]string // the keys that count, and the lines of their values
}

// frontKeys are the keys that say what a text loads or runs, in lower case.
var frontKeys = sets["front matter"]

var (
	frontKey = lazyregexp.New(`^([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$`)
	// otherSpace matches a key before white space that is not white space in YAML. If the YAML is
	// invalid, Claude Code reads each line again, and then it is.
	otherSpace = lazyregexp.New("^[\\w-]+:[ \\t]*[\v\f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")
	// plainWord matches a value that is the same text for every parser.
	plainWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:"([^"\\]*)"|'([^']*)'|([\p{L}\p{N}_.@/][\p{L}\p{N}_ .:@/+-]*))$`)
	})
	// otherWord matches a plain value that YAML may read as another type than text, or that may be
	// longer than it seems.
	otherWord = lazyregexp.New(`(?i)^(?:[\d.][\d.a-foxt_:+-]*|true|false|null|yes|no|on|off|y|n)$|:(?: |$)|---`)
)

// ReadFront reads the front matter of a text.
func ReadFront(text string) (f Front) {
	text = strings.TrimPrefix(text, "\ufeff")
	if !strings.HasPrefix(text, "---") {
		if strings.HasPrefix(strings.TrimLeft(text, "\ufeff"), "---") { // as much as a parser removes
			f.Odd, f.whole = true, text
		}
		return f
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	raw, found := frontMatter(text)
	if !found { // the dashes of something else, or of front matter for others
		if f.Odd = strings.Contains(text[3:], "---"); f.Odd {
			f.whole = text
		}
		return f
	}
	f.Odd = strings.Contains(raw, "\r") // the end of a line for some
	f.Text = strings.ReplaceAll(raw, "\r", "\n")
	f.whole = raw
	f.keys = map[string][]string{}
	key, any := "", false // the key whose value goes on, and whether there was one
	for line := range strings.Lines(f.Text) {
		line = strings.TrimRight(line, " \t\n")
		text := strings.TrimLeft(line, " \t")
		f.Odd = f.Odd || otherSpace().MatchString(text)
		switch m := frontKey().FindStringSubmatch(line); {
		case text == "" || text[0] == '#':
		case m != nil:
			key, any = strings.ToLower(m[1]), true
			if _, twice := f.keys[key]; twice {
				f.Odd = true
			}
			if frontKeys[key] {
				f.keys[key] = append(f.keys[key], strings.Trim(m[2], " \t"))
			}
		case !any || text == line && !goesOn(line):
			f.Odd = true
		case frontKeys[key]:
			f.keys[key] = append(f.keys[key], text)
		}
	}
	return f
}

// IsScriptSpace reports whether a character is white space in JavaScript. It differs from Go in two
// characters.
func IsScriptSpace(r rune) bool { return r != 0x85 && unicode.IsSpace(r) || r == '\ufeff' }

// goesOn reports whether a line that is not indented cannot be a key: it is an item of a list, the
// end of one, or words.
func goesOn(line string) bool {
	first, rest := rune(line[0]), line[1:]
	for _, r := range line {
		first = r
		break
	}
	switch first {
	case '-':
		return strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t") || rest == ""
	case '<':
		return !strings.HasPrefix(rest, "<")
	case ']', '}':
		return rest == ""
	}
	return first == '(' || unicode.IsLetter(first) || unicode.IsDigit(first)
}

// Has reports whether there is a key.
func (f *Front) Has(key string) bool { return f.keys[key] != nil }

// Loads reports whether a subagent with this front matter loads more than its words.
func (f *Front) Loads() bool {
	return f.Odd || f.Has("hooks") || f.Has("observer") || f.Has("mcpservers") || f.Has("mcp_servers") ||
		f.Has("lspservers") || f.Has("skills")
}

// Value returns the value of a key, empty if there is none. False means that it may have another
// value.
func (f *Front) Value(key string) (string, bool) {
	lines := f.keys[key]
	switch {
	case len(lines) == 0 || len(lines) == 1 && lines[0] == "":
		return "", !f.Odd
	case len(lines) > 1:
		return "", false
	}
	value, ok := plain(lines[0])
	return value, ok && !f.Odd
}

// List returns the values of a key: one, several separated by commas, or a list of YAML. False
// means that there may be others.
func (f *Front) List(key string) (out []string, ok bool) {
	lines := f.keys[key]
	if len(lines) == 0 {
		return nil, !f.Odd
	}
	ok = !f.Odd
	all := lines[:1]
	switch first := lines[0]; {
	case first == "": // one on each line
		all = all[1:]
		for _, line := range lines[1:] {
			item, listed := strings.CutPrefix(line, "-")
			ok = ok && listed
			all = append(all, item)
		}
	case first[0] == '[':
		joined := strings.Join(lines, " ")
		inner, opened := strings.CutPrefix(joined, "[")
		inner, closed := strings.CutSuffix(inner, "]")
		ok = ok && opened && closed
		all = strings.Split(inner, ",")
	default:
		ok = ok && len(lines) == 1
		all = strings.Split(strings.Join(lines, ","), ",")
	}
	for _, item := range all {
		bare, _, comment := strings.Cut(item, " #")
		if bare = strings.Trim(bare, " \t"); bare == "" {
			ok = ok && !comment
			continue
		}
		value, read := plain(bare)
		ok = ok && read && !comment
		out = append(out, value)
	}
	return out, ok
}

// plain returns the text of a value; false if it may be another.
func plain(value string) (string, bool) {
	m := plainWord().FindStringSubmatch(value)
	if m == nil {
		return strings.Trim(value, `"'`), false
	}
	return strings.Trim(m[1]+m[2]+m[3], " \t"), m[3] == "" || !otherWord().MatchString(m[3])
}

// Called reports whether the front matter gives the text a name, or may give it; sure says that it
// does. Odd front matter can only give a name that is written in it, or that it may build.
func (f *Front) Called(name string) (called, sure bool) {
	own, ownRead := f.Value("name")
	aliases, aliasesRead := f.List("aliases")
	sure = ownRead && strings.EqualFold(own, name)
	for _, alias := range aliases {
		sure = sure || aliasesRead && strings.EqualFold(alias, name)
	}
	return sure || (!ownRead || !aliasesRead) && f.holds(name), sure
}

var (
	// buildsText matches YAML that may build a text that is not written there: escapes, quotes in
	// quotes, anchors, aliases, tags and merges.
	buildsText = lazyregexp.New("[\\\\\r]|''|<<|(?:^|[\\s\\[{,:?-])[&*!]")
	// builtNames matches names that YAML makes from numbers and lists.
	builtNames = lazyregexp.New(`(?i)^-?\d[\d.]*(?:e[+-]?\d+)?$|^-?infinity$|^nan$|^(?:true|false|null|` +
		`undefined)$|,|\[object`)
	// betweenWords matches what is between words.
	betweenWords = lazyregexp.New(`[^\pL\pN\pM]+`)
)

// holds reports whether front matter that is not understood may contain a name: the words of the
// name are written there, one after the other, or may be built.
func (f *Front) holds(name string) bool {
	if len(f.whole) > maxFront || !utf8.ValidString(f.whole) ||
		buildsText().MatchString(f.whole) || builtNames().MatchString(name) {
		return true
	}
	words := func(s string) string {
		return strings.ToLower(strings.ToUpper(betweenWords().ReplaceAllString(" "+s+" ", " ")))
	}
	return strings.Contains(words(f.whole), words(name))
}

// frontMatter returns the YAML before the text, as much as any parser takes. It begins in the line
// after the first dashes. It ends at the next three dashes anywhere, or for some parsers only at
// dashes that begin a line. False: there is none.
func frontMatter(text string) (string, bool) {
	rest := text[3:]
	begun := strings.TrimLeftFunc(rest, IsScriptSpace)
	space := rest[:len(rest)-len(begun)]
	if !strings.ContainsAny(space, "\n\r") {
		return "", false
	}
	end := strings.Index(rest, "\n---")
	if end < 0 {
		end = strings.Index(rest, "---") - 1
	}
	if end < 0 {
		return "", false
	}
	return rest[:end+1], true
}
