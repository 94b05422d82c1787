package telegram

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/receiving"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
	"approver.example/tokens"
)

func (b *bench) told(user int64) []string { return b.s.Told(text(user)) }

// wantTold waits for a word to user that contains text.
func (b *bench) wantTold(user int64, want string) {
	b.Helper()
	b.eventually("a word with "+strconv.Quote(want), func() bool {
		return slices.ContainsFunc(b.told(user), func(s string) bool { return strings.Contains(s, want) })
	})
}

func (b *bench) tap(user int64, ref approver.Ref, button fake.Button) {
	b.Helper()
	if err := b.s.Tap(text(user), ref.Conversation, ref.Message, button); err != nil {
		b.Fatal(err)
	}
}

func TestTapOutcomeHasABoundedLength(t *testing.T) {
	b := running(t)
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Text: strings.Repeat("🔥", 500)}
	}
	b.tap(ann, b.post(highCard(t)), fake.ApproveButton)
	b.wantTold(ann, "Ann: "+strings.Repeat("🔥", 500)) // in a message: an alert holds 200
	if r := b.want(1); r.Name != "Ann" || r.Sender != text(ann) || r.Conversation != text(teamChat) || r.Channel != Name {
		t.Errorf("the reply is %+v", r)
	}
}

func TestATapIsNotMetWithSilence(t *testing.T) {
	b := running(t)
	b.judge = func(context.Context, approver.Reply) approver.Outcome { return approver.Outcome{} }
	b.tap(ann, b.post(highCard(t)), fake.DenyButton)
	b.eventually("the acknowledgement", func() bool { return b.s.Calls("answerCallbackQuery") == 1 })
	b.settled()
	if got := b.told(ann); len(got) != 1 || got[0] != receiving.SilentText {
		t.Errorf("told %q", got)
	}
}

// A press can be answered for some 15 s only, and once: a slow outcome follows
// as a reply to the card.
func TestLateOutcome(t *testing.T) {
	b := idle(t)
	b.c.pace.patience = 50 * time.Millisecond
	b.s.SetQueryLife(300 * time.Millisecond)
	release := make(chan struct{})
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		<-release
		return approver.Outcome{Text: "Approved at last."}
	}
	b.run()
	ref := b.post(highCard(t))
	b.tap(ann, ref, fake.ApproveButton)
	b.wantTold(ann, sayWorking)
	close(release)
	b.wantTold(ann, "Ann: Approved at last.")
	all := b.s.Messages(teamChat)
	if last := all[len(all)-1]; strconv.Itoa(last.ReplyTo) != ref.Message {
		t.Errorf("the late word replies to %d, want the card", last.ReplyTo)
	}
	if len(b.told(bob)) != 0 {
		t.Errorf("Bob was told %q", b.told(bob))
	}
}

func TestPressThatIsTooOldToAnswer(t *testing.T) {
	b := running(t)
	b.s.SetQueryLife(0)
	b.tap(ann, b.post(highCard(t)), fake.DenyButton)
	b.wantTold(ann, "Ann: Your answer no. 1 is noted.")
}

// Details show what the core knows of the request: as a message to the person who wants them, or as a
// file beside the card if that is too long.
func TestDetails(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	for i, long := range []bool{false, true} {
		details := "Rule: reflex · git_force_push\n\nCommand, 8 bytes:\n<b>&x@ann"
		if long {
			details = strings.Repeat("🔥x", 2000)
		}
		b.shows("the request", details)
		before := len(b.s.Messages(teamChat)) + len(b.s.Whispers(text(ann)))
		b.tap(ann, ref, fake.DetailsButton)
		r := b.want(2*i + 1)
		if r.Want != approver.WantDetails || r.Approve || r.Message != ref.Message || r.Request == "" {
			t.Errorf("the reply is %+v", r)
		}
		shown := func() []telegramtest.Message { return slices.Concat(b.s.Whispers(text(ann)), b.s.Messages(teamChat)) }
		b.eventually("the details", func() bool { return len(shown()) > before })
		m := shown()[map[bool]int{false: 0, true: before}[long]]
		if (m.Aside > 0) == long {
			t.Errorf("long %v, seen by one person only: %v", long, m.Aside > 0)
		}
		if got := m.Text + m.File; !strings.Contains(got, details) || text(int64(m.ReplyTo)) != ref.Message {
			t.Errorf("a reply to %d with\n%s", m.ReplyTo, got)
		}
		for _, e := range m.Entities {
			if e.Type != "pre" && e.Type != "code" {
				t.Errorf("the details have a %s", e.Type)
			}
		}
		b.tap(mallory, ref, fake.DetailsButton)
		b.wantTold(mallory, sayStranger)
		b.shows("There is no such request in this conversation.", "")
		b.tap(bob, ref, fake.DetailsButton)
		b.want(2*i + 2)
		b.wantTold(bob, "no such request")
	}
}

