package approver

import (
	"context"

	"approver.example/tokens"
)

// This file holds what channels offer to the command pair, which makes somebody an approver.

// A Paired is who sent a pairing code, and where. The platform vouches for the ids; the rest is
// claimed.
type Paired struct {
	ID     string `json:"id"`               // of the person
	Name   string `json:"name,omitempty"`   // what they call themselves
	Chat   string `json:"chat"`             // of the conversation
	Title  string `json:"title,omitempty"`  // what it is called
	Thread int    `json:"thread,omitempty"` // the topic, if there is one
}

// A Pairer is an extra ability of a channel: to find out who somebody is.
type Pairer interface {
	Channel
	// Introduce asks the platform who the bot is, and says how a person finds it and sends it
	// code. It needs no Run. An error is a [TokenError] if the platform refuses the token;
	// otherwise the platform could not be reached, or did not answer as it should.
	Introduce(ctx context.Context, code tokens.Code) (Introduction, error)
	// Pair waits, while Run receives, until a person sends code to the bot, and returns who it
	// was and where. They need not be on the approver list, and pairing does not put them
	// there. It is an error if another pairing is going on, or if ctx ends first.
	Pair(ctx context.Context, code tokens.Code) (Paired, error)
	// Passed counts what people sent in the meantime that was not the code.
	Passed() Passed
	// Tell says something to somebody who has sent the code, in the conversation where they
	// sent it. It needs no Run.
	Tell(ctx context.Context, who Paired, text string) error
}

// Passed is what people sent to a bot while it waited for a pairing code.
type Passed struct {
	Messages int `json:"messages"` // without any code
	Codes    int `json:"codes"`    // with another code
	// Others are connections of other programs that receive for the same bot, each of which may get
	// the code instead, where the platform says so.
	Others int `json:"others,omitempty"`
}

// An Introduction is what a person needs to find a bot and to send it a code.
type Introduction struct {
	Name string // what people see the bot as, such as "@acme_bot"
	// Steps say what to do, one on each line, in the order of doing.
	Steps []Step
}

// A Step is one thing to do. The first link of an introduction is the one to scan.
type Step struct{ Text, Link string }

// A TokenError is the error of a platform that was reached, and does not accept the token.
type TokenError struct{ Cause error }

// Error returns the text of the cause.
func (e TokenError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e TokenError) Unwrap() error { return e.Cause }
