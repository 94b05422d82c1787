package telegramtest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A chat takes a burst and then one message a second; an edit is one too, and another chat does not wait. The wait that
// is asked for is enough.
func TestLimitOfAChat(t *testing.T) {
	s := newServer(t)
	s.AddChat(Chat{ID: user})
	s.SetLimits(Limits{Burst: 2})
	team, wait, sent := fmt.Sprint(chat), 0, 0
	for i := range 6 {
		r := post(t, s, "sendMessage", "chat_id", team, "text", fmt.Sprint(i))
		if r.OK {
			sent++
			continue
		}
		if wait = r.Parameters.RetryAfter; r.Code != 429 || wait != 1 ||
			!strings.Contains(r.Description, "Too Many Requests: retry after 1") {
			t.Errorf("message %d: %+v", i, r)
		}
	}
	if wait == 0 || sent < 2 {
		t.Fatalf("%d of 6 messages were taken", sent)
	}
	if r := post(t, s, "sendMessage", "chat_id", fmt.Sprint(user), "text", "x"); !r.OK {
		t.Errorf("another chat: %+v", r)
	}
	time.Sleep(time.Duration(wait) * time.Second)
	id := fmt.Sprint(s.Messages(chat)[0].ID)
	edit := func(text string) reply {
		return post(t, s, "editMessageText", "chat_id", team, "message_id", id, "text", text)
	}
	if r := edit("a"); !r.OK {
		t.Errorf("after the wait: %+v", r)
	}
	if first, second := edit("b"), edit("c"); first.OK && second.OK {
		t.Error("edits have no limit")
	}
}

// A group takes some in a minute, a private chat any number.
func TestLimitOfAGroup(t *testing.T) {
	s := newServer(t)
	s.AddChat(Chat{ID: user})
	s.SetLimits(Limits{Group: 3})
	for i := range 4 {
		r := post(t, s, "sendMessage", "chat_id", fmt.Sprint(chat), "text", "x")
		if r.OK != (i < 3) || i == 3 && (r.Parameters.RetryAfter < 30 || r.Parameters.RetryAfter > 60) {
			t.Errorf("message %d: %+v", i, r)
		}
		if r := post(t, s, "sendMessage", "chat_id", fmt.Sprint(user), "text", "x"); !r.OK {
			t.Errorf("in private: %+v", r)
		}
	}
	s.SetLimits(Limits{})
	if r := post(t, s, "sendMessage", "chat_id", fmt.Sprint(chat), "text", "x"); !r.OK {
		t.Errorf("without limits: %+v", r)
	}
}
