package slacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"approver.example/channels/channeltest/fake"
)

// A trigger opens one dialog, soon. It also stands for a socket's ticket.
type trigger struct {
	user  string
	until time.Time
	used  bool
}

// A view is a dialog on somebody's screen.
type view struct {
	id   string
	body map[string]json.RawMessage
}

// trigger makes a trigger id; the lock is held.
func (s *Server) trigger(user string) string {
	id := s.next("trigger.")
	s.triggers[id] = &trigger{user: user, until: time.Now().Add(s.opts.TriggerTTL)}
	return id
}

// envelopeOf is what all payloads say of sender and app; the lock is held.
func (s *Server) envelopeOf(kind, user string) reply {
	u := s.users[user]
	team := cmp.Or(u.Team, Team)
	return reply{
		"type": kind, "token": "verification", "api_app_id": AppID, "trigger_id": s.trigger(user),
		"user":       reply{"id": user, "username": u.Name, "name": u.Name, "team_id": team},
		"team":       reply{"id": Team, "domain": "home"},
		"enterprise": nil, "is_enterprise_install": false,
	}
}

// ButtonPayload is the event of a button press, for tests that change it before
// they Deliver it.
func (s *Server) ButtonPayload(user, conversation, message, block, value, action string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.envelopeOf("block_actions", user)
	container := reply{"type": "message", "message_ts": message, "channel_id": conversation, "is_ephemeral": false}
	if m := s.rooms[conversation].find(message); m != nil {
		p["message"] = s.asSeen(m)
		if m.Thread != "" {
			container["thread_ts"] = m.Thread
		}
	}
	p["container"] = container
	p["channel"] = reply{"id": conversation, "name": strings.ToLower(conversation)}
	p["state"] = reply{"values": reply{}}
	p["response_url"] = "http://" + s.Addr + "/actions/unused"
	p["actions"] = []reply{{"type": "button", "action_id": action, "block_id": block, "value": value,
		"text": reply{"type": "plain_text", "text": action}, "action_ts": s.stamp()}}
	return p
}

// button finds a button on a message; the lock is held.
func (s *Server) button(conversation, message string, b fake.Button) (block, value string, ok bool) {
	m := s.rooms[conversation].find(message)
	if m == nil {
		return "", "", false
	}
	var blocks []struct {
		Type     string `json:"type"`
		ID       string `json:"block_id"`
		Elements []struct {
			Action string `json:"action_id"`
			Value  string `json:"value"`
		} `json:"elements"`
	}
	_ = json.Unmarshal(m.Blocks, &blocks) // rich text does not fit; the buttons' block does
	for _, blk := range blocks {
		for _, e := range blk.Elements {
			if blk.Type == "actions" && e.Action == actionOf(b) {
				return blk.ID, e.Value, true
			}
		}
	}
	return "", "", false
}

// Tap presses a button.
func (s *Server) Tap(user, conversation, message string, b fake.Button) error {
	s.mu.Lock()
	block, value, ok := s.button(conversation, message, b)
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("the message %s has no button %q", message, actionOf(b))
	}
	s.Deliver("interactive", s.ButtonPayload(user, conversation, message, block, value, actionOf(b)))
	return nil
}

// Forge sends a button press that no message offers. Whether Slack would let a
// modified client do so is not documented, so the fake lets it.
func (s *Server) Forge(user, conversation, message, request string, b fake.Button) bool {
	s.Deliver("interactive", s.ButtonPayload(user, conversation, message, "ap:"+request+":forged", request, actionOf(b)))
	return true
}

// Type sends a message. A text that starts with a slash is a command, as in
// Slack's clients; one that no app registered goes nowhere.
func (s *Server) Type(user, conversation, text string) {
	if strings.HasPrefix(text, "/") {
		s.slash(user, conversation, text)
		return
	}
	s.say(user, conversation, "", text)
}

// ReplyTo sends a message into a message's thread.
func (s *Server) ReplyTo(user, conversation, message, text string) bool {
	s.say(user, conversation, message, text)
	return true
}

