package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A platform is one whose limits a test says.
type platform struct {
	approver.Channel
	pace func(to approver.Destination, edit bool) []approver.Limit
}

func (platform) Name() string { return "telegram" }

func (p platform) Pace(to approver.Destination, edit bool) []approver.Limit { return p.pace(to, edit) }

// forum has limits like those of a group on Telegram, whose topics share them.
func forum(to approver.Destination, _ bool) []approver.Limit {
	chat, _, _ := strings.Cut(to.Conversation, "/")
	return []approver.Limit{
		{What: "chat " + chat, Most: 3, Within: 3300 * time.Millisecond},
		{What: "group " + chat, Most: 17, Within: time.Minute, Urgent: 3},
		{What: "bot", Most: 25, Within: time.Second, Urgent: 3},
	}
}

// apart counts the cards and the edits of a chat apart, as Discord does.
func apart(to approver.Destination, edit bool) []approver.Limit {
	what := "messages "
	if edit {
		what = "edits "
	}
	return []approver.Limit{
		{What: what + to.Conversation, Most: 4, Within: 5 * time.Second},
		{What: "bot", Most: 40, Within: time.Second, Urgent: 4},
	}
}

// workspace has limits like those of cards on Slack.
func workspace(to approver.Destination, _ bool) []approver.Limit {
	return []approver.Limit{
		{What: "messages " + to.Conversation, Most: 3, Within: 3300 * time.Millisecond},
		{What: "messages", Most: 200, Within: time.Minute, Urgent: 20},
	}
}

// crowdedBot has a limit of the bot that is less than what two chats take.
func crowdedBot(to approver.Destination, _ bool) []approver.Limit {
	return []approver.Limit{
		{What: to.Conversation, Most: 1, Within: time.Second}, {What: "bot", Most: 2, Within: time.Second},
	}
}

func pacedBy(pace func(approver.Destination, bool) []approver.Limit, replicas int) *outbox {
	o := &Options{Channels: []approver.Channel{platform{pace: pace}}}
	return newOutbox(o, func() int { return replicas }, func() {})
}

// took is when each send of a name was sent.
func (s *sent) took(name string, since time.Time) (all []time.Duration) {
	what, when := s.all()
	for i := range what {
		if what[i] == name {
			all = append(all, when[i].Sub(since))
		}
	}
	return all
}

// high is a card that is not urgent.
func high(to string) send {
	due := time.Now().Add(time.Hour)
	return send{to: placed(to), severity: approver.High, since: time.Now(), due: due, hasty: due.Add(-answerTime)}
}

// The story: one topic of a forum had nothing but edits, as many as its group takes. The cards of another topic of the
// group never came, because edits and cards took turns only within a topic. They take turns where they share a
// limit, be it that of a group or that of the bot, and so do the cards of several places.
func TestPlacesShareTheirLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		pace     func(approver.Destination, bool) []approver.Limit
		crowds   []string
		edits    bool // they are full of edits, else of cards
		there    string
		edit     bool // what comes there is an edit
		atLatest time.Duration
	}{
		"edits of a topic, cards of it":        {forum, []string{"g/1"}, true, "g/1", false, time.Minute},
		"edits of a topic, cards of another":   {forum, []string{"g/1"}, true, "g/2", false, time.Minute},
		"cards of a topic, cards of another":   {forum, []string{"g/1"}, false, "g/2", false, time.Minute},
		"cards of a topic, edits of another":   {forum, []string{"g/1"}, false, "g/2", true, time.Minute},
		"edits of a topic, edits of another":   {forum, []string{"g/1"}, true, "g/2", true, time.Minute},
		"cards of a chat, cards of another":    {forum, []string{"g"}, false, "h", false, 5 * time.Second},
		"edits of chats, cards of another":     {crowdedBot, []string{"a", "b", "c"}, true, "d", false, 10 * time.Second},
		"cards of chats, cards of another":     {crowdedBot, []string{"a", "b", "c"}, false, "d", false, 10 * time.Second},
		"cards of chats, edits of another":     {crowdedBot, []string{"a", "b", "c"}, false, "d", true, 20 * time.Second},
		"edits of chats, cards of one of them": {crowdedBot, []string{"a", "b", "c"}, true, "a", false, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := &sent{}, pacedBy(tt.pace, 1)
				ctx, stop := context.WithCancel(t.Context())
				one := func(to string, edit bool) send {
					if edit {
						return send{to: placed(to), edit: true, since: time.Now().Add(-time.Minute)}
					}
					return high(to)
				}
				for range 200 {
					for _, to := range tt.crowds {
						s.send(ctx, b, one(to, tt.edits), "crowd", nil)
					}
				}
				time.Sleep(3 * time.Second)
				began := time.Now()
				for range 3 {
					s.send(ctx, b, one(tt.there, tt.edit), "one", nil)
				}
				time.Sleep(5 * time.Minute)
				if all := s.took("one", began); len(all) != 3 || all[2] > tt.atLatest {
					t.Errorf("they came after %v", all)
				}
				if n := len(s.took("crowd", began)); n < 30 {
					t.Errorf("and %d of the crowd", n)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// The story: edits and cards of many chats shared the bot's limit, and the card of a chat whose edits were old waited
// for as long as other chats had more urgent ones. A turn that an edit gives away is for the cards of its own chat.
func TestATurnGivenAwayIsForTheSameChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &sent{}, pacedBy(crowdedBot, 1)
		ctx, stop := context.WithCancel(t.Context())
		for range 100 {
			for _, to := range []string{"a", "b", "c"} {
				s.send(ctx, b, send{to: placed(to), since: time.Now()}, "catastrophic", nil)
			}
			s.send(ctx, b, send{to: placed("d"), edit: true, since: time.Now().Add(-time.Minute)}, "edit", nil)
		}
		began := time.Now()
		s.send(ctx, b, high("d"), "high", nil)
		time.Sleep(30 * time.Second)
		all := s.took("high", began)
		if edits := s.took("edit", began); len(all) != 1 || len(edits) < 10 || len(s.took("catastrophic", began)) < 20 {
			t.Errorf("the card came after %v, and %d edits", all, len(edits))
		}
		stop()
		synctest.Wait()
	})
}

