package approver

import (
	"errors"
	"strings"

	"approver.example/tokens"
)

// An Intent is what a person's text message means as an answer.
type Intent struct {
	Approve bool
	Method  Method
	Code    tokens.Code
}

// ErrNotAnAnswer means that a text is ordinary talk, to be left alone.
var ErrNotAnAnswer = errors.New("the text is not an answer")

// ParseIntent reads a text message:
//
//	/approve CONFIRM-7KQ4MX   /deny CONFIRM-7KQ4MX   (the prefix may be left out, /approve@bot is fine)
//	CONFIRM-7KQ4MX            the code alone, or in a sentence that has no other code: approves
//	yes, allow, approve       no, deny, reject       only as a reply to one card (ByPlain)
//
// A text with a code and a word of refusal ("no CONFIRM-7KQ4MX") denies. A
// slash command without a readable code returns tokens.ErrForm or
// tokens.ErrMany so that the person can be told. Anything else is
// ErrNotAnAnswer.
func ParseIntent(text string) (Intent, error) {
	text = strings.TrimSpace(text)
	if verb, rest, ok := command(text); ok {
		code, err := tokens.Parse(rest)
		if err != nil {
			if code, err = tokens.Find(rest); errors.Is(err, tokens.ErrNone) {
				err = tokens.ErrForm
			}
		}
		return Intent{Approve: verb == "/approve" && err == nil, Method: ByCommand, Code: code}, err
	}
	code, err := tokens.Find(text)
	switch {
	case err == nil:
		return Intent{Approve: !refuses(text), Method: ByCode, Code: code}, nil
	case errors.Is(err, tokens.ErrMany):
		return Intent{Method: ByCode}, err
	}
	switch strings.ToLower(strings.Trim(text, ".!\"' ")) {
	case "yes", "allow", "approve", "approved", "ok":
		return Intent{Approve: true, Method: ByPlain}, nil
	case "no", "deny", "denied", "reject", "stop":
		return Intent{Method: ByPlain}, nil
	}
	return Intent{}, ErrNotAnAnswer
}

func command(text string) (verb, rest string, ok bool) {
	verb, rest, _ = strings.Cut(text, " ")
	verb, _, _ = strings.Cut(strings.ToLower(verb), "@")
	return verb, strings.TrimSpace(rest), verb == "/approve" || verb == "/deny"
}

// refuses reports a word of refusal beside a code. Erring towards no is safe.
func refuses(text string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return r == ' ' || r == ',' || r == '.' || r == '!' || r == ':' || r == '\n' || r == '\t' || r == '/'
	}) {
		switch w {
		case "no", "not", "don't", "dont", "deny", "denied", "reject", "stop", "never":
			return true
		}
	}
	return false
}
