// Package section has the types with which a section of the configuration describes what it
// configures, so that only the section's own package names a chat platform or a store.
package section

import (
	"errors"
	"fmt"
)

// A Platform has what the operator's commands need to know about a chat platform.
type Platform struct {
	// API is the setting with the address of the platform's server, and UsualAPI is its default.
	API      *string
	UsualAPI string
	// Receiver is the recipient of a pairing code, such as "Telegram bot".
	Receiver string
	// Token tells in one or two lines how to get a bot and its token.
	Token string
	// Heading is the comment over a section that pairing adds to the configuration.
	Heading string
	// Help is what a person sends to the bot to read what it can do; empty if there is nothing.
	Help string
	// Example is the part of an example of approver pair after the channel's name.
	Example string
	// Places is the setting that lists the conversations. Mapped says that its entries
	// have settings of their own; otherwise each is the id alone.
	Places string
	Mapped bool
	// First sets up a first chat with flags of approver init; nil if people only pair.
	First FirstChat
}

// A FirstChat has the flags of approver init that set up a chat on one platform. It is a pointer to
// a struct with kong tags.
type FirstChat interface {
	// Settings returns the platform's section of the configuration, with comments, as it is written
	// under channels. It is empty if no chat is named. person is the person who runs the command.
	Settings(person string) (string, error)
}

// A Receiving is how a channel gets answers. The zero value is the channel's own way: it keeps a
// connection to its platform, or polls it.
type Receiving string

// ByWebhook lets the platform bring answers over HTTP, to the listener that webhooks.listen names.
const ByWebhook Receiving = "webhook"

// Check says what is wrong with the setting receive of a channel whose own way is called usual.
func (r Receiving) Check(usual string) error {
	if r == "" || r == ByWebhook {
		return nil
	}
	return fmt.Errorf("receive: %q is not known: %s, or leave it out for %s", r, ByWebhook, usual)
}

// An Installation has what a channel may need to know about the daemon that opens it.
type Installation struct {
	// Isolated says that no agent can reach the resolve socket.
	Isolated bool
	// Alone says that no other channel is configured on which people could answer.
	Alone bool
	// Owner says that root of this machine may approve requests that nobody else can approve.
	Owner bool
	// Waits says that the configuration file has a setting of this channel that people have not
	// approved yet. The channel is opened without it.
	Waits bool
	// Webhooks is the address under which platforms reach the listener for webhooks, such as
	// https://approver.example.com; a channel adds a slash and its name. Empty if there is none.
	Webhooks string
}

// ErrReadableSecret refuses to receive by a webhook whose requests prove by a secret that they are the
// platform's, where agents can read the secret.
var ErrReadableSecret = errors.New("receive: webhook needs an isolated daemon: this one shares its user with agents, " +
	"who could read the secret and bring a yes of their own. Leave receive out, or isolate the daemon: docs/isolated.md")

// A Storage has what the daemon needs to know about a store.
type Storage struct {
	Title string // for people, such as "Redis"
	Part  string // in the daemon's log: the key of the section, or "store" for a store in a file
	Where string // the place of the store, for people
	// File is the file of a store in one file; otherwise empty.
	File string
	// Shared says that several daemons may use the store at once. Then KeyFile is the file with the
	// key that they share, and errors of the store begin with Title.
	Shared  bool
	KeyFile string
	// Durable says that the store never loses an acknowledged write.
	Durable bool
	// Paths are the settings that are paths, except for those of secrets.
	Paths []*string
}

// Unreadable is a record of a store that cannot be read.
type Unreadable struct {
	Key   string
	Cause error
}
