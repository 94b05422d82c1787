package telegram

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// What Telegram says, and what it means. Both ways lead to it: the library's errors, and those of
// calls that are made by hand.
func TestKinds(t *testing.T) {
	c := newChannel(t, goodConfig())
	for _, row := range []struct {
		code  int
		words string
		want  calls.Kind
		named string
		cure  string
	}{
		{401, "Unauthorized", calls.Revoked, "", "@BotFather"},
		{404, "Not Found", calls.Revoked, "", "@BotFather"},
		{404, "Not Found: method not found", calls.Refused, "", ""},
		{403, "Forbidden: bot was blocked by the user", calls.Refused, "", "has blocked the bot"},
		{403, "Forbidden: bot was kicked from the supergroup chat", calls.Refused, "", "add the bot to the group"},
		{403, "Forbidden: bot is not a member of the channel chat", calls.Refused, "", "add the bot to the chat"},
		{403, "Forbidden: bot can't initiate conversation with a user", calls.Refused, "", "press Start"},
		{400, "Bad Request: chat not found", calls.Refused, "", "check the id under chats"},
		{400, "Bad Request: message thread not found", calls.Refused, "", "check the thread number"},
		{400, "Bad Request: TOPIC_CLOSED", calls.Refused, "", "open the topic"},
		{400, "Bad Request: not enough rights to send text messages", calls.Refused, "", "let the bot send"},
		{400, "Bad Request: message to edit not found", calls.Refused, "", ""},
		{400, "Bad Request: message is too long", calls.Refused, "", ""},
		{400, "Bad Request: query is too old and response timeout expired", calls.Refused, "", ""},
		{400, "Bad Request: can't parse entities: unsupported start tag", calls.Refused, unparsed, ""},
		{400, "Bad Request: message is not modified", calls.Refused, unchanged, ""},
		{409, "Conflict: terminated by other getUpdates request", calls.Transient, conflict, "another program polls"},
		{409, "Conflict: can't use getUpdates method while webhook is active", calls.Transient, webhook, "it is deleted"},
		{429, "Too Many Requests: retry after 7", calls.Limited, "", ""},
		{500, "Internal Server Error", calls.Transient, "", ""},
		{502, "Bad Gateway", calls.Transient, "", ""},
		{503, "Service Unavailable", calls.Transient, "", ""},
	} {
		a := result{Description: row.words, Code: row.code}
		a.Parameters.RetryAfter = 7
		err := c.fail("sendMessage", a.err())
		if calls.KindOf(err) != row.want || row.named != "" && !calls.Coded(err, row.named) ||
			!strings.Contains(err.Error(), row.cure) {
			t.Errorf("%d %s: %+v", row.code, row.words, err)
		}
		final := row.want == calls.Refused
		var p approver.Patience
		if errors.Is(err, approver.ErrFinal) != final || errors.As(err, &p) != (row.want == calls.Limited) {
			t.Errorf("%d %s means something else to the core", row.code, row.words)
		}
		if p != nil && p.RetryAfter() != 7*time.Second {
			t.Errorf("it is to wait %v", p.RetryAfter())
		}
	}
	moved := c.fail("sendMessage", &bot.MigrateError{MigrateToChatID: -100123})
	if calls.KindOf(moved) != calls.Refused || !strings.Contains(moved.Error(), "-100123: put that id under chats") {
		t.Error(moved)
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, errors.New("a cut connection")} {
		if got := c.fail("x", err); calls.KindOf(got) != calls.Transient || !calls.Unclear(got) {
			t.Errorf("%v: %+v", err, got)
		}
	}
	if err := c.fail("x", context.Canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
