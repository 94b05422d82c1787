package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"approver.example/display/shape"
	"approver.example/internal/lazyregexp"
	"github.com/google/uuid"
)

// Safe returns a text with its secrets masked and its characters made visible.
func Safe(s string) string { return Visible(Mask(s)) }

// SafeLine is Safe for a text that must stay on one line.
func SafeLine(s string) string { return OneLine(Mask(s)) }

// Lengths of white space from which on it pushes the text after it out of view.
const (
	gapLines  = 5
	gapBlanks = 41
)

var gaps = lazyregexp.New(fmt.Sprintf(`(?:[ \t]*\n){%d,}|[ \t]{%d,}`, gapLines, gapBlanks))

// Squeeze replaces each such gap by a note of its length.
func Squeeze(s string) string {
	if !mayHaveGap(s) {
		return s
	}
	return gaps().ReplaceAllStringFunc(s, func(gap string) string {
		if lines := strings.Count(gap, "\n"); lines > 0 {
			return fmt.Sprintf("\n⟨%d blank lines⟩\n", lines-1)
		}
		return fmt.Sprintf(" ⟨%d spaces⟩ ", len(gap))
	})
}

// mayHaveGap reports whether a text has as many line breaks or as many blanks in a row as a gap.
func mayHaveGap(s string) bool {
	lines, blanks := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '\n':
			lines, blanks = lines+1, 0
		case ' ', '\t':
			blanks++
		default:
			blanks = 0
		}
		if lines >= gapLines || blanks >= gapBlanks {
			return true
		}
	}
	return false
}

// Flat writes the lines of a text on one line, so that none of them can pass for a line of a card.
func Flat(s string) string {
	if !strings.ContainsAny(s, "\r\n\t") {
		return s
	}
	return strings.NewReplacer("\r\n", " ⏎ ", "\r", " ⏎ ", "\n", " ⏎ ", "\t", " ").Replace(s)
}

// EncodeJSON is json.Marshal without HTML escaping, which makes shell commands hard to read.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unescapeHTML undoes the HTML escaping of JSON encoders, so that a person does not have to read
// it.
func unescapeHTML(s string) string {
	if !strings.Contains(s, `\u00`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

// Platform returns the name of a channel as people write it.
func Platform(channel string) string {
	if channel == "" {
		return "an unknown channel"
	}
	return strings.ToUpper(channel[:1]) + channel[1:]
}

// ShortID returns the beginning of an agent's session id, which is enough to tell sessions apart on
// a card. The audit has the whole id.
func ShortID(id string) string {
	if uuid.Validate(id) == nil {
		return id[:8]
	}
	return id
}

// Duration writes a duration for people: "45 s", "1 min 30 s", "2 h 5 min".
func Duration(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	big, small := d/time.Hour, d%time.Hour/time.Minute
	units := [2]string{"h", "min"}
	if d < time.Hour {
		big, small, units = d/time.Minute, d%time.Minute/time.Second, [2]string{"min", "s"}
	}
	switch {
	case big == 0:
		return fmt.Sprintf("%d s", small)
	case small == 0:
		return fmt.Sprintf("%d %s", big, units[0])
	}
	return fmt.Sprintf("%d %s %d %s", big, units[0], small, units[1])
}

// This file also has the patterns with which meaning.go judges a hidden part.

// credentialPlaces match the text before a credential, whatever the program is. The flags of
// programs are in places/flags.go.
var credentialPlaces = [...]func() *regexp.Regexp{
	shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&](?:[a-z0-9_.-]*[_-])?` + shape.SecretWord + `=$`),
	shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&](?:sig|(?:x-(?:amz|goog)-)?signature)=$`),
	shape.Pattern(`(?i)//[a-z0-9.:/_-]*:_(?:auth|authtoken|password)[= ]$`),
}

