package slack_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
)

type object = map[string]any

// TestForgedButtons presses a card's own approve button with one thing changed
// in the event. Nothing of it may become a reply.
func TestForgedButtons(t *testing.T) {
	b := start(t, setup{})
	card := b.card()
	ref := b.post(card)
	block := blockID(t, b.fake.Messages(here)[0])
	set := func(path string, v any) func(object) {
		return func(p object) {
			first, rest, nested := strings.Cut(path, ".")
			if !nested {
				p[first] = v
				return
			}
			p[first] = with(p[first], rest, v)
		}
	}
	// What an approver surely pressed is refused with a word; anything else, in silence.
	hers := []string{"another conversation in the container", "no message", "an ephemeral message", "a view",
		"a message of a person", "a message of another bot", "no copy of the message", "another block",
		"block and value differ", "another action", "two actions", "no action"}
	for _, c := range []struct {
		name   string
		change func(object)
	}{
		{"another app", set("api_app_id", "A0EVIL1234")},
		{"no app", set("api_app_id", "")},
		{"another workspace", set("team.id", "T0EVIL1234")},
		{"no workspace", set("team", object{})},
		{"a member of another workspace", set("user.team_id", "T0EVIL1234")},
		{"a member of an unknown workspace", set("user.team_id", "")},
		{"a bot", set("user.is_bot", true)},
		{"nobody", set("user.id", "")},
		{"another conversation in the container", set("container.channel_id", there)},
		{"an unknown conversation", func(p object) {
			set("container.channel_id", "C0EVIL1234")(p)
			set("channel.id", "C0EVIL1234")(p)
		}},
		{"no message", set("container.message_ts", "")},
		{"an ephemeral message", set("container.is_ephemeral", true)},
		{"a view", set("container.type", "view")},
		{"a message of a person", set("message.bot_id", "")},
		{"a message of another bot", set("message.bot_id", "B0EVIL1234")},
		{"no copy of the message", func(p object) { delete(p, "message") }},
		{"another block", set("actions",
			[]object{{"type": "button", "action_id": "approve", "block_id": "evil", "value": card.Request}})},
		{"block and value differ",
			set("actions", []object{{"type": "button", "action_id": "approve", "block_id": block, "value": "other"}})},
		{"another action", set("actions",
			[]object{{"type": "button", "action_id": "approve_all", "block_id": block, "value": card.Request}})},
		{"two actions", set("actions", []object{
			{"type": "button", "action_id": "approve", "block_id": block, "value": card.Request},
			{"type": "button", "action_id": "approve", "block_id": block, "value": card.Request}})},
		{"no action", set("actions", []object{})},
		{"another kind of event", set("type", "block_suggestion")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.fake.ButtonPayload(ann, here, ref.Message, block, card.Request, "approve")
			c.change(p)
			told := len(b.fake.Told(ann))
			b.fake.Deliver("interactive", p)
			b.pass()
			if got := b.got(); len(got) != 0 {
				t.Errorf("it became %+v", got)
			}
			got := strings.Join(b.fake.Told(ann)[told:], " ")
			old := strings.Contains(got, "no card of approver") || strings.Contains(got, "an older version")
			if surely := slices.Contains(hers, c.name); got != "" && !old || old != surely {
				t.Errorf("it was answered with %q", got)
			}
			if b.fake.Open(ann) {
				t.Error("it opened a dialog")
			}
		})
	}
	// The same event, unchanged, is a reply: the changes above are what refused it.
	b.fake.Deliver("interactive", b.fake.ButtonPayload(ann, here, ref.Message, block, card.Request, "approve"))
	r := b.want(1)[0]
	want := approver.Reply{Channel: "slack", Conversation: here, Sender: ann, Name: "ann", Approve: true,
		Method:  approver.ByTap,
		Request: card.Request, Message: ref.Message}
	if r != want {
		t.Errorf("the reply is %+v, want %+v", r, want)
	}
	b.told(ann, "Noted.")
}

