package slack_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
)

// refusedTypes are what Slack refuses, and whether a card can have buttons then.
var refusedTypes = map[string]struct {
	code    string
	types   []string
	buttons bool
}{
	"rich text":       {"invalid_blocks", []string{"rich_text"}, true},
	"a clock":         {"invalid_arguments", []string{"context"}, true},
	"too long":        {"msg_blocks_too_long", []string{"rich_text"}, true},
	"buttons":         {"invalid_blocks", []string{"actions"}, false},
	"every block":     {"invalid_blocks_format", []string{"section"}, false},
	"an attachment":   {"too_many_attachments", []string{"section"}, false},
	"text and blocks": {"msg_too_long", []string{"section"}, false},
}

// The story: Slack refused the blocks of a card, the card was lost, and the call was denied although people were
// there. It arrives in a plainer form, whole, alerts nobody, and can be answered; at its end nothing of it can be
// pressed.
func TestCardWhoseBlocksAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range refusedTypes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, setup{})
			b.fake.RefuseBlocks(c.code, c.types...)
			card := b.card()
			card.Body = channeltest.Command("echo *a* <!channel> https://example.org\nmake deploy")
			ref := b.post(card)
			shown := b.fake.Cards(here)[0]
			if ref.Partial || slices.Contains(shown.Buttons, fake.ApproveButton) != c.buttons ||
				!strings.Contains(shown.Text, "│ echo *a* <!channel> https://example.org\n│ make deploy\n") ||
				!strings.Contains(shown.Text, card.Code.Reveal()) {
				t.Errorf("the card is %+v", shown)
			}
			if c.buttons {
				if err := b.fake.Tap(ann, here, ref.Message, fake.ApproveButton); err != nil {
					t.Fatal(err)
				}
			} else {
				b.fake.Type(ann, here, "/approve "+card.Code.Reveal())
			}
			if r := b.want(1)[0]; !r.Approve || r.Sender != ann || !r.Code.Equal(card.Code) && r.Request != card.Request {
				t.Errorf("the yes is %+v", r)
			}
			b.fake.ReplyTo(ben, here, ref.Message, "no, use a branch")
			if r := b.want(2)[1]; r.Approve || r.Request != card.Request || r.Message != ref.Message || r.Reason == "" {
				t.Errorf("the no is %+v", r)
			}
			card.State, card.Result = approver.Denied, "⛔ Denied by Ben"
			if err := b.channel.Update(t.Context(), ref, card); err != nil {
				t.Fatal(err)
			}
			b.fake.ReplyTo(ben, here, ref.Message, "no")
			b.told(ben, "takes no answer any more")
			m := b.fake.Messages(here)[0]
			if shown = b.fake.Cards(here)[0]; len(shown.Buttons) > 0 || !strings.Contains(shown.Text, "Denied by Ben") ||
				strings.Contains(shown.Text+string(m.Blocks)+m.Text, "CONFIRM-") || m.Previews || m.Edits != 1 {
				t.Errorf("settled: %+v", shown)
			}
			if pings, n := b.fake.Pinged(), len(b.fake.Cards(here)); len(pings) > 0 || n != 1 {
				t.Errorf("%d cards; alerted: %q", n, pings)
			}
			b.want(2)
		})
	}
}

// A yes as a message counts on a card without buttons as it counts on any other: where the configuration says so.
func TestYesToACardWithoutButtons(t *testing.T) {
	for _, takes := range []bool{true, false} {
		b := start(t, setup{config: func(c *slack.Config) { c.TextApprovals = takes }})
		b.fake.RefuseBlocks("invalid_blocks", "section")
		card := b.card()
		ref := b.post(card)
		b.fake.ReplyTo(ann, here, ref.Message, "yes")
		if !takes {
			b.told(ann, "A message cannot approve in Slack.")
			b.want(0)
			continue
		}
		if r := b.want(1)[0]; !r.Approve || r.Method != approver.ByPlain || r.Request != card.Request ||
			r.Message != ref.Message {
			t.Errorf("the yes is %+v", r)
		}
	}
}

