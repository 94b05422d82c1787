package slacktest

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
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
	return a, cmp.Or(token, a.form.Get("token")), err == nil
}

// reply is a JSON object on its way out.
type reply = map[string]any

// A refusal is one of Slack's error codes. It is an error.
type refusal string

// Error returns the code.
func (r refusal) Error() string { return string(r) }

// answer writes what a method returned.
func answer(w http.ResponseWriter, v reply, err error) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if blocks, ok := errors.AsType[*BlockError](err); ok {
		v = reply{"error": blocks.Code, "errors": blocks.Messages, "response_metadata": reply{"messages": blocks.Messages}}
	} else if err != nil {
		v = reply{"error": err.Error()}
	}
	if many, ok := errors.AsType[limitError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(many.seconds()))
		w.WriteHeader(http.StatusTooManyRequests)
	}
	v["ok"] = v["error"] == nil
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	s.Note("%s", method)
	s.mu.Lock()
	forced := s.answers[method]
	s.mu.Unlock()
	well := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.serveMethod(r, method, forced)
		answer(w, v, err)
	})
	if !s.Misbehaves(w, r, faults) && !s.Trips.Meet(method, w, r, well) {
		well(w, r)
	}
}

func (s *Server) serveMethod(r *http.Request, method, forced string) (reply, error) {
	if r.Method != http.MethodPost {
		return nil, refusal("invalid_post_type")
	}
	a, token, ok := readArgs(r)
	bot, app := s.bot.Load().(string), s.app.Load().(string)
	want, kind := bot, "xoxb-"
	if method == "apps.connections.open" {
		want, kind = app, "xapp-"
	}
	switch {
	case !ok:
		return nil, refusal("invalid_form_data")
	case forced != "":
		return nil, refusal(forced)
	case token == "":
		return nil, refusal("not_authed")
	case token != want && (token == bot || token == app) && !strings.HasPrefix(token, kind):
		return nil, refusal("not_allowed_token_type")
	case token == AnotherBot && method == "auth.test":
		return reply{"team": "Home", "user": "another", "team_id": Team, "user_id": "U0OTHERBOT", "bot_id": "B0OTHERBOT"}, nil
	case token != want:
		return nil, refusal("invalid_auth")
	}
	return s.dispatch(method, a)
}

