package display

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"approver.example/display/shape"
)

// A form is one form of secret that is certain enough to hide. The first group of the pattern
// stays visible. The second group is hidden, or without one, everything after the first group.
type form struct {
	// hints are lowercase texts. Every match contains one of them, ignoring case. Most texts contain
	// none, so no pattern is tried on them.
	hints   []string
	bytes   []byteSet // of each hint
	pattern func() *regexp.Regexp
	// follows, if set, reports whether a match is possible with this text after a hint.
	follows func(rest []byte) bool
	run     int // every match has at least this many letters, digits and joints (. = - _) in a row
	// is, if set, reports whether the value really is a secret of this form.
	is     func(name, value string) bool
	role   role     // how the value was recognized, see [Call.Shown]
	words  wordKind // what else the value may be to a shell
	beyond bool     // a match may span several lines
	silent bool     // the note has no fingerprint, only the length
}

// A wordKind says what a value in the place of a secret may mean to a shell.
type wordKind uint8

const (
	mayRun      wordKind = iota // a command, or a word of its own
	mayRunNamed                 // as mayRun, and NAME=value sets a variable of that name
	mayRunFlag                  // a command after a flag
	noWord                      // nothing else
)

// forms are tried in this order, and what one form hides stays hidden. Except in private keys, a
// value has no line break, space or quote in it, and does not follow something that a shell would
// run, so a mask cannot hide a command. In case of doubt the text is shown: it is more important
// that people see what runs than that they do not see a password. split.go finds keys that have
// more in them, but only what a shell reads as a part of the same word.
var forms = sync.OnceValue(func() []form {
	all := slices.Concat(keyForms(), contextForms, namedForms)
	for i := range all {
		for _, hint := range all[i].hints {
			all[i].bytes = append(all[i].bytes, bytesOf(hint))
		}
	}
	return all
})

// A byteSet has the ASCII characters of a text.
type byteSet [2]uint64

func bytesOf(s string) (set byteSet) {
	for i := range len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			set[c/64] |= 1 << (c % 64)
		}
	}
	return set
}

// mayMatch reports whether a text in lowercase letters, which has these characters, has a hint. Most hints have a
// character that the text has not, which is found faster than that it has the hint.
func (f *form) mayMatch(lower string, has byteSet) bool {
	for i, need := range f.bytes {
		if need[0]&^has[0]|need[1]&^has[1] == 0 && strings.Contains(lower, f.hints[i]) {
			return true
		}
	}
	return false
}

