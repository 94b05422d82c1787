package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// The story: what a code leads to is a record of its own, and a fail-over can leave it
// behind, or lead it to another card. Only the code of that very card counts, and only in
// the conversation that shows it, also where two platforms have one of the same name.
func TestWhereACodeLeads(t *testing.T) {
	for name, tt := range map[string]struct {
		posting func(own, other int) int
		reply   func(*approver.Reply)
		kind    approver.OutcomeKind
	}{
		"to its own card":       {nil, nil, approver.OutcomeApproved},
		"before the first card": {func(int, int) int { return -1 }, nil, approver.OutcomeUnknown},
		"behind the last card":  {func(int, int) int { return 2 }, nil, approver.OutcomeUnknown},
		"to another card":       {func(_, other int) int { return other }, nil, approver.OutcomeUnknown},
		"to another card, typed there": {func(_, other int) int { return other }, func(r *approver.Reply) {
			r.Channel, r.Conversation, r.Sender = "discord", "D", "d1"
		}, approver.OutcomeUnknown},
		"typed in another conversation": {nil, func(r *approver.Reply) { r.Conversation = "U" }, approver.OutcomeUnknown},
		"typed on another platform": {
			nil, func(r *approver.Reply) { r.Channel, r.Sender = "discord", "d1" }, approver.OutcomeUnknown,
		},
		"typed for another request": {nil, func(r *approver.Reply) { r.Request = "other" }, approver.OutcomeUnknown},
		"in a form that nobody knows": {
			nil, func(r *approver.Reply) { r.Method = approver.Method(99) }, approver.OutcomeRefused,
		},
		"by somebody who is not on a list": {nil, func(r *approver.Reply) { r.Sender = "9" }, approver.OutcomeRefused},
		"by its id, on another platform": {nil, func(r *approver.Reply) {
			r.Channel, r.Sender, r.Method, r.Code = "discord", "d1", approver.ByID, tokens.Code{}
		}, approver.OutcomeUnknown},
		"by its id, from a message": {
			nil, func(r *approver.Reply) {
				r.Method, r.Message, r.Code = approver.ByID, "T-0", tokens.Code{}
			}, approver.OutcomeUnknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				_, card := x.tg.card(0)
				r := x.loaded(card.Request)
				own, other := 0, 1
				if r.Postings[0].To.Channel != "telegram" {
					own, other = 1, 0
				}
				rep := typed(approver.ByCommand, card)
				if strings.HasPrefix(name, "by its id") {
					rep.Request = card.Request
				}
				if tt.reply != nil {
					tt.reply(&rep)
				}
				if tt.posting != nil {
					value, _ := json.Marshal(codeEntry{r.ID, tt.posting(own, other)})
					x.kv.replace(approver.Key("code", string(card.Code.Hash(x.CodeKey))), memRecord{value, approver.NewRev()})
				}
				if out := x.Answers.Reply(t.Context(), rep); out.Kind != tt.kind {
					t.Errorf("%+v", out)
				}
				x.stop()
				<-answer
			})
		})
	}
}

// A panicking audit fails as often as it is told to.
type panickingAudit struct {
	*memAudit
	left atomic.Int32
	slow time.Duration
}

func (a *panickingAudit) Record(ctx context.Context, r approver.Record) (string, error) {
	if r.Event == approver.EventDenied && a.left.Add(-1) >= 0 {
		time.Sleep(a.slow)
		panic("index out of range")
	}
	return a.memAudit.Record(ctx, r)
}

// The story: an audit that panicked at the end of a request left everybody waiting who asked
// for that end, for good. It is an error like any other, and recorded at the next try.
func TestAPanicAtTheEndHoldsNobodyUp(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		synctest.Wait()
		audit := &panickingAudit{memAudit: x.audit}
		x.tune(func(o *Options) { o.Audit = audit })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		audit.left.Store(2)
		_, card := x.tg.card(0)
		x.tap(x.tg, 0, "1", false)
		if v := <-answer; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		time.Sleep(time.Minute)
		r, _, err := x.Requests.load(t.Context(), card.Request)
		if err != nil || !r.Closed || !slices.Contains(x.audit.events(r.ID), approver.EventDenied) {
			t.Errorf("its end is not recorded: %+v, %v", r.Closed, err)
		}
		if _, shown := x.dc.card(0); shown.OneTap || !shown.State.Settled() {
			t.Errorf("the other card shows %+v", shown)
		}
	})
}

