package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const maxBody = 32 << 20

// args are a call's arguments, whether they came as a form or as JSON.
type args struct {
	form url.Values
	json map[string]json.RawMessage
}

func (a args) get(name string) string {
	if raw, ok := a.json[name]; ok {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
		return string(raw)
	}
	return a.form.Get(name)
}

func readArgs(r *http.Request) (a args, token string, ok bool) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return a, "", false
	}
	token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		if len(body) > 0 && json.Unmarshal(body, &a.json) != nil {
			return a, "", false
		}
		return a, token, true
	}
	a.form, err = url.ParseQuery(string(body))
	return a, or(token, a.form.Get("token")), err == nil
}

// reply is a JSON object on its way out.
type reply = map[string]any

func answer(w http.ResponseWriter, v reply) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	v["ok"] = v["error"] == nil
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, code string) { answer(w, reply{"error": code}) }

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, `{"ok":false,"error":"ratelimited"}`)
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	s.mu.Lock()
	s.note("%s", method)
	forced := s.answers[method]
	s.mu.Unlock()
	well := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveMethod(w, r, method, forced) })
	if !s.misbehave(w, r) && !s.Trips.Meet(method, w, r, well) {
		well(w, r)
	}
}

func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request, method, forced string) {
	if r.Method != http.MethodPost {
		fail(w, "invalid_post_type")
		return
	}
	a, token, ok := readArgs(r)
	want, kind := BotToken, "xoxb-"
	if method == "apps.connections.open" {
		want, kind = AppToken, "xapp-"
	}
	switch {
	case !ok:
		fail(w, "invalid_form_data")
	case forced != "":
		fail(w, forced)
	case token == "":
		fail(w, "not_authed")
	case token != want && (token == BotToken || token == AppToken) && !strings.HasPrefix(token, kind):
		fail(w, "not_allowed_token_type")
	case token != want:
		fail(w, "invalid_auth")
	default:
		s.dispatch(w, method, a)
	}
}

