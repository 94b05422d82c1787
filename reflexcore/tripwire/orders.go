package tripwire

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/internal/match"
	"approver.example/reflexcore/wordset"
)

// This file reads texts that coding agents obey, such as AGENTS.md: whether they loosen what guards the
// agent, keep something from people, or carry code. "Ask before you push" and "never skip the hooks"
// tighten, and are none of these.

// An OrderKind is what a text says that people must know of.
type OrderKind uint8

// The kinds of orders.
const (
	NoOrder     OrderKind = iota
	RightsOrder           // it speaks of permissions, approvals, tools or credentials
	SecretOrder           // it keeps something from people
	CodeOrder             // it carries code that is hidden, or that downloads and runs
)

// An Order is what was found, and the words that say it.
type Order struct {
	Kind OrderKind
	Said string
}

//go:embed orders.txt
var ordersText string

// A phrase is a sequence of groups of words.
type phrase struct {
	kind        OrderKind
	free, order bool // it must not be denied, and must be an order
	start       bool // it begins what is said
	steps       []phraseStep
}

type phraseStep struct {
	groups uint64
	gap    int
}

// A lexicon has the groups of each word, and the phrases by what their first word may be.
type lexicon struct {
	groups  map[string]uint64
	phrases []phrase
	neg     uint64
	lead    uint64
	further uint64 // who asks for more rights is no loss
	to      uint64 // "tell people to do it" keeps nothing from them
	warns   uint64 // what is spoken of is what is to be kept out
	narrow  uint64 // what is not to be asked is one thing, and not everything
	end     uint64 // the end of a sentence
	texts   []wholeText
	denied  []string // what takes a whole text back
	broad   []string // what a weak one needs beside it
}

// A wholeText is a phrase of a language that does not part words.
type wholeText struct {
	kind OrderKind
	weak bool
	text string
}

var orderWords = readOrders(ordersText)

func readOrders(text string) (lex lexicon) {
	lex.groups, lex.end = map[string]uint64{}, 1
	names := map[string]uint64{"end": lex.end}
	for heading, words := range wordset.Table(text) {
		if kind, ok := strings.CutPrefix(heading, "text "); ok {
			lex.whole(kind, words)
			continue
		}
		if name, ok := strings.CutPrefix(heading, "word "); ok {
			bit := uint64(1) << len(names)
			if bit == 0 {
				panic("tripwire: orders.txt has too many groups")
			}
			names[name] = bit
			for w := range strings.FieldsSeq(words) {
				lex.groups[w] |= bit
			}
			continue
		}
		kind, when, _ := strings.Cut(heading, " ")
		p := phrase{kind: RightsOrder, free: when == "free" || when == "said", order: when == "said", start: when == "start"}
		if kind != "rights" {
			p.kind = kindsOfOrder[kind]
		}
		gap := 0
		for word := range strings.FieldsSeq(words) {
			if most, ok := strings.CutPrefix(word, "+"); ok {
				gap, _ = strconv.Atoi(most)
				continue
			}
			s := phraseStep{gap: gap}
			for name := range strings.SplitSeq(word, "|") {
				if names[name] == 0 {
					panic("tripwire: orders.txt has no group " + name)
				}
				s.groups |= names[name]
			}
			p.steps = append(p.steps, s)
		}
		lex.phrases = append(lex.phrases, p)
	}
	lex.neg, lex.lead, lex.further, lex.to = names["neg"], names["lead"], names["further"], names["to"]
	lex.narrow, lex.warns = names["narrow"], names["warns"]
	return lex
}

var kindsOfOrder = map[string]OrderKind{"rights": RightsOrder, "secrecy": SecretOrder, "code": CodeOrder}

