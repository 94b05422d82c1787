package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// everySecond looks for so long, once a second and a bit, so that it meets all phases.
func everySecond(d time.Duration, look func()) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(1100 * time.Millisecond) {
		look()
	}
}

// One daemon had a Redis to itself. Its token was revoked, or its platform hung: it stepped
// aside again and again, for nobody. Each time status said for a moment that the channel
// receives in another daemon, with exit code 0, "since" began anew, and the line that
// nobody can approve went away. There is no other daemon: now none of it changes until the
// platform is back.
func TestStepsAsideForNobody(t *testing.T) {
	for name, hangs := range map[string]bool{"revoked": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, w := wired(t, newMemKV(), &oneLease{}, "a", "room", "ada")
				time.Sleep(10 * time.Second)
				if s := b.Channels.State("wire"); !s.Hearing().Here || b.Approvers.Nobody(approver.High) != "" {
					t.Fatalf("at first: %+v", s)
				}
				w.set(true)
				time.Sleep(2 * time.Second) // until it has failed once
				w.hang(hangs)
				was := b.Channels.State("wire")
				aside := false
				everySecond(time.Hour, func() {
					s := b.Channels.State("wire")
					aside = aside || !s.Leads
					if now := s.Hearing(); now.Here || now.Elsewhere || now.Why != "no route" {
						t.Errorf("leads %v: %+v", s.Leads, now)
					}
					if !s.Since.Equal(was.Since) || !s.Good.Equal(was.Good) {
						t.Errorf("it does not receive since %v and last did at %v; before: %v, %v", s.Since, s.Good, was.Since, was.Good)
					}
					if b.Approvers.Nobody(approver.High) == "" {
						t.Error("somebody can approve")
					}
				})
				if !aside {
					t.Error("it never stepped aside: this tests nothing")
				}
				w.hang(false)
				w.set(false)
				time.Sleep(asideFor + approver.LeaseTTL + time.Second)
				if s := b.Channels.State("wire"); !s.Hearing().Here || b.Approvers.Nobody(approver.High) != "" {
					t.Errorf("later: %+v", s)
				}
			})
		})
	}
}

// Two daemons shared a store and a bot, and the platform hung for both. Each took its turn
// with a meter that had noted nothing yet, and the other said of it that it receives. Now
// who is not up does not receive, whatever it knows of the cause.
func TestOfTwoDeafOnesNoneSaysThatTheOtherHears(t *testing.T) {
	for name, fresh := range map[string]bool{"they failed": false, "they never heard anything": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv, lease := newMemKV(), &oneLease{}
				b1, w1 := wiredAs(t, kv, lease, "a", "room", "ada", &wire{hung: fresh})
				b2, w2 := wiredAs(t, kv, lease, "b", "room", "ada", &wire{hung: fresh})
				w1.set(true)
				w2.set(true)
				time.Sleep(3 * tellEvery) // until one has failed, said so, and was read
				w1.hang(true)
				w2.hang(true)
				led := map[*Broadcaster]bool{}
				everySecond(time.Hour, func() {
					for _, b := range []*Broadcaster{b1, b2} {
						s := b.Channels.State("wire")
						led[b] = led[b] || s.Leads
						if now := s.Hearing(); now.Here || now.Elsewhere || now.Why == "" || b.Approvers.Nobody(approver.High) == "" {
							t.Errorf("leads %v: %+v", s.Leads, now)
						}
					}
				})
				if len(led) != 2 || !led[b1] || !led[b2] {
					t.Error("they did not take turns: this tests nothing")
				}
			})
		})
	}
}

