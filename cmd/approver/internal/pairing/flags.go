package pairing

import (
	"time"

	"approver.example/cmd/approver/internal/term"
)

const pairHelp = `Prints a code that works once. The person sends it from the place that is to get cards. You see who it was, and say whether they may approve; then person and place are added to the configuration, whose comments stay, and count from the daemon's next start.
The daemon may run or not. Whoever is added after the first approver needs the yes of those who are, in their chats, as a CATASTROPHIC request; an isolated daemon takes the operator's word.
` + term.ExitCodes

// flags are what the platforms have in common.
type flags struct {
	Config  string        `help:"Configuration file, which init has written." short:"c" placeholder:"FILE"`
	Person  string        `help:"Whom the account belongs to, where they have others: votes and lock-outs count per person." placeholder:"ID"`
	APIURL  string        `help:"The platform's server, for a proxy or one of your own." name:"api-url" placeholder:"URL"`
	Timeout time.Duration `help:"How long to wait for the code." default:"5m"`
}