// whole adds phrases that are looked for as they are.
func (lex *lexicon) whole(kind, words string) {
	for w := range strings.FieldsSeq(words) {
		w = strings.ReplaceAll(w, "_", " ")
		switch kind {
		case "denied":
			lex.denied = append(lex.denied, w)
		case "broad":
			lex.broad = append(lex.broad, w)
		case "weak":
			lex.texts = append(lex.texts, wholeText{RightsOrder, true, w})
		default:
			lex.texts = append(lex.texts, wholeText{kindsOfOrder[kind], false, w})
		}
	}
}

// Orders returns the first order in a text that is not in the text that was there before.
func Orders(text, before string) Order {
	if len(text) > maxText {
		text = text[:maxText/2] + "\n" + text[len(text)-maxText/2:]
	}
	lists := denials{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		denied := lists.next(line)
		if line == "" || before != "" && strings.Contains(before, line) {
			continue
		}
		if o := orderIn(line, denied); o.Kind != NoOrder {
			return o
		}
	}
	return hiddenIn(text, before)
}

// orderIn returns the order in one line.
func orderIn(line string, denied bool) Order {
	low := strings.ToLower(strings.ReplaceAll(line, "’", "'"))
	denied = denied || strings.ContainsAny(low, "\"`“") && says(low, orderWords.warns)
	if firstOdd(low) >= 0 {
		if kind := oddOrder(low, denied); kind != NoOrder {
			return Order{kind, line}
		}
	}
	if !denied && wordset.ContainsAny(low, "--d", "--y", "-all-tools", "spermissions", "autoapprove", "alwaysallow",
		"danger-", "approval_", "defaultmode", "disableall") {
		if at := takesAway().FindStringIndex(low); at != nil && !deniesBefore(low, at[0]) && isOrdered(low, at[0]) {
			return Order{RightsOrder, line}
		}
	}
	if !denied && wordset.ContainsAny(low, "curl", "wget", "iwr", "irm", "base64") && carriesCode().MatchString(low) &&
		namesHost(low) {
		return Order{CodeOrder, line}
	}
	if !denied && givesSecret(low) {
		return Order{RightsOrder, line}
	}
	for clause := range clauses(low) {
		if kind := clauseOrder(clause, denied); kind != NoOrder {
			return Order{kind, line}
		}
	}
	return Order{}
}

var (
	// takesAway matches the names of switches that take an agent's questions away.
	takesAway = lazyregexp.New(`--dangerously-(?:skip|bypass|allow|disable)[a-z-]*|--yolo\b|` +
		`--allow-all-tools\b|--trust-all-tools\b|` +
		`\bbypasspermissions\b|\bskippermissions\b|"?\b(?:autoapprove|alwaysallow)"?\s*[:=]|\bdanger-full-access\b|` +
		`\bapproval_policy\s*=\s*"?never|"?\bdefaultmode"?\s*[:=]|\bdisableallhooks"?\s*(?:[:=]|to\b)`)
	// carriesCode matches what downloads and runs, or decodes and runs.
	carriesCode = lazyregexp.New(`\b(?:curl|wget|iwr|irm)\b[^|\n]*\|\s*(?:sudo\s+)?` +
		`(?:ba|z|da|k)?(?:sh|iex|python3?|node|perl|ruby)\b|` +
		`\b(?:ba|z)?sh\s+(?:-c\s+"?\$\(|<\()\s*(?:curl|wget)|\bbase64\s+(?:-d|-D|--decode)\b[^\n]*\|\s*\w*sh\b|` +
		`\beval\s+"?\$\(\s*(?:curl|wget|base64|echo)`)
	commentText = lazyregexp.New(`(?s)<!--(.*?)(?:-->|$)`)
	// orderInComment matches what a comment that people do not see orders.
	orderInComment = lazyregexp.New(`\b(?:curl|wget|base64|eval|netcat|nc)\s|` +
		`https?://\S+.*\b(?:run|execute|send|post)\b|` +
		`\b(?:run|execute|send|post|upload)\b.*https?://|` +
		`\b(?:agents?|assistant|ai|claude|model|codex|copilot|cursor|llm)\b.{0,40}` +
		`\b(?:must|should|shall|always|never|run|execute)\b`)
)