func TestMadeUpButtons(t *testing.T) {
	b := running(t)
	card := highCard(t)
	ref := b.post(card)
	own := b.message(ref).Buttons[0][0].Data
	for _, data := range []string{"", "a1:", own + "x", strings.Replace(own, ":o", ":z", 1),
		strings.Replace(own, ":o", ":c", 1), strings.Repeat("A", 64), "a1:\x00"} {
		before := len(b.told(ann))
		b.s.Press(text(ann), ref.Conversation, ref.Message, data)
		b.eventually("a word on "+strconv.Quote(data), func() bool { return len(b.told(ann)) > before })
		if got := b.told(ann)[before]; got != sayOldButton {
			t.Errorf("%q: told %q", data, got)
		}
	}
	b.nothing()
}

// Every way of not being heard, from the wire to the reply function.
func TestNotHeard(t *testing.T) {
	other := int64(-1005555555555)
	b := running(t)
	card := highCard(t)
	ref := b.post(card)
	approveText := "/approve " + card.Code.Reveal()
	change := func(m map[string]any, more map[string]any) map[string]any {
		m = maps.Clone(m)
		maps.Copy(m, more)
		return m
	}
	message := func(more map[string]any) map[string]any {
		return map[string]any{"message": change(b.s.Payload(ann, teamChat, approveText), more)}
	}
	press := func(from, onMessage, more map[string]any) map[string]any {
		user := change(map[string]any{"id": ann, "is_bot": false, "first_name": "Ann"}, from)
		q := map[string]any{
			"id": b.s.NewQuery(ann), "from": user, "data": b.message(ref).Buttons[0][0].Data,
			"message": change(b.s.Copy(teamChat, ref.Message), onMessage),
		}
		return map[string]any{"callback_query": change(q, more)}
	}
	as := func(kind string) map[string]any { return map[string]any{kind: message(nil)["message"]} }
	for name, u := range map[string]map[string]any{
		"anonymous admin": message(map[string]any{"sender_chat": map[string]any{"id": teamChat, "type": "supergroup"},
			"from": map[string]any{"id": 1087968824, "is_bot": true, "first_name": "Group"}}),
		"linked channel": message(map[string]any{"sender_chat": map[string]any{"id": -100777, "type": "channel"}}),
		"forwarded": message(map[string]any{"forward_origin": map[string]any{"type": "user", "date": 1,
			"sender_user": map[string]any{"id": ann, "first_name": "Ann"}}}),
		"inline bot":       message(map[string]any{"via_bot": map[string]any{"id": 5, "is_bot": true, "first_name": "x"}}),
		"a bot":            message(map[string]any{"from": map[string]any{"id": ann, "is_bot": true, "first_name": "Ann"}}),
		"edited by marks":  message(map[string]any{"edit_date": 1700000000}),
		"scheduled":        message(map[string]any{"is_from_offline": true}),
		"business":         message(map[string]any{"business_connection_id": "b"}),
		"another chat":     message(map[string]any{"chat": map[string]any{"id": other, "type": "supergroup"}}),
		"another topic":    message(map[string]any{"message_thread_id": 8, "is_topic_message": true}),
		"without a sender": message(map[string]any{"from": nil}),
		"a caption":        message(map[string]any{"text": "", "caption": approveText}),
		"edited":           as("edited_message"),
		"channel post":     as("channel_post"),
		"edited post":      as("edited_channel_post"),
		"business message": as("business_message"),

		"tap by a bot":          press(map[string]any{"is_bot": true}, nil, nil),
		"tap on no message":     press(nil, nil, map[string]any{"message": nil}),
		"tap on an old message": press(nil, map[string]any{"date": 0}, nil),
		"tap on another's":      press(nil, map[string]any{"from": map[string]any{"id": mallory, "first_name": "M"}}, nil),
		"tap on another bot's": press(nil,
			map[string]any{"from": map[string]any{"id": 5, "is_bot": true, "first_name": "M"}}, nil),
		"tap in another chat":    press(nil, map[string]any{"chat": map[string]any{"id": other, "type": "supergroup"}}, nil),
		"tap in another topic":   press(nil, map[string]any{"message_thread_id": 8, "is_topic_message": true}, nil),
		"tap on an inline card":  press(nil, nil, map[string]any{"inline_message_id": "x"}),
		"tap by a stranger":      press(map[string]any{"id": mallory}, nil, nil),
		"tap for another's game": press(nil, nil, map[string]any{"data": "", "game_short_name": "x"}),
	} {
		b.s.Inject(u)
		b.settled()
		if got := b.got(); len(got) != 0 {
			t.Fatalf("%s was heard: %+v", name, got)
		}
	}
	// The same message and press without the change are heard.
	b.s.Inject(message(nil))
	b.want(1)
	b.s.Inject(press(nil, nil, nil))
	b.want(2)
}

