// Package intent reads what a person's text message means as an answer: a command, a code
// with words beside it, or a plain yes or no.
package intent

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// An Intent is what a person's text message means as an answer.
type Intent struct {
	Want    approver.Want // what a command such as /pending asks for
	Approve bool
	Method  approver.Method
	Code    tokens.Code
	Grant   approver.Term // how long a yes with a code lasts
	Reason  string        // what was said beside a no, for the agent, or beside /freeze, for the record
}

// ErrNotAnAnswer means that a text is ordinary talk, to be left alone.
var ErrNotAnAnswer = errors.New("the text is not an answer")

// ErrUnclear means that the words beside a code say neither yes nor no for certain. It is a
// tokens.ErrForm with its own sentence for the person.
var ErrUnclear error = unclear{}

type unclear struct{}

func (unclear) Error() string { return "send the code alone to approve, or /deny and the code" }
func (unclear) Unwrap() error { return tokens.ErrForm }

// Parse reads a text message:
//
//	/approve CONFIRM-7KQ4MX   /deny CONFIRM-7KQ4MX   (the prefix may be left out, /approve@bot is fine)
//	/approve CODE session     also later in the same session; /approve CODE 15m or 15 min, 1 to 60 minutes
//	/approve CODE always      this once, and shows the rule for the policy
//	/deny CODE reason         the reason is told to the agent, as are the words beside a code that is refused
//	CONFIRM-7KQ4MX            the code alone, or with words of consent ("ok, CONFIRM-7KQ4MX please"), or for how long:
//	                          approves
//	no CONFIRM-7KQ4MX         the code with a word of refusal: denies
//	yes, allow, approve       no, deny, reject       only as a reply to one card
//	no, use a branch instead  a no to the card that it replies to, with the reason; 👎, nein and the like are one too
//	/pending, /status, /grants, /help, /start   what they say; nothing is approved
//	/freeze reason            the reason is recorded
//
// Beside a code that approves, with or without /approve, only words of plain consent may stand, and one term.
// With anything else, such as a question or a condition, it is ErrUnclear. A slash command without a readable code
// returns tokens.ErrForm or tokens.ErrMany so that the person can be told.
// Anything else is ErrNotAnAnswer. With an error nothing is approved.
func Parse(text string) (Intent, error) {
	text = strings.TrimSpace(text)
	verb, rest, ok := command(text)
	switch {
	case ok:
		return commandIntent(verb == "/approve", rest)
	case wants[verb] != approver.WantAnswer:
		return wanted(wants[verb], rest), nil
	}
	code, beside, err := tokens.Cut(text)
	switch {
	case err == nil:
		switch says, grant := consent(beside); says {
		case consents:
			return Intent{Approve: true, Method: approver.ByCode, Code: code, Grant: grant}, nil
		case refuses:
			return Intent{Method: approver.ByCode, Code: code, Reason: reasonIn(beside)}, nil
		default:
			return Intent{Method: approver.ByCode}, ErrUnclear
		}
	case errors.Is(err, tokens.ErrMany):
		return Intent{Method: approver.ByCode}, err
	}
	switch strings.ToLower(strings.Trim(text, ".!\"' ")) {
	case "yes", "allow", "approve", "approved", "ok":
		return Intent{Approve: true, Method: approver.ByPlain}, nil
	}
	if rest, ok := refusal(text); ok {
		return Intent{Method: approver.ByPlain, Reason: rest}, nil
	}
	return Intent{}, ErrNotAnAnswer
}

// wants are the commands that answer nothing.
var wants = map[string]approver.Want{"/pending": approver.WantPending, "/status": approver.WantStatus,
	"/grants": approver.WantGrants, "/freeze": approver.WantFreeze, "/help": approver.WantHelp,
	"/start": approver.WantHelp}

// Wanted reads a word without its slash, such as pending, and what follows it. ok is false for any other word.
func Wanted(text string) (in Intent, ok bool) {
	verb, rest, _ := command("/" + strings.TrimLeft(text, " /"))
	return wanted(wants[verb], rest), wants[verb] != approver.WantAnswer
}

// wanted is what a command asks for that answers nothing. What follows /freeze is why, a question too: who
// writes that in alarm wants everything to stop. Only "/freeze?" asks what it does.
func wanted(want approver.Want, rest string) Intent {
	in := Intent{Want: want, Method: approver.ByCommand}
	switch {
	case want != approver.WantFreeze:
	case asks(rest) && strings.Trim(rest, marks+" ") == "":
		in.Want = approver.WantHelp
	default:
		in.Reason = rest
	}
	return in
}

// asks reports whether a text has a question mark.
func asks(text string) bool { return strings.ContainsAny(text, marks) }

// marks are question marks.
const marks = "?？؟¿"