// The story: many chats had used up the minute of their workspace, and a CATASTROPHIC card of another one waited for it
// to be over, behind HIGH ones that were there already. Room is kept for it; by each of several daemons too, even
// where each may send only little.
func TestTheMostUrgentFindsRoom(t *testing.T) {
	for _, chats := range []int{4, 8, 16, 40} {
		t.Run(fmt.Sprint(chats, " chats"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := &sent{}, pacedBy(workspace, 1)
				ctx, stop := context.WithCancel(t.Context())
				for n := range 400 {
					s.send(ctx, b, high(fmt.Sprint(n%chats)), "high", nil)
				}
				for n := 0; len(s.took("high", time.Now())) < 180 && n < 60; n++ {
					time.Sleep(time.Second)
				}
				began := time.Now()
				s.send(ctx, b, send{to: placed("other"), since: time.Now()}, "catastrophic", nil)
				time.Sleep(time.Minute)
				if all := s.took("catastrophic", began); len(all) != 1 || all[0] > 0 {
					t.Errorf("it came after %v", all)
				}
				stop()
				synctest.Wait()
			})
		})
	}
	for replicas := 1; replicas <= 20; replicas++ {
		t.Run(fmt.Sprint(replicas, " daemons"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := &sent{}, pacedBy(forum, replicas)
				ctx, stop := context.WithCancel(t.Context())
				for range 40 {
					s.send(ctx, b, high("g"), "high", nil)
				}
				time.Sleep(10 * time.Second)
				began := time.Now()
				s.send(ctx, b, send{to: placed("g"), since: time.Now()}, "catastrophic", nil)
				time.Sleep(30 * time.Minute)
				// The limit of a few seconds is shared too, and keeps no room.
				most := max(3300*time.Millisecond*time.Duration(replicas)/3, 3300*time.Millisecond)
				if all := s.took("catastrophic", began); len(all) != 1 || all[0] > most {
					t.Errorf("it came after %v, want %v at most", all, most)
				}
				if n := len(s.took("high", began)); n < 20 {
					t.Errorf("%d others came", n)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// What several daemons may send together is no more than what one may, with what is kept and without.
func TestWhatIsKeptIsNotMore(t *testing.T) {
	for _, limit := range []approver.Limit{
		{Most: 17, Within: time.Minute, Urgent: 3}, {Most: 200, Within: time.Minute, Urgent: 20},
		{Most: 2, Within: time.Second, Urgent: 9}, {Most: 1, Within: time.Second, Urgent: 1},
		{Most: 4, Within: time.Second},
	} {
		w := &window{Limit: limit}
		spare := min(limit.Urgent, limit.Most-1)
		for replicas := 1; replicas <= 300; replicas++ {
			most, within := w.share(replicas, false)
			rate := float64(most*replicas) / float64(within)
			if most < 1 || rate > float64(limit.Most)/float64(limit.Within)*1.000001 {
				t.Errorf("%+v: %d daemons send %d each in %v", limit, replicas, most, within)
			}
			all, same := w.share(replicas, true)
			if same != within || spare > 0 && all <= most || spare == 0 && all != most {
				t.Errorf("%+v: %d daemons send %d of %d, %v and %v", limit, replicas, most, all, within, same)
			}
			if each := limit.Most / replicas; each > 1 && all > each {
				t.Errorf("%+v: %d daemons send %d each", limit, replicas, all)
			}
		}
	}
}

// The story: an edit and a card of one chat were refused, which the platform counts apart. The bot was held as if two
// chats had been, and the CATASTROPHIC card of another chat waited for a minute.
func TestOneChatDoesNotHoldTheBot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &sent{}, pacedBy(apart, 1)
		s.send(t.Context(), b, send{to: placed("T"), edit: true, since: time.Now()}, "edit", answered429(time.Minute))
		s.send(t.Context(), b, send{to: placed("T")}, "card", answered429(time.Minute))
		began := time.Now()
		s.send(t.Context(), b, send{to: placed("V")}, "other", nil)
		if all := s.took("other", began); len(all) != 1 || all[0] > 0 {
			t.Errorf("the other chat's came after %v", all)
		}
		time.Sleep(time.Second)
	})
}

// The story: a platform asked for an hour in one chat and for a day in another one, and nothing was sent to any chat
// for an hour. That two chats are held is a guess about the bot: after a moment one call finds out whether it is true.
func TestAGuessIsTried(t *testing.T) {
	for name, holds := range map[string]bool{"the bot is free": false, "the bot is held": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := &sent{}, pacedBy(apart, 1)
				began, answer := time.Now(), error(nil)
				if holds {
					answer = answered429(time.Hour)
				}
				s.send(t.Context(), b, send{to: placed("T")}, "T", answered429(24*time.Hour))
				s.send(t.Context(), b, send{to: placed("U")}, "U", answered429(time.Hour))
				for n := range 20 {
					s.send(t.Context(), b, send{to: placed(fmt.Sprint(n))}, "other", answer)
				}
				time.Sleep(40 * time.Second)
				all := s.took("other", began)
				switch {
				case len(all) == 0 || all[0] != guessedHold:
					t.Errorf("the others came after %v", all)
				case !holds && len(all) != 20, holds && len(all) > 4:
					t.Errorf("%d others were tried: %v", len(all), all)
				}
				time.Sleep(24 * time.Hour)
			})
		})
	}
}

