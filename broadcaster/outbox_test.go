package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// limits is a platform that limits what is sent to each place, and all of it.
type limits struct {
	approver.Channel
	place, all approver.Limit
	edits      approver.Limit // zero if they count as messages do
}

func (l limits) Name() string { return "telegram" }

func (l limits) Pace(to approver.Destination, edit bool) []approver.Limit {
	one := l.place
	if one.What = "place " + to.Conversation; edit && l.edits.Most > 0 {
		one = l.edits
		one.What = "edits " + to.Conversation
	}
	if l.all.Most == 0 {
		return []approver.Limit{one}
	}
	return []approver.Limit{one, {What: "all", Most: l.all.Most, Within: l.all.Within}}
}

// oneASecond is the plainest limit.
var oneASecond = approver.Limit{Most: 1, Within: time.Second}

func outboxOf(l limits, replicas int) *outbox {
	return newOutbox(&Options{Channels: []approver.Channel{l}}, func() int { return replicas }, func() {})
}

func placed(conversation string) approver.Destination {
	return approver.Destination{Channel: "telegram", Conversation: conversation}
}

// A sender of many messages, each of which takes no time.
type sent struct {
	mu   sync.Mutex
	what []string
	when []time.Time
}

func (s *sent) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.what, s.when = append(s.what, what), append(s.when, time.Now())
}

func (s *sent) all() ([]string, []time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.what), slices.Clone(s.when)
}

// send sends when it is its turn.
func (s *sent) send(ctx context.Context, b *outbox, one send, what string, result error) {
	go func() {
		end, err := b.waitFor(ctx, &one, time.Hour)
		if err != nil {
			s.note(what + " not")
			return
		}
		s.note(what)
		end(result)
	}()
	synctest.Wait()
}

// Whoever waits in one chat has its turn by how urgent it is, in whatever order they came.
func TestWhoseTurnItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		in := func(d time.Duration) time.Time { return now.Add(d) }
		high := func(due time.Duration) send {
			return send{severity: approver.High, due: in(due), hasty: in(due - 30*time.Second)}
		}
		all := []struct {
			what string
			send
		}{ // in the order of their turns
			{"catastrophic, soon too late", send{due: in(time.Hour)}},
			{"catastrophic", send{due: in(2 * time.Hour)}},
			{"catastrophic, a reminder", send{aside: true}},
			{"high, soon too late", high(time.Minute)},
			{"high, the older", high(time.Hour)},
			{"high, the younger",
				send{severity: approver.High, due: in(time.Hour), hasty: in(time.Hour), since: in(time.Second)}},
			{"high, with some time left", high(20 * time.Second)},
			{"high, with hardly any time left", high(10 * time.Second)},
			{"high, a reminder", send{severity: approver.High, aside: true}},
			{"edit", send{edit: true, since: in(time.Hour)}}, // it never gets old here
			{"a younger edit", send{edit: true, since: in(2 * time.Hour)}},
		}
		for range 20 {
			s, b := &sent{}, outboxOf(limits{place: oneASecond}, 1)
			s.send(t.Context(), b, send{to: placed("T")}, "first", nil)
			for _, i := range rand.Perm(len(all)) {
				one := all[i].send
				one.to = placed("T")
				s.send(t.Context(), b, one, all[i].what, nil)
			}
			time.Sleep(time.Minute)
			got, _ := s.all()
			for i, want := range all {
				if got[i+1] != want.what {
					t.Fatalf("turn %d: %q, want %q", i, got[i+1], want.what)
				}
			}
			now = time.Now() // the next round begins later
			shift := time.Minute
			for i := range all {
				all[i].due, all[i].since = all[i].due.Add(shift), all[i].since.Add(shift)
				if !all[i].hasty.IsZero() {
					all[i].hasty = all[i].hasty.Add(shift)
				}
			}
		}
	})
}

// Where more is asked than a chat takes, each card has time to be answered when it comes, instead of all of them coming
// in the last second of their lives.
func TestACardComesWhileItCanBeAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := outboxOf(limits{place: oneASecond}, 1)
		var mu sync.Mutex
		var late, shown int
		for range 600 {
			due := time.Now().Add(2 * time.Minute)
			one := &send{to: placed("T"), severity: approver.High, due: due, hasty: due.Add(-answerTime), since: time.Now()}
			go func() {
				ctx, stop := context.WithDeadline(t.Context(), due)
				defer stop()
				end, err := b.waitFor(ctx, one, time.Hour)
				if err != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if shown++; time.Until(due) < answerTime-time.Second {
					late++
				}
				end(nil)
			}()
			time.Sleep(200 * time.Millisecond) // five times what the chat takes
		}
		time.Sleep(3 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if shown < 200 || late > 40 { // at the end there is nothing else to show
			t.Errorf("%d cards were shown, %d of them with hardly any time left", shown, late)
		}
	})
}