// noes are the words and signs with which a reply to a card refuses it. A no of another language than the card's
// only tightens. There is no yes like that.
const (
	noes = " no nope nah deny denied reject rejected refuse refused stop halt abort cancel nein nee nö stopp abbrechen " +
		"ablehnen abgelehnt non refuser refusé refusée annuler arrête arrêtez rechazar rechazado cancelar "
	noSigns = "👎❌⛔🛑🚫"
	quoting = "\"'“”„‘’‚«»*_(" // what people put around a word; what is struck out or quoted is not said
)

// refusal reads a no with its reason: "no, use a branch instead". A question is none, unless the no stands for
// itself: "no! what is that?"
func refusal(text string) (reason string, ok bool) {
	text = strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune(quoting, r)
	})
	sign, size := utf8.DecodeRuneInString(text)
	if !strings.ContainsRune(noSigns, sign) {
		size = wordEnd(text)
	}
	word, rest := strings.ToLower(text[:size]), text[size:]
	line := strings.TrimLeft(rest, " \t\r")
	behind := line[:len(line)-len(strings.TrimLeftFunc(line, isMark))]
	switch {
	case size == 0 || text == "":
		return "", false
	case strings.ContainsRune(noSigns, sign), strings.Contains(noes, " "+word+" "),
		len(word) > 2 && strings.Trim(word[1:], "o") == "" && word[0] == 'n': // nooo
		reason = strings.TrimLeftFunc(rest, func(r rune) bool { return isMark(r) || unicode.IsSpace(r) })
	case slices.Contains([]string{"don't", "don’t", "dont"}, word),
		word == "do" && strings.HasPrefix(strings.ToLower(strings.Join(strings.Fields(rest), " "))+" ", "not "):
		reason = strings.Join(strings.Fields(text), " ")
	default:
		return "", false
	}
	if strings.IndexFunc(reason, func(r rune) bool { return !isMark(r) && !unicode.IsSpace(r) }) < 0 {
		reason = ""
	}
	return reason, !asks(rest) || behind != "" && !asks(behind) || strings.HasPrefix(line, "\n")
}

// wordEnd is where the word ends that a text begins with.
func wordEnd(text string) int {
	i := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune("'’", r)
	})
	if i < 0 {
		i = len(text)
	}
	return len(strings.TrimRight(text[:i], "'’"))
}

// isMark reports punctuation and what cannot be seen.
func isMark(r rune) bool {
	return unicode.IsPunct(r) && r != '/' || unicode.In(r, unicode.Cf, unicode.Variation_Selector) ||
		r >= 0x1f3fb && r <= 0x1f3ff // the skin of a sign
}

// Freeze is the wish to stop everything, with its reason.
func (in Intent) Freeze() approver.Reply {
	return approver.Reply{Want: approver.WantFreeze, Method: approver.ByCommand, Reason: in.Reason}
}

// NotACommandText is what people are told then.
//
//approver:texts
const NotACommandText = "That question was for the changed command. Nothing was changed. To answer yes or no, answer " +
	"on the card."

// NotACommand reports whether what was to be a changed command is something that people say instead: an answer, one
// of our own commands, or a sentence. Nothing that is said approves there.
func NotACommand(text string) (meant Intent, is bool) {
	text = strings.TrimSpace(text)
	meant, err := Parse(text)
	word, _, _ := strings.Cut(text, " ")
	end := wordEnd(word)
	switch {
	case err == nil:
		return meant, !meant.Approve || meant.Method == approver.ByPlain
	case !errors.Is(err, ErrNotAnAnswer):
		return Intent{}, strings.HasPrefix(text, "/")
	}
	return Intent{}, end > 0 && end < len(word) && strings.Trim(word[end:], ",.!?…") == ""
}

// reasonIn is the reason among the words beside a code that is refused.
func reasonIn(beside string) string {
	beside = strings.Join(strings.Fields(beside), " ")
	if rest, ok := refusal(beside); ok {
		return rest
	}
	return beside
}

// command cuts a text after its first word. A bot's name behind that is dropped, and so are signs such as in
// /freeze!, but for a question mark, which goes to the rest.
func command(text string) (verb, rest string, ok bool) {
	verb = text
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		verb, rest = text[:i], text[i:]
	}
	whole := verb
	verb, _, _ = strings.Cut(strings.ToLower(verb), "@")
	if verb = strings.TrimRightFunc(verb, unicode.IsPunct); asks(whole) {
		rest += " ?"
	}
	return verb, strings.TrimSpace(rest), verb == "/approve" || verb == "/deny"
}

