package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"approver.example/channels/channeltest/fake"
)

// ask makes a request as a bot with a token and returns status and error code.
func ask(t *testing.T, s *Server, token, method, path string, body any) (status, code int, answer map[string]any) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(got, &answer)
	if c, ok := answer["code"].(float64); ok {
		code = int(c)
	}
	return resp.StatusCode, code, answer
}

func button(id, label string) map[string]any {
	return map[string]any{"type": 2, "style": 3, "label": label, "custom_id": id}
}

func row(buttons ...map[string]any) []any {
	return []any{map[string]any{"type": 1, "components": buttons}}
}

// rows are rows of five buttons.
func rows(n int) (out []any) {
	for i := range n {
		var five []map[string]any
		for j := range 5 {
			five = append(five, button(fmt.Sprintf("%d-%d", i, j), "A"))
		}
		out = append(out, row(five...)...)
	}
	return out
}

func TestMessageLimits(t *testing.T) {
	s := New()
	defer s.Close()
	s.PostLimit = 100
	path := "/v10/channels/" + s.AddChannel() + "/messages"
	long := func(n int) string { return strings.Repeat("漢", n) }
	embedOf := func(e map[string]any) map[string]any { return map[string]any{"embeds": []any{e}} }
	type m = map[string]any
	for name, c := range map[string]struct {
		body   any
		status int
		code   int
	}{
		"good": {m{"content": long(2000), "embeds": []any{m{"description": long(4096)}},
			"components": row(button("a", "A"), button("b", "B"))}, 200, 0},
		"empty":            {m{"content": " "}, 400, 50006},
		"not JSON":         {json.RawMessage(`"x"`), 400, 50109},
		"long content":     {m{"content": long(2001)}, 400, 50035},
		"long description": {embedOf(m{"description": long(4097)}), 400, 50035},
		"long value":       {embedOf(m{"fields": []any{m{"name": "n", "value": long(1025)}}}), 400, 50035},
		"blank value":      {embedOf(m{"fields": []any{m{"name": "n", "value": " "}}}), 400, 50035},
		"long embeds":      {m{"embeds": []any{m{"description": long(4000)}, m{"description": long(2001)}}}, 400, 50035},
		"long nonce":       {m{"content": "x", "nonce": long(26)}, 400, 50035},
		"long label":       {m{"content": "x", "components": row(button("a", long(81)))}, 400, 50035},
		"no label":         {m{"content": "x", "components": row(button("a", ""))}, 400, 50035},
		"long custom id":   {m{"content": "x", "components": row(button(long(101), "A"))}, 400, 50035},
		"same custom id":   {m{"content": "x", "components": row(button("a", "A"), button("a", "B"))}, 400, 50035},
		"six buttons": {m{"content": "x",
			"components": row(button("1", "A"), button("2", "A"), button("3", "A"), button("4", "A"), button("5", "A"),
				button("6", "A"))}, 400, 50035},
		"25 buttons":        {m{"content": "x", "components": rows(5)}, 200, 0},
		"six rows":          {m{"content": "x", "components": rows(6)}, 400, 50035},
		"button out of row": {m{"content": "x", "components": []any{button("a", "A")}}, 400, 50035},
	} {
		if status, code, _ := ask(t, s, s.Token(), "POST", path, c.body); status != c.status || code != c.code {
			t.Errorf("%s: %d, code %d; want %d, code %d", name, status, code, c.status, c.code)
		}
	}
	for name, c := range map[string]struct {
		token, method, path string
		status, code        int
	}{
		"wrong token":     {"x", "POST", path, 401, 0},
		"old version":     {s.Token(), "POST", strings.Replace(path, "v10", "v8", 1), 400, 50041},
		"unknown channel": {s.Token(), "POST", "/v10/channels/1/messages", 404, 10003},
		"unknown message": {s.Token(), "PATCH", path + "/1", 404, 10008},
		"unknown route":   {s.Token(), "GET", "/v10/secrets", 404, 0},
	} {
		if status, code, _ := ask(t, s, c.token, c.method, c.path, map[string]any{"content": "x"}); status != c.status ||
			code != c.code {
			t.Errorf("%s: %d, code %d; want %d, code %d", name, status, code, c.status, c.code)
		}
	}
}

