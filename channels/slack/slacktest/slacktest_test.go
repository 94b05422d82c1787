package slacktest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack/slacktest"
)

const (
	room = "C0HERE1234"
	ann  = "U0ANN12345"
)

func serve(t *testing.T, opts slacktest.Options) *slacktest.Server {
	t.Helper()
	s := slacktest.New(opts)
	t.Cleanup(s.Close)
	s.AddUser(slacktest.User{ID: ann, Name: "ann"})
	s.AddConversation(slacktest.Conversation{ID: room})
	return s
}

func call(t *testing.T, s *slacktest.Server, method, token string, args ...string) map[string]any {
	t.Helper()
	form := url.Values{"token": {token}}
	for i := 0; i < len(args); i += 2 {
		form.Set(args[i], args[i+1])
	}
	resp, err := http.PostForm(s.URL()+method, form)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{"status": resp.StatusCode, "retry": resp.Header.Get("Retry-After")}
	if err := json.Unmarshal(b, &out); err != nil {
		out["body"] = string(b)
	}
	return out
}

func TestErrorsOfMethods(t *testing.T) {
	s := serve(t, slacktest.Options{})
	s.AddConversation(slacktest.Conversation{ID: "C0OLD12345", Archived: true})
	s.AddConversation(slacktest.Conversation{ID: "G0PRIVATE1", NotMember: true})
	s.AddConversation(slacktest.Conversation{ID: "C0PUBLIC12", NotMember: true})
	s.MessagePayload(ann, room, "", "hello")
	theirs := s.Messages(room)[0].TS
	bot := slacktest.BotToken
	for _, c := range []struct {
		name, method, token, want string
		args                      []string
	}{
		{"ok", "auth.test", bot, "", nil},
		{"no token", "auth.test", "", "not_authed", nil},
		{"wrong token", "auth.test", "xoxb-x", "invalid_auth", nil},
		{"app token for a bot's method", "auth.test", slacktest.AppToken, "not_allowed_token_type", nil},
		{"bot token for the app's method", "apps.connections.open", bot, "not_allowed_token_type", nil},
		{"unknown method", "chat.postMassage", bot, "unknown_method", nil},
		{"no text", "chat.postMessage", bot, "no_text", []string{"channel", room}},
		{"no such channel", "chat.postMessage", bot, "channel_not_found", []string{"channel", "C0NONE1234", "text", "x"}},
		{"private channel without the bot", "chat.postMessage", bot, "channel_not_found",
			[]string{"channel", "G0PRIVATE1", "text", "x"}},
		{"public channel without the bot", "chat.postMessage", bot, "not_in_channel",
			[]string{"channel", "C0PUBLIC12", "text", "x"}},
		{"archived", "chat.postMessage", bot, "is_archived", []string{"channel", "C0OLD12345", "text", "x"}},
		{"no such thread", "chat.postMessage", bot, "thread_not_found",
			[]string{"channel", room, "text", "x", "thread_ts", "1.1"}},
		{"endless text", "chat.postMessage", bot, "msg_too_long",
			[]string{"channel", room, "text", strings.Repeat("x", 40001)}},
		{"bad blocks", "chat.postMessage", bot, "invalid_blocks",
			[]string{"channel", room, "text", "x", "blocks", `[{"type":"section"}]`}},
		{"no blocks at all", "chat.postMessage", bot, "invalid_blocks_format",
			[]string{"channel", room, "text", "x", "blocks", `{`}},
		{"update of nothing", "chat.update", bot, "message_not_found", []string{"channel", room, "ts", "1.1", "text", "x"}},
		{"update of a person's message", "chat.update", bot, "cant_update_message",
			[]string{"channel", room, "ts", theirs, "text", "x"}},
		{"deletion of a person's message", "chat.delete", bot, "cant_delete_message",
			[]string{"channel", room, "ts", theirs}},
		{"whisper to nobody", "chat.postEphemeral", bot, "user_not_in_channel",
			[]string{"channel", room, "user", "U0NOBODY12", "text", "x"}},
		{"dialog without trigger", "views.open", bot, "invalid_trigger_id", []string{"trigger_id", "1"}},
		{"empty file", "files.getUploadURLExternal", bot, "invalid_arguments", []string{"filename", "a", "length", "0"}},
		{"unknown file", "files.completeUploadExternal", bot, "file_not_found",
			[]string{"channel_id", room, "files", `[{"id":"F1"}]`}},
		{"replies to nothing", "conversations.replies", bot, "thread_not_found", []string{"channel", room, "ts", "1.1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := call(t, s, c.method, c.token, c.args...)
			if code, _ := got["error"].(string); code != c.want || got["ok"] != (c.want == "") {
				t.Errorf("answered %v, want %q", got, c.want)
			}
		})
	}
}

