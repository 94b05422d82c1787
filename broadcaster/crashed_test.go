package broadcaster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// orphaned is a daemon whose predecessor was killed when the platform had taken its card, and before it noted
// that. The first card in the chat has no note.
func orphaned(
	t *testing.T, sev approver.Severity, cut bool,
) (y *retried, first approver.Card, answer <-chan approver.Verdict) {
	t.Helper()
	return orphanedAfter(t, 2*time.Second, sev, cut, cut, nil)
}

// orphanedAfter is orphaned after the platform's answer has not come for some time. The new daemon may cut
// its own card or not, and its platform follows a script.
func orphanedAfter(
	t *testing.T, wait time.Duration, sev approver.Severity, cut, newCut bool, script []step,
) (y *retried, first approver.Card, answer <-chan approver.Verdict) {
	t.Helper()
	kv := newMemKV()
	chat := approver.Destination{Channel: "telegram", Conversation: "T"}
	x := newRetriedIn(t, kv, []step{{err: errBad, taken: true, hangs: true}}, nil, chat)
	x.tg.cut = cut
	ctx, leave := context.WithCancelCause(t.Context())
	asked := x.askAsync(ctx, peerCall("c1", 1000), sev)
	time.Sleep(wait)
	leave(approver.ErrShuttingDown)
	<-asked
	x.stop()
	y = newRetriedIn(t, kv, script, nil, chat)
	y.tg.cut = newCut
	y.tg.takeOver(x.tg.chat)
	if _, first = y.tg.card(0); y.tg.count() != 1 || first.Code.IsZero() {
		t.Fatalf("%d cards, %+v", y.tg.count(), first)
	}
	return y, first, y.askAsync(t.Context(), peerCall("c1", 1000), sev)
}

// The story: a daemon was killed just after Telegram had taken a card, and before the daemon noted where it is. The
// card was live on the phones. After nine seconds a new one came, and whoever pressed Deny on the first
// one was told "This card is no longer valid": the no was lost. Now the first card takes a no always, and
// a yes if it showed everything, whichever of the two is pressed; both show the end. Its code stays void.
func TestACardThatACrashOrphaned(t *testing.T) {
	const late = 15 * time.Second // the new card is there
	for name, c := range map[string]struct {
		after time.Duration // of the restart
		sev   approver.Severity
		cut   bool
		press func(y *retried, first approver.Card) approver.Outcome
		want  approver.OutcomeKind
		says  string
	}{
		"a no at once":             {0, approver.High, false, pressed("T-0", false), approver.OutcomeDenied, ""},
		"a no after the new card":  {late, approver.High, false, pressed("T-0", false), approver.OutcomeDenied, ""},
		"a no, cut":                {late, approver.High, true, pressed("T-0", false), approver.OutcomeDenied, ""},
		"a no, catastrophic":       {late, approver.Catastrophic, true, pressed("T-0", false), approver.OutcomeDenied, ""},
		"a yes at once":            {0, approver.High, false, pressed("T-0", true), approver.OutcomeApproved, ""},
		"a yes after the new card": {late, approver.High, false, pressed("T-0", true), approver.OutcomeApproved, ""},
		"a yes, cut": {late, approver.High, true, pressed("T-0", true), approver.OutcomeNeedCode,
			"never confirmed this card"},
		"a yes, catastrophic": {
			late, approver.Catastrophic, false, pressed("T-0", true), approver.OutcomeNeedCode,
			"type the code from the newest card",
		},
		"a no in a reply to it":  {late, approver.High, false, plain("T-0", false), approver.OutcomeDenied, ""},
		"a yes in a reply to it": {late, approver.High, false, plain("T-0", true), approver.OutcomeUnknown, ""},
		"its code":               {late, approver.Catastrophic, false, codeOfFirst, approver.OutcomeUnknown, ""},
		"the new card":           {late, approver.High, false, pressed("T-1", true), approver.OutcomeApproved, ""},
		"the new card's code": {
			late, approver.Catastrophic, false,
			func(y *retried, _ approver.Card) approver.Outcome { return y.code(true) }, approver.OutcomeApproved, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y, first, answer := orphaned(t, c.sev, c.cut)
				time.Sleep(c.after)
				out := c.press(y, first)
				if out.Kind != c.want || !strings.Contains(out.Text, c.says) {
					t.Errorf("%+v", out)
				}
				if c.want == approver.OutcomeNeedCode || c.want == approver.OutcomeUnknown { // it is still open
					if out := y.tapOn(first.Request, "T-1", false); out.Kind != approver.OutcomeDenied {
						t.Errorf("the new card: %+v", out)
					}
				}
				if v := <-answer; (v.Decision == approver.Allow) != (c.want == approver.OutcomeApproved) {
					t.Errorf("%v %s", v.Decision, v.Reason)
				}
				// The other card comes too late, and both show the end.
				time.Sleep(time.Second)
				for n := range y.tg.count() {
					message, _ := y.tg.card(n)
					if out := y.tapOn(first.Request, message, true); out.Kind == approver.OutcomeUnknown {
						t.Errorf("%s, later: %+v", message, out)
					}
				}
				y.settledAll()
			})
		})
	}
}

