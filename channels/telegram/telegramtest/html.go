package telegramtest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// An Entity is a span of a message that has a meaning, in UTF-16 code units.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
	// Unix is the time of a date_time, which a client writes as what is left until then.
	Unix int64 `json:"unix_time,omitempty"`
	// User is whom a text_mention names.
	User User `json:"user,omitzero"`
}

// A User is a person as an entity names them.
type User struct {
	ID int64 `json:"id"`
}

// tags maps each tag of Telegram's HTML to the entity that it makes.
var tags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "code": "code", "pre": "pre",
	"a": "text_link", "tg-spoiler": "spoiler", "blockquote": "blockquote", "tg-time": "date_time",
}

var tagForm = regexp.MustCompile(
	`^<(/?)([a-zA-Z-]*)(?:\s+(?:href|class|unix)="([^"]*)")?(?:\s+format="[a-zA-Z]*")?\s*>`)

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
			r = cleaned(r)
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
				e := Entity{Type: tags[tag], Offset: top.at, Length: at - top.at, URL: top.url}
				if e.Type == "date_time" {
					unix, err := strconv.ParseInt(top.url, 10, 64)
					if err != nil {
						return "", nil, bad("can't parse entities: Invalid date_time")
					}
					e.Unix, e.URL = unix, ""
				}
				if id, ok := strings.CutPrefix(top.url, "tg://user?id="); ok && e.Type == "text_link" {
					e = Entity{Type: "text_mention", Offset: top.at, Length: at - top.at, User: User{ID: parse(id)}}
				}
				entities = append(entities, e)
			}
			i += len(m[0])
		default:
			_, n := utf8.DecodeRuneInString(src[i:])
			r := cleaned(src[i : i+n])
			text.WriteString(r)
			at += units(r)
			i += n
		}
	}
	if len(stack) > 0 {
		return "", nil, bad("can't parse entities: Can't find end tag corresponding to start tag %q", stack[len(stack)-1].tag)
	}
	return text.String(), entities, nil
}

// cleaned is what the service keeps of a character: it makes each control character but a line break a
// space, and drops carriage returns, the marks that turn the direction, and three marks above letters.
func cleaned(char string) string {
	r, _ := utf8.DecodeRuneInString(char)
	switch {
	case r == '\r', r >= 0x2028 && r <= 0x202e, r == 0x30a, r == 0x333, r == 0x33f:
		return ""
	case r < ' ' && r != '\n':
		return " "
	}
	return char
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

// A pattern is one that the service looks for by itself.
type pattern struct {
	kind string
	form *regexp.Regexp
}

// patterns are compiled at their first use: the program that plays this service has other commands too.
var patterns = sync.OnceValue(func() []pattern {
	return []pattern{
		{"url", regexp.MustCompile(`(?i)\b(?:https?|tg|ftp|ton)://\S+|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|sh|me|` +
			`ru|example)\b(?:/\S*)?`)},
		{"email", regexp.MustCompile(`[\w.+-]+@[\w-]+\.[a-z]{2,}`)},
		{"mention", regexp.MustCompile(`\B@[A-Za-z0-9_]{3,}`)},
		{"hashtag", regexp.MustCompile(`\B#[\p{L}0-9_]*[\p{L}_][\p{L}0-9_]*`)},
		{"cashtag", regexp.MustCompile(`\B\$[A-Z]{1,8}\b`)},
		{"bot_command", regexp.MustCompile(`(?:^|[\s(])/[A-Za-z0-9_]{1,64}(?:@\w+)?`)},
	}
})

// detect adds what the service finds by itself outside code and pre.
func detect(text string, entities []Entity) []Entity {
	from, at := 0, 0 // in bytes, and in units
	for _, o := range slices.Clone(entities) {
		if (o.Type != "code" && o.Type != "pre") || o.Offset < at {
			continue
		}
		end := from + ofUnits(text[from:], o.Offset-at)
		entities = append(entities, find(text, from, end, at)...)
		from, at = end+ofUnits(text[end:], o.Length), o.Offset+o.Length
	}
	entities = append(entities, find(text, from, len(text), at)...)
	slices.SortStableFunc(entities, func(a, b Entity) int { return cmp.Compare(a.Offset, b.Offset) })
	return entities
}

// find looks for patterns in a part of a text that begins at a number of units. What stands before it
// counts too: an @ in the middle of a word is no mention.
func find(text string, from, to, units0 int) (entities []Entity) {
	if from >= to {
		return nil
	}
	_, n := utf8.DecodeLastRuneInString(text[:from])
	part := text[from-n : to]
	for _, f := range patterns() {
		for _, span := range f.form.FindAllStringIndex(part, -1) {
			if span[0] < n {
				continue
			}
			entities = append(entities, Entity{Type: f.kind, Offset: units0 + units(part[n:span[0]]),
				Length: units(part[span[0]:span[1]])})
		}
	}
	return entities
}

// ofUnits is how many bytes of a text its first units have.
func ofUnits(text string, n int) int {
	for i, r := range text {
		if n <= 0 {
			return i
		}
		n -= units(string(r))
	}
	return len(text)
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

// drawn is the text of a message as a client shows it, with its times as what is left until then.
func drawn(text string, entities []Entity) string {
	all := utf16.Encode([]rune(text))
	for i := len(entities) - 1; i >= 0; i-- {
		e := entities[i]
		if e.Type == "date_time" && e.Offset+e.Length <= len(all) {
			left := time.Until(time.Unix(e.Unix, 0)).Round(time.Second)
			all = slices.Replace(all, e.Offset, e.Offset+e.Length,
				utf16.Encode([]rune(fmt.Sprintf("in %d seconds", int(left.Seconds()))))...)
		}
	}
	return string(utf16.Decode(all))
}