func TestUnconfiguredChats(t *testing.T) {
	b := running(t)
	code := mint(t)
	b.s.AddChat(telegramtest.Chat{ID: bob})
	for _, chat := range []string{otherTxt, text(bob)} {
		b.s.Type(text(bob), chat, "/approve "+code.Reveal())
	}
	b.nothing()
	b.s.Type(text(ann), text(ann), "/approve "+code.Reveal())
	if r := b.want(2); r.Conversation != text(ann) || !r.Approve {
		t.Errorf("in the configured private chat: %+v", r)
	}
}

// The story: a forum has a topic for the team and one for the release. Each has a
// card and a code of its own. Whoever reads the release topic only must not be
// able to use its code among the team, nor lock anybody out there by guessing:
// what the core hears names the topic, not only the chat.
func TestTopicsAreConversationsOfTheirOwn(t *testing.T) {
	b := running(t)
	to := testConfig(b.s).Destinations()
	general, release := to[0], to[2]
	code := mint(t)
	for i, at := range []approver.Destination{general, release} {
		b.s.Type(text(ann), at.Conversation, "/approve "+code.Reveal())
		if r := b.want(i + 1); r.Conversation != at.Conversation {
			t.Errorf("the code typed in %q is heard from %q", at.Conversation, r.Conversation)
		}
	}
	if general.Conversation == release.Conversation {
		t.Errorf("both topics are the conversation %q", general.Conversation)
	}
	ref := b.postTo(release, highCard(t))
	if ref.Destination != release {
		t.Errorf("the card of %+v is at %+v", release, ref.Destination)
	}
	b.tap(ann, ref, fake.ApproveButton)
	if r := b.want(3); r.Conversation != release.Conversation {
		t.Errorf("the tap in %q is heard from %q", release.Conversation, r.Conversation)
	}
	settled := highCard(t)
	settled.State = approver.Denied
	if err := b.c.Update(t.Context(), ref, settled); err != nil {
		t.Errorf("Update in a topic: %v", err)
	}
}

func TestForum(t *testing.T) {
	b := running(t)
	to := testConfig(b.s).Destinations()[2]
	card := highCard(t)
	ref := b.postTo(to, card)
	if m := b.message(ref); m.Thread != topic {
		t.Errorf("the card is in thread %d", m.Thread)
	}
	b.tap(ann, ref, fake.ApproveButton)
	if r := b.want(1); r.Request != card.Request || r.Conversation != to.Conversation {
		t.Errorf("the tap gave %+v", r)
	}
	b.s.ReplyTo(text(ann), to.Conversation, ref.Message, "no")
	b.want(2)
	b.s.Type(text(ann), to.Conversation, "/deny "+card.Code.Reveal())
	b.want(3)
	b.wantTold(ann, "no. 3 is noted")
	all := b.s.Messages(teamChat)
	if last := all[len(all)-1]; last.Thread != topic {
		t.Errorf("the answer to a message in the topic is in thread %d", last.Thread)
	}
	b.s.Type(text(ann), text(teamChat)+"/8", "/deny "+card.Code.Reveal())
	b.nothing()
}

func TestCommandsForOtherBots(t *testing.T) {
	b := running(t)
	code := mint(t).Reveal()
	for _, to := range []string{"/approve@other_bot ", "/deny@other_bot ", "/approve@ ", "/APPROVE@approver_test_bots "} {
		b.s.Type(text(ann), text(teamChat), to+code)
	}
	b.nothing()
	if got := b.told(ann); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	for i, to := range []string{"/approve@approver_test_bot ", "/Approve@Approver_Test_Bot ", " /approve "} {
		b.s.Type(text(ann), text(teamChat), to+code)
		if r := b.want(i + 2); !r.Approve || r.Method != approver.ByCommand {
			t.Errorf("%q gave %+v", to, r)
		}
	}
}