// A limit that says no number, or no time, is none; a pause holds all the same.
func TestNoLimit(t *testing.T) {
	for name, limit := range map[string]approver.Limit{
		"nothing": {}, "no number": {Within: time.Second, Urgent: 1}, "no time": {Most: 1},
		"less than nothing": {Most: -1, Within: -time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := &sent{}, outboxOf(limits{place: limit}, 2)
				began := time.Now()
				for range 50 {
					s.send(t.Context(), b, high("T"), "card", nil)
				}
				if all := s.took("card", began); len(all) != 50 {
					t.Errorf("%d were sent", len(all))
				}
				s.send(t.Context(), b, high("T"), "refused", answered429(time.Minute))
				s.send(t.Context(), b, high("T"), "next", nil)
				time.Sleep(2 * time.Minute)
				if all := s.took("next", began); len(all) != 1 || all[0] != time.Minute {
					t.Errorf("after a pause of a minute: %v", all)
				}
			})
		})
	}
}

// The story: a channel panicked, and from then on nothing went to it: what it had locked stayed so, and the turn that
// it had never ended.
func TestAPanicHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := true
		b := pacedBy(func(approver.Destination, bool) []approver.Limit {
			if panics {
				panic("it is no number")
			}
			return []approver.Limit{{What: "T", Most: 1, Within: time.Second}}
		}, 1)
		if unpanicked(func() error { b.add(&send{to: placed("T")}); return nil }) == nil {
			t.Fatal("it did not panic")
		}
		panics = false
		if b.add(&send{to: placed("T")}) == nil { // nobody ends it
			t.Fatal("there was no room")
		}
		began := time.Now()
		end, err := b.waitFor(t.Context(), &send{to: placed("T")}, time.Hour)
		if took := time.Since(began); err != nil || took != turnLife {
			t.Fatalf("the next one came after %v: %v", took, err)
		}
		end(nil)
		end(nil) // has no effect
		if _, err = b.waitFor(t.Context(), &send{to: placed("T")}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if w := b.queues["telegram"].windows["T"]; w.begun != 1 {
			t.Errorf("%d turns are under way", w.begun)
		}
	})
}