func pressed(message string, approve bool) func(*retried, approver.Card) approver.Outcome {
	return func(y *retried, first approver.Card) approver.Outcome {
		return y.tapOn(first.Request, message, approve)
	}
}

// tapOn presses a button of a message in the Telegram chat as Alice.
func (x *retried) tapOn(request, message string, approve bool) approver.Outcome {
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: approve, Method: approver.ByTap, Request: request,
		Message: message,
	})
}

func plain(message string, approve bool) func(*retried, approver.Card) approver.Outcome {
	return func(y *retried, first approver.Card) approver.Outcome {
		return y.Answers.Reply(y.t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: approve, Method: approver.ByPlain,
			Request: first.Request, Message: message,
		})
	}
}

func codeOfFirst(y *retried, first approver.Card) approver.Outcome {
	return y.Answers.Reply(y.t.Context(), typed(approver.ByCode, first))
}

// The process of a card that is on its way says that it is there, so that after a crash that may hold for longer than
// somebody who answers waits. The answer counts all the same, before there is a new card.
func TestAnOrphanedCardBeforeAnybodyKnows(t *testing.T) {
	for name, c := range map[string]struct {
		cut, approve bool
		want         approver.OutcomeKind
	}{
		"a no":       {false, false, approver.OutcomeDenied},
		"a no, cut":  {true, false, approver.OutcomeDenied},
		"a yes":      {false, true, approver.OutcomeApproved},
		"a yes, cut": {true, true, approver.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := 2*sayEvery + 100*time.Millisecond // its process has just said that it is there
				y, first, answer := orphanedAfter(t, said, approver.High, c.cut, c.cut, nil)
				began := time.Now()
				if out := y.tapOn(first.Request, "T-0", c.approve); out.Kind != c.want || y.tg.count() != 1 {
					t.Errorf("after %v with %d cards: %+v", time.Since(began), y.tg.count(), out)
				}
				if c.want == approver.OutcomeUnknown {
					y.tapOn(first.Request, "T-0", false)
				}
				<-answer
				y.settledAll()
			})
		})
	}
}

// While the new card is on its way, a tap may be on either. A yes waits to know: it is for the calls that its card
// showed. One that may be on the card that showed less is taken for that.
func TestWhichOfTwoCardsWasTapped(t *testing.T) {
	t.Run("the new one, before its note", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			y, first, answer := orphanedAfter(t, 2*time.Second, approver.High, false, false, []step{{takes: 3 * time.Second}})
			for y.tg.count() < 2 {
				time.Sleep(100 * time.Millisecond)
			}
			if out := y.tapOn(first.Request, "T-1", true); out.Kind != approver.OutcomeApproved {
				t.Errorf("%+v", out)
			}
			<-answer
			if r := y.loaded(first.Request); len(r.Postings[0].Also) > 0 || r.Postings[1].Ref.Message != "T-1" {
				t.Errorf("%+v", r.Postings)
			}
		})
	})
	t.Run("the old one, which was cut", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			y, first, answer := orphanedAfter(t, 2*time.Second, approver.High, true, false,
				append([]step{{err: errBad, taken: true}}, always(step{err: errBad})...))
			time.Sleep(15 * time.Second)
			if out := y.tapOn(first.Request, "T-0", true); out.Kind != approver.OutcomeNeedCode {
				t.Errorf("%+v", out)
			}
			y.tapOn(first.Request, "T-0", false)
			<-answer
		})
	})
}

// Of both cards the first answer counts, and one alone, however close they come.
func TestAnOrphanedCardAndItsSuccessor(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			y, first, answer := orphaned(t, approver.High, false)
			time.Sleep(15 * time.Second)
			outs := make([]approver.Outcome, 2)
			_ = inParallel(2, func(n int) error {
				outs[n] = y.tapOn(first.Request, []string{"T-0", "T-1"}[n], n == 0)
				return nil
			})
			v := <-answer
			yes, no := outs[0].Kind == approver.OutcomeApproved, outs[1].Kind == approver.OutcomeDenied
			if yes == no || yes != (v.Decision == approver.Allow) {
				t.Errorf("a yes %+v, a no %+v, the agent hears %v", outs[0], outs[1], v.Decision)
			}
			y.settledAll()
		})
	}
}