func (s *Server) slash(user, conversation, text string) {
	name, rest, _ := strings.Cut(text, " ")
	if name != "/approve" && name != "/deny" && name != "/pair" {
		s.Note("%s is not a valid command", name)
		return
	}
	e := s.prepare("slash_commands", s.CommandPayload(user, conversation, name, rest), func(raw json.RawMessage) {
		var a struct {
			Text string `json:"text"`
			Kind string `json:"response_type"`
		}
		switch {
		case raw == nil:
			s.told[user] = append(s.told[user], name+" failed with the error \"dispatch_failed\"")
		case json.Unmarshal(raw, &a) == nil && a.Text != "":
			s.pings = append(s.pings, mentions(a.Text, false)...)
			if a.Kind == "in_channel" {
				s.Note("a command's answer was shown to everybody")
			}
			s.told[user] = append(s.told[user], unescape(a.Text))
		}
	})
	s.dispatchEnvelope(e)
}

// CommandPayload is the event of a slash command.
func (s *Server) CommandPayload(user, conversation, name, text string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return reply{
		"token": "verification", "team_id": Team, "team_domain": "home", "channel_id": conversation,
		"channel_name": strings.ToLower(conversation), "user_id": user, "user_name": s.users[user].Name,
		"command": name, "text": text, "api_app_id": AppID, "is_enterprise_install": "false",
		"response_url": "http://" + s.Addr + "/commands/unused", "trigger_id": s.trigger(user),
	}
}

// MessagePayload stores a message and returns its event.
func (s *Server) MessagePayload(user, conversation, thread, text string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[user]
	m := &Message{TS: s.stamp(), Thread: thread, User: user, Text: text}
	shared := false
	if r := s.rooms[conversation]; r != nil {
		r.messages = append(r.messages, m)
		shared = r.ExtShared
	}
	ev := s.asSeen(m)
	ev["channel"], ev["channel_type"], ev["event_ts"], ev["client_msg_id"] = conversation, "channel", m.TS, s.next("msg-")
	if u.Bot {
		ev["bot_id"], ev["subtype"] = "B0OTHERBOT", "bot_message"
	}
	return reply{
		"type": "event_callback", "token": "verification", "team_id": Team, "api_app_id": AppID,
		"event_id": s.next("Ev"), "event_time": time.Now().Unix(), "is_ext_shared_channel": shared,
		"event":          ev,
		"authorizations": []reply{{"team_id": Team, "user_id": BotUser, "is_bot": true}},
	}
}

func (s *Server) say(user, conversation, thread, text string) {
	s.Deliver("events_api", s.MessagePayload(user, conversation, thread, text))
}

// EnterCode opens the card's code dialog and submits text. On a card without
// one it sends the command /approve.
func (s *Server) EnterCode(user, conversation, message, text string) error {
	s.mu.Lock()
	_, _, ok := s.button(conversation, message, fake.CodeButton)
	delete(s.views, user)
	told := len(s.told[user])
	s.mu.Unlock()
	if !ok {
		s.slash(user, conversation, "/approve "+text)
		return nil
	}
	for range mostPresses {
		if err := s.Tap(user, conversation, message, fake.CodeButton); err != nil {
			return err
		}
		switch told := s.dialogFor(user, told); {
		case told == "":
			return s.Submit(user, text)
		case !strings.Contains(told, pressAgain):
			return nil // no dialog, but the person was told why
		}
		s.mu.Lock()
		told = len(s.told[user])
		s.mu.Unlock()
	}
	return fmt.Errorf("no dialog opened for %s", user)
}

// A trigger is short-lived, so on a loaded machine a dialog may come too late. Then a
// person reads pressAgain and presses once more, mostPresses times at most.
const (
	pressAgain  = "Press the button again"
	mostPresses = 4
)

// dialogFor waits until a dialog is on the person's screen, and returns nothing. If none
// opens, it returns what they were told besides the first so many texts, or pressAgain.
func (s *Server) dialogFor(user string, told int) (why string) {
	if !s.Await(&s.mu, s.opts.TriggerTTL, func() bool {
		why = ""
		if s.views[user] == nil && len(s.told[user]) > told {
			why = s.told[user][told]
		}
		return s.views[user] != nil || why != ""
	}) {
		return pressAgain
	}
	return why
}

// Open reports whether a dialog with an input is on the person's screen.
func (s *Server) Open(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views[user] != nil
}