// commandIntent reads what follows /approve or /deny. The words beside a code that is denied are the reason.
func commandIntent(approve bool, rest string) (Intent, error) {
	in := Intent{Method: approver.ByCommand}
	code, beside, err := codeIn(rest)
	says, grant := consent(beside)
	switch {
	case errors.Is(err, tokens.ErrNone):
		return in, tokens.ErrForm
	case err != nil:
		return in, err
	case approve && says != consents:
		return in, ErrUnclear
	case approve:
		in.Approve, in.Grant = true, grant
	default:
		in.Reason = strings.Join(strings.Fields(beside), " ")
	}
	in.Code = code
	return in, nil
}

// codeIn reads the code behind a command, and what stands beside it. Its prefix may be left out where nothing
// but a term follows.
func codeIn(rest string) (code tokens.Code, beside string, err error) {
	if code, err = tokens.Parse(rest); err == nil {
		return code, "", nil
	}
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		code, err = tokens.Parse(rest[:i])
		if _, ok := Term(rest[i:]); ok && err == nil {
			return code, rest[i:], nil
		}
	}
	return tokens.Cut(rest)
}

// Term reads how long a yes lasts, as people type it: once, session, always, 15m, 15 min, 15 minutes.
func Term(text string) (approver.Term, bool) {
	words := wordsOf(text)
	term, rest := cutTerm(words)
	return term, len(words) > 0 && len(rest) == 0
}

// minutes are the words for a minute beside a number.
var minutes = []string{"m", "min", "mins", "minute", "minutes", "minuten", "minutos"}

// cutTerm takes the first term out of some words. Without one, rest is all of them.
func cutTerm(words []string) (term approver.Term, rest []string) {
	for i, w := range words {
		n, unit := 1, strings.TrimLeft(w, "0123456789")
		number := w[:len(w)-len(unit)]
		if number != "" && unit == "" && i+1 < len(words) {
			n, unit = 2, words[i+1]
		}
		word := w
		if number != "" && slices.Contains(minutes, unit) {
			word = number + "m"
		}
		if term, ok := approver.ParseTerm(word); ok {
			before := words[:i]
			if i > 0 && (words[i-1] == "for" || words[i-1] == "für") {
				before = words[:i-1]
			}
			return term, slices.Concat(before, words[i+n:])
		}
	}
	return approver.Term{}, words
}

// A leaning is what the words beside a code say: yes, no, or nothing certain. The zero value
// says nothing.
type leaning uint8

const (
	unsure leaning = iota
	consents
	refuses
)

// consent reads the text beside a code, and for how long a yes is. It looks for refusal first: erring towards
// no is safe. The text consents if all its words are known words of consent beside one term, or if it
// has no words.
func consent(beside string) (leaning, approver.Term) {
	words := wordsOf(beside)
	if slices.ContainsFunc(words, isRefusal) {
		return refuses, approver.Term{}
	}
	term, words := cutTerm(words)
	for _, w := range words {
		switch w {
		case "yes", "y", "ok", "okay", "approve", "approved", "allow", "please", "confirm", "👍", "✅":
		default:
			return unsure, approver.Term{}
		}
	}
	return consents, term
}

// isRefusal also knows a command: /denyit.
func isRefusal(w string) bool {
	switch w {
	case "no", "nope", "not", "dont", "reject", "stop", "never", "cancel", "❌", "⛔", "👎":
		return true
	}
	return strings.HasPrefix(w, "deny") || w == "denied"
}

// wordsOf splits a text into lower-case words. A symbol such as an emoji is a word of its own.
// Apostrophes within words, punctuation and emoji modifiers are dropped. A question mark stays,
// as a word: who asks has not answered.
func wordsOf(text string) []string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case strings.ContainsRune("'’‘‛ʼʹ′＇`´", r):
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector), r >= 0x1f3fb && r <= 0x1f3ff:
		case strings.ContainsRune("?？⁇⁈⁉؟¿‽", r):
			b.WriteString(" ? ")
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			b.WriteRune(r)
		case unicode.IsSpace(r), unicode.IsPunct(r):
			b.WriteByte(' ')
		default:
			b.WriteString(" " + string(r) + " ")
		}
	}
	return strings.Fields(b.String())
}

// Problem tells a person what is wrong with a text that has a code, or should have one. approve and deny
// are the commands as people type them.
func Problem(err error, approve, deny string) display.Message {
	switch {
	case errors.Is(err, tokens.ErrMany):
		return display.Msg("There is more than one code in your answer. Send one, so that it is clear which request you " +
			"mean.")
	case errors.Is(err, ErrUnclear):
		return display.Msg("That is neither a clear yes nor a clear no: send the code alone to approve, or %s and the "+
			"code.", deny)
	}
	return display.Msg("That is not a confirmation code. It looks like CONFIRM-… and stands on the card: send %s or %s "+
		"with the whole of it.", approve, deny)
}
