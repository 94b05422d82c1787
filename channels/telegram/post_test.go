package telegram

import (
	"context"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
)

func TestPostCutCommand(t *testing.T) {
	b := idle(t)
	card := highCard(t)
	card.Body = channeltest.Command(strings.Repeat("echo <&> @everyone 漢字\n", 5000))
	ref := b.post(card)
	if !ref.Partial {
		t.Error("the card is not called partial")
	}
	all := b.s.Messages(teamChat)
	if len(all) != 2 {
		t.Fatalf("%d messages, want card and file", len(all))
	}
	file := all[1]
	if file.File != card.Body[0].Text || file.FileName != "command.txt" || file.ReplyTo != all[0].ID || file.Protected ||
		!file.Silent {
		t.Errorf("the file %s has %d bytes, replies to %d, protected %v, silent %v", file.FileName, len(file.File),
			file.ReplyTo, file.Protected, file.Silent)
	}
	for _, e := range file.Entities {
		if e.Type != "code" {
			t.Errorf("the caption has a %s", e.Type)
		}
	}
}

func TestPostErrors(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*telegramtest.Server)
		to      approver.Destination
		want    string
	}{
		"unknown chat": {func(s *telegramtest.Server) { s.FailNext("sendMessage", failure400("chat not found")) },
			approver.Destination{}, "press Start"},
		"blocked": {func(s *telegramtest.Server) {
			s.FailNext("sendMessage",
				failure403("bot was blocked by the user"))
		}, approver.Destination{}, "has blocked the bot"},
		"kicked": {func(s *telegramtest.Server) { s.AddChat(telegramtest.Chat{ID: teamChat, Kicked: true}) },
			approver.Destination{}, "add the bot to the group again"},
		"no first word": {func(s *telegramtest.Server) {
			s.FailNext("sendMessage", failure403("bot can't initiate conversation with a user"))
		}, approver.Destination{}, "press Start first"},
		"migrated": {func(s *telegramtest.Server) { s.AddChat(telegramtest.Chat{ID: teamChat, MigratedTo: -100777}) },
			approver.Destination{}, "supergroup -100777"},
		"no topic": {func(s *telegramtest.Server) { s.AddChat(telegramtest.Chat{ID: teamChat}) },
			approver.Destination{Channel: Name, Conversation: text(teamChat) + "/7"}, "check the thread"},
		"not ours": {func(*telegramtest.Server) {}, approver.Destination{Channel: Name, Conversation: otherTxt},
			"not under chats"},
		"a name": {func(*telegramtest.Server) {}, approver.Destination{Channel: Name, Conversation: "@ops"},
			"not a chat id"},
		"odd topic": {func(*telegramtest.Server) {},
			approver.Destination{Channel: Name, Conversation: text(teamChat) + "/x"}, "positive number"},
		"other topic": {func(*telegramtest.Server) {},
			approver.Destination{Channel: Name, Conversation: text(teamChat) + "/8"}, "not under chats"},
		"a thread": {func(*telegramtest.Server) {},
			approver.Destination{Channel: Name, Conversation: text(teamChat), Thread: "7"},
			"it is " + text(teamChat) + "/7, without a thread"},
		"revoked":       {func(s *telegramtest.Server) { s.Break(fake.Revoked) }, approver.Destination{}, "not valid"},
		"no message id": {func(s *telegramtest.Server) { s.Break(fake.Malformed) }, approver.Destination{}, "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			b := idle(t)
			c.prepare(b.s)
			if c.to.Channel == "" {
				c.to = testConfig(b.s).Destinations()[0]
			}
			ref, err := b.c.Post(t.Context(), c.to, highCard(t))
			if err == nil || !strings.Contains(err.Error(), c.want) || ref != (approver.Ref{}) {
				t.Errorf("Post returned %+v and %v, want an error with %q", ref, err, c.want)
			}
		})
	}
}

func failure400(text string) telegramtest.APIError {
	return telegramtest.APIError{Code: 400, Description: "Bad Request: " + text}
}

func failure403(text string) telegramtest.APIError {
	return telegramtest.APIError{Code: 403, Description: "Forbidden: " + text}
}

func TestPostRefusesOddCards(t *testing.T) {
	b := idle(t)
	card := highCard(t)
	card.Request = "../../x"
	if _, err := b.c.Post(t.Context(), testConfig(b.s).Destinations()[0], card); err == nil {
		t.Error("a request id that no button can carry was posted")
	}
	if n := len(b.s.Messages(teamChat)); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}