// contextForms are recognized by the text around them.
var contextForms = []form{
	{hints: []string{".atlasv1."}, pattern: shape.Pattern(`\b()[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}`),
		run: shape.LongRun},
	{hints: []string{"-us"}, pattern: shape.Pattern(`\b()[0-9a-f]{32}-us[0-9]{1,2}\b`), run: 32},
	{hints: []string{"eyj"},
		pattern: shape.Pattern(`\b(eyJ)[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}` +
			`|(?:[A-Za-z0-9_-]*\.){3}[A-Za-z0-9_-]{8,})`)},
	{hints: []string{"."}, pattern: shape.Pattern(`\b([MNO][A-Za-z0-9]{23,25}\.)[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`),
		run: 58, is: shape.IsUnworded}, // a bot of Discord
	{hints: []string{":aa"}, pattern: shape.Pattern(`\b([0-9]{8,}:)AA[A-Za-z0-9_-]{33}`)},
	{hints: []string{"/bot"}, pattern: shape.Pattern(`(/bot[0-9]{8,}:)AA[A-Za-z0-9_-]{33}`), run: shape.LongRun},
	{hints: []string{"hooks.slack.com/"},
		pattern: shape.Pattern(`(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]+/[A-Z0-9]+/)[A-Za-z0-9/]{16,}`)},
	{hints: []string{"/api/webhooks/"},
		pattern: shape.Pattern(`(discord(?:app)?\.com/api/webhooks/[0-9]+/)[A-Za-z0-9_-]{40,}`), run: shape.LongRun},
	{hints: []string{"webhook.office.com/"},
		pattern: shape.Pattern(`(webhook\.office\.com/webhookb2/[^/\s"'$]+/IncomingWebhook/)[0-9a-f]{32}`),
		run:     shape.LongRun},
	{hints: []string{"accountkey=", "sharedaccesskey="},
		pattern: shape.Pattern(`(?i)((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{24,}={0,2}`)},
	{hints: []string{"bearer", "basic"}, follows: longWord,
		pattern: shape.Pattern(`(?i)((?:bearer|basic)[ \t]+)[A-Za-z0-9._~+/-]{16,}=*`), is: shape.IsMadeUp, role: inHeader},
	{hints: []string{"://"},
		pattern: shape.Pattern("([a-z][a-z0-9+.-]*://[^\\s:/@\"'`$\\[]*:)([^\\s\"'`\\\\/‹›]+|[^\\s\"'`\\\\@‹›]+)@"),
		is:      passwordOfAddress, role: inURL},
	{hints: []string{"://"}, pattern: shape.Pattern("([a-z][a-z0-9+.-]*://)([A-Za-z0-9_-]{20,})@"), is: keyOfAddress,
		role: inURL},
	{hints: []string{"@tcp(", "@unix(", "@tcp6("},
		pattern: shape.Pattern("([A-Za-z0-9_.-]+:)([^\\s\"'`$;&|<>()@\\\\‹›]{3,})@(?:tcp6?|unix)\\("), role: inURL},
	{hints: []string{"ls0tls1crudjti"}, pattern: shape.Pattern(`\b(LS0tLS1CRUdJTi)[A-Za-z0-9+/]{40,}={0,2}`),
		is: isEncodedKey},
	{hints: []string{"confirm-"}, pattern: shape.Pattern(`(?i)\b(CONFIRM-)[A-Z0-9]{6,}\b`), silent: true},
}

// namedForms are recognized by the name before the value.
var namedForms = []form{
	{hints: []string{"authorization"}, pattern: authValue, is: longOrMixed, role: inHeader, words: mayRunNamed},
	{hints: []string{"machine"}, pattern: netrcValue, role: byName, words: noWord, beyond: true},
	{hints: []string{"requirepass", "masterauth"}, pattern: lineValue, role: byName, words: noWord},
	{hints: []string{"env ", "arg "}, pattern: lineValue, is: shape.IsSecretValue, role: byName, words: mayRunFlag},
	{hints: []string{"</"}, pattern: tagValue, role: byName, words: noWord},
	{hints: []string{".pgpass"}, pattern: passLine, role: byName, words: noWord},
	{hints: []string{"auth"}, pattern: pairValue, is: shape.IsPair, role: byName, words: noWord},
	{hints: []string{"key=", "sig", "x-amz-"}, pattern: queryValue, is: shape.OpaqueKey, role: byForm, words: noWord},
	{hints: []string{"password", "identified"}, pattern: shape.SQLPassword, role: byPlace, words: noWord},
	{hints: []string{"secret", "aws_"}, pattern: cloudValue, is: shape.IsUnworded, role: byName, words: noWord},
	{hints: shape.NameHints, follows: isGiven, pattern: namedValue, is: shape.IsSecretValue, role: byName,
		words: mayRunNamed},
	{hints: shape.NameHints, follows: isFlag, pattern: flagValue, is: shape.IsSecretValue, role: byName,
		words: mayRunFlag},
}

const nameValue = `([A-Za-z0-9_+~!@%^./#*-]{6,}={0,2})`

// nameSign is a pattern for the text between a name and its value.
const nameSign = `(?:=|\\*["']=|\\*["']?[ \t]*=>[ \t]*|\\*["']?[ \t]+=[ \t]*|\\*["']?[ \t]*:[ \t]*)\\*["']?`

