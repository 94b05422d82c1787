package telegram

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// A command is one that Telegram's clients offer while somebody types. Those that only show something
// are seen by nobody else, where Telegram can.
type command struct {
	Name        string `json:"command"`
	Description string `json:"description"`
	Aside       bool   `json:"is_ephemeral,omitempty"`
}

// commands are those of the bot, described in a language.
func commands(t display.Texts) []command {
	return []command{
		{"approve", t.Text("Approve the request with this code"), false},
		{"deny", t.Text("Deny the request with this code, and say why"), false},
		{"pending", t.Text("What waits for an answer"), true},
		{"status", t.Text("How approver is"), true},
		{"grants", t.Text("What runs without asking"), true},
		{"freeze", t.Text("Stop everything until people lift it"), false},
		{"help", t.Text("What you can do here"), true},
	}
}

// register tells Telegram the commands of the chats that get cards, in each language that approver
// speaks. They work without that too.
func (l *listener) register(ctx context.Context) {
	var chats []int64
	for at := range l.guard.places {
		chats = append(chats, at.chat)
	}
	slices.Sort(chats)
	for _, chat := range slices.Compact(chats) {
		for _, language := range display.Languages() {
			t, err := display.In(language.Tag)
			if err == nil {
				err = l.registerIn(ctx, chat, t)
			}
			if err != nil {
				if ctx.Err() == nil {
					l.log.Warn("the commands of a chat could not be registered; they work all the same", "chat", chat, "error", err)
				}
				break // the next language would meet the same
			}
		}
	}
}

// registerIn registers the commands of a chat for the people who use Telegram in a language. Those in
// English are for everybody else.
func (l *listener) registerIn(ctx context.Context, chat int64, t display.Texts) error {
	all, english := commands(t), commands(display.Texts{})
	code, _, _ := strings.Cut(t.Language(), "-")
	if translated := t.Language() != "en"; translated && (slices.Equal(all, english) || len(code) != 2) {
		return nil // Telegram names a language by two letters
	} else if !translated {
		code = ""
	}
	if chat > 0 { // nobody else is there
		for i := range all {
			all[i].Aside = false
		}
	}
	list, err := json.Marshal(all)
	if err != nil {
		return err
	}
	scope, err := json.Marshal(map[string]any{"type": "chat", "chat_id": chat})
	if err != nil {
		return err
	}
	form := url.Values{"commands": {string(list)}, "scope": {string(scope)}, "language_code": {code}}
	return l.call(ctx, 0, "setMyCommands", func(ctx context.Context) error {
		_, err := l.raw(ctx, "setMyCommands", form, cards.File{})
		return err
	})
}
