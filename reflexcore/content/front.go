package content

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Front is the front matter of a text, of which only the plain part of YAML is read:
// keys at the begin of a line, and values that every reader of YAML takes in the same way.
// The zero value is that of a text without any.
type Front struct {
	Text string // line ends are \n
	// Odd says that there is more than that, which may be any key: braces, tags, anchors,
	// merges, keys in quotes or behind a question mark, a key that stands there twice, white
	// space that only some readers take for it, or front matter that only some find.
	Odd   bool
	whole string              // all that is front matter for any reader
	keys  map[string][]string // the keys that count, and the lines of their values
}

// frontKeys are the keys that say what a text loads or runs, in small letters.
var frontKeys = sets["front matter"]

var (
	frontKey = regexp.MustCompile(`^([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$`)
	// otherSpace is a key with white space behind it that ends no word in YAML. Where the
	// YAML cannot be read, Claude Code reads each line again, and there it ends one.
	otherSpace = regexp.MustCompile("^[\\w-]+:[ \\t]*[\v\f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")
	// plainWord is a value that is the same text for every reader.
	plainWord = regexp.MustCompile(`^(?:"([^"\\]*)"|'([^']*)'|([\p{L}\p{N}_.@/][\p{L}\p{N}_ .:@/+-]*))$`)
	// otherWord is a plain value that YAML may read as something else than text, or that
	// may be longer than it seems.
	otherWord = regexp.MustCompile(`(?i)^(?:[\d.][\d.a-foxt_:+-]*|true|false|null|yes|no|on|off|y|n)$|:(?: |$)|---`)
)

// ReadFront reads the front matter of a text.
func ReadFront(text string) (f Front) {
	text = strings.TrimPrefix(text, "\ufeff")
	if !strings.HasPrefix(text, "---") {
		if strings.HasPrefix(strings.TrimLeft(text, "\ufeff"), "---") { // as much as a reader takes off
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
		f.Odd = f.Odd || otherSpace.MatchString(text)
		switch m := frontKey.FindStringSubmatch(line); {
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

// IsScriptSpace reports whether JavaScript counts a character to white space: not all that
// Go does, and the byte order mark.
func IsScriptSpace(r rune) bool { return r != 0x85 && unicode.IsSpace(r) || r == '\ufeff' }

// goesOn reports whether a line that is not indented can be no key that counts: an item of
// a list, the end of one, or words.
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

// Has reports whether a key stands there.
func (f *Front) Has(key string) bool { return f.keys[key] != nil }

// Loads reports whether a subagent with this front matter loads more than its words.
func (f *Front) Loads() bool {
	return f.Odd || f.Has("hooks") || f.Has("observer") || f.Has("mcpservers") || f.Has("lspservers") || f.Has("skills")
}

// Value is the value of a key, empty if it is not there. False means that it may be another.
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

// List are the values of a key: one, several with commas between them, or a list of YAML.
// False means that there may be others.
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

// plain is the text of a value; false if it may be another.
func plain(value string) (string, bool) {
	m := plainWord.FindStringSubmatch(value)
	if m == nil {
		return strings.Trim(value, `"'`), false
	}
	return strings.Trim(m[1]+m[2]+m[3], " \t"), m[3] == "" || !otherWord.MatchString(m[3])
}

// Called reports whether the front matter gives the text a name, or may; sure is that it
// does. One that is odd may give it only a name that stands there, or that it may build.
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
	// buildsText finds what may make a text in YAML that does not stand there: escapes and
	// the quote in quotes, and what only its place tells: anchors, aliases, tags and merges.
	buildsText = regexp.MustCompile("[\\\\\r]|''|<<|(?:^|[\\s\\[{,:?-])[&*!]")
	// builtNames are names that YAML makes of something else: of numbers and of lists.
	builtNames = regexp.MustCompile(`(?i)^-?\d[\d.]*(?:e[+-]?\d+)?$|^-?infinity$|^nan$|^(?:true|false|null|` +
		`undefined)$|,|\[object`)
	// betweenWords is all that no word consists of.
	betweenWords = regexp.MustCompile(`[^\pL\pN\pM]+`)
)

// holds reports whether front matter that is not understood may hold a name: its words stand
// there, one behind the other, or they may be made by it.
func (f *Front) holds(name string) bool {
	if len(f.whole) > maxFront || !utf8.ValidString(f.whole) ||
		buildsText.MatchString(f.whole) || builtNames.MatchString(name) {
		return true
	}
	words := func(s string) string {
		return strings.ToLower(strings.ToUpper(betweenWords.ReplaceAllString(" "+s+" ", " ")))
	}
	return strings.Contains(words(f.whole), words(name))
}

// frontMatter is the YAML before the text, as far as any reader takes it: it begins in the
// line behind the first dashes, and ends at the next three, wherever they stand, or, for
// readers that want them on a line of their own, at that line. False: there is none.
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
