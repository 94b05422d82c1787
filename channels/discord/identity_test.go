package discord

import (
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
)

type event = map[string]any

// Each of these is a press of Approve on a real card with one thing wrong. None
// may become a reply.
func TestPressesThatDoNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	elsewhere := b.s.AddChannel()
	for name, c := range map[string]struct {
		user   string
		change func(e event)
	}{
		"a stranger": {b.mallory, nil},
		"a stranger who brings an approver as the user of a direct conversation": {b.mallory,
			func(e event) { e["user"] = event{"id": b.ann} }},
		"a stranger with an approver's name": {b.mallory, func(e event) {
			e["member"] = event{"user": event{"id": b.mallory, "username": "ann", "global_name": "Ann"}, "nick": b.ann}
		}},
		"a bot with an approver's id": {b.ann,
			func(e event) { e["member"] = event{"user": event{"id": b.ann, "bot": true}} }},
		"the system with an approver's id": {b.ann,
			func(e event) { e["member"] = event{"user": event{"id": b.ann, "system": true}} }},
		"nobody": {b.ann, func(e event) { delete(e, "member") }},
		"an approver who is no member of the server": {b.ann, func(e event) {
			delete(e, "member")
			e["user"] = event{"id": b.ann}
		}},
		"a member without a user":            {b.ann, func(e event) { e["member"] = event{} }},
		"an empty id":                        {b.ann, func(e event) { e["member"] = event{"user": event{"id": ""}} }},
		"another application":                {b.ann, func(e event) { e["application_id"] = b.s.Guild() }},
		"no application":                     {b.ann, func(e event) { delete(e, "application_id") }},
		"a channel that is not listed":       {b.ann, func(e event) { e["channel_id"] = elsewhere }},
		"a listed channel in another server": {b.ann, func(e event) { e["guild_id"] = b.s.Bot() }},
		"no message":                         {b.ann, func(e event) { delete(e, "message") }},
		"a message without an id":            {b.ann, func(e event) { delete(e["message"].(event), "id") }},
		"a message of another bot": {b.ann,
			func(e event) { e["message"].(event)["author"] = event{"id": b.s.Guild(), "bot": true} }},
		"a message without an author":        {b.ann, func(e event) { delete(e["message"].(event), "author") }},
		"a message of a webhook with our id": {b.ann, func(e event) { e["message"].(event)["webhook_id"] = b.s.Guild() }},
		"a message of another channel":       {b.ann, func(e event) { e["message"].(event)["channel_id"] = b.there }},
		"an ephemeral message":               {b.ann, func(e event) { e["message"].(event)["flags"] = 64 }},
		"a ping":                             {b.ann, func(e event) { e["type"] = 1 }},
		"autocompletion":                     {b.ann, func(e event) { e["type"] = 4; e["data"] = event{"name": "approve"} }},
		"a select menu":                      {b.ann, func(e event) { e["data"].(event)["component_type"] = 3 }},
		"button data of nobody":              {b.ann, func(e event) { e["data"].(event)["custom_id"] = "approve" }},
		"button data of tomorrow": {b.ann,
			func(e event) { e["data"].(event)["custom_id"] = "a2:AAAAAAAAAAAAAAAAAAAAAA:o" }},
		"a press without data":     {b.ann, func(e event) { delete(e, "data") }},
		"a command without a code": {b.ann, func(e event) { e["type"] = 2; e["data"] = event{"name": "approve"} }},
		"a command of another name": {b.ann, func(e event) {
			e["type"] = 2
			e["data"] = event{"name": "allow", "options": []event{{"type": 3, "name": "code", "value": "CONFIRM-7KQ4MX"}}}
		}},
		"a command whose code is a number": {b.ann, func(e event) {
			e["type"] = 2
			e["data"] = event{"name": "approve", "options": []event{{"type": 4, "name": "code", "value": 7}}}
		}},
		"an empty dialog": {b.ann,
			func(e event) { e["type"] = 5; e["data"] = event{"custom_id": e["data"].(event)["custom_id"]} }},
		"a dialog of the approve button": {b.ann,
			func(e event) { e["type"] = 5; e["data"] = dialogData(e, "CONFIRM-7KQ4MX") }},
		"no id":                                {b.ann, func(e event) { delete(e, "id") }},
		"no token, so that nobody can be told": {b.ann, func(e event) { delete(e, "token") }},
		"an approver in a channel not listed": {b.ann, func(e event) {
			e["channel_id"] = elsewhere
			e["message"].(event)["channel_id"] = elsewhere
		}},
	} {
		t.Run(name, func(t *testing.T) {
			card := high()
			ref := b.post(b.here, card)
			b.t = t
			b.s.SendPress(c.user, b.here, ref.Message, discordtest.CustomID(card.Request, "o"), 1, c.change)
			b.nothing(name)
		})
	}
	b.t = t
	b.told(b.mallory, "not on the approver list")
}

