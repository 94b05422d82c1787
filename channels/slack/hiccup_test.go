package slack_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
)

func failed(code string) string { return fmt.Sprintf(`{"ok":false,"error":%q}`, code) }

// The story: while a card was posted Slack answered once with 503, or cut the
// connection, or wanted to be left alone for twenty seconds, or the look at the
// conversation failed, and the call was denied although people were there. Now every
// such error leaves the request to be posted again: it is not ErrFinal, and a rate
// limit says for how long. Posted again, the same card is there once, whatever
// became of the first try.
func TestHiccupsWhilePosting(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"conversations.info", "chat.postMessage"} {
		for name, c := range map[string]struct {
			trip     fake.Trip
			patience time.Duration
		}{
			"500":                       {trip: fake.Trip{Status: 500}},
			"502":                       {trip: fake.Trip{Status: 502}},
			"502, carried out":          {trip: fake.Trip{Status: 502, Done: true}},
			"503":                       {trip: fake.Trip{Status: 503}},
			"504, carried out":          {trip: fake.Trip{Status: 504, Done: true}},
			"cut":                       {trip: fake.Trip{}},
			"cut, carried out":          {trip: fake.Trip{Done: true}},
			"403 of a proxy":            {trip: fake.Trip{Status: 403, Body: "<html>"}},
			"404 of a proxy":            {trip: fake.Trip{Status: 404, Body: "<html>"}},
			"a cut answer":              {trip: fake.Trip{Status: 200, Body: `{"ok":true,"ts":"17`}},
			"a cut answer, carried out": {trip: fake.Trip{Status: 200, Body: `{"ok":true,"ts":"17`, Done: true}},
			"somebody else's answer":    {trip: fake.Trip{Status: 200, Body: `<html>sign in</html>`}},
			"an empty object":           {trip: fake.Trip{Status: 200, Body: `{}`}},
			"internal_error":            {trip: fake.Trip{Status: 200, Body: failed("internal_error")}},
			"fatal_error, carried out":  {trip: fake.Trip{Status: 200, Body: failed("fatal_error"), Done: true}},
			"service_unavailable":       {trip: fake.Trip{Status: 200, Body: failed("service_unavailable")}},
			"request_timeout":           {trip: fake.Trip{Status: 200, Body: failed("request_timeout")}},
			"a migration":               {trip: fake.Trip{Status: 200, Body: failed("team_added_to_org")}},
			"a code that is not known":  {trip: fake.Trip{Status: 200, Body: failed("brand_new_trouble")}},
			"invalid_auth for a moment": {trip: fake.Trip{Status: 200, Body: failed("invalid_auth")}},
			"token_revoked for now":     {trip: fake.Trip{Status: 200, Body: failed("token_revoked")}},
			"429, 20 s": {trip: fake.Trip{Status: 429, RetryAfter: 20 * time.Second},
				patience: 20 * time.Second},
			"429, 60 s":    {trip: fake.Trip{Status: 429, RetryAfter: time.Minute}, patience: time.Minute},
			"429, an hour": {trip: fake.Trip{Status: 429, RetryAfter: time.Hour}, patience: time.Hour},
		} {
			t.Run(method+" "+name, func(t *testing.T) {
				t.Parallel()
				server := workspace(t, slacktest.Options{})
				ch := channel(t, server)
				c.trip.Call = method
				server.Trips.Add(c.trip)
				// The look for the card fails as well.
				server.Trips.Add(fake.Trip{Call: "conversations.history", Status: 502})
				card := (&bench{t: t}).card()
				ctx, cancel := context.WithTimeout(t.Context(), broadcaster.PostTimeout)
				defer cancel()
				ref, err := ch.Post(ctx, hereDest, card)
				if err == nil || ref.Message != "" || errors.Is(err, approver.ErrFinal) {
					t.Fatalf("Post gives %+v, %v: it may be over in a moment", ref, err)
				}
				p, patient := errors.AsType[approver.Patience](err)
				if patient != (c.patience > 0) || patient && (p.RetryAfter() > c.patience || p.RetryAfter() < c.patience/2) {
					t.Errorf("Post gives %v; does it say how long to wait?", err)
				}
				if patient {
					before := server.Count(method)
					if _, err := ch.Post(ctx, hereDest, card); err == nil || server.Count(method) != before {
						t.Errorf("again: %v after %d calls", err, server.Count(method)-before)
					}
					return
				}
				server.Trips.Clear()
				again, err := ch.Post(t.Context(), hereDest, card)
				if err != nil {
					t.Fatal(err)
				}
				if list := server.Cards(here); len(list) != 1 || list[0].Message != again.Message ||
					!slices.Contains(list[0].Buttons, fake.ApproveButton) {
					t.Errorf("there are %d cards: %+v", len(list), list)
				}
			})
		}
	}
}

