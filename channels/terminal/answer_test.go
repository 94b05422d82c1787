package terminal_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/display"
)

func TestAnswerBecomesReply(t *testing.T) {
	c := newChannel(t, nil)
	rec := started(t, c)
	watch(t, c, ann)
	k := card(t, "r1", approver.High)
	ref := post(t, c, k)
	secret := k.Code.Reveal()
	base := approver.Reply{Channel: "terminal", Conversation: "local", Sender: "1001", Name: "Ann"}
	for name, test := range map[string]struct {
		body string
		want func(*approver.Reply)
	}{
		"yes": {`{"request":"r1","message":"` + ref.Message + `","approve":true}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Request, r.Message = true, approver.ByTyped, "r1", ref.Message
		}},
		"no": {`{"request":"r1","message":"` + ref.Message + `"}`,
			func(r *approver.Reply) { r.Method, r.Request, r.Message = approver.ByTyped, "r1", ref.Message }},
		"by request alone": {`{"request":"r1","approve":true}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Request = true, approver.ByID, "r1"
		}},
		"by request, of which two calls were shown": {`{"request":"r1","approve":true,"shown":1}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Request, r.Shown = true, approver.ByID, "r1", 1
		}},
		"a card, and a count": {`{"request":"r1","message":"` + ref.Message + `","approve":true,"shown":9}`,
			func(r *approver.Reply) {
				r.Approve, r.Method, r.Request, r.Message, r.Shown = true, approver.ByTyped, "r1", ref.Message, 9
			}},
		"by message alone": {`{"message":"` + ref.Message + `","approve":true}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Request, r.Message = true, approver.ByTyped, "r1", ref.Message
		}},
		"code alone": {`{"code":"` + secret + `","approve":true}`,
			func(r *approver.Reply) { r.Approve, r.Method, r.Code = true, approver.ByCode, k.Code }},
		"code, typed badly": {`{"code":" ` + strings.ToLower(secret) + ` ","approve":true}`,
			func(r *approver.Reply) { r.Approve, r.Method, r.Code = true, approver.ByCode, k.Code }},
		"command": {`{"code":"` + secret + `","approve":true,"command":true}`,
			func(r *approver.Reply) { r.Approve, r.Method, r.Code = true, approver.ByCommand, k.Code }},
		"for a time": {`{"code":"` + secret + `","approve":true,"command":true,"term":"15m"}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Code, r.Grant = true, approver.ByCommand, k.Code, approver.Term{For: 15 * time.Minute}
		}},
		"for the session": {`{"code":"` + secret + `","approve":true,"command":true,"term":"session"}`,
			func(r *approver.Reply) {
				r.Approve, r.Method, r.Code, r.Grant = true, approver.ByCommand, k.Code, approver.Term{Session: true}
			}},
		"deny command with a reason": {`{"code":"` + secret + `","command":true,"reason":"not on main"}`,
			func(r *approver.Reply) { r.Method, r.Code, r.Reason = approver.ByCommand, k.Code, "not on main" }},
		"a code for a time": {`{"code":"` + secret + `","approve":true,"term":"15m"}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Code, r.Grant = true, approver.ByCode, k.Code, approver.Term{For: 15 * time.Minute}
		}},
		"deny command": {`{"code":"` + secret + `","command":true}`,
			func(r *approver.Reply) { r.Method, r.Code = approver.ByCommand, k.Code }},
		"code with its card": {`{"request":"r1","code":"` + secret + `","approve":true}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Code, r.Request, r.Message = true, approver.ByCode, k.Code, "r1", ref.Message
		}},
		"a command with no code": {`{"request":"r1","command":true,"approve":true}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Request = true, approver.ByID, "r1"
		}},
		// What is not on a screen is the core's to judge: it knows what was answered.
		"an unknown request": {`{"request":"r9","message":"m9","approve":true}`, func(r *approver.Reply) {
			r.Approve, r.Method, r.Request, r.Message = true, approver.ByTyped, "r9", "m9"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(rec.got())
			if out := ask(t, c, ann, test.body); out.Kind != "recorded" || out.Text != "Noted." {
				t.Errorf("told %+v", out)
			}
			got := rec.got()[before:]
			if len(got) != 1 {
				t.Fatalf("%d replies", len(got))
			}
			want := base
			test.want(&want)
			if got[0] != want {
				t.Errorf("reply %+v (code %s), want %+v", got[0], got[0].Code.Reveal(), want)
			}
		})
	}
}

