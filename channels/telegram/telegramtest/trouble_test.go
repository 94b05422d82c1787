package telegramtest

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

func TestTrouble(t *testing.T) {
	s := newServer(t)
	send := func() (*http.Response, error) {
		return http.PostForm(s.URL()+"/bot"+s.Token()+"/sendMessage",
			url.Values{"chat_id": {fmt.Sprint(chat)}, "text": {"x"}})
	}
	s.Trouble("sendMessage", Trouble{}, Trouble{Page: 502}, Trouble{Cut: Before}, Trouble{Cut: After},
		Trouble{Answer: APIError{Code: 404, Description: "Not Found"}})
	for i, want := range []struct{ status, messages int }{{200, 1}, {502, 1}, {0, 1}, {0, 2}, {404, 2}, {200, 3}} {
		status := 0
		resp, err := send()
		if err == nil {
			status = resp.StatusCode
			_ = resp.Body.Close()
		}
		if n := len(s.Messages(chat)); status != want.status || n != want.messages {
			t.Errorf("call %d: status %d (%v) and %d messages, want %+v", i+1, status, err, n, want)
		}
	}
}

// While the service understands no markup, only texts with any are refused, new and edited.
func TestRefuseMarkup(t *testing.T) {
	s := newServer(t)
	team := fmt.Sprint(chat)
	for _, refuse := range []bool{true, false} {
		s.RefuseMarkup(refuse)
		if r := post(t, s, "sendMessage", "chat_id", team, "text", "x", "parse_mode", "HTML"); r.OK == refuse {
			t.Errorf("refuse %v: %+v", refuse, r)
		}
		if r := post(t, s, "sendMessage", "chat_id", team, "text", "<b>x"); !r.OK {
			t.Errorf("refuse %v: without markup: %+v", refuse, r)
		}
		id := fmt.Sprint(s.Messages(chat)[0].ID)
		if r := post(t, s, "editMessageText", "chat_id", team, "message_id", id, "text", fmt.Sprint("<i>", refuse, "</i>"),
			"parse_mode", "HTML"); r.OK == refuse {
			t.Errorf("refuse %v: an edit: %+v", refuse, r)
		}
	}
}

func TestIgnoreTimeout(t *testing.T) {
	s := newServer(t)
	s.IgnoreTimeout(true)
	if got := ids(t, s, "timeout", "50"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	s.Trouble("getUpdates", Trouble{Cut: Before})
	if _, err := http.PostForm(s.URL()+"/bot"+s.Token()+"/getUpdates", nil); err == nil {
		t.Error("the poll was not cut")
	}
}

func TestCopyButton(t *testing.T) {
	s := newServer(t)
	team := fmt.Sprint(chat)
	markup := func(copied string) string {
		return `{"inline_keyboard":[[{"text":"c","copy_text":{"text":"` + copied + `"}},{"text":"d","callback_data":"z"}]]}`
	}
	if r := post(t, s, "sendMessage", "chat_id", team, "text", "x", "reply_markup", markup("")); r.OK {
		t.Error("a button that copies nothing is taken")
	}
	post(t, s, "sendMessage", "chat_id", team, "text", "x", "reply_markup", markup("y"))
	got := s.Messages(chat)[0].Buttons[0]
	if got[0] != (Button{"c", "", "y"}) || got[1] != (Button{"d", "z", ""}) {
		t.Errorf("%+v", got)
	}
}
