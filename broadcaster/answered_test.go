package broadcaster

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A yes that is older than a call. The agent asked once, and Alice answered the card with
// one call. Before her answer was entered, the agent asked the same again: the count on the
// card was edited, and her yes ran the second call too, which was on no screen that she had
// read. The answer names now which version of the card it is for, or when it was sent.
func TestAYesIsForTheVersionThatWasAnswered(t *testing.T) {
	code := func(m approver.Method) func(approver.Reply, string, approver.Card) approver.Reply {
		return func(r approver.Reply, _ string, c approver.Card) approver.Reply {
			r.Method, r.Code, r.Sent = m, c.Code, time.Now()
			return r
		}
	}
	button := func(r approver.Reply, msg string, c approver.Card) approver.Reply {
		r.Method, r.Request, r.Message, r.Shown = approver.ByTap, c.Request, msg, c.Upto
		return r
	}
	dialog := func(r approver.Reply, msg string, c approver.Card) approver.Reply {
		r.Method, r.Request, r.Message, r.Shown, r.Code = approver.ByCode, c.Request, msg, c.Upto, c.Code
		return r
	}
	plain := func(r approver.Reply, msg string, c approver.Card) approver.Reply {
		r.Method, r.Request, r.Message, r.Sent = approver.ByPlain, c.Request, msg, time.Now()
		return r
	}
	at := func(d time.Duration, give func(approver.Reply, string, approver.Card) approver.Reply) func(approver.Reply,
		string, approver.Card) approver.Reply {
		return func(r approver.Reply, msg string, c approver.Card) approver.Reply {
			r = give(r, msg, c)
			r.Sent = r.Sent.Add(d)
			return r
		}
	}
	timeless := func(r approver.Reply, msg string, c approver.Card) approver.Reply {
		r = code(approver.ByCommand)(r, msg, c)
		r.Sent = time.Time{}
		return r
	}
	for name, c := range map[string]struct {
		give      func(approver.Reply, string, approver.Card) approver.Reply
		after     bool // it is given to the card that counts both
		delivered bool // it is with the daemon at once, and waits for the store
		both      bool
	}{
		"a tap, the store is away":         {give: button, delivered: true},
		"a tap that waits at the platform": {give: button},
		"a dialog, the store is away":      {give: dialog, delivered: true},
		"a dialog that waits":              {give: dialog},
		"a command, the store is away":     {give: code(approver.ByCommand), delivered: true},
		"a command that waits":             {give: code(approver.ByCommand)},
		"a code, the store is away":        {give: code(approver.ByCode), delivered: true},
		"a code that waits":                {give: code(approver.ByCode)},
		"a plain yes, the store is away":   {give: plain, delivered: true},
		"a plain yes that waits":           {give: plain},
		"a platform whose clock is ahead":  {give: at(time.Hour, code(approver.ByCommand)), delivered: true},
		"nobody knows when":                {give: timeless, after: true},
		"a tap on the new card":            {give: button, after: true, both: true},
		"a dialog on the new card":         {give: dialog, after: true, both: true},
		"a command after the edit":         {give: code(approver.ByCommand), after: true, both: true},
		"a code after the edit":            {give: code(approver.ByCode), after: true, both: true},
		"a plain yes after the edit":       {give: plain, after: true, both: true},
		"a command of the very moment of the edit": {
			give: at(-5*time.Second+readFor/2, code(approver.ByCommand)), after: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				one := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
				time.Sleep(3*time.Second + 7*time.Millisecond)
				synctest.Wait()
				out := make(chan approver.Outcome, 1)
				answer := func() approver.Reply {
					msg, card := x.tg.card(0)
					return c.give(approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true}, msg, card)
				}
				var rep approver.Reply
				if !c.after {
					rep = answer()
				}
				if c.delivered {
					back := time.Now().Add(3 * time.Second)
					x.kv.failing(func(string, string) error {
						if time.Now().Before(back) {
							return approver.ErrAway
						}
						return nil
					})
					go func() { out <- x.Answers.Reply(t.Context(), rep) }()
					time.Sleep(time.Second)
				}
				two := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if !c.delivered {
					if _, card := x.tg.card(0); card.Upto != 1 || !strings.HasPrefix(warned(card), "2 identical calls wait") {
						t.Fatalf("the card was not edited: %+v", card)
					}
					if c.after {
						rep = answer()
					}
					out <- x.Answers.Reply(t.Context(), rep)
				}
				if got := <-out; got.Kind != approver.OutcomeApproved {
					t.Errorf("%+v", got)
				}
				if v := <-one; v.Decision != approver.Allow {
					t.Errorf("the call that was shown: %v %q", v.Decision, v.Reason)
				}
				time.Sleep(5 * time.Second)
				runs, cards := []string{"a"}, 2
				if c.both {
					runs, cards = []string{"a", "b"}, 1
				}
				if got := x.audit.released(); !slices.Equal(got, runs) || x.tg.count() != cards {
					t.Fatalf("released %v, want %v; %d cards, want %d", got, runs, x.tg.count(), cards)
				}
				if !c.both {
					x.tap(x.tg, 1, "1", false)
				}
				if v := <-two; (v.Decision == approver.Allow) != c.both {
					t.Errorf("the other call: %v %q", v.Decision, v.Reason)
				}
			})
		})
	}
}

// What WithUpto writes is read back, and nothing else is a number.
func TestUptoInAButton(t *testing.T) {
	for upto, want := range map[int]string{
		-1: "x", 0: "x", 1: "x+1", 31: "x+31", approver.MaxUpto: "x+999999", approver.MaxUpto + 1: "x+999999",
	} {
		got := approver.WithUpto("x", upto)
		rest, n, ok := approver.CutUpto(got)
		if got != want || rest != "x" || !ok || n != max(0, min(upto, approver.MaxUpto)) {
			t.Errorf("%d: %q, which is %q, %d, %v", upto, got, rest, n, ok)
		}
	}
	for _, bad := range []string{"+", "x+", "x+0", "x+00", "x+01", "x++1", "x+-1", "x+1+", "x+1+1", "x+ 1", "x+1 ",
		"x+1.0", "x+1e3", "x+0x1", "x+1_0", "x+1000000", "x+٣", "x+one", "x+1\x00", "x+99999999999999999999"} {
		if rest, n, ok := approver.CutUpto(bad); ok || rest != "" || n != 0 {
			t.Errorf("%q is %q, %d", bad, rest, n)
		}
	}
}

func FuzzCutUpto(f *testing.F) {
	f.Add("a1:AYkKXayWd0u8zrMCCZqAVw:o+31")
	f.Add("+")
	f.Fuzz(func(t *testing.T, data string) {
		rest, n, ok := approver.CutUpto(data)
		if !ok && (rest != "" || n != 0) || ok && (approver.WithUpto(rest, n) != data || n < 0 || n > approver.MaxUpto) {
			t.Fatalf("%q is %q, %d, %v", data, rest, n, ok)
		}
	})
}
