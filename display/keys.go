package display

import (
	_ "embed" // the table
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"approver.example/display/shape"
)

// A keyKind is a kind of key that is known by how it begins. The keys of all services
// are in this one table: cards, the audit, addresses, tools and outputs all use it.
type keyKind struct {
	begins string // the beginnings, the longest first, with blanks between them
	rest   string // a pattern of what follows, which is the secret
	least  int    // the least number of letters, digits and joints that follow
	// plain says that nothing else has this form, so that words in it make no name of it.
	plain bool
	// alike says that names of other things begin so, too, as dapi-gateway does: one has to
	// look at the letters of the rest to tell.
	alike bool
}

//go:embed keys.txt
var keysText string

var keyKinds = func() (kinds []keyKind) {
	for begins, text := range shape.Rows(keysText) {
		words := strings.Fields(text) // a number, a pattern, and what else holds
		least, err := strconv.Atoi(words[0])
		if err != nil {
			panic("display: keys.txt: " + err.Error())
		}
		kinds = append(kinds, keyKind{begins: begins, rest: words[1], least: least,
			plain: slices.Contains(words, "plain"), alike: slices.Contains(words, "alike")})
	}
	return kinds
}()

// keyForms are the forms of the keys, for the mask.
func keyForms() []form {
	forms := make([]form, len(keyKinds))
	for i, k := range keyKinds {
		begins := strings.Fields(k.begins)
		quoted := make([]string, len(begins))
		hints := make([]string, len(begins))
		for j, b := range begins {
			quoted[j], hints[j] = regexp.QuoteMeta(b), strings.ToLower(b)
		}
		f := form{hints: hints, pattern: shape.Pattern(`\b(` + strings.Join(quoted, "|") + `)` + k.rest),
			run: min(k.least, shape.LongRun)}
		if strings.Contains(k.rest, "/") {
			f.run = 0
		}
		if !k.plain {
			f.is = func(_, value string) bool { return !shape.HasOnly(value, shape.IsWordAlone) }
		}
		forms[i] = f
	}
	return forms
}

// A beginning is how one key begins, and what must follow at least.
type beginning struct {
	text  string
	least int
}

// beginnings are those of all keys by their first byte.
var beginnings = sync.OnceValue(func() *[256][]beginning {
	all := &[256][]beginning{}
	for _, k := range append(keyKinds, keyKind{begins: "eyJhbGci", least: 10}) {
		for b := range strings.FieldsSeq(k.begins) {
			all[b[0]] = append(all[b[0]], beginning{b, k.least})
		}
	}
	return all
})

// BeginsKey reports whether a text begins as a key of a known service does.
func BeginsKey(s string) bool {
	if s == "" {
		return false
	}
	for _, b := range beginnings()[s[0]] {
		least := b.least
		if least <= shape.LongRun {
			least = min(least, shortKey)
		}
		if rest, is := strings.CutPrefix(s, b.text); is && followed(rest, least) {
			return true
		}
	}
	return false
}

// shortKey is how much must follow the beginning of a value that stands alone, if the
// beginning says enough.
const shortKey = 8

// HoldsKey reports whether a text has a key of a known service in it, or a pattern that
// looks for one.
func HoldsKey(s string) bool {
	all := beginnings()
	for i := range len(s) {
		for _, b := range all[s[i]] {
			rest, is := strings.CutPrefix(s[i:], b.text)
			if !is {
				continue
			}
			if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, `\w`) {
				return true // a search for one has a class instead
			}
			if followed(rest, b.least) && (len(b.text) >= 4 || i == 0 || !shape.IsWordByte(s[i-1])) {
				return true
			}
		}
	}
	return strings.Contains(s, "PRIVATE KEY")
}

// followed reports so many letters, digits and joints at the start of a text.
func followed(rest string, least int) bool {
	if len(rest) < least {
		return false
	}
	for i := range least {
		if c := rest[i]; c != '-' && !shape.IsWordByte(c) {
			return false
		}
	}
	return true
}

// KeyPattern is a regular expression that finds keys of known services in a text of small
// letters. It leaves out those that only their letters tell from names.
func KeyPattern() string {
	var all []string
	for _, k := range keyKinds {
		if k.alike {
			continue
		}
		rest := strings.NewReplacer("A-Za-z", "a-z", "A-Z", "a-z").Replace(k.rest)
		for b := range strings.FieldsSeq(k.begins) {
			all = append(all, regexp.QuoteMeta(strings.ToLower(b))+rest)
		}
	}
	return `\b(?:` + strings.Join(all, "|") + `)`
}
