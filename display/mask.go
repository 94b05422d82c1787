package display

import (
	"encoding/asn1"
	"encoding/base64"
	"slices"
	"strings"

	"approver.example/display/places"
	"approver.example/display/shape"
	"approver.example/tokens"
)

// keyPattern matches a private key from its first line to its last. Its groups are the first
// line, the lines of the key, and the last line. A line break may also be written as \n.
var keyPattern = shape.Pattern(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)((?:(?:(?:\\r)?\\n` +
	`|\r?\n)[ \t]*[A-Za-z0-9+/]+={0,2})+)((?:(?:\\r)?\\n|\r?\n)[ \t]*-----END [A-Z ]*PRIVATE KEY-----)`)

// Mask hides what looks like a secret. A known prefix stays. The rest is replaced by its length
// and a fingerprint, such as ‹16 characters hidden, 3fa9c1›. The fingerprint is valid within this
// process; it tells two secrets apart and reveals neither. Text that imitates a mask is broken up.
func Mask(s string) string {
	s = prepared(s)
	parts := hiddenParts(s)
	if beginsJSON(s) {
		parts = memberParts(s, 0, parts)
	}
	return masked(s, parts)
}

// beginsJSON reports whether a text looks like JSON, as in an argument of a tool.
func beginsJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	if s == "" || s[0] != '{' && s[0] != '[' {
		return false
	}
	s = strings.TrimLeft(s[1:], " \t\r\n")
	return s != "" && strings.IndexByte(`"{[`, s[0]) >= 0
}

// prepared returns a text with imitations of a mask broken up and private keys hidden.
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

// hiddenParts returns the parts of a prepared text that Mask hides, in the order of the text. They
// do not overlap. A text may hold very many, so none is compared with all the others.
func hiddenParts(s string) []part {
	var parts []part
	lower, run, all := strings.ToLower(s), longestRun(s), forms()
	has := bytesOf(lower)
	for i := range all {
		if f := &all[i]; run >= f.run && f.mayMatch(lower, has) {
			parts = f.parts(s, parts)
		}
	}
	return splitParts(s, placeParts(s, parts))
}

func isCode(s string) bool {
	_, err := tokens.Parse(s)
	return err == nil
}

// runners are the programs that run the program or script named after them.
var runners = shape.SetOf("sudo doas env exec command builtin eval source . nice nohup time setsid stdbuf xargs " +
	"parallel watch sh bash zsh dash ksh fish python python3 node perl ruby php npx bunx uvx")

// apart reports whether a shell may read a value as a separate operand, because a space separates
// it from the name that marks it as a secret: "rm -rf token: data". It is false inside quotes, and
// if the line has only the name and the value, as in a file that is written.
func apart(s string, begin, from, to int, in *quoting) bool {
	space := strings.IndexAny(s[begin:from], " \t")
	if space < 0 || in.quoteAt(begin+space) != 0 {
		return false
	}
	window := max(0, begin-maxLineBegin)
	at := window + strings.LastIndexByte(s[window:begin], '\n') + 1
	if at > 0 && s[at-1] != '\n' || !lineBegins().MatchString(s[at:begin]) {
		return true
	}
	rest := strings.TrimLeft(s[to:], "\"',; \t\r")
	return rest != "" && rest[0] != '\n'
}

// maxLineBegin is how far before a name its line may begin, in bytes, if nothing but blanks and the
// name of a header stand before it.
const maxLineBegin = 8 * shape.MaxBefore

// lineBegins matches the start of a line if it is empty or has only the name of a header.
var lineBegins = shape.Pattern(`^[ \t]*(?:[A-Za-z-]+:[ \t]*)?["']?$`)

// runs reports whether the text after before is, or ends, the name of a command. A shell searches
// for a program of that name, so people must see all of it.
func runs(before string) bool {
	if len(before) > shape.MaxBefore*8 { // the end of a long line is enough: an assignment more or less changes nothing
		before = before[len(before)-shape.MaxBefore*8:]
		before = before[max(0, strings.IndexAny(before, " \n")):]
	}
	line := before[strings.LastIndexAny(before, "\n\r;&|(`{")+1:]
	words := strings.Split(strings.TrimLeft(line, " \t"), " ")
	before = ""
	for _, w := range words[:len(words)-1] {
		ofOption := len(before) == 2 && before[0] == '-' // such as root in sudo -u root
		if before = w; w != "" && !strings.Contains(w, "=") && !strings.HasPrefix(w, "-") && !runners[w] && !ofOption {
			return false // the command's name comes before it, and is shown
		}
	}
	last := words[len(words)-1]
	return !shape.ContainsAny(last, noNames)
}

// noNames are texts in a word that is a value, an argument, an address or a member of JSON.
var noNames = []string{"=", "\t", "://", `":`}

// maskKeys hides the text of private keys.
func maskKeys(s string) string {
	re := keyPattern()
	return re.ReplaceAllStringFunc(s, func(m string) string {
		parts := re.FindStringSubmatch(m)
		lines := strings.Split(strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", "\r\n", "\n", " ", "", "\t",
			"").Replace(parts[2])[1:], "\n")
		if !isKey(lines) {
			return m
		}
		nl, _, _ := strings.Cut(parts[3], "-----")
		var secret, inSight string
		for _, l := range lines {
			// It looks like a path, or is as short as a command, which a shell would run.
			if strings.HasPrefix(l, "/") || len(l) < 32 || !shape.IsRandom(l) && len(l) < 64 {
				inSight += nl + l
			} else {
				secret += l
			}
		}
		return parts[1] + hiddenNote(secret, false) + inSight + parts[3]
	})
}

// isKey reports whether the lines between BEGIN and END are those of a private key, and not
// commands between two imitated lines. All lines except the last must have the same usual length
// and look random. Together they must encode one ASN.1 sequence or an OpenSSH key.
func isKey(lines []string) bool {
	for i, l := range lines {
		usual := len(l) == 64 || len(l) == 70 || len(l) == 76 // 70 is OpenSSH's
		last := i == len(lines)-1
		switch {
		case !last && (!usual || len(l) != len(lines[0]) || strings.Contains(l, "=")):
			return false
		case last && (len(l) < 4 || len(l) > 76 || i > 0 && len(l) > len(lines[0])):
			return false
		case usual && !shape.IsMixedLine(l):
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

// longestRun returns the length of the longest run of letters, digits and joints (. = - _).
func longestRun(s string) int {
	run, longest := 0, 0
	for i := range len(s) {
		if c := s[i]; c == '.' || c == '=' || c == '-' || shape.IsWordByte(c) {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// placeParts adds the literal values in places for credentials. Text that a shell expands
// there is not a secret, and may run.
func placeParts(s string, found []part) []part {
	if !places.MayBe(s) {
		return found
	}
	taken := make([]bool, len(s))
	take := func(p part) {
		for i := p.from; i < p.to; i++ {
			taken[i] = true
		}
	}
	for _, p := range found {
		take(p)
	}
	for _, sp := range places.Of(s).Spans {
		value := sp.Secret(s)
		if value == "" {
			continue
		}
		p := part{from: sp.From, to: sp.From + len(value), begin: sp.From, role: byPlace}
		if sp.Followed {
			p.role, p.name = byFollowing, sp.Holder
		} else if sp.Variable != "" {
			p.role, p.name = byName, sp.Variable
		}
		if !slices.Contains(taken[p.from:p.to], true) {
			take(p)
			found = append(found, p)
		}
	}
	inOrder(found)
	return found
}

// inOrder sorts parts by their place in the text.
func inOrder(parts []part) {
	slices.SortFunc(parts, func(a, b part) int { return a.from - b.from })
}
