package terminal

import (
	"encoding/json"
	"fmt"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// The kinds of an Event.
const (
	EventHello  = "hello"  // the first event; Offer says which answers may be taken here at all
	EventCard   = "card"   // a message that this watcher has not been shown yet
	EventUpdate = "update" // the message has changed
	EventGone   = "gone"   // the message was taken back; only Message is set
)

// An Event is one JSON document of [Channel.Watch].
type Event struct {
	Type    string
	Message string
	// Rev grows with every change of the message.
	Rev int
	// Card is what to show. Its code is zero where it must not be shown.
	Card approver.Card
	// Offer says which answers are taken here.
	Offer Offer
}

// An Offer says which answers a terminal may give to a card. The zero value
// offers none.
type Offer struct {
	Tap  bool `json:"tap,omitempty"`  // yes without the code
	Code bool `json:"code,omitempty"` // yes with the code
	Deny bool `json:"deny,omitempty"`
	// Alone and Owner are as in [Config]: they decide which advice is given where answers are
	// not taken.
	Alone bool `json:"alone,omitempty"`
	Owner bool `json:"owner,omitempty"`
	Waits bool `json:"waits,omitempty"` // as in [Config]
}

// An Answer is the JSON document that [Channel.Answer] reads. It identifies the card by Request
// and Message, by Code, or by all three.
type Answer struct {
	Request string `json:"request,omitempty"`
	Message string `json:"message,omitempty"`
	// Approve is the answer. False denies.
	Approve bool `json:"approve,omitempty"`
	// Code is what the person typed as the code.
	Code string `json:"code,omitempty"`
	// Command reports that the person typed /approve or /deny.
	Command bool `json:"command,omitempty"`
	// Shown is the number of the last identical call that the answering command itself has
	// shown: the Upto of the card as it drew it, or what [broadcaster.Cards.Shown] returned.
	// Zero means the first call alone.
	Shown int `json:"shown,omitempty"`
	// Choice is the number of the choice that a yes means; zero is this one call.
	Choice int `json:"choice,omitempty"`
	// Term is how long a yes lasts, as typed behind /approve CODE: session, or 1m to
	// 60m. Empty is once.
	Term string `json:"term,omitempty"`
	// Reason is what the person said with a no, for the agent.
	Reason string `json:"reason,omitempty"`
}

// An Answered is the JSON document that [Channel.Answer] returns.
type Answered struct {
	Kind string `json:"kind"` // refused, approved, denied, too_late, …
	Text string `json:"text"`
}

var kindNames = map[approver.OutcomeKind]string{
	approver.OutcomeRefused: "refused", approver.OutcomeApproved: "approved", approver.OutcomeDenied: "denied",
	approver.OutcomeTooLate: "too_late", approver.OutcomeExpired: "expired", approver.OutcomeUnknown: "unknown",
	approver.OutcomeUsed: "used", approver.OutcomeLocked: "locked", approver.OutcomeNeedCode: "need_code",
	approver.OutcomeRecorded: "recorded", approver.OutcomeShown: "shown",
}

func kindName(k approver.OutcomeKind) string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return kindNames[approver.OutcomeRefused]
}

// wireEvent is an Event in JSON, with the code unmasked: the socket leads to an approver's
// screen.
type wireEvent struct {
	Type    string    `json:"type"`
	Message string    `json:"message,omitempty"`
	Rev     int       `json:"rev,omitempty"`
	Card    *wireCard `json:"card,omitempty"`
	Offer   Offer     `json:"offer,omitzero"`
}