// Neither kind starves the other: an endless row of cards lets edits have half of the turns once they are old, and an
// endless row of old edits lets cards have the other half.
func TestNobodyStarves(t *testing.T) {
	for name, first := range map[string]approver.Severity{"high": approver.High, "catastrophic": approver.Catastrophic} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := &sent{}, outboxOf(limits{place: oneASecond}, 1)
				for range 100 {
					s.send(t.Context(), b, send{to: placed("T"), severity: first, since: time.Now()}, "card", nil)
					s.send(t.Context(), b, send{to: placed("T"), edit: true, since: time.Now()}, "edit", nil)
				}
				time.Sleep(100 * time.Second)
				got, _ := s.all()
				young, old := got[:10], got[12:92]
				if slices.Contains(young, "edit") {
					t.Errorf("at first: %v", young)
				}
				edits := 0
				for _, what := range old {
					if what == "edit" {
						edits++
					}
				}
				if edits < 38 || edits > 42 {
					t.Errorf("later %d of 80 turns were edits: %v", edits, old)
				}
			})
		})
	}
}

// The platform counts a call when it arrives, which is at some time of its turn. However slow the calls are, it never
// counts too many; and while there is something to send, little of what it takes is left unused.
func TestThePaceIsKept(t *testing.T) {
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			const places, each = 5, 40
			one, all := approver.Limit{Most: 4, Within: 2 * time.Second}, approver.Limit{Most: 8, Within: time.Second}
			b := outboxOf(limits{place: one, all: all}, 1)
			var mu sync.Mutex
			arrived := map[string][]time.Time{}
			began := time.Now()
			var sending sync.WaitGroup
			for n := range places * each {
				name := fmt.Sprint(n % places)
				sending.Go(func() {
					end, err := b.waitFor(t.Context(), &send{to: placed(name), edit: n%3 == 0, since: time.Now()}, time.Hour)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(rand.N(200 * time.Millisecond))
					mu.Lock()
					arrived[name], arrived[""] = append(arrived[name], time.Now()), append(arrived[""], time.Now())
					mu.Unlock()
					time.Sleep(rand.N(200 * time.Millisecond))
					end(nil)
				})
			}
			sending.Wait()
			took := time.Since(began)
			for name, times := range arrived {
				limit := one
				if name == "" {
					limit = all
				}
				for i, at := range times {
					if i >= limit.Most && at.Sub(times[i-limit.Most]) < limit.Within {
						t.Errorf("place %q: %d arrive within %v", name, limit.Most+1, at.Sub(times[i-limit.Most]))
					}
				}
			}
			if took > 60*time.Second {
				t.Errorf("it took %v", took)
			}
			// Nothing is left, and nothing ticks.
			for _, l := range b.queues["telegram"].lanes {
				if len(l.cards)+len(l.edits) > 0 {
					t.Error("something waits still")
				}
			}
		})
	}
}

// A burst goes out at once, and then the chat has its pace. A chat that is full holds up no other one.
func TestABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &sent{}, outboxOf(limits{place: approver.Limit{Most: 3, Within: 3 * time.Second}}, 1)
		began := time.Now()
		for n := range 7 {
			s.send(t.Context(), b, send{to: placed("T")}, fmt.Sprint(n), nil)
		}
		s.send(t.Context(), b, send{to: placed("U")}, "other", nil)
		time.Sleep(time.Minute)
		what, when := s.all()
		want := map[string]time.Duration{"0": 0, "1": 0, "2": 0, "other": 0, "3": 3, "4": 3, "5": 3, "6": 6}
		for n, w := range what {
			if when[n].Sub(began) != want[w]*time.Second {
				t.Errorf("%q came after %v, want %d s", w, when[n].Sub(began), want[w])
			}
		}
	})
}

// What is kept for the most urgent is for nobody else.
func TestRoomForTheMostUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &sent{}, outboxOf(limits{place: approver.Limit{Most: 5, Within: time.Minute, Urgent: 2}}, 1)
		for n := range 5 {
			s.send(t.Context(), b, send{to: placed("T"), severity: approver.High}, fmt.Sprint("high ", n), nil)
			s.send(t.Context(), b, send{to: placed("T"), edit: true, since: time.Now()}, fmt.Sprint("edit ", n), nil)
		}
		time.Sleep(20 * time.Second)
		if what, _ := s.all(); len(what) != 3 {
			t.Fatalf("there was room for %v", what)
		}
		for n := range 3 {
			s.send(t.Context(), b, send{to: placed("T")}, fmt.Sprint("catastrophic ", n), nil)
		}
		if what, _ := s.all(); !slices.Equal(what[3:], []string{"catastrophic 0", "catastrophic 1"}) {
			t.Errorf("then %v", what[3:])
		}
	})
}

// busySend is a send that the platform answers with 429.
func answered429(after time.Duration) error { return fmt.Errorf("sendMessage: %w", busy(after)) }