// dispatch carries out a method.
func (s *Server) dispatch(method string, a args) (reply, error) {
	methods := map[string]func(args) (reply, error){
		"auth.test":                    s.authTest,
		"apps.connections.open":        s.connectionsOpen,
		"chat.postMessage":             s.inRoom(s.postMessage),
		"chat.update":                  s.inRoom(s.update),
		"chat.delete":                  s.inRoom(s.delete),
		"chat.postEphemeral":           s.inRoom(s.postEphemeral),
		"views.open":                   s.viewsOpen,
		"views.publish":                s.viewsPublish,
		"conversations.info":           s.info,
		"conversations.history":        s.inRoom(s.history),
		"conversations.replies":        s.inRoom(s.replies),
		"files.getUploadURLExternal":   s.uploadURL,
		"files.completeUploadExternal": s.completeUpload,
	}
	f, ok := methods[method]
	if !ok {
		return nil, refusal("unknown_method")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(a)
}

// inRoom is a method for a conversation that the bot may use.
func (s *Server) inRoom(f func(*room, args) (reply, error)) func(args) (reply, error) {
	return func(a args) (reply, error) {
		r, err := s.room(a.get("channel"))
		if err != nil {
			return nil, err
		}
		return f(r, a)
	}
}

func (s *Server) authTest(_ args) (reply, error) {
	return reply{"url": "https://home.slack.com/", "team": "Home", "user": "approver",
		"team_id": Team, "user_id": BotUser, "bot_id": BotID, "is_enterprise_install": false}, nil
}

func (s *Server) connectionsOpen(_ args) (reply, error) {
	if len(s.conns) >= 10 {
		return nil, refusal("too_many_websockets")
	}
	ticket := s.next("ticket-")
	s.triggers[ticket] = &trigger{until: time.Now().Add(30 * time.Second)}
	return reply{"url": "ws://" + s.Addr + "/link?ticket=" + ticket + "&app_id=" + AppID}, nil
}

// room finds a conversation that the bot may use, or says why not.
func (s *Server) room(id string) (*room, error) {
	r := s.rooms[id]
	switch {
	case r == nil || r.NotMember && !strings.HasPrefix(id, "C"):
		return nil, refusal("channel_not_found")
	case r.NotMember:
		return nil, refusal("not_in_channel")
	case r.Archived:
		return nil, refusal("is_archived")
	}
	return r, nil
}

// How long the text of a message may be, in characters.
const maxPosted, maxUpdated = 40000, 4000

// content checks and reads what a message is to show.
func (s *Server) content(a args, m *Message, update bool) error {
	text, blocks := a.get("text"), a.get("blocks")
	if text == "" && (blocks == "" || blocks == "[]") {
		return refusal("no_text")
	}
	most := maxPosted
	if update {
		most = maxUpdated
	}
	if utf8.RuneCountInString(text) > most {
		return refusal("msg_too_long")
	}
	m.Blocks = nil
	if blocks != "" && blocks != "[]" {
		if err := CheckBlocks([]byte(blocks), false); err != nil {
			return err
		}
		if err := s.unwanted([]byte(blocks)); err != nil {
			return err
		}
		m.Blocks = json.RawMessage(blocks)
	}
	// An edit knows no mrkdwn, so its text is formatted.
	m.Formatted = m.Blocks == nil && (update || a.get("mrkdwn") != "false")
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
	return nil
}

func (s *Server) postMessage(r *room, a args) (reply, error) {
	if err := s.take("chat.postMessage "+r.ID, s.opts.Burst); err != nil {
		return nil, err
	}
	m := &Message{User: BotUser, BotID: BotID, Thread: a.get("thread_ts")}
	if m.Thread != "" && r.find(m.Thread) == nil {
		return nil, refusal("thread_not_found")
	}
	if err := s.content(a, m, false); err != nil {
		return nil, err
	}
	m.TS = s.stamp()
	r.messages = append(r.messages, m)
	return reply{"channel": r.ID, "ts": m.TS, "message": s.asSeen(m)}, nil
}

func (s *Server) update(r *room, a args) (reply, error) {
	if err := s.take("chat.update", s.opts.Edits); err != nil {
		return nil, err
	}
	m := r.find(a.get("ts"))
	switch {
	case m == nil:
		return nil, refusal("message_not_found")
	case m.BotID != BotID:
		return nil, refusal("cant_update_message")
	}
	next := *m
	if err := s.content(a, &next, true); err != nil {
		return nil, err
	}
	next.Edits++
	*m = next
	return reply{"channel": r.ID, "ts": m.TS, "text": m.Text, "message": s.asSeen(m)}, nil
}

func (s *Server) delete(r *room, a args) (reply, error) {
	m := r.find(a.get("ts"))
	switch {
	case m == nil:
		return nil, refusal("message_not_found")
	case m.BotID != BotID:
		return nil, refusal("cant_delete_message")
	}
	r.messages = slices.DeleteFunc(r.messages, func(other *Message) bool { return other == m })
	return reply{"channel": r.ID, "ts": m.TS}, nil
}

func (s *Server) postEphemeral(r *room, a args) (reply, error) {
	user := a.get("user")
	if _, ok := s.users[user]; !ok {
		return nil, refusal("user_not_in_channel")
	}
	m := &Message{}
	if err := s.content(a, m, false); err != nil {
		return nil, err
	}
	s.tell(user, m.Text, m.Blocks)
	return reply{"message_ts": s.stamp()}, nil
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

func (s *Server) info(a args) (reply, error) {
	r := s.rooms[a.get("channel")]
	if r == nil || r.NotMember && !strings.HasPrefix(r.ID, "C") {
		return nil, refusal("channel_not_found")
	}
	return reply{"channel": reply{"id": cmp.Or(r.Became, r.ID), "name": strings.ToLower(r.ID), "is_member": !r.NotMember,
		"is_channel": r.ID[0] == 'C', "is_private": r.ID[0] != 'C', "is_im": r.ID[0] == 'D',
		"is_archived": r.Archived, "is_ext_shared": r.ExtShared, "is_pending_ext_shared": r.Pending, "is_shared": r.ExtShared,
		"context_team_id": Team}}, nil
}

func (s *Server) history(r *room, a args) (reply, error) {
	limit := count(a.get("limit"), 100)
	list := []reply{}
	for i := len(r.messages) - 1; i >= 0 && len(list) < limit; i-- { // newest first, no replies
		if m := r.messages[i]; m.Thread == "" || m.Thread == m.TS {
			list = append(list, s.asSeen(m))
		}
	}
	return reply{"messages": list, "has_more": false}, nil
}

func (s *Server) replies(r *room, a args) (reply, error) {
	ts := a.get("ts")
	if r.find(ts) == nil {
		return nil, refusal("thread_not_found")
	}
	limit := count(a.get("limit"), 1000)
	list := []reply{}
	for _, m := range r.messages {
		if (m.TS == ts || m.Thread == ts) && len(list) < limit {
			list = append(list, s.asSeen(m))
		}
	}
	return reply{"messages": list, "has_more": false}, nil
}

func count(s string, most int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < most {
		return n
	}
	return most
}

func (s *Server) uploadURL(a args) (reply, error) {
	n, err := strconv.Atoi(a.get("length"))
	if err != nil || n <= 0 || a.get("filename") == "" {
		return nil, refusal("invalid_arguments")
	}
	id := s.next("F0")
	s.uploads[id] = nil
	to := "http://" + s.Addr + "/upload/" + id + "?length=" + strconv.Itoa(n)
	return reply{"upload_url": to, "file_id": id}, nil
}

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/upload/")
	s.Note("upload %s", id)
	s.mu.Lock()
	_, known := s.uploads[id]
	s.mu.Unlock()
	well := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.takeUpload(w, r, id, known) })
	if !s.Misbehaves(w, r, faults) && !s.Trips.Meet("upload", w, r, well) {
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

func (s *Server) completeUpload(a args) (reply, error) {
	var files []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	if json.Unmarshal([]byte(a.get("files")), &files) != nil || len(files) == 0 {
		return nil, refusal("invalid_arguments")
	}
	r, err := s.room(a.get("channel_id"))
	if err != nil {
		return nil, err
	}
	under := a.get("thread_ts")
	root := r.find(under)
	if under != "" && (root == nil || root.Thread != "" && root.Thread != root.TS) {
		return nil, refusal("thread_not_found")
	}
	var contents []string
	list := []reply{}
	for _, f := range files {
		b := s.uploads[f.ID]
		if b == nil {
			return nil, refusal("file_not_found")
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
	return reply{"files": list}, nil
}