func (s *Server) dispatch(w http.ResponseWriter, method string, a args) {
	methods := map[string]func(http.ResponseWriter, args){
		"auth.test":                    s.authTest,
		"apps.connections.open":        s.connectionsOpen,
		"chat.postMessage":             s.postMessage,
		"chat.update":                  s.update,
		"chat.delete":                  s.delete,
		"chat.postEphemeral":           s.postEphemeral,
		"views.open":                   s.viewsOpen,
		"conversations.info":           s.info,
		"conversations.history":        s.history,
		"conversations.replies":        s.replies,
		"files.getUploadURLExternal":   s.uploadURL,
		"files.completeUploadExternal": s.completeUpload,
	}
	f, ok := methods[method]
	if !ok {
		fail(w, "unknown_method")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f(w, a)
}

func (s *Server) authTest(w http.ResponseWriter, _ args) {
	answer(w, reply{"url": "https://home.slack.com/", "team": "Home", "user": "approver",
		"team_id": Team, "user_id": BotUser, "bot_id": BotID, "is_enterprise_install": false})
}

func (s *Server) connectionsOpen(w http.ResponseWriter, _ args) {
	if len(s.conns) >= 10 {
		fail(w, "too_many_websockets")
		return
	}
	ticket := s.next("ticket-")
	s.triggers[ticket] = &trigger{until: time.Now().Add(30 * time.Second)}
	answer(w, reply{"url": "ws://" + s.addr + "/link?ticket=" + ticket + "&app_id=" + AppID})
}

// room finds a conversation that the bot may use, or answers why not.
func (s *Server) room(w http.ResponseWriter, id string) *room {
	r := s.rooms[id]
	switch {
	case r == nil || r.NotMember && !strings.HasPrefix(id, "C"):
		fail(w, "channel_not_found")
	case r.NotMember:
		fail(w, "not_in_channel")
	case r.Archived:
		fail(w, "is_archived")
	default:
		return r
	}
	return nil
}

// content checks and reads what a message is to show. It answers what is wrong.
func (s *Server) content(w http.ResponseWriter, a args, m *Message, update bool) bool {
	text, blocks := a.get("text"), a.get("blocks")
	if text == "" && (blocks == "" || blocks == "[]") {
		fail(w, "no_text")
		return false
	}
	if utf8.RuneCountInString(text) > 40000 {
		fail(w, "msg_too_long")
		return false
	}
	if blocks != "" {
		if err := CheckBlocks([]byte(blocks), false); err != nil {
			answer(w, reply{"error": err.Code, "errors": err.Messages,
				"response_metadata": reply{"messages": err.Messages}})
			return false
		}
		m.Blocks = json.RawMessage(blocks)
	} else {
		m.Blocks = nil
	}
	parse := a.get("parse")
	if parse == "" && update {
		parse = "client" // chat.update's own default
	}
	links := parse == "full" || a.get("link_names") == "1" || a.get("link_names") == "true"
	s.pings = append(s.pings, mentions(text, links)...)
	s.pings = append(s.pings, mentions(markup(m.Blocks), false)...)
	m.Text = unescape(text)
	if !update {
		m.Previews = a.get("unfurl_links") != "false" || a.get("unfurl_media") != "false"
	}
	return true
}

func (s *Server) postMessage(w http.ResponseWriter, a args) {
	id := a.get("channel")
	r := s.room(w, id)
	if r == nil {
		return
	}
	if !s.take("chat.postMessage "+id, s.opts.Burst) {
		tooMany(w)
		return
	}
	m := &Message{User: BotUser, BotID: BotID, Thread: a.get("thread_ts")}
	if m.Thread != "" && r.find(m.Thread) == nil {
		fail(w, "thread_not_found")
		return
	}
	if !s.content(w, a, m, false) {
		return
	}
	m.TS = s.stamp()
	r.messages = append(r.messages, m)
	answer(w, reply{"channel": id, "ts": m.TS, "message": s.asSeen(m)})
}

func (s *Server) update(w http.ResponseWriter, a args) {
	r := s.room(w, a.get("channel"))
	if r == nil {
		return
	}
	if !s.take("chat.update", s.opts.Burst) {
		tooMany(w)
		return
	}
	m := r.find(a.get("ts"))
	switch {
	case m == nil:
		fail(w, "message_not_found")
	case m.BotID != BotID:
		fail(w, "cant_update_message")
	default:
		next := *m
		if !s.content(w, a, &next, true) {
			return
		}
		next.Edits++
		*m = next
		answer(w, reply{"channel": a.get("channel"), "ts": m.TS, "text": m.Text, "message": s.asSeen(m)})
	}
}

func (s *Server) delete(w http.ResponseWriter, a args) {
	r := s.room(w, a.get("channel"))
	if r == nil {
		return
	}
	for i, m := range r.messages {
		if m.TS != a.get("ts") {
			continue
		}
		if m.BotID != BotID {
			fail(w, "cant_delete_message")
			return
		}
		r.messages = append(r.messages[:i:i], r.messages[i+1:]...)
		answer(w, reply{"channel": a.get("channel"), "ts": m.TS})
		return
	}
	fail(w, "message_not_found")
}

func (s *Server) postEphemeral(w http.ResponseWriter, a args) {
	r := s.room(w, a.get("channel"))
	if r == nil {
		return
	}
	user := a.get("user")
	if _, ok := s.users[user]; !ok {
		fail(w, "user_not_in_channel")
		return
	}
	m := &Message{}
	if !s.content(w, a, m, false) {
		return
	}
	s.told[user] = append(s.told[user], m.Text)
	answer(w, reply{"message_ts": s.stamp()})
}

// asSeen is a message as the API and events carry it.
func (s *Server) asSeen(m *Message) reply {
	v := reply{"type": "message", "user": m.User, "ts": m.TS, "text": escape(m.Text), "team": Team}
	if u, ok := s.users[m.User]; ok {
		v["team"] = u.Team
	}
	if m.BotID != "" {
		v["bot_id"], v["app_id"] = m.BotID, AppID
	}
	if m.Thread != "" {
		v["thread_ts"] = m.Thread
	}
	if m.Blocks != nil {
		v["blocks"] = m.Blocks
	}
	return v
}

func (s *Server) info(w http.ResponseWriter, a args) {
	r := s.rooms[a.get("channel")]
	if r == nil || r.NotMember && !strings.HasPrefix(r.ID, "C") {
		fail(w, "channel_not_found")
		return
	}
	answer(w, reply{"channel": reply{"id": or(r.Became, r.ID), "name": strings.ToLower(r.ID), "is_member": !r.NotMember,
		"is_channel": r.ID[0] == 'C', "is_private": r.ID[0] != 'C', "is_im": r.ID[0] == 'D',
		"is_archived": r.Archived, "is_ext_shared": r.ExtShared, "is_pending_ext_shared": r.Pending, "is_shared": r.ExtShared,
		"context_team_id": Team}})
}

func (s *Server) history(w http.ResponseWriter, a args) {
	r := s.room(w, a.get("channel"))
	if r == nil {
		return
	}
	limit := count(a.get("limit"), 100)
	list := []reply{}
	for i := len(r.messages) - 1; i >= 0 && len(list) < limit; i-- { // newest first, no replies
		if m := r.messages[i]; m.Thread == "" || m.Thread == m.TS {
			list = append(list, s.asSeen(m))
		}
	}
	answer(w, reply{"messages": list, "has_more": false})
}

func (s *Server) replies(w http.ResponseWriter, a args) {
	r := s.room(w, a.get("channel"))
	if r == nil {
		return
	}
	ts := a.get("ts")
	if r.find(ts) == nil {
		fail(w, "thread_not_found")
		return
	}
	limit := count(a.get("limit"), 1000)
	list := []reply{}
	for _, m := range r.messages {
		if (m.TS == ts || m.Thread == ts) && len(list) < limit {
			list = append(list, s.asSeen(m))
		}
	}
	answer(w, reply{"messages": list, "has_more": false})
}

func count(s string, most int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < most {
		return n
	}
	return most
}

func (s *Server) uploadURL(w http.ResponseWriter, a args) {
	n, err := strconv.Atoi(a.get("length"))
	if err != nil || n <= 0 || a.get("filename") == "" {
		fail(w, "invalid_arguments")
		return
	}
	id := s.next("F0")
	s.uploads[id] = nil
	answer(w, reply{"upload_url": "http://" + s.addr + "/upload/" + id + "?length=" + strconv.Itoa(n), "file_id": id})
}

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/upload/")
	s.mu.Lock()
	s.note("upload %s", id)
	_, known := s.uploads[id]
	s.mu.Unlock()
	well := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.takeUpload(w, r, id, known) })
	if !s.misbehave(w, r) && !s.Trips.Meet("upload", w, r, well) {
		well(w, r)
	}
}