// Discord refuses a message for a part of it, whether it is new or edited, and takes it without. An edit without
// flags leaves them as they are.
func TestRefusedParts(t *testing.T) {
	s := New()
	defer s.Close()
	s.PostLimit = 100
	type m = map[string]any
	channel := s.AddChannel()
	path := "/v10/channels/" + channel + "/messages"
	parts := map[Part]any{Content: "x", Embeds: []any{m{"description": "d"}}, Components: row(button("a", "A"))}
	whole := m{"content": parts[Content], "embeds": parts[Embeds], "components": parts[Components]}
	_, _, first := ask(t, s, s.Token(), "POST", path, whole)
	edit := path + "/" + first["id"].(string)
	for _, part := range []Part{Content, Embeds, Components} {
		s.Refuse(part)
		for method, path := range map[string]string{"POST": path, "PATCH": edit} {
			status, code, got := ask(t, s, s.Token(), method, path, whole)
			if errs, _ := got["errors"].(m); status != 400 || code != 50035 || errs[string(part)] == nil {
				t.Errorf("%s with %s: %d %d %v", method, part, status, code, got)
			}
			rest := m{}
			for name, value := range parts {
				if name != part {
					rest[string(name)] = value
				}
			}
			if status, _, got := ask(t, s, s.Token(), method, path, rest); status != 200 {
				t.Errorf("%s without %s: %d %v", method, part, status, got)
			}
		}
	}
	s.Refuse()
	for _, c := range []struct {
		body m
		want string
	}{{m{"flags": 4}, "x"}, {m{"content": "y"}, "y"}, {m{"flags": 0}, "y\nd"}} {
		status, _, got := ask(t, s, s.Token(), "PATCH", edit, c.body)
		if reads := s.Cards(channel)[0].Text; status != 200 || reads != c.want {
			t.Errorf("%v: %d %v; people read %q", c.body, status, got, reads)
		}
	}
}

func TestCommandLimits(t *testing.T) {
	s := New()
	defer s.Close()
	type m = map[string]any
	long := func(n int) string { return strings.Repeat("ä", n) }
	path := "/v10/applications/" + s.Application() + "/guilds/" + s.Guild() + "/commands"
	cmd := func(change m) m {
		out := m{"name": "x", "type": 1, "description": "does it", "options": nil}
		for k, v := range change {
			out[k] = v
		}
		return out
	}
	opt := func(change m) m {
		out := m{"type": 3, "name": "code", "description": "the code", "choices": nil, "channel_types": nil}
		for k, v := range change {
			out[k] = v
		}
		return cmd(m{"options": []any{out}})
	}
	choices := func(all ...any) m { return opt(m{"choices": all}) }
	for name, c := range map[string]struct {
		body   any
		status int
	}{
		"good": {opt(m{"required": true, "max_length": 500,
			"description_localizations": m{"de": long(100)}}), 200},
		"no options":  {cmd(nil), 200},
		"German name": {cmd(m{"name_localizations": m{"de": "genehmigen"}}), 200},
		"choices": {choices(m{"name": "15 minutes", "value": "15m",
			"name_localizations": m{"de": "15 Minuten"}}), 200},
		"upper case":          {cmd(m{"name": "Approve"}), 400},
		"two words":           {cmd(m{"name": "approve it"}), 400},
		"long name":           {cmd(m{"name": long(33)}), 400},
		"bad German name":     {cmd(m{"name_localizations": m{"de": "Genehmigen"}}), 400},
		"no description":      {cmd(m{"description": ""}), 400},
		"long description":    {cmd(m{"description": long(101)}), 400},
		"long German":         {cmd(m{"description_localizations": m{"de": long(101)}}), 400},
		"unknown language":    {cmd(m{"description_localizations": m{"de-AT": "x"}}), 400},
		"a number":            {opt(m{"type": 12}), 400},
		"bad option name":     {opt(m{"name": "The code"}), 400},
		"long option":         {opt(m{"description": long(101)}), 400},
		"too long a text":     {opt(m{"max_length": 6001}), 400},
		"choice without name": {choices(m{"name": "", "value": "x"}), 400},
		"choice of a number":  {choices(m{"name": "x", "value": 15}), 400},
		"long choice":         {choices(m{"name": long(101), "value": "x"}), 400},
		"the same choice":     {choices(m{"name": "x", "value": "x"}, m{"name": "y", "value": "x"}), 400},
		"optional first": {cmd(m{"options": []any{m{"type": 3, "name": "a", "description": "a"},
			m{"type": 3, "name": "b", "description": "b", "required": true}}}), 400},
		"same option": {cmd(m{"options": []any{m{"type": 3, "name": "a", "description": "a"},
			m{"type": 3, "name": "a", "description": "b"}}}), 400},
	} {
		if status, code, _ := ask(t, s, s.Token(), "POST", path, c.body); status != c.status ||
			code != map[int]int{400: 50035}[status] {
			t.Errorf("%s: %d, code %d; want %d", name, status, code, c.status)
		}
	}
	foreign := strings.Replace(path, s.Guild(), s.Bot(), 1)
	if status, _, _ := ask(t, s, s.Token(), "POST", foreign, cmd(nil)); status != 403 {
		t.Errorf("a server without the bot: %d", status)
	}
}

