package telegram

import (
	"context"
	"strings"

	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/intent"
)

// What an approver is told whose message is no answer.
const (
	sayNeither = "That is neither yes nor no, so nothing was changed. Reply with yes or no alone, tap a button, or send " +
		"/approve or /deny with the code on the card. The agent is not told what you write."
	sayOver = "That message takes no answer. Nothing was changed."
	sayHelp = "This bot shows approver's questions as cards. On a card, tap a button, or reply yes or no; or send " +
		"/approve or /deny with the code on the card. It understands nothing else."
	sayNoReason = "The agent is not told what you wrote beside it."
)

// hint tells an approver what works here if their message was surely meant for this bot. It
// does so only once in a while.
func (l *listener) hint(ctx context.Context, who sender, m *models.Message, meant intent.Intent, onCard bool) {
	text := l.hintFor(who, m, meant, onCard)
	if text != "" && l.hinted.Begin(who.id, l.pace.hint) {
		l.say(ctx, who, m.ID, text)
	}
}

func (l *listener) hintFor(who sender, m *models.Message, meant intent.Intent, onCard bool) string {
	private := who.chat == who.id
	word, _, _ := strings.Cut(strings.TrimSpace(m.Text), " ")
	command, _, named := strings.Cut(strings.ToLower(word), "@") // for another bot: not here
	switch to := m.ReplyToMessage; {
	case onCard:
		return sayNeither
	case meant.Method == approver.ByPlain && to != nil && to.From != nil && to.From.ID == l.guard.bot:
		return sayOver
	case m.Text == "":
		return "" // for example a picture, or a notice that a message was pinned
	// In a group, a command without a bot's name may be for any bot, and talk is for people.
	case private, command == "/start", command == "/help", named && strings.HasPrefix(command, "/"):
		return sayHelp
	}
	return ""
}

// withReason adds to the outcome of a no that the words beside it are passed on to nobody.
func withReason(out approver.Outcome, text string) string {
	const codeAlone = 2 // "/deny CODE", "no CODE"
	if out.Kind == approver.OutcomeDenied && out.Text != "" && len(strings.Fields(text)) > codeAlone {
		return out.Text + " " + sayNoReason
	}
	return out.Text
}
