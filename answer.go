package approver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"approver.example/display"
)

// A State is where a request stands in its life:
//
//	pending ─▶ approved ─▶ consumed
//	   │           └─────▶ denied (unrecorded, changed, frozen) | expired | withdrawn
//	   └─▶ denied | expired | withdrawn
//
// A pending request may be parked (see broadcaster.Request.Park). A yes then waits, in state
// approved, until the same call comes back. Nobody is told of a yes while the request is
// approved: the call is released, and people are told, when the request is consumed. The zero
// value is denied.
type State uint8

// The states.
const (
	Denied State = iota
	Pending
	Approved
	Expired
	Withdrawn
	Consumed
)

var stateNames = [...]string{"denied", "pending", "approved", "expired", "withdrawn", "consumed"}

// String returns the word; an unknown value is "denied".
func (s State) String() string { return wordOf(stateNames[:], s) }

// MarshalText writes the word.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word; anything else is an error and leaves Denied.
func (s *State) UnmarshalText(b []byte) (err error) {
	if *s, err = valueOf[State](stateNames[:], b); err != nil {
		return fmt.Errorf("unknown request state %q", b)
	}
	return nil
}

// Settled reports whether the state is final: it never changes again, and
// agent and people may be told.
func (s State) Settled() bool { return s != Pending && s != Approved }

// A Cause is the reason code of a resolution. It distinguishes a person's no from a timeout.
// The zero value is "none" and never approves.
type Cause uint8

// The causes.
const (
	NoCause      Cause = iota
	ByPerson           // a person said yes or no
	TimedOut           // nobody answered before the deadline
	AgentGone          // the agent went away, or took the answer too late
	Unreachable        // no channel could be reached
	Unrecorded         // the audit could not be written
	CallChanged        // what would run is not what was shown
	StoreTrouble       // the store failed, and no other answer was safe
	Frozen             // everything was frozen
	Revoked            // people took their yes back
	NotShown           // the answered card showed none of the waiting calls
	Moot               // what was asked about is over
	Held               // every call of its agent was frozen
	Unreleased         // there was a yes, and no time left to release the call
	Outdated           // the file that was asked about was changed again
	AtDesk             // the agent's own user answered in the agent's own dialog
	NoRoom             // no card could be shown: the chats took no more messages
)

// causes are the reason codes, each with a sentence that explains it unless a person answered.
//
//approver:texts
var causes = [...]struct{ name, sentence string }{
	NoCause:      {"none", ""},
	ByPerson:     {"person", ""},
	TimedOut:     {"timeout", "nobody answered in time"},
	AgentGone:    {"agent_gone", "the agent stopped waiting"},
	Unreachable:  {"unreachable", "no approval channel could be reached"},
	Unrecorded:   {"unrecorded", "the decision could not be recorded in the audit"},
	CallChanged:  {"changed", "what would run is no longer what was shown"},
	StoreTrouble: {"store", "the store had a problem"},
	Frozen:       {"frozen", "everything was frozen"},
	Revoked:      {"revoked", "the approval was revoked"},
	NotShown:     {"not_shown", "the call on the answered card had ended, and the calls that wait are asked about anew"},
	Moot:         {"moot", "a freeze began or ended while people were asked, so the question is over: ask anew"},
	Held:         {"agent_frozen", "every call of this agent was frozen"},
	Unreleased:   {"unreleased", "approver could not release the call before its deadline"},
	Outdated:     {"outdated", ErrOutdated.Error()},
	AtDesk:       {"at_desk", "the agent's own user answered it"},
	NoRoom:       {"no_room", "no card could be shown in time because its chat was full"},
}

// String returns the reason code.
func (c Cause) String() string { return causes[c.known()].name }

// known is the cause, or NoCause for an unknown value.
func (c Cause) known() Cause {
	if int(c) < len(causes) {
		return c
	}
	return NoCause
}

// Sentence explains a cause other than a person's answer.
func (c Cause) Sentence() string {
	return cmp.Or(causes[c.known()].sentence, "no valid decision was made")
}

// MarshalText writes the reason code.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the reason code; anything else is NoCause.
func (c *Cause) UnmarshalText(b []byte) error {
	*c = NoCause
	for i, of := range causes {
		if string(b) == of.name {
			*c = Cause(i)
		}
	}
	return nil
}