// Discord's client sends no command that the bot did not register, and no option that it does not take.
func TestCommandsOfTheClient(t *testing.T) {
	s := New()
	defer s.Close()
	user, here := s.AddUser("Ann"), s.AddChannel()
	most := 5
	s.commands["x"] = &command{Name: "x", Options: []commandOption{
		{Type: 3, Name: "code", Required: true, MaxLength: &most}, {Type: 3, Name: "for"}}}
	if err := json.Unmarshal([]byte(`[{"name":"once","value":"once"}]`), &s.commands["x"].Options[1].Choices); err != nil {
		t.Fatal(err)
	}
	type o = map[string]string
	for name, c := range map[string]struct {
		options o
		sends   bool
	}{
		"good": {o{"code": "12345", "for": "once"}, true}, "required only": {o{"code": "1"}, true},
		"nothing": {nil, false}, "too long": {o{"code": "123456"}, false},
		"no choice":      {o{"code": "1", "for": "ever"}, false},
		"unknown option": {o{"code": "1", "why": "x"}, false}, "empty": {o{"code": ""}, false},
	} {
		if got := s.Invoke(user, here, "x", c.options); got != c.sends {
			t.Errorf("%s: the client sends it: %v", name, got)
		}
	}
	if s.Invoke(user, s.AddDirect(user), "x", o{"code": "1"}) || s.Invoke(user, here, "y", nil) {
		t.Error("the client sends a command that is not there")
	}
}

