// Package cards is what channels share in laying out a card: the marks of how it ended, the
// limits of its smaller texts, and the data of its buttons.
package cards

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"approver.example"
)

// Mark is what became of a settled request, in one character. An unknown state is marked as a
// denial.
func Mark(s approver.State) string {
	switch s {
	case approver.Consumed:
		return "✅"
	case approver.Expired:
		return "⌛"
	case approver.Withdrawn:
		return "↩"
	case approver.Denied, approver.Pending, approver.Approved:
	}
	return "⛔"
}

// Units counts the UTF-16 code units of a text.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// An Action is what a button asks for. The zero value is no action.
type Action byte

// The actions.
const (
	Approve        Action = 'o'
	Deny           Action = 'd'
	Details        Action = 'i'
	EnterCode      Action = 'c' // opens the dialog for the code, and is the dialog's own
	ApproveFor     Action = 'm' // for a quarter of an hour
	ApproveSession Action = 's'
	DenyWhy        Action = 'r' // opens the dialog for the reason, and is the dialog's own
	MoreTime       Action = 't'
	Disown         Action = 'x'
	Edit           Action = 'e' // opens the dialog for the changed command, and is the dialog's own
)

// Choose is the action of the button of a choice, 1 to approver.MaxChoices.
func Choose(number int) Action { return '0' + Action(number) } //nolint:gosec // one digit

// Choice is the inverse of Choose; zero for any other action.
func (a Action) Choice() int {
	if a > '0' && a <= '0'+approver.MaxChoices {
		return int(a - '0')
	}
	return 0
}

// ChoiceLabel is what stands on the button of a choice.
func ChoiceLabel(number int, c approver.Choice) string {
	return fmt.Sprintf("✅ %d · %s", number, c.Label)
}

// Reply is the answer that a button gives by itself; ok is false for one that opens a dialog.
func (a Action) Reply() (r approver.Reply, ok bool) {
	r.Method = approver.ByTap
	switch a {
	case Approve:
		r.Approve = true
	case ApproveFor:
		r.Approve, r.Grant = true, approver.Term{For: approver.TapTerm}
	case ApproveSession:
		r.Approve, r.Grant = true, approver.Term{Session: true}
	case Deny:
	case Details:
		r.Want = approver.WantDetails
	case MoreTime:
		r.Want = approver.WantTime
	case Disown:
		r.Want = approver.WantDisown
	default:
		r.Choice = a.Choice()
		r.Approve = r.Choice > 0
		return r, r.Choice > 0
	}
	return r, true
}

// counts reports whether the data of an action say how many identical calls the card counts.
func (a Action) counts() bool {
	return a == Approve || a == EnterCode || a == ApproveFor || a == ApproveSession
}

var encoding = base64.RawURLEncoding.Strict()

// RequestID reads a card's request id, which a button can carry only as a UUID in its plain
// form.
func RequestID(card approver.Card) (id uuid.UUID, ok bool) {
	id, err := uuid.Parse(card.Request)
	return id, err == nil && id.String() == card.Request
}

// referencePrefix begins the last line of a card that can have no buttons. What is not ours ends no card like that.
const referencePrefix = "🔖 "

// reference is the line that names the request of a card which has no buttons to name it; empty if its id is none
// of the core's.
func reference(card approver.Card) string {
	if _, ok := RequestID(card); !ok {
		return ""
	}
	return referencePrefix + card.Request
}

// Referred reads the request from the text of a card that waits and has no buttons: from its last line, which
// is not its first.
func Referred(text string) (request string, ok bool) {
	text = strings.TrimRight(text, "\n")
	end := strings.LastIndexByte(text, '\n')
	request, ok = strings.CutPrefix(text[end+1:], referencePrefix)
	if _, plain := RequestID(approver.Card{Request: request}); !ok || !plain || end < 0 {
		return "", false
	}
	return request, true
}

// ButtonData is "a1:" + the request's UUID as 22 characters of base64url + ":" + action. For a
// yes to several calls, "+" and the number that this version of the card counts follow. It has
// at most 34 bytes. A no has one form for all versions of the card, because a platform may
// refuse a press on what an edit has just changed.
func ButtonData(request uuid.UUID, action Action, upto int) string {
	data := "a1:" + encoding.EncodeToString(request[:]) + ":" + string(action)
	if action.counts() {
		data = approver.WithUpto(data, upto)
	}
	return data
}

// ParseButton is the inverse of ButtonData, for a platform whose cards have these actions. It
// accepts these, the choices, and nothing else. A client can send any data, so the result is a claim to be checked
// against the request that it names.
func ParseButton(data string, actions ...Action) (request uuid.UUID, action Action, upto int, ok bool) {
	data, upto, ok = approver.CutUpto(data)
	rest, ours := strings.CutPrefix(data, "a1:")
	if !ok || !ours || len(rest) != 22+2 || rest[22] != ':' {
		return uuid.UUID{}, 0, 0, false
	}
	raw, err := encoding.DecodeString(rest[:22])
	action = Action(rest[23])
	known := slices.Contains(actions, action) || action.Choice() > 0
	if err != nil || len(raw) != len(request) || !known || upto > 0 && !action.counts() {
		return uuid.UUID{}, 0, 0, false
	}
	return uuid.UUID(raw), action, upto, true
}
