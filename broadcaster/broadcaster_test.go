package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// story runs one request under synctest: time is virtual, so a two-minute wait
// costs nothing and every ordering is exact.
func story(t *testing.T, f func(t *testing.T, x *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		synctest.Wait() // what Run begins has looked at its options, which tests change
		f(t, x)
	})
}

func TestApproveByTap(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		_, other := x.dc.card(0)
		if card.Push != "🟠 HIGH · git push --force" || card.Code.IsZero() || card.Code.Equal(other.Code) || !card.OneTap {
			t.Fatalf("cards %+v and %+v", card, other)
		}
		time.Sleep(12 * time.Second)
		out := x.tap(x.tg, 0, "1", true)
		v := <-answer
		if out.Kind != approver.OutcomeApproved || v.Decision != approver.Allow ||
			v.Reason != "approved by Alice via Telegram after 12 s" {
			t.Fatalf("outcome %+v, verdict %+v", out, v)
		}
		synctest.Wait()
		for _, c := range []*chat{x.tg, x.dc} {
			_, card := c.card(0)
			if card.Result != "✅ Approved once by Alice via Telegram · 12 s" || !card.Code.IsZero() || card.OneTap {
				t.Errorf("%s: card after approval: %+v", c.name, card)
			}
		}
		want := []approver.Event{
			approver.EventAsked, approver.EventPosted, approver.EventPosted, approver.EventApproved, approver.EventReleased,
		}
		if got := x.audit.events(card.Request); !slices.Equal(got, want) {
			t.Errorf("audit %v, want %v", got, want)
		}
		late := x.tap(x.dc, 0, "d2", false)
		if late.Kind != approver.OutcomeTooLate || !strings.Contains(late.Text, "Alice approved it via Telegram") {
			t.Errorf("a late no hears %+v", late)
		}
		if again := x.tap(x.tg, 0, "1", true); again.Kind != approver.OutcomeApproved {
			t.Errorf("the same tap, delivered twice, hears %+v", again)
		}
	})
}

func TestNoAnswerIsANo(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		start := time.Now()
		v := <-answer
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "nobody answered within 2 min") ||
			time.Since(start) != DefaultTTL {
			t.Fatalf("after %v: %+v", time.Since(start), v)
		}
		synctest.Wait()
		if _, card := x.tg.card(0); card.State != approver.Expired || !strings.HasPrefix(card.Result, "⌛") {
			t.Errorf("card %+v", card)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeExpired {
			t.Errorf("a yes after the deadline hears %+v", out)
		}
	})
}

func TestDenialNamesThePerson(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		synctest.Wait()
		if out := x.tap(x.dc, 0, "d2", false); out.Kind != approver.OutcomeDenied {
			t.Fatalf("outcome %+v", out)
		}
		if v := <-answer; v.Decision != approver.Deny || !strings.Contains(v.Reason, "denied by Bob via Discord") {
			t.Fatalf("verdict %+v", v)
		}
	})
}

// A catastrophic call must not be approved by a thumb: every one-tap way in is
// refused, and the typed code, in the conversation that shows it, decides.
func TestCatastrophicTakesOnlyTheTypedCode(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		synctest.Wait()
		msg, card := x.tg.card(0)
		base := approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Request: card.Request, Message: msg,
		}
		for _, m := range []approver.Method{
			approver.ByTap, approver.ByTyped, approver.ByPlain, approver.ByCode, approver.ByCommand, approver.NoMethod,
			approver.Method(77),
		} {
			r := base
			r.Method = m
			if out := x.Answers.Reply(t.Context(), r); out.Kind == approver.OutcomeApproved ||
				out.Kind == approver.OutcomeRecorded {
				t.Fatalf("%v without a code: %+v", m, out)
			}
		}
		elsewhere := approver.Reply{
			Channel: "discord", Conversation: "D", Sender: "d1", Approve: true, Method: approver.ByCode, Code: card.Code,
		}
		if out := x.Answers.Reply(t.Context(), elsewhere); out.Kind != approver.OutcomeUnknown {
			t.Fatalf("the code of another conversation: %+v", out)
		}
		r := base
		r.Method, r.Code, r.Request, r.Message = approver.ByCode, card.Code, "", ""
		if out := x.Answers.Reply(t.Context(), r); out.Kind != approver.OutcomeApproved {
			t.Fatalf("the typed code: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
		if out := x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "2", Approve: true, Method: approver.ByCode, Code: card.Code,
		}); out.Kind != approver.OutcomeUsed {
			t.Fatalf("the code used twice: %+v", out)
		}
	})
}

