package slacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"approver.example/channels/channeltest/fake"
)

// A view is a dialog on somebody's screen.
type view struct {
	id   string
	body map[string]json.RawMessage
}

// EnterCode opens the card's code dialog and submits text. On a card without
// one it sends the command /approve.
func (s *Server) EnterCode(user, conversation, message, text string) error {
	s.mu.Lock()
	_, _, ok := s.button(conversation, message, fake.CodeButton)
	s.mu.Unlock()
	if !ok {
		s.slash(user, conversation, s.opts.Commands[0]+" "+text)
		return nil
	}
	return s.Fill(user, conversation, message, fake.CodeButton, text)
}

// Prefilled is what stands in the input of the open dialog before the person types.
func (s *Server) Prefilled(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var blocks []struct {
		Element struct {
			Initial string `json:"initial_value"`
		} `json:"element"`
	}
	if v := s.views[user]; v != nil && json.Unmarshal(v.body["blocks"], &blocks) == nil && len(blocks) > 0 {
		return blocks[len(blocks)-1].Element.Initial
	}
	return ""
}

// Fill implements fake.Filler.
func (s *Server) Fill(user, conversation, message string, button fake.Button, text string) error {
	s.mu.Lock()
	delete(s.views, user)
	told := len(s.told[user])
	s.mu.Unlock()
	for range mostPresses {
		if err := s.Tap(user, conversation, message, button); err != nil {
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
// A text may be the late answer to what they sent before, so a dialog is waited for even then.
func (s *Server) dialogFor(user string, told int) (why string) {
	opened := func() bool { return s.views[user] != nil }
	if !s.Await(&s.mu, s.opts.TriggerTTL, func() bool { return opened() || len(s.told[user]) > told }) {
		return pressAgain
	}
	if s.Await(&s.mu, s.opts.TriggerTTL/3, opened) {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told[user][told]
}

// Shortcut uses a shortcut of the app that belongs to no message.
func (s *Server) Shortcut(user, id string) {
	s.mu.Lock()
	p := s.envelopeOf("shortcut", user)
	p["callback_id"], p["action_ts"] = id, s.stamp()
	s.mu.Unlock()
	s.Deliver("interactive", p)
}

// MessageShortcut uses a shortcut of the app on a message.
func (s *Server) MessageShortcut(user, conversation, message, id string) {
	s.mu.Lock()
	p := s.envelopeOf("message_action", user)
	p["callback_id"], p["action_ts"], p["message_ts"] = id, s.stamp(), message
	p["channel"] = reply{"id": conversation, "name": strings.ToLower(conversation)}
	if m := s.rooms[conversation].find(message); m != nil {
		p["message"] = s.asSeen(m)
	}
	s.mu.Unlock()
	s.Deliver("interactive", p)
}

// Open reports whether a dialog that can be sent is on the person's screen.
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
	s.DeliverSubmission(user, payload)
	return nil
}

// DeliverSubmission sends the event of a dialog, and shows its sender the answer.
func (s *Server) DeliverSubmission(user string, payload map[string]any) {
	block := ""
	if v, ok := payload["view"].(reply); ok {
		state, _ := v["state"].(reply)
		values, _ := state["values"].(reply)
		for block = range values {
			break // there is one input
		}
	}
	e := s.prepare("interactive", payload, func(raw json.RawMessage) { s.submitted(user, block, raw) })
	s.dispatchEnvelope(e)
}

// SubmitPayload is the event of sending the open dialog.
func (s *Server) SubmitPayload(user, text string) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[user]
	if v == nil {
		return nil, fmt.Errorf("%s has no dialog open", user)
	}
	block, action, most := v.input()
	if n := utf8.RuneCountInString(text); block != "" && (n > most || n == 0) {
		return nil, fmt.Errorf("the input takes 1 to %d characters, not %d", most, n)
	}
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
func (s *Server) submitted(user, block string, raw json.RawMessage) {
	const trouble = "We had some trouble connecting. Try again?"
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
		if text := a.Errors[block]; len(a.Errors) == 1 && text != "" {
			s.told[user] = append(s.told[user], text)
			return
		}
		s.told[user] = append(s.told[user], trouble)
	case "", "clear":
		delete(s.views, user)
	case "update":
		var shown struct {
			Blocks json.RawMessage `json:"blocks"`
		}
		if json.Unmarshal(a.View, &shown) != nil || CheckBlocks(shown.Blocks, true) != nil {
			s.told[user] = append(s.told[user], trouble)
			return
		}
		text, _, _ := look(shown.Blocks)
		s.told[user] = append(s.told[user], text)
		delete(s.views, user)
	default:
		s.told[user] = append(s.told[user], trouble)
	}
}

// input finds the dialog's input. Its client takes no more than most characters.
func (v *view) input() (block, action string, most int) {
	var blocks []struct {
		Type    string `json:"type"`
		ID      string `json:"block_id"`
		Element struct {
			Action string `json:"action_id"`
			Most   int    `json:"max_length"`
		} `json:"element"`
	}
	_ = json.Unmarshal(v.body["blocks"], &blocks) // the others' fields do not matter
	for _, b := range blocks {
		if b.Type == "input" {
			return b.ID, b.Element.Action, cmp.Or(b.Element.Most, 3000)
		}
	}
	return "", "", 0
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
	if json.Unmarshal(a.json["view"], &body) != nil || string(body["type"]) != `"modal"` {
		return nil, refusal("invalid_arguments")
	}
	c := checker{view: true}
	field := func(name string, most int) {
		var s string
		if raw := body[name]; raw != nil && json.Unmarshal(raw, &s) == nil {
			c.length("/view/"+name, s, 0, most)
		}
	}
	block, _, _ := (&view{body: body}).input()
	for _, name := range []string{"title", "submit", "close"} {
		if raw := body[name]; raw != nil || name == "title" || name == "submit" && block != "" {
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
	if block != "" || body["submit"] != nil {
		s.views[t.user] = v
	} else {
		text, _, _ := look(body["blocks"])
		s.told[t.user] = append(s.told[t.user], text)
	}
	return reply{"view": reply{"id": v.id, "type": "modal", "team_id": Team}}, nil
}

// OpenHome makes a person open the app's Home.
func (s *Server) OpenHome(user string) { s.Deliver("events_api", s.HomePayload(user)) }

// HomePayload is the event of it.
func (s *Server) HomePayload(user string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return reply{
		"type": "event_callback", "token": "verification", "team_id": cmp.Or(s.users[user].Team, Team), "api_app_id": AppID,
		"event_id": s.next("Ev"), "event_time": time.Now().Unix(),
		"event": reply{"type": "app_home_opened", "user": user, "channel": "D0" + user[1:], "tab": "home",
			"event_ts": s.stamp()},
		"authorizations": []reply{{"team_id": Team, "user_id": BotUser, "is_bot": true}},
	}
}

// Home is what a person sees in the app's Home.
func (s *Server) Home(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _, _ := look(s.homes[user])
	return text
}

func (s *Server) viewsPublish(a args) (reply, error) {
	var v struct {
		Type   string          `json:"type"`
		Blocks json.RawMessage `json:"blocks"`
	}
	user := a.get("user_id")
	_, known := s.users[user]
	switch {
	case json.Unmarshal(a.json["view"], &v) != nil || v.Type != "home" || !known:
		return nil, refusal("invalid_arguments")
	case s.opts.NoHome:
		return nil, refusal("not_enabled")
	}
	if err := CheckBlocks(v.Blocks, true); err != nil {
		return reply{"error": "invalid_arguments", "response_metadata": reply{"messages": err.Messages}}, nil
	}
	s.homes[user] = v.Blocks
	s.pings = append(s.pings, mentions(markup(v.Blocks), false)...)
	return reply{"view": reply{"id": s.next("V0"), "type": "home", "team_id": Team}}, nil
}

// Dialog is what a person reads on the dialog that is open; nothing if none is.
func (s *Server) Dialog(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[user]
	if v == nil {
		return ""
	}
	text, _, _ := look(v.body["blocks"])
	return text
}
