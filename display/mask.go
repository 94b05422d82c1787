package display

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"approver.example/tokens"
)

// A secretForm is a form of secret that is certain enough to hide. The pattern's
// first group stays, and its second, if there is one, is hidden; otherwise all
// behind the first. A hint is a lower-case text that every match contains: most
// texts have none, and no pattern is tried on them.
type secretForm struct {
	hints   []string
	pattern string
	// follows, when set, says of what stands behind a hint whether a match may go on
	// there.
	follows func(rest []byte) bool
	random  bool // only if the value also looks random
	long    bool // every match has a stretch of longRun letters, digits and joints
	// is, when set, says of a value whether it is what the form promises.
	is     func(value string) bool
	silent bool // say nothing of the value, not even its fingerprint
	role   role // what the match says of its value, see [Call.Shown]
}

// No pattern but that of private keys matches a line break inside the secret or
// before it, and none a shell operator, a space or a quote inside it, so that no
// command can hide behind a mask. Where in doubt the text stays: that people see
// what runs comes before that they do not see a password.
var secretForms = []secretForm{
	{hints: []string{"akia", "asia"}, pattern: `\b(AKIA|ASIA)[A-Z0-9]{16}\b`},
	{hints: []string{"gh"}, pattern: `\b(gh[pousr]_)[A-Za-z0-9]{36,}\b`},
	{hints: []string{"github_pat_"}, pattern: `\b(github_pat_)[A-Za-z0-9_]{60,}\b`},
	{hints: []string{"glpat-"}, pattern: `\b(glpat-)[A-Za-z0-9_-]{20,}\b`, random: true},
	{hints: []string{"xox", "xapp-"}, pattern: `\b(xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}`, random: true},
	{hints: []string{"sk-"}, pattern: `\b(sk-(?:ant-|proj-)?)[A-Za-z0-9_-]{20,}\b`, random: true},
	{hints: []string{"_live_", "_test_"}, pattern: `\b((?:sk|rk|pk)_(?:live|test)_)[A-Za-z0-9]{16,}\b`},
	{hints: []string{"aiza"}, pattern: `\b(AIza)[A-Za-z0-9_-]{35}\b`},
	{hints: []string{"npm_"}, pattern: `\b(npm_)[A-Za-z0-9]{36}\b`},
	{hints: []string{"sg."}, pattern: `\b(SG\.)[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\b`},
	{hints: []string{"eyj"}, pattern: `\b(eyJ)[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}|(?:[A-Za-z0-9_-]*\.){3}[A-Za-z0-9_-]{8,})`},
	{hints: []string{":aa"}, pattern: `\b([0-9]{8,}:)AA[A-Za-z0-9_-]{33}\b`},
	{hints: []string{"bearer", "basic"}, follows: longWord, pattern: `(?i)((?:bearer|basic)[ \t]+)[A-Za-z0-9._~+-]{16,}=*`, random: true, role: inHeader},
	{hints: []string{"hf_", "dop_v", "dapi", "shpat_", "shpss_", "hvs.", "hvb.", "gsk_", "xai-", "glsa_", "glc_", "whsec_", "lin_api_", "ntn_", "sbp_", "tskey-", "r8_",
		"dckr_pat_", "sntrys_", "nfp_", "pscale_", "pypi-", "ya29.", "age-secret-key-", "pmak-", "nrak-", "dp.", "sq0", "gldt-", "glrt-", "atatt3", "vercel_"},
		pattern: `\b(hf_|do[opr]_v1_|dapi|shp(?:at|ss|ca|pa)_|hv[sb]\.|gsk_|xai-|glsa_|glc_|whsec_|lin_api_|ntn_|sbp_|tskey-|r8_|dckr_pat_|sntrys_|nfp_|pscale_[a-z]+_` +
			`|pypi-|ya29\.|AGE-SECRET-KEY-|PMAK-|NRAK-|dp\.[a-z]{2}\.|sq0[a-z]{3}-|gldt-|glrt-|ATATT3|vercel_)[A-Za-z0-9_=.-]{20,}`, random: true, long: true},
	{hints: []string{"key-"}, pattern: `\b(key-)[0-9a-f]{32}\b`, random: true, long: true},
	{hints: []string{"hooks.slack.com/"}, pattern: `(hooks\.slack\.com/(?:services|workflows)/[A-Z0-9]+/[A-Z0-9]+/)[A-Za-z0-9/]{16,}`},
	{hints: []string{"/api/webhooks/"}, pattern: `(discord(?:app)?\.com/api/webhooks/[0-9]+/)[A-Za-z0-9_-]{40,}`, long: true},
	{hints: []string{"accountkey=", "sharedaccesskey="}, pattern: `(?i)((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{24,}={0,2}`},
	{hints: []string{"/bot"}, pattern: `(/bot[0-9]{8,}:)AA[A-Za-z0-9_-]{33}\b`, long: true},
	{hints: []string{"://"}, role: inURL, pattern: "([a-z][a-z0-9+.-]*://[^\\s:/@\"'`$]*:)([A-Za-z0-9._~+%!*-]{3,})@"},
	{hints: []string{"://"}, role: inURL, pattern: "([a-z][a-z0-9+.-]*://)([A-Za-z0-9_-]{20,})@", random: true, is: keyLike},
	{hints: []string{"ls0tls1crudjti"}, pattern: `\b(LS0tLS1CRUdJTi)[A-Za-z0-9+/]{40,}={0,2}`, is: isEncodedKey},
	{hints: []string{"confirm-"}, pattern: `(?i)\b(CONFIRM-)[A-Z0-9]{6,}\b`, silent: true},
	{
		// A value behind a telling name is hidden only if it also looks random:
		// token=shutdown; $token must stay in sight. So must what follows a
		// space behind the = of an assignment: the shell runs it.
		hints:   []string{"password", "passwd", "secret", "token", "apikey", "api_key", "accesskey", "access_key"},
		follows: isGiven,
		pattern: `(?i)\b((?:[a-z0-9_-]*(?:password|passwd|secret|token|api_?key|access_?key))(?:=|["']=|["']?[ \t]+=[ \t]*|["']?[ \t]*:[ \t]*)["']?)[A-Za-z0-9_+-]{16,}`,
		random:  true,
		role:    byName,
	},
}