func TestACutCardTakesNoTap(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.tg.partial = true
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeNeedCode {
			t.Fatalf("outcome %+v", out)
		}
		_, card := x.tg.card(0)
		if out := x.Answers.Reply(t.Context(), typed(approver.ByCommand, card)); out.Kind != approver.OutcomeApproved {
			t.Fatalf("outcome %+v", out)
		}
		<-answer
	})
}

func TestStrangersAndForgedMessages(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		msg, card := x.tg.card(0)
		good := approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap, Request: card.Request,
			Message: msg,
		}
		for name, spoil := range map[string]func(*approver.Reply){
			"a stranger":              func(r *approver.Reply) { r.Sender = "3" },
			"nobody":                  func(r *approver.Reply) { r.Sender = "" },
			"a name instead of an id": func(r *approver.Reply) { r.Sender = "Alice" },
			"an id of another chat":   func(r *approver.Reply) { r.Sender = "d1" },
			"another conversation":    func(r *approver.Reply) { r.Conversation = "U" },
			"another channel's card":  func(r *approver.Reply) { r.Channel, r.Sender = "discord", "d1" },
			"another message":         func(r *approver.Reply) { r.Message = "T-9" },
			"no message":              func(r *approver.Reply) { r.Message = "" },
			"another request":         func(r *approver.Reply) { r.Request = "0190" },
			"no request":              func(r *approver.Reply) { r.Request = "" },
			"no method":               func(r *approver.Reply) { r.Method = approver.NoMethod },
		} {
			r := good
			spoil(&r)
			if out := x.Answers.Reply(t.Context(), r); out.Kind == approver.OutcomeApproved ||
				out.Kind == approver.OutcomeRecorded {
				t.Errorf("%s: %+v", name, out)
			}
		}
		select {
		case v := <-answer:
			t.Fatalf("something got through: %+v", v)
		default:
		}
		if out := x.Answers.Reply(t.Context(), good); out.Kind != approver.OutcomeApproved {
			t.Fatalf("the honest tap: %+v", out)
		}
	})
}

// Five wrong codes lock a person in one conversation, on every path that takes
// a code or a yes, for ten minutes; elsewhere, and for others, all goes on.
func TestWrongCodesLock(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		call := testCall("c1")
		ctx := t.Context()
		answer := make(chan approver.Verdict, 1)
		go func() {
			answer <- x.Ask(ctx, call, approver.Verdict{Decision: approver.Ask, Severity: approver.High, TTL: time.Hour})
		}()
		synctest.Wait()
		_, card := x.tg.card(0)
		guess := func(sender string, code tokens.Code) approver.Outcome {
			return x.Answers.Reply(ctx, approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: sender, Approve: true, Method: approver.ByCode, Code: code,
			})
		}
		for i := range MaxWrongCodes {
			wrong, _ := tokens.Mint(6)
			if out := guess("1", wrong); out.Kind != approver.OutcomeUnknown {
				t.Fatalf("guess %d: %+v", i, out)
			}
		}
		if out := guess("1", card.Code); out.Kind != approver.OutcomeLocked {
			t.Fatalf("the right code while locked: %+v", out)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeLocked {
			t.Fatalf("a tap while locked: %+v", out)
		}
		time.Sleep(LockFor)
		if out := guess("1", card.Code); out.Kind != approver.OutcomeApproved {
			t.Fatalf("the right code after the lock: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestALockedPersonMayDenyAndOthersMayApprove(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		first := x.askAsync(t.Context(), testCall("c1"), approver.High)
		second := x.askAsync(t.Context(), testCall("c2"), approver.High)
		synctest.Wait()
		for range MaxWrongCodes {
			wrong, _ := tokens.Mint(6)
			x.Answers.Reply(t.Context(), approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByCommand, Code: wrong,
			})
		}
		if out := x.tap(x.tg, 0, "1", false); out.Kind != approver.OutcomeDenied {
			t.Errorf("a locked person's no: %+v", out)
		}
		if out := x.tap(x.tg, 1, "2", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("another person's yes: %+v", out)
		}
		<-first
		<-second
	})
}

