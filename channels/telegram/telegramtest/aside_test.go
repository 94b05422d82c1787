package telegramtest

import (
	"fmt"
	"strings"
	"testing"
)

const other int64 = 43

func markup(placeholder string) string {
	return `{"force_reply":true,"selective":true,"input_field_placeholder":"` + placeholder + `"}`
}

// The field for a reply opens for the people whom the message names, and the one whom it answers.
func TestForceReply(t *testing.T) {
	s := newServer(t)
	s.AddUser(other, "O")
	for _, text := range []string{fmt.Sprintf(`<a href="tg://user?id=%d">U</a>, why?`, user), "why?"} {
		r := post(t, s, "sendMessage", "chat_id", fmt.Sprint(chat), "text", text, "parse_mode", "HTML", "reply_markup",
			markup(strings.Repeat("x", 64)))
		if !r.OK {
			t.Fatalf("%+v", r)
		}
	}
	if mine, theirs := s.AskedToReply(fmt.Sprint(user), chat), s.AskedToReply(fmt.Sprint(other), chat); len(mine) != 1 ||
		len(theirs) != 0 {
		t.Errorf("asked %d and %d", len(mine), len(theirs))
	}
	for name, pairs := range map[string][]string{
		"sendMessage":     {"text", "x", "reply_markup", markup(strings.Repeat("x", 65))},
		"editMessageText": {"text", "y", "message_id", "101", "reply_markup", markup("x")},
	} {
		if r := post(t, s, name, append(pairs, "chat_id", fmt.Sprint(chat))...); r.OK {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// One person alone sees a message right after a tap, in answer to a message that only the bot saw, or
// from an administrator.
func TestAside(t *testing.T) {
	s := newServer(t)
	s.AddUser(other, "O")
	send := func(receiver, reply string) string {
		pairs := []string{"chat_id", fmt.Sprint(chat), "text", "x", "ephemeral_message_parameters", receiver}
		if reply != "" {
			pairs = append(pairs, "reply_parameters", reply)
		}
		return post(t, s, "sendMessage", pairs...).Description
	}
	query := s.NewQuery(user)
	receiver := fmt.Sprintf(`{"receiver_user_id":%d,"callback_query_id":"%s"}`, user, query)
	plain := fmt.Sprintf(`{"receiver_user_id":%d}`, user)
	if got := send(receiver, ""); got != "" {
		t.Errorf("after a tap: %s", got)
	}
	if got := send(plain, ""); !strings.Contains(got, "CHAT_ADMIN_REQUIRED") {
		t.Errorf("out of the blue: %q", got)
	}
	theirs := strings.Replace(receiver, fmt.Sprint(user), fmt.Sprint(other), 1)
	if got := send(theirs, ""); !strings.Contains(got, "CHAT_ADMIN_REQUIRED") {
		t.Errorf("to another person: %q", got)
	}
	s.TypeAside(fmt.Sprint(user), fmt.Sprint(chat), "/help")
	if got := send(plain, fmt.Sprintf(`{"ephemeral_message_id":%d}`, s.lastID)); got != "" {
		t.Errorf("in answer: %s", got)
	}
	s.AddChat(Chat{ID: chat, Admin: true})
	if got := send(plain, ""); got != "" {
		t.Errorf("as an administrator: %s", got)
	}
	if n, shown := len(s.Whispers(fmt.Sprint(user))), len(s.Cards(fmt.Sprint(chat))); n != 3 || shown != 0 {
		t.Errorf("%d messages for the person, %d for everybody", n, shown)
	}
	s.SetOld(true)
	if got := send(plain, ""); got != "" || len(s.Cards(fmt.Sprint(chat))) != 1 {
		t.Errorf("an old server: %q", got)
	}
}

func TestCommands(t *testing.T) {
	s := newServer(t)
	set := func(name, scope, language string) string {
		return post(t, s, "setMyCommands", "commands", `[{"command":"`+name+`","description":"d","is_ephemeral":true}]`,
			"scope", scope, "language_code", language).Description
	}
	here := fmt.Sprintf(`{"type":"chat","chat_id":%d}`, chat)
	for _, c := range []struct{ name, scope, language, want string }{
		{"all", "", "", ""}, {"here", here, "", ""}, {"hier", here, "de", ""},
		{"x", here, "deu", "language code"}, {"x", `{"type":"chat","chat_id":5}`, "", "chat not found"},
		{"x", `{"type":"galaxy"}`, "", "unsupported type"}, {"X", here, "", "BOT_COMMAND_INVALID"},
	} {
		if got := set(c.name, c.scope, c.language); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for _, c := range []struct {
		chat           int64
		language, want string
	}{{chat, "de", "hier"}, {chat, "fr", "here"}, {5, "de", "all"}} {
		if got := s.Commands(c.chat, c.language); len(got) != 1 || got[0].Name != c.want || !got[0].Aside {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A tap is answered in passing, or with an alert.
func TestToasts(t *testing.T) {
	s := newServer(t)
	for _, alert := range []string{"false", "true"} {
		post(t, s, "answerCallbackQuery", "callback_query_id", s.NewQuery(user), "text", "t", "show_alert", alert)
	}
	if got := s.Toasts(fmt.Sprint(user)); len(got) != 2 || got[0].Alert || !got[1].Alert {
		t.Errorf("%+v", got)
	}
}

// A button copies at most 256 characters.
func TestCopyLimit(t *testing.T) {
	s := newServer(t)
	for n, want := range map[int]bool{256: true, 257: false} {
		r := post(t, s, "sendMessage", "chat_id", fmt.Sprint(chat), "text", "x", "reply_markup",
			`{"inline_keyboard":[[{"text":"c","copy_text":{"text":"`+strings.Repeat("é", n)+`"}}]]}`)
		if r.OK != want {
			t.Errorf("%d characters: %+v", n, r)
		}
	}
}
