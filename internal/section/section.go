// Package section has the words in which a section of the configuration says what it
// configures, so that nothing but the section's own package names a chat platform or a store.
package section

// A Platform is what the operator's commands need to know of a chat platform.
type Platform struct {
	// API is the setting with the address of the platform's server, and UsualAPI is what
	// it means while it is empty.
	API      *string
	UsualAPI string
	// Receiver is what a pairing code is sent to, such as "Telegram bot".
	Receiver string
	// How tells the person what to do with the code, whose place is %s.
	How string
	// Link is what precedes the bot's name in an address of it; empty if it has none.
	Link string
	// Example is a command line of approver pair, behind the channel's name.
	Example string
	// Places is the setting that lists the conversations. Mapped says that its entries
	// have settings of their own; otherwise each is the id alone.
	Places string
	Mapped bool
	// First sets up a first chat with flags of approver init; nil where people only pair.
	First FirstChat
}

// A FirstChat is the flags of approver init that set up a chat on one platform: a pointer to a
// struct with the tags of kong.
type FirstChat interface {
	// Settings returns the platform's section of the configuration, as it stands below
	// channels, with comments; empty if no chat is named. person is who runs the command.
	Settings(person string) (string, error)
}

// An Installation is what a channel may need to know of the daemon that opens it.
type Installation struct {
	// Isolated says that no agent can reach the resolve socket.
	Isolated bool
	// Alone says that no other channel is configured.
	Alone bool
	// Owner says that root of this machine may approve what nobody else can.
	Owner bool
	// Waits says that the file has a setting of this channel that people have not
	// approved yet, so that the channel is opened without it.
	Waits bool
}

// A Storage is what the daemon needs to know of a store.
type Storage struct {
	Title string // for people, such as "Redis"
	Part  string // of the daemon's log: the key of the section, or "store" for one in a file
	Where string // the store, for people
	// File is the store's one file; empty if it is none.
	File string
	// Shared says that several daemons may use the store at once. Then KeyFile holds the
	// key that is the same for all of them, and Title begins the errors of the store.
	Shared  bool
	KeyFile string
	// Durable says that the store never loses what it has acknowledged.
	Durable bool
	// Paths are the settings that are paths, except for those of secrets.
	Paths []*string
}