func TestOneDeadChannelDoesNotDelayTheOthers(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.dc.onPost(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }) // hangs
		start := time.Now()
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved || time.Since(start) != 0 {
			t.Fatalf("after %v: %+v", time.Since(start), out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestNoChannelReachableDeniesAtOnce(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		gone := func(context.Context) error { return fmt.Errorf("chat not found: %w", approver.ErrFinal) }
		x.tg.onPost(gone)
		x.dc.onPost(gone)
		start := time.Now()
		v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "no approval channel could be reached") ||
			time.Since(start) > time.Second {
			t.Fatalf("after %v: %+v", time.Since(start), v)
		}
	})
}

// A card that arrives after the answer must not keep its buttons.
func TestALateCardIsBroughtUpToDate(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.dc.onPost(func(context.Context) error { time.Sleep(5 * time.Second); return nil })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		<-answer
		time.Sleep(6 * time.Second)
		if _, card := x.dc.card(0); card.Result == "" || card.State != approver.Consumed {
			t.Fatalf("the late card shows %+v", card)
		}
	})
}

func TestACardThatCannotBeUpdatedIsTriedAgain(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		fails := 3
		x.dc.onUpdate(func(approver.Card) error {
			if fails > 0 {
				fails--
				return errors.New("429")
			}
			return nil
		})
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		<-answer
		time.Sleep(time.Minute)
		if _, card := x.dc.card(0); card.Result == "" {
			t.Fatalf("after %d failures the card shows %+v", 3-fails, card)
		}
	})
}

func TestCourierThatLeavesWithdraws(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		answer := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		cancel()
		<-answer
		time.Sleep(WithdrawGrace + time.Second)
		if _, card := x.tg.card(0); card.State != approver.Withdrawn {
			t.Fatalf("card %+v", card)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeExpired {
			t.Fatalf("a yes for nobody hears %+v", out)
		}
	})
}

// A command that was stopped does not come back. Its request ends at once, also beside one
// that waits on, and nobody is told that their yes came in time for it.
func TestWhoHasGoneForGoodWithdrawsAtOnce(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithCancelCause(t.Context())
		answer := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		cancel(approver.ErrGone)
		<-answer
		synctest.Wait()
		if _, card := x.tg.card(0); card.State != approver.Withdrawn {
			t.Fatalf("card %+v", card)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeExpired ||
			!strings.HasPrefix(out.Text, "Too late: ") {
			t.Errorf("a yes after it hears %+v", out)
		}
	})
}

// A yes for a courier that has left, and that may still come back, is not said to have been
// in time.
func TestYesForCourierThatLeftWasNotInTime(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		answer := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		cancel()
		<-answer
		time.Sleep(time.Second)
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeExpired ||
			out.Text != "Your yes released nothing: the agent stopped waiting." {
			t.Errorf("it hears %+v", out)
		}
	})
}

func TestCourierThatComesBackResumes(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		first := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		cancel()
		<-first
		time.Sleep(WithdrawGrace - time.Second)
		second := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(20 * time.Second)
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Fatalf("outcome %+v", out)
		}
		if v := <-second; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
		if x.tg.count() != 1 {
			t.Errorf("%d cards", x.tg.count())
		}
		if v := <-x.askAsync(t.Context(), testCall("c1"), approver.High); v.Decision != approver.Allow {
			t.Errorf("the same courier, asking again for a lost answer: %+v", v)
		}
	})
}

// An approval is for one call. Another command under the same call id gets
// nothing from it.
func TestAnotherCallUnderTheSameID(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		first := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		<-first
		evil := testCall("c1")
		evil.Args = []byte(`{"command":"rm -rf /"}`)
		if v := <-x.askAsync(t.Context(), evil, approver.High); v.Decision != approver.Deny {
			t.Fatalf("verdict %+v", v)
		}
	})
}

