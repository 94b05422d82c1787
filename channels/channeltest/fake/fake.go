// Package fake says what a fake chat platform can do, for tests and for the
// demo. Each channel's <name>test package implements [Platform].
package fake

import "fmt"

// A Platform is a chat platform as its users see it: a server of our own that speaks
// the real protocol on loopback, holds state and enforces the limits. All
// methods are safe for concurrent use. Each act returns once the event is on
// its way to the channel; what comes of it shows in Cards and Told.
type Platform interface {
	// Cards returns every message that the bot has posted in a conversation and
	// not deleted, oldest first, as the people there see it now.
	Cards(conversation string) []Shown

	// Tap presses a button on a message as user. It fails only if the message
	// has no such button: an honest client cannot press what is not there.
	Tap(user, conversation, message string, button Button) error
	// Forge sends the event of a button press for a request that the message
	// need not offer, the way a modified client would where the platform lets
	// it, with the button data that the bot's own cards use. It returns false
	// where the platform makes that impossible.
	Forge(user, conversation, message, request string, button Button) bool
	// Type enters a text as user. Where the platform has registered commands,
	// "/approve X" and "/deny X" are such a command, as in its own client.
	Type(user, conversation, text string)
	// ReplyTo sends a text message as the platform's reply to a message. It
	// returns false where the platform, or the channel by its rules, has no
	// such thing.
	ReplyTo(user, conversation, message, text string) bool
	// EnterCode opens the card's code dialog, if the platform has one, and
	// submits text; else it types the text as a reply to the card.
	EnterCode(user, conversation, message, text string) error

	// Told returns what the bot has told user alone: toasts, ephemeral
	// messages, dialog errors, and direct replies to their messages.
	Told(user string) []string

	// Break makes the platform misbehave from now on.
	Break(Fault)
}

// A Filler is a platform with buttons that ask for a text.
type Filler interface {
	// Fill presses such a button and enters the text: in the dialog that opens, or as the reply to the
	// question that the bot asks. Whom the bot refuses that enters nothing, without an error.
	Fill(user, conversation, message string, button Button, text string) error
}

// A Button is one of a card's controls. The zero value is none.
type Button uint8

// The buttons.
const (
	NoButton Button = iota
	ApproveButton
	DenyButton
	CodeButton    // opens the code dialog, where the platform has one
	DetailsButton // shows the whole command
	QuarterButton // approves for a quarter of an hour
	SessionButton // approves for the session
	WhyButton     // asks for the reason of a no
	TimeButton    // asks for more time
	DisownButton  // says that nobody asked for this
	EditButton    // asks for the changed command

	firstChoice Button = 100
)

// ChoiceButton is the button of a choice, by its number.
func ChoiceButton(number int) Button { return firstChoice + Button(number-1) } //nolint:gosec // a few

// ChoiceLabeled is the button whose label has the number of a choice: "✅ 2 · …". It is NoButton for any
// other label.
func ChoiceLabeled(label string) Button {
	var number int
	if n, _ := fmt.Sscanf(label, "✅ %d · ", &number); n != 1 {
		return NoButton
	}
	return ChoiceButton(number)
}

// Shown is one message as a person sees it.
type Shown struct {
	Message string   // the platform's id, equal to Ref.Message
	Push    string   // what the notification says
	Text    string   // all visible text of the message, the push line included
	Files   []string // contents of attached files
	Buttons []Button
	Labels  []string // what stands on each of Buttons
}

// A Fault is a way in which a platform misbehaves.
type Fault uint8

// The faults. Healthy ends all of them.
const (
	Healthy     Fault = iota
	Down              // refuses connections
	Hangs             // accepts and never answers
	ServerError       // answers 500 with HTML
	RateLimited       // answers 429 with a retry time of one second, then recovers
	Malformed         // answers 200 with cut-off JSON
	Revoked           // answers that the token is no longer valid
)