func TestOrganisation(t *testing.T) {
	b := start(t, setup{config: func(c *slack.Config) { c.Teams = []string{"E0GRID1234"} }})
	card := b.card()
	ref := b.post(card)
	block := blockID(t, b.fake.Messages(here)[0])
	p := b.fake.ButtonPayload(ben, here, ref.Message, block, card.Request, "deny")
	p["team"], p["enterprise"], p["is_enterprise_install"] = nil, object{"id": "E0GRID1234", "name": "grid"}, true
	p["user"] = object{"id": ben, "name": "ben", "team_id": "E0GRID1234"}
	b.fake.Deliver("interactive", p)
	if r := b.want(1)[0]; r.Approve || r.Sender != ben {
		t.Errorf("the reply is %+v", r)
	}
}

// TestMessages types texts in many ways; want is the number of replies.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name    string
		approve bool // Config.TextApprovals
		user    string
		thread  bool
		text    string
		change  func(event, outer object)
		want    string // the method and answer, or nothing
		told    string
		reason  string
	}{
		{name: "a code approves where allowed", approve: true, text: "CODE", want: "code true", told: "Noted."},
		{name: "a code does not approve by default", text: "CODE", told: "A message cannot approve"},
		{name: "a code with a no denies", text: "no CODE", want: "code false", told: "Noted."},
		{name: "mentioned bot", text: "<@" + slacktest.BotUser + "> no CODE", want: "code false"},
		{name: "yes in the thread where allowed", approve: true, thread: true, text: "yes", want: "plain true",
			told: "Noted."},
		{name: "yes in the thread by default", thread: true, text: "yes", told: "A message cannot approve"},
		{name: "no in the thread", thread: true, text: "No!", want: "plain false", told: "Noted."},
		{name: "no outside the thread", text: "no"},
		{name: "yes outside the thread", approve: true, text: "yes"},
		{name: "talk", approve: true, text: "what is this?"},
		{name: "talk in the thread", approve: true, thread: true, text: "what is this?", told: "did not understand"},
		{name: "talk to the bot", text: "<@" + slacktest.BotUser + "> hello", told: "did not understand"},
		{name: "no to the bot outside the thread", text: "<@" + slacktest.BotUser + "> no", told: "which card you mean"},
		{name: "no with a reason in the thread", thread: true, text: "no, use a && b <c>", want: "plain false",
			reason: "use a && b <c>"},
		{name: "a no in other words", thread: true, text: "don't push", want: "plain false", reason: "don't push"},
		{name: "no with a reason outside the thread", text: "no, use a branch"},
		{name: "a code with a no in the thread", thread: true, text: "no CODE, use a branch", want: "code false",
			reason: "use a branch"},
		{name: "a code in the thread where allowed", approve: true, thread: true, text: "CODE", want: "code true"},
		{name: "two codes", approve: true, text: "CODE or CONFIRM-ACDEFGHJ", told: "more than one code"},
		{name: "a command sent as text", text: " /deny CODE", want: "command false"},
		{name: "a command without its code", text: " /deny now", told: "not a confirmation code"},
		{name: "a stranger", approve: true, user: stranger, text: "CODE"},
		{name: "a stranger in the thread", approve: true, user: stranger, thread: true, text: "yes",
			told: "not on the approver list"},
		{name: "a stranger's talk in the thread", user: stranger, thread: true, text: "what is this?"},
		{name: "edited", approve: true, text: "CODE",
			change: func(e, _ object) { e["edited"] = object{"user": ann, "ts": "1.0"} }},
		{name: "changed", approve: true, text: "CODE", change: func(e, _ object) { e["subtype"] = "message_changed" }},
		{name: "sent to the channel beside the thread", approve: true, thread: true, text: "CODE",
			told: "Only a plain message", change: func(e, _ object) { e["subtype"] = "thread_broadcast" }},
		{name: "a file in the thread", thread: true, text: "no", told: "Only a plain message",
			change: func(e, _ object) { e["subtype"] = "file_share" }},
		{name: "a file in a direct message", text: "", told: "Only a plain message",
			change: func(e, _ object) { e["channel"], e["channel_type"], e["subtype"] = direct, "im", "file_share" }},
		{name: "a file for people", text: "look at this", change: func(e, _ object) { e["subtype"] = "file_share" }},
		{name: "a stranger's file in a direct message", user: stranger, text: "hi", told: "not on the approver list",
			change: func(e, _ object) { e["channel"], e["channel_type"], e["subtype"] = direct, "im", "file_share" }},
		{name: "a bot's file", approve: true, thread: true, text: "CODE",
			change: func(e, _ object) { e["subtype"], e["bot_id"] = "file_share", "B0OTHER123" }},
		{name: "a bot with the approver's id", approve: true, text: "CODE",
			change: func(e, _ object) { e["bot_id"] = "B0OTHER123" }},
		{name: "a bot's profile", approve: true, text: "CODE",
			change: func(e, _ object) { e["bot_profile"] = object{"id": "B0OTHER123"} }},
		{name: "a workflow", approve: true, text: "CODE", change: func(e, _ object) { e["workflow_id"] = "Wf1" }},
		{name: "a webhook's name", approve: true, text: "CODE", change: func(e, _ object) { e["username"] = "ann" }},
		{name: "shared conversation", approve: true, text: "CODE",
			change: func(_, o object) { o["is_ext_shared_channel"] = true }},
		{name: "another workspace's member", approve: true, text: "CODE",
			change: func(e, _ object) { e["user_team"] = "T0EVIL1234" }},
		{name: "another workspace's source", approve: true, text: "CODE",
			change: func(e, _ object) { e["source_team"] = "T0EVIL1234" }},
		{name: "another workspace's team", approve: true, text: "CODE",
			change: func(e, _ object) { e["team"] = "T0EVIL1234" }},
		{name: "another workspace's event", approve: true, text: "CODE",
			change: func(_, o object) { o["team_id"] = "T0EVIL1234" }},
		{name: "another app's event", approve: true, text: "CODE",
			change: func(_, o object) { o["api_app_id"] = "A0EVIL1234" }},
		{name: "another conversation", approve: true, text: "CODE",
			change: func(e, _ object) { e["channel"] = "C0OTHER123" }, told: "Everybody here can read the code"},
		{name: "talk in another conversation", text: "no, use a branch",
			change: func(e, _ object) { e["channel"] = "C0OTHER123" }},
		{name: "a stranger's code in another conversation", user: stranger, text: "CODE",
			change: func(e, _ object) { e["channel"] = "C0OTHER123" }},
		{name: "a code beside a file in another conversation", text: "CODE", told: "Everybody here can read the code",
			change: func(e, _ object) { e["channel"], e["subtype"] = "C0OTHER123", "file_share" }},
		{name: "a command with a file", text: " /deny CODE", told: "Only a plain message",
			change: func(e, _ object) { e["subtype"] = "file_share" }},
		{name: "edited into a no in the thread", thread: true, text: "no", told: "edited message does not count",
			change: editedFrom("nothing", 0)},
		{name: "edited into a command", text: " /deny CODE", told: "edited message does not count",
			change: editedFrom("hm", 0)},
		{name: "edited talk in the thread", thread: true, text: "what is it?", change: editedFrom("what?", 0)},
		{name: "the preview of a link", thread: true, text: "no", change: editedFrom("no", 0)},
		{name: "edited by somebody else", thread: true, text: "no", change: func(e, o object) {
			editedFrom("nothing", 0)(e, o)
			e["message"].(object)["edited"].(object)["user"] = ben
		}},
		{name: "a bot's edit", thread: true, text: "no", change: func(e, o object) {
			editedFrom("nothing", 0)(e, o)
			e["message"].(object)["bot_id"] = "B0OTHER123"
		}},
		{name: "a direct message that gets no cards", approve: true, text: "CODE",
			change: func(e, _ object) { e["channel"], e["channel_type"] = direct, "im" }, told: "Nothing was changed"},
		{name: "a stranger's direct message", user: stranger, text: "hello", told: "not on the approver list",
			change: func(e, _ object) { e["channel"], e["channel_type"] = direct, "im" }},
		{name: "talk in a direct message", text: "hello", told: "did not understand",
			change: func(e, _ object) { e["channel"], e["channel_type"] = direct, "im" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t, setup{config: func(cfg *slack.Config) { cfg.TextApprovals = c.approve }, fake: other})
			card := b.card()
			ref := b.post(card)
			if c.user == "" {
				c.user = ann
			}
			thread := ""
			if c.thread {
				thread = ref.Message
			}
			p := b.fake.MessagePayload(c.user, here, thread, strings.ReplaceAll(c.text, "CODE", card.Code.Reveal()))
			if c.change != nil {
				c.change(p["event"].(object), p)
			}
			b.fake.Deliver("events_api", p)
			if c.told != "" {
				b.told(c.user, c.told)
			}
			if c.want == "" {
				b.pass()
				if got := b.got(); len(got) != 0 {
					t.Fatalf("it became %+v", got)
				}
				if got := b.fake.Told(c.user); c.told == "" && len(got) > 0 {
					t.Errorf("it was answered with %q", got)
				}
				return
			}
			r := b.want(1)[0]
			if got := fmt.Sprintf("%s %v", r.Method, r.Approve); got != c.want || r.Sender != c.user || r.Conversation != here ||
				r.Reason != c.reason {
				t.Errorf("the reply is %+v, want %s", r, c.want)
			}
			named := r.Request == card.Request && r.Message == ref.Message
			if named != c.thread || (r.Method == approver.ByPlain) == r.Code.Equal(card.Code) {
				t.Errorf("the reply names the wrong card: %+v", r)
			}
		})
	}
}

