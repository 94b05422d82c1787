package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"approver.example/display/shape"
)

// A field is one member of a JSON object. Its key is empty in a list.
type field struct {
	key string
	raw json.RawMessage
}

// fieldsOf returns the members of a JSON object or list, in their order. ok is false for all that
// could not be made again from them, such as an object that has a key twice.
func fieldsOf(raw []byte) (all []field, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	start, err := dec.Token()
	if err != nil || start != json.Delim('{') && start != json.Delim('[') || !utf8.Valid(raw) {
		return nil, false
	}
	seen := map[string]bool{}
	for dec.More() {
		var f field
		if start == json.Delim('{') {
			key, err := dec.Token()
			name, isText := key.(string)
			if err != nil || !isText || seen[name] || strings.ContainsRune(name, utf8.RuneError) {
				return nil, false
			}
			f.key, seen[name] = name, true
		}
		if dec.Decode(&f.raw) != nil {
			return nil, false
		}
		all = append(all, f)
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	_, err = dec.Token() // nothing may follow
	return all, err != nil
}

// textOf returns the text of a JSON string. ok is false for another value, and for half of a
// surrogate pair, which is no character.
func textOf(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	half := strings.ContainsRune(text, utf8.RuneError) && bytes.Contains(bytes.ToLower(raw), []byte(`\ud`))
	return text, !half
}

// indented returns JSON text as people read it. What is no JSON stays as it is.
func indented(raw []byte) string {
	var pretty bytes.Buffer
	if json.Indent(&pretty, raw, "", "  ") != nil {
		return string(raw)
	}
	return unescapeHTML(pretty.String())
}

// label returns the key of an argument as a label. One that could be read as something else, such
// as a key with a dot or one of our own labels, is quoted.
func label(key string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-$@/", r)
	}
	if key != "" && !ownLabels()[key] && strings.TrimFunc(key, plain) == "" && !strings.ContainsFunc(key,
		func(r rune) bool { return !plain(r) }) {
		return key
	}
	return quoted(key)
}

// Labels are labels of approver's own that are one word, here and on the rest of a card.
func Labels() []string { return strings.Fields(labels) }

const labels = "Path Size Tool Replaces End Add Delete Patch Options Arguments " +
	"Command Environment Why Warning From Choice Result Part Code Expires State Answer Rule Category Found Undo " +
	"Isolation Agent Session Folder Host Asked Until Request Call Fingerprint"

// ownLabels are the labels in every language: a reader must not take an argument's key for one of them.
var ownLabels = sync.OnceValue(func() map[string]bool {
	own := shape.SetOf(labels)
	for _, l := range Languages() {
		t, err := In(l.Tag)
		for _, label := range Labels() {
			if err == nil {
				own[t.Text(label)] = true
			}
		}
	}
	return own
})

// Label says a label of a body. The key of an argument stays as it is, whatever it means.
func (t Texts) Label(label string) string {
	if !strings.Contains(label, " ") && !slices.Contains(Labels(), label) {
		return label
	}
	return t.Text(label)
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	q, err := EncodeJSON(text)
	if err != nil { // never for a string
		return fmt.Sprintf("%q", text)
	}
	return string(q)
}

// kilo is how many bytes are one KB.
const kilo = 1000

// sizeOf says how long a text is: "300 lines · 9.1 KB".
func sizeOf(text string) string {
	if text == "" {
		return "empty"
	}
	lines := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		lines++
	}
	size := inNumbers(len(text), "byte")
	switch n := float64(len(text)); {
	case n >= kilo*kilo:
		size = fmt.Sprintf("%.1f MB", n/kilo/kilo)
	case n >= kilo:
		size = fmt.Sprintf("%.1f KB", n/kilo)
	}
	return inNumbers(lines, "line") + " · " + size
}

func inNumbers(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