// A Resolution is the answer to a request. The zero value denies.
type Resolution struct {
	Approve      bool      `json:"approve"`
	Cause        Cause     `json:"cause"`
	Person       Person    `json:"person,omitzero"`
	Identity     Identity  `json:"identity,omitzero"`
	Conversation string    `json:"conversation,omitempty"`
	Method       Method    `json:"method,omitempty"`
	Grant        Term      `json:"grant,omitzero"` // how long a yes lasts
	At           time.Time `json:"at,omitzero"`    // by the store's clock
	// Choice is the number of the choice that a yes means; zero is this one call. See [Reply.Choice].
	Choice int `json:"choice,omitempty"`
	// Reason is what the person said with a no, for the agent: without a code, at most MaxReason bytes.
	Reason string `json:"reason,omitempty"`
	// Calls is the number of the last identical call that the answered card showed.
	Calls int `json:"calls,omitempty"`
	// Edit is what the person changed the call to; nil if nothing. With a yes, the changed call runs and
	// never the one that was asked about. With a no, the agent is told to run the changed one as a new
	// call. A store keeps it sealed, with the call.
	Edit *Edit `json:"-"`
}

// An Edit is a command that a person changed.
type Edit struct {
	Command string `json:"command"`
	// Args are the arguments of the call with that command.
	Args json.RawMessage `json:"args"`
	// Fingerprint is what the yes is bound to beside the fingerprint of the call that was asked about.
	Fingerprint Fingerprint `json:"fingerprint"`
}

// A Term is how long a yes lasts. The zero value is once.
type Term struct {
	// Session means for as long as the agent's session, at most SessionTerm.
	Session bool `json:"session,omitempty"`
	// For is how long the yes lasts, 1 to 60 minutes; zero means that no time is set.
	For time.Duration `json:"for,omitempty"`
	// Always means once; in addition, a policy rule is written for people to add.
	Always bool `json:"always,omitempty"`
}

// SessionTerm is the longest that a yes for a session lasts; maxTerm is the longest of a yes
// for a time, in minutes. TapTerm is the one time that a yes by a button may last.
const (
	SessionTerm = 8 * time.Hour
	TapTerm     = 15 * time.Minute
	maxTerm     = 60
)

// Lasts reports whether a yes lasts for more than one call.
func (t Term) Lasts() bool { return t.Session || t.For > 0 }

func (t Term) String() string {
	switch {
	case t.Session:
		return "session"
	case t.Always:
		return "always"
	case t.For > 0:
		return fmt.Sprintf("%dm", int(t.For.Minutes()))
	}
	return "once"
}

// ParseTerm reads once, session, always, or 1m to 60m, and nothing else.
func ParseTerm(word string) (Term, bool) {
	switch strings.ToLower(word) {
	case "once":
		return Term{}, true
	case "session":
		return Term{Session: true}, true
	case "always":
		return Term{Always: true}, true
	}
	for n := 1; n <= maxTerm; n++ {
		if word == fmt.Sprintf("%dm", n) {
			return Term{For: time.Duration(n) * time.Minute}, true
		}
	}
	return Term{}, false
}

// Span says, for people, how long a yes lasts that is for more than one call.
func (t Term) Span() string {
	if t.Session {
		return "the session"
	}
	return t.String()
}

// A Person is one human being, whatever platform they answer on.
type Person struct {
	ID   string `json:"id"`             // stable within this installation
	Name string `json:"name,omitempty"` // for display
}

// An Identity is a stable id on one channel, such as telegram and 10042. Names,
// user names and e-mail addresses are never identities: they change hands.
type Identity struct {
	Channel string `json:"channel"`
	ID      string `json:"id"`
}

// People is the approver list: who may answer, and which identities are the
// same person. The zero value admits nobody.
type People map[Identity]Person

// Lookup returns the person behind an authenticated identity.
func (p People) Lookup(channel, id string) (Person, bool) {
	if id == "" {
		return Person{}, false
	}
	person, ok := p[Identity{Channel: channel, ID: id}]
	return person, ok && person.ID != ""
}

// An Approver is one entry of a channel's approver list, as configured.
type Approver struct {
	// ID is the platform's stable id: a Telegram user id, a Discord snowflake, a
	// Slack U… or W… id, a Unix uid. Never a name.
	ID string `yaml:"id"`
	// Name is for display; empty means the ID.
	Name string `yaml:"name,omitempty"`
	// Person says who this is across channels, so that votes and lock-outs
	// count per person; empty means channel:ID.
	Person string `yaml:"person,omitempty"`
	// Language is what they are told about their answers in; empty means that of the conversation.
	Language display.Lang `yaml:"language,omitempty"`
}

// SelfPerson is the person of an entry that names none: the account by itself.
func SelfPerson(channel, id string) string { return channel + ":" + id }

// Add puts a channel's approver list into p.
func (p People) Add(channel string, list []Approver) {
	for _, a := range list {
		p[Identity{Channel: channel, ID: a.ID}] = Person{
			ID: cmp.Or(a.Person, SelfPerson(channel, a.ID)), Name: cmp.Or(a.Name, a.ID),
		}
	}
}