// A panic while a record is made is no record: it is made once more, by whoever comes first.
func TestAPanicIsNoRecord(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		audit := &panickingAudit{memAudit: x.audit, slow: time.Second}
		audit.left.Store(1)
		x.tune(func(o *Options) { o.Audit = audit })
		r := Request{ID: "r", State: approver.Denied, CallID: "c"}
		first := make(chan error, 1)
		go func() { first <- x.history.durable(t.Context(), r, true) }()
		time.Sleep(100 * time.Millisecond)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := x.history.durable(ctx, r, true); err != nil {
			t.Errorf("who waits: %v", err)
		}
		if err := <-first; err != nil { // it was made once more
			t.Errorf("who made the record first: %v", err)
		}
		if events := x.audit.events("r"); !slices.Equal(events, []approver.Event{approver.EventAsked, approver.EventDenied}) {
			t.Errorf("the audit has %v", events)
		}
	})
}

// The story: a store driver panicked while an answer was looked up. The person hears that
// the answer does not count, and the daemon goes on.
func TestAPanicUnderAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &hookKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		kv.set(func() {
			kv.get = func(key string) {
				if strings.Contains(key, "}:code:") {
					panic("nil map")
				}
			}
		})
		_, card := x.tg.card(0)
		typed := typed(approver.ByCommand, card)
		if out := x.Answers.Reply(t.Context(), typed); out.Kind != approver.OutcomeRefused ||
			!strings.Contains(out.Text, "does not count") {
			t.Errorf("%+v", out)
		}
		kv.set(func() { kv.get = nil })
		if out := x.Answers.Reply(t.Context(), typed); out.Kind != approver.OutcomeApproved {
			t.Errorf("afterwards: %+v", out)
		}
		<-answer
	})
}

// The story: people said yes, the call was released, and the disk of the audit was full at
// that moment. No card and no answer says "approved" before it is on record.
func TestNothingIsApprovedThatIsNotRecorded(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.audit.failing(approver.EventReleased)
		out := x.tap(x.tg, 0, "1", true)
		v := <-answer
		time.Sleep(10 * time.Second)
		for _, c := range []*chat{x.tg, x.dc} {
			if _, card := c.card(0); card.State == approver.Consumed {
				t.Errorf("%s shows %v %q", c.name, card.State, card.Result)
			}
		}
		if out.Kind == approver.OutcomeApproved {
			t.Errorf("the person is told %+v, the agent %v", out, v.Decision)
		}
	})
}

// The story: while a card of a request that had ended was edited, another daemon showed a
// later end on it, and noted that. The earlier edit may have been the last to arrive: the
// card is shown once more, and not taken for well.
func TestAnEditThatAnotherOneOvertook(t *testing.T) {
	for name, tt := range map[string]struct {
		of     []int
		at     int // of the posting that is shown
		shown  bool
		unshow bool
	}{
		"edited and shown": {[]int{0, 1}, 1, true, true}, "edited and not shown": {[]int{0, 1}, 1, false, false},
		"not edited": {[]int{0}, 1, true, false}, "of a posting that is gone": {[]int{5}, 1, true, false},
		"nothing edited": {nil, 0, true, false},
	} {
		r := Request{Postings: make([]Posting, 2)}
		r.Postings[tt.at].Shown = tt.shown
		next, some := r.Postings.unshown(tt.of)
		if some != tt.unshow || next[tt.at].Shown != (tt.shown && !tt.unshow) {
			t.Errorf("%s: %+v, %v", name, next, some)
		}
		if r.Postings[tt.at].Shown != tt.shown {
			t.Errorf("%s: what was read has changed", name)
		}
	}
}