func TestUpdate(t *testing.T) {
	b := idle(t)
	card := highCard(t)
	ref := b.post(card)
	if err := b.c.Update(t.Context(), ref, card); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	card.State, card.Result = approver.Expired, "⌛ Expired"
	b.s.FailNext("editMessageText",
		telegramtest.APIError{Code: 429, Description: "Too Many Requests: retry after 1", RetryAfter: 1})
	began := time.Now()
	if err := b.c.Update(t.Context(), ref, card); err != nil {
		t.Errorf("Update: %v", err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("the rate limit was obeyed for %v only", took)
	}
	m := b.message(ref)
	if m.Edits != 1 || len(m.Buttons) != 0 || !m.NoPreview || strings.Contains(m.Text, card.Code.Reveal()) {
		t.Errorf("the message is %+v", m)
	}
	card.Result = "⌛ Expired <b>&"
	b.s.FailNext("editMessageText", failure400("can't parse entities: Unclosed start tag at byte offset 1"))
	if err := b.c.Update(t.Context(), ref, card); err != nil {
		t.Errorf("Update without markup: %v", err)
	}
	if m := b.message(ref); m.Markup != "" || !strings.Contains(m.Text, "⌛ Expired <b>&\n") {
		t.Errorf("the message is %+v", m)
	}
}

func TestUpdateErrors(t *testing.T) {
	b := idle(t)
	card := highCard(t)
	for name, c := range map[string]struct {
		ref  approver.Ref
		want string
	}{
		"no message": {approver.Ref{Destination: approver.Destination{Conversation: text(teamChat)}}, "not a message id"},
		"odd message": {approver.Ref{Destination: approver.Destination{Conversation: text(teamChat)}, Message: "-5"},
			"not a message id"},
		"huge message": {approver.Ref{Destination: approver.Destination{Conversation: text(teamChat)},
			Message: "99999999999"}, "not a message id"},
		"odd chat": {approver.Ref{Destination: approver.Destination{Conversation: "@x"}, Message: "5"}, "not a chat id"},
		"a thread": {approver.Ref{Destination: approver.Destination{Conversation: text(teamChat), Thread: "7"},
			Message: "5"}, "without a thread"},
		"deleted": {approver.Ref{Destination: approver.Destination{Conversation: text(teamChat)}, Message: "5"},
			"message to edit not found"},
		"somebody else's": {func() approver.Ref {
			p := b.s.Payload(ann, teamChat, "hello")
			return approver.Ref{Destination: approver.Destination{Conversation: text(teamChat)},
				Message: text(int64(p["message_id"].(int)))}
		}(), "can't be edited"},
	} {
		if err := b.c.Update(t.Context(), c.ref, card); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Cards in chats that have left the configuration are still brought up to date.
func TestUpdateInAFormerChat(t *testing.T) {
	b := idle(t)
	card := highCard(t)
	ref := b.post(card)
	cfg := testConfig(b.s)
	cfg.Chats = cfg.Chats[1:2]
	card.State = approver.Withdrawn
	if err := newChannel(t, cfg).Update(t.Context(), ref, card); err != nil {
		t.Error(err)
	}
}

func TestRateLimit(t *testing.T) {
	b := idle(t)
	b.s.SetRate(1)
	b.post(highCard(t))
	began := time.Now()
	b.post(highCard(t))
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("the second card took %v, want the second that Telegram asked for", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := b.c.Post(ctx, testConfig(b.s).Destinations()[0], highCard(t))
	if err == nil || !strings.Contains(err.Error(), "rate limited") {
		t.Errorf("Post: %v, want the rate limit at once and not the end of the context", err)
	}
	b.s.SetRate(0)
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	began = time.Now()
	if _, err := b.c.Post(ctx, testConfig(b.s).Destinations()[0], highCard(t)); err == nil {
		t.Errorf("a canceled wait took %v: %v", time.Since(began), err)
	}
}

func TestPostWhileDownIsQuick(t *testing.T) {
	b := idle(t)
	b.s.Break(fake.Down)
	began := time.Now()
	if _, err := b.c.Post(t.Context(), testConfig(b.s).Destinations()[0], highCard(t)); err == nil {
		t.Error("Post succeeded")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
