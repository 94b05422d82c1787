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

// A keyKind is a kind of key that is recognized by its prefix. The keys of all services are in
// this one table: cards, the audit, addresses, tools and outputs use it.
type keyKind struct {
	begins string // the prefixes, the longest first, separated by blanks
	rest   string // a pattern of the secret after the prefix
	least  int    // the least number of letters, digits and joints (- _) after the prefix
	// plain says that nothing else has this form. A key can then contain words.
	plain bool
	// alike says that other names have the same prefix, such as dapi-gateway. Only the letters of
	// the rest tell them apart.
	alike bool
}

//go:embed keys.txt
var keysText string

var keyKinds = func() (kinds []keyKind) {
	for begins, text := range shape.Rows(keysText) {
		words := strings.Fields(text) // a number, a pattern, and options
		least, err := strconv.Atoi(words[0])
		if err != nil {
			panic("display: keys.txt: " + err.Error())
		}
		kinds = append(kinds, keyKind{begins: begins, rest: words[1], least: least,
			plain: slices.Contains(words, "plain"), alike: slices.Contains(words, "alike")})
	}
	return kinds
}()

// keyForms returns the forms of the keys, for the mask.
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

// A beginning is the prefix of one key, and the least number of characters after it.
type beginning struct {
	text  string
	least int
}

// beginnings are the prefixes of all keys, by their first byte.
var beginnings = sync.OnceValue(func() *[256][]beginning {
	all := &[256][]beginning{}
	for _, k := range append(keyKinds, keyKind{begins: "eyJhbGci", least: 10}) {
		for b := range strings.FieldsSeq(k.begins) {
			all[b[0]] = append(all[b[0]], beginning{b, k.least})
		}
	}
	return all
})

// BeginsKey reports whether a text begins like a key of a known service.
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

// shortKey is how many characters must follow the prefix of a value that stands alone, if the
// prefix is distinctive enough.
const shortKey = 8

// HoldsKey reports whether a text contains a key of a known service, or a search pattern for one.
func HoldsKey(s string) bool {
	all := beginnings()
	for i := range len(s) {
		for _, b := range all[s[i]] {
			rest, is := strings.CutPrefix(s[i:], b.text)
			if !is {
				continue
			}
			if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, `\w`) {
				return true // a search pattern has a character class there
			}
			if followed(rest, b.least) && (len(b.text) >= 4 || i == 0 || !shape.IsWordByte(s[i-1])) {
				return true
			}
		}
	}
	return strings.Contains(s, "PRIVATE KEY")
}

// followed reports whether a text begins with at least that many letters, digits and joints (- _).
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

// KeyPattern returns a regular expression that finds keys of known services in lowercase text. It
// leaves out keys that cannot be told from names in this way.
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
