package approver

import (
	"context"
	"strconv"
	"strings"
	"time"

	"approver.example/display"
	"approver.example/tokens"
)

// A Channel shows cards to people and brings their answers. Telegram, Discord,
// Slack, the web inbox and the terminal are channels; channels/channeltest
// holds what all of them promise.
type Channel interface {
	// Name is the word in the configuration, such as "telegram".
	Name() string

	// Run receives until ctx ends. It owns every goroutine that it starts and
	// returns when they have ended; it returns early only for an error that its own
	// retries cannot cure, such as a revoked token, and can then be called again:
	// the Broadcaster does so now and then. For each answer it calls reply
	// and shows the outcome's text to that person alone where the platform can.
	//
	// Before it looks at anything else in an event, Run checks that the sender
	// is a person, authenticated by the platform, whose stable id is on the
	// channel's approver list. Anyone else gets at most one short refusal.
	Run(ctx context.Context, reply ReplyFunc) error

	// Post shows a new card and returns where it is. It obeys the platform's rate limits within
	// ctx. If it reports a failure, it leaves no card behind, as far as the platform lets it
	// know. ErrFinal and Patience say what its error means for the next try.
	Post(ctx context.Context, to Destination, card Card) (Ref, error)

	// Update changes the same message to show card: progress, resolution, expiry. A settled
	// card has no buttons and no code. Updating to what is already shown is not an error. For a
	// waiting card it is an error if nobody can see the message, because what the card says of
	// identical calls counts only where people can read it. A waiting card that would be Partial
	// although the Ref is not is ErrShowsLess, and the message stays as it is: a tap counts on
	// it, and so what people tap on must be whole. Other errors mean the same as those of Post.
	Update(ctx context.Context, ref Ref, card Card) error
}

// Presence is an extra ability of a channel whose messages do not outlive the
// process, such as the terminal. A card whose message is gone is posted anew.
type Presence interface {
	// Shows reports whether the message is still before people.
	Shows(ref Ref) bool
	// Watches returns how many screens show messages now, and how many ever did.
	Watches() (now, ever int)
}

// A Fitter is an extra ability of a channel: it says whether Post would show all of a card in
// its message, so that the Ref is not Partial. It does no I/O. When the answer to a Post was
// lost, this is all that is known of what people see.
type Fitter interface {
	Fits(card Card) bool
}

// A Pacer is an extra ability of a channel whose platform takes only so many messages: what is sent waits its
// turn within the limits, instead of being refused with a 429. What answers people is sent at once, so the limits
// leave some of what the platform takes for that.
type Pacer interface {
	// Pace returns the limits that one message to a destination counts against, or one edit of a message there:
	// the narrowest first, such as that of the chat, and the widest last, such as that of the bot.
	Pace(to Destination, edit bool) []Limit
}

// A Limit is how many messages a platform takes within any such time. All that count against the same What share
// it. Where Most or Within is not above zero, there is no limit, but what counts against it pauses together when the
// platform asks for that.
type Limit struct {
	What   string // what is counted, such as "chat 42"; it names one limit of a channel
	Most   int
	Within time.Duration
	// Urgent is how many of Most are kept for CATASTROPHIC cards, so that one need not wait until a long time is
	// over that others have used up. At least one of Most is for the others. Of several daemons that share a limit,
	// each keeps at least one.
	Urgent int
}

// HealthChecker is an extra ability of a channel that speaks with a platform: one harmless call
// that fails if the token is bad or the platform unreachable.
type HealthChecker interface {
	// Health returns the bot's name on the platform.
	Health(ctx context.Context) (who string, err error)
}

// A Renewer is an extra ability of a channel that takes a new token from its file while the platform
// refuses the one that it has.
type Renewer interface {
	// Holds reports whether the channel uses what a file of its tokens says now.
	Holds(file string) bool
}

// A Destination is one place that gets a card of its own, with its own code.
type Destination struct {
	Channel string `json:"channel"` // Channel.Name
	// Conversation is the platform's stable id of the chat; in a forum it names the chat and
	// the topic. A code works only in the conversation whose card shows it, and wrong codes are
	// counted there. So places that are separate for people are separate conversations.
	Conversation string `json:"conversation"`
	// Thread is where in the conversation the card is posted, on channels that have such
	// places; the others refuse it. Answers do not name it.
	Thread string `json:"thread,omitempty"`
}

// A Ref is a posted message.
type Ref struct {
	Destination
	// Message is the platform's id of the message; empty means not posted.
	Message string `json:"message,omitempty"`
	// Partial reports that the message could not show the whole command, or all of another
	// text. What was cut is attached, and the message says how many bytes are hidden. Such a
	// card takes no one-tap approval.
	Partial bool `json:"partial,omitempty"`
}

// A Method is how a person answered. The zero value carries no approval.
type Method uint8

