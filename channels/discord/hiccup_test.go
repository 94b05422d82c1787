package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
)

// The story: while a card was posted Discord answered once with 502, or cut the
// connection, or wanted to be left alone for twenty seconds, and the call was denied
// although people were there. Now every such error leaves the request to be posted
// again: it is not ErrFinal, and a 429 says for how long. Posted again, the same
// card is there once, whatever became of the first try.
func TestHiccupsWhilePosting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trip     fake.Trip
		patience time.Duration
	}{
		"500":                        {trip: fake.Trip{Status: 500}},
		"502":                        {trip: fake.Trip{Status: 502}},
		"502, carried out":           {trip: fake.Trip{Status: 502, Done: true}},
		"503":                        {trip: fake.Trip{Status: 503}},
		"504, carried out":           {trip: fake.Trip{Status: 504, Done: true}},
		"520 of a proxy":             {trip: fake.Trip{Status: 520, Body: "<html>"}},
		"cut":                        {trip: fake.Trip{}},
		"cut, carried out":           {trip: fake.Trip{Done: true}},
		"401 for a moment":           {trip: fake.Trip{Status: 401, Body: `{"code":0,"message":"401: Unauthorized"}`}},
		"403 of a proxy":             {trip: fake.Trip{Status: 403, Body: "<html>blocked</html>"}},
		"404 of a proxy":             {trip: fake.Trip{Status: 404, Body: "not found"}},
		"404 without a code":         {trip: fake.Trip{Status: 404, Body: `{"code":0,"message":"404: Not Found"}`}},
		"408":                        {trip: fake.Trip{Status: 408}},
		"413 of a proxy":             {trip: fake.Trip{Status: 413}},
		"425":                        {trip: fake.Trip{Status: 425}},
		"a redirect":                 {trip: fake.Trip{Status: 302}},
		"a cut answer":               {trip: fake.Trip{Status: 200, Body: `{"id":"10`}},
		"a cut answer, carried out":  {trip: fake.Trip{Status: 200, Body: `{"id":"10`, Done: true}},
		"an answer of somebody else": {trip: fake.Trip{Status: 200, Body: `<html>sign in</html>`}},
		"posting is off for a while": {trip: fake.Trip{Status: 403, Body: `{"code":40004,"message":"temporarily disabled"}`}},
		"overloaded":                 {trip: fake.Trip{Status: 400, Body: `{"code":130000,"message":"overloaded"}`}},
		"429, 20 s": {trip: fake.Trip{Status: 429, RetryAfter: 20 * time.Second, Body: `{"retry_after":20}`},
			patience: 20 * time.Second},
		"429 in HTML, 60 s": {trip: fake.Trip{Status: 429, RetryAfter: 60 * time.Second, Body: `<html>`},
			patience: 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			c.trip.Call, c.trip.Times = "POST /api/v10/channels/", 2 // the channel's own second try meets it too
			if c.patience > 0 {
				c.trip.Times = 1
			}
			b.s.Trips.Add(c.trip)
			card := high()
			ctx, cancel := context.WithTimeout(t.Context(), broadcaster.PostTimeout)
			defer cancel()
			ref, err := b.c.Post(ctx, to(b.here), card)
			if c.trip.Status/100 == 4 { // answered once: nobody knows better by asking again at once
				if b.s.Trips.Left() > 1 {
					t.Errorf("%d calls are left", b.s.Trips.Left())
				}
			}
			if err == nil || ref.Message != "" || errors.Is(err, approver.ErrFinal) {
				t.Fatalf("Post gives %+v, %v: it may be over in a moment", ref, err)
			}
			var p approver.Patience
			if errors.As(err, &p) != (c.patience > 0) ||
				c.patience > 0 && (p.RetryAfter() > c.patience || p.RetryAfter() < c.patience/2) {
				t.Errorf("Post gives %v; does it say how long to wait?", err)
			}
			if c.patience > 0 {
				// While it lasts nothing is sent, and the same is said again.
				before := len(b.s.Log())
				if _, err := b.c.Post(ctx, to(b.here), card); !errors.As(err, &p) || len(b.s.Log()) != before {
					t.Errorf("again: %v, %q", err, b.s.Log()[before:])
				}
				return
			}
			for b.s.Trips.Left() > 0 { // as the core does
				_, _ = b.c.Post(ctx, to(b.here), card)
			}
			ref = b.post(b.here, card)
			if got := b.s.Cards(b.here); len(got) != 1 || got[0].Message != ref.Message {
				t.Errorf("there are %d cards", len(got))
			}
		})
	}
}

