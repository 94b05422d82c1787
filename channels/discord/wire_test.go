package discord

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest/fake"
	"approver.example/internal/secret"
)

func to(conversation string) approver.Destination {
	return approver.Destination{Channel: Name, Conversation: conversation}
}

// An answer that was lost on the way does not post the card twice.
func TestLostAnswerPostsOnce(t *testing.T) {
	b := newBench(t, nil)
	b.s.Trips.Add(fake.Trip{Call: "/messages", Done: true, Times: 1})
	card := high()
	ref := b.post(b.here, card)
	if got := b.s.Cards(b.here); len(got) != 1 || got[0].Message != ref.Message {
		t.Errorf("there are %d cards; the reference is %+v", len(got), ref)
	}
	// The core may post the same card again after an error, too.
	b.s.Trips.Add(fake.Trip{Call: "/messages", Done: true, Times: 2})
	card = high()
	if _, err := b.c.Post(t.Context(), to(b.here), card); err == nil {
		t.Fatal("Post knows a message that it was never told of")
	}
	ref = b.post(b.here, card)
	if got := b.s.Cards(b.here); len(got) != 2 || got[1].Message != ref.Message {
		t.Errorf("there are %d cards; the reference is %+v", len(got), ref)
	}
	// A new code makes a new card.
	card.Code = high().Code
	b.post(b.here, card)
	if got := b.s.Cards(b.here); len(got) != 3 {
		t.Errorf("there are %d cards, want another one for another code", len(got))
	}
	// An edit is simply made again.
	b.s.Trips.Add(fake.Trip{Call: "/messages", Done: true, Times: 1})
	card.State, card.Result = approver.Denied, "⛔ denied"
	if err := b.c.Update(t.Context(), ref, card); err != nil {
		t.Errorf("Update: %v", err)
	}
}

// The nonce is what keeps a card that is posted again, by whichever process, from
// being shown twice.
func TestNonce(t *testing.T) {
	b := newBench(t, nil)
	card := high()
	n := b.c.nonce(to(b.here), card)
	again, err := New(b.cfg, b.c.log)
	if err != nil {
		t.Fatal(err)
	}
	if len(n) > 25 || n != again.nonce(to(b.here), card) {
		t.Errorf("the nonce %q is too long, or another process has another one", n)
	}
	b.cfg.Token = secret.New("another-token")
	other, err := New(b.cfg, b.c.log)
	if err != nil {
		t.Fatal(err)
	}
	settled := card
	settled.Code = high().Code
	for name, twin := range map[string]string{
		"another place": b.c.nonce(to(b.there), card), "another bot": other.nonce(to(b.here), card),
		"another code": b.c.nonce(to(b.here), settled),
	} {
		if n == twin {
			t.Errorf("%s has the same nonce", name)
		}
	}
}

// Without Embed Links people would be asked to approve what they do not see.
func TestDroppedEmbed(t *testing.T) {
	b := newBench(t, func(b *bench) { b.s.NoEmbeds = true })
	ref, err := b.c.Post(t.Context(), to(b.here), high())
	if err == nil || ref.Message != "" || !strings.Contains(err.Error(), "Embed Links") {
		t.Errorf("Post returned %+v, %v", ref, err)
	}
	if got := b.s.Cards(b.here); len(got) != 0 {
		t.Errorf("%d cards are left behind", len(got))
	}
}

func TestRefusedDestinations(t *testing.T) {
	b := newBench(t, nil)
	for name, d := range map[string]approver.Destination{
		"another channel's":   {Channel: "slack", Conversation: b.here},
		"a thread":            {Channel: Name, Conversation: b.here, Thread: b.there},
		"not configured":      to(b.s.AddChannel()),
		"a way out of a path": to("../../users/@me"),
		"zero":                {},
	} {
		if _, err := b.c.Post(t.Context(), d, high()); !errors.Is(err, approver.ErrFinal) {
			t.Errorf("%s: Post gives %v", name, err)
		}
	}
	for name, d := range map[string]approver.Destination{
		"another channel's": {Channel: "slack", Conversation: b.here}, "a way out of a path": to("../../users/@me"),
		"zero":            {},
		"no conversation": to(""), "a name": to("general"), "a way to the root": to("/"), "a query": to(b.here + "?x=1"),
	} {
		if err := b.c.Update(t.Context(), approver.Ref{Destination: d, Message: b.here}, high()); !errors.Is(err,
			approver.ErrFinal) {
			t.Errorf("%s: Update gives %v", name, err)
		}
	}
	for _, message := range []string{"", "x", "../1", b.s.Bot() + "/crosspost"} {
		if err := b.c.Update(t.Context(), approver.Ref{Destination: to(b.here), Message: message}, high()); !errors.Is(err,
			approver.ErrFinal) {
			t.Errorf("Update of the message id %q gives %v", message, err)
		}
	}
	if log := b.s.Log(); len(log) != 0 {
		t.Errorf("requests went out: %q", log)
	}
}

