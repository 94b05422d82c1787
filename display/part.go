package display

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A part is a stretch of a text that the mask hides.
type part struct {
	from, to int
	begin    int // where the whole value begins, with the visible prefix of a key
	silent   bool
	role     role
	// name is, for byName, the name before the value if it may be a variable's, and for
	// byFollowing, the variable that passes the value on.
	name   string
	member bool // the value of a JSON member with the name of a secret
}

// A role says how a value was recognized as a secret.
type role uint8

const (
	byForm      role = iota // the value itself looks like a key
	byName                  // only the name before it marks it as a secret
	inHeader                // credentials in a header, such as bearer or basic
	inURL                   // the password in an address
	byPlace                 // a known program takes a credential there
	byFollowing             // a variable passes it to such a place
)

// overlaps reports whether p overlaps one of the parts.
func overlaps(parts []part, p part) bool {
	return slices.ContainsFunc(parts, func(q part) bool { return p.from < q.to && q.from < p.to })
}

// inSight reports whether a value also occurs outside of the hidden parts.
func inSight(s, value string, parts []part) bool {
	all := strings.Count(s, value)
	for _, p := range parts {
		all -= strings.Count(s[p.from:p.to], value)
	}
	return all > 0
}

// masked writes a text with notes in place of its hidden parts.
func masked(s string, parts []part) string {
	if len(parts) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for _, p := range parts {
		b.WriteString(s[done:p.from] + hiddenNote(s[p.from:p.to], p.silent))
		done = p.to
	}
	return b.String() + s[done:]
}

func hiddenNote(secret string, silent bool) string {
	if silent {
		return fmt.Sprintf("‹%d characters hidden›", len(secret))
	}
	h := hmac.New(sha256.New, maskKey())
	h.Write([]byte(secret))
	return fmt.Sprintf("‹%d characters hidden, %x›", len(secret), h.Sum(nil)[:3])
}

// maskedPattern matches the note that Mask writes in place of a secret.
var maskedPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`‹[0-9]+ characters hidden(?:, [0-9a-f]{6})?›`)
})

// maskKey is the key of the fingerprints of masked secrets, random in each process. A short secret
// could be guessed from its hash without a key.
var maskKey = sync.OnceValue(func() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: it ends the program instead
	return key
})

// hiddenWords is a text in every note of a hidden part.
const hiddenWords = " characters hidden"

// Limits of the notice about what the fingerprint does not bind.
const (
	maxUnboundNames = 4
	maxUnboundName  = 120 // bytes
)

// UnboundNotice is the text on the card of a call that executes something that its fingerprint
// does not bind. The names are mostly the agent's words, in which [Call.MaskNames] has already
// hidden the secrets. Masking them again would treat its notes as imitations.
func UnboundNotice(unbound []string, t Texts) string {
	var names []string
	for _, name := range unbound[:min(len(unbound), maxUnboundNames)] {
		if len(name) > maxUnboundName {
			name = strings.ToValidUTF8(name[:maxUnboundName], "") + "…"
		}
		names = append(names, Visible(strings.Join(strings.Fields(name), " ")))
	}
	if more := len(unbound) - len(names); more > 0 {
		names = append(names, t.Text("and %d more", more))
	}
	if len(names) == 0 { // a record from a version without names
		names = []string{t.Text("some of what this would run")}
	}
	// The names are safe as they are: as arguments of the text their notes would be marked once more.
	return strings.Join(names, ", ") + " " + t.Text("can change after you answer, so a yes is for one run.")
}

// MaskNames returns the names of what is not bound, with the secrets hidden that the card hides in
// the call. The names are mostly words of the call, without the context that identifies a secret.
func (call Call) MaskNames(names []string) []string {
	if len(names) == 0 {
		return names
	}
	v, parts := call.parts(call.texts())
	s, out := v.text, slices.Clone(names)
	for i, name := range out {
		name = prepared(name)
		var hide []part
		for _, p := range parts {
			hide = hideAll(name, 0, len(name), s[p.from:p.to], part{silent: p.silent}, hide)
		}
		for _, p := range hiddenParts(name) {
			if !overlaps(hide, p) {
				hide = append(hide, p)
			}
		}
		slices.SortFunc(hide, func(a, b part) int { return a.from - b.from })
		out[i] = masked(name, hide)
	}
	return out
}

// hideAll appends a part for each occurrence of secret in text from from to to. as has the other
// fields of the parts.
func hideAll(text string, from, to int, secret string, as part, hide []part) []part {
	for at := from; len(secret) >= minSecretInName; {
		n := strings.Index(text[at:to], secret)
		if n < 0 {
			break
		}
		as.from, as.to, as.begin = at+n, at+n+len(secret), at+n
		if at = as.to; !overlaps(hide, as) {
			hide = append(hide, as)
		}
	}
	return hide
}