// A plain "yes" under a message that is no card of an ended request is told how it ended,
// and that message is taken for no card of ours.
func TestAPlainReplyToNoCard(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		x.tap(x.tg, 0, "1", false)
		<-answer
		out := x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "2", Approve: true, Method: approver.ByPlain, Request: card.Request,
			Message: "somebody's",
		})
		time.Sleep(5 * time.Second)
		r, _, err := x.Requests.load(t.Context(), card.Request)
		if err != nil || !strings.Contains(out.Text, "Alice denied it") {
			t.Errorf("%+v, %v", out, err)
		}
		for _, p := range r.Postings {
			if len(p.Also) > 0 {
				t.Errorf("it is a card now: %+v", p.Also)
			}
		}
	})
}

// The story: what a courier told could not be stored, and was kept. Two looks at the store
// at once took the same note, and dropped two; or none came after the first. One stores at
// a time, each note is stored once, and the next look goes on where one ended.
func TestKeptNotesAreStoredOnce(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		var mu sync.Mutex
		var stored []string
		var away atomic.Bool
		away.Store(true)
		keep := func(call string) {
			err := x.Reports.noteOrKeep(t.Context(), call, func(ctx context.Context) error {
				if !sleep(ctx, 100*time.Millisecond) || away.Load() {
					return errors.New("no quorum")
				}
				mu.Lock()
				defer mu.Unlock()
				stored = append(stored, call)
				return nil
			})
			if err != nil || !x.Reports.pending.has(call) || x.Reports.pending.has("another") {
				t.Errorf("%s: %v", call, err)
			}
		}
		keep("a")
		keep("b")
		time.Sleep(5 * time.Second)
		away.Store(false)
		for range 5 {
			x.Reports.catchUp()
		}
		time.Sleep(5 * time.Second)
		away.Store(true)
		keep("c")
		time.Sleep(5 * time.Second)
		away.Store(false)
		time.Sleep(5 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(stored)
		if got := strings.Join(stored, " "); got != "a b c" || x.Reports.pending.has("c") {
			t.Errorf("stored: %s", got)
		}
		var at, most, times atomic.Int32
		x.Reports.pending.keep(note{"d", func(ctx context.Context) error {
			times.Add(1)
			most.Store(max(most.Load(), at.Add(1)))
			_ = sleep(ctx, time.Second)
			at.Add(-1)
			return nil
		}})
		for range 3 {
			x.Reports.catchUp()
		}
		time.Sleep(5 * time.Second)
		if most.Load() != 1 || times.Load() != 1 {
			t.Errorf("%d are at it at once, %d times in all", most.Load(), times.Load())
		}
		if x.Reports.catchUp(); x.tasks.runs(&x.Reports.pending) || x.Reports.pending.has("d") {
			t.Error("one is at nothing")
		}
	})
}

// A stallingAudit takes its time for the records of releases.
type stallingAudit struct{ approver.Recorder }

func (a stallingAudit) Record(ctx context.Context, r approver.Record) (string, error) {
	if r.Event == approver.EventReleased {
		time.Sleep(20 * time.Second)
	}
	return a.Recorder.Record(ctx, r)
}

// The record of a release took longer than people wait to hear. Somebody who had answered
// too late was told that their answer is stored, and everybody that the audit has a problem.
func TestASlowRecordOfTheEndTellsNobodyAnUntruth(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		synctest.Wait()
		x.tune(func(o *Options) { o.Audit = stallingAudit{o.Audit} })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		said := make(chan approver.Outcome, 2)
		go func() { said <- x.tap(x.tg, 0, "1", true) }()
		time.Sleep(100 * time.Millisecond)
		go func() { said <- x.tap(x.dc, 0, "d2", true) }()
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
		told := map[approver.OutcomeKind]string{}
		for range 2 {
			o := <-said
			told[o.Kind] = o.Text
		}
		late := told[approver.OutcomeRecorded] // the agent has no yes before the record either
		if told[approver.OutcomeTooLate] == "" || told[approver.OutcomeApproved] == "" && late != "Your yes is recorded. "+
			"The agent has not taken it yet; if it does not before the deadline, nothing runs." {
			t.Errorf("people were told %v", told)
		}
		time.Sleep(time.Minute)
		if got := x.audit.released(); len(got) != 1 {
			t.Errorf("released: %v", got)
		}
	})
}