// A yes or no counts only under a pending card of our own.
func TestPlainUnderOtherMessages(t *testing.T) {
	b := start(t, setup{config: func(c *slack.Config) { c.TextApprovals = true }})
	b.fake.MessagePayload(ben, here, "", "shall we have lunch?")
	list := b.fake.Messages(here)
	b.fake.ReplyTo(ann, here, list[len(list)-1].TS, "yes")
	// Another bot's copy of a card, and a person's, with the buttons of ours.
	card := b.card()
	ref := b.post(card)
	list = b.fake.Messages(here)
	copied := list[len(list)-1].Blocks
	if !strings.Contains(string(copied), card.Request) {
		t.Fatal("that is not the card")
	}
	for _, m := range []slacktest.Message{
		{User: "U0OTHERBOT", BotID: "B0OTHERBOT", Blocks: copied},
		{User: ben, Blocks: copied},
	} {
		b.fake.ReplyTo(ann, here, b.fake.AddMessage(here, m), "yes")
	}
	card.State, card.Result = approver.Expired, "⌛"
	if err := b.channel.Update(t.Context(), ref, card); err != nil {
		t.Fatal(err)
	}
	b.fake.ReplyTo(ann, here, ref.Message, "yes")
	b.fake.ReplyTo(ann, here, "1.000001", "yes")
	b.pass()
	if got := b.got(); len(got) != 0 {
		t.Errorf("it became %+v", got)
	}
	b.told(ann, "takes no answer any more") // and nothing to the others
	if got := b.fake.Told(ann); len(got) != 1 {
		t.Errorf("it was answered %q", got)
	}
}