func TestAnswerRefused(t *testing.T) {
	c := newChannel(t, nil)
	rec := started(t, c)
	watch(t, c, ann)
	one, two := post(t, c, card(t, "r1", approver.High)), post(t, c, card(t, "r2", approver.High))
	yes := `{"request":"r1","approve":true}`
	for name, test := range map[string]struct {
		peer       approver.Peer
		body, want string
	}{
		"a stranger":               {stranger, yes, "not on the terminal's approver list"},
		"a stranger with bad JSON": {stranger, `{`, "not on the terminal's approver list"},
		"nobody":                   {approver.Peer{}, yes, "not on the terminal's approver list"},
		"not by the kernel's word": {approver.Peer{UID: 1001}, yes, "not on the terminal's approver list"},
		"nothing named":            {ann, `{"approve":true}`, "names no card"},
		"no code": {ann, `{"request":"r1","approve":true,"code":"let me in"}`,
			"not a confirmation code"},
		"a code that is too short": {ann, `{"code":"CONFIRM-AAA","approve":true}`, "not a confirmation code"},
		"a term that is none": {ann, `{"code":"CONFIRM-7KQ4MX","approve":true,"command":true,"term":"61m"}`,
			"How long a yes lasts"},
		"a term for a no": {ann, `{"code":"CONFIRM-7KQ4MX","command":true,"term":"15m"}`,
			"How long a yes lasts"},
		"a term without the code": {ann, `{"request":"r1","approve":true,"command":true,"term":"15m"}`,
			"How long a yes lasts"},
		"one card's message for another": {ann, fmt.Sprintf(`{"request":"r1","message":%q,"approve":true}`, two.Message),
			"shows another request"},
		"the same the other way": {ann, fmt.Sprintf(`{"request":"r2","message":%q,"approve":true}`, one.Message),
			"shows another request"},
		"a known message, a made-up request": {ann, fmt.Sprintf(`{"request":"r9","message":%q,"approve":true}`, one.Message),
			"shows another request"},
		"a known request, a made-up message": {ann, `{"request":"r1","message":"m9","approve":true}`,
			"shows another request"},
	} {
		t.Run(name, func(t *testing.T) {
			out := ask(t, c, test.peer, test.body)
			if out.Kind != "refused" && out.Kind != "unknown" || !strings.Contains(out.Text, test.want) {
				t.Errorf("told %+v, want a refusal with %q", out, test.want)
			}
		})
	}
	if got := rec.got(); len(got) != 0 {
		t.Errorf("refused answers became the replies %+v", got)
	}
}

func TestAnswerMalformed(t *testing.T) {
	c := newChannel(t, nil)
	rec := started(t, c)
	for name, body := range map[string]string{
		"nothing":             ``,
		"cut off":             `{"request":"r1"`,
		"an array":            `[]`,
		"two documents":       `{"request":"r1"} {"approve":true}`,
		"an unknown key":      `{"request":"r1","aprove":true}`,
		"a wrong type":        `{"request":"r1","approve":"true"}`,
		"too long":            `{"request":"` + strings.Repeat("r", 20_000) + `"}`,
		"a sender of its own": `{"request":"r1","sender":"1001","approve":true}`,
	} {
		if out, err := c.Answer(t.Context(), ann, json.RawMessage(body)); err == nil {
			t.Errorf("%s: no error, got %s", name, out)
		}
	}
	if got := rec.got(); len(got) != 0 {
		t.Errorf("malformed answers became the replies %+v", got)
	}
}

func TestAnswersAreOptIn(t *testing.T) {
	c := newChannel(t, func(cfg *terminal.Config) { cfg.AllowAnswers = false })
	rec := &recorder{}
	run(t, c, rec.reply)
	s := join(t, c, ann)
	if e := s.next(t); e.Type != terminal.EventHello || e.Offer != (terminal.Offer{}) {
		t.Errorf("the hello offers %+v", e.Offer)
	}
	for _, sev := range []approver.Severity{approver.High, approver.Catastrophic} {
		k := card(t, "r-"+sev.String(), sev)
		post(t, c, k)
		e := s.next(t)
		if e.Offer != (terminal.Offer{}) || !e.Card.Code.IsZero() {
			t.Errorf("a %s card is shown with %+v and a code: %v", sev, e.Offer, !e.Card.Code.IsZero())
		}
		for _, body := range []string{
			`{"request":"` + k.Request + `","approve":true}`, `{"request":"` + k.Request + `"}`,
			`{"code":"` + k.Code.Reveal() + `","approve":true}`,
		} {
			if out := ask(t, c, ann, body); out.Kind != "refused" || !strings.Contains(out.Text, "allow_answers") {
				t.Errorf("%s: told %+v", body, out)
			}
		}
	}
	if got := rec.got(); len(got) != 0 {
		t.Errorf("replies %+v", got)
	}
}

