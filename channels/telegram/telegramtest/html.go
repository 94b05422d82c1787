package telegramtest

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Entity is a span of a message that has a meaning, in UTF-16 code units.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
}

// tags maps each tag of Telegram's HTML to the entity that it makes.
var tags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "code": "code", "pre": "pre",
	"a": "text_link", "tg-spoiler": "spoiler", "blockquote": "blockquote",
}

var tagForm = regexp.MustCompile(`^<(/?)([a-zA-Z-]*)(?:\s+(?:href|class)="([^"]*)")?\s*>`)

// parseHTML reads Telegram's HTML.
func parseHTML(src string) (string, []Entity, error) {
	type open struct {
		tag, url string
		at       int // in units
	}
	var text strings.Builder
	var entities []Entity
	var stack []open
	at := 0
	for i := 0; i < len(src); {
		switch src[i] {
		case '&':
			r, n := reference(src[i:])
			text.WriteString(r)
			at += units(r)
			i += n
		case '<':
			m := tagForm.FindStringSubmatch(src[i:])
			if m == nil {
				return "", nil, bad("can't parse entities: Unclosed start tag at byte offset %d", i)
			}
			tag := strings.ToLower(m[2])
			if m[1] == "" {
				if tags[tag] == "" {
					return "", nil, bad("can't parse entities: Unsupported start tag %q at byte offset %d", tag, i)
				}
				stack = append(stack, open{tag, m[3], at})
				i += len(m[0])
				continue
			}
			if len(stack) == 0 {
				return "", nil, bad("can't parse entities: Unexpected end tag at byte offset %d", i)
			}
			top := stack[len(stack)-1]
			if tag != top.tag {
				return "", nil, bad("can't parse entities: Unmatched end tag at byte offset %d, expected \"</%s>\", found "+
					"\"</%s>\"", i, top.tag, tag)
			}
			stack = stack[:len(stack)-1]
			if at > top.at {
				entities = append(entities, Entity{Type: tags[tag], Offset: top.at, Length: at - top.at, URL: top.url})
			}
			i += len(m[0])
		default:
			r, n := utf8.DecodeRuneInString(src[i:])
			text.WriteRune(r)
			at += units(string(r))
			i += n
		}
	}
	if len(stack) > 0 {
		return "", nil, bad("can't parse entities: Can't find end tag corresponding to start tag %q", stack[len(stack)-1].tag)
	}
	return text.String(), entities, nil
}

var referenceForm = regexp.MustCompile(`^&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot));?`)

// reference reads one character reference, or the ampersand itself.
func reference(src string) (string, int) {
	m := referenceForm.FindStringSubmatch(src)
	if m == nil {
		return "&", 1
	}
	if m[3] != "" {
		return map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}[m[3]], len(m[0])
	}
	digits, base := m[1], 10
	if digits == "" {
		digits, base = m[2], 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil || n == 0 || n > utf8.MaxRune {
		return "&", 1
	}
	return string(rune(n)), len(m[0])
}

// found are the patterns that the service looks for by itself.
var found = []struct {
	kind string
	form *regexp.Regexp
}{
	{"url", regexp.MustCompile(`(?i)\b(?:https?|tg|ftp|ton)://\S+|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|sh|me|` +
		`ru|example)\b(?:/\S*)?`)},
	{"email", regexp.MustCompile(`[\w.+-]+@[\w-]+\.[a-z]{2,}`)},
	{"mention", regexp.MustCompile(`\B@[A-Za-z0-9_]{3,}`)},
	{"hashtag", regexp.MustCompile(`\B#[\p{L}0-9_]*[\p{L}_][\p{L}0-9_]*`)},
	{"cashtag", regexp.MustCompile(`\B\$[A-Z]{1,8}\b`)},
	{"bot_command", regexp.MustCompile(`(?:^|[\s(])/[A-Za-z0-9_]{1,64}(?:@\w+)?`)},
}

// detect adds what the service finds by itself outside code and pre.
func detect(text string, entities []Entity) []Entity {
	for _, f := range found {
		for _, at := range f.form.FindAllStringIndex(text, -1) {
			e := Entity{Type: f.kind, Offset: units(text[:at[0]]), Length: units(text[at[0]:at[1]])}
			if !slices.ContainsFunc(entities, func(o Entity) bool {
				return (o.Type == "code" || o.Type == "pre") && e.Offset < o.Offset+o.Length && o.Offset < e.Offset+e.Length
			}) {
				entities = append(entities, e)
			}
		}
	}
	slices.SortStableFunc(entities, func(a, b Entity) int { return cmp.Compare(a.Offset, b.Offset) })
	return entities
}

// units counts UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Read returns what the service makes of a text in its HTML: what people see,
// and every entity, those that it finds by itself included.
func Read(html string) (text string, entities []Entity, err error) {
	if text, entities, err = parseHTML(html); err != nil {
		return "", nil, err
	}
	text = strings.TrimRight(text, " \n\t")
	return text, detect(text, entities), nil
}