// A deleted card is an error that says so.
func TestUpdateOfNothing(t *testing.T) {
	b := newBench(t, nil)
	err := b.c.Update(t.Context(), approver.Ref{Destination: to(b.here), Message: b.s.Bot()}, high())
	if err == nil || !strings.Contains(err.Error(), "Unknown Message") || !errors.Is(err, approver.ErrFinal) {
		t.Errorf("Update: %v", err)
	}
}

// The rate limit of one channel is waited for, and does not hold up another.
func TestRateLimitPerChannel(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.s.PostLimit, b.s.PostWindow = 2, 400*time.Millisecond })
	began := time.Now()
	for range 5 {
		b.post(b.here, high())
	}
	if took := time.Since(began); took < 700*time.Millisecond {
		t.Errorf("5 posts at 2 per 400 ms took %v", took)
	}
	if n := len(b.s.Cards(b.here)); n != 5 {
		t.Errorf("%d cards", n)
	}
	b.c.wire.pauses.Note("POST /api/v10/channels/"+b.here+"/messages", time.Now().Add(time.Hour))
	b.post(b.there, high())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began = time.Now()
	if _, err := b.c.Post(ctx, to(b.here), high()); err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("a closed channel: %v after %v", err, time.Since(began))
	}
}

// A scripted server answers with what a test wants, and counts.
func scripted(t *testing.T, handler http.HandlerFunc) (*Channel, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		handler(w, r)
	}))
	t.Cleanup(srv.Close)
	cfg := valid()
	cfg.Token, cfg.APIURL = secret.New("very-secret-token"), srv.URL+"/api"
	c, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c, &calls
}

