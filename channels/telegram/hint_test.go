package telegram

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/internal/pairing"
	"approver.example/channels/internal/receiving"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
	"approver.example/tokens"
)

// A message that is surely meant for the bot and is no answer met silence, and the card expired. Now each
// gets a word of what works here; talk between people in a group is left alone.
func TestHints(t *testing.T) {
	b := idle(t)
	b.c.pace.hint = 0
	b.run()
	ref, over := b.post(highCard(t)), b.post(highCard(t))
	settled := highCard(t)
	settled.State = approver.Expired
	if err := b.c.Update(t.Context(), over, settled); err != nil {
		t.Fatal(err)
	}
	team, private := text(teamChat), text(ann)
	for i, c := range []struct {
		where, reply, says, want string
	}{
		{team, ref.Message, "use a branch instead", sayNeither},
		{team, ref.Message, "what does it do?", sayNeither},
		{team, ref.Message, "да", sayNeither},
		{team, ref.Message, "👍", sayNeither},
		{team, over.Message, "yes", sayOver},
		{team, over.Message, "No!", sayOver},
		{team, over.Message, "no, use a branch", sayOver},
		{team, over.Message, "sorry, was asleep", sayOver},
		{team, "", "/unknown@" + telegramtest.BotName, sayHelp},
		{team, "", "/unknown", ""},
		{team, "", "/help@another_bot", ""},
		{team, "", "hello all", ""},
		{team, "", "yes", ""},
		{team, "", "no, use a branch", ""},
		{team, "", "a@b.example", ""},
		{private, "", "/unknown", sayHelp},
		{private, "", "yes", sayHelp},
		{private, "", "hello?", sayHelp},
		{private, "", "/unknown@another_bot", sayHelp},
		{team, "", "/approve", says(problem(tokens.ErrForm))},
	} {
		told := len(b.told(ann))
		if c.reply != "" {
			b.s.ReplyTo(text(ann), c.where, c.reply, c.says)
		} else {
			b.s.Type(text(ann), c.where, c.says)
		}
		b.wantWord(ann, told, c.want, strconv.Itoa(i)+" "+c.says)
	}
	if len(b.got()) != 0 {
		t.Errorf("a hint became a reply: %+v", b.got())
	}
}

// wantWord waits until everything is done, and checks that user was told want since then, or nothing.
func (b *bench) wantWord(user int64, told int, want, what string) {
	b.Helper()
	if b.settled(); want != "" {
		b.eventually("a word on "+what, func() bool { return len(b.told(user)) > told })
	}
	if want == "" {
		time.Sleep(silence)
	}
	if got := b.told(user)[told:]; (want == "") != (len(got) == 0) || want != "" && !slices.Equal(got, []string{want}) {
		b.Errorf("%s: told %q, want %q", what, got, want)
	}
}

// A picture as a reply to a card is no answer either; a note that something was pinned
// is meant for nobody.
func TestHintsWithoutText(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	pinned := b.s.Payload(ann, ann, "x")
	delete(pinned, "text")
	b.s.Inject(map[string]any{"message": pinned})
	picture := b.s.Payload(ann, teamChat, "x")
	delete(picture, "text")
	picture["reply_to_message"] = b.s.Copy(teamChat, ref.Message)
	b.s.Inject(map[string]any{"message": picture})
	b.wantTold(ann, sayNeither)
	if n := len(b.told(ann)); n != 1 {
		t.Errorf("told %q", b.told(ann))
	}
}

// Who talks on gets a few hints, not one for each sentence; others get their own.
func TestHintsAreFew(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	for range 8 {
		b.s.ReplyTo(text(ann), ref.Conversation, ref.Message, "hm")
		b.s.ReplyTo(text(bob), ref.Conversation, ref.Message, "well")
	}
	b.nothing()
	for who, want := range map[int64]int{ann: 5, bob: 5} {
		got := slices.DeleteFunc(b.told(who), func(s string) bool { return !strings.HasPrefix(s, sayNeither) })
		if len(got) != want {
			t.Errorf("%d was told %q", who, b.told(who))
		}
	}
}

// silence is how long a word that must not come is waited for.
const silence = 30 * time.Millisecond

// repliesTo are the bot's replies to a message.
func (b *bench) repliesTo(m map[string]any) (out []string) {
	chat := m["chat"].(map[string]any)["id"].(int64)
	for _, said := range b.s.Messages(chat) {
		if said.From == telegramtest.BotID && said.ReplyTo == m["message_id"] {
			out = append(out, said.Text)
		}
	}
	return out
}