func dialogData(e event, text string) event {
	return event{"custom_id": e["data"].(event)["custom_id"], "components": []event{
		{"type": 1, "components": []event{{"type": 4, "custom_id": "code", "value": text}}},
	}}
}

// The guard of the test above: the same event with nothing wrong counts.
func TestPressThatCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	ref := b.post(b.here, card)
	b.s.SendPress(b.ann, b.here, ref.Message, discordtest.CustomID(card.Request, "o"), 1, nil)
	r := b.one(0)
	want := approver.Reply{
		Channel: "discord", Conversation: b.here, Sender: b.ann, Name: "Ann", Approve: true,
		Method: approver.ByTap, Request: card.Request, Message: ref.Message,
	}
	if r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
	b.told(b.ann, "noted")
}

// Each of these is a denial by an approver's message with one thing wrong.
func TestMessagesThatDoNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	elsewhere := b.s.AddChannel()
	card := high()
	text := "no " + card.Code.Reveal()
	b.post(b.here, card)
	for name, c := range map[string]struct {
		user   string
		change func(e event)
	}{
		"a stranger":                         {b.mallory, nil},
		"a bot":                              {b.ann, func(e event) { e["author"].(event)["bot"] = true }},
		"the system":                         {b.ann, func(e event) { e["author"].(event)["system"] = true }},
		"a webhook with an approver's id":    {b.ann, func(e event) { e["webhook_id"] = b.s.Guild() }},
		"no author":                          {b.ann, func(e event) { delete(e, "author") }},
		"an empty id":                        {b.ann, func(e event) { e["author"].(event)["id"] = "" }},
		"a channel that is not listed":       {b.ann, func(e event) { e["channel_id"] = elsewhere }},
		"a listed channel in another server": {b.ann, func(e event) { e["guild_id"] = b.s.Bot() }},
		"an edited message":                  {b.ann, func(e event) { e["edited_timestamp"] = time.Now() }},
		"a forwarded message": {b.ann, func(e event) {
			e["message_reference"] = event{"type": 1, "message_id": b.s.Bot(), "channel_id": b.here}
		}},
		"a forwarded snapshot": {b.ann,
			func(e event) { e["message_snapshots"] = []event{{"message": event{"content": text}}} }},
		"a message by a command": {b.ann, func(e event) { e["type"] = 20 }},
		"a pin":                  {b.ann, func(e event) { e["type"] = 6 }},
		"the answer of some command": {b.ann,
			func(e event) { e["interaction_metadata"] = event{"id": b.s.Bot(), "type": 2} }},
		"no id": {b.ann, func(e event) { delete(e, "id") }},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.s.SendMessage(c.user, b.here, text, 1, c.change)
			b.nothing(name)
		})
	}
	b.t = t
	if told := b.s.Told(b.mallory); len(told) != 0 {
		t.Errorf("a stranger's talk was answered: %q", told)
	}
	before := len(b.got())
	b.s.SendMessage(b.ann, b.here, text, 1, nil) // nothing wrong
	if r := b.one(before); r.Approve || r.Method != approver.ByCode || !r.Code.Equal(card.Code) {
		t.Errorf("got %+v", r)
	}
	// An edit is another event, and never an answer.
	before = len(b.got())
	b.s.SendEvent("MESSAGE_UPDATE", event{
		"id": b.s.Bot(), "channel_id": b.here, "guild_id": b.s.Guild(), "content": text, "author": event{"id": b.ann},
	})
	b.nothing("an edit")
	_ = before
}