// The patterns are compiled when first needed: most processes show no card.
var secretPatterns = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(secretForms))
	for i, f := range secretForms {
		out[i] = regexp.MustCompile(f.pattern)
	}
	return out
})

// keyPattern finds a private key from its first line to its last: what begins
// it, the lines of text, and what ends it. Each line break may be written \n.
var keyPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)((?:(?:(?:\\r)?\\n|\r?\n)[ \t]*[A-Za-z0-9+/]+={0,2})+)((?:(?:\\r)?\\n|\r?\n)[ \t]*-----END [A-Z ]*PRIVATE KEY-----)`)
})

// maskedPattern finds what Mask writes in place of a secret.
var maskedPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`‹[0-9]+ characters hidden(?:, [0-9a-f]{6})?›`)
})

// maskKey keys the fingerprints of masked secrets, anew in each process: a plain
// hash of a short secret could be searched for.
var maskKey = sync.OnceValue(func() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: it ends the program instead
	return key
})

// looksRandom reports a value that no program or path is called: digits among
// letters, and many different characters.
func looksRandom(s string) bool {
	var digits, letters int
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
			letters++
		}
	}
	return digits >= 3 && letters >= 3 && len(seen) >= 10
}

// Mask hides what looks like a secret: the known beginning stays, the rest
// becomes its length and a fingerprint that holds within this process, so that
// two secrets can be told apart and none can be learnt: ‹16 characters hidden,
// 3fa9c1›. A text that has that form by itself is broken up.
func Mask(s string) string {
	s = prepared(s)
	parts := hiddenParts(s)
	if beginsJSON(s) {
		parts = memberParts(s, 0, parts)
	}
	return masked(s, parts)
}

// beginsJSON reports a text of JSON: what a tool is given in one of its arguments.
func beginsJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	if s == "" || s[0] != '{' && s[0] != '[' {
		return false
	}
	s = strings.TrimLeft(s[1:], " \t\r\n")
	return s != "" && strings.IndexByte(`"{[`, s[0]) >= 0
}

// prepared breaks up imitations of a mask, and hides private keys.
func prepared(s string) string {
	if strings.Contains(s, " characters hidden") {
		s = maskedPattern().ReplaceAllStringFunc(s, func(m string) string {
			return "⟨U+2039⟩" + strings.TrimPrefix(m, "‹")
		})
	}
	if strings.Contains(strings.ToLower(s), "private key-----") {
		s = maskKeys(s)
	}
	return s
}