// What the daemon that receives says counts for some seconds. A note that stays in the
// store of one that is gone is nobody's word.
func TestAnOldNoteIsNobodysWord(t *testing.T) {
	for name, tt := range map[string]struct {
		age  time.Duration
		note string // instead of a whole one
		want bool
	}{
		"now":                   {0, "", true},
		"of a moment ago":       {wordFor, "", true},
		"of a minute ago":       {time.Minute, "", false},
		"of a day ago":          {24 * time.Hour, "", false},
		"a little in advance":   {-time.Second, "", true},
		"of tomorrow":           {-24 * time.Hour, "", false},
		"one without a time":    {0, `{"process":"p","up":true,"places":["room"],"people":["ada"]}`, false},
		"one that is no note":   {0, `[]`, false},
		"one with nothing":      {0, `{}`, false},
		"one that is cut":       {0, `{"process":"p","up":tr`, false},
		"one with a wrong time": {0, `{"process":"p","at":"now","up":true}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				b := composed(Options{Store: kv, Log: slog.New(slog.DiscardHandler)})
				note := []byte(tt.note)
				if tt.note == "" {
					var err error
					note, err = json.Marshal(Receiving{
						Process: "p", At: time.Now().Add(-tt.age), Up: true, Places: []string{"room"}, People: []string{"ada"},
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				key := approver.Key("receiving", "wire:1")
				if err := kv.Put(t.Context(), key, note, "", approver.NewRev(), time.Time{},
					time.Now().Add(controlsKeep)); err != nil {
					t.Fatal(err)
				}
				there, trouble := b.receivers.lookElsewhere(t.Context(), &wire{}, []string{"wire:1"}, Receiving{
					Places: []string{"room"}, People: []string{"ada"},
				})
				if (there != nil) != tt.want || trouble != "" {
					t.Errorf("%+v, %q", there, trouble)
				}
			})
		})
	}
}

// A daemon that has received for long says so anew, so that its word stays fresh; and
// another one that takes over has not been deaf for all that time.
func TestTheWordOfWhoReceivesStaysFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		b1, w1 := wired(t, kv, lease, "a", "room", "ada")
		b2, w2 := wired(t, kv, lease, "b", "room", "ada")
		time.Sleep(time.Second) // until one of them leads
		if !b1.Channels.State("wire").Leads {
			b1, w1, b2, w2 = b2, w2, b1, w1
		}
		time.Sleep(2 * tellEvery)
		everySecond(time.Hour, func() {
			if now := b2.Channels.State("wire").Hearing(); !now.Elsewhere || now.Why != "" {
				t.Errorf("%+v", now)
			}
		})
		began := time.Now()
		w2.set(true)
		w1.set(true)
		time.Sleep(time.Minute)
		for _, b := range []*Broadcaster{b1, b2} {
			if s := b.Channels.State("wire"); s.Since.Before(began.Add(-tellEvery)) || s.Good.Before(began.Add(-2*tellEvery)) ||
				s.Hearing().Why == "" {
				t.Errorf("it does not receive since %v before, last %v before: %+v", began.Sub(s.Since), began.Sub(s.Good),
					s.Hearing())
			}
		}
	})
}

// The token of a daemon alone on its store was revoked. The channel was run again, stepped
// aside after some seconds, and just then the log said that it is back: it had only waited
// for its lease for long enough. Cards were posted again with buttons that nobody heard.
func TestWhoStepsAsideIsNotBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newBench(t, newMemKV()).Options
		var log lines
		c := &revoked{chat: newChat("telegram")}
		o.Store, o.Log, o.Channels, o.Destinations = newMemKV(), log.log(), []approver.Channel{c}, o.Destinations[:1]
		b, err := NewBroadcaster(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = b.Run(ctx) })
		time.Sleep(30 * time.Second)
		everySecond(time.Hour, func() {
			if b.Channels.Deaf("telegram") == nil {
				t.Error("it counts as back")
			}
		})
		if log.count("is back") > 0 {
			t.Errorf("the log:\n%s", log.b.String())
		}
		c.set(true)
		time.Sleep(2 * maxDeafFor)
		if s := b.Channels.State("telegram"); b.Channels.Deaf("telegram") != nil || !s.Hearing().Here ||
			log.count("is back") != 1 {
			t.Errorf("once it is mended: %+v\n%s", s, log.b.String())
		}
		cancel()
		all.Wait()
	})
}

// revoked is a chat that receives in one process only, and whose token is not taken: that
// ends its first run, and each later one asks whether it is for longer than patience lasts.
type revoked struct {
	*chat
	approver.ReceptionMeter
	mu     sync.Mutex
	mended bool
	ran    int
}

func (*revoked) LeaseName() string { return "revoked" }

func (r *revoked) set(mended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mended = mended
}

func (r *revoked) Run(ctx context.Context, _ approver.ReplyFunc) error {
	r.mu.Lock()
	r.ran++
	first := r.ran == 1
	r.mu.Unlock()
	for {
		r.mu.Lock()
		mended := r.mended
		r.mu.Unlock()
		if mended {
			r.Succeeded()
		} else {
			r.Failed(errors.New("401"))
		}
		if first {
			return errors.New("401")
		}
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// A run that is over hears nothing, and keeps what it knew of a failure.
func TestAMeterThatStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m approver.ReceptionMeter
		m.Stopped()
		if got := m.Reception(); got != (approver.Reception{}) {
			t.Errorf("before the first try: %+v", got)
		}
		m.Succeeded()
		time.Sleep(time.Second)
		m.Stopped()
		if got := m.Reception(); got.Up || got.Problem == "" || !got.Since.Equal(time.Now()) || got.Good.IsZero() {
			t.Errorf("after it was up: %+v", got)
		}
		m.Failed(errors.New("502"))
		was := m.Reception()
		time.Sleep(time.Second)
		if m.Stopped(); m.Reception() != was {
			t.Errorf("after it was down: %+v, before %+v", m.Reception(), was)
		}
	})
}