// A text that only looks like a card of ours is none, whoever wrote it.
func TestTextThatNamesARequest(t *testing.T) {
	b := start(t, setup{config: func(c *slack.Config) { c.TextApprovals = true }})
	text := "🟠 HIGH · Deploy\n🔖 " + b.card().Request
	for _, m := range []slacktest.Message{{User: ben, Text: text}, {User: "U0OTHERBOT", BotID: "B0OTHERBOT", Text: text},
		{User: slacktest.BotUser, BotID: slacktest.BotID, Text: strings.ReplaceAll(text, "\n", " ")}} {
		b.fake.ReplyTo(ann, here, b.fake.AddMessage(here, m), "yes")
	}
	b.want(0)
}

// The story: the answer to a post in a plain form was lost, and a second card was put beside the first. Whatever form
// was posted, the next try finds it, and no text of somebody else passes for it.
func TestPlainCardIsPostedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range refusedTypes {
		for _, cured := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server := workspace(t, slacktest.Options{})
				ch, card := channel(t, server), (&bench{t: t}).card()
				server.RefuseBlocks(c.code, c.types...)
				lost := 1 // the calls that are refused before
				if !c.buttons {
					lost = 2
				}
				server.Trips.Add(fake.Trip{Call: "chat.postMessage", Skip: lost, Status: 502, Done: true})
				server.Trips.Add(fake.Trip{Call: "conversations.history", Status: 502})
				if ref, err := ch.Post(t.Context(), hereDest, card); err == nil || errors.Is(err, approver.ErrFinal) {
					t.Fatalf("Post gives %+v, %v", ref, err)
				}
				first := server.Messages(here)[0]
				if !c.buttons { // anybody may write a text; it is newer than ours
					server.AddMessage(here, slacktest.Message{User: ben, Text: first.Text})
					server.AddMessage(here, slacktest.Message{User: "U0OTHERBOT", BotID: "B0OTHERBOT", Text: first.Text})
				}
				if cured {
					server.RefuseBlocks("")
				}
				ref, err := ch.Post(t.Context(), hereDest, card)
				if err != nil {
					t.Fatal(err)
				}
				all := server.Cards(here)
				if len(all) != 1 || all[0].Message != ref.Message || ref.Partial ||
					slices.Contains(all[0].Buttons, fake.ApproveButton) != (c.buttons || cured) {
					t.Errorf("there are %d cards: %+v", len(all), all)
				}
				if m := server.Messages(here)[0]; m.Formatted {
					t.Error("Slack formats the text of a card that waits")
				}
			})
		}
	}
}

// The story: the answer to the post of a plain card was lost, which was cut where the usual card is not, and a plain
// yes to it counted. Where nobody knows which form was posted, a card is whole only if each form is.
func TestLostPlainCardIsNotCalledWhole(t *testing.T) {
	for _, c := range refusedTypes {
		server := workspace(t, slacktest.Options{})
		ch, card := channel(t, server), (&bench{t: t}).card()
		card.Body = channeltest.Command(strings.Repeat("x\n", 2000)) // each line takes more in a section
		usual := channel(t, workspace(t, slacktest.Options{}))
		if ref, err := usual.Post(t.Context(), hereDest, card); err != nil || ref.Partial {
			t.Fatal("it is cut in the usual form", err)
		}
		server.RefuseBlocks(c.code, c.types...)
		server.Trips.Add(fake.Trip{Call: "chat.postMessage", Skip: 1, Status: 502, Times: 2, Done: true})
		server.Trips.Add(fake.Trip{Call: "conversations.history", Status: 502, Times: 2})
		if _, err := ch.Post(t.Context(), hereDest, card); err == nil {
			t.Fatal("the answer is not lost")
		}
		if other := (&bench{t: t}).card(); ch.Fits(card) || !ch.Fits(other) {
			t.Error("the card is called whole, or another one is not")
		}
	}
}

