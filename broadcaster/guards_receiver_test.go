package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// What the process that receives says of itself is told anew when any part of it changes:
// others show it as the state of their own cards.
func TestANoteOfTheReceiverIsComparedWhole(t *testing.T) {
	at := time.Now()
	note := func() Receiving {
		return Receiving{Process: "p", Up: true, Since: at, Problem: "x", Places: []string{"room"}, People: []string{"ada"}}
	}
	if !note().equal(note()) {
		t.Error("the same is another")
	}
	for name, change := range map[string]func(*Receiving){
		"process": func(r *Receiving) { r.Process = "q" }, "up": func(r *Receiving) { r.Up = false },
		"since": func(r *Receiving) { r.Since = at.Add(1) }, "problem": func(r *Receiving) { r.Problem = "" },
		"places": func(r *Receiving) { r.Places = nil }, "people": func(r *Receiving) { r.People = []string{"ada", "bob"} },
	} {
		other := note()
		if change(&other); note().equal(other) {
			t.Errorf("%s: another is the same", name)
		}
	}
}

// Answers may not count where they come, and each reason is named; only a process that is
// well is none.
func TestWhyAnswersMayNotCountElsewhere(t *testing.T) {
	mine := Receiving{Places: []string{"a", "b"}, People: []string{"ada", "bob"}}
	for _, tt := range []struct {
		there Receiving
		want  string
	}{
		{Receiving{Up: true, Places: []string{"a", "b", "c"}, People: []string{"ada", "bob", "eve"}}, ""},
		{Receiving{Up: true, Problem: "once", Places: mine.Places, People: mine.People}, ""},
		{Receiving{Places: mine.Places, People: mine.People}, "does not: it has not reached its platform yet"},
		{Receiving{Problem: "no route", Places: mine.Places, People: mine.People}, "does not: no route"},
		{Receiving{Up: true, Places: []string{"a"}, People: mine.People}, "takes no answers in b: give"},
		{Receiving{Up: true, People: mine.People}, "takes no answers in a, b: give"},
		{Receiving{Up: true, Places: mine.Places, People: []string{"bob"}}, "does not know the approvers ada: give"},
	} {
		if got := tt.there.trouble(mine); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q", tt.there, got)
		}
	}
}

// soloChat receives in one process only, and does not say how that goes.
type soloChat struct {
	*chat
	run func(context.Context) error
}

func (soloChat) LeaseName() string { return "solo:1" }

func (s soloChat) Run(ctx context.Context, _ approver.ReplyFunc) error { return s.run(ctx) }

// What a process tells of itself is of this channel alone: neither the conversations nor
// the people of another one are in it, and none is in it twice.
func TestWhatAProcessTellsOfItsReception(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.stop() // it looks at its parts
		x.tune(func(o *Options) {
			o.Destinations = append(o.Destinations, approver.Destination{Channel: "telegram", Conversation: "A"},
				approver.Destination{
					Channel: "telegram", Conversation: "T", Thread: "7",
				})
		})
		got := x.receivers.receiving(x.tg)
		if !got.Up || !got.Since.IsZero() || !slices.Equal(got.Places, []string{"A", "T"}) ||
			!slices.Equal(got.People, []string{"1", "2"}) {
			t.Errorf("a channel that cannot say: %+v", got)
		}
		down := receiverChat{x.tg, approver.Reception{Problem: "no route", Since: time.Now()}}
		if got := x.receivers.receiving(down); got.Up || got.Problem != "no route" || got.Since.IsZero() {
			t.Errorf("one that hears nothing: %+v", got)
		}
		if got := x.receivers.receiving(receiverChat{
			x.tg, approver.Reception{Up: true, Problem: "over"},
		}); !got.Up || got.Problem != "" {
			t.Errorf("one that hears again: %+v", got)
		}
		x.tune(func(o *Options) { o.Destinations = o.Destinations[:2] })
	})
}

// A channel that receives in one process only may end by itself, as when its token is
// revoked: that is its end, with its own error, and not a reason to let others receive. One
// that cannot say whether it hears counts as hearing for as long as it runs.
func TestTheEndOfAChannelThatReceivesAlone(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		revoked := errors.New("401")
		began, runs := time.Now(), 0
		c := soloChat{x.tg, func(ctx context.Context) error {
			runs++
			if !sleep(ctx, time.Hour) {
				return ctx.Err()
			}
			return revoked
		}}
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Hour)
		defer stop()
		l := newLease(c, x.Store, x.Log)
		if err := x.receivers.runSolo(ctx, c, l); !errors.Is(err, revoked) || runs != 1 ||
			time.Since(began) > time.Hour+time.Minute {
			t.Errorf("after %v and %d runs: %v", time.Since(began), runs, err)
		}
	})
}

// The story: two daemons took turns with the lease, and each wrote under the same key how it
// is. One that had the lease again left the other's note there, which others then showed as
// its own state; and one that had lost it took its own last words for another's.
func TestANoteOfTheReceiverIsOfWhoReceives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		b, w := wired(t, kv, &oneLease{}, "a", "room", "ada")
		key := approver.Key("receiving", w.LeaseName())
		time.Sleep(2 * tellEvery)
		own := kv.record(key)
		var first Receiving
		if err := json.Unmarshal(own.value, &first); err != nil || first.Process == "" || !first.Up {
			t.Fatalf("%s, %v", own.value, err)
		}
		b.Channels.states.leads("wire", false)
		kv.failing(func(_, at string) error {
			if at == key {
				return errors.New("no quorum")
			}
			return nil
		})
		time.Sleep(2 * tellEvery)
		if s := b.Channels.State("wire"); s.There != nil || s.Apart != "" {
			t.Errorf("nobody says anything: %+v", s)
		}
		kv.failing(nil)
		time.Sleep(2 * tellEvery)
		if s := b.Channels.State("wire"); s.There != nil || s.Apart != "" {
			t.Errorf("its own words: %+v", s)
		}
		other, _ := json.Marshal(Receiving{Process: "other", At: time.Now(), Problem: "no route"})
		kv.replace(key, memRecord{other, "r1"})
		time.Sleep(2 * tellEvery)
		if s := b.Channels.State("wire"); s.There == nil || s.There.Process != "other" || s.Apart == "" {
			t.Errorf("another's words: %+v", s)
		}
		kv.replace(key, memRecord{[]byte("no json"), "r2"})
		time.Sleep(2 * tellEvery)
		if s := b.Channels.State("wire"); s.There != nil || s.Apart != "" {
			t.Errorf("words that cannot be read: %+v", s)
		}
		kv.replace(key, memRecord{other, "r3"})
		time.Sleep(2 * tellEvery)
		broken := true // the first write after it has the lease again fails
		kv.failing(func(op, at string) error {
			if broken && op == "put" && at == key {
				broken = false
				return errors.New("no quorum")
			}
			return nil
		})
		b.Channels.states.leads("wire", true)
		time.Sleep(3 * tellEvery)
		kv.failing(nil)
		var again Receiving
		if err := json.Unmarshal(kv.record(key).value, &again); err != nil || again.Process != first.Process {
			t.Errorf("it receives, and the note is %+v, %v", again, err)
		}
		if s := b.Channels.State("wire"); s.There != nil || s.Apart != "" {
			t.Errorf("it receives itself: %+v", s)
		}
	})
}
