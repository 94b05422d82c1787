package slacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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
		"user":       reply{"id": user, "username": u.Name, "name": u.Name, "team_id": team, "is_bot": u.Bot},
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

// tell notes what a person alone sees of a message; the lock is held.
func (s *Server) tell(user, text string, blocks json.RawMessage) {
	if len(blocks) > 0 {
		if err := CheckBlocks(blocks, false); err != nil {
			text = "Slack shows nothing: " + err.Error()
		} else {
			s.pings = append(s.pings, mentions(markup(blocks), false)...)
			text, _, _ = look(blocks)
		}
	}
	s.told[user] = append(s.told[user], text)
}

func (s *Server) slash(user, conversation, text string) {
	name, rest, _ := strings.Cut(text, " ")
	s.mu.Lock()
	bot := s.users[user].Bot
	s.mu.Unlock()
	if bot {
		return // Slack gives bots no commands
	}
	if !slices.Contains(s.opts.Commands, name) {
		s.Note("%s is not a valid command", name)
		return
	}
	s.DeliverCommand(user, s.CommandPayload(user, conversation, name, rest))
}

// DeliverCommand sends the event of a slash command, and shows its sender the answer.
func (s *Server) DeliverCommand(user string, payload map[string]any) {
	e := s.prepare("slash_commands", payload, func(raw json.RawMessage) {
		var a struct {
			Text   string          `json:"text"`
			Kind   string          `json:"response_type"`
			Blocks json.RawMessage `json:"blocks"`
		}
		switch {
		case raw == nil:
			s.told[user] = append(s.told[user], str(payload["command"])+" failed with the error \"dispatch_failed\"")
		case json.Unmarshal(raw, &a) == nil && a.Text != "":
			s.pings = append(s.pings, mentions(a.Text, false)...)
			if a.Kind == "in_channel" {
				s.Note("a command's answer was shown to everybody")
			}
			s.tell(user, unescape(a.Text), a.Blocks)
		}
	})
	s.dispatchEnvelope(e)
}

// CommandPayload is the event of a slash command.
func (s *Server) CommandPayload(user, conversation, name, text string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return reply{
		"token": "verification", "team_id": cmp.Or(s.users[user].Team, Team), "team_domain": "home",
		"channel_id":   conversation,
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
	kind := "channel"
	if strings.HasPrefix(conversation, "D") {
		kind = "im"
	}
	ev["channel"], ev["channel_type"], ev["event_ts"], ev["client_msg_id"] = conversation, kind, m.TS, s.next("msg-")
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