func TestCheckBlocks(t *testing.T) {
	section := func(n int) string {
		return `{"type":"section","text":{"type":"plain_text","text":"` + strings.Repeat("é", n) + `"}}`
	}
	pre := func(n int) string {
		return `{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"text","text":"` +
			strings.Repeat("x", n) + `"}]}]}`
	}
	button := func(label, id, value, more string) string {
		return `{"type":"button","text":{"type":"plain_text","text":"` + label + `"},"action_id":"` + id + `","value":"` +
			value + `"` + more + `}`
	}
	row := func(buttons ...string) string {
		return `{"type":"actions","block_id":"b","elements":[` + strings.Join(buttons, ",") + `]}`
	}
	x := strings.Repeat
	for _, c := range []struct {
		name, blocks, want string
		view               bool
	}{
		{"longest section", section(3000), "", false},
		{"section too long", section(3001), "must be less than 3001", false},
		{"empty section", section(0), "must be more than 0", false},
		{"section without text", `{"type":"section"}`, "missing required field", false},
		{"field too long", `{"type":"section","fields":[{"type":"plain_text","text":"` + x("x", 2001) + `"}]}`,
			"must be less than 2001", false},
		{"too many fields", `{"type":"section","fields":[` + x(`{"type":"plain_text","text":"x"},`, 10) +
			`{"type":"plain_text","text":"x"}]}`, "no more than 10", false},
		{"emoji in mrkdwn", `{"type":"section","text":{"type":"mrkdwn","text":"x","emoji":true}}`, "emoji", false},
		{"long command", pre(12000), "", false},
		{"too long in all", pre(13300), "msg_blocks_too_long", false},
		{"empty rich text", `{"type":"rich_text","elements":[]}`, "1 to 1000 items", false},
		{"empty text in rich text", pre(0), "at least one character", false},
		{"fifty-one blocks", x(section(1)+",", 50) + section(1), "no more than 50", false},
		{"fifty-one blocks in a view", x(section(1)+",", 50) + section(1), "", true},
		{"good buttons", row(button("a", "a", "v", `,"style":"primary"`), button("b", "b", "v", "")), "", false},
		{"no buttons", row(), "1 to 25 items", false},
		{"label too long", row(button(x("l", 76), "a", "v", "")), "must be less than 76", false},
		{"value too long", row(button("a", "a", x("v", 2001), "")), "must be less than 2001", false},
		{"action id too long", row(button("a", x("a", 256), "v", "")), "must be less than 256", false},
		{"same action id", row(button("a", "a", "v", ""), button("b", "a", "v", "")), "must be unique", false},
		{"unknown style", row(button("a", "a", "v", `,"style":"green"`)), "must be one of", false},
		{"same block id", row(button("a", "a", "v", "")) + "," + row(button("a", "a", "v", "")), "block_id must be unique",
			false},
		{"block id too long", `{"type":"divider","block_id":"` + x("b", 256) + `"}`, "must be less than 256", false},
		{"input in a message",
			`{"type":"input","label":{"type":"plain_text","text":"l"},"element":{"type":"plain_text_input"}}`,
			"unsupported type", false},
		{"input in a view", `{"type":"input","label":{"type":"plain_text","text":"l"},"element":{"type":"plain_text_input"}}`,
			"", true},
		{"unknown block", `{"type":"hologram"}`, "unsupported type", false},
		{"eleven context elements",
			`{"type":"context","elements":[` + x(`{"type":"mrkdwn","text":"x"},`, 10) + `{"type":"mrkdwn","text":"x"}]}`,
			"1 to 10 items", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := slacktest.CheckBlocks([]byte("["+c.blocks+"]"), c.view)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("CheckBlocks gives %v, want %q", err, c.want)
			}
		})
	}
}