// The methods.
const (
	NoMethod  Method = iota
	ByTap            // a button on the card
	ByCommand        // "/approve CODE" or "/deny CODE"
	ByCode           // the code itself, as text or in a modal
	ByPlain          // "yes" or "no" as the platform's reply to that one card
	ByID             // the request's id, given to a command on this machine that showed the whole request
	ByTyped          // typed to the card in a terminal, where there is no button: "y 1", or approver approve
)

var methodNames = [...]string{"none", "tap", "command", "code", "plain", "id", "typed"}

// OnCard reports whether the answer names the card itself: a button, or its counterpart in a
// terminal.
func (m Method) OnCard() bool { return m == ByTap || m == ByTyped }

// String returns the word.
func (m Method) String() string { return wordOf(methodNames[:], m) }

// MarshalText writes the word.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the word; anything else is NoMethod.
func (m *Method) UnmarshalText(b []byte) error {
	*m, _ = valueOf[Method](methodNames[:], b)
	return nil
}

// A Want is what a person wants who presses a button or writes to approver. The zero value is to answer
// a request.
type Want uint8

// The wants.
const (
	WantAnswer  Want = iota // yes or no, as in Reply.Approve
	WantDetails             // all that is known of the request of a card
	WantTime                // MoreTime for the request of a card
	WantDisown              // nobody asked for this: deny the request of a card, and freeze its agent
	WantEdit                // to change the command of a card and approve the changed one: see Reply.Command
	WantHelp                // what can be sent
	WantPending             // the requests that wait
	WantStatus              // how approver is
	WantGrants              // what runs without asking, by an earlier yes
	WantFreeze              // that nothing runs any more
)

var wantNames = [...]string{"answer", "details", "time", "disown", "edit", "help", "pending", "status", "grants",
	"freeze"}

// String returns the word.
func (w Want) String() string { return wordOf(wantNames[:], w) }

// MarshalText writes the word.
func (w Want) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// MoreTime is how much longer a request waits that somebody wants more time for.
const MoreTime = 10 * time.Minute

// MaxReason bounds Reply.Reason, in bytes.
const MaxReason = 500

// MaxCommand bounds a command that people may change, before and after, in bytes. It fits into the
// dialogs of every platform.
const MaxCommand = 3000

// A Reply is one answer as a channel received it, or what else a person wants. The zero value
// approves nothing.
type Reply struct {
	Want Want

	Channel string // Channel.Name
	// Conversation is where the answer was given: Destination.Conversation. It is empty if nobody but the
	// sender can see what is answered there.
	Conversation string
	// Sender is the platform's stable, authenticated id of the person, and Name
	// what they call themselves there, for display only.
	Sender string
	Name   string
	// Approve is the answer. False denies.
	Approve bool
	Method  Method
	// Reason is what the person said with a no, for the agent. It is cut at MaxReason.
	Reason string
	// Command is, for WantEdit, what the person changed the command to. Empty asks for the command as it
	// is, which is in [Outcome.Details] of an OutcomeShown.
	Command string
	// Grant is how long a yes lasts: once, unless a command or a button says more.
	Grant Term
	// Choice is the number of the choice that a yes means: 1 is the first of [Card.Choices]. Zero is
	// this one call. Only a button, its counterpart in a terminal, and ByID can carry a choice.
	Choice int
	// Request locates the request for ByTap, ByTyped, ByPlain, ByID and a modal; Message is
	// the card's message, which the channel lets through only if the platform says that it is our
	// own bot's. Code locates it for ByCommand and ByCode. A modal
	// carries both, and then they must agree.
	Request string
	Message string
	Code    tokens.Code
	// Event is the platform's id of what brought the reply. An event that is delivered again, here or to
	// another process, has the same. It is empty if the channel has none: then each reply is a new one.
	Event string
	// Shown is the number of the last identical call that the person was shown; a yes covers
	// the calls up to it. For ByID it is what Cards.Shown in package broadcaster returned.
	// Otherwise it is the Upto of the version of the card that was answered, from the button's
	// data or from the screen. Zero means the first call alone. On a platform it counts no
	// further than what the platform confirmed to show.
	Shown int
	// Sent is when a message was sent that names no version of the card, by the platform's
	// clock, or otherwise when it arrived. It may be too early, never too late. If it is set,
	// Shown is ignored: a yes covers what the card had been showing for a moment by that time.
	// If it is zero on a platform, Shown counts. Buttons, screens and ByID leave it zero.
	Sent time.Time
}

// MaxUpto is the greatest number that a button carries. WithUpto lowers a greater one to it.
const MaxUpto = 999_999

// WithUpto appends [Card.Upto] to a button's data, in at most seven bytes. It appends nothing
// for zero: a button without a number is for the first call alone.
func WithUpto(data string, upto int) string {
	if upto <= 0 {
		return data
	}
	return data + "+" + strconv.Itoa(min(upto, MaxUpto))
}