type wireCard struct {
	Request  string            `json:"request"`
	State    approver.State    `json:"state"`
	Severity approver.Severity `json:"severity"`
	OneTap   bool              `json:"one_tap,omitempty"`
	Push     string            `json:"push"`
	Language string            `json:"language,omitempty"`
	Body     []display.Block   `json:"body,omitempty"`
	Part     string            `json:"part,omitempty"`
	Why      []string          `json:"why,omitempty"`
	Claimed  string            `json:"claimed,omitempty"`
	Context  string            `json:"context,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	Details  []display.Block   `json:"details,omitempty"`
	Choices  []approver.Choice `json:"choices,omitempty"`
	Upto     int               `json:"upto,omitempty"`
	Code     string            `json:"code,omitempty"`
	Created  time.Time         `json:"created,omitzero"`
	Due      time.Time         `json:"due,omitzero"`
	Result   string            `json:"result,omitempty"`
}

// MarshalJSON writes the event with the card's code unmasked.
func (e Event) MarshalJSON() ([]byte, error) {
	w := wireEvent{Type: e.Type, Message: e.Message, Rev: e.Rev, Offer: e.Offer}
	if e.Type != EventGone && e.Type != EventHello {
		k := e.Card
		w.Card = &wireCard{
			Request: k.Request, State: k.State, Severity: k.Severity, OneTap: k.OneTap, Push: k.Push,
			Language: k.Texts.Language(), Body: k.Body, Part: k.Part, Why: k.Why, Claimed: k.Claimed, Context: k.Context,
			Warnings: k.Warnings, Details: k.Details, Choices: k.Choices, Upto: k.Upto, Code: k.Code.Reveal(),
			Created: k.Created, Due: k.Due, Result: k.Result,
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote. Unknown keys are left alone, so
// that an older command can watch a newer service.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w wireEvent
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Event{Type: w.Type, Message: w.Message, Rev: w.Rev, Offer: w.Offer}
	switch {
	case w.Type == EventHello:
		return nil
	case w.Message == "":
		return fmt.Errorf("event %q names no message", w.Type)
	case w.Type == EventGone:
		return nil
	case w.Type != EventCard && w.Type != EventUpdate:
		return fmt.Errorf("unknown event %q: is the service newer than this command?", w.Type)
	case w.Card == nil:
		return fmt.Errorf("event %q has no card", w.Type)
	}
	k := w.Card
	texts, _ := display.In(k.Language) // English, if the command does not know the language
	e.Card = approver.Card{
		Request: k.Request, State: k.State, Severity: k.Severity, OneTap: k.OneTap, Push: k.Push, Texts: texts,
		Body: k.Body, Part: k.Part, Why: k.Why, Claimed: k.Claimed, Context: k.Context, Warnings: k.Warnings,
		Details: k.Details, Choices: k.Choices, Upto: k.Upto, Created: k.Created, Due: k.Due, Result: k.Result,
	}
	if k.Code != "" {
		code, err := tokens.Parse(k.Code)
		if err != nil {
			return fmt.Errorf("event %q: %w", w.Type, err)
		}
		e.Card.Code = code
	}
	return nil
}

// hello is the first event of every watcher.
func (c *Channel) hello() Event {
	may := c.cfg.AllowAnswers
	return Event{Type: EventHello,
		Offer: Offer{Tap: may, Code: may, Deny: may, Alone: c.cfg.Alone, Owner: c.cfg.Owner, Waits: c.cfg.Waits}}
}

// event is the newest state of a card for a watcher. The caller must hold c.mu.
func (c *Channel) event(k *card, shown bool) Event {
	e := Event{Type: EventCard, Message: k.message, Rev: k.rev, Card: k.card}
	switch {
	case k.gone:
		return Event{Type: EventGone, Message: k.message, Rev: k.rev}
	case shown:
		e.Type = EventUpdate
	}
	if !c.cfg.mayShowCode(k.card) {
		e.Card.Code = tokens.Code{}
	}
	e.Offer = Offer{
		Tap:   c.cfg.mayTap(k.card),
		Code:  !e.Card.Code.IsZero(),
		Deny:  c.cfg.AllowAnswers && k.card.State == approver.Pending,
		Alone: c.cfg.Alone, Owner: c.cfg.Owner, Waits: c.cfg.Waits,
	}
	return e
}