// A card that is posted anew, with a new code, is another card.
func TestDoubtIsOfOneCard(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	ch := channel(t, server)
	server.Trips.Add(fake.Trip{Call: "chat.postMessage", Status: 502, Done: true})
	server.Trips.Add(fake.Trip{Call: "conversations.history", Status: 502, Times: 2})
	card := (&bench{t: t}).card()
	for range 2 { // while nobody can look, nothing is posted
		if ref, err := ch.Post(t.Context(), hereDest, card); err == nil || errors.Is(err, approver.ErrFinal) {
			t.Fatalf("Post gives %+v, %v", ref, err)
		}
	}
	next := card
	next.Code = (&bench{t: t}).card().Code
	ref, err := ch.Post(t.Context(), hereDest, next)
	if err != nil || len(server.Cards(here)) != 2 || ref.Message != server.Cards(here)[1].Message {
		t.Errorf("Post gives %+v, %v; %d cards", ref, err, len(server.Cards(here)))
	}
	// Without the scope nobody can look at all: the card matters more.
	server.Refuse("conversations.history", "missing_scope")
	if ref, err = ch.Post(t.Context(), hereDest, card); err != nil || len(server.Cards(here)) != 3 {
		t.Errorf("Post gives %+v, %v; %d cards", ref, err, len(server.Cards(here)))
	}
}

// What Slack refuses for good is ErrFinal, with the cure: to ask again would only
// let the deadline pass. The conversation is looked at again the next time, so that
// it gets cards as soon as it is cured.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"not_in_channel": "/invite @bot", "channel_not_found": "/invite @bot", "is_archived": "unarchive",
		"restricted_action":                   "admin",
		"restricted_action_read_only_channel": "only some may post", "restricted_action_thread_only_channel": "replies",
		"msg_too_long":        "msg_too_long",
		"msg_blocks_too_long": "msg_blocks_too_long", "invalid_blocks": "invalid_blocks", "no_text": "no_text",
		"user_is_restricted": "admin",
		"access_denied":      "admin", "ekm_access_denied": "keys", "messages_tab_disabled": "Messages tab",
		"method_not_supported_for_channel_type": "another kind",
		"missing_scope":                         "OAuth", "no_permission": "admin", "team_access_not_granted": "organization",
		"not_allowed_token_type": "xoxb",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			server := workspace(t, slacktest.Options{})
			ch := channel(t, server)
			card := (&bench{t: t}).card()
			ref, err := ch.Post(t.Context(), hereDest, card) // the conversation is found to be in order
			if err != nil {
				t.Fatal(err)
			}
			server.Refuse("chat.postMessage", code)
			server.Refuse("chat.update", code)
			looked := server.Count("conversations.info")
			if _, err := ch.Post(t.Context(), hereDest, (&bench{t: t}).card()); !errors.Is(err, approver.ErrFinal) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("Post gives %v, want ErrFinal and %q", err, want)
			}
			if err := ch.Update(t.Context(), ref, card); !errors.Is(err, approver.ErrFinal) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("Update gives %v", err)
			}
			server.Refuse("chat.postMessage", "")
			if _, err := ch.Post(t.Context(), hereDest, (&bench{t: t}).card()); err != nil {
				t.Errorf("cured: %v", err)
			}
			if n := server.Count("conversations.info") - looked; n != 1 {
				t.Errorf("the conversation was looked at %d times after the refusal", n)
			}
		})
	}
}

