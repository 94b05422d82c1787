package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/calls"
)

// A shelf is a memory that processes share.
type shelf struct {
	mu   sync.Mutex
	what []byte
	at   time.Time
	kept int
}

func (s *shelf) Recall(context.Context) ([]byte, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.what), time.Since(s.at), nil
}

func (s *shelf) Keep(_ context.Context, what []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.what, s.at = slices.Clone(what), time.Now()
	s.kept++
	return nil
}

// times is how often something was kept.
func (s *shelf) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// has is what was kept last.
func (s *shelf) has() (k kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.Unmarshal(s.what, &k)
	return k
}

// image is the shelf as a crash leaves it.
func (s *shelf) image() *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &shelf{what: slices.Clone(s.what), at: s.at}
}

// next makes another process with the bench's bot.
func (b *bench) next(m approver.Memory) *bench {
	b.t.Helper()
	other := &bench{t: b.t, s: b.s, log: &strings.Builder{}, cfg: b.cfg, here: b.here, there: b.there}
	other.ann, other.bob = b.ann, b.bob
	other.lock = &locked{w: other.log}
	c, err := New(other.cfg, slog.New(slog.NewTextHandler(other.lock, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		b.t.Fatal(err)
	}
	c.backoff.First = 20 * time.Millisecond
	c.Remember(m)
	other.c = c
	return other
}

// The story: the daemon that was connected was stopped, and until the next one had connected, people pressed buttons
// that nobody ever heard of, because a new session began. The next one takes the session up now, in whatever process,
// and knows what it has to know without Discord's greeting.
func TestTheNextProcessTakesTheSessionUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m := &shelf{}
	b.c.Remember(m)
	b.connected()
	card := high()
	ref := b.post(b.here, card)
	if _, err := b.stop(); err != nil {
		t.Fatal(err)
	}
	if err := b.s.TapUnheard(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	other := b.next(m).run(nil)
	if r := other.one(0); r.Request != card.Request || r.Approve || other.event(0) == "" {
		t.Errorf("got %+v", r)
	}
	if b.s.Identified() != 1 || b.s.Resumed() != 1 {
		t.Errorf("%d sessions, %d taken up again", b.s.Identified(), b.s.Resumed())
	}
	if app, bot := other.c.self(); app == "" || bot == "" {
		t.Error("it does not know who it is")
	}
	// A message answers a card of ours only if we know who we are.
	if !b.s.ReplyMentioning(b.ann, b.here, b.post(b.here, high()).Message, "no") {
		t.Fatal("no reply")
	}
	if r := other.one(1); r.Approve || r.Message == "" {
		t.Errorf("got %+v", r)
	}
}

// An event counts as handled only once it is: one that was in work when its process was killed comes again, to the
// next one, under the same name.
func TestAnEventInWorkComesAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m, release := &shelf{}, make(chan struct{})
	b.c.Remember(m)
	b.run(func(ctx context.Context, r approver.Reply) approver.Outcome {
		if r.Sender == b.ann {
			<-release
		}
		return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "noted"}
	})
	b.until("the connection", func() bool { return b.c.Reception().Up })
	card := high()
	ref := b.post(b.here, card)
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.until("the press", func() bool { return len(b.got()) == 1 })
	first := b.event(0)
	if err := b.s.Tap(b.bob, b.here, ref.Message, fake.DenyButton); err != nil { // which is handled
		t.Fatal(err)
	}
	b.until("the other press", func() bool { return len(b.got()) == 2 })
	time.Sleep(keepEvery + keepEvery/2)
	crash := m.image()
	if k := crash.has(); k.Session == "" {
		t.Fatalf("kept: %+v", k)
	}
	b.cancel() // it is still at work, and what it keeps is lost
	other := b.next(crash).run(nil)
	other.until("both presses again", func() bool { return len(other.got()) == 2 })
	of := map[string]string{}
	for n, r := range other.got() {
		of[r.Sender] = other.event(n)
	}
	if of[b.ann] != first || first == "" || of[b.bob] == "" || of[b.bob] == first {
		t.Errorf("the events %v; that of the first press was %q", of, first)
	}
	if b.s.Resumed() == 0 {
		t.Error("it did not take the session up")
	}
	close(release)
	_, _ = b.stop()
	_, _ = other.stop() // once all is handled, nothing comes again
	third := b.next(crash).run(nil)
	third.until("the connection", func() bool { return third.c.Reception().Up })
	third.nothing("after all was handled")
}

// If Discord refuses to take the session up, a new one begins, and that is counted.
func TestASessionThatIsOverIsBegunAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m := &shelf{at: time.Now()}
	var err error
	if m.what, err = json.Marshal(kept{
		Session: "over", Address: "ws://" + b.s.Addr + "/gateway", Seq: 9, App: "1", Bot: "2", Intents: b.c.intents(),
	}); err != nil {
		t.Fatal(err)
	}
	b.c.Remember(m)
	b.connected()
	if b.s.Identified() != 1 || b.s.Resumed() != 0 {
		t.Errorf("%d sessions, %d taken up again", b.s.Identified(), b.s.Resumed())
	}
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.one(0)
	b.until("the new session to be kept", func() bool { k := m.has(); return k.Session != "over" && !k.Began.IsZero() })
}

