package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/daemon/daemontest"
	"approver.example/fingerprint"
	"approver.example/store/sqlitestore"
	"approver.example/tokens"
)

// A roomLife is a daemon's, with people who answer.
type roomLife struct {
	t       *testing.T
	dir     string
	room    *daemontest.Room
	store   approver.ClosableKV
	records *audit.Log
	people  *broadcaster.Broadcaster
	trust   *trust
	ctx     context.Context // of its calls
	stop    func()
	asked   sync.WaitGroup
	log     *os.File // all that the daemon logs
	unbound func(approver.ToolCall) []string
}

func startRoom(t *testing.T, p daemontest.Place, dir string, id ...string) *roomLife {
	t.Helper()
	l := &roomLife{t: t, dir: dir, store: p.Open(t, dir),
		room: &daemontest.Room{Ready: make(chan struct{}), Codes: map[string]tokens.Code{}}, trust: &trust{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	l.log, err = os.Create(filepath.Join(dir, "daemon.log"))
	must(err)
	_, l.trust.survives = l.store.(*sqlitestore.Store)
	key, err := audit.LoadOrCreateKey(filepath.Join(dir, "audit.key"))
	must(err)
	l.records, err = audit.Open(t.Context(), audit.Options{
		Dir: filepath.Join(dir, "audit"), ID: strings.Join(append([]string{"here"}, id...), "-"), Key: key, KV: l.store,
		Hold: true, Controls: func() uint64 { return l.trust.mark.Version() }, Changed: l.trust.changed,
		Volatile: !l.trust.survives,
	})
	must(err)
	must(l.trust.judge(t.Context(), l.store, l.records.Opened()))
	people := approver.People{}
	people.Add("room", []approver.Approver{{ID: "1", Name: "Ada"}, {ID: "2", Name: "Bob"}})
	l.people, err = broadcaster.NewBroadcaster(broadcaster.Options{
		Store: l.store, Audit: l.records, SyncRelease: !l.trust.survives, Mark: l.trust.mark, People: people,
		Channels:     []approver.Channel{l.room},
		Destinations: []approver.Destination{{Channel: "room", Conversation: "r"}},
		Limit:        func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: make([]byte, 32),
		Log: slog.New(slog.NewJSONHandler(l.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Fingerprint: func(_ context.Context, c approver.ToolCall) (approver.Binding, error) {
			b, err := fingerprint.Bind(c, "", nil, nil)
			if l.unbound != nil {
				b.Unbound = l.unbound(c)
			}
			return b, err
		},
	})
	must(err)
	must(l.trust.settle(t.Context(), l.people, l.records))
	_, err = l.records.Record(t.Context(), approver.Record{Event: approver.EventStarted, At: time.Now()})
	must(err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	l.ctx = ctx
	var running sync.WaitGroup
	running.Go(func() { _ = l.people.Run(ctx) })
	running.Go(func() { _ = l.trust.watch(l.people, l.records)(ctx) })
	<-l.room.Ready
	l.stop = func() {
		cancel()
		l.asked.Wait()
		running.Wait()
		_ = l.records.Close(context.Background())
		_ = l.store.Close()
		_ = l.log.Close()
	}
	return l
}

// ask asks people about a call, as its courier does, and returns when the card is up.
func (l *roomLife) ask(id string, park bool) (request string, answer chan approver.Verdict) {
	l.t.Helper()
	call := approver.ToolCall{ID: id, Agent: "claude", Session: "s", Tool: "Bash", Command: "git push --force",
		Dir: "/repo", At: time.Now()}
	if park {
		call.ParkAt = time.Now().Add(50 * time.Millisecond)
	}
	return l.askAbout(call, 0)
}

// askAbout is ask for any call, and for how long people have.
func (l *roomLife) askAbout(call approver.ToolCall, ttl time.Duration) (request string, answer chan approver.Verdict) {
	l.t.Helper()
	answer = make(chan approver.Verdict, 1)
	l.asked.Go(func() {
		answer <- l.people.Ask(l.ctx, call,
			approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High, TTL: ttl})
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		open, err := l.people.Requests.Open(l.t.Context())
		if err == nil && len(open) == 1 && len(open[0].Postings) == 1 && open[0].Postings[0].Phase == broadcaster.Posted &&
			l.tells(open[0].ID, "posted") {
			return open[0].ID, answer
		}
		if len(answer) > 0 {
			break
		}
	}
	return "", answer
}

// tells reports whether the audit has an event of a request. It is recorded behind what
// the store knows.
func (l *roomLife) tells(request, event string) bool {
	text, err := os.ReadFile(filepath.Join(l.dir, "audit", "audit.jsonl"))
	if err != nil {
		l.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, request) && strings.Contains(line, `"event":"`+event+`"`) {
			return true
		}
	}
	return false
}

func (l *roomLife) says(request string, yes bool, term approver.Term) {
	l.t.Helper()
	l.room.Mu.Lock()
	code := l.room.Codes[request]
	l.room.Mu.Unlock()
	out := l.room.Reply(l.t.Context(), approver.Reply{
		Channel: "room", Conversation: "r", Sender: "1", Approve: yes, Method: approver.ByCommand, Code: code, Grant: term,
	})
	if out.Kind == approver.OutcomeRefused {
		l.t.Fatalf("the answer was refused: %+v", out)
	}
}

func (l *roomLife) freeze() string {
	l.t.Helper()
	c, _, err := l.people.Controls.Load(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return c.Freeze.Reason
}

// The story: people let a call run, said no, or took a yes back. Somebody put the store
// of a moment before back and killed the daemon, and the call ran once more, or the
// request waited again; everything fitted into the ten seconds that a store may
// honestly lag. Now what the audit says of each request is compared. The embedded store
// never loses what it took, so it freezes; with Redis, which a fail-over can rob of its
// last second, those requests are void, and everything else goes on.
func TestAStoreOfAMomentBefore(t *testing.T) {
	type scene struct {
		act   func(l *roomLife, snap func()) // snap keeps the store as it is then
		after func(l *roomLife)              // with a store that can fail over
	}
	scenes := map[string]scene{
		"released": {act: func(l *roomLife, snap func()) {
			id, answer := l.ask("c1", false)
			snap()
			l.says(id, true, approver.Term{})
			if v := <-answer; v.Decision != approver.Allow {
				l.t.Fatalf("%+v", v)
			}
		}, after: func(l *roomLife) {
			_, answer := l.ask("c1", false)
			select {
			case v := <-answer:
				if v.Decision == approver.Allow {
					l.t.Error("the call ran twice")
				}
			default: // people are asked anew
			}
		}},
		"denied": {act: func(l *roomLife, snap func()) {
			id, answer := l.ask("c1", false)
			snap()
			l.says(id, false, approver.Term{})
			<-answer
		}},
		"a lasting grant revoked": {act: func(l *roomLife, snap func()) {
			id, answer := l.ask("c1", false)
			l.says(id, true, approver.Term{For: 15 * time.Minute})
			<-answer
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if grants, err := l.people.Grants.List(l.t.Context()); err == nil && len(grants) == 1 {
					break
				}
			}
			snap()
			if err := l.people.Grants.Revoke(l.t.Context(), id, "Ada"); err != nil {
				l.t.Fatal(err)
			}
		}},
		"a parked yes revoked": {act: func(l *roomLife, snap func()) {
			id, answer := l.ask("c1", true)
			<-answer
			l.says(id, true, approver.Term{})
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if grants, err := l.people.Grants.List(l.t.Context()); err == nil && len(grants) == 1 {
					break
				}
			}
			snap()
			if err := l.people.Grants.Revoke(l.t.Context(), id, "Ada"); err != nil {
				l.t.Fatal(err)
			}
		}},
		"posted": {act: func(l *roomLife, snap func()) {
			snap()
			l.ask("c1", false)
		}},
		"nothing": {act: func(l *roomLife, snap func()) { l.ask("c1", false); snap() }},
	}
	for storeName, where := range bothPlaces() {
		for name, s := range scenes {
			for _, old := range []bool{true, false} {
				t.Run(storeName+"/"+name+map[bool]string{true: "", false: ", killed"}[old], func(t *testing.T) {
					t.Parallel()
					p := where(t)
					l := startRoom(t, p, t.TempDir())
					var was any
					s.act(l, func() { l.still(); was = p.Snap(t, l.dir) })
					if !old {
						l.still()
						was = p.Snap(t, l.dir)
					}
					time.Sleep(followed)
					killed := image(t, l.dir, storeName == "embedded")
					l.stop()
					p.Put(t, killed, was)
					l = startRoom(t, p, killed)
					defer l.stop()
					lost := old && name != "nothing"
					if frozen := l.freeze() != ""; frozen != (lost && storeName == "embedded") ||
						lost != (len(l.trust.doubts)+len(l.trust.missing) > 0) {
						t.Fatalf("frozen for %q, doubts %q, struck %v", l.freeze(), l.trust.doubts, l.trust.missing)
					}
					if !lost || storeName == "embedded" {
						return
					}
					if open, err := l.people.Requests.Open(t.Context()); err != nil || len(open) > 0 {
						t.Errorf("still open: %d, %v", len(open), err)
					}
					if grants, err := l.people.Grants.List(t.Context()); err != nil || len(grants) > 0 {
						t.Errorf("still granted: %d, %v", len(grants), err)
					}
					if s.after != nil {
						s.after(l)
					}
				})
			}
		}
	}
}

// followed is longer than the log lets lines wait that follow the store. What a daemon that is
// killed before that did last is in the store alone.
const followed = 150 * time.Millisecond

// still waits until the log was not written for as long as the store is told of its end
// late: store and log, which are copied one after the other, are then of one moment.
func (l *roomLife) still() {
	l.t.Helper()
	file := filepath.Join(l.dir, "audit", "audit.jsonl")
	size, since := int64(-1), time.Now()
	for end := time.Now().Add(time.Minute); time.Since(since) < 600*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		i, err := os.Stat(file)
		if err != nil || time.Now().After(end) {
			l.t.Fatalf("the log does not come to rest: %v", err)
		}
		if i.Size() != size {
			size, since = i.Size(), time.Now()
		}
	}
}

// What is lost longer ago than a fail-over explains is a freeze with Redis as well.
func TestWhatAFailOverExplains(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		survives bool
		ago      []time.Duration
		struck   int
		doubt    bool
	}{
		"nothing":                     {},
		"nothing, in a file":          {survives: true},
		"a second":                    {ago: []time.Duration{time.Second, 0}, struck: 2},
		"ten seconds":                 {ago: []time.Duration{audit.MaxLag}, struck: 1},
		"more":                        {ago: []time.Duration{audit.MaxLag + 1}, doubt: true},
		"one of them":                 {ago: []time.Duration{time.Hour, time.Second}, doubt: true},
		"a second, in a file":         {survives: true, ago: []time.Duration{time.Second}, doubt: true},
		"this very moment, in a file": {survives: true, ago: []time.Duration{0}, doubt: true},
	} {
		tr := trust{survives: tt.survives, end: now}
		var missing []approver.Told
		for _, ago := range tt.ago {
			missing = append(missing, approver.Told{Request: "r", Event: approver.EventReleased, At: now.Add(-ago)})
		}
		tr.lacks(missing)
		if len(tr.missing) != tt.struck || (len(tr.doubts) > 0) != tt.doubt {
			t.Errorf("%s: struck %d, doubts %q", name, len(tr.missing), tr.doubts)
		}
	}
}
