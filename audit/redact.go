package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// maxRedact is the greatest text in bytes that is searched for secrets. A
// longer one is not shown at all, only its length and hash.
const maxRedact = 128 << 10

// Bounds of the cache for texts that repeat: tools, rules, directories.
const (
	maxRemembered    = 256 // bytes of one text
	maxRememberedAll = 4096
)

// Limits of texts in a line, in bytes before JSON escaping, which makes up to
// six bytes of one. Together they stay below MaxLine.
const (
	wordLimit    = 512      // ids, names, tools
	textLimit    = 8 << 10  // reasons, notes, arguments, directories
	commandLimit = 64 << 10 // commands
	summaryLimit = 200
)

const hiddenValue = "‹hidden›"

// A redactor removes secrets from texts and cuts them to size for the log.
type redactor struct {
	redact func(string) string

	mu    sync.RWMutex
	texts map[string]string
	users map[uint32]string
}

func newRedactor(redact func(string) string) *redactor {
	return &redactor{redact: redact, texts: map[string]string{}, users: map[uint32]string{}}
}

// mask redacts s and fits it into limit bytes.
func (r *redactor) mask(s string, limit int) string {
	if s == "" {
		return ""
	}
	shown, _ := display.Cut(r.clean(s), limit)
	return shown
}

// id is mask for values that the service made itself, such as a request's id.
// Redaction would take their hex digits for a key.
func (r *redactor) id(s string) string {
	shown, _ := display.Cut(readable(tokens.Mask(s)), wordLimit)
	return shown
}

// clean redacts the whole of s.
func (r *redactor) clean(s string) string {
	if len(s) > maxRedact {
		return notShown(s)
	}
	if len(s) > maxRemembered {
		return r.redactText(s)
	}
	return remembered(&r.mu, r.texts, s, func() string { return r.redactText(s) })
}

// remembered returns the text of a key from a cache, or builds it and puts it there.
func remembered[K comparable](mu *sync.RWMutex, texts map[K]string, key K, build func() string) string {
	mu.RLock()
	text, ok := texts[key]
	mu.RUnlock()
	if ok {
		return text
	}
	text = build()
	mu.Lock()
	defer mu.Unlock()
	if len(texts) >= maxRememberedAll {
		clear(texts)
	}
	texts[key] = text
	return text
}

// redactText masks codes before redact, because redact may leave enough of one to
// compute it, and again afterwards, because redact may uncover one.
func (r *redactor) redactText(s string) string { return readable(r.masked(s)) }

func (r *redactor) masked(s string) string { return tokens.Mask(r.redact(tokens.Mask(s))) }

// Marks that approver writes into a summary. The same characters in the text itself are
// escaped.
var (
	wholeNotShown = regexp.MustCompile(`^‹[0-9]+ bytes not shown, sha256 [0-9a-f]{64}›$`)
	bytesMore     = regexp.MustCompile(`… \([0-9]+ bytes more\)$`)
)

// Summary is a record's summary for people, on one line. Escapes made when it was written
// are not escaped again, while imitations of our marks stay escaped. No text in it can
// move the cursor.
func Summary(s string) string {
	head, tail := summaryParts(s)
	return display.OneLineAgain(head) + tail
}

// summaryParts splits off a mark that approver wrote.
func summaryParts(s string) (head, tail string) {
	if wholeNotShown.MatchString(s) {
		return "", s
	}
	if at := bytesMore.FindStringIndex(s); at != nil {
		return s[:at[0]], s[at[0]:]
	}
	return s, ""
}

func notShown(s string) string {
	return fmt.Sprintf("‹%d bytes not shown, sha256 %x›", len(s), sha256.Sum256([]byte(s)))
}

// readable makes invalid UTF-8 visible; JSON would replace all of it by one character.
func readable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return display.Visible(s)
}

// secretNames are parts of member names whose text is never shown.
var secretNames = []string{
	"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey",
	"authorization", "credential", "cookie",
}

func secretName(name string) bool {
	name = strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == ' ' {
			return -1
		}
		return unicode.ToLower(c)
	}, name)
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

