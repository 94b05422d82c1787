package telegram

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
)

// What Telegram says to a post or an edit, and what that means for the next try.
func TestWhatErrorsMean(t *testing.T) {
	bad := func(text string) telegramtest.Trouble { return telegramtest.Trouble{Answer: failure400(text)} }
	no := func(text string) telegramtest.Trouble { return telegramtest.Trouble{Answer: failure403(text)} }
	page := func(status int) telegramtest.Trouble { return telegramtest.Trouble{Page: status} }
	other := func(code int, text string) telegramtest.Trouble {
		return telegramtest.Trouble{Answer: telegramtest.APIError{Code: code, Description: text}}
	}
	wait := func(seconds int) telegramtest.Trouble {
		return telegramtest.Trouble{Answer: telegramtest.APIError{Code: 429, Description: "Too Many Requests: retry after",
			RetryAfter: seconds}}
	}
	const (
		final    = "final"
		patience = "patience"
		again    = "again"
	)
	for want, troubles := range map[string]map[string]telegramtest.Trouble{
		final: {
			"no chat": bad("chat not found"), "no thread": bad("message thread not found"), "closed topic": bad("TOPIC_CLOSED"),
			"deleted": bad("message to edit not found"), "not ours": bad("message can't be edited"),
			"no id":     bad("MESSAGE_ID_INVALID"),
			"no rights": bad("not enough rights to send text messages to the chat"), "a new 400": bad("SOMETHING_NEW"),
			"migrated": {Answer: telegramtest.APIError{Code: 400, Description: "Bad Request: group chat was upgraded",
				MigrateTo: -100777}},
			"too long": bad("message is too long"), "kicked": no("bot was kicked from the supergroup chat"),
			"blocked":   no("bot was blocked by the user"),
			"no member": no("bot is not a member of the channel chat"), "gone": no("user is deactivated"),
			"a new 403": no("something new"),
			"no method": other(404, "Not Found: method not found"), "too large": other(413, "Request Entity Too Large"),
		},
		patience: {"a wait": wait(90), "a day": wait(86400)},
		again: {
			"500": other(500, "Internal Server Error"), "502": other(502, "Bad Gateway"), "504": other(504, "Gateway Timeout"),
			"502 page": page(502), "503 page": page(503), "404 page": page(404), "403 page": page(403), "429 page": page(429),
			"200 page":  page(200),
			"stray 401": stray401, "stray 404": stray404, "409": other(409, "Conflict"), "an empty error": other(418, ""),
			"cut before": {Cut: telegramtest.Before}, "cut after": {Cut: telegramtest.After},
		},
	} {
		for name, trouble := range troubles {
			t.Run(name, func(t *testing.T) {
				b := idle(t)
				ref := b.post(highCard(t))
				settled := highCard(t)
				settled.State = approver.Denied
				b.s.Trouble("sendMessage", trouble)
				b.s.Trouble("editMessageText", trouble)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, post := b.c.Post(ctx, testConfig(b.s).Destinations()[1], highCard(t))
				for what, err := range map[string]error{"Post": post, "Update": b.c.Update(ctx, ref, settled)} {
					var p approver.Patience
					got := again
					switch {
					case err == nil:
						got = "success"
					case errors.Is(err, approver.ErrFinal):
						got = final
					case errors.As(err, &p) && p.RetryAfter() > 10*time.Second:
						got = patience
					}
					if got != want {
						t.Errorf("%s: %v means %s, want %s", what, err, got, want)
					}
				}
				if want != again {
					return
				}
				if _, err := b.c.Post(ctx, testConfig(b.s).Destinations()[1], highCard(t)); err != nil {
					t.Errorf("once more: %v", err)
				}
				if err := b.c.Update(ctx, ref, settled); err != nil {
					t.Errorf("the edit once more: %v", err)
				}
			})
		}
	}
}