// The story: the message that says how many requests wait, and alerts, counted as CATASTROPHIC cards that were too
// late: they went before each of those, and into the room that is kept for them.
func TestNewsComesAfterTheMostUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newPaced(t, newMemKV(), approver.Limit{Most: 2, Within: 40 * time.Second, Urgent: 1})
		why := approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", TTL: time.Hour}
		less := why
		less.Severity = approver.High
		ask := func(call string, why approver.Verdict) {
			go x.Ask(t.Context(), testCall(call), why)
			synctest.Wait()
		}
		ask("high 0", less)
		ask("high 1", less)
		go func() {
			_, _ = x.outages.alerts.postOnce(t.Context(), placed("T"), drawn(approver.Card{Push: "alert"}), time.Hour)
		}()
		synctest.Wait()
		if n := x.tg.count(); n != 1 {
			t.Errorf("%d messages: the alert has taken the room that is kept", n)
		}
		for n := range 3 {
			ask(fmt.Sprint("catastrophic ", n), why)
		}
		for x.tg.count() < 7 { // one says what waits
			time.Sleep(time.Second)
		}
		var order []string
		for n := range x.tg.count() {
			_, card := x.tg.card(n)
			kind := "card"
			switch {
			case card.Push == "alert":
				kind = card.Push
			case strings.Contains(card.Push, "wait for room"):
				kind = "digest"
			case card.Severity == approver.Catastrophic:
				kind = "catastrophic"
			}
			order = append(order, kind)
		}
		want := []string{"card", "catastrophic", "catastrophic", "catastrophic", "alert", "digest", "card"}
		if !slices.Equal(order, want) {
			t.Errorf("in this order: %v", order)
		}
		x.stop()
	})
}

// The story: the message of a chat said that 26 requests wait when it came, but by then they were 22. It says what
// waits when its own turn has come. Where it cannot be brought up to date or posted, it is tried more and more
// slowly, also for its last word.
func TestWhatAChatIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newPaced(t, newMemKV(), approver.Limit{Most: 4, Within: 30 * time.Second})
		var edits atomic.Int64
		var fails atomic.Bool
		x.tg.onUpdate(func(c approver.Card) error {
			if strings.Contains(c.Result, "for room in this chat") {
				edits.Add(1)
				if fails.Load() {
					return errBad
				}
			}
			return nil
		})
		ctx, leave := context.WithCancelCause(t.Context())
		for n := range 15 {
			x.askAsync(ctx, testCall(fmt.Sprint("c", n)), approver.High)
		}
		time.Sleep(31 * time.Second)
		_, others := x.cardsOf(x.known())
		if len(others) != 1 || !strings.Contains(x.tg.at(others[0]).Result, ": 8.") {
			t.Fatalf("%d messages say %q", len(others), x.tg.at(others[0]).Result)
		}
		fails.Store(true)
		leave(approver.ErrGone)
		time.Sleep(5 * time.Minute)
		if n := edits.Load(); n < 4 || n > 11 {
			t.Errorf("its end was tried %d times", n)
		}
		fails.Store(false)
		time.Sleep(2 * time.Minute)
		if card := x.tg.at(others[0]); !strings.Contains(card.Result, "No request waits") {
			t.Errorf("then it says %q", card.Result)
		}
	})
}

// A digest that the platform does not take is not posted every two seconds, and one whose requests have all gone is not
// posted at all.
func TestADigestThatCannotBePosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		x := newRetriedAs(t, newMemKV(), nil, nil, func(s *scripted) approver.Channel {
			return refusing{paced{s, approver.Limit{Most: 20, Within: 40 * time.Second, Urgent: 19}}, &tries}
		}, placed("T"))
		why := approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High, TTL: time.Hour}
		ctx, leave := context.WithCancelCause(t.Context())
		for n := range 60 {
			go x.Ask(ctx, testCall(fmt.Sprint("c", n)), why)
		}
		time.Sleep(10 * time.Minute)
		if n := tries.Load(); n < 3 || n > 14 {
			t.Errorf("it was tried %d times", n)
		}
		leave(approver.ErrGone)
		time.Sleep(time.Minute)
		was := tries.Load()
		time.Sleep(5 * time.Minute)
		if tries.Load() != was {
			t.Error("it is still tried")
		}
		x.stop()
	})
}

// refusing takes no message that says what waits.
type refusing struct {
	paced
	tries *atomic.Int32
}

func (r refusing) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if strings.Contains(card.Push, "for room in this chat") {
		r.tries.Add(1)
		return approver.Ref{}, errors.New("500")
	}
	return r.paced.Post(ctx, to, card)
}
