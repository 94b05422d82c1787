package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// This file finds values that only their names make secrets: name=value, --name value,
// and the members of JSON.

// nameWords are in the names of secrets. A name that goes on behind them, as in
// token_url or secretName, is another thing's.
const nameWords = `(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|signing[_-]?key` +
	`|encryption[_-]?key|mysql_pwd|sshpass|rediscli_auth|(?:^|\b|[._-])(?:pass|pwd|passcode|jwt)|[a-z0-9][_-]key|secret_key_base|\b_auth)`

const nameValue = `([A-Za-z0-9_+~!@%^./#-]{6,}={0,2})`

var (
	namedValue = once(`(?i)\b([a-z0-9_.-]*` + nameWords + `(?:=|\\*["']=|\\*["']?[ \t]*=>[ \t]*|\\*["']?[ \t]+=[ \t]*|\\*["']?[ \t]*:[ \t]*)\\*["']?)` + nameValue)
	flagValue  = once(`(?i)(?:^|[\s"'])(--?(?:[a-z0-9]+-)*` + nameWords + `[ \t]+["']?)` + nameValue)
	netrcValue = once(`(?i)(?:^|["'\n]|\\n)([ \t]*machine[ \t]+[^\s"'$\\]+(?:[ \t]|\\n|\r?\n)+login[ \t]+[^\s"'$\\]+(?:[ \t]|\\n|\r?\n)+password[ \t]+)([^\s"'$\\` + "`" + `;&|<>()]{3,})`)
	authValue  = once(`(?i)(\bauthorization\\*["']?[ \t]*[:=,][ \t]*\\*["']?(?:bearer|basic|token|apikey|digest)[ \t]+)([A-Za-z0-9._~+/-]{8,}={0,2})`)
	// settings of files that have no sign between name and value, or a tag around it
	lineValue = once(`(?im)(?:^|["'\n]|\\n)([ \t]*(?:requirepass|masterauth|(?:env|arg)[ \t]+[a-z0-9_]*(?:password|passwd|secret|token|api_?key|access_?key))[ \t]+\\*["']?)` + nameValue)
	tagValue  = once(`(?i)(<(?:[a-z0-9]+[:_.-]?)*(?:password|passphrase|secret|token|api-?key)>)([^<>\s"'\\$` + "`" + `;&|()]{4,})</`)
	passLine  = once(`(?m)((?:^|["'\s]|\\n)[^\s:"'\\]+:(?:[0-9]+|\*):[^\s:]+:[^\s:]+:)([^\s:"'\\$` + "`" + `;&|()<>]{3,})`)
	// the credentials of a registry or of basic authentication: user:password
	pairValue = once(`(\\*"auth\\*"[ \t]*:[ \t]*\\*")([A-Za-z0-9+/]{8,}={0,2})\\*"`)
	// what proves that an address was given by its owner, and a key in one
	queryValue = once(`(?i)([?&](?:sig|signature|key|x-(?:amz|goog)-(?:signature|credential))=)([A-Za-z0-9_+~!%./-]{12,}={0,2})`)
	nameHints  = []string{"pass", "secret", "token", "key", "pwd", "jwt", "_auth"}
)

// namedParts adds what only its name makes a secret. A value as short as a password may
// be is hidden only if it looks like one.
func namedParts(s, lower string, found []part) []part {
	if strings.Contains(lower, "authorization") {
		found = named(s, namedForm{pattern: authValue, as: inHeader}, found)
	}
	for _, f := range namedForms {
		if strings.Contains(lower, f.hint) {
			found = named(s, f, found)
		}
	}
	if !containsAny(lower, nameHints) {
		return found
	}
	return named(s, namedForm{pattern: flagValue, as: byName}, named(s, namedForm{pattern: namedValue, as: byName}, found))
}

// A namedForm is a form of name and value of its own, and what every match contains.
type namedForm struct {
	hint    string
	pattern func() *regexp.Regexp
	// is, when set, says whether a value is what the form promises; without it, and
	// without given, the value must look like a secret.
	is    func(value string) bool
	given bool // whatever the value is, it is the secret
	as    role
}

// namedForms are tried in this order.
var namedForms = []namedForm{
	{hint: "machine", pattern: netrcValue, given: true, as: byName},
	{hint: "requirepass", pattern: lineValue, given: true, as: byName}, {hint: "masterauth", pattern: lineValue, given: true, as: byName},
	{hint: "env ", pattern: lineValue, as: byName}, {hint: "arg ", pattern: lineValue, as: byName},
	{hint: "</", pattern: tagValue, given: true, as: byName},
	{hint: ".pgpass", pattern: passLine, given: true, as: byName},
	{hint: "auth", pattern: pairValue, is: isPair, as: byName},
	{hint: "key=", pattern: queryValue, is: opaqueKey, as: byForm}, {hint: "sig", pattern: queryValue, is: opaqueKey, as: byForm}, {hint: "x-amz-", pattern: queryValue, is: opaqueKey, as: byForm},
	{hint: "password", pattern: statement, given: true, as: byPlace}, {hint: "identified", pattern: statement, given: true, as: byPlace},
}

