// Package channeltest is the conformance suite that every channel passes
// against a fake of its platform, a [fake.Platform].
package channeltest

import (
	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// A Fixture is one channel with its fake, for one test.
type Fixture struct {
	Channel approver.Channel
	Fake    fake.Platform
	// Here is the destination under test, There another one that the same bot
	// may use; There is zero where the channel has one conversation only.
	Here, There approver.Destination
	// Approver and Second are stable ids on the approver list; Stranger is a
	// member of both conversations who is not.
	Approver, Second, Stranger string
	// CodeByMessage reports whether a code typed as an ordinary message
	// approves on this channel (else only its dialog or command does).
	CodeByMessage bool
	// Reasons reports whether a no as a reply to the card may have a reason.
	Reasons bool
	// Reads is the text that the channel shows as this one, where it has a mark for what its platform would
	// change, such as a tab. Where it is nil, texts are shown as they are.
	Reads func(shown string) string
	// Press is the method of what stands for a button; zero: [approver.ByTap].
	Press approver.Method
	// FatalRevoked reports whether Run must end when the token is revoked.
	FatalRevoked bool
	// Gone removes the bot from a conversation, or the conversation itself, and
	// Delete a message, as the platform's users can. Where one is nil, what the
	// channel makes of that is not checked.
	Gone   func(conversation string)
	Delete func(conversation, message string)
	// Secrets are the channel's tokens, which no error may show.
	Secrets []string
}
