package tripwire

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
}

var orderWords = readOrders(ordersText)

func readOrders(text string) (lex lexicon) {
	lex.groups = map[string]uint64{}
	names := map[string]uint64{}
	for heading, words := range wordset.Table(text) {
		if name, ok := strings.CutPrefix(heading, "word "); ok {
			bit := uint64(1) << len(names)
			names[name] = bit
			for w := range strings.FieldsSeq(words) {
				lex.groups[w] |= bit
			}
			continue
		}
		kind, when, _ := strings.Cut(heading, " ")
		p := phrase{kind: RightsOrder, free: when != "", order: when == "said"}
		if kind == "secrecy" {
			p.kind = SecretOrder
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
	return lex
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
	if !denied && wordset.ContainsAny(low, "--", "permissions", "auto", "allow", "approval", "mode", "danger", "hooks") {
		if m := takesAway.FindString(low); m != "" && !deniesBefore(low, m) {
			return Order{RightsOrder, line}
		}
	}
	if !denied && wordset.ContainsAny(low, "curl", "wget", "iwr", "irm", "base64") && carriesCode.MatchString(low) {
		return Order{CodeOrder, line}
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
	takesAway = regexp.MustCompile(`--dangerously-[a-z-]+|--yolo\b|--allow-all-tools\b|--trust-all-tools\b|` +
		`\bbypasspermissions\b|\bskippermissions\b|"?\b(?:autoapprove|alwaysallow)"?\s*[:=]|\bdanger-full-access\b|` +
		`\bapproval_policy\s*=\s*"?never|"?\bdefaultmode"?\s*[:=]|\bdisableallhooks\b|` +
		`^allowed-tools:.*(?:\bbash(?:\(:?\*\))?\s*["']?(?:,|\]|$)|[\s,\["']\*(?:[\s,\]"']|$))`)
	// carriesCode matches what downloads and runs, or decodes and runs.
	carriesCode = regexp.MustCompile(`\b(?:curl|wget|iwr|irm)\b[^|\n]*\|\s*(?:sudo\s+)?` +
		`(?:ba|z|da|k)?(?:sh|iex|python3?|node|perl|ruby)\b|` +
		`\b(?:ba|z)?sh\s+(?:-c\s+"?\$\(|<\()\s*(?:curl|wget)|\bbase64\s+(?:-d|-D|--decode)\b[^\n]*\|\s*\w*sh\b|` +
		`\beval\s+"?\$\(\s*(?:curl|wget|base64|echo)`)
	commentText = regexp.MustCompile(`(?s)<!--(.*?)(?:-->|$)`)
	// orderInComment matches what a comment that people do not see orders.
	orderInComment = regexp.MustCompile(`\b(?:curl|wget|base64|eval|netcat|nc)\s|` +
		`https?://\S+.*\b(?:run|execute|send|post)\b|` +
		`\b(?:run|execute|send|post|upload)\b.*https?://|` +
		`\b(?:agents?|assistant|ai|claude|model|codex|copilot|cursor|llm)\b.{0,40}` +
		`\b(?:must|should|shall|always|never|run|execute)\b`)
	longCode = regexp.MustCompile(`[A-Za-z0-9+/]{120,}={0,2}`)
)

// deniesBefore reports whether a word that denies stands before a part of a line.
func deniesBefore(line, part string) bool {
	for w := range wordsOf(line[:strings.Index(line, part)]) {
		if orderWords.groups[w]&orderWords.neg != 0 {
			return true
		}
	}
	return false
}

// hiddenIn returns what a text orders where people do not see it.
func hiddenIn(text, before string) Order {
	if strings.Contains(text, "<!--") {
		for _, m := range commentText.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(before, m[0]) && orderInComment.MatchString(strings.ToLower(m[1])) {
				return Order{CodeOrder, m[0]}
			}
		}
	}
	if m := longCode.FindString(text); m != "" && !strings.Contains(before, m) &&
		strings.ContainsAny(m, "0123456789") && strings.ToLower(m) != m && strings.ToUpper(m) != m {
		return Order{CodeOrder, m[:60]}
	}
	return Order{}
}

// denials follows headings and lines that end in a colon, which say that the list below is of what must
// not be done.
type denials struct{ section, list bool }

// next reports whether what a line says is denied by what is above it, or by a mark before it.
func (d *denials) next(line string) bool {
	item := strings.HasPrefix(line, "-") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "|") ||
		line != "" && line[0] >= '0' && line[0] <= '9'
	denies := func() bool {
		for w := range wordsOf(strings.ToLower(strings.ReplaceAll(line, "’", "'"))) {
			if g := orderWords.groups[w]; g&orderWords.neg != 0 {
				return true
			}
		}
		return strings.Contains(strings.ToLower(line), "anti-pattern")
	}
	switch {
	case strings.HasPrefix(line, "#"):
		d.section, d.list = denies(), false
		return d.section
	case strings.HasSuffix(strings.TrimRight(line, "* _"), ":"):
		d.list = denies()
	case line != "" && !item:
		d.list = false
	}
	return d.section && item || d.list && item || strings.Contains(line, "❌") || strings.Contains(line, "🚫") ||
		strings.Contains(line, "⛔")
}

// clauses yields the sentences of a line.
func clauses(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(line); i++ {
			end := i+1 == len(line)
			stop := strings.IndexByte(".;!?", line[i]) >= 0 && (end || line[i+1] == ' ' || line[i+1] == '*')
			if (stop || end) && i+1 > from {
				if !yield(line[from : i+1]) {
					return
				}
				from = i + 1
			}
		}
	}
}