// Submit sends the open dialog with text in its input.
func (s *Server) Submit(user, text string) error {
	payload, err := s.SubmitPayload(user, text)
	if err != nil {
		return err
	}
	e := s.prepare("interactive", payload, func(raw json.RawMessage) { s.submitted(user, raw) })
	s.dispatchEnvelope(e)
	return nil
}

// SubmitPayload is the event of sending the open dialog.
func (s *Server) SubmitPayload(user, text string) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[user]
	if v == nil {
		return nil, fmt.Errorf("%s has no dialog open", user)
	}
	block, action := v.input()
	p := s.envelopeOf("view_submission", user)
	body := reply{"id": v.id, "team_id": Team, "app_id": AppID, "bot_id": BotID, "hash": "1.h", "root_view_id": v.id,
		"app_installed_team_id": Team,
		"state": reply{"values": reply{block: reply{action: reply{"type": "plain_text_input",
			"value": text}}}}}
	for name, raw := range v.body {
		body[name] = raw
	}
	p["view"], p["response_urls"] = body, []string{}
	return p, nil
}

// submitted is what the client does with the acknowledgement; the lock is held.
func (s *Server) submitted(user string, raw json.RawMessage) {
	const trouble = "We had some trouble connecting. Try again?"
	v := s.views[user]
	var a struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	if raw == nil || json.Unmarshal(raw, &a) != nil {
		s.told[user] = append(s.told[user], trouble)
		return
	}
	switch a.Action {
	case "errors":
		block := ""
		if v != nil {
			block, _ = v.input()
		}
		if text := a.Errors[block]; len(a.Errors) == 1 && text != "" {
			s.told[user] = append(s.told[user], text)
			return
		}
		s.told[user] = append(s.told[user], trouble)
	case "", "clear":
		delete(s.views, user)
	default:
		s.told[user] = append(s.told[user], trouble)
	}
}

// input finds the dialog's input.
func (v *view) input() (block, action string) {
	var blocks []struct {
		Type    string `json:"type"`
		ID      string `json:"block_id"`
		Element struct {
			Action string `json:"action_id"`
		} `json:"element"`
	}
	_ = json.Unmarshal(v.body["blocks"], &blocks) // the others' fields do not matter
	for _, b := range blocks {
		if b.Type == "input" {
			return b.ID, b.Element.Action
		}
	}
	return "", ""
}

func (s *Server) viewsOpen(a args) (reply, error) {
	t := s.triggers[a.get("trigger_id")]
	switch {
	case t == nil || t.user == "":
		return nil, refusal("invalid_trigger_id")
	case time.Now().After(t.until):
		return nil, refusal("expired_trigger_id")
	case t.used:
		return nil, refusal("exchanged_trigger_id")
	}
	t.used = true
	var body map[string]json.RawMessage
	if json.Unmarshal(a.json["view"], &body) != nil {
		return nil, refusal("invalid_arguments")
	}
	c := checker{view: true}
	field := func(name string, most int) {
		var s string
		if raw := body[name]; raw != nil && json.Unmarshal(raw, &s) == nil {
			c.length("/view/"+name, s, 0, most)
		}
	}
	for _, name := range []string{"title", "submit", "close"} {
		if raw := body[name]; raw != nil {
			var o any
			_ = json.Unmarshal(raw, &o) // a bad object fails the check
			c.text("/view/"+name, o, 24, "plain_text")
		}
	}
	field("private_metadata", 3000)
	field("callback_id", 255)
	if err := CheckBlocks(body["blocks"], true); err != nil {
		c.errs = append(c.errs, err.Messages...)
	}
	if len(c.errs) > 0 {
		return reply{"error": "invalid_arguments", "response_metadata": reply{"messages": c.errs}}, nil
	}
	v := &view{id: s.next("V0"), body: body}
	s.pings = append(s.pings, mentions(markup(body["blocks"]), false)...)
	if block, _ := v.input(); block != "" {
		s.views[t.user] = v
	} else {
		text, _, _ := look(body["blocks"])
		s.told[t.user] = append(s.told[t.user], text)
	}
	return reply{"view": reply{"id": v.id, "type": "modal", "team_id": Team}}, nil
}