// On a machine where agent and approver are the same user, an agent can read
// what a terminal is sent and can write to the socket itself. What it learns
// there must not be enough to approve a CATASTROPHIC request.
func TestSameUserInstallNeverApprovesCatastrophic(t *testing.T) {
	c := newChannel(t, func(cfg *terminal.Config) { cfg.Isolated = false })
	rec := started(t, c)
	s := watch(t, c, ann)
	worst, worse := card(t, "r1", approver.Catastrophic), card(t, "r2", approver.High)
	refWorst := post(t, c, worst)
	e := s.next(t)
	if !e.Card.Code.IsZero() || e.Offer.Tap || e.Offer.Code || !e.Offer.Deny {
		t.Errorf("the card is shown with a code: %v, and offers %+v", !e.Card.Code.IsZero(), e.Offer)
	}
	post(t, c, worse)
	if e = s.next(t); !e.Card.Code.Equal(worse.Code) || !e.Offer.Tap {
		t.Errorf("a HIGH card is shown without its code, or offers %+v", e.Offer)
	}
	secret := worst.Code.Reveal()
	for _, body := range []string{
		`{"request":"r1","approve":true}`,
		`{"message":"` + refWorst.Message + `","approve":true}`,
		`{"request":"r1","approve":true,"code":"` + secret + `"}`,
		`{"code":"` + secret + `","approve":true}`,
		`{"code":"` + secret + `","approve":true,"command":true}`,
		`{"code":"` + strings.ToLower(strings.TrimPrefix(secret, "CONFIRM-")) + `","approve":true}`,
		`{"request":"r2","code":"` + secret + `","approve":true}`,
		`{"request":"unknown","code":"` + secret + `","approve":true}`,
	} {
		if out := ask(t, c, ann, body); out.Kind != "refused" || !strings.Contains(out.Text, "CATASTROPHIC") {
			t.Errorf("%s: told %+v", strings.ReplaceAll(body, secret, "CODE"), out)
		}
	}
	if got := rec.got(); len(got) != 0 {
		t.Fatalf("replies %+v", got)
	}

	// Saying no stays possible, and a code that nobody has goes on to the core,
	// which counts wrong codes.
	ask(t, c, ann, `{"request":"r1"}`)
	ask(t, c, ann, `{"code":"`+code(t).Reveal()+`","approve":true}`)
	if got := rec.got(); len(got) != 2 || got[0].Approve || got[0].Request != "r1" {
		t.Errorf("replies %+v", got)
	}
}

func TestCatastrophicWhereIsolated(t *testing.T) {
	c := newChannel(t, nil)
	rec := started(t, c)
	s := watch(t, c, ann)
	k := card(t, "r1", approver.Catastrophic)
	k.OneTap = true // a contradiction, which must not matter
	post(t, c, k)
	if e := s.next(t); e.Offer.Tap || !e.Offer.Code || !e.Card.Code.Equal(k.Code) {
		t.Errorf("the card offers %+v", e.Offer)
	}
	ask(t, c, ann, `{"request":"r1","approve":true,"code":"`+k.Code.Reveal()+`"}`)
	if got := rec.got(); len(got) != 1 || !got[0].Approve || got[0].Method != approver.ByCode ||
		!got[0].Code.Equal(k.Code) {
		t.Errorf("replies %+v", got)
	}
}

func TestSettledAndApprovedCardsOfferNothing(t *testing.T) {
	c := newChannel(t, nil)
	s := watch(t, c, ann)
	k := card(t, "r1", approver.High)
	ref := post(t, c, k)
	s.next(t)
	for _, state := range []approver.State{approver.Approved, approver.Consumed} {
		k.State = state // and OneTap and Code stay, as if the core had forgotten them
		if err := c.Update(t.Context(), ref, k); err != nil {
			t.Fatal(err)
		}
		if e := s.next(t); e.Offer != (terminal.Offer{}) || !e.Card.Code.IsZero() {
			t.Errorf("in state %s the card offers %+v, with a code: %v", state, e.Offer, !e.Card.Code.IsZero())
		}
	}
}