// What was shown is what runs: a script that changes between the card and the
// answer is not released.
func TestAFileThatChangesAfterTheCard(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.fpChange = "edited"
		out := x.tap(x.tg, 0, "1", true)
		v := <-answer
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "no longer what was shown") ||
			out.Kind != approver.OutcomeExpired {
			t.Fatalf("outcome %+v, verdict %+v", out, v)
		}
	})
}

// A steadfast store does not stop for a context that ended.
type steadfast struct{ approver.KV }

func (s steadfast) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	return s.KV.Get(context.WithoutCancel(ctx), key)
}

func (s steadfast) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	return s.KV.Put(context.WithoutCancel(ctx), key, value, prev, next, due, keepUntil)
}

func (s steadfast) Now(ctx context.Context) (time.Time, error) {
	return s.KV.Now(context.WithoutCancel(ctx))
}

// The courier loses its connection while the files are hashed for the release.
// That is no change of the call: it comes back and has its yes, also with a
// store that finishes what it was told.
func TestCourierLeavesDuringTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBenchOn(t, kv, steadfast{kv})
		ctx, leave := context.WithCancel(t.Context())
		plain, n := x.Fingerprint, 0
		bind := func(ctx context.Context, c approver.ToolCall) (approver.Binding, error) {
			if n++; n == 2 { // the first is that of the card
				leave()
			}
			if ctx.Err() != nil {
				return approver.Binding{}, ctx.Err()
			}
			return plain(ctx, c)
		}
		x.tune(func(o *Options) { o.Fingerprint = bind })
		first := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		go x.tap(x.tg, 0, "1", true)
		<-first
		if v := <-x.askAsync(t.Context(), testCall("c1"), approver.High); v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestAuditFailureTurnsAYesIntoANo(t *testing.T) {
	for _, event := range []approver.Event{approver.EventAsked, approver.EventApproved} {
		story(t, func(t *testing.T, x *bench) {
			x.audit.failing(event)
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			if event == approver.EventApproved {
				if out := x.tap(x.tg, 0, "1", true); out.Kind == approver.OutcomeApproved || !strings.Contains(out.Text, "audit") {
					t.Errorf("outcome %+v", out)
				}
			}
			if v := <-answer; v.Decision != approver.Deny || !strings.Contains(v.Reason, "recorded") {
				t.Fatalf("%s fails: %+v", event, v)
			}
		})
	}
}

// The daemon dies and comes back: the request, its card and its code live on.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		ctx, cancel := context.WithCancelCause(t.Context())
		first := x.askAsync(ctx, testCall("c1"), approver.Catastrophic)
		synctest.Wait()
		_, card := x.tg.card(0)
		cancel(approver.ErrShuttingDown)
		<-first
		x.stop()

		y := newBench(t, kv)
		time.Sleep(10 * time.Second)
		second := y.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		synctest.Wait()
		if y.tg.count() != 0 {
			t.Fatal("a card was posted anew although the old one stands")
		}
		out := y.Answers.Reply(t.Context(), typed(approver.ByCode, card))
		if v := <-second; out.Kind != approver.OutcomeApproved || v.Decision != approver.Allow {
			t.Fatalf("outcome %+v, verdict %+v", out, v)
		}
	})
}

// A crash while cards were on their way: nobody knows whether they arrived. New
// cards with new codes take their place, and the old codes are void.
func TestCrashWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		x.dc.onPost(hang)
		ctx, cancel := context.WithCancelCause(t.Context())
		first := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		_, old := x.tg.card(0)
		// The process dies before it can note that the first card is posted.
		kv.mu.Lock()
		for key, r := range kv.records {
			if strings.Contains(key, ":req:") {
				r.value, r.rev = []byte(strings.ReplaceAll(string(r.value), `"phase":1,`, `"phase":0,`)), approver.NewRev()
				kv.records[key] = r
			}
		}
		kv.mu.Unlock()
		cancel(approver.ErrShuttingDown)
		<-first
		x.stop()

		y := newBench(t, kv)
		second := y.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(PostTimeout + 3*time.Second)
		_, fresh := y.tg.card(0)
		_, freshDC := y.dc.card(0)
		if fresh.Code.IsZero() || fresh.Code.Equal(old.Code) || freshDC.Code.IsZero() {
			t.Fatalf("new cards %+v %+v", fresh, freshDC)
		}
		if out := y.Answers.Reply(t.Context(), typed(approver.ByCode, old)); out.Kind != approver.OutcomeUnknown {
			t.Fatalf("the void code: %+v", out)
		}
		if out := y.tap(y.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Fatalf("the new card: %+v", out)
		}
		if v := <-second; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
	})
}