// isPair reports user:password in base64.
func isPair(value string) bool {
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		text, err = base64.RawStdEncoding.DecodeString(value)
	}
	return err == nil && bytes.IndexByte(text, ':') > 0 && !slices.ContainsFunc(text, func(b byte) bool { return b < ' ' || b > '~' })
}

// opaqueKey reports what may be a key and is no name.
func opaqueKey(value string) bool {
	return looksRandom(value) && keyLike(value) && !strings.Contains(strings.Trim(value, "/"), "/")
}

// named adds the matches of one pattern: its first group stays, its second is hidden.
func named(s string, f namedForm, found []part) []part {
	re, as := f.pattern(), f.as
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		p := part{from: at[4], begin: at[4], to: at[5], role: as}
		begin, value := at[2], s[at[4]:at[5]]
		name := strings.Trim(s[begin:at[4]], " \t\"'=:\\-")
		pair := re == namedValue()
		switch {
		case f.given:
		case f.is != nil:
			if !f.is(value) {
				continue
			}
		case runs(s[:p.from]), (pair || as == inHeader) && apart(s, begin, p.from, p.to),
			as == byName && !secretValue(name, value), as == inHeader && len(value) < 16 && !mixed(value),
			strings.IndexByte("([{", byteAt(s, p.to)) >= 0: // a call of a function
			continue
		}
		if pair && byteAt(s, begin-1) != '-' {
			p.name = name
		}
		if !overlaps(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// byteAt is a text's byte at a place, or a blank beyond its ends.
func byteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}

// secretValue reports a value that may be the secret that its name promises, and no
// name, path or word of another thing.
func secretValue(name, value string) bool {
	if strings.IndexByte("/.~", byteAt(value, 0)) >= 0 || strings.Contains(value, "://") {
		return false
	}
	random := looksRandom(value)
	if isOtherKey(name) {
		return random && len(value) >= 16 && keyLike(value) && !strings.ContainsAny(value, "/._-")
	}
	if strings.ContainsAny(value, "/") {
		return (random && len(value) >= 16 || len(value) >= 32 && mixedLine(value)) && opaque(value)
	}
	if ext := path.Ext(value); len(ext) > 1 && len(ext) <= 5 && !strings.ContainsAny(ext[1:], "0123456789") {
		return random && opaque(value) // else the name of a file or a host
	}
	if random && (len(value) >= 16 || len(value) >= 12 && opaque(value)) {
		return true
	}
	lower := strings.ToLower(name)
	return len(value) >= 6 && mixed(value) && containsAny(lower, []string{"pass", "pwd", "_auth"})
}

// isOtherKey reports a name that ends in key and says no more of a secret. Tables, caches
// and public keys have such names as well, so only a value without a meaning counts.
func isOtherKey(name string) bool {
	lower := strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
	what, is := strings.CutSuffix(lower, "_key")
	return is && !slices.ContainsFunc([]string{"api", "access", "secret", "private", "account", "auth", "signing", "encryption"}, func(word string) bool {
		return strings.HasSuffix(what, word)
	})
}

// keyLike reports a value without a meaning, or with digits, small letters and capitals.
func keyLike(value string) bool {
	return opaque(value) || strings.ContainsAny(value, "0123456789") && strings.ToLower(value) != value && strings.ToUpper(value) != value
}

// mixed reports letters with a digit or a sign among them, as in most passwords.
func mixed(value string) bool {
	return strings.ContainsFunc(value, unicode.IsLetter) && strings.ContainsAny(value, "0123456789!@#%^+~")
}

// memberParts adds the secrets among the members of a tool's arguments: a text of JSON
// that begins behind a place. There is nothing in a string of JSON that a shell would run by
// itself, so that the whole of it can be hidden.
func memberParts(s string, from int, found []part) []part {
	m := &members{text: s, found: found}
	if at := strings.IndexAny(s[from:], "{["); at >= 0 {
		m.walk(from+at, len(s), `"`)
	}
	slices.SortFunc(m.found, func(a, b part) int { return a.from - b.from })
	return m.found
}

// members walks through JSON.
type members struct {
	text  string
	found []part
}

// walk looks at every string: at which member it is the value of, and, in a list of
// arguments, at the flag before it. The quotes of JSON in a string of JSON are \".
func (m *members) walk(at, to int, quote string) {
	var keys []string // of the objects and lists around the place
	key, before, label := "", "", ""
	var early *part // a value before the name beside it
	for i := at; i < to; i++ {
		switch c := m.text[i]; {
		case c == '{' || c == '[':
			keys, before, label, early = append(keys, key), "", "", nil
		case c == '}' || c == ']':
			if len(keys) == 0 {
				return
			}
			key, keys = keys[len(keys)-1], keys[:len(keys)-1]
			before, label, early = "", "", nil
		case strings.HasPrefix(m.text[i:to], quote):
			from := i + len(quote)
			n := endOfString(m.text[from:to], quote)
			if n < 0 {
				return
			}
			text, end := m.text[from:from+n], from+n+len(quote)
			i = end - 1
			if strings.HasPrefix(strings.TrimLeft(m.text[end:min(to, end+8)], " "), ":") {
				key = text
				continue
			}
			m.value(memberName(key, before, label), from, from+n)
			if quote == `"` && strings.IndexByte(text, '\\') >= 0 {
				m.decoded(from, from+n)
			}
			if inner := strings.Repeat(`\`, 2*len(quote)-1) + `"`; len(quote) < maxQuote && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
				m.walk(from, from+n, inner)
			}
			switch plain := strings.ToLower(key); {
			case plain == "name" || plain == "key":
				if label = text; early != nil {
					m.value(label, early.from, early.to)
				}
			case plain == "value" && label == "":
				early = &part{from: from, to: from + n}
			}
			before = text
		}
	}
}

// memberName is the name that says what a string is: of its member, of the flag before
// it in a list of arguments, or of the variable beside it.
func memberName(key, before, label string) string {
	if flag := strings.TrimLeft(before, "-"); flag != before && !secretMember(key) {
		return flag
	}
	if strings.EqualFold(key, "value") {
		return label
	}
	return key
}

// maxQuote bounds the JSON in JSON that is read: three texts within each other.
const maxQuote = 8

// endOfString is the place of the quote that ends a string of JSON, or -1.
func endOfString(s, quote string) int {
	if quote == `"` {
		return endOfQuote(s, '"')
	}
	for at := 0; ; {
		n := strings.IndexByte(s[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		slashes := at - len(strings.TrimRight(s[:at], `\`))
		if slashes < len(quote) {
			return at - slashes
		}
		at++
	}
}

// value hides one string, if its name says secret and it looks like one.
func (m *members) value(name string, from, to int) {
	text := m.text[from:to]
	if !secretMember(name) || strings.HasPrefix(text, "${") || strings.HasPrefix(text, "$(") {
		return
	}
	spaced := strings.ContainsAny(text, " \\")
	phrase := spaced && len(text) <= 200 && mixed(text) && strings.Contains(strings.ToLower(name), "pass")
	if !phrase && !secretValue(name, text) {
		return
	}
	if p := (part{from: from, to: to, begin: from, role: byName, member: true}); !overlaps(m.found, p) {
		m.found = append(m.found, p)
	}
}

// decoded hides in a string what would be hidden in the text that it stands for: a file
// or a command, whose line breaks and quotes are written otherwise here.
func (m *members) decoded(from, to int) {
	var text string
	if json.Unmarshal([]byte(m.text[from-1:to+1]), &text) != nil {
		return
	}
	for _, p := range hiddenParts(text) {
		secret, err := json.Marshal(text[p.from:p.to])
		if plain := string(bytes.Trim(secret, `"`)); err == nil && len(plain) >= minSecretInName {
			m.hide(plain, from, to)
		}
	}
}

// hide adds each place of a secret in a stretch.
func (m *members) hide(secret string, from, to int) {
	for at := from; ; {
		n := strings.Index(m.text[at:to], secret)
		if n < 0 {
			return
		}
		p := part{from: at + n, to: at + n + len(secret), begin: at + n, role: byName, member: true}
		if at = p.to; !overlaps(m.found, p) {
			m.found = append(m.found, p)
		}
	}
}

// secretMember reports the name of a member that holds a secret, however it is written.
func secretMember(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	switch plain {
	case "pass", "pwd", "passcode", "jwt", "secretstring", "secretvalue", "auth", "authorization", "credentials", "cookie", "passwords", "tokens", "secrets":
		return true
	}
	for _, word := range []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "accountkey", "authkey", "signingkey"} {
		if strings.HasSuffix(plain, word) {
			return true
		}
	}
	return false
}