var (
	// fields of JSON that is sent, and of a registry's settings
	fieldPlace = shape.Pattern(`(?:(?:-d|--data(?:-[a-z]+)?|--json)(?:=|[ \t]*)'\{[^\n']*"(?i:` + shape.SecretWord +
		`)"[ \t]*:[ \t]*"` +
		`|(?i://[a-z0-9.:/_-]*:_(?:auth|authtoken|password)=))$`)
	tokenQuery = shape.Pattern(`(?i)[?&](?:access_token|auth_token|token|api_?key|key|sig|signature|x-amz-signature` +
		`|x-amz-security-token|password|secret|client_secret)=$`)
	memberHeader = shape.Pattern(`(?i)"[a-z-]*authorization"[ \t]*:[ \t]*"(?:bearer|basic|token|apikey|digest)[ \t]+$`)
	authHeader   = shape.Pattern(`(?i)\bauthorization\\*["']?[ \t]*[:=,][ \t]*\\*["']?(?:bearer|basic|token|apikey` +
		`|digest)[ \t]+$`)
	queryPlace  = shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&][a-z0-9_.-]*=$`)
	memberPlace = shape.Pattern(`(?i)"[a-z0-9_.-]*(?:password|passwd|secret|token|api_?-?key|access_?-?key` +
		`|authorization)"[ \t]*:[ \t]*"$`)
	addressUser = shape.Pattern(`(?i)[a-z][a-z0-9+.-]*://(?:[^\s:/@"'$?#\\]*:|\$\{?[a-z0-9_]+\}?:)?$`)
	beforeHost  = shape.Pattern(`^\}?(?::[^\s/@"'?#\\]*)?@[A-Za-z0-9.-]`)

	assigned   = shape.Pattern(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
	definition = shape.Pattern(`^(?:\+?=[^=]|[ \t]+=[ \t]|["']?[ \t]*:[ \t]*["']?[A-Za-z0-9_+-]{16})`)
	exported   = shape.Pattern(`(?:\b(?:export|unset|readonly)[ \t]+|(?:^|[ \t])(?:-e|--env)[ =])["']?$`)
	sigils     = shape.Pattern(`(?i)(?:\$\{[!#]?|\$env:|\$\{env:|%|\$\(|\$)$`)

	redirections = shape.Pattern(`[0-9]*>&[0-9-]?|&>>?`)
	plainEcho    = shape.Pattern(`(^|[\n;&|][ \t]*)echo[ \t]+["']?[A-Za-z .,!-]{1,80}["']?[ \t]*($|[\n;&|])`)

	// text that can look up a variable without writing its name
	indirect = shape.Pattern(`\beval\b|\$\{!|\$\{[A-Za-z0-9_]+@|\b(?:declare|typeset|local|export` +
		`|readonly)[ \t]+-[a-zA-Z]*[np]|\bprintenv\b|\benv[ \t]*(?:[|>)]|$)` +
		`|\b(?:set|export|declare)[ \t]*\||\bcompgen\b|/proc/|\benvsubst\b|\bENVIRON\b|(?i:\bos\.environ|process\.env` +
		`|\bgetenv\b|Get-ChildItem +env:|\bgci +env:|\bls +env:)|\b(?:vars|globals|locals)\(`)
	// text that can split words that were given to another command
	rereading = shape.Pattern("[`]|[$<>]\\(|<<|\\$[0-9@*_]|\\$\\{[0-9@*_!#]|\\$\\{[A-Za-z0-9_]+(?:\\[[^\\]]*\\])?" +
		"[#%/:^,@]|\\(\\)|/proc/" +
		`|(?:^|[\n;&|({]|\bdo|\bthen)[ \t]*(?:sudo[ \t]+)?(?:set[ \t]+(?:--|[^- \t])|(?:eval|xargs|read|mapfile|readarray` +
		`|source|\.|alias|function|for|select|printf|trap|ps|history|fc|parallel|declare|typeset|(?:ba|z|da|k)?sh|perl` +
		`|ruby|php|node|python[0-9.]*)(?:[ \t]|$))`)
)