func (s *Server) takeUpload(w http.ResponseWriter, r *http.Request, id string, known bool) {
	f, _, err := r.FormFile("file")
	if !known || err != nil {
		http.Error(w, "bad upload", http.StatusBadRequest)
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBody))
	if err != nil || strconv.Itoa(len(b)) != r.URL.Query().Get("length") {
		http.Error(w, "bad length", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.uploads[id] = b
	s.mu.Unlock()
	_, _ = io.WriteString(w, "OK - "+strconv.Itoa(len(b)))
}

func (s *Server) completeUpload(w http.ResponseWriter, a args) {
	var files []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	if json.Unmarshal([]byte(a.get("files")), &files) != nil || len(files) == 0 {
		fail(w, "invalid_arguments")
		return
	}
	r := s.room(w, a.get("channel_id"))
	if r == nil {
		return
	}
	under := a.get("thread_ts")
	root := r.find(under)
	if under != "" && (root == nil || root.Thread != "" && root.Thread != root.TS) {
		fail(w, "thread_not_found")
		return
	}
	var contents []string
	list := []reply{}
	for _, f := range files {
		b := s.uploads[f.ID]
		if b == nil {
			fail(w, "file_not_found")
			return
		}
		contents = append(contents, string(b))
		list = append(list, reply{"id": f.ID, "title": f.Title})
	}
	// People see the files under the bot's newest message of the thread.
	var at *Message
	for _, m := range r.messages {
		if under != "" && m.BotID == BotID && (m.TS == under || m.Thread == under) {
			at = m
		}
	}
	if at == nil {
		at = &Message{TS: s.stamp(), Thread: under, User: BotUser, BotID: BotID}
		r.messages = append(r.messages, at)
	}
	at.Files = append(at.Files, contents...)
	answer(w, reply{"files": list})
}