// wordsOf yields the words of a text in lower case.
func wordsOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := -1
		for i := 0; i <= len(text); i++ {
			in := i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '0' && text[i] <= '9' ||
				text[i] >= 0x80 || from >= 0 && (text[i] == '-' || text[i] == '\''))
			switch {
			case in && from < 0:
				from = i
			case !in && from >= 0:
				if !yield(strings.TrimRight(text[from:i], "-'")) {
					return
				}
				from = -1
			}
		}
	}
}

const maxClause = 256 // words of a sentence that are read

// clauseOrder returns what a sentence orders.
func clauseOrder(clause string, denied bool) OrderKind {
	var room [48]uint64
	said, seen := room[:0], uint64(0)
	for w := range wordsOf(clause) {
		g := orderWords.groups[w]
		said, seen = append(said, g), seen|g
		if len(said) == maxClause {
			break
		}
	}
	for i := range orderWords.phrases {
		p := &orderWords.phrases[i]
		if slices.ContainsFunc(p.steps, func(s phraseStep) bool { return s.groups&seen == 0 }) {
			continue
		}
		for at := range said {
			if said[at]&p.steps[0].groups == 0 || p.free && (denied || deniedAt(said, at)) ||
				p.order && !ordered(said, at) {
				continue
			}
			if p.followed(said, at, p.steps[1:]) {
				return p.kind
			}
		}
	}
	return NoOrder
}

// deniedAt reports whether a word before one denies it.
func deniedAt(said []uint64, at int) bool {
	for i := range at {
		if said[i]&orderWords.neg != 0 {
			return true
		}
	}
	return false
}

// ordered reports whether a word begins what is said, or stands behind a word that leads to an order.
func ordered(said []uint64, at int) bool { return at == 0 || said[at-1]&orderWords.lead != 0 }

// followed reports whether the steps come after a word.
func (p *phrase) followed(said []uint64, at int, steps []phraseStep) bool {
	if len(steps) == 0 {
		return p.kind != SecretOrder || at+1 == len(said) || said[at+1]&orderWords.to == 0
	}
	for j := at + 1; j < len(said) && j-at <= steps[0].gap && said[j]&orderWords.further == 0; j++ {
		if said[j]&steps[0].groups != 0 && p.followed(said, j, steps[1:]) {
			return true
		}
	}
	return false
}

// shellFences are the names of blocks of commands.
var shellFences = wordset.Of("sh bash shell zsh console terminal shell-session shellsession")

const (
	maxBlocks = 24      // that are read of a text
	maxBlock  = 4 << 10 // bytes of one
)

// Blocks returns the blocks of commands in a text that are not in the text that was there before.
func Blocks(text, before string) (out []string) {
	var block strings.Builder
	open, shell := "", false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case open == "" && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")):
			open = bare[:3]
			name, _, _ := strings.Cut(strings.TrimLeft(bare, "`~"), " ")
			shell = shellFences[strings.ToLower(name)]
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
