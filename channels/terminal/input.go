package terminal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/tokens"
)

// A Verb is what a typed line wants. The zero value wants nothing.
type Verb uint8

// The verbs.
const (
	VerbNone   Verb = iota // an empty line
	VerbAnswer             // answer a card
	VerbList               // list the pending cards
	VerbShow               // show one card whole
	VerbHelp
	VerbQuit
)

// An Input is what one typed line means. The zero value means nothing.
type Input struct {
	Verb Verb
	// Number is the number of the card; 0 means that the code identifies it.
	Number int
	// Approve is the answer. False denies.
	Approve bool
	// Code is the code that was typed, if any, and Command reports that it came
	// with /approve or /deny.
	Code    tokens.Code
	Command bool
	// Grant is how long a yes lasts, and Choice the number of the choice that it means.
	Grant  approver.Term
	Choice int
	// Reason is what was said with a no, for the agent.
	Reason string
}

// maxLine bounds a typed line in bytes.
const maxLine = 4096

var errInput = errors.New("not understood: type help to see what can be typed")

// ParseInput reads one line:
//
//	y 3   yes 3   approve 3          approve card 3
//	n 3   no 3    deny 3             deny card 3
//	y 3 2                            approve card 3 with its choice 2
//	3 CONFIRM-7KQ4MX                 approve card 3 with its code; y 3 CODE does too, n 3 CODE denies
//	/approve CODE   /deny CODE why   as in the chats
//	/approve CODE session            also later in the same session; or for a time, 1m to 60m
//	CONFIRM-7KQ4MX                   approve the card with that code; "no CONFIRM-7KQ4MX" denies
//	show 3   list   help   quit
//
// An answer always names its card by number or code: a bare "yes" is an error.
// An error is one line for the person who typed.
func ParseInput(line string) (Input, error) {
	if len(line) > maxLine {
		return Input{}, fmt.Errorf("the line has %d bytes, at most %d are read", len(line), maxLine)
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return Input{}, nil
	}
	first, rest := strings.ToLower(words[0]), words[1:]
	switch first {
	case "y", "yes", "approve", "allow", "ok", "n", "no", "deny", "reject":
		if len(rest) > 0 && !isNumber(rest[0]) {
			break // "no CONFIRM-…", as in the chats
		}
		approve := strings.ContainsRune("yao", rune(first[0]))
		if n := choiceOf(rest); approve && n > 0 {
			in, err := answer(true, rest[:1])
			in.Choice = n
			return in, err
		}
		return answer(approve, rest)
	case "show", "s":
		n, err := number(rest)
		return Input{Verb: VerbShow, Number: n}, err
	case "list", "l", "help", "h", "?", "quit", "q", "exit":
		if len(rest) > 0 {
			return Input{}, errInput
		}
		verbs := map[byte]Verb{'l': VerbList, 'h': VerbHelp, '?': VerbHelp, 'q': VerbQuit, 'e': VerbQuit}
		return Input{Verb: verbs[first[0]]}, nil
	}
	if isNumber(first) {
		if len(rest) == 0 {
			return Input{}, fmt.Errorf("what of card %s? type y %[1]s, n %[1]s, show %[1]s or %[1]s CODE", first)
		}
		return answer(true, words)
	}
	return chatInput(line)
}

// chatInput reads a line typed as in a chat.
func chatInput(line string) (Input, error) {
	meant, err := intent.Parse(line)
	switch {
	case errors.Is(err, intent.ErrNotAnAnswer):
		return Input{}, errInput
	case err != nil:
		return Input{}, err
	case meant.Want != approver.WantAnswer:
		return wanted(meant.Want)
	case meant.Code.IsZero():
		return Input{}, errors.New("which card? put its number behind, such as y 3")
	}
	return Input{
		Verb: VerbAnswer, Approve: meant.Approve, Code: meant.Code, Command: meant.Method == approver.ByCommand,
		Grant: meant.Grant, Reason: meant.Reason,
	}, nil
}

// wanted is a command of the chats that answers nothing. What does the same on a machine is said.
func wanted(want approver.Want) (Input, error) {
	verb := map[approver.Want]Verb{approver.WantHelp: VerbHelp, approver.WantPending: VerbList}[want]
	if verb != VerbNone {
		return Input{Verb: verb}, nil
	}
	return Input{}, fmt.Errorf("nothing was done: %[1]s is a command of its own here: type approver %[1]s in another "+
		"window", want)
}

// answer reads a card's number and, if there is one, a code.
func answer(approve bool, words []string) (Input, error) {
	n, err := number(words[:min(len(words), 1)])
	if err != nil {
		return Input{}, err
	}
	in := Input{Verb: VerbAnswer, Number: n, Approve: approve}
	if len(words) == 1 {
		return in, nil
	}
	if in.Code, err = tokens.Parse(strings.Join(words[1:], " ")); err != nil {
		return Input{}, err
	}
	return in, nil
}

// choiceOf is the number of the choice behind a card's number; zero if there is none.
func choiceOf(words []string) int {
	if len(words) != 2 || len(words[1]) != 1 || words[1] < "1" || words[1] > strconv.Itoa(approver.MaxChoices) {
		return 0
	}
	return int(words[1][0] - '0')
}

// maxNumber bounds a card's number; nobody is ever shown that many cards.
const maxNumber = 999_999

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func number(words []string) (int, error) {
	if len(words) == 0 {
		return 0, errors.New("which card? put its number behind, such as y 3")
	}
	n, err := strconv.Atoi(words[0])
	if len(words) > 1 || !isNumber(words[0]) || err != nil || n < 1 || n > maxNumber {
		return 0, errors.New("not a card's number: the numbers stand on the cards' frames, and in list")
	}
	return n, nil
}