// What the configuration or the card itself rules out is final too: no time cures it.
func TestOwnRefusalsAreFinal(t *testing.T) {
	b := idle(t)
	odd := highCard(t)
	odd.Request = "x"
	for name, to := range map[string]approver.Destination{
		"not ours": {Channel: Name, Conversation: otherTxt}, "a name": {Channel: Name, Conversation: "@ops"},
		"a thread": {Channel: Name, Conversation: text(teamChat), Thread: "7"},
	} {
		if _, err := b.c.Post(t.Context(), to, highCard(t)); !errors.Is(err, approver.ErrFinal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.c.Post(t.Context(), testConfig(b.s).Destinations()[0], odd); !errors.Is(err, approver.ErrFinal) {
		t.Errorf("an odd request: %v", err)
	}
	for _, message := range []string{"", "-5", "x"} {
		if err := b.c.Update(t.Context(), approver.Ref{Destination: testConfig(b.s).Destinations()[0], Message: message},
			highCard(t)); !errors.Is(err, approver.ErrFinal) {
			t.Errorf("message %q: %v", message, err)
		}
	}
	if n := len(b.s.Log()); n != 0 {
		t.Errorf("Telegram was called %d times", n)
	}
}

// A name that is not found, and a port that nobody listens on, may be there in a moment.
func TestUnreachableIsNotFinal(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for _, address := range []string{"http://telegram.invalid", "http://" + closed.Addr().String()} {
		cfg := goodConfig()
		cfg.APIURL = address
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		_, err := newChannel(t, cfg).Post(ctx, cfg.Destinations()[0], highCard(t))
		var p approver.Patience
		if err == nil || errors.Is(err, approver.ErrFinal) || errors.As(err, &p) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Telegram asked for 20 s, and the next call knocked at once, which makes the wait
// longer. Now it is not sent, and says how long is left. Other chats go on.
func TestRateLimitIsRemembered(t *testing.T) {
	b := idle(t)
	to := testConfig(b.s).Destinations()
	ref := b.postTo(to[0], highCard(t))
	b.s.FailNext("sendMessage",
		telegramtest.APIError{Code: 429, Description: "Too Many Requests: retry after 900", RetryAfter: 900})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	before := len(b.s.Log())
	for i := range 3 {
		_, err := b.c.Post(ctx, to[0], highCard(t))
		if i == 2 { // the same chat, by an edit, and in a topic
			err = b.c.Update(ctx, ref, highCard(t))
		}
		var p approver.Patience
		if !errors.As(err, &p) || p.RetryAfter() < 700*time.Second || p.RetryAfter() > 900*time.Second {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if _, err := b.c.Post(ctx, to[2], highCard(t)); err == nil || !strings.Contains(err.Error(), "rate limited") {
		t.Errorf("a topic of the same chat: %v", err)
	}
	if n := len(b.s.Log()) - before; n != 1 {
		t.Errorf("Telegram was called %d times, want once", n)
	}
	b.postTo(to[1], highCard(t))
}

// cutCard is a card whose command does not fit.
func cutCard(t *testing.T) approver.Card {
	card := highCard(t)
	card.Body = channeltest.Command(strings.Repeat("rm -rf /srv/x; ", 1000))
	return card
}

// The file of a long command could not be sent, so the card was deleted and nobody
// could even deny. Now it stays, says so, takes no single tap, and Details sends the
// file again.
func TestCardWithoutItsFile(t *testing.T) {
	for name, troubles := range map[string][]telegramtest.Trouble{
		"no rights": {{Answer: failure400("not enough rights to send documents to the chat")}},
		"a wait": {{Answer: telegramtest.APIError{Code: 429, Description: "Too Many Requests: retry after 900",
			RetryAfter: 900}}},
		"down": slices.Repeat([]telegramtest.Trouble{{Page: 502}}, attachTries),
		"cut":  slices.Repeat([]telegramtest.Trouble{{Cut: telegramtest.Before}}, attachTries),
	} {
		t.Run(name, func(t *testing.T) {
			b := running(t)
			card := cutCard(t)
			b.s.Trouble("sendDocument", troubles...)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			ref, err := b.c.Post(ctx, testConfig(b.s).Destinations()[0], card)
			if err != nil || !ref.Partial {
				t.Fatalf("Post: %+v, %v", ref, err)
			}
			if b.c.Fits(card) || !b.c.Fits(highCard(t)) {
				t.Error("the channel does not know what fits")
			}
			m := b.message(ref)
			for _, row := range m.Buttons {
				for _, button := range row {
					if strings.Contains(button.Text, "Approve") || strings.Contains(button.Copy, "approve") {
						t.Errorf("the card offers %+v", button)
					}
				}
			}
			if name == "a wait" {
				// The whole chat is to be left alone, so not even that can be said yet.
				if !strings.Contains(b.logs.String(), "nor can the card say so") {
					t.Errorf("the log is\n%s", b.logs)
				}
				b.c.floods = floods{} // later
				if err := b.c.Update(ctx, ref, card); err != nil {
					t.Fatal(err)
				}
				m = b.message(ref)
			}
			if !strings.Contains(m.Text, "could be attached. Tap Details") &&
				!strings.Contains(m.Text, "could not be attached. Tap Details") ||
				strings.Contains(m.Text, "in the attached file: read") {
				t.Errorf("the card says\n%s", m.Text)
			}
			b.shows("the request", card.Whole())
			b.tap(ann, ref, fake.DetailsButton)
			b.eventually("the file", func() bool {
				cards := b.s.Cards(text(teamChat))
				return len(cards) == 1 && slices.Equal(cards[0].Files, []string{card.Whole()})
			})
			b.tap(ann, ref, fake.DenyButton)
			if r := b.want(2); r.Approve || r.Request != card.Request {
				t.Errorf("the tap is %+v", r)
			}
		})
	}
}

// One 502, or one lost answer, while the file is sent: it is sent again at once.
func TestFileIsTriedAgain(t *testing.T) {
	for name, trouble := range map[string]telegramtest.Trouble{
		"502": {Page: 502}, "cut before": {Cut: telegramtest.Before},
		"500":    {Answer: telegramtest.APIError{Code: 500, Description: "Internal"}},
		"a wait": {Answer: telegramtest.APIError{Code: 429, Description: "Too Many Requests: retry after 1", RetryAfter: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := idle(t)
			card := cutCard(t)
			b.s.Trouble("sendDocument", trouble)
			ref := b.post(card)
			cards := b.s.Cards(text(teamChat))
			if len(cards) != 1 || !slices.Equal(cards[0].Files, []string{card.Body[0].Text}) ||
				!strings.Contains(b.message(ref).Text, "in the attached file") {
				t.Errorf("%+v", cards)
			}
		})
	}
}

// The file cannot be sent again either: the person is told where else to read it.
func TestDetailsThatCannotBeSent(t *testing.T) {
	b := running(t)
	refuse := telegramtest.Trouble{Answer: failure400("not enough rights to send documents to the chat")}
	b.s.Trouble("sendDocument", refuse, refuse)
	card := cutCard(t)
	ref := b.post(card)
	b.shows("the request", card.Whole())
	b.tap(ann, ref, fake.DetailsButton)
	b.wantTold(ann, "approver watch shows it whole")
}

// Somebody deletes the card: that is final, no edit brings it back.
func TestDeletedCard(t *testing.T) {
	b := idle(t)
	ref := b.post(highCard(t))
	b.s.Delete(teamChat, ref.Message)
	if err := b.c.Update(t.Context(), ref, highCard(t)); !errors.Is(err, approver.ErrFinal) {
		t.Errorf("Update: %v", err)
	}
}

// The code could not be copied and the file not be opened, because both were
// protected. A button copies the code that has to be typed or, where a tap may approve, the command
// for an approval that lasts longer. It is no answer: people still have to send it.
func TestCopying(t *testing.T) {
	b := running(t)
	high, deadly, long := highCard(t), catastrophicCard(t), cutCard(t)
	for name, c := range map[string]struct {
		card approver.Card
		want string
	}{"high": {high, "/approve " + high.Code.Reveal()}, "catastrophic": {deadly, deadly.Code.Reveal()},
		"cut": {long, long.Code.Reveal()}} {
		m := b.message(b.post(c.card))
		copies := ""
		for _, row := range m.Buttons {
			for _, button := range row {
				copies += button.Copy
				if button.Copy != "" && button.Data != "" {
					t.Errorf("%s: copying is an answer: %+v", name, button)
				}
			}
		}
		if copies != c.want || m.Protected {
			t.Errorf("%s: copies %q, want %q; protected %v", name, copies, c.want, m.Protected)
		}
	}
	b.nothing()
}