// Slack refuses a message for the types of its blocks, and takes it without them. A text without blocks is what
// people read, and is formatted unless it was posted with mrkdwn=false.
func TestRefusedBlocks(t *testing.T) {
	s := serve(t, slacktest.Options{})
	const section = `[{"type":"section","text":{"type":"plain_text","text":"b"}}]`
	const blocks = `[{"type":"section","text":{"type":"plain_text","text":"b"}},{"type":"divider"}]`
	post := func(method string, args ...string) map[string]any {
		return call(t, s, method, slacktest.BotToken, append([]string{"channel", room, "text", "rm *x* _y_"}, args...)...)
	}
	ts, _ := post("chat.postMessage", "blocks", blocks)["ts"].(string)
	s.RefuseBlocks("msg_blocks_too_long", "divider", "actions")
	for _, method := range []string{"chat.postMessage", "chat.update"} {
		got := post(method, "ts", ts, "blocks", blocks)
		says, _ := json.Marshal(got["response_metadata"])
		if got["error"] != "msg_blocks_too_long" || !strings.Contains(string(says), "/blocks/1/type") {
			t.Errorf("%s: %v", method, got)
		}
		if got = post(method, "ts", ts, "blocks", section); got["ok"] != true {
			t.Errorf("%s without the divider: %v", method, got)
		}
	}
	post("chat.update", "ts", ts, "blocks", "[]", "mrkdwn", "false")
	post("chat.postMessage", "mrkdwn", "false")
	post("chat.postMessage")
	var read []string
	for _, c := range s.Cards(room) {
		read = append(read, c.Text)
	}
	if want := []string{"rm x y", "b", "rm *x* _y_", "rm x y"}; !slices.Equal(read, want) {
		t.Errorf("people read %q, want %q", read, want)
	}
	if got := post("chat.update", "ts", ts, "text", strings.Repeat("x", 4001)); got["error"] != "msg_too_long" {
		t.Errorf("a long edit: %v", got)
	}
	s.RefuseBlocks("")
	if got := post("chat.postMessage", "blocks", blocks); got["ok"] != true {
		t.Errorf("cured: %v", got)
	}
}

func TestMentionsAreNoticed(t *testing.T) {
	s := serve(t, slacktest.Options{})
	call(t, s, "chat.postMessage", slacktest.BotToken, "channel", room, "text", "&lt;!channel&gt; @here")
	if got := s.Pinged(); len(got) != 0 {
		t.Errorf("an escaped text alerts %q", got)
	}
	call(t, s, "chat.postMessage", slacktest.BotToken, "channel", room, "text", "<!channel> @here", "link_names", "1")
	call(t, s, "chat.postMessage", slacktest.BotToken, "channel", room, "text", "x", "blocks",
		`[{"type":"context","elements":[{"type":"mrkdwn","text":"<@U0ANN12345>"}]}]`)
	if got := strings.Join(s.Pinged(), " "); got != "<!channel> @here <@U0ANN12345>" {
		t.Errorf("alerted %q", got)
	}
}

func TestRateLimit(t *testing.T) {
	s := serve(t, slacktest.Options{Burst: 2})
	for i := range 3 {
		got := call(t, s, "chat.postMessage", slacktest.BotToken, "channel", room, "text", "x")
		if limited := got["status"] == http.StatusTooManyRequests; limited != (i == 2) ||
			limited && (got["retry"] != "1" || got["error"] != "ratelimited") {
			t.Errorf("post %d: %v", i, got)
		}
	}
}

// Each conversation takes a burst and then one message a second; edits are counted by themselves, in all
// conversations together. The wait that is asked for is enough, and may be longer.
func TestRateLimits(t *testing.T) {
	s := serve(t, slacktest.Options{Burst: 2, Edits: 1, RetryAfter: 2 * time.Second})
	s.AddConversation(slacktest.Conversation{ID: "C0OTHER123"})
	tried := func(method, room, ts string) (limited bool) {
		got := call(t, s, method, slacktest.BotToken, "channel", room, "ts", ts, "text", "x")
		limited = got["status"] == http.StatusTooManyRequests
		if limited && got["retry"] != "2" || limited == (got["ok"] == true) {
			t.Errorf("%s: %v", method, got)
		}
		return limited
	}
	for i, want := range []bool{false, false, true, true} {
		if tried("chat.postMessage", room, "") != want {
			t.Errorf("post %d: %v", i, !want)
		}
	}
	if tried("chat.postMessage", "C0OTHER123", "") {
		t.Error("another conversation waits too")
	}
	if tried("chat.update", room, s.Messages(room)[0].TS) {
		t.Error("an edit waits for the posts")
	}
	if !tried("chat.update", "C0OTHER123", s.Messages("C0OTHER123")[0].TS) {
		t.Error("edits have no limit")
	}
	time.Sleep(2 * time.Second)
	if tried("chat.postMessage", room, "") || tried("chat.update", room, s.Messages(room)[0].TS) {
		t.Error("the wait was not enough")
	}
}