// oddOrder returns the order in a line that has more than ASCII: a phrase of a language that does not part
// words, or words with letters that only look like Latin ones, or with invisible characters in them.
func oddOrder(line string, denied bool) OrderKind {
	for _, t := range orderWords.texts {
		at := strings.Index(line, t.text)
		if at < 0 || denied || t.weak && !wordset.ContainsAny(line, orderWords.broad...) {
			continue
		}
		back := func(d string) bool {
			return !strings.Contains(t.text, d) && (strings.Contains(line[max(0, at-12):at], d) ||
				strings.Contains(line[at+len(t.text):], d))
		}
		if !slices.ContainsFunc(orderWords.denied, back) {
			return t.kind
		}
	}
	if !strings.ContainsFunc(line, func(r rune) bool { return isLookalike(r) || zeroWidth(r) }) {
		return NoOrder
	}
	plain := string(match.Fold(nil, line))
	for clause := range clauses(plain) {
		if kind := clauseOrder(clause, denied); kind != NoOrder {
			return kind
		}
	}
	return NoOrder
}

// isOrdered reports whether a switch in a line is to be used, and is not only spoken of: it stands alone or
// behind a program or a word such as run, or it is a setting.
func isOrdered(line string, at int) bool {
	before := strings.TrimRight(line[:at], "`\"' \t")
	if strings.HasPrefix(line[at:], "--yolo") { // other programs have one, too
		return slices.ContainsFunc(agentNames, func(name string) bool { return strings.Contains(before, name) })
	}
	word := before[strings.LastIndexAny(before, " \t`\"'")+1:]
	return line[at] != '-' || before == "" || word == "-" || switched[word]
}

var agentNames = strings.Fields("claude codex gemini qwen copilot cursor opencode aider")

// switched are the words behind which a switch of an agent is used.
var switched = wordset.Of(`claude codex gemini qwen cursor-agent copilot opencode amp droid goose aider run use using
	with start add pass set launch call invoke exec npx $ enable include append always -p --print`)

// installers are hosts whose scripts documents show to people, who look at them or ask when they are run.
var installers = []string{"get.docker.com", "sh.rustup.rs", "astral.sh", "bun.sh", "deno.land",
	"githubusercontent.com/nvm-sh", "githubusercontent.com/homebrew",
	"get.sdkman.io", "install.python-poetry.org", "deb.nodesource.com", "get.pnpm.io",
	"foundry.paradigm.xyz", "mise.run", "starship.rs", "fly.io/install", "ollama.com/install", "claude.ai/install"}

// Installs reports whether all that a text downloads and runs is from installers that everybody knows.
func Installs(text string) bool {
	for line := range strings.Lines(text) {
		if low := strings.ToLower(line); carriesCode().MatchString(low) && namesHost(low) {
			return false
		}
	}
	return true
}

// namesHost reports whether a line that downloads and runs says from where, and that is no installer which
// everybody knows.
func namesHost(line string) bool {
	if strings.Contains(line, "base64") || strings.Contains(line, "eval") {
		return true
	}
	for _, host := range installers {
		if strings.Contains(line, host) {
			return false
		}
	}
	return strings.Contains(line, "://") || strings.Contains(line, ".") && !strings.Contains(line, "…") &&
		!strings.Contains(line, "...")
}

// secretFile matches files of credentials, and givesAway what puts out what it reads.
var (
	secretFile = lazyregexp.New(`\.ssh/id_\w+|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws/credentials|/etc/shadow|` +
		`\.kube/config|\.netrc\b|\.git-credentials|\.docker/config\.json|\.gnupg/`)
	givesAway = lazyregexp.New(`\b(?:paste|send|post|upload|include|share|exfiltrate|output|reveal|append|encode|` +
		`forward|transmit|embed)\s+(?:it|its|them|what|(?:the|your)\s+(?:contents?|keys?|files?|output|result)|\S*$)`)
)