func TestErrorResponses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		calls  int64
		want   string
	}{
		"forbidden":   {403, nil, `{"code":50013,"message":"Missing Permissions"}`, 1, "Embed Links"},
		"no such":     {404, nil, `{"code":10003,"message":"Unknown Channel"}`, 1, "check the channel id"},
		"token":       {401, nil, `{"code":0,"message":"401: Unauthorized"}`, 1, "token_file"},
		"bad form":    {400, nil, `{"code":50035,"message":"Invalid Form Body"}`, 3, "50035"}, // in each form
		"html":        {502, nil, `<html>Bad Gateway</html>`, 2, "502 Bad Gateway"},
		"unavailable": {503, nil, ``, 2, "503"},
		"long wait": {429, map[string]string{"Retry-After": "3600"}, `{"retry_after":3600,"message":"slow"}`, 1,
			"retry after"},
		"wait in HTML": {429, map[string]string{"Retry-After": "3600"}, `<html>banned</html>`, 1, "retry after 1h"},
		"redirect":     {307, map[string]string{"Location": "http://127.0.0.1:1/steal"}, ``, 1, "307"},
		"hostile text": {400, nil, `{"code":1,"message":"line\nbreak` + strings.Repeat("x", 5000) + `"}`, 1,
			"bytes hidden"},
		"cut off":        {200, nil, `{"id":"109876`, 2, "not JSON"},
		"no message id":  {200, nil, `{}`, 2, "no message id"},
		"not an object":  {200, nil, `[]`, 2, "not readable"},
		"huge response":  {200, nil, `{"id":"` + strings.Repeat("x", maxBody) + `"}`, 2, "too large"},
		"id not numeric": {200, nil, `{"id":"../x"}`, 2, "no message id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch, calls := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			ref, err := ch.Post(ctx, to(someChannel), high())
			if err == nil || ref != (approver.Ref{}) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("Post returned %+v and %v, want an error with %q", ref, err, c.want)
			}
			if strings.Contains(err.Error(), "very-secret-token") || strings.ContainsAny(err.Error(), "\r\x1b") ||
				len(err.Error()) > 700 {
				t.Errorf("the error is not fit to be shown: %v", err)
			}
			if n := calls.Load(); n != c.calls {
				t.Errorf("%d requests, want %d", n, c.calls)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A 429 is waited for as long as Discord says, as often as it says so, in one
// Post, and a global one holds up every route.
func TestWaitsFor429(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	c, calls := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) <= 2 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"message":"You are being rate limited.","retry_after":0.2,"global":true}`)
			return
		}
		_, _ = io.WriteString(w, `{"id":"1098765432109876543","embeds":[{}],"components":[{}],"attachments":[]}`)
	})
	began := time.Now()
	if _, err := c.Post(t.Context(), to(someChannel), high()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 400*time.Millisecond || took > 5*time.Second {
		t.Errorf("it took %v, want two waits of 200 ms", took)
	}
	if calls.Load() != 3 {
		t.Errorf("%d requests", calls.Load())
	}
	c.wire.pauses.Note(everyRoute, time.Now().Add(time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	began = time.Now()
	err := c.Update(ctx, approver.Ref{Destination: to(someChannel), Message: someUser}, high())
	if err == nil || time.Since(began) > 5*time.Second || calls.Load() != 3 {
		t.Errorf("a request that cannot be made in time: %v after %v", err, time.Since(began))
	}
}

func TestWire(t *testing.T) {
	w := newWire("http://127.0.0.1:1/api")
	for _, address := range []string{"https://evil.example/", "https://discord.com/api/v10/x",
		"http://discord.com/api/v9/x", "https://discord.com/api/v9evil/"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.RoundTrip(req); err == nil || !strings.Contains(err.Error(), "refused to send") {
			t.Errorf("a request to %s: %v", address, err)
		}
	}
	if seconds(-1) != 0 || seconds(1e30) != 24*time.Hour || seconds(0.5) != 500*time.Millisecond {
		t.Error("a wait is not bounded")
	}
}

func TestConnectionRefused(t *testing.T) {
	b := newBench(t, nil)
	b.s.Break(fake.Down)
	began := time.Now()
	_, err := b.c.Post(t.Context(), to(b.here), high())
	if took := time.Since(began); err == nil || took > 20*time.Second {
		t.Errorf("Post returned %v after %v", err, took)
	}
}

func TestHangIsBoundByContext(t *testing.T) {
	b := newBench(t, nil)
	b.s.Break(fake.Hangs)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := b.c.Post(ctx, to(b.here), high())
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
		t.Errorf("Post returned %v after %v", err, took)
	}
	b.s.Break(fake.Healthy)
	if got := b.s.Cards(b.here); len(got) != 0 {
		t.Errorf("%d cards are left", len(got))
	}
}

// Discord carried a card out and its answer was lost; the try behind it, a moment later, was
// limited or refused. The channel told the second error alone: the call was denied because
// nobody could be asked, while its card stood there with its buttons, and an edit that may
// come late was taken for one that never does. What was not known stays so.
func TestASecondTryDoesNotHideThatTheFirstHadNoWord(t *testing.T) {
	for name, first := range map[string]fake.Trip{"cut": {Done: true}, "502": {Status: 502, Done: true}} {
		for second, trip := range map[string]fake.Trip{
			"429":   {Status: 429, RetryAfter: time.Minute, Body: `{"retry_after":60}`},
			"final": {Status: 403, Body: `{"code":50001,"message":"Missing Access"}`},
		} {
			t.Run(name+", then "+second, func(t *testing.T) {
				unknown := func(what string, err error) {
					var p approver.Patience
					if err == nil || errors.Is(err, approver.ErrFinal) || errors.As(err, &p) {
						t.Errorf("%s: %v", what, err)
					}
				}
				b := newBench(t, nil)
				trips := func(call string) {
					first.Call, first.Times, trip.Call, trip.Times = call, 1, call, 1
					b.s.Trips.Add(first)
					b.s.Trips.Add(trip)
				}
				ctx, stop := context.WithTimeout(t.Context(), broadcaster.PostTimeout)
				defer stop()
				to := approver.Destination{Channel: Name, Conversation: b.here}
				trips("POST /api/v10/channels/")
				_, err := b.c.Post(ctx, to, high())
				unknown("post", err)
				if n := len(b.s.Cards(b.here)); n != 1 {
					t.Fatalf("%d cards", n)
				}
				b = newBench(t, nil)
				to.Conversation = b.here
				ref, err := b.c.Post(ctx, to, high())
				if err != nil {
					t.Fatal(err)
				}
				trips("PATCH /api/v10/channels/")
				unknown("edit", b.c.Update(ctx, ref, high()))
			})
		}
	}
}