// says is a text of the channel in English.
func says(m display.Message) string { return display.Texts{}.Message(m) }

func TestCodeForms(t *testing.T) {
	b := running(t)
	form := says(problem(tokens.ErrForm))
	for text64, want := range map[string]string{
		"/approve":                       form,
		"/deny CONFIRM-1":                form,
		"CONFIRM-12":                     form,
		"confirm-lllllllll":              form,
		"CONFIRM-7KQ4MX CONFIRM-2KQ4MX":  says(problem(tokens.ErrMany)),
		"/approve 7KQ4MX CONFIRM-2KQ4MX": "",
		"what is CONFIRM-7KQ4MX?": "That is neither a clear yes nor a clear no: send the code alone to approve, or " +
			"/deny and the code.",
	} {
		before := len(b.told(ann))
		b.s.Type(text(ann), text(teamChat), text64)
		b.eventually("a word on "+text64, func() bool { return len(b.told(ann)) > before })
		if got := b.told(ann)[before]; want != "" && got != want {
			t.Errorf("%q: told %q, want %q", text64, got, want)
		}
	}
}

// The code in a reply names the card too, so that the core can see whether the
// two agree.
func TestCodeInAReplyNamesItsCard(t *testing.T) {
	b := running(t)
	one, two := catastrophicCard(t), catastrophicCard(t)
	ref := b.post(one)
	b.post(two)
	for i, word := range []string{two.Code.Reveal(), "/approve " + two.Code.Reveal()} {
		b.s.ReplyTo(text(ann), ref.Conversation, ref.Message, word)
		if r := b.want(i + 1); r.Request != one.Request || r.Message != ref.Message || !r.Code.Equal(two.Code) {
			t.Errorf("%q gave %+v", word, r)
		}
	}
}

func TestPlainWordsNeedOurCard(t *testing.T) {
	b := running(t)
	card := highCard(t)
	ref := b.post(card)
	b.s.Type(text(bob), text(teamChat), "shall we?")
	all := b.s.Messages(teamChat)
	b.s.ReplyTo(text(ann), text(teamChat), strconv.Itoa(all[len(all)-1].ID), "yes")
	b.s.Type(text(ann), text(teamChat), "yes")
	b.nothing()
	settled := card
	settled.State, settled.Result = approver.Denied, "⛔ Denied"
	if err := b.c.Update(t.Context(), ref, settled); err != nil {
		t.Fatal(err)
	}
	b.s.ReplyTo(text(ann), ref.Conversation, ref.Message, "yes")
	b.nothing()
}

// What the core says cannot become markup either.
func TestOutcomeIsLiteral(t *testing.T) {
	b := running(t)
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Text: "denied by @bob_lee <b>x</b> https://evil.example"}
	}
	b.s.Type(text(ann), text(teamChat), "/deny CONFIRM-7KQ4MX")
	b.wantTold(ann, "denied by @bob_lee <b>x</b> https://evil.example")
	all := b.s.Messages(teamChat)
	if last := all[len(all)-1]; len(last.Entities) != 1 || last.Entities[0].Type != "code" || !last.NoPreview ||
		last.ReplyTo == 0 {
		t.Errorf("the answer is %+v", last)
	}
}

// A crowd of strangers that taps does not keep an approver from being heard.
func TestStrangersCannotCrowdOut(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	for i := range 300 {
		user := mallory + int64(i)
		b.s.AddUser(user, "M")
		b.s.Press(text(user), ref.Conversation, ref.Message, "a1:x")
	}
	began := time.Now()
	b.tap(ann, ref, fake.DenyButton)
	b.want(1)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the approver waited %v", took)
	}
	b.settled()
}

func TestPanicInTheCoreIsARefusal(t *testing.T) {
	b := running(t)
	b.judge = func(context.Context, approver.Reply) approver.Outcome { panic("a bug in the core") }
	b.tap(ann, b.post(highCard(t)), fake.ApproveButton)
	b.wantTold(ann, receiving.BrokenText)
	b.s.Type(text(bob), text(teamChat), "/approve CONFIRM-7KQ4MX")
	b.wantTold(bob, receiving.BrokenText)
	b.want(2)
}