func TestEventOverTheWire(t *testing.T) {
	k := card(t, "r1", approver.High)
	k.Part, k.Claimed, k.Context, k.Result, k.Upto = "p", "c", "x", "r", 3
	k.Why, k.Warnings, k.Choices = []string{"w", "v"}, []string{"n"}, []approver.Choice{{Label: "l", Detail: "d"}}
	k.Body = append(k.Body, display.Block{Kind: display.Diff, Label: "f", Text: "+a\n-b"},
		display.Block{Label: "a", Text: "1"})
	k.Details = []display.Block{{Label: "Rule", Text: "u"}}
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	k.Texts = german
	k.Created, k.Due = k.Created.UTC().Round(0), k.Due.UTC().Round(0)
	for _, e := range []terminal.Event{
		{Type: terminal.EventHello, Offer: terminal.Offer{Deny: true}},
		{Type: terminal.EventCard, Message: "m1", Rev: 1, Card: k, Offer: terminal.Offer{Tap: true, Code: true, Deny: true}},
		{Type: terminal.EventUpdate, Message: "m1", Rev: 2, Card: approver.Card{Request: "r1", Severity: approver.High}},
		{Type: terminal.EventGone, Message: "m1", Rev: 3},
	} {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back terminal.Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !reflect.DeepEqual(back, e) {
			t.Errorf("%s came back as %+v, want %+v", b, back, e)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"type":"hello","offer":{"deny":true}}`))
	f.Add([]byte(`{"type":"card","message":"m","rev":1,"card":{"state":"pending","severity":"HIGH",` +
		`"code":"CONFIRM-7KQ4MX"}}`))
	f.Add([]byte(`{"type":"gone","message":"m"}`))
	f.Add([]byte(`{"type":"card","message":"m"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e terminal.Event
		if json.Unmarshal(b, &e) != nil {
			return
		}
		again, err := json.Marshal(e)
		if err != nil {
			return // a time that JSON cannot write
		}
		var back terminal.Event
		if err := json.Unmarshal(again, &back); err != nil {
			t.Fatalf("%s: what was read cannot be read again: %v", again, err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"request":"r1","approve":true}`))
	f.Add([]byte(`{"code":"CONFIRM-7KQ4MX","approve":true,"command":true}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c := newChannel(t, func(cfg *terminal.Config) { cfg.Isolated = false })
		// Run does not run: whatever is written, an answer must not panic, and a
		// stranger is refused before it is read.
		_, _ = c.Answer(t.Context(), ann, body)
		out, err := c.Answer(t.Context(), stranger, body)
		if err != nil || !strings.Contains(string(out), `"refused"`) {
			t.Fatalf("a stranger got %s and the error %v", out, err)
		}
	})
}

func TestOneTapIsTheCoresToGrant(t *testing.T) {
	c := newChannel(t, nil)
	s := watch(t, c, ann)
	k := card(t, "r1", approver.High)
	k.OneTap = false
	post(t, c, k)
	if e := s.next(t); e.Offer != (terminal.Offer{Code: true, Deny: true}) {
		t.Errorf("a card without one-tap offers %+v", e.Offer)
	}
}

func TestNilReplyRefuses(t *testing.T) {
	c := newChannel(t, nil)
	run(t, c, nil)
	if out := ask(t, c, ann, `{"request":"r1","approve":true}`); out.Kind != "refused" || out.Text == "" {
		t.Errorf("told %+v", out)
	}
}

// On an installation without a chat, somebody typed yes to a CATASTROPHIC card and was sent
// to a chat that did not exist. The refusal now names what works there, with the ID of
// the request, and never a chat. Somebody else had set allow_answers while the chat could
// not be reached, and was told to set it: what it waits for, and what root can do, is said.
func TestWithoutAChatNothingPointsAtOne(t *testing.T) {
	for name, test := range map[string]struct {
		cfg  terminal.Config
		want string
	}{
		"root may":           {terminal.Config{AllowAnswers: true, Alone: true, Owner: true}, "sudo approver approve req"},
		"the daemon is root": {terminal.Config{AllowAnswers: true, Alone: true}, "pair a chat"},
		"answers are off":    {terminal.Config{Alone: true, Owner: true}, "sudo approver approve ID"},
		"off, as root":       {terminal.Config{Alone: true}, "set allow_answers for the terminal, or pair a chat"},
		"there is a chat":    {terminal.Config{AllowAnswers: true}, "answer in a chat"},
		"it waits": {terminal.Config{Waits: true, Owner: true},
			"allow_answers stands in the configuration and waits until people approve it. Where nobody can, root lets it " +
				"count: sudo approver people recover, and restart"},
		"it waits, as root": {terminal.Config{Waits: true},
			"allow_answers stands in the configuration and waits until people approve it (docs/nobody.md)."},
		"it waits, alone": {terminal.Config{Waits: true, Alone: true, Owner: true}, "sudo approver people recover"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChannel(t, func(cfg *terminal.Config) {
				cfg.AllowAnswers, cfg.Alone, cfg.Owner, cfg.Waits, cfg.Isolated = test.cfg.AllowAnswers, test.cfg.Alone,
					test.cfg.Owner, test.cfg.Waits, false
			})
			started(t, c)
			watch(t, c, ann)
			post(t, c, card(t, "req", approver.Catastrophic))
			text := ask(t, c, ann, `{"request":"req","approve":true}`).Text
			if !strings.Contains(text, test.want) || test.cfg.Alone && strings.Contains(text, "answer in a chat") {
				t.Errorf("it says %q, want %q", text, test.want)
			}
		})
	}
}