var (
	namedValue = shape.Pattern(`(?i)\b([a-z0-9_.-]*` + shape.NameWords + nameSign + `)` + nameValue)
	// a secret key or a token of AWS, which may begin with a slash
	cloudValue = shape.Pattern(`((?i:\b[a-z0-9_.-]*(?:secret_?(?:access)?_?key|session_?token)` + nameSign +
		`))([A-Za-z0-9/+]{40,}={0,2})`)
	flagValue  = shape.Pattern(`(?i)(?:^|[\s"'])(--?(?:[a-z0-9]+-)*` + shape.NameWords + `[ \t]+["']?)` + nameValue)
	netrcValue = shape.Pattern(`(?i)(?:^|["'\n]|\\n)([ \t]*machine[ \t]+[^\s"'$\\]+(?:(?:[ \t]|\\n|\r?\n)+(?:login` +
		`|account)[ \t]+[^\s"'$\\]+)*(?:[ \t]|\\n|\r?\n)+password[ \t]+)([^\s"'$\\` + "`" + `;&|<>()]{3,})`)
	authValue = shape.Pattern(`(?i)(\bauthorization\\*["']?[ \t]*[:=,][ \t]*\\*["']?(?:bearer|basic|token|apikey` +
		`|digest)[ \t]+)([A-Za-z0-9._~+/-]{8,}={0,2})`)
	// settings of files that have no sign between name and value, or a tag around it
	lineValue = shape.Pattern(`(?im)(?:^|["'\n]|\\n)([ \t]*(?:requirepass|masterauth|(?:env` +
		`|arg)[ \t]+[a-z0-9_]*(?:password|passwd|secret|token|api_?key|access_?key))[ \t]+\\*["']?)` + nameValue)
	tagValue = shape.Pattern(`(?i)(<(?:[a-z0-9]+[:_.-]?)*(?:password|passphrase|secret|token|api-?key)>)([^<>\s"'\\$` +
		"`" + `;&|()]{4,})</`)
	passLine = shape.Pattern(`(?m)((?:^|["'\s]|\\n)[^\s:"'\\]+:(?:[0-9]+|\*):[^\s:]+:[^\s:]+:)([^\s:"'\\$` + "`" +
		`;&|()<>]{3,})`)
	// the credentials of a registry or of basic authentication: user:password
	pairValue = shape.Pattern(`(\\*"auth\\*"[ \t]*:[ \t]*\\*")([A-Za-z0-9+/]{8,}={0,2})\\*"`)
	// the signature of an address, and a key in it
	queryValue = shape.Pattern(`(?i)([?&](?:sig|signature|key|x-(?:amz|goog)-(?:signature` +
		`|credential))=)([A-Za-z0-9_+~!%./-]{12,}={0,2})`)
)

// parts appends the parts of s that the form hides, except those that overlap parts in found.
func (f *form) parts(s string, found []part) []part {
	in, before := quoting{text: s}, found
	for _, at := range f.pattern().FindAllStringSubmatchIndex(s, -1) {
		p := part{from: at[3], to: at[1], silent: f.silent, role: f.role}
		if len(at) > 4 {
			p.from, p.to = at[4], at[5]
		}
		if p.begin = p.from; f.role == byForm && len(at) == 4 {
			p.begin = at[2]
		}
		begin, secret := at[2], s[p.from:p.to]
		name := strings.Trim(s[begin:p.from], " \t\"'=:\\-")
		if f.is != nil && !f.is(name, secret) || !f.certain(s, at, p, &in) {
			continue // it is shown
		}
		if f.words == mayRunNamed && f.role == byName && shape.ByteAt(s, begin-1) != '-' {
			p.name = name
		}
		for len(before) > 0 && before[0].to <= p.from {
			before = before[1:]
		}
		if len(before) == 0 || p.to <= before[0].from {
			found = append(found, p)
		}
	}
	inOrder(found)
	return found
}

// certain reports whether a match can only be a secret to a shell, or a word without an effect.
func (f *form) certain(s string, at []int, p part, in *quoting) bool {
	secret := s[p.from:p.to]
	switch {
	case f.role == inURL && strings.ContainsAny(secret, "$&;|<>()") && !in.inert(at[0], secret):
		return false
	case f.role == inURL && (secret == takenOut || noUsers().MatchString(s[at[0]:p.from])):
		return false
	case f.words == noWord:
		return true
	case f.words == mayRun && (f.silent && isCode(secret) || at[0] == 0 && at[1] == len(s)):
		return true // a code, or the whole text
	case runs(s[:p.from]):
		return false
	case f.words == mayRun:
		return !apart(s, at[0], p.from, p.to, in)
	case strings.IndexByte("([{", shape.ByteAt(s, p.to)) >= 0: // a call of a function
		return false
	}
	return f.words == mayRunFlag || !apart(s, at[2], p.from, p.to, in)
}