// Whatever a person sends to the bot alone gets a word: also what is no text, is edited or is a copy, and
// also if the bot does not listen to them. In a group that is so only for what is surely an answer.
func TestNothingMeetsSilence(t *testing.T) {
	b := idle(t)
	b.c.pace.hint = 0
	b.run()
	ref := b.post(highCard(t))
	b.s.AddChat(telegramtest.Chat{ID: mallory})
	yes := "/approve " + mint(t).Reveal()
	message := func(user, chat int64, says string, more map[string]any) map[string]any {
		m := b.s.Payload(user, chat, says)
		maps.Copy(m, more)
		return m
	}
	id := func(m map[string]any) string { return fmt.Sprint(m["message_id"]) }
	photo := []map[string]any{{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}}
	file := map[string]any{"file_id": "f", "file_unique_id": "u"}
	forwarded := map[string]any{"forward_origin": map[string]any{"type": "hidden_user", "date": 1,
		"sender_user_name": "x"}}
	pinned := map[string]any{"text": "", "pinned_message": b.s.Copy(teamChat, ref.Message)}
	onCard := map[string]any{"reply_to_message": b.s.Copy(teamChat, ref.Message)}
	anonymous := map[string]any{"sender_chat": map[string]any{"id": teamChat, "type": "supergroup"},
		"from": map[string]any{"id": 1087968824, "is_bot": true, "first_name": "Group"}}
	for _, c := range []struct {
		what string
		user int64
		m    map[string]any
		want string
	}{
		{"a photo in private", ann, message(ann, ann, "", map[string]any{"photo": photo}), sayTextOnly},
		{"a sticker in private", ann, message(ann, ann, "", map[string]any{"sticker": file}), sayTextOnly},
		{"a voice message in private", ann, message(ann, ann, "", map[string]any{"voice": file}), sayTextOnly},
		{"a forwarded message in private", ann, message(ann, ann, "hello", forwarded), sayCopied},
		{"a notice in private", ann, message(ann, ann, "", pinned), ""},
		{"a photo in a group", ann, message(ann, teamChat, "", map[string]any{"photo": photo}), ""},
		{"an answer below a photo in a group", ann,
			message(ann, teamChat, "", map[string]any{"photo": photo, "caption": yes}), sayTextOnly},
		{"a forwarded answer in a group", ann, message(ann, teamChat, yes, forwarded), sayCopied},
		{"forwarded talk in a group", ann, message(ann, teamChat, "hello", forwarded), ""},
		{"an anonymous administrator's answer", 1087968824, message(ann, teamChat, yes, anonymous), sayHidden},
		{"an anonymous administrator's talk", 1087968824, message(ann, teamChat, "hello", anonymous), ""},
		{"a stranger's answer", mallory, message(mallory, teamChat, yes, nil), sayStranger},
		{"a stranger's yes on a card", mallory, message(mallory, teamChat, "yes", onCard), sayStranger},
		{"a stranger's talk", mallory, message(mallory, teamChat, "hello", nil), ""},
		{"a stranger's question on a card", mallory, message(mallory, teamChat, "what?", onCard), ""},
		{"a stranger in private", mallory, message(mallory, mallory, "hello", nil),
			says(display.Msg(sayHow, pairing.WhoText))},
		{"a code elsewhere", bob, message(bob, otherChat, yes, nil), receiving.LeakedText},
		{"a code alone elsewhere", bob, message(bob, otherChat, "ok, "+yes[len("/approve "):], nil), receiving.LeakedText},
		{"a code below a photo elsewhere", bob, message(bob, otherChat, "", map[string]any{"photo": photo, "caption": yes}),
			receiving.LeakedText},
		{"half a command elsewhere", bob, message(bob, otherChat, "/deny", nil), sayOutside},
		{"a command elsewhere", bob, message(bob, otherChat, "/pending@"+telegramtest.BotName, nil), sayOutside},
		{"a word to the bot elsewhere", bob, message(bob, otherChat, "@"+telegramtest.BotName+" no", nil), sayOutside},
		{"a command for any bot elsewhere", bob, message(bob, otherChat, "/status", nil), ""},
		{"talk elsewhere", bob, message(bob, otherChat, "no", nil), ""},
		{"a stranger's code elsewhere", mallory, message(mallory, otherChat, yes, nil), ""},
		{"a forwarded freeze", ann, message(ann, teamChat, "/freeze", forwarded), sayCopied},
		{"a forwarded freeze elsewhere", ann, message(ann, otherChat, "/freeze", forwarded), sayCopied},
		{"an anonymous administrator's freeze", 1087968824, message(ann, teamChat, "/freeze", anonymous), sayHidden},
		{"a freeze below a photo, as an anonymous administrator", 1087968824,
			message(ann, teamChat, "", merged(anonymous, map[string]any{"photo": photo, "caption": "/freeze"})), sayHidden},
		{"a stranger's freeze below a photo", mallory,
			message(mallory, teamChat, "", map[string]any{"photo": photo, "caption": "/freeze"}), sayStranger},
		{"a freeze of another bot elsewhere", ann, message(ann, otherChat, "/freeze@another_bot", nil), ""},
		{"a command below a photo", ann,
			message(ann, teamChat, "", map[string]any{"photo": photo, "caption": "/pending"}), sayTextOnly},
	} {
		told := len(b.repliesTo(c.m))
		b.s.Inject(map[string]any{"message": c.m})
		b.settled()
		if c.want != "" {
			b.eventually("a word on "+c.what, func() bool { return len(b.repliesTo(c.m)) > told })
		} else {
			time.Sleep(silence)
		}
		if got := b.repliesTo(c.m)[told:]; (c.want == "") != (len(got) == 0) || c.want != "" && got[0] != c.want {
			t.Errorf("%s: told %q, want %q", c.what, got, c.want)
		}
	}
	for _, c := range []struct {
		what, before, after string
		chat                int64
		want                string
	}{
		{"an edit in private", "hello", "hello!", ann, sayEdited},
		{"an edit to an answer", "hello", yes, teamChat, sayEdited},
		{"an edit to a command", "hello", "/pending", teamChat, sayEdited},
		{"an edit of talk", "hello", "hello!", teamChat, ""},
	} {
		m := message(ann, c.chat, c.before, nil)
		told := len(b.told(ann))
		b.s.Edit(c.chat, id(m), c.after)
		b.wantWord(ann, told, c.want, c.what)
	}
	if got := b.got(); len(got) != 0 {
		t.Errorf("heard %+v", got)
	}
}