// A part is a stretch of a text that the mask hides.
type part struct {
	from, to int
	begin    int // where the whole value begins, with what stays in sight of a key
	silent   bool
	role     role
	name     string // of byName: what stands before the value, if it may be a variable's; of byFollowing: the variable that brings it
	member   bool   // the value of a member of JSON that says secret
}

// hiddenParts finds what Mask hides of a prepared text, in the text's order.
func hiddenParts(s string) []part {
	var parts []part
	lower, long := strings.ToLower(s), hasLongRun(s)
	for i, f := range secretForms {
		if (long || !f.long) && containsAny(lower, f.hints) {
			parts = f.parts(s, secretPatterns()[i], parts)
		}
	}
	parts = placeParts(s, namedParts(s, lower, parts))
	slices.SortFunc(parts, func(a, b part) int { return a.from - b.from })
	return parts
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

// parts adds what this form hides. What a form before it hides already stays so.
func (f secretForm) parts(s string, re *regexp.Regexp, found []part) []part {
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		p := part{from: at[3], to: at[1], silent: f.silent, role: f.role}
		if len(at) > 4 {
			p.from, p.to = at[4], at[5]
		}
		if p.begin = p.from; f.role == byForm {
			p.begin = at[2]
		}
		if f.role == byName && (at[0] == 0 || s[at[0]-1] != '-') {
			p.name = strings.Trim(s[at[2]:at[3]], " \t\"'=:")
		}
		secret := s[p.from:p.to]
		if f.role == inURL && (secret == takenOut || noUsers().MatchString(s[at[0]:p.from])) {
			continue
		}
		known := f.silent && isCode(secret) || at[0] == 0 && at[1] == len(s) // a code, or a value by itself
		if f.is != nil && !f.is(secret) || f.random && !looksRandom(secret) || !known && (runs(s[:p.from]) || apart(s, at[0], p.from, p.to)) {
			continue // it stays in sight
		}
		if !overlaps(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// noUsers finds an address of a kind that has no password: what stands before the @ is a
// part of the name.
var noUsers = once(`^(?:s3|s3a|gs|file|docker|hdfs|abfss?|wasbs?|oci):`)

// isEncodedKey reports the rest of a private key in base64, as kubeconfig files have it.
func isEncodedKey(rest string) bool {
	text, _ := base64.StdEncoding.DecodeString("LS0tLS1CRUdJTi" + rest[:min(len(rest), 46)])
	return strings.Contains(string(text), "PRIVATE KEY")
}

// takenOut stands in an address for the password that the hook did not send. Of it there
// is no length and no fingerprint to show.
const takenOut = "***"

func isCode(s string) bool {
	_, err := tokens.Parse(s)
	return err == nil
}

func hiddenNote(secret string, silent bool) string {
	if silent {
		return fmt.Sprintf("‹%d characters hidden›", len(secret))
	}
	h := hmac.New(sha256.New, maskKey())
	h.Write([]byte(secret))
	return fmt.Sprintf("‹%d characters hidden, %x›", len(secret), h.Sum(nil)[:3])
}

// runners are the programs that run what is named behind them.
var runners = map[string]bool{
	"sudo": true, "doas": true, "env": true, "exec": true, "command": true, "builtin": true, "eval": true, "source": true, ".": true,
	"nice": true, "nohup": true, "time": true, "setsid": true, "stdbuf": true, "xargs": true, "parallel": true, "watch": true,
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "fish": true,
	"python": true, "python3": true, "node": true, "perl": true, "ruby": true, "php": true, "npx": true, "bunx": true, "uvx": true,
}

// apart reports whether a value that is set off by a space from what makes it a
// secret may be a word of its own to a shell, an operand: "rm -rf token: data".
// It is none inside quotes, nor where name and value are all of their line, as in
// a file that is written.
func apart(s string, begin, from, to int) bool {
	space := strings.IndexAny(s[begin:from], " \t")
	if space < 0 || quoted(s[:begin+space]) {
		return false
	}
	line := s[strings.LastIndexByte(s[:begin], '\n')+1 : begin]
	rest, _, _ := strings.Cut(s[to:], "\n")
	return !lineBegins().MatchString(line) || strings.Trim(rest, "\"',; \t\r") != ""
}

// lineBegins finds nothing before the name on a line, or a header's name.
var lineBegins = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*(?:[A-Za-z-]+:[ \t]*)?["']?$`) })

// quoted reports whether a shell, or JSON, would be inside quotes at the end of s.
func quoted(s string) bool {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote != 0
}

// runs reports whether what follows before is, or ends, the name of a command: a
// shell would look for a program of that name, so people must see all of it.
func runs(before string) bool {
	if len(before) > maxBefore*8 { // of so long a line the end will do: an assignment too many changes nothing
		before = before[len(before)-maxBefore*8:]
		before = before[max(0, strings.IndexAny(before, " \n")):]
	}
	line := before[strings.LastIndexAny(before, "\n\r;&|(`{")+1:]
	words := strings.Split(strings.TrimLeft(line, " \t"), " ")
	before = ""
	for _, w := range words[:len(words)-1] {
		ofOption := len(before) == 2 && before[0] == '-' // as root in sudo -u root
		if before = w; w != "" && !strings.Contains(w, "=") && !strings.HasPrefix(w, "-") && !runners[w] && !ofOption {
			return false // the name stands in sight before it
		}
	}
	last := words[len(words)-1]
	for _, no := range []string{"=", "\t", "://", `":`} { // a value, an argument, an address, a member of JSON
		if strings.Contains(last, no) {
			return false
		}
	}
	return true
}

// maskKeys hides the text of private keys.
func maskKeys(s string) string {
	re := keyPattern()
	return re.ReplaceAllStringFunc(s, func(m string) string {
		parts := re.FindStringSubmatch(m)
		lines := strings.Split(strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", "\r\n", "\n", " ", "", "\t", "").Replace(parts[2])[1:], "\n")
		if !isKey(lines) {
			return m
		}
		nl, _, _ := strings.Cut(parts[3], "-----")
		var secret, inSight string
		for _, l := range lines {
			// By its look a path, or as short as a command: a shell would run it.
			if strings.HasPrefix(l, "/") || len(l) < 32 || !looksRandom(l) && len(l) < 64 {
				inSight += nl + l
			} else {
				secret += l
			}
		}
		return parts[1] + hiddenNote(secret, false) + inSight + parts[3]
	})
}

// isKey reports whether the lines between BEGIN and END are those of a private
// key, and not commands between two lines that look like a key's: all of the
// same usual length but for the last, of random look, and together the encoding
// of one ASN.1 sequence or of an OpenSSH key.
func isKey(lines []string) bool {
	for i, l := range lines {
		usual := len(l) == 64 || len(l) == 70 || len(l) == 76 // 70 is OpenSSH's
		last := i == len(lines)-1
		switch {
		case !last && (!usual || len(l) != len(lines[0]) || strings.Contains(l, "=")):
			return false
		case last && (len(l) < 4 || len(l) > 76 || i > 0 && len(l) > len(lines[0])):
			return false
		case usual && !mixedLine(l):
			return false
		}
	}
	der, err := base64.StdEncoding.DecodeString(strings.Join(lines, ""))
	if err != nil {
		return false
	}
	if strings.HasPrefix(string(der), "openssh-key-v1\x00") {
		return true
	}
	var sequence asn1.RawValue
	rest, err := asn1.Unmarshal(der, &sequence)
	return err == nil && len(rest) == 0 && sequence.Tag == asn1.TagSequence && sequence.IsCompound
}

// mixedLine reports a line of base64 as chance makes it: nearly all of them have
// some 40 different characters and of each kind one.
func mixedLine(l string) bool {
	seen := map[rune]bool{}
	for _, r := range l {
		seen[r] = true
	}
	return len(seen) >= 24 && strings.ContainsAny(l, "0123456789") && strings.ToLower(l) != l && strings.ToUpper(l) != l
}

// longRun is the length from which a stretch without a break may be a key.
const longRun = 20

// hasLongRun reports such a stretch. Most commands have none.
func hasLongRun(s string) bool {
	run := 0
	for i := range len(s) {
		if c := s[i]; c == '.' || c == '=' || c == '-' || isWord(c) {
			if run++; run >= longRun {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

func containsAny(s string, hints []string) bool {
	for _, h := range hints {
		if strings.Contains(s, h) {
			return true
		}
	}
	return false
}