// The story: a card was cut, its file could not be attached, the card was deleted,
// and nobody could even deny. Now the card stays, says so and where the whole is
// shown, and takes no one-tap approval.
func TestFileThatIsNotTaken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("make all; ", 5000)
	for name, c := range map[string]struct {
		command string
		set     func(*slacktest.Server)
	}{
		"no address": {long, func(s *slacktest.Server) { s.Refuse("files.getUploadURLExternal", "storage_limit_reached") }},
		"no scope":   {long, func(s *slacktest.Server) { s.Refuse("files.getUploadURLExternal", "missing_scope") }},
		"a limit": {long, func(s *slacktest.Server) {
			s.Trips.Add(fake.Trip{Call: "files.getUpload", Status: 429, RetryAfter: time.Minute})
		}},
		"address breaks": {long,
			func(s *slacktest.Server) { s.Trips.Add(fake.Trip{Call: "files.getUpload", Status: 503, Times: 2}) }},
		"upload refused": {long, func(s *slacktest.Server) { s.Trips.Add(fake.Trip{Call: "upload", Status: 403}) }},
		"upload breaks": {long,
			func(s *slacktest.Server) { s.Trips.Add(fake.Trip{Call: "upload", Status: 500, Times: 2}) }},
		"upload cut": {long, func(s *slacktest.Server) { s.Trips.Add(fake.Trip{Call: "upload", Times: 2}) }},
		"not shared": {long,
			func(s *slacktest.Server) { s.Refuse("files.completeUploadExternal", "storage_limit_reached") }},
		"sharing breaks": {long,
			func(s *slacktest.Server) { s.Trips.Add(fake.Trip{Call: "files.complete", Status: 500}) }},
		"sharing cut":            {long, func(s *slacktest.Server) { s.Trips.Add(fake.Trip{Call: "files.complete"}) }},
		"larger than is allowed": {strings.Repeat("x", 17<<20), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, setup{})
			if c.set != nil {
				c.set(b.fake)
			}
			card := b.card()
			card.Body = channeltest.Command(c.command)
			ref := b.post(card)
			got := b.fake.Cards(here)
			if len(got) != 1 || got[0].Message != ref.Message || !ref.Partial || len(got[0].Files) != 0 {
				t.Fatalf("%d cards, ref %+v", len(got), ref)
			}
			if text := got[0].Text; !strings.Contains(text, "could not be attached") ||
				!strings.Contains(text, "approver approve "+card.Request) || strings.Contains(text, "is attached as") {
				t.Errorf("the card says\n%s", text)
			}
			if slices.Contains(got[0].Buttons, fake.ApproveButton) || !slices.Contains(got[0].Buttons, fake.DenyButton) {
				t.Errorf("the card has the buttons %v", got[0].Labels)
			}
			if err := b.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
				t.Fatal(err)
			}
			b.want(1)
			if err := b.channel.Update(t.Context(), ref, card); err != nil {
				t.Fatal(err)
			}
			if text := b.fake.Cards(here)[0].Text; strings.Contains(text, "is attached as") ||
				!strings.Contains(text, "approver approve "+card.Request) {
				t.Errorf("updated, the card says\n%s", text)
			}
		})
	}
}

// One hiccup of an upload costs no file.
func TestUploadIsTriedAgain(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	for _, call := range []string{"files.getUpload", "upload"} {
		server.Trips.Add(fake.Trip{Call: call, Status: 502})
		card := (&bench{t: t}).card()
		card.Body = channeltest.Command(strings.Repeat("make all; ", 5000))
		if _, err := channel(t, server).Post(t.Context(), hereDest, card); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range server.Cards(here) {
		if len(c.Files) != 1 || strings.Contains(c.Text, "could not be attached") {
			t.Errorf("a card has %d files", len(c.Files))
		}
	}
}

// A card that speaks of a file that is not there is not left behind: if Slack does
// not take the correction it is taken back and posted again.
func TestCardIsNotLeftWithoutItsFile(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"taken back": true, "not even that": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := workspace(t, slacktest.Options{})
			ch := channel(t, server)
			server.Trips.Add(fake.Trip{Call: "files.complete", Status: 500})
			server.Trips.Add(fake.Trip{Call: "chat.update", Status: 500})
			if !taken {
				server.Trips.Add(fake.Trip{Call: "chat.delete", Status: 500})
			}
			card := (&bench{t: t}).card()
			card.Body = channeltest.Command(strings.Repeat("make all; ", 5000))
			if ref, err := ch.Post(t.Context(), hereDest, card); err == nil || errors.Is(err, approver.ErrFinal) {
				t.Fatalf("Post gives %+v, %v", ref, err)
			}
			if n := len(server.Cards(here)); n != map[bool]int{true: 0, false: 1}[taken] {
				t.Errorf("%d cards are left", n)
			}
			ref, err := ch.Post(t.Context(), hereDest, card)
			if list := server.Cards(here); err != nil || len(list) != 1 || list[0].Message != ref.Message ||
				len(list[0].Files) != 1 {
				t.Errorf("Post gives %+v, %v; %d cards", ref, err, len(list))
			}
		})
	}
}

var _ approver.Receiver = (*slack.Channel)(nil)