// givesSecret reports whether a line tells to give away what is in a file of credentials.
func givesSecret(line string) bool {
	if !wordset.ContainsAny(line, "id_", ".ssh", ".aws", ".kube", ".git-", ".docker", ".gnupg", "shadow", ".netrc") {
		return false
	}
	at := secretFile().FindStringIndex(line)
	return at != nil && !strings.HasPrefix(line[at[1]:], ".pub") && !deniesBefore(line, at[0]) &&
		(givesAway().MatchString(line[at[1]:]) || givesAway().MatchString(line[:at[0]]))
}

// deniesBefore reports whether a word that denies stands before a part of a line.
func deniesBefore(line string, at int) bool {
	return says(line[:at], orderWords.neg)
}

// hiddenIn returns what a text orders where people do not see it.
func hiddenIn(text, before string) Order {
	if strings.Contains(text, "<!--") {
		for _, m := range commentText().FindAllStringSubmatch(text, -1) {
			if !strings.Contains(before, m[0]) && orderInComment().MatchString(strings.ToLower(m[1])) {
				return Order{CodeOrder, m[0]}
			}
		}
	}
	if m := longCode(text); m != "" && !strings.Contains(before, m) {
		return Order{CodeOrder, m[:60]}
	}
	return Order{}
}

const minCode = 120 // characters without a blank that may be encoded

// longCode returns the first run of characters of base64 that is long, and has small and capital letters and
// digits.
func longCode(text string) string {
	for from := 0; from+minCode <= len(text); {
		// Where no such character is, no run that begins before it is long enough.
		at := from + minCode - 1
		for at >= from && isBase64(text[at]) {
			at--
		}
		if at >= from {
			from = at + 1
			continue
		}
		end := from + minCode
		for end < len(text) && isBase64(text[end]) {
			end++
		}
		if m := text[from:end]; strings.ContainsAny(m, "0123456789") && strings.ToLower(m) != m && strings.ToUpper(m) != m {
			return m
		}
		from = end
	}
	return ""
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

// says reports whether a text in lower case has a word of the groups.
func says(text string, groups uint64) bool {
	for w := range wordsOf(text) {
		if orderWords.groups[w]&groups != 0 {
			return true
		}
	}
	return false
}

// denials follows headings and lines that end in a colon, which say that the list below is of what must
// not be done.
type denials struct{ section, list bool }

const maxClause = 256 // words of a sentence that are read

// shellFences are the names of blocks of commands.
var shellFences = wordset.Of("sh bash shell zsh console terminal shell-session shellsession")

const (
	maxBlocks = 24      // that are read of a text
	maxBlock  = 4 << 10 // bytes of one
)

// Blocks returns the blocks of commands in a text that are not in the text that was there before.
// What the line above says to keep out is none.
func Blocks(text, before string) (out []string) {
	var block strings.Builder
	open, shell, above := "", false, ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if open == "" && bare != "" && bare[0] != '`' && bare[0] != '~' {
			above = bare
		}
		switch {
		case open == "" && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")):
			open = bare[:3]
			name, _, _ := strings.Cut(strings.TrimLeft(bare, "`~"), " ")
			shell = shellFences[strings.ToLower(name)] && !says(strings.ToLower(above), orderWords.neg|orderWords.warns)
			block.Reset()
		case open != "" && strings.HasPrefix(bare, open):
			if b := block.String(); shell && b != "" && (before == "" || !strings.Contains(before, b)) && len(out) < maxBlocks {
				out = append(out, b)
			}
			open = ""
		case shell && open != "" && block.Len()+len(line) <= maxBlock:
			bare = strings.TrimPrefix(bare, "$ ")
			block.WriteString(bare + "\n")
		}
	}
	return out
}