// What Discord itself refuses for good is ErrFinal, with the cure where there is one:
// to ask again would only let the deadline pass.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status, code int
		want         string
	}{
		"unknown channel":      {404, 10003, "check the channel id"},
		"unknown server":       {404, 10004, "10004"},
		"unknown message":      {404, 10008, "10008"},
		"missing access":       {403, 50001, "View Channel"},
		"missing permission":   {403, 50013, "Send Messages"},
		"no direct messages":   {403, 50007, "50007"},
		"another's message":    {403, 50005, "50005"},
		"not a text channel":   {400, 50008, "50008"},
		"empty message":        {400, 50006, "50006"},
		"archived thread":      {400, 50083, "50083"},
		"locked thread":        {400, 160005, "160005"},
		"blocked by automod":   {400, 200000, "200000"},
		"another channel type": {400, 50024, "50024"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			ref := b.post(b.here, high())
			body := fmt.Sprintf(`{"code":%d,"message":"no"}`, c.code)
			b.s.Trips.Add(fake.Trip{Call: "/api/v10/channels/", Times: 2, Status: c.status, Body: body})
			_, err := b.c.Post(t.Context(), to(b.here), high())
			var p approver.Patience
			if !errors.Is(err, approver.ErrFinal) || !strings.Contains(err.Error(), c.want) || errors.As(err, &p) {
				t.Errorf("Post gives %v, want %q and ErrFinal", err, c.want)
			}
			if err := b.c.Update(t.Context(), ref, high()); !errors.Is(err, approver.ErrFinal) {
				t.Errorf("Update gives %v", err)
			}
			if b.s.Trips.Left() != 0 {
				t.Error("one of them was not asked")
			}
		})
	}
}

// long is a card that cannot show its command.
func long() approver.Card {
	card := high()
	card.Body = channeltest.Command(strings.Repeat("make all; ", 5000))
	return card
}

// The story: a card was cut, its file was refused, the card was not posted either,
// and nobody could even deny. Now the card is there without the file, says so and
// where the whole is shown, and takes no one-tap approval.
func TestFileThatIsNotTaken(t *testing.T) {
	t.Parallel()
	huge := long()
	huge.Body = channeltest.Command(strings.Repeat("x", maxFile+1))
	fenced := high()
	fenced.Body = channeltest.Command("echo ``` hidden")
	for name, c := range map[string]struct {
		card approver.Card
		set  func(b *bench)
	}{
		"no permission":         {long(), func(b *bench) { b.s.NoFiles = true }},
		"no permission, fenced": {fenced, func(b *bench) { b.s.NoFiles = true }},
		"dropped":               {long(), func(b *bench) { b.s.LosesFiles = true }},
		"dropped, fenced":       {fenced, func(b *bench) { b.s.LosesFiles = true }},
		"too large for us":      {huge, nil},
		"too large for Discord": {long(), func(b *bench) {
			b.trip(1, fake.Trip{Status: 413, Body: `{"code":40005,"message":"Request entity too large"}`})
		}},
		"too large for a proxy":          {long(), func(b *bench) { b.trip(1, fake.Trip{Status: 413, Body: `<html>`}) }},
		"a server that breaks":           {long(), func(b *bench) { b.trip(2, fake.Trip{Status: 500}) }},
		"a connection that is cut on it": {long(), func(b *bench) { b.trip(2, fake.Trip{}) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil).connected()
			if c.set != nil {
				c.set(b)
			}
			ref := b.post(b.here, c.card)
			got := b.s.Cards(b.here)
			if len(got) != 1 || got[0].Message != ref.Message || !ref.Partial || len(got[0].Files) != 0 {
				t.Fatalf("%d cards, ref %+v, %d files", len(got), ref, len(got[0].Files))
			}
			shown := strings.ReplaceAll(got[0].Text, "\\", "")
			if !strings.Contains(shown, "could not be attached") ||
				!strings.Contains(shown, "approver approve "+c.card.Request) || strings.Contains(shown, "in the attached") {
				t.Errorf("the card says\n%s", shown)
			}
			if slices.Contains(got[0].Buttons, fake.ApproveButton) || !slices.Contains(got[0].Buttons, fake.DenyButton) {
				t.Errorf("the card has the buttons %v", got[0].Labels)
			}
			if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
				t.Fatal(err)
			}
			b.one(0)
			// An update of the pending card speaks of no file either.
			if err := b.c.Update(t.Context(), ref, c.card); err != nil {
				t.Fatal(err)
			}
			if text := b.s.Cards(b.here)[0].Text; !strings.Contains(text, "could not be attached") {
				t.Errorf("updated, the card says\n%s", text)
			}
			if log, _ := b.stop(); strings.Count(log, "level=WARN msg=\"a card ") != 1 {
				t.Errorf("one file is told of more than once:\n%s", log)
			}
		})
	}
}

// trip makes the next posts go wrong.
func (b *bench) trip(times int, t fake.Trip) {
	t.Call, t.Times = "POST /api/v10/channels/", times
	b.s.Trips.Add(t)
}

// A card whose file was taken, but not the answer that said so, is the same card.
func TestLostAnswerToPostWithFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	card := long()
	b.trip(4, fake.Trip{Status: http.StatusBadGateway, Done: true})
	if ref, err := b.c.Post(t.Context(), to(b.here), card); err == nil {
		t.Fatalf("Post gives %+v", ref)
	}
	ref := b.post(b.here, card)
	if got := b.s.Cards(b.here); len(got) != 1 || got[0].Message != ref.Message || len(got[0].Files) != 1 || !ref.Partial {
		t.Errorf("there are %d cards, ref %+v", len(got), ref)
	}
}
