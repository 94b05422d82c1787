// Package intent reads what a person's text message means as an answer: a command, a code
// with words beside it, or a plain yes or no.
package intent

import (
	"errors"
	"strings"
	"unicode"

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
	Grant   approver.Term // how long a yes lasts; only /approve CODE says more than once
	Reason  string        // what was said beside a no, for the agent
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
//	/approve CODE session     also later in the same session; /approve CODE 15m, 1m to 60m; nothing may stand beside it
//	/approve CODE always      this once, and shows the rule for the policy
//	/deny CODE reason         the reason is told to the agent, as are the words beside a code that is refused
//	CONFIRM-7KQ4MX            the code alone, or with words of consent ("ok, CONFIRM-7KQ4MX please"): approves
//	no CONFIRM-7KQ4MX         the code with a word of refusal: denies
//	yes, allow, approve       no, deny, reject       only as a reply to one card
//	no, use a branch instead  a no to the card that it replies to, with the reason
//	/pending, /status, /grants, /freeze, /help, /start   what they say; nothing is approved
//
// A code beside anything else, such as a question, is ErrUnclear. So is
// /approve with a word of refusal. A slash command without a readable code
// returns tokens.ErrForm or tokens.ErrMany so that the person can be told.
// Anything else is ErrNotAnAnswer. With an error nothing is approved.
func Parse(text string) (Intent, error) {
	text = strings.TrimSpace(text)
	verb, rest, ok := command(text)
	switch {
	case ok:
		return commandIntent(verb == "/approve", rest)
	case wants[verb] != approver.WantAnswer:
		return Intent{Want: wants[verb], Method: approver.ByCommand}, nil
	}
	code, beside, err := tokens.Cut(text)
	switch {
	case err == nil:
		switch consent(beside) {
		case consents:
			return Intent{Approve: true, Method: approver.ByCode, Code: code}, nil
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
	case "no", "deny", "denied", "reject", "stop":
		return Intent{Method: approver.ByPlain}, nil
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

// refusal reads a no with its reason: "no, use a branch instead". A question is none.
func refusal(text string) (reason string, ok bool) {
	first, rest, _ := strings.Cut(text, " ")
	switch strings.ToLower(strings.TrimRight(first, ".,;:!-–—")) {
	case "no", "nope", "deny", "denied", "reject", "stop":
		reason = strings.TrimLeft(rest, " -–—:,")
	case "don't", "don’t", "dont", "do":
		if !strings.HasPrefix(strings.ToLower(text), "do not ") && strings.EqualFold(first, "do") {
			return "", false
		}
		reason = text
	default:
		return "", false
	}
	return reason, !strings.ContainsAny(text, "?？؟¿")
}

// reasonIn is the reason among the words beside a code that is refused.
func reasonIn(beside string) string {
	beside = strings.Join(strings.Fields(beside), " ")
	if rest, ok := refusal(beside); ok {
		return rest
	}
	return beside
}

func command(text string) (verb, rest string, ok bool) {
	verb = text
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		verb, rest = text[:i], text[i:]
	}
	verb, _, _ = strings.Cut(strings.ToLower(verb), "@")
	return verb, strings.TrimSpace(rest), verb == "/approve" || verb == "/deny"
}

// commandIntent reads what follows /approve or /deny. The command itself says what is meant;
// only a word of refusal after /approve puts it in doubt.
func commandIntent(approve bool, rest string) (Intent, error) {
	if words := strings.Fields(rest); approve && len(words) == 2 {
		code, err := tokens.Parse(words[0])
		if term, ok := approver.ParseTerm(words[1]); ok && err == nil {
			return Intent{Approve: true, Method: approver.ByCommand, Code: code, Grant: term}, nil
		}
	}
	code, err := tokens.Parse(rest)
	if err == nil {
		return Intent{Approve: approve, Method: approver.ByCommand, Code: code}, nil
	}
	code, beside, err := tokens.Cut(rest)
	switch {
	case errors.Is(err, tokens.ErrNone):
		err = tokens.ErrForm
	case err == nil && approve && consent(beside) == refuses:
		err = ErrUnclear
	}
	if err != nil {
		return Intent{Method: approver.ByCommand}, err
	}
	in := Intent{Approve: approve, Method: approver.ByCommand, Code: code}
	if !approve {
		in.Reason = strings.Join(strings.Fields(beside), " ")
	}
	return in, nil
}

// A leaning is what the words beside a code say: yes, no, or nothing certain. The zero value
// says nothing.
type leaning uint8

const (
	unsure leaning = iota
	consents
	refuses
)

// consent reads the text beside a code. It looks for refusal first: erring towards no is safe.
// The text consents if all its words are known words of consent, or if it has no words.
func consent(beside string) leaning {
	says := consents
	for _, w := range wordsOf(beside) {
		switch w {
		case "no", "nope", "not", "dont", "deny", "denied", "reject", "stop", "never", "cancel", "❌", "⛔", "👎":
			return refuses
		case "yes", "y", "ok", "okay", "approve", "approved", "allow", "please", "confirm", "👍", "✅":
		default:
			if strings.HasPrefix(w, "deny") { // also a command: /denyit
				return refuses
			}
			says = unsure
		}
	}
	return says
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
