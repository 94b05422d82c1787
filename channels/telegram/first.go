package telegram

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// firstChat holds the flags of approver init that set up a chat on Telegram.
type firstChat struct {
	TokenFile string   `name:"telegram-token-file" help:"File with the bot's token from @BotFather; also env:NAME or credential:NAME." placeholder:"FILE"`
	Chat      []string `name:"telegram-chat" help:"Chat that gets cards, by number; again for more. approver pair telegram finds it too." placeholder:"ID"`
	Approver  []string `name:"telegram-approver" help:"Who may answer in Telegram, by user id; left out, the people whose private chats are named." placeholder:"ID"`
}

// Settings implements [section.FirstChat].
func (f *firstChat) Settings(person string) (string, error) {
	if (f.TokenFile == "") != (len(f.Chat) == 0) {
		return "", errors.New("--telegram-token-file and --telegram-chat belong together")
	}
	if f.TokenFile == "" {
		return "", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
  # The bot that @BotFather made. Its token lies in a file of mode 0600.
  telegram:
    token_file: %s
    # Who gets cards.
    chats:
`, strconv.Quote(f.TokenFile))
	people := f.Approver
	for _, id := range f.Chat {
		fmt.Fprintf(&b, "      - id: %s\n", strconv.Quote(id))
		if len(f.Approver) == 0 && !strings.HasPrefix(id, "-") {
			people = append(people, id) // the id of a private chat is the person's own
		}
	}
	b.WriteString("    # Who may answer, by user id.\n    approvers:")
	if len(people) == 0 {
		b.WriteString(" []")
	}
	for i, id := range people {
		fmt.Fprintf(&b, "\n      - id: %s", strconv.Quote(id))
		if i == 0 {
			fmt.Fprintf(&b, "\n        name: %s\n        person: %[1]s", strconv.Quote(person))
		}
	}
	b.WriteString("\n")
	return b.String(), nil
}