// A card that is posted anew, with a new code, is another card, also as text.
func TestDoubtIsOfOneTextCard(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	ch, card := channel(t, server), (&bench{t: t}).card()
	server.RefuseBlocks("invalid_blocks", "section")
	if _, err := ch.Post(t.Context(), hereDest, card); err != nil {
		t.Fatal(err)
	}
	card.Code = (&bench{t: t}).card().Code
	server.Trips.Add(fake.Trip{Call: "chat.postMessage", Skip: 2, Status: 502}) // not carried out
	if ref, err := ch.Post(t.Context(), hereDest, card); err == nil {
		t.Fatalf("the card with the old code passes for it: %+v", ref)
	}
	ref, err := ch.Post(t.Context(), hereDest, card)
	if all := server.Cards(here); err != nil || len(all) != 2 || all[1].Message != ref.Message {
		t.Errorf("%+v, %v; the cards are %+v", ref, err, all)
	}
}

// An edit that Slack refuses takes no button from a card that waits. At the end of the card no button stays.
func TestEditWhoseBlocksAreRefused(t *testing.T) {
	for name, c := range refusedTypes {
		server := workspace(t, slacktest.Options{})
		ch, card := channel(t, server), (&bench{t: t}).card()
		ref, err := ch.Post(t.Context(), hereDest, card)
		if err != nil {
			t.Fatal(err)
		}
		server.RefuseBlocks(c.code, c.types...)
		next := card
		next.Warnings = []string{"2 identical calls wait."}
		err = ch.Update(t.Context(), ref, next)
		shown := server.Cards(here)[0]
		if errors.Is(err, approver.ErrFinal) == c.buttons || strings.Contains(shown.Text, next.Warnings[0]) != c.buttons ||
			!slices.Contains(shown.Buttons, fake.ApproveButton) {
			t.Errorf("%s: %v; the card is %+v", name, err, shown)
		}
		many := card // each line takes more in a section
		many.Body = channeltest.Command(strings.Repeat("x\n", 2000))
		if err := ch.Update(t.Context(), ref, many); c.buttons && !errors.Is(err, approver.ErrShowsLess) {
			t.Errorf("%s: an edit that would cut a whole card: %v", name, err)
		}
		for _, state := range []approver.State{approver.Approved, approver.Consumed} {
			card.State, card.Result = state, "✅ Approved once by Ann"
			if err := ch.Update(t.Context(), ref, card); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if shown = server.Cards(here)[0]; len(shown.Buttons) > 0 || len(server.Cards(here)) != 1 {
				t.Errorf("%s, %v: the card is %+v", name, state, shown)
			}
		}
	}
}

// A plain card that is cut says so, has the whole in its file, and takes no tap. One whose file cannot be attached
// says that too, and stays one card.
func TestPlainCardThatIsCut(t *testing.T) {
	long := strings.Repeat("make all; ", 5000) + "rm -rf /srv/last"
	for name, c := range refusedTypes {
		for _, attached := range []bool{true, false} {
			server := workspace(t, slacktest.Options{})
			ch, card := channel(t, server), (&bench{t: t}).card()
			card.Body = channeltest.Command(long)
			server.RefuseBlocks(c.code, c.types...)
			says := "read it before you answer"
			if !attached {
				server.Refuse("files.completeUploadExternal", "storage_limit_reached")
				says = "could not be attached"
			}
			ref, err := ch.Post(t.Context(), hereDest, card)
			if err != nil || !ref.Partial {
				t.Fatalf("%s: %+v, %v", name, ref, err)
			}
			all := server.Cards(here)
			if len(all) != 1 || all[0].Message != ref.Message || !strings.Contains(all[0].Text, "bytes are hidden here") ||
				!strings.Contains(all[0].Text, says) || slices.Contains(all[0].Buttons, fake.ApproveButton) ||
				attached && !slices.Equal(all[0].Files, []string{long}) || server.Messages(here)[0].Formatted {
				t.Errorf("%s: the cards are %.2000v", name, all)
			}
		}
	}
}

