package broadcaster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// screens is a terminal: what nobody watches is shown to nobody.
type screens struct {
	*chat
	mu        sync.Mutex
	now, ever int
}

func (s *screens) come() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.ever = s.now+1, s.ever+1
}

func (s *screens) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}

func (s *screens) Watches() (now, ever int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.ever
}

func (s *screens) Shows(ref approver.Ref) bool {
	s.chat.mu.Lock()
	defer s.chat.mu.Unlock()
	_, is := s.cards[ref.Message]
	return is
}

func (s *screens) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if now, _ := s.Watches(); now == 0 {
		return approver.Ref{}, fmt.Errorf("nobody watches: %w", approver.ErrFinal)
	}
	return s.chat.Post(ctx, to, card)
}

// The story: the phone rang, and whoever came to the machine started approver watch. It
// showed nothing: nobody had watched when the question was asked, and that was final. Now
// whoever begins to watch is shown what is open, once, with a code of its own.
func TestWhoeverBeginsToWatchIsShownWhatIsOpen(t *testing.T) {
	for name, c := range map[string]struct {
		watch func(s *screens)
		cards int
	}{
		"nobody": {func(*screens) {}, 0},
		"one":    {func(s *screens) { s.come() }, 1},
		"one after another": {func(s *screens) {
			s.come()
			time.Sleep(5 * time.Second)
			s.leave()
			time.Sleep(5 * time.Second)
			s.come()
		}, 1},
		"two at once":        {func(s *screens) { s.come(); s.come() }, 1},
		"one who left again": {func(s *screens) { s.come(); s.leave() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				x.stop()
				term := &screens{chat: newChat("discord")}
				opts := x.Options
				opts.Host = "here"
				opts.Channels = []approver.Channel{x.tg, term}
				x.tg.ready = make(chan struct{})
				b, err := NewBroadcaster(opts)
				if err != nil {
					t.Fatal(err)
				}
				x.Broadcaster = b
				run, stop := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { defer close(ended); _ = b.Run(run) }()
				defer func() { stop(); <-ended }()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(10 * time.Second)
				c.watch(term)
				time.Sleep(5 * time.Second)
				if term.count() != c.cards || x.tg.count() != 1 {
					t.Fatalf("%d cards on the screens, %d in the chat", term.count(), x.tg.count())
				}
				if c.cards == 0 {
					x.tap(x.tg, 0, "1", true)
				} else if out := x.tap(term.chat, 0, "d1", true); out.Kind != approver.OutcomeApproved {
					t.Errorf("the card on the screen: %+v", out)
				}
				if v := <-answer; v.Decision != approver.Allow {
					t.Errorf("%v %s", v.Decision, v.Reason)
				}
			})
		})
	}
}

// A daemon was restarted, and its terminal came back too late for the question. Whoever
// watches later is shown it all the same.
func TestATerminalThatComesBackLateIsShownWhatIsOpen(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(5 * time.Second)
		term := &screens{chat: newChat("discord")} // its cards did not outlive the restart
		synctest.Wait()
		synctest.Wait()
		x.Channels.byName["discord"] = term
		_, card := x.tg.card(0)
		x.poster.repost(t.Context(), card.Request)
		time.Sleep(2 * othersGrace)
		x.sweeper.attend(t.Context(), card.Request)
		time.Sleep(time.Second)
		if r, _, err := x.Requests.load(t.Context(), card.Request); err != nil ||
			r.Postings[len(r.Postings)-1].Phase != Failed {
			t.Fatalf("%+v %v", r.Postings, err)
		}
		term.come()
		x.poster.repost(t.Context(), card.Request)
		synctest.Wait()
		if term.count() != 1 {
			t.Errorf("%d cards", term.count())
		}
		x.tap(x.tg, 0, "1", true)
		<-answer
	})
}
