package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
)

const (
	user int64 = 5
	chat int64 = -1001
)

type reply struct {
	OK          bool            `json:"ok"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Result      json.RawMessage `json:"result"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

func newServer(t *testing.T) *Server {
	s := New()
	t.Cleanup(s.Close)
	s.AddUser(user, "U")
	s.AddChat(Chat{ID: chat, Topics: []int{3}})
	return s
}

// post calls a method with the pairs of names and values as a form.
func post(t *testing.T, s *Server, method string, pairs ...string) reply {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	resp, err := http.PostForm(s.URL()+"/bot"+s.Token()+"/"+method, form)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, resp)
}

func read(t *testing.T, resp *http.Response) reply {
	t.Helper()
	defer resp.Body.Close()
	var r reply
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		t.Fatal(err)
	}
	if !r.OK && r.Code != resp.StatusCode {
		t.Errorf("status %d, error code %d", resp.StatusCode, r.Code)
	}
	return r
}

func TestLimits(t *testing.T) {
	s := newServer(t)
	team := fmt.Sprint(chat)
	keyboard := func(data string) string {
		return `{"inline_keyboard":[[{"text":"x","callback_data":` + fmt.Sprintf("%q", data) + `}]]}`
	}
	for name, c := range map[string]struct {
		method string
		pairs  []string
		want   string // of the description; empty is success
	}{
		"longest text": {"sendMessage", []string{"chat_id", team, "text", strings.Repeat("🔥", 2048)}, ""},
		"too long": {"sendMessage", []string{"chat_id", team, "text", strings.Repeat("🔥", 2048) + "x"},
			"message is too long"},
		"length after HTML": {"sendMessage",
			[]string{"chat_id", team, "parse_mode", "HTML", "text", strings.Repeat("&amp;", 4096)}, ""},
		"empty":    {"sendMessage", []string{"chat_id", team, "text", " \n"}, "message text is empty"},
		"no UTF-8": {"sendMessage", []string{"chat_id", team, "text", "\xff"}, "must be encoded in UTF-8"},
		"markup mode": {"sendMessage", []string{"chat_id", team, "text", "x", "parse_mode", "latex"},
			"unsupported parse_mode"},
		"no chat":    {"sendMessage", []string{"chat_id", "1", "text", "x"}, "chat not found"},
		"no chat id": {"sendMessage", []string{"text", "x"}, "chat_id is empty"},
		"topic":      {"sendMessage", []string{"chat_id", team, "text", "x", "message_thread_id", "3"}, ""},
		"no topic": {"sendMessage", []string{"chat_id", team, "text", "x", "message_thread_id", "4"},
			"message thread not found"},
		"longest data": {"sendMessage",
			[]string{"chat_id", team, "text", "x", "reply_markup", keyboard(strings.Repeat("a", 64))}, ""},
		"data too long": {"sendMessage",
			[]string{"chat_id", team, "text", "x", "reply_markup", keyboard(strings.Repeat("a", 65))}, "BUTTON_DATA_INVALID"},
		"button empty": {"sendMessage", []string{"chat_id", team, "text", "x", "reply_markup", keyboard("")},
			"Text buttons are unallowed"},
		"markup null": {"sendMessage", []string{"chat_id", team, "text", "x", "reply_markup", "null"},
			"object expected"},
		"reply to nothing": {"sendMessage", []string{"chat_id", team, "text", "x", "reply_parameters", `{"message_id":1}`},
			"to be replied not found"},
		"reply anyway": {"sendMessage",
			[]string{"chat_id", team, "text", "x", "reply_parameters", `{"message_id":1,"allow_sending_without_reply":true}`},
			""},
		"edit nothing": {"editMessageText", []string{"chat_id", team, "message_id", "1", "text", "x"},
			"message to edit not found"},
		"no document":    {"sendDocument", []string{"chat_id", team}, "no document"},
		"unknown query":  {"answerCallbackQuery", []string{"callback_query_id", "1"}, "query is too old"},
		"unknown method": {"sendEverything", nil, "method not found"},
		"bad command": {"setMyCommands", []string{"commands", `[{"command":"Approve","description":"x"}]`},
			"BOT_COMMAND_INVALID"},
	} {
		if r := post(t, s, c.method, c.pairs...); r.OK != (c.want == "") || !strings.Contains(r.Description, c.want) {
			t.Errorf("%s: %+v, want %q", name, r, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	s := newServer(t)
	for path, want := range map[string]int{"/bot1:x/getMe": 401, "/botx/getMe": 404, "/getMe": 404, "/": 404} {
		resp, err := http.Post(s.URL()+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := read(t, resp); r.Code != want {
			t.Errorf("%s: %+v, want %d", path, r, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	s := newServer(t)
	address := s.URL() + "/bot" + s.Token() + "/sendMessage"
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("chat_id", fmt.Sprint(chat))
	_ = w.WriteField("text", "parts")
	_ = w.Close()
	for kind, body := range map[string]string{
		w.FormDataContentType(): form.String(),
		"application/json": fmt.Sprintf(`{"chat_id":%d,"text":"json","link_preview_options":{`+
			`"is_disabled":true}}`, chat),
		"application/x-www-form-urlencoded": fmt.Sprintf("chat_id=%d&text=form", chat),
	} {
		resp, err := http.Post(address, kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if r := read(t, resp); !r.OK {
			t.Errorf("%s: %+v", kind, r)
		}
	}
	if n := len(s.Messages(chat)); n != 3 {
		t.Errorf("%d messages", n)
	}
	resp, err := http.Post(s.URL()+"/bot"+s.Token()+"/getMe", w.FormDataContentType(), strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	if r := read(t, resp); !r.OK {
		t.Errorf("a call without any part: %+v", r)
	}
}

func TestEdits(t *testing.T) {
	s := newServer(t)
	team := fmt.Sprint(chat)
	var sent struct {
		ID int `json:"message_id"`
	}
	if err := json.Unmarshal(post(t, s, "sendMessage", "chat_id", team, "text", "x", "reply_markup",
		`{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}`).Result, &sent); err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprint(sent.ID)
	if r := post(t, s, "editMessageText", "chat_id", team, "message_id", id, "text", "x"); !r.OK {
		t.Errorf("taking the buttons away: %+v", r)
	}
	if r := post(t, s, "editMessageText", "chat_id", team, "message_id", id, "text", "x"); r.OK ||
		!strings.Contains(r.Description, "message is not modified") {
		t.Errorf("changing nothing: %+v", r)
	}
	p := s.Payload(user, chat, "mine")
	if r := post(t, s, "editMessageText", "chat_id", team, "message_id", fmt.Sprint(p["message_id"]), "text",
		"x"); !strings.Contains(r.Description, "can't be edited") {
		t.Errorf("changing a person's message: %+v", r)
	}
	if s.Delete(chat, id); len(s.Cards(team)) != 0 {
		t.Errorf("a deleted message is left: %v", s.Cards(team))
	}
}

// ids polls and returns the ids of the updates.
func ids(t *testing.T, s *Server, pairs ...string) []int64 {
	t.Helper()
	r := post(t, s, "getUpdates", pairs...)
	if !r.OK {
		t.Fatalf("%+v", r)
	}
	var list []struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(r.Result, &list); err != nil {
		t.Fatal(err)
	}
	out := make([]int64, len(list))
	for i, u := range list {
		out[i] = u.ID
	}
	return out
}

func TestOffsetConfirms(t *testing.T) {
	s := newServer(t)
	for range 3 {
		s.Type("5", fmt.Sprint(chat), "x")
	}
	all := ids(t, s)
	if len(all) != 3 || s.Pending() != 3 {
		t.Fatalf("got %v, %d pending", all, s.Pending())
	}
	if got := ids(t, s, "limit", "1", "offset", fmt.Sprint(all[1])); len(got) != 1 || got[0] != all[1] ||
		s.Pending() != 2 {
		t.Errorf("got %v, %d pending", got, s.Pending())
	}
	if got := ids(t, s, "offset", "-1"); len(got) != 1 || got[0] != all[2] {
		t.Errorf("the last one is %v", got)
	}
	if got := ids(t, s, "offset", fmt.Sprint(all[2]+1)); len(got) != 0 || s.Pending() != 0 {
		t.Errorf("after everything: %v, %d pending", got, s.Pending())
	}
	ids(t, s, "allowed_updates", `["callback_query"]`)
	s.Type("5", fmt.Sprint(chat), "x")
	if s.Pending() != 0 {
		t.Error("an update of a kind that is not allowed was queued")
	}
}

func TestOnePollAtATime(t *testing.T) {
	s := newServer(t)
	older := make(chan reply, 1)
	go func() { older <- post(t, s, "getUpdates", "timeout", "30") }()
	for !s.Polling() {
		time.Sleep(time.Millisecond)
	}
	if r := post(t, s, "getUpdates", "timeout", "0"); !r.OK {
		t.Errorf("the newer poll: %+v", r)
	}
	if r := <-older; r.Code != 409 || !strings.Contains(r.Description, "terminated by other getUpdates") {
		t.Errorf("the older poll: %+v", r)
	}
	s.SetWebhook("https://example.org")
	if r := post(t, s, "getUpdates"); r.Code != 409 || !strings.Contains(r.Description, "webhook is active") {
		t.Errorf("with a webhook: %+v", r)
	}
	if r := post(t, s, "deleteWebhook"); !r.OK || len(ids(t, s)) != 0 {
		t.Errorf("deleting it: %+v", r)
	}
}

func TestQueriesGrowOld(t *testing.T) {
	s := newServer(t)
	q := s.NewQuery(user)
	if r := post(t, s, "answerCallbackQuery", "callback_query_id", q, "text",
		strings.Repeat("x", 201)); !strings.Contains(r.Description, "MESSAGE_TOO_LONG") {
		t.Errorf("%+v", r)
	}
	if r := post(t, s, "answerCallbackQuery", "callback_query_id", q, "text", "hi"); !r.OK || len(s.Told("5")) != 1 {
		t.Errorf("%+v, told %q", r, s.Told("5"))
	}
	if r := post(t, s, "answerCallbackQuery", "callback_query_id", q); r.OK {
		t.Error("a query was answered twice")
	}
	q = s.NewQuery(user)
	s.SetQueryLife(0)
	if r := post(t, s, "answerCallbackQuery", "callback_query_id", q); r.OK {
		t.Error("an old query was answered")
	}
}

func TestRate(t *testing.T) {
	s := newServer(t)
	s.SetRate(2)
	for i := range 3 {
		r := post(t, s, "sendMessage", "chat_id", fmt.Sprint(chat), "text", "x")
		if r.OK != (i < 2) || !r.OK && (r.Code != 429 || r.Parameters.RetryAfter != 1) {
			t.Errorf("message %d: %+v", i, r)
		}
	}
}

func TestPrivacy(t *testing.T) {
	s := newServer(t)
	s.AddChat(Chat{ID: chat, Privacy: true})
	team := fmt.Sprint(chat)
	post(t, s, "sendMessage", "chat_id", team, "text", "card")
	s.Type("5", team, "talk")
	if s.Pending() != 0 {
		t.Error("the bot reads talk in spite of privacy mode")
	}
	s.Type("5", team, "/deny x")
	s.ReplyTo("5", team, s.Cards(team)[0].Message, "no")
	if s.Pending() != 2 {
		t.Errorf("%d updates, want the command and the reply", s.Pending())
	}
}

func TestFaults(t *testing.T) {
	s := newServer(t)
	address := s.URL() + "/bot" + s.Token() + "/getMe"
	get := func() (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		var b bytes.Buffer
		_, _ = b.ReadFrom(resp.Body)
		return resp.StatusCode, b.String()
	}
	for _, c := range []struct {
		fault  fake.Fault
		status int
		text   string
	}{
		{fake.Down, 0, "refused"},
		{fake.Hangs, 0, "deadline"},
		{fake.ServerError, 500, "<html>"},
		{fake.Malformed, 200, `{"ok":true,"result":{"mess`},
		{fake.Revoked, 401, "Unauthorized"},
		{fake.RateLimited, 429, `"retry_after":1`},
		{fake.Healthy, 200, BotName},
	} {
		s.Break(c.fault)
		if status, text := get(); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("fault %d: %d %s, want %d %s", c.fault, status, text, c.status, c.text)
		}
	}
	if e := s.Log(); len(e) == 0 || !strings.Contains(e[len(e)-1], "getMe 200") || s.Calls("getMe") == 0 {
		t.Errorf("the log is %v", e)
	}
}

func TestRead(t *testing.T) {
	for src, want := range map[string]string{
		"a &amp; &lt;b&gt; &#128293; &unknown; &":  "a & <b> 🔥 &unknown; & []",
		"<b>🔥x</b><i>y</i>":                        "🔥xy [{bold 0 3 } {italic 3 1 }]",
		"<pre>x <b>y</b></pre>":                    "x y [{pre 0 3 } {bold 2 1 }]",
		"<b></b>x":                                 "x []",
		`<a href="tg://user?id=5">x</a>`:           "x [{text_mention 0 1 5}]",
		`<a href="https://x.example">x</a>`:        "x [{text_link 0 1 https://x.example}]",
		`<tg-time unix="9" format="r">x</tg-time>`: "x [{date_time 0 1 9}]",
		`<tg-time unix="now">x</tg-time>`:          `Invalid date_time`,
		"hi @someone_x /cmd #tag https://x.example": "hi @someone_x /cmd #tag https://x.example [{mention 3 10 } " +
			"{bot_command 13 5 } {hashtag 19 4 } {url 24 17 }]",
		"<code>@someone_x /cmd #tag example.org</code>": "@someone_x /cmd #tag example.org [{code 0 32 }]",
		"a < b":          `can't parse entities: Unclosed start tag at byte offset 2`,
		"<script>x":      `Unsupported start tag "script" at byte offset 0`,
		"<b>x":           `Can't find end tag corresponding to start tag "b"`,
		"<b><i>x</b>":    `Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`,
		"x</b>":          `Unexpected end tag at byte offset 1`,
		"<b>x</b></b>":   `Unexpected end tag at byte offset 8`,
		"<!-- hello -->": `Unclosed start tag`,
	} {
		text, entities, err := Read(src)
		var shown []string
		for _, e := range entities {
			of := e.URL
			if e.User.ID+e.Unix > 0 {
				of = fmt.Sprint(e.User.ID + e.Unix)
			}
			shown = append(shown, fmt.Sprintf("{%s %d %d %s}", e.Type, e.Offset, e.Length, of))
		}
		got := fmt.Sprint(text, " ", shown)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s\n is %s\nwant %s", src, got, want)
		}
	}
}

// A card's buttons come with the words that stand on them.
func TestCardsHaveLabels(t *testing.T) {
	s := newServer(t)
	post(t, s, "sendMessage", "chat_id", fmt.Sprint(chat), "text", "x", "reply_markup",
		`{"inline_keyboard":[[{"text":"✅ Yes","callback_data":"a1:x:o"}],[{"text":"🔎 More","callback_data":"a1:x:i"}]]}`)
	card := s.Cards(fmt.Sprint(chat))[0]
	if !slices.Equal(card.Labels, []string{"✅ Yes", "🔎 More"}) ||
		!slices.Equal(card.Buttons, []fake.Button{fake.ApproveButton, fake.DetailsButton}) {
		t.Errorf("labels %q of buttons %v", card.Labels, card.Buttons)
	}
}