// The story: a platform asked for patience, and only the one card that had got the answer waited. All the others went
// on, were refused too, and the platform made the pause longer. Now it holds for all that goes to that
// place; for the whole bot for a moment, if two places are held at once.
func TestA429HoldsEverybody(t *testing.T) {
	for name, both := range map[string]bool{"one chat": false, "two chats": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := &sent{}, outboxOf(limits{place: oneASecond, all: approver.Limit{Most: 20, Within: time.Second}}, 1)
				began := time.Now()
				s.send(t.Context(), b, send{to: placed("T")}, "T0", answered429(30*time.Second))
				if both {
					s.send(t.Context(), b, send{to: placed("U")}, "U0", answered429(40*time.Second))
				}
				s.send(t.Context(), b, send{to: placed("T")}, "T", nil)
				s.send(t.Context(), b, send{to: placed("T"), edit: true, since: time.Now()}, "T edit", nil)
				s.send(t.Context(), b, send{to: placed("V")}, "V", nil)
				time.Sleep(2 * time.Minute)
				what, when := s.all()
				for i, w := range what {
					after, want := when[i].Sub(began), 30*time.Second
					switch {
					case strings.HasSuffix(w, "0") || w == "V" && !both:
						want = 0
					case w == "V":
						want = guessedHold
					}
					if after < want || after > want+time.Second {
						t.Errorf("%s came after %v, want %v", w, after, want)
					}
				}
			})
		})
	}
}

// What is not needed any more leaves the queue at once and costs no turn: its request has ended, or whoever waits has
// given up. So does a turn that nobody used.
func TestWhatIsNeedlessCostsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &sent{}, outboxOf(limits{place: oneASecond}, 1)
		began := time.Now()
		ctx, leave := context.WithCancel(t.Context())
		s.send(t.Context(), b, send{to: placed("T")}, "first", nil)
		for n := range 50 {
			s.send(t.Context(), b, send{to: placed("T"), request: "ended"}, "ended", nil)
			s.send(ctx, b, send{to: placed("T")}, "left", nil)
			s.send(t.Context(), b, send{to: placed("T")}, "unused", errUnused)
			_ = n
		}
		s.send(t.Context(), b, send{to: placed("T"), severity: approver.High}, "last", nil)
		b.drop("ended")
		leave()
		synctest.Wait()
		if c := b.crowds("telegram"); len(c) != 1 || c[0].Other != 51 {
			t.Errorf("then there waits %+v", c)
		}
		time.Sleep(time.Minute)
		what, when := s.all()
		count := map[string]int{}
		for _, w := range what {
			count[w]++
		}
		if count["ended not"] != 50 || count["left not"] != 50 || count["unused"] != 50 ||
			what[len(what)-1] != "last" || when[len(when)-1].Sub(began) != time.Second {
			t.Errorf("%v; the last is %s after %v", count, what[len(what)-1], when[len(when)-1].Sub(began))
		}
		if q := b.queues["telegram"]; len(q.of) != 0 {
			t.Errorf("%d requests are remembered", len(q.of))
		}
	})
}

// Several daemons with one bot take no more together than one of them may.
func TestReplicasShareThePace(t *testing.T) {
	for _, replicas := range []int{1, 2, 3, 7} {
		synctest.Test(t, func(t *testing.T) {
			limit := approver.Limit{Most: 4, Within: 2 * time.Second}
			var mu sync.Mutex
			var arrived []time.Time
			for range replicas {
				b := outboxOf(limits{place: limit}, replicas)
				for range 20 {
					go func() {
						end, err := b.waitFor(t.Context(), &send{to: placed("T")}, time.Hour)
						if err != nil {
							return
						}
						mu.Lock()
						arrived = append(arrived, time.Now())
						mu.Unlock()
						end(nil)
					}()
				}
			}
			time.Sleep(20 * time.Minute)
			synctest.Wait()
			if len(arrived) != 20*replicas {
				t.Errorf("%d arrived", len(arrived))
			}
			// With more daemons than messages, each has one in a longer time.
			window, most := limit.Within, limit.Most
			if replicas > limit.Most {
				window, most = limit.Within*time.Duration(replicas)/time.Duration(limit.Most), replicas
			}
			for i, at := range arrived {
				if i >= most && at.Sub(arrived[i-most]) < window {
					t.Errorf("%d replicas: %d within %v", replicas, most+1, at.Sub(arrived[i-most]))
				}
			}
		})
	}
}

// A channel whose platform has no limits, and an empty queue, let everybody through at once.
func TestNoQueueNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := outboxOf(limits{place: oneASecond}, 1)
		for range 1000 {
			end, err := b.waitFor(t.Context(), &send{to: approver.Destination{Channel: "terminal"}}, 0)
			if err != nil {
				t.Fatal(err)
			}
			end(nil)
		}
		if _, err := b.waitFor(t.Context(), &send{to: placed("T")}, 0); err != nil {
			t.Error(err)
		}
		if _, err := b.waitFor(t.Context(), &send{to: placed("T")}, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first turn has not ended: %v", err)
		}
	})
}
