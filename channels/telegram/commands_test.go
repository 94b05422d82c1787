package telegram

import (
	"slices"
	"strings"
	"testing"

	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
)

// Telegram's clients offer the commands in every chat that gets cards, in the language of whoever types.
func TestCommandsAreRegistered(t *testing.T) {
	b := running(t)
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	for _, chat := range []int64{teamChat, opsChat, ann} {
		b.eventually("the German commands", func() bool {
			got := b.s.Commands(chat, "de")
			return len(got) > 0 && got[0].Description == german.Text("Approve the request with this code")
		})
		for _, language := range []string{"de", "fr"} {
			var names, aside []string
			for _, c := range b.s.Commands(chat, language) {
				names = append(names, c.Name)
				if c.Aside {
					aside = append(aside, c.Name)
				}
			}
			if got := strings.Join(names, " "); got != "approve deny pending status grants freeze help" {
				t.Errorf("in %d the commands are %q", chat, got)
			}
			if got := strings.Join(aside, " "); chat > 0 && got != "" || chat < 0 && got != "pending status grants help" {
				t.Errorf("in %d others do not see %q", chat, got)
			}
		}
		if slices.Equal(b.s.Commands(chat, "de"), b.s.Commands(chat, "fr")) {
			t.Errorf("in %d the commands are not translated", chat)
		}
	}
	if got := b.s.Commands(-1005555555555, ""); len(got) != 0 {
		t.Errorf("a chat that gets no cards has %v", got)
	}
	if got := b.s.Calls("setMyCommands"); got != 6 {
		t.Errorf("%d calls", got)
	}
}

// A chat that the bot has left keeps no other chat from its commands, nor anybody from being heard.
func TestCommandsOfALostChat(t *testing.T) {
	b := idle(t)
	refuse := telegramtest.Trouble{Answer: failure400("chat not found")}
	b.s.Trouble("setMyCommands", refuse)
	b.run()
	b.eventually("the last chat", func() bool { return len(b.s.Commands(ann, "")) > 0 })
	if got := b.s.Calls("setMyCommands"); got > 5 {
		t.Errorf("%d calls", got)
	}
	b.nothing()
	if n := strings.Count(b.logs.String(), "could not be registered"); n != 1 {
		t.Errorf("%d lines in\n%s", n, b.logs)
	}
}