// args redacts every text in a tool's arguments and keeps the rest as it is.
// What does not fit, or is no JSON, becomes a JSON string.
func (r *redactor) args(raw json.RawMessage) json.RawMessage {
	var shown string
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) > maxRedact:
		shown = notShown(string(raw))
	case !json.Valid(raw):
		shown = r.mask(string(raw), textLimit)
	default:
		b := r.maskStrings(raw)
		if len(b) <= textLimit {
			return b
		}
		shown, _ = display.Cut(string(b), textLimit)
	}
	b, err := display.EncodeJSON(shown)
	if err != nil { // a string always encodes
		return nil
	}
	return b
}

// maskStrings redacts the strings of a valid JSON text. It hides every string below a
// member with one of secretNames.
func (r *redactor) maskStrings(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+64)
	beside := r.inContext(raw)
	count := 0
	depth, hide := 0, -1 // hide is the depth of a member with a secret name
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '"' {
			switch c {
			case ' ', '\t', '\r', '\n':
				i++
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if depth < hide || depth == hide && c == ',' {
				hide = -1
			}
			out = append(out, c)
			i++
			continue
		}
		end := stringEnd(raw, i)
		s := unquote(raw[i:end])
		i = end
		name := bytes.HasPrefix(bytes.TrimLeft(raw[i:min(i+64, len(raw))], " \t\r\n"), []byte(":"))
		switch {
		case name && hide < 0 && secretName(s):
			hide = depth
		case !name && hide >= 0 && s != "":
			s = hiddenValue
		}
		shown := r.clean(s)
		if count < len(beside) && s != hiddenValue && beside[count] != s && (shown == s || len(beside[count]) <= len(shown)) {
			shown = readable(tokens.Mask(beside[count]))
		}
		count++
		out = appendQuoted(out, shown)
	}
	return out
}

// inContext returns each string of a valid JSON text after redaction of the whole text.
// A neighboring string can show that a string is a secret: a flag in a list, or the name
// next to a value. It returns nil if the text has neither, or if nothing changed.
func (r *redactor) inContext(raw []byte) (all []string) {
	if !bytes.Contains(raw, []byte(`"-`)) && !bytes.Contains(bytes.ToLower(raw), []byte(`"value"`)) {
		return nil
	}
	whole := []byte(r.redact(tokens.Mask(string(raw))))
	if !json.Valid(whole) || bytes.Equal(whole, raw) {
		return nil
	}
	for i := 0; i < len(whole); {
		if whole[i] != '"' {
			i++
			continue
		}
		end := stringEnd(whole, i)
		all = append(all, unquote(whole[i:end]))
		i = end
	}
	return all
}

func appendQuoted(out []byte, s string) []byte {
	if printable(s) && !strings.ContainsAny(s, `"\`) {
		out = append(out, '"')
		out = append(out, s...)
		return append(out, '"')
	}
	quoted, err := display.EncodeJSON(s)
	if err != nil { // a string always encodes
		quoted = []byte(`""`)
	}
	return append(out, quoted...)
}

// stringEnd is the index after the string that starts at i in valid JSON.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquote reads a valid JSON string.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil { // nothing else is valid
		return ""
	}
	return s
}

// summary is the call on one line.
func (r *redactor) summary(c approver.ToolCall) string {
	switch title := c.Display().Sentence(); {
	case title != "":
		return r.oneLine(title)
	case c.Command != "":
		return r.oneLine(c.Command)
	}
	return r.oneLine(strings.Join(append(append([]string{c.Tool}, c.Paths...), c.URLs...), " "))
}

// oneLine is a text on one line of at most summaryLimit bytes, or a little more
// to say how many are left out. [Summary] shows it.
func (r *redactor) oneLine(text string) string {
	if len(text) > maxRedact {
		return notShown(text)
	}
	if !utf8.ValidString(text) { // clean would escape it too, and OneLine twice
		text = display.OneLine(r.masked(text))
	} else if text = r.clean(text); !printable(text) {
		text = display.OneLine(text)
	}
	if len(text) <= summaryLimit {
		return text
	}
	end := summaryLimit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	if mark := strings.LastIndex(text[:end], "⟨"); mark > strings.LastIndex(text[:end], "⟩") {
		end = mark // do not cut inside a mark
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:end], len(text)-end)
}

// printable reports plain ASCII on one line, which is safe as it is.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// user is the name of a local account, or its number. It is looked up once.
func (r *redactor) user(uid uint32) string {
	return remembered(&r.mu, r.users, uid, func() string {
		number := strconv.FormatUint(uint64(uid), 10)
		if u, err := user.LookupId(number); err == nil {
			return r.mask(u.Username, wordLimit)
		}
		return number
	})
}