// A typed yes or no counts only as the reply to a card of ours.
func TestRepliesToOtherMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	card := high()
	ref := b.post(b.here, card)
	settled := high()
	refSettled := b.post(b.here, settled)
	settled.State, settled.Result = approver.Denied, "denied"
	if err := b.c.Update(t.Context(), refSettled, settled); err != nil {
		t.Fatal(err)
	}
	buttons := func(request string) []event {
		return []event{{"type": 1, "components": []event{
			{"type": 2, "style": 3, "label": "Approve", "custom_id": discordtest.CustomID(request, "o")},
		}}}
	}
	own := func(change func(m event)) func(e event) {
		return func(e event) {
			m := event{
				"id": ref.Message, "channel_id": b.here, "author": event{"id": b.s.Bot(), "bot": true},
				"components": buttons(card.Request),
			}
			change(m)
			e["type"] = 19
			e["message_reference"] = event{"message_id": m["id"], "channel_id": b.here}
			e["referenced_message"] = m
		}
	}
	for name, change := range map[string]func(e event){
		"no reply at all":        nil,
		"a person's message":     own(func(m event) { m["author"] = event{"id": b.mallory} }),
		"another bot's message":  own(func(m event) { m["author"] = event{"id": b.s.Guild(), "bot": true} }),
		"a webhook's message":    own(func(m event) { m["webhook_id"] = b.s.Guild() }),
		"a message elsewhere":    own(func(m event) { m["channel_id"] = b.there }),
		"a card without buttons": own(func(m event) { m["components"] = []event{} }),
		"buttons of another kind": own(func(m event) {
			m["components"] = []event{{"type": 1,
				"components": []event{{"type": 2, "style": 1, "label": "x", "custom_id": "x"}}}}
		}),
		"a reply without reference": func(e event) { e["type"] = 19 },
		"a reference elsewhere": func(e event) {
			own(func(event) {})(e)
			e["message_reference"].(event)["channel_id"] = b.there
		},
		"a reference to another message than the copy": func(e event) {
			own(func(event) {})(e)
			e["message_reference"].(event)["message_id"] = refSettled.Message
		},
		"a deleted card": func(e event) {
			e["type"] = 19
			e["message_reference"] = event{"message_id": b.s.Guild(), "channel_id": b.here}
		},
		"two requests on one card": own(func(m event) {
			m["components"] = append(buttons(card.Request),
				buttons(settled.Request)...)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.s.SendMessage(b.ann, b.here, "yes", 1, change)
			b.nothing(name)
		})
	}
	b.t = t
	b.s.ReplyTo(b.ann, b.here, refSettled.Message, "yes")
	b.nothing("a reply to a settled card")

	for name, change := range map[string]func(e event){
		"with a copy": own(func(event) {}),
		// Discord does not always send a copy: then the card is read.
		"without a copy": func(e event) {
			own(func(event) {})(e)
			delete(e, "referenced_message")
		},
	} {
		before := len(b.got())
		b.s.SendMessage(b.ann, b.here, "yes", 1, change)
		if r := b.one(before); !r.Approve || r.Method != approver.ByPlain || r.Request != card.Request ||
			r.Message != ref.Message {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

func TestConfiguredGuild(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.Guild = b.s.Bot() }).connected() // not where the channels lie
	card := high()
	ref := b.post(b.here, card)
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "not a channel that approver uses")
	if got := b.got(); len(got) != 0 {
		t.Errorf("an answer from another server counted: %+v", got)
	}
}

func TestDirectConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	ref := b.post(b.direct, card)
	if err := b.s.Tap(b.ann, b.direct, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	if r := b.one(0); r.Sender != b.ann || r.Conversation != b.direct || !r.Approve {
		t.Errorf("got %+v", r)
	}
	// There are no commands of a server here; text denies.
	b.s.Type(b.ann, b.direct, "/deny "+card.Code.Reveal())
	if r := b.one(1); r.Approve || r.Method != approver.ByCommand || !r.Code.Equal(card.Code) {
		t.Errorf("got %+v", r)
	}
}