// What is no orphaned card takes no yes: a message of another chat, the card of another request whose button a client
// forged, and a request of another installation, which this one does not know.
func TestWhatIsNoOrphanedCard(t *testing.T) {
	for name, c := range map[string]struct {
		reply func(y *retried, first, other approver.Card, message string) approver.Reply
		want  approver.OutcomeKind
	}{
		"another chat": {func(_ *retried, first, _ approver.Card, _ string) approver.Reply {
			return approver.Reply{Channel: "telegram", Conversation: "U", Request: first.Request, Message: "T-0"}
		}, approver.OutcomeUnknown},
		"another channel": {func(_ *retried, first, _ approver.Card, _ string) approver.Reply {
			return approver.Reply{Channel: "discord", Conversation: "T", Sender: "d1", Request: first.Request, Message: "T-0"}
		}, approver.OutcomeUnknown},
		"the card of another request": {func(_ *retried, first, _ approver.Card, message string) approver.Reply {
			return approver.Reply{Channel: "telegram", Conversation: "T", Request: first.Request, Message: message}
		}, approver.OutcomeUnknown},
		"a request of another installation": {func(*retried, approver.Card, approver.Card, string) approver.Reply {
			return approver.Reply{Channel: "telegram", Conversation: "T", Request: idOfNow(), Message: "T-0"}
		}, approver.OutcomeUnknown},
		"no message": {func(_ *retried, first, _ approver.Card, _ string) approver.Reply {
			return approver.Reply{Channel: "telegram", Conversation: "T", Request: first.Request}
		}, approver.OutcomeUnknown},
		"a stranger": {func(_ *retried, first, _ approver.Card, _ string) approver.Reply {
			return approver.Reply{Channel: "telegram", Conversation: "T", Sender: "9", Request: first.Request, Message: "T-0"}
		}, approver.OutcomeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y, first, answer := orphaned(t, approver.High, false)
				time.Sleep(15 * time.Second)
				other := peerCall("c2", 1000)
				other.Command, other.Args = "make", []byte(`{"command":"make"}`)
				second := y.askAsync(t.Context(), other, approver.High)
				time.Sleep(time.Second)
				message, card := y.tg.card(-1)
				if card.Request == first.Request {
					t.Fatal("there is no other request")
				}
				rep := c.reply(y, first, card, message)
				rep.Approve, rep.Method = true, approver.ByTap
				if rep.Sender == "" {
					rep.Sender = "1"
				}
				if out := y.Answers.Reply(t.Context(), rep); out.Kind != c.want {
					t.Errorf("%+v", out)
				}
				if r := y.loaded(first.Request); r.State != approver.Pending {
					t.Errorf("the request is %v", r.State)
				}
				y.tapOn(first.Request, "T-0", false)
				<-answer
				y.tapOn(card.Request, message, false)
				<-second
				y.settledAll()
			})
		})
	}
}

// A daemon of a version that did not note what a card shows, and a terminal whose cards died with the daemon: the first
// takes no yes, and the second is no card any more.
func TestWhatAVoidedPostingTakes(t *testing.T) {
	for name, c := range map[string]struct {
		was      Posting
		volatile bool
		found    bool
		partial  bool
	}{
		"sent, whole":           {Posting{Phase: Sending, Whole: true}, false, true, false},
		"sent, not known whole": {Posting{Phase: Sending}, false, true, true},
		"its answer was lost":   {Posting{Phase: Sending, Unsure: true, Whole: true}, false, true, false},
		"on a terminal":         {Posting{Phase: Sending, Whole: true}, true, false, false},
		"was on a terminal":     {Posting{Phase: Posted, Whole: true, Ref: approver.Ref{Message: "old"}}, true, false, false},
		"never sent":            {Posting{Phase: Failed, Whole: true}, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.was
			p.replaced(c.volatile)
			if p.Phase != Void || p.takesCode() || p.seen() {
				t.Errorf("%+v", p)
			}
			next, err := Postings{p}.with(0, "found", false)
			if (err == nil) != c.found {
				t.Fatalf("found: %v", err)
			}
			if p = next[0]; !c.found {
				return
			}
			ref, noted := p.refOf("found")
			p.Ref = ref
			if p.Phase != Void || !noted || !p.seen() || ref.Partial != c.partial || p.takesCode() || !p.stale() {
				t.Errorf("%+v", p)
			}
			r := Request{Verdict: approver.Verdict{Severity: approver.High}, State: approver.Pending}
			if enough(r, p, approver.Reply{Method: approver.ByTap}) == c.partial ||
				!enough(r, p, approver.Reply{Method: approver.ByCode, Code: mustMint(t)}) {
				t.Error("what is enough for it")
			}
		})
	}
}

func mustMint(t *testing.T) tokens.Code {
	t.Helper()
	code, err := tokens.Mint(8)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
