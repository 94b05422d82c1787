package discord

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/calls"
)

// beside makes another daemon with the bench's bot, which has a store of its own:
// it knows no request.
func (b *bench) beside() *bench {
	b.t.Helper()
	other := &bench{t: b.t, s: b.s, log: &strings.Builder{}, cfg: b.cfg, here: b.here, ann: b.ann}
	other.lock = &locked{w: other.log}
	c, err := New(other.cfg, slog.New(slog.NewTextHandler(other.lock, nil)))
	if err != nil {
		b.t.Fatal(err)
	}
	c.handover = 0
	other.c = c
	before := b.s.Connected()
	other.run(func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "There is no such request in this conversation."}
	})
	b.until("the second daemon to connect",
		func() bool { return b.s.Connected() > before && other.c.Reception().Up })
	return other
}

// The story: two machines had daemons with stores of their own and one bot. Discord
// shows each press to both. Whichever acknowledged first swallowed the press: the
// one that had asked took the other for a process of its own, and half of all
// answers were lost. Now the daemon that asked counts every press, the other lets it
// be first, and both logs say what to do, once.
func TestTwoDaemonsOneBot(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.c.handover = 0
	b.run(func(ctx context.Context, _ approver.Reply) approver.Outcome {
		_ = calls.Sleep(ctx, 100*time.Millisecond) // the other one knows sooner that it does not know
		return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "noted"}
	})
	b.until("the connection", func() bool { return b.c.Reception().Up })
	other := b.beside()
	for n := range 4 {
		card := high()
		ref := b.post(b.here, card)
		if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
			t.Fatal(err)
		}
		b.until("the press to count", func() bool { return len(b.got()) > n })
		if r := b.got()[n]; r.Request != card.Request || !r.Approve {
			t.Errorf("got %+v", r)
		}
		other.until("the other one to see it", func() bool { return len(other.got()) > n })
	}
	b.until("four words to Ann", func() bool { return strings.Count(strings.Join(b.s.Told(b.ann), "\n"), "noted") == 4 })
	if told := strings.Join(b.s.Told(b.ann), "\n"); strings.Contains(told, "no such request") {
		t.Errorf("Ann was told %s", told)
	}
	for _, c := range b.s.Cards(b.here) {
		if len(c.Buttons) != 4 {
			t.Errorf("the other daemon changed a card: %+v", c)
		}
	}
	other.until("the other one's log",
		func() bool { return strings.Contains(other.logged(), "give each daemon a bot of its own") })
	if now := other.c.Reception(); !now.Up || !strings.Contains(now.Contest, "give each daemon a bot of its own") ||
		now.ContestSince.IsZero() {
		t.Errorf("its status has %+v", now)
	}
	log, _ := other.stop()
	if n := strings.Count(log, "level=ERROR"); n != 1 {
		t.Errorf("the other daemon's log has %d errors:\n%s", n, log)
	}
}

// logged is what was logged so far.
func (b *bench) logged() string {
	b.lock.mu.Lock()
	defer b.lock.mu.Unlock()
	return b.log.String()
}

// A press that another process acknowledged first counts all the same, however that
// came about. Its person is told by the other one.
func TestAcknowledgedElsewhereCounts(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]time.Duration{"decided at once": 0, "decided late": 700 * time.Millisecond} {
		for _, handover := range []time.Duration{0, time.Hour} {
			t.Run(name+" "+handover.String(), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, func(b *bench) { b.s.AckElsewhere = true })
				b.c.handover = handover
				b.run(func(ctx context.Context, _ approver.Reply) approver.Outcome {
					_ = calls.Sleep(ctx, slow)
					return approver.Outcome{Kind: approver.OutcomeApproved, Text: "it runs"}
				})
				b.until("the connection", func() bool { return b.s.Connected() > 0 })
				for range 2 {
					before := len(b.got())
					ref := b.post(b.here, high())
					if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
						t.Fatal(err)
					}
					if r := b.one(before); !r.Approve {
						t.Errorf("got %+v", r)
					}
				}
				b.until("both acknowledgements",
					func() bool { return strings.Count(strings.Join(b.s.Log(), "\n"), "/callback") == 2 })
				log, err := b.stop()
				// Just after a change of the lease it was a replica.
				want := 1
				if handover > 0 {
					want = 0
				}
				if n := strings.Count(log, "level=ERROR"); n != want || err != nil {
					t.Errorf("the log has %d errors, want %d; Run gives %v\n%s", n, want, err, log)
				}
			})
		}
	}
}

// A press on a card that nobody knows any more is still answered where no other
// daemon is.
func TestUnknownRequestIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.run(func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "There is no such request in this conversation."}
	})
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "no such request")
	if n := b.s.Unanswered(); n != 0 {
		t.Errorf("%d presses failed before the person's eyes", n)
	}
	if log, _ := b.stop(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the log\n%s", log)
	}
}

// A "no" that is typed as the reply to a card is seen by both daemons, and what they
// say to it by all. The one that does not know the card says nothing if the other
// one has settled it, or was noticed before. That it ends while it waits for the other
// one changes nothing: it said "no such request" of an answer that had counted.
func TestTypedAnswerForAnotherDaemon(t *testing.T) {
	t.Parallel()
	const told = "There is no such request in this conversation."
	for name, tt := range map[string]struct {
		settled, noticed, ends bool // what the other one did, and whether this one ends meanwhile
		want                   string
	}{
		"settled":           {settled: true},
		"settled at an end": {settled: true, ends: true},
		"noticed":           {noticed: true},
		"neither":           {want: told},
		"neither at an end": {ends: true, want: told},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.c.contest.Store(tt.noticed)
			b.c.leave = time.Millisecond
			if tt.ends {
				b.c.leave = time.Hour
			}
			card := high()
			ref := b.post(b.here, card)
			b.run(func(context.Context, approver.Reply) approver.Outcome {
				if tt.settled { // by the other one, sooner than this one looks
					card.State, card.Result = approver.Denied, "⛔ Denied by Ann"
					if err := b.c.Update(context.Background(), ref, card); err != nil {
						t.Error(err)
					}
				}
				return approver.Outcome{Kind: approver.OutcomeUnknown, Text: told}
			})
			if !b.s.ReplyMentioning(b.ann, b.here, ref.Message, "no") {
				t.Fatal("the reply was not sent")
			}
			b.one(0)
			looks := func() int {
				return strings.Count(strings.Join(b.s.Log(), "\n"), "GET /api/v10/channels/"+b.here+"/messages/"+ref.Message)
			}
			if !tt.noticed && !tt.ends {
				b.until("a look at the card", func() bool { return looks() > 0 })
			}
			if _, err := b.stop(); err != nil { // waits for what is under way
				t.Fatal(err)
			}
			if got := strings.Join(b.s.Told(b.ann), "\n"); got != tt.want || looks() == 0 != tt.noticed {
				t.Errorf("Ann was told %q, want %q, after %d looks at the card", got, tt.want, looks())
			}
		})
	}
}