func merged(all ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// The story: somebody edits their message into /freeze, or puts it below a picture, or types it in the group next
// door, and nothing stops. To stop everything only tightens, so it counts wherever an approver wrote it
// themselves.
func TestFreezeWhereNoAnswerCounts(t *testing.T) {
	b := running(t)
	now := time.Now().Unix()
	photo := []map[string]any{{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}}
	message := func(user, chat int64, says string, more map[string]any) map[string]any {
		return merged(b.s.Payload(user, chat, says), more)
	}
	below := map[string]any{"text": "", "photo": photo, "caption": "/freeze it went mad"}
	for i, c := range []struct {
		kind string
		m    map[string]any
	}{
		{"edited_message", message(ann, teamChat, "/freeze it went mad", map[string]any{"edit_date": now})},
		{"edited_message", message(ann, teamChat, "", merged(below, map[string]any{"edit_date": now}))},
		{"edited_message", message(ann, otherChat, "/freeze it went mad", map[string]any{"edit_date": now})},
		{"message", message(ann, teamChat, "", below)},
		{"message", message(ann, otherChat, "", below)},
		{"message", message(ann, otherChat, "/freeze it went mad", nil)},
		{"message", message(ann, otherChat, "/freeze@"+telegramtest.BotName+" it went mad", nil)},
		{"message", message(ann, otherChat, "@"+telegramtest.BotName+" freeze it went mad", nil)},
	} {
		b.s.Inject(map[string]any{c.kind: c.m})
		r := b.want(i + 1)
		if r.Want != approver.WantFreeze || r.Reason != "it went mad" || r.Sender != text(ann) || r.Approve {
			t.Errorf("%d gave %+v", i, r)
		}
		b.eventually("a word", func() bool { return len(b.repliesTo(c.m)) == 1 })
	}
	n := len(b.got())
	for _, c := range []struct {
		kind, want string
		m          map[string]any
	}{
		{"edited_message", sayEdited, // shown again
			message(ann, teamChat, "/freeze", map[string]any{"edit_date": now - 600})},
		{"message", "", message(mallory, otherChat, "/freeze", nil)},
		{"message", "", message(ann, otherChat, "freeze", nil)},
		{"message", sayCopied, message(ann, otherChat, "/freeze",
			map[string]any{"via_bot": map[string]any{"id": 9, "is_bot": true, "first_name": "x"}})},
	} {
		b.s.Inject(map[string]any{c.kind: c.m})
		b.settled()
		if c.want == "" {
			time.Sleep(silence)
		} else {
			b.eventually("a word", func() bool { return slices.Equal(b.repliesTo(c.m), []string{c.want}) })
		}
		if got := b.repliesTo(c.m); c.want == "" && len(got) > 0 {
			t.Errorf("told %q", got)
		}
	}
	if got := b.got()[n:]; len(got) != 0 {
		t.Errorf("heard %+v", got)
	}
}

// Whoever is not heard is told why once in a while, not for each try: a crowd cannot make the bot talk.
func TestRefusalsAreFew(t *testing.T) {
	b := running(t)
	first := b.s.Payload(mallory, teamChat, "/approve "+mint(t).Reveal())
	b.s.Inject(map[string]any{"message": first})
	b.eventually("the refusal", func() bool { return slices.Equal(b.repliesTo(first), []string{sayStranger}) })
	for range 5 {
		b.s.Type(text(mallory), text(teamChat), "/approve "+mint(t).Reveal())
	}
	b.nothing()
	time.Sleep(silence)
	if got := b.told(mallory); len(got) != 1 {
		t.Errorf("told %q", got)
	}
}