func TestDialogLimits(t *testing.T) {
	s := New()
	defer s.Close()
	type m = map[string]any
	long := func(n int) string { return strings.Repeat("漢", n) }
	field := func(change m) m {
		out := m{"type": 4, "custom_id": "code", "label": "Code", "style": 1}
		for k, v := range change {
			out[k] = v
		}
		return m{"type": 1, "components": []any{out}}
	}
	text := func(s string) m { return m{"type": 10, "content": s} }
	modal := func(title string, parts ...any) m { return m{"custom_id": "x", "title": title, "components": parts} }
	for name, c := range map[string]struct {
		data any
		good bool
	}{
		"good": {modal(long(45), text(long(4000)),
			field(m{"label": long(45), "placeholder": long(100)})), true},
		"long title":         {modal(long(46), field(nil)), false},
		"no title":           {modal("", field(nil)), false},
		"no field":           {modal("x", text("x")), false},
		"empty text":         {modal("x", text(""), field(nil)), false},
		"long text":          {modal("x", text(long(4001)), field(nil)), false},
		"long label":         {modal("x", field(m{"label": long(46)})), false},
		"no label":           {modal("x", field(m{"label": ""})), false},
		"long placeholder":   {modal("x", field(m{"placeholder": long(101)})), false},
		"long value":         {modal("x", field(m{"value": long(4001)})), false},
		"a style of nobody":  {modal("x", field(m{"style": 3})), false},
		"least and most":     {modal("x", field(m{"min_length": 5, "max_length": 4})), false},
		"too much":           {modal("x", field(m{"max_length": 4001})), false},
		"two of one name":    {modal("x", field(nil), field(nil)), false},
		"six parts":          {modal("x", field(nil), text("1"), text("2"), text("3"), text("4"), text("5")), false},
		"a button":           {modal("x", m{"type": 1, "components": []any{button("a", "A")}}), false},
		"a field by itself":  {modal("x", m{"type": 4, "custom_id": "code", "label": "Code", "style": 1}), false},
		"nothing":            {modal("x"), false},
		"an id that is long": {m{"custom_id": long(101), "title": "x", "components": []any{field(nil)}}, false},
	} {
		raw, err := json.Marshal(c.data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkModal(&interaction{kind: kindComponent}, raw); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := checkModal(&interaction{kind: kindDialog}, raw); err == nil {
			t.Errorf("%s: a dialog opens a dialog", name)
		}
	}
}

func TestRateLimitAndPings(t *testing.T) {
	s := New()
	defer s.Close()
	s.PostLimit, s.PostWindow = 2, time.Minute
	path := "/v10/channels/" + s.AddChannel() + "/messages"
	for i, want := range []int{200, 200, 429} {
		status, _, answer := ask(t, s, s.Token(), "POST", path, map[string]any{"content": "@everyone"})
		if status != want || want == 429 && answer["retry_after"].(float64) < 50 {
			t.Errorf("post %d: %d %v", i, status, answer)
		}
	}
	if got := s.Pings(); len(got) != 2 {
		t.Errorf("the pings are %q", got)
	}
}

// Posts and edits of a channel have a bucket each, whatever the message; the headers say what is left of it. The
// limit of all requests of the bot leaves answers to interactions alone.
func TestBuckets(t *testing.T) {
	s := New()
	defer s.Close()
	s.PostLimit, s.EditLimit, s.PostWindow = 3, 2, time.Minute
	here, there := "/v10/channels/"+s.AddChannel()+"/messages", "/v10/channels/"+s.AddChannel()+"/messages"
	said := map[string]any{"content": "x"}
	_, _, first := ask(t, s, s.Token(), "POST", here, said)
	_, _, second := ask(t, s, s.Token(), "POST", here, said)
	_, _, other := ask(t, s, s.Token(), "POST", there, said)
	for i, c := range []struct {
		method, path string
		want         int
	}{
		{"PATCH", here + "/" + first["id"].(string), 200}, {"PATCH", here + "/" + second["id"].(string), 200},
		{"PATCH", here + "/" + second["id"].(string), 429}, {"PATCH", there + "/" + other["id"].(string), 200},
		{"POST", here, 200}, {"POST", here, 429}, {"GET", here + "/" + first["id"].(string), 200},
	} {
		status, _, got := ask(t, s, s.Token(), c.method, c.path, said)
		wait, _ := got["retry_after"].(float64)
		if status != c.want || status == 429 && (wait < 30 || got["global"] != false) {
			t.Errorf("%d, %s %s: %d %v", i, c.method, c.path, status, got)
		}
	}
	body := strings.NewReader(`{"content":"x"}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+there, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+s.Token())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if h := resp.Header; h.Get("X-RateLimit-Remaining") != "1" || h.Get("X-RateLimit-Limit") != "3" ||
		h.Get("X-RateLimit-Reset-After") < "3" || h.Get("X-RateLimit-Bucket") == "" {
		t.Errorf("the headers are %v", h)
	}
	s.mu.Lock()
	s.GlobalLimit, s.PostLimit, s.EditLimit = 2, 0, 0
	s.mu.Unlock()
	limited := 0
	for range 4 {
		status, _, got := ask(t, s, s.Token(), "GET", here+"/"+first["id"].(string), nil)
		if status == 429 && got["global"] == true {
			limited++
		}
	}
	if status, code, _ := ask(t, s, "", "POST", "/v10/interactions/1/x/callback", said); status == 429 || limited == 0 {
		t.Errorf("%d of 4 requests wait, an answer gets %d %d", limited, status, code)
	}
}

// connect identifies and returns the connection, or the close code.
func connect(t *testing.T, s *Server, query, token string, intents int) (*websocket.Conn, int) {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(),
		"ws"+strings.TrimSuffix(s.URL()[4:], "/api")+"/gateway/"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	identify := map[string]any{"op": opIdentify, "d": map[string]any{"token": "Bot " + token, "intents": intents}}
	_ = conn.WriteJSON(identify)
	for {
		var f frame
		if err := conn.ReadJSON(&f); err != nil {
			var c *websocket.CloseError
			if !errors.As(err, &c) {
				t.Fatal(err)
			}
			return nil, c.Code
		}
		if f.Type == "READY" {
			return conn, 0
		}
	}
}

func TestGatewayCloseCodes(t *testing.T) {
	s := New()
	defer s.Close()
	const query = "?v=10&encoding=json"
	for name, c := range map[string]struct {
		query, token string
		intents      int
		code         int
	}{
		"good":               {query, s.Token(), intentGuildMessages, 0},
		"wrong token":        {query, "x", intentGuildMessages, 4004},
		"old version":        {"?v=9&encoding=json", s.Token(), intentGuildMessages, 4012},
		"unknown intent":     {query, s.Token(), 1 << 30, 4013},
		"intent not allowed": {query, s.Token(), intentMessageContent, 4014},
	} {
		if _, code := connect(t, s, c.query, c.token, c.intents); code != c.code {
			t.Errorf("%s: close code %d, want %d", name, code, c.code)
		}
	}
}

func TestInteractionAcknowledgement(t *testing.T) {
	s := New()
	defer s.Close()
	s.AckWithin = 200 * time.Millisecond
	channel, ann := s.AddChannel(), s.AddUser("Ann")
	conn, _ := connect(t, s, "?v=10&encoding=json", s.Token(), 0)
	_, _, posted := ask(t, s, s.Token(), "POST", "/v10/channels/"+channel+"/messages", map[string]any{
		"content": "card", "components": row(button("x", "Approve")),
	})
	press := func() (id, token string) {
		t.Helper()
		if err := s.Tap(ann, channel, posted["id"].(string), fake.ApproveButton); err != nil {
			t.Fatal(err)
		}
		var f frame
		if err := conn.ReadJSON(&f); err != nil || f.Type != "INTERACTION_CREATE" {
			t.Fatalf("%v, %s", err, f.Type)
		}
		var event struct{ ID, Token string }
		if err := json.Unmarshal(f.Data, &event); err != nil {
			t.Fatal(err)
		}
		return event.ID, event.Token
	}
	if err := s.Tap(ann, channel, posted["id"].(string), fake.DenyButton); err == nil {
		t.Error("a button that is not there was pressed")
	}
	later := map[string]any{"type": respondLater, "data": map[string]any{"flags": flagEphemeral}}
	id, token := press()
	callback := fmt.Sprintf("/v10/interactions/%s/%s/callback", id, token)
	original := "/v10/webhooks/" + s.Application() + "/" + token + "/messages/@original"
	text := map[string]any{"content": "only for you"}
	for i, c := range []struct {
		method, path string
		body         any
		status, code int
	}{
		{"PATCH", original, text, 404, 10015}, // not acknowledged yet
		{"POST", callback, map[string]any{"type": 99}, 400, 50035},
		{"POST", callback, later, 204, 0},
		{"POST", callback, later, 400, 40060},
		{"PATCH", original, map[string]any{"content": ""}, 400, 50006},
		{"PATCH", original, text, 200, 0},
	} {
		if status, code, _ := ask(t, s, "", c.method, c.path, c.body); status != c.status || code != c.code {
			t.Errorf("step %d: %d, code %d; want %d, code %d", i, status, code, c.status, c.code)
		}
	}
	if got := s.Told(ann); len(got) != 1 || got[0] != "only for you" {
		t.Errorf("told %q", got)
	}
	id, token = press()
	time.Sleep(250 * time.Millisecond)
	if status, code, _ := ask(t, s, "", "POST", fmt.Sprintf("/v10/interactions/%s/%s/callback", id, token),
		later); status != 404 || code != 10062 {
		t.Errorf("a late acknowledgement: %d, code %d", status, code)
	}
	if n := s.Unanswered(); n != 1 {
		t.Errorf("%d interactions are unanswered, want 1", n)
	}
	if log := strings.Join(s.Log(), "\n"); strings.Contains(log, InteractionToken) || !strings.Contains(log, "/callback") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestDrawn(t *testing.T) {
	for text, want := range map[string]string{
		"**b** _i_ ~~s~~ __u__": "b i s u", "||x||": "(spoiler)", "[a](https://e.example)": "a",
		"@everyone":            "(ping)everyone",
		`\*\*b\*\* \@everyone`: "**b** @everyone", "`**b**`": "**b**", "```bash\n**b**\n```x": "**b**x",
		"# head\n> quote": "head\nquote",
		"<@1>":            "@unknown-user", "snake_case_name": "snake_case_name", `back\slash`: `back\slash`,
	} {
		if got := Drawn(text); got != want {
			t.Errorf("%q is drawn as %q, want %q", text, got, want)
		}
	}
}

// A card's buttons come with the words that stand on them.
func TestCardsHaveLabels(t *testing.T) {
	s := New()
	defer s.Close()
	channel := s.AddChannel()
	ask(t, s, s.Token(), "POST", "/v10/channels/"+channel+"/messages",
		map[string]any{"content": "x", "components": row(button("a", "Deny"), button("b", "Enter code…"))})
	card := s.Cards(channel)[0]
	if !slices.Equal(card.Labels, []string{"Deny", "Enter code…"}) ||
		!slices.Equal(card.Buttons, []fake.Button{fake.DenyButton, fake.CodeButton}) {
		t.Errorf("labels %q of buttons %v", card.Labels, card.Buttons)
	}
}