// The story: a laptop was shut on Friday with an open question, and opened on Monday. The store
// had forgotten the question, so its card kept its buttons for ever, and the audit never said
// how it ended. However long no daemon runs, the next one ends what is open.
func TestExpiredWhileDown(t *testing.T) {
	for name, down := range map[string]time.Duration{
		"an hour": time.Hour, "the hours of records that have ended": approver.DefaultKeepFor, "a weekend": 60 * time.Hour,
		"a vacation": 30 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x := newBench(t, kv)
				ctx, cancel := context.WithCancelCause(t.Context())
				first := x.askAsync(ctx, testCall("c1"), approver.High)
				synctest.Wait()
				cancel(approver.ErrShuttingDown)
				<-first
				x.stop()
				time.Sleep(down)
				y := newBench(t, kv)
				msg, card := x.tg.card(0)
				y.tg.holds(msg, card) // the clock may have been there already
				time.Sleep(3 * time.Second)
				if _, card := y.tg.card(0); card.State != approver.Expired {
					t.Fatalf("card %+v", card)
				}
				if n := y.count(approver.EventExpired); n != 1 {
					t.Errorf("the audit says %d times that it expired", n)
				}
			})
		})
	}
}

// Repliers race: one standing answer, and what each person hears agrees with
// what the agent hears.
func TestRepliersRace(t *testing.T) {
	for round := range 50 {
		story(t, func(t *testing.T, x *bench) {
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			outs := make(chan approver.Outcome, 8)
			for i := range 8 {
				go func() {
					c, sender := x.tg, []string{"1", "2"}[i%2]
					if i >= 4 {
						c, sender = x.dc, []string{"d1", "d2"}[i%2]
					}
					outs <- x.tap(c, 0, sender, (i+round)%3 == 0)
				}()
			}
			v := <-answer
			won := map[approver.OutcomeKind]int{}
			for range 8 {
				won[(<-outs).Kind]++
			}
			if v.Decision == approver.Allow && (won[approver.OutcomeApproved] == 0 || won[approver.OutcomeDenied] > 0) ||
				v.Decision == approver.Deny && (won[approver.OutcomeDenied] == 0 || won[approver.OutcomeApproved] > 0) {
				t.Fatalf("the agent heard %v, people %v", v.Decision, won)
			}
		})
	}
}

// The store fails for a while in the middle: the waiting call goes on when it
// is back.
func TestStoreOutage(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.kv.failing(func(string, string) error { return errors.New("connection refused") })
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRefused {
			t.Fatalf("outcome %+v", out)
		}
		time.Sleep(10 * time.Second)
		x.kv.failing(nil)
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Fatalf("outcome %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
	})
}

// An ambiguous write that did succeed is not taken for somebody else's.
func TestAmbiguousWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBenchOn(t, kv, lossy{kv, new(int)})
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Fatalf("outcome %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
	})
}

// lossy loses the acknowledgement of every second write.
type lossy struct {
	*memKV
	n *int
}

func (l lossy) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	err := l.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
	l.mu.Lock()
	defer l.mu.Unlock()
	if *l.n++; err == nil && *l.n%2 == 1 {
		return errors.New("i/o timeout")
	}
	return err
}

func TestNewBroadcasterRefuses(t *testing.T) {
	if _, err := NewBroadcaster(Options{
		Destinations: []approver.Destination{{Channel: "slack", Conversation: "C"}},
	}); err == nil ||
		!strings.Contains(err.Error(), `no channel "slack"`) || !strings.Contains(err.Error(), "code key") {
		t.Errorf("error %v", err)
	}
}