// CutUpto removes what WithUpto appended. ok is false for a number that WithUpto does not
// write.
func CutUpto(data string) (rest string, upto int, ok bool) {
	rest, digits, found := strings.Cut(data, "+")
	if !found {
		return data, 0, true
	}
	upto, err := strconv.Atoi(digits)
	if err != nil || upto < 1 || upto > MaxUpto || strconv.Itoa(upto) != digits {
		return "", 0, false
	}
	return rest, upto, true
}

// ReplyFunc takes a reply and says what became of it. It returns when the
// outcome is known, at the latest when ctx ends. A nil ReplyFunc must be
// treated as one that refuses everything.
type ReplyFunc func(ctx context.Context, r Reply) Outcome

// An OutcomeKind classifies an outcome. The zero value is a refusal.
type OutcomeKind uint8

// The kinds.
const (
	OutcomeRefused  OutcomeKind = iota // not allowed, or broken
	OutcomeApproved                    // your yes stands and the call was released
	OutcomeDenied                      // your no stands
	OutcomeTooLate                     // someone else was first
	OutcomeExpired                     // nobody answered in time, or the agent went away
	OutcomeUnknown                     // no such code or request in this conversation
	OutcomeUsed                        // the code's request was already answered
	OutcomeLocked                      // too many wrong codes
	OutcomeNeedCode                    // this card takes the typed code only
	OutcomeRecorded                    // your yes is recorded; the agent has not taken it yet
	OutcomeShown                       // nothing was answered: here is what you wanted to see
)

// An Outcome is what a person is told of their own reply.
type Outcome struct {
	Kind OutcomeKind
	Text string // one or two sentences for that person, never a code
	// Details is what a person wanted to see, for OutcomeShown: lines of text, as safe as the texts of
	// a Card, and never with a code. It may be as long as a call.
	Details string
}

// A Taker is an extra ability of a channel on which not every request can be
// approved, such as a terminal that an agent could type into.
type Taker interface {
	// Takes reports whether a request of this severity can be approved here.
	Takes(s Severity) bool
}

// A Pager is an extra ability of a channel that only calls people to the other channels, as a paging service
// does. Nobody can answer there, so it is a [Taker] that takes nothing, what it sends never has a code, and
// a page is no card that people could have seen the request on.
type Pager interface {
	// Where says on which channels the card of a request is now. It comes before Run.
	Where(shown func(ctx context.Context, request string) []string)
}

// A Reminder is an extra ability of a channel that can draw people's attention to a card.
type Reminder interface {
	// Remind sends a text beside a card, as a reply to it if the platform has such a thing. It does not
	// change the card, and is not tried again. It returns the message.
	Remind(ctx context.Context, card Ref, text string) (Ref, error)
	// Unremind deletes a message of Remind. One that is gone already is no error.
	Unremind(ctx context.Context, reminder Ref) error
}

// A Commander is an extra ability of a channel whose commands are not /approve and /deny.
type Commander interface {
	// Commands are the names of the commands that approve and deny, as people type them.
	Commands() (approve, deny string)
}

// A Speaker is an extra ability of a channel that tells people something of its own, such as how to
// answer.
type Speaker interface {
	// Speak says in which language somebody is told something in a conversation. It comes before Run.
	Speak(of func(sender, conversation string) display.Texts)
}

// An Overhearer is an extra ability of a channel that hears more than the people and the conversations that
// count.
type Overhearer interface {
	// Overhear says whom to tell of a code that somebody sends who is not on the list, or where answers do
	// not count: Reply has the code, the sender and the conversation. The sender hears nothing of it. It
	// comes before Run.
	Overhear(tell func(context.Context, Reply))
}

// Solo is an extra ability of a channel whose platform gives every event to only one receiver,
// or to all of them. The channel receives under a lease of this name, so that only one of
// several replicas does. All of them may post. With an empty name there is no lease, and each replica
// receives: so does a channel to whose webhook the platform brings events.
type Solo interface {
	LeaseName() string
}

// Seated is a Solo of which several processes may receive at once: its platform gives each event to one of
// them, and bounds how many there are.
type Seated interface {
	Solo
	// Seats is how many processes may receive at once.
	Seats() int
}

// A Rememberer is an extra ability of a Solo channel: what it knows when it stops receiving, the process that
// receives next begins with.
type Rememberer interface {
	// Remember gives the channel its memory. It comes before Run.
	Remember(m Memory)
}

// A Memory is what the process that receives keeps for the next one, in the store. Nobody who reads the store
// can read it, and nobody who writes there can make it up.
type Memory interface {
	// Recall returns what was kept last, and how long ago. It returns nil if there is nothing that can be
	// read.
	Recall(ctx context.Context) (what []byte, age time.Duration, err error)
	// Keep replaces what is kept. After an ErrConflict, another process has kept something meanwhile; another
	// Keep replaces that too.
	Keep(ctx context.Context, what []byte) error
}

// LeaseTTL is how long a leader that vanished keeps others out.
const LeaseTTL = 3 * time.Second