// socket opens a Socket Mode connection and reads the greeting.
func socket(t *testing.T, s *slacktest.Server) *websocket.Conn {
	t.Helper()
	at, _ := call(t, s, "apps.connections.open", slacktest.AppToken)["url"].(string)
	ws, resp, err := websocket.DefaultDialer.Dial(at, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	t.Cleanup(func() { _ = ws.Close() })
	if hello := frame(t, ws); hello["type"] != "hello" {
		t.Fatalf("the first frame is %v", hello)
	}
	if _, resp, err := websocket.DefaultDialer.Dial(at, nil); err == nil {
		t.Error("a ticket opens two sockets")
	} else {
		_ = resp.Body.Close()
	}
	return ws
}

func frame(t *testing.T, ws *websocket.Conn) map[string]any {
	t.Helper()
	_ = ws.SetReadDeadline(time.Now().Add(30 * time.Second))
	var v map[string]any
	if err := ws.ReadJSON(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEnvelopes(t *testing.T) {
	s := serve(t, slacktest.Options{AckTimeout: 100 * time.Millisecond})
	one, two := socket(t, s), socket(t, s)
	if !s.WaitConnections(2) {
		t.Fatal("two sockets were opened")
	}
	// Nobody acknowledges the first two deliveries; they go to both sockets.
	s.Type(ann, room, "hello")
	frames := []map[string]any{frame(t, one), frame(t, two)}
	frames = append(frames, frame(t, map[bool]*websocket.Conn{true: one, false: two}[frames[0]["retry_attempt"] == 0.0]))
	attempts := map[any]any{}
	for _, f := range frames {
		attempts[f["retry_attempt"]] = f["envelope_id"]
	}
	if len(attempts) != 3 || attempts[0.0] != attempts[2.0] {
		t.Errorf("the deliveries are %v", attempts)
	}
	// A command's acknowledgement carries its answer.
	go func() {
		for _, ws := range []*websocket.Conn{one, two} {
			go func() {
				for {
					var v map[string]any
					if ws.ReadJSON(&v) != nil {
						return
					}
					_ = ws.WriteJSON(map[string]any{"envelope_id": v["envelope_id"],
						"payload": map[string]any{"text": "done &amp; told"}})
				}
			}()
		}
	}()
	s.Type(ann, room, "/approve x")
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline) && len(s.Told(ann)) == 0; {
		time.Sleep(time.Millisecond)
	}
	if got := s.Told(ann); len(got) != 1 || got[0] != "done & told" {
		t.Errorf("told %q", got)
	}
	s.Type(ann, room, "/standup") // not ours: it goes nowhere
	if n := s.Count("envelope slash_commands"); n != 1 {
		t.Errorf("%d commands were sent", n)
	}
}

func TestFaults(t *testing.T) {
	s := serve(t, slacktest.Options{})
	for fault, want := range map[fake.Fault]string{
		fake.ServerError: "500", fake.RateLimited: "429", fake.Malformed: `{"ok":true,"ts":"17`,
		fake.Revoked: "token_revoked",
	} {
		s.Break(fault)
		if got := fmt.Sprint(call(t, s, "auth.test", slacktest.BotToken)); !strings.Contains(got, want) {
			t.Errorf("fault %d answers %s, want %s", fault, got, want)
		}
	}
	s.Break(fake.Down)
	if resp, err := http.Get(s.URL()); err == nil {
		_ = resp.Body.Close()
		t.Error("the service is down and answers")
	}
	s.Break(fake.Hangs)
	client := http.Client{Timeout: 100 * time.Millisecond}
	if resp, err := client.Get(s.URL()); err == nil {
		_ = resp.Body.Close()
		t.Error("the service hangs and answers")
	}
	s.Break(fake.Healthy)
	if got := call(t, s, "auth.test", slacktest.BotToken); got["ok"] != true || got["bot_id"] != slacktest.BotID {
		t.Errorf("healthy again: %v", got)
	}
}

// posted calls a method with arguments in JSON, and returns its error.
func posted(t *testing.T, s *slacktest.Server, method, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+method, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+slacktest.BotToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var v struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v.Error
}

// A dialog needs a title, and with an input a submit button; both have at most 24 characters. Its input and its
// private data have their limits too.
func TestLimitsOfDialogs(t *testing.T) {
	s := serve(t, slacktest.Options{TriggerTTL: time.Minute})
	good := `{"type":"modal","title":{"type":"plain_text","text":"TITLE"},"submit":{"type":"plain_text","text":"SUBMIT"}` +
		`,"private_metadata":"META","blocks":[{"type":"input","block_id":"b","label":{"type":"plain_text","text":"l"},` +
		`"element":{"type":"plain_text_input","action_id":"ACTION","max_length":500}}]}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"TITLE", strings.Repeat("é", 24), ""},
		{"TITLE", strings.Repeat("é", 25), "invalid_arguments"},
		{`"title":{"type":"plain_text","text":"TITLE"},`, "", "invalid_arguments"},
		{`"submit":{"type":"plain_text","text":"SUBMIT"},`, "", "invalid_arguments"},
		{"SUBMIT", strings.Repeat("s", 25), "invalid_arguments"},
		{"META", strings.Repeat("m", 3000), ""},
		{"META", strings.Repeat("m", 3001), "invalid_arguments"},
		{"ACTION", strings.Repeat("a", 256), "invalid_arguments"},
		{"500", "3001", "invalid_arguments"},
		{`"modal"`, `"home"`, "invalid_arguments"},
	} {
		view := good
		if c.old != "" {
			view = strings.Replace(good, c.old, c.new, 1)
		}
		trigger := s.CommandPayload(ann, room, "/x", "")["trigger_id"].(string)
		if got := posted(t, s, "views.open", fmt.Sprintf(`{"trigger_id":%q,"view":%s}`, trigger, view)); got != c.want {
			t.Errorf("%s as %.30s: %q, want %q", c.old, c.new, got, c.want)
		}
	}
}

// A Home is of one person, and only an app with the tab has one.
func TestHome(t *testing.T) {
	s := serve(t, slacktest.Options{})
	home := func(user, kind, text string) string {
		return fmt.Sprintf(`{"user_id":%q,"view":{"type":%q,"blocks":[{"type":"section","text":{"type":"plain_text",`+
			`"text":%q}}]}}`, user, kind, text)
	}
	for _, c := range []struct{ body, want string }{
		{home(ann, "home", "one"), ""}, {home(ann, "home", "two"), ""},
		{home("U0NOBODY99", "home", "x"), "invalid_arguments"}, {home(ann, "modal", "x"), "invalid_arguments"},
		{home(ann, "home", strings.Repeat("x", 3001)), "invalid_arguments"}, {home(ann, "home", ""), "invalid_arguments"},
	} {
		if got := posted(t, s, "views.publish", c.body); got != c.want {
			t.Errorf("%.80s: %q, want %q", c.body, got, c.want)
		}
	}
	if got := s.Home(ann); got != "two" {
		t.Errorf("ann sees %q", got)
	}
	without := serve(t, slacktest.Options{NoHome: true})
	if got := posted(t, without, "views.publish", home(ann, "home", "x")); got != "not_enabled" {
		t.Errorf("an app without the tab: %q", got)
	}
}

func TestTriggerOpensOneDialogSoon(t *testing.T) {
	s := serve(t, slacktest.Options{TriggerTTL: 50 * time.Millisecond})
	view := `{"type":"modal","title":{"type":"plain_text","text":"t"},"blocks":[{"type":"section","text":{` +
		`"type":"plain_text","text":"body"}}]}`
	open := func(trigger, view string) string {
		return posted(t, s, "views.open", fmt.Sprintf(`{"trigger_id":%q,"view":%s}`, trigger, view))
	}
	trigger := func() string { return s.CommandPayload(ann, room, "/x", "")["trigger_id"].(string) }
	id := trigger()
	if got := open(id, view); got != "" {
		t.Errorf("views.open: %s", got)
	}
	if got := open(id, view); got != "exchanged_trigger_id" {
		t.Errorf("a used trigger: %q", got)
	}
	if got := open(trigger(),
		strings.Replace(view, `"t"`, `"`+strings.Repeat("t", 25)+`"`, 1)); got != "invalid_arguments" {
		t.Errorf("a long title: %q", got)
	}
	id = trigger()
	time.Sleep(60 * time.Millisecond)
	if got := open(id, view); got != "expired_trigger_id" {
		t.Errorf("a late trigger: %q", got)
	}
	if got := s.Told(ann); len(got) != 1 || !strings.Contains(got[0], "body") {
		t.Errorf("ann saw %q", got)
	}
}

// A card's buttons come with the words that stand on them.
func TestCardsHaveLabels(t *testing.T) {
	s := serve(t, slacktest.Options{})
	call(t, s, "chat.postMessage", slacktest.BotToken, "channel", room, "text", "x", "blocks",
		`[{"type":"actions","elements":[
		{"type":"button","text":{"type":"plain_text","text":"Deny"},"action_id":"deny","value":"1"},
		{"type":"button","text":{"type":"plain_text","text":"Enter code…"},"action_id":"code","value":"1"}]}]`)
	card := s.Cards(room)[0]
	if !slices.Equal(card.Labels, []string{"Deny", "Enter code…"}) ||
		!slices.Equal(card.Buttons, []fake.Button{fake.DenyButton, fake.CodeButton}) {
		t.Errorf("labels %q of buttons %v", card.Labels, card.Buttons)
	}
}