// The story: the file of a text card could not be attached, and neither could the card be taken back. The next try
// finds it, so that there is one card, which says that the file is missing.
func TestTextCardThatCannotBeTakenBack(t *testing.T) {
	for name, trip := range map[string]fake.Trip{
		"no deletion":      {Call: "chat.delete", Status: 502},
		"deletion unheard": {Call: "chat.delete", Status: 502, Done: true},
		"no new card":      {Call: "chat.postMessage", Skip: 3, Status: 502},
		"new card unheard": {Call: "chat.postMessage", Skip: 3, Status: 502, Done: true},
	} {
		server := workspace(t, slacktest.Options{})
		ch, card := channel(t, server), (&bench{t: t}).card()
		card.Body = channeltest.Command(strings.Repeat("make all; ", 5000))
		server.RefuseBlocks("invalid_blocks", "section")
		server.Refuse("files.completeUploadExternal", "storage_limit_reached")
		server.Trips.Add(trip)
		server.Trips.Add(fake.Trip{Call: "conversations.history", Status: 502})
		if ref, err := ch.Post(t.Context(), hereDest, card); err == nil || errors.Is(err, approver.ErrFinal) {
			t.Errorf("%s: Post gives %+v, %v", name, ref, err)
		}
		server.Trips.Clear()
		ref, err := ch.Post(t.Context(), hereDest, card)
		if all := server.Cards(here); err != nil || len(all) != 1 || all[0].Message != ref.Message || !ref.Partial ||
			!strings.Contains(all[0].Text, "could not be attached") || server.Messages(here)[0].Formatted {
			t.Errorf("%s: %+v, %v; the cards are %.1500v", name, ref, err, all)
		}
	}
}

// What is not about the form of a card is final, and asked once.
func TestRefusalThatIsNotAboutTheForm(t *testing.T) {
	for _, says := range []string{"[ERROR] missing required field: channel",
		"[ERROR] must be a valid ts [json-pointer:/ts]"} {
		server := workspace(t, slacktest.Options{})
		ch := channel(t, server)
		body, _ := json.Marshal(map[string]any{"ok": false, "error": "invalid_arguments",
			"response_metadata": map[string]any{"messages": []string{says}}})
		server.Trips.Add(fake.Trip{Call: "chat.postMessage", Status: 200, Body: string(body)})
		if ref, err := ch.Post(t.Context(), hereDest, (&bench{t: t}).card()); !errors.Is(err, approver.ErrFinal) ||
			!strings.Contains(err.Error(), says) || server.Count("chat.postMessage") != 1 {
			t.Errorf("Post gives %+v, %v after %d calls", ref, err, server.Count("chat.postMessage"))
		}
	}
	server := workspace(t, slacktest.Options{})
	ch := channel(t, server)
	for _, code := range []string{"not_in_channel", "is_archived", "restricted_action"} {
		server.Refuse("chat.postMessage", code)
		before := server.Count("chat.postMessage")
		if _, err := ch.Post(t.Context(), hereDest, (&bench{t: t}).card()); !errors.Is(err, approver.ErrFinal) ||
			server.Count("chat.postMessage") != before+1 {
			t.Errorf("%s: %v after %d calls", code, err, server.Count("chat.postMessage")-before)
		}
	}
}

// The dialog for the code of a plain card shows what the code approves, and not the code.
func TestCodeDialogOfAPlainCard(t *testing.T) {
	b := start(t, setup{})
	b.fake.RefuseBlocks("invalid_blocks", "rich_text")
	card := b.catastrophic()
	card.Body = channeltest.Command("git push --force\nrm -rf /srv/data")
	ref := b.post(card)
	b.fake.RefuseBlocks("")
	if err := b.fake.Tap(ann, here, ref.Message, fake.CodeButton); err != nil {
		t.Fatal(err)
	}
	b.eventually("the dialog", func() bool { return strings.Contains(b.fake.Dialog(ann), card.Push) })
	if text := b.fake.Dialog(ann); !strings.Contains(text, "│ rm -rf /srv/data") || !strings.Contains(text, card.Why[0]) ||
		strings.Contains(text, card.Code.Reveal()) || strings.Count(text, card.Push) != 1 {
		t.Errorf("the dialog has\n%s", text)
	}
}