// with is an object of a payload with one field changed.
// other adds a conversation that gets no cards.
func other(f *slacktest.Server) { f.AddConversation(slacktest.Conversation{ID: "C0OTHER123"}) }

func with(v any, key string, value any) object {
	out := maps.Clone(v.(object))
	out[key] = value
	return out
}

func TestCommands(t *testing.T) {
	b := start(t, setup{})
	card := b.card()
	b.post(card)
	for _, c := range []struct {
		name   string
		user   string
		verb   string
		text   string
		change func(object)
		want   string
		told   string
	}{
		{"approve", ann, "/approve", "CODE", nil, "true", "Noted."},
		{"approve in lower case without prefix", ben, "/approve", "SHORT", nil, "true", "Noted."},
		{"deny", ann, "/deny", "CODE", nil, "false", "Noted."},
		{"no code", ann, "/approve", "", nil, "", "not a confirmation code"},
		{"two codes", ann, "/approve", "CODE CONFIRM-ACDEFGHJ", nil, "", "more than one code"},
		{"another command", ann, "/standup", "CODE", nil, "", ""},
		{"a stranger", stranger, "/approve", "CODE", nil, "", "not on the approver list"},
		{"a conversation without cards", ann, "/approve", "CODE", func(p object) { p["channel_id"] = "C0OTHER123" }, "",
			"only in the conversation"},
		{"another workspace", ann, "/approve", "CODE", func(p object) { p["team_id"] = "T0EVIL1234" }, "", ""},
		{"another app", ann, "/approve", "CODE", func(p object) { p["api_app_id"] = "A0EVIL1234" }, "", ""},
		{"no workspace", ann, "/approve", "CODE", func(p object) { delete(p, "team_id") }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(b.got())
			text := strings.ReplaceAll(c.text, "CODE", card.Code.Reveal())
			text = strings.ReplaceAll(text, "SHORT", strings.ToLower(strings.TrimPrefix(card.Code.Reveal(), "CONFIRM-")))
			if c.change == nil && c.verb != "/standup" {
				b.fake.Type(c.user, here, c.verb+" "+text)
			} else {
				p := b.fake.CommandPayload(c.user, here, c.verb, text)
				if c.change != nil {
					c.change(p)
				}
				b.fake.Deliver("slash_commands", p)
			}
			if c.told != "" && c.change == nil {
				b.told(c.user, c.told)
			}
			if c.want == "" {
				b.pass()
				if got := b.got()[before:]; len(got) != 0 {
					t.Fatalf("it became %+v", got)
				}
				return
			}
			r := b.want(before + 1)[before]
			if fmt.Sprint(r.Approve) != c.want || r.Method != approver.ByCommand || !r.Code.Equal(card.Code) ||
				r.Request != "" || r.Conversation != here {
				t.Errorf("the reply is %+v", r)
			}
		})
	}
	if n := b.fake.Count("shown to everybody"); n != 0 {
		t.Error("an answer to a command was shown to everybody")
	}
}

// A stranger who presses again and again is refused now and then, and costs us
// no more messages than that.
func TestStrangerIsScoldedOnce(t *testing.T) {
	b := start(t, setup{})
	ref := b.post(b.card())
	for range 5 {
		if err := b.fake.Tap(stranger, here, ref.Message, fake.ApproveButton); err != nil {
			t.Fatal(err)
		}
	}
	b.told(stranger, "not on the approver list")
	b.pass()
	if got := b.fake.Told(stranger); len(got) != 1 || len(b.got()) != 0 {
		t.Errorf("told %q, replies %+v", got, b.got())
	}
}

func TestOutcomeIsNeverMarkup(t *testing.T) {
	const evil = "Denied by <!channel> & <@U0ANN12345>"
	b := start(t, setup{outcome: func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeTooLate, Text: evil}
	}})
	card := b.card()
	ref := b.post(card)
	if err := b.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.fake.Type(ben, here, "/deny "+card.Code.Reveal())
	b.told(ann, evil)
	b.told(ben, evil)
	if got := b.fake.Pinged(); len(got) != 0 {
		t.Errorf("the answer alerted %q", got)
	}
}