// A quoting finds the quotes around places in a text. The places must be in ascending order.
type quoting struct {
	text  string
	done  int
	quote byte
}

// inert reports whether a shell ignores the special characters of a value at a place.
func (q *quoting) inert(place int, value string) bool {
	quote := q.quoteAt(place)
	return quote == '\'' || quote == '"' && !strings.Contains(value, "$")
}

func (q *quoting) quoteAt(place int) byte {
	for ; q.done < place; q.done++ {
		switch c := q.text[q.done]; {
		case c == '\\' && q.quote != '\'':
			q.done++
		case q.quote == 0 && (c == '\'' || c == '"'):
			q.quote = c
		case c == q.quote:
			q.quote = 0
		}
	}
	return q.quote
}

// longOrMixed reports whether a value may be a credential: it has 16 bytes or more, or is mixed.
func longOrMixed(_, value string) bool { return len(value) >= 16 || shape.IsMixed(value) }

// passwordOfAddress reports whether a value may be a password in an address. A short number, a
// port with a path, and a placeholder are not.
func passwordOfAddress(_, value string) bool {
	if rest := strings.TrimLeft(value, "0123456789"); rest == "" && len(value) < 3 ||
		rest != "" && strings.IndexByte("/?#", rest[0]) >= 0 {
		return false
	}
	if placeholder().MatchString(value) {
		return false
	}
	return len(value) > 2 && (strings.IndexByte("{<[%", value[0]) < 0 ||
		strings.IndexByte("}>]%", value[len(value)-1]) < 0)
}

// placeholder matches a variable or a substitution of a shell.
var placeholder = shape.Pattern(`^\$(?:[A-Za-z_0-9]+|\{.*\}|\(.*\))$`)

// keyOfAddress reports whether the user in an address is a key.
func keyOfAddress(name, value string) bool {
	return shape.IsMadeUp(name, value) && shape.IsKeyLike(value) || isHexKey(value)
}

// isHexKey reports whether a value consists of 32 or more lowercase hexadecimal digits.
func isHexKey(value string) bool {
	return len(value) >= 32 && strings.Trim(value, "0123456789abcdef") == ""
}

// noUsers matches the scheme of an address that has no password: the text before the @ is a part
// of the name.
var noUsers = shape.Pattern(`^(?:s3|s3a|gs|file|docker|hdfs|abfss?|wasbs?|oci):`)

// isEncodedKey reports whether rest is the rest of a private key in base64, as in kubeconfig files.
func isEncodedKey(_, rest string) bool {
	text, _ := base64.StdEncoding.DecodeString("LS0tLS1CRUdJTi" + rest[:min(len(rest), 46)])
	return strings.Contains(string(text), "PRIVATE KEY")
}

// takenOut replaces a password in an address that the hook did not send. There is no length and
// no fingerprint to show for it.
const takenOut = "***"

// longWord reports whether rest begins with blanks and then a word of 16 bytes or more.
func longWord(rest []byte) bool {
	value := bytes.TrimLeft(rest, " \t")
	return len(value) < len(rest) && len(value) >= 16 && !bytes.ContainsAny(value[:16], " \t\r\n")
}

// isGiven reports whether rest ends a name and then has = or : and a value.
func isGiven(rest []byte) bool {
	rest = endOfName(rest)
	rest = bytes.TrimLeft(rest, "\\\"' \t")
	return len(rest) > 6 && (rest[0] == '=' || rest[0] == ':')
}

// isFlag reports whether rest ends the name of a flag and then has a blank and a value.
func isFlag(rest []byte) bool {
	rest = endOfName(rest)
	return len(rest) > 6 && (rest[0] == ' ' || rest[0] == '\t')
}

// endOfName returns the text after a name of which a part was read, such as pass of password.
func endOfName(rest []byte) []byte {
	n := 0
	for n < len(rest) && n < len("encryption_key") && (shape.IsWordByte(rest[n]) || rest[n] == '-') {
		n++
	}
	return rest[n:]
}