// What is kept is taken up only where it fits.
func TestWhatIsTakenUp(t *testing.T) {
	whole := kept{Session: "s", Address: "wss://g", Seq: 7, App: "11", Bot: "22", Full: time.Now().Add(time.Hour)}
	for name, c := range map[string]struct {
		change func(*kept, *Config)
		age    time.Duration
		want   bool
	}{
		"whole":                   {want: true},
		"old":                     {age: resumable + time.Second},
		"no session":              {change: func(k *kept, _ *Config) { k.Session = "" }},
		"no application":          {change: func(k *kept, _ *Config) { k.App = "" }},
		"no bot":                  {change: func(k *kept, _ *Config) { k.Bot = "" }},
		"other events are wanted": {change: func(_ *kept, c *Config) { c.TextApprovals = true }},
		"another application":     {change: func(_ *kept, c *Config) { c.ApplicationID = "12" }},
		"the same application":    {change: func(_ *kept, c *Config) { c.ApplicationID = "11" }, want: true},
	} {
		c0, k := &Channel{log: slog.New(slog.DiscardHandler)}, whole
		k.Intents = c0.intents()
		if c.change != nil {
			c.change(&k, &c0.cfg)
		}
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		c0.Remember(&shelf{what: text, at: time.Now().Add(-c.age)})
		j := newJournal(c0)
		s := j.recall(t.Context())
		if (s != session{}) != c.want || c.want && s != (session{"s", "wss://g", 7}) {
			t.Errorf("%s: %+v", name, s)
		}
		if app, bot := c0.self(); (app != "") != c.want || (bot != "") != c.want {
			t.Errorf("%s: it is %q, %q", name, app, bot)
		}
		if !j.now.Full.Equal(whole.Full) {
			t.Errorf("%s: how many sessions were begun is forgotten", name)
		}
	}
	for name, m := range map[string]approver.Memory{
		"nothing": &shelf{}, "no json": &shelf{what: []byte("{"), at: time.Now()}, "no memory": nil,
	} {
		c := &Channel{log: slog.New(slog.DiscardHandler)}
		c.memory = m
		if s := newJournal(c).recall(t.Context()); s != (session{}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The story: a daemon crashed right after its start, and its service manager started it again each second. After a
// quarter of an hour the bot had begun its thousand sessions, and Discord reset its token. Sessions are counted over
// all processes now: fewer than a thousand begin in any day, no two within five seconds, and a few restarts wait
// for nothing but that.
func TestACrashLoopLeavesSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Channel{log: slog.New(slog.DiscardHandler)}
		m := &shelf{}
		c.Remember(m)
		var begun []time.Time
		for start := time.Now(); time.Since(start) < 49*time.Hour; {
			j := newJournal(c) // a new process
			_ = j.recall(t.Context())
			if err := j.mayBegin(t.Context()); err != nil {
				if wait := calls.Asked(err); wait <= 0 || wait > sessionEvery {
					t.Fatalf("it waits for %v: %v", wait, err)
				}
				time.Sleep(time.Second)
				continue
			}
			if n := len(begun); n > 0 && time.Since(begun[n-1]) < sessionApart {
				t.Fatalf("two within %v", time.Since(begun[n-1]))
			}
			begun = append(begun, time.Now())
			time.Sleep(time.Second)
		}
		if took := begun[sessionsAtOnce-1].Sub(begun[0]); took > sessionsAtOnce*sessionApart {
			t.Errorf("the first %d took %v", sessionsAtOnce, took)
		}
		most := 0
		for i, last := range begun {
			n := 0
			for k := i; k >= 0 && last.Sub(begun[k]) < 24*time.Hour; k-- {
				n++
			}
			most = max(most, n)
		}
		if most >= 1000 || most < 800 {
			t.Errorf("%d in a day", most)
		}
	})
}

// A store that is away costs nobody the answers, and nothing is kept that is not news.
func TestTheJournalIsKeptWhenItIsNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Channel{log: slog.New(slog.DiscardHandler)}
		m := &shelf{}
		c.Remember(m)
		j := newJournal(c)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); j.run(ctx) }()
		end := j.begin(3)
		j.note(session{id: "s", address: "wss://g", seq: 5})
		time.Sleep(keepEvery + time.Millisecond)
		if k := m.has(); k.Session != "s" || k.Seq != 2 {
			t.Errorf("with an event in work: %+v", k)
		}
		end()
		time.Sleep(keepEvery)
		was := m.image()
		if k := m.has(); k.Seq != 5 || m.times() != 2 {
			t.Errorf("once it is handled: %+v, kept %d times", k, m.times())
		}
		time.Sleep(keepAnew)
		if m.times() != 3 || !bytes.Equal(m.image().what, was.what) {
			t.Errorf("within a minute it was kept %d times", m.times())
		}
		j.note(session{}) // it is over
		cancel()
		<-done
		if j.leave(); m.has().Session != "" {
			t.Errorf("left: %+v", m.has())
		}
	})
}
