package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/terminal"
	"approver.example/display"
	"approver.example/tokens"
)

var (
	ann      = approver.Peer{Known: true, UID: 1001, GID: 1001, PID: 7}
	stranger = approver.Peer{Known: true, UID: 1003}
	here     = approver.Destination{Channel: "terminal", Conversation: "local"}
)

func config(change func(*terminal.Config)) terminal.Config {
	cfg := terminal.Config{
		Approvers:    []approver.Approver{{ID: "1001", Name: "Ann"}, {ID: "0", Name: "root"}},
		AllowAnswers: true,
		Isolated:     true,
	}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

func newChannel(t *testing.T, change func(*terminal.Config)) *terminal.Channel {
	t.Helper()
	c, err := terminal.New(config(change), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recorder is a reply function that records.
type recorder struct {
	mu      sync.Mutex
	replies []approver.Reply
	outcome approver.Outcome
}

func (r *recorder) reply(_ context.Context, reply approver.Reply) approver.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = append(r.replies, reply)
	return r.outcome
}

func (r *recorder) got() []approver.Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]approver.Reply(nil), r.replies...)
}

// run runs the channel until the test ends.
func run(t *testing.T, c *terminal.Channel, reply approver.ReplyFunc) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, reply) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	for range 1000 { // Answer tells when Run runs; an empty answer disturbs nobody
		if _, err := c.Answer(t.Context(), ann, json.RawMessage(`{"request":"probe"}`)); !errors.Is(err,
			terminal.ErrStopped) {
			return stop
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("Run does not run")
	return nil
}

// started runs the channel with a recorder that has forgotten run's probe.
func started(t *testing.T, c *terminal.Channel) *recorder {
	t.Helper()
	r := &recorder{outcome: approver.Outcome{Kind: approver.OutcomeRecorded, Text: "Noted."}}
	run(t, c, r.reply)
	r.mu.Lock()
	r.replies = nil
	r.mu.Unlock()
	return r
}

// screen collects what one watcher is shown.
type screen struct {
	events chan terminal.Event
	ended  chan error
	leave  context.CancelFunc
}

func watch(t *testing.T, c *terminal.Channel, peer approver.Peer) *screen {
	t.Helper()
	s := join(t, c, peer)
	if e := s.next(t); e.Type != terminal.EventHello {
		t.Fatalf("the first event is %+v, want a hello", e)
	}
	return s
}

func join(t *testing.T, c *terminal.Channel, peer approver.Peer) *screen {
	ctx, cancel := context.WithCancel(context.Background())
	s := &screen{events: make(chan terminal.Event, 100), ended: make(chan error, 1), leave: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ended <- c.Watch(ctx, peer, func(raw json.RawMessage) error {
			var e terminal.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			s.events <- e
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

func (s *screen) next(t *testing.T) terminal.Event {
	t.Helper()
	select {
	case e := <-s.events:
		return e
	case err := <-s.ended:
		t.Fatalf("Watch ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("no event")
	}
	return terminal.Event{}
}

func code(t *testing.T) tokens.Code {
	t.Helper()
	c, err := tokens.Mint(tokens.MinLength)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func card(t *testing.T, id string, sev approver.Severity) approver.Card {
	now := time.Now()
	return approver.Card{
		Request: id, State: approver.Pending, Severity: sev, OneTap: sev == approver.High,
		Push: display.PushLine(sev.String(), "Build "+id, ""), Body: channeltest.Command("make " + id), Context: "claude",
		Code: code(t), Created: now, Due: now.Add(2 * time.Minute),
	}
}

func post(t *testing.T, c *terminal.Channel, k approver.Card) approver.Ref {
	t.Helper()
	ref, err := c.Post(t.Context(), here, k)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func ask(t *testing.T, c *terminal.Channel, peer approver.Peer, body string) terminal.Answered {
	t.Helper()
	raw, err := c.Answer(t.Context(), peer, json.RawMessage(body))
	if err != nil {
		t.Fatalf("Answer(%s): %v", body, err)
	}
	var out terminal.Answered
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		ids  []string
		want []string // parts of the error; none: valid
	}{
		"good":         {ids: []string{"0", "1001", "4294967294"}},
		"nobody":       {want: []string{"approvers is empty"}},
		"a login name": {ids: []string{"ann"}, want: []string{`approvers[0].id: "ann" is not a uid`}},
		"empty":        {ids: []string{""}, want: []string{`approvers[0].id: "" is not a uid`}},
		"leading zero": {ids: []string{"01001"}, want: []string{"approvers[0]"}},
		"sign":         {ids: []string{"+1001", "-1"}, want: []string{"approvers[0]", "approvers[1]"}},
		"hex":          {ids: []string{"0x3e9"}, want: []string{"approvers[0]"}},
		"space":        {ids: []string{" 1001"}, want: []string{"approvers[0]"}},
		"too great":    {ids: []string{"4294967296"}, want: []string{"approvers[0]"}},
		"nobody's uid": {ids: []string{"4294967295"}, want: []string{"means nobody"}},
		"twice":        {ids: []string{"1001", "1001"}, want: []string{"approvers[1].id: uid 1001 is listed twice"}},
		"all at once": {ids: []string{"ann", "1001", "bob", "1001"},
			want: []string{"approvers[0]", "approvers[2]", "approvers[3]"}},
		"other digits":  {ids: []string{"１００１"}, want: []string{"approvers[0]"}},
		"trailing text": {ids: []string{"1001,1002"}, want: []string{"approvers[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			var cfg terminal.Config
			for _, id := range c.ids {
				cfg.Approvers = append(cfg.Approvers, approver.Approver{ID: id})
			}
			_, err := terminal.New(cfg, slog.New(slog.DiscardHandler))
			if len(c.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("the channel starts")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestDestinations(t *testing.T) {
	if got := (terminal.Config{}).Destinations(); len(got) != 0 {
		t.Errorf("nobody may watch, and the destinations are %v", got)
	}
	if got := config(nil).Destinations(); len(got) != 1 || got[0] != here {
		t.Errorf("destinations %v, want %v", got, here)
	}
}

func TestWatchIsForApproversOnly(t *testing.T) {
	c := newChannel(t, nil)
	for name, peer := range map[string]approver.Peer{
		"a stranger":                             stranger,
		"nobody":                                 {},
		"uid 0, but not by the kernel's word":    {UID: 0},
		"uid 1001, but not by the kernel's word": {UID: 1001},
		"the group of an approver":               {Known: true, UID: 1003, GID: 1001},
	} {
		s := join(t, c, peer)
		if err := <-s.ended; !errors.Is(err, terminal.ErrStranger) {
			t.Errorf("%s: Watch returned %v", name, err)
		}
		if len(s.events) != 0 {
			t.Errorf("%s was shown %+v", name, <-s.events)
		}
	}
	watch(t, c, ann)
	watch(t, c, approver.Peer{Known: true})
}

func TestPostNeedsAWatcher(t *testing.T) {
	c := newChannel(t, nil)
	_, err := c.Post(t.Context(), here, card(t, "r1", approver.High))
	if !errors.Is(err, terminal.ErrNobody) || !errors.Is(err, approver.ErrFinal) {
		t.Fatalf("Post returned %v", err)
	}
	s := watch(t, c, ann)
	if len(s.events) != 0 {
		t.Errorf("the card that could not be posted is shown: %+v", <-s.events)
	}
	s.leave()
	<-s.ended
	if _, err = c.Post(t.Context(), here, card(t, "r1", approver.High)); !errors.Is(err, terminal.ErrNobody) ||
		!errors.Is(err, approver.ErrFinal) {
		t.Errorf("after the last one left, Post returned %v", err)
	}
}

func TestPostElsewhere(t *testing.T) {
	c := newChannel(t, nil)
	watch(t, c, ann)
	for _, to := range []approver.Destination{
		{}, {Channel: "slack", Conversation: "local"}, {Channel: "terminal"}, {Channel: "terminal", Conversation: "remote"},
		{Channel: "terminal", Conversation: "local", Thread: "1"},
	} {
		if ref, err := c.Post(t.Context(), to, card(t, "r1", approver.High)); err == nil {
			t.Errorf("Post to %+v returned %+v", to, ref)
		}
	}
}

func TestLateWatcherSeesWhatIsPending(t *testing.T) {
	c := newChannel(t, nil)
	first := watch(t, c, ann)
	var refs []approver.Ref
	for i := range 4 {
		refs = append(refs, post(t, c, card(t, fmt.Sprint("r", i), approver.High)))
		first.next(t)
	}
	done := card(t, "r1", approver.High)
	done.State, done.Result = approver.Denied, "⛔ Denied"
	if err := c.Update(t.Context(), refs[1], done); err != nil {
		t.Fatal(err)
	}
	if e := first.next(t); e.Type != terminal.EventUpdate || e.Message != refs[1].Message ||
		e.Card.Result != "⛔ Denied" || e.Offer != (terminal.Offer{}) {
		t.Errorf("the update is %+v", e)
	}
	first.leave()
	<-first.ended

	late := watch(t, c, ann)
	for _, i := range []int{0, 2, 3} {
		if e := late.next(t); e.Type != terminal.EventCard || e.Message != refs[i].Message ||
			e.Card.Request != fmt.Sprint("r", i) {
			t.Errorf("the late watcher is shown %+v, want card %d", e, i)
		}
	}
	if len(late.events) != 0 {
		t.Errorf("the late watcher is shown %+v besides", <-late.events)
	}
	for i, ref := range refs {
		if got, want := c.Shows(ref), i != 1; got != want {
			t.Errorf("Shows(card %d) is %v", i, got)
		}
	}
}

func TestWatchesCountsWhoWatchesAndDid(t *testing.T) {
	c := newChannel(t, nil)
	want := func(now, ever int) {
		t.Helper()
		deadline := time.Now().Add(30 * time.Second)
		for {
			n, e := c.Watches()
			if n == now && e == ever {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d watch and %d ever did, want %d and %d", n, e, now, ever)
			}
			time.Sleep(time.Millisecond)
		}
	}
	want(0, 0)
	first := watch(t, c, ann)
	want(1, 1)
	watch(t, c, ann)
	want(2, 2)
	first.leave()
	want(1, 2)
}

func TestShows(t *testing.T) {
	c := newChannel(t, nil)
	watch(t, c, ann)
	ref := post(t, c, card(t, "r1", approver.High))
	if !c.Shows(ref) {
		t.Error("a posted card is not shown")
	}
	for name, other := range map[string]approver.Ref{
		"nothing":         {},
		"another message": {Destination: here, Message: "other"},
		"another channel's ref": {Destination: approver.Destination{Channel: "slack", Conversation: "local"},
			Message: ref.Message},
	} {
		if c.Shows(other) {
			t.Errorf("%s is shown", name)
		}
	}
	if restarted := newChannel(t, nil); restarted.Shows(ref) {
		t.Error("the card outlived the process")
	}
}

func TestUpdateOfAForgottenMessage(t *testing.T) {
	c := newChannel(t, nil)
	watch(t, c, ann)
	ref := approver.Ref{Destination: here, Message: "from an earlier process"}
	pending := card(t, "r1", approver.High)
	if err := c.Update(t.Context(), ref, pending); err == nil {
		t.Error("a pending card that is on no screen was updated")
	}
	pending.State = approver.Expired
	if err := c.Update(t.Context(), ref, pending); err != nil {
		t.Errorf("a settled card on no screen: %v", err)
	}
}
