package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
)

// A screen that stopped reading must not keep a card that Post reported as
// failed.
func TestFailedPostIsTakenBack(t *testing.T) {
	c := newChannel(t, nil)
	stuck := make(chan struct{})
	events := make(chan terminal.Event, 10)
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() {
		watched <- c.Watch(ctx, ann, func(raw json.RawMessage) error {
			var e terminal.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if e.Type == terminal.EventCard {
				<-stuck
			}
			events <- e
			return nil
		})
	}()
	if e := <-events; e.Type != terminal.EventHello {
		t.Fatalf("first event %+v", e)
	}
	short, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	if _, err := c.Post(short, here, card(t, "r1", approver.High)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Post returned %v", err)
	}
	close(stuck)
	shown, gone := <-events, <-events
	if shown.Type != terminal.EventCard || gone.Type != terminal.EventGone || gone.Message != shown.Message {
		t.Errorf("events %+v and %+v, want a card and that it is gone", shown, gone)
	}
	cancel()
	<-watched
	if late := watch(t, c, ann); len(late.events) != 0 {
		t.Errorf("a late watcher is shown the failed card")
	}
}

func TestSlowWatcherHoldsUpNobody(t *testing.T) {
	c := newChannel(t, nil)
	block := make(chan struct{})
	slow := make(chan error, 1)
	inside := make(chan struct{})
	go func() {
		first := true
		slow <- c.Watch(t.Context(), ann, func(json.RawMessage) error {
			if first {
				first = false
				close(inside)
				<-block
			}
			return nil
		})
	}()
	<-inside
	fast := watch(t, c, ann)
	for i := range 2100 {
		k := card(t, fmt.Sprint("r", i), approver.High)
		ref := post(t, c, k)
		fast.next(t)
		k.State = approver.Expired
		if err := c.Update(t.Context(), ref, k); err != nil {
			t.Fatal(err)
		}
		fast.next(t)
	}
	close(block)
	if err := <-slow; !errors.Is(err, terminal.ErrSlow) {
		t.Errorf("the watcher that is 2100 cards behind got %v", err)
	}
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChannel(t, nil)
		var screens []*screen
		for range 64 {
			screens = append(screens, watch(t, c, ann))
		}
		if err := <-join(t, c, ann).ended; err == nil || !strings.Contains(err.Error(), "64 terminals watch already") {
			t.Errorf("the 65th watcher got %v", err)
		}
		for _, s := range screens[1:] {
			s.leave()
		}
		synctest.Wait()
		k := card(t, "r", approver.High)
		for range 1024 {
			post(t, c, k)
			screens[0].next(t)
		}
		if _, err := c.Post(t.Context(), here, k); err == nil || !strings.Contains(err.Error(), "1024 cards are pending") {
			t.Errorf("the 1025th card got %v", err)
		}
		// Cards that nobody settled do not fill the memory for ever.
		time.Sleep(2*time.Minute + time.Hour + time.Second)
		post(t, c, k)
	})
}

func TestRunEndsWatchAndAnswers(t *testing.T) {
	c := newChannel(t, nil)
	inReply := make(chan struct{})
	var judged atomic.Bool
	stop := run(t, c, func(ctx context.Context, r approver.Reply) approver.Outcome {
		if r.Request == "probe" {
			return approver.Outcome{}
		}
		close(inReply)
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		judged.Store(true)
		return approver.Outcome{Text: "Stopping."}
	})
	s := watch(t, c, ann)
	if err := c.Run(t.Context(), nil); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a second Run returned %v", err)
	}
	answered := make(chan terminal.Answered, 1)
	go func() { answered <- ask(t, c, ann, `{"request":"r1"}`) }()
	<-inReply
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	if !judged.Load() {
		t.Error("Run returned before the answer under way had ended")
	}
	if out := <-answered; out.Text != "Stopping." {
		t.Errorf("the answer under way got %+v", out)
	}
	if err := <-s.ended; !errors.Is(err, terminal.ErrStopped) {
		t.Errorf("Watch returned %v", err)
	}
	if _, err := c.Answer(t.Context(), ann, json.RawMessage(`{"request":"r1"}`)); !errors.Is(err, terminal.ErrStopped) {
		t.Errorf("Answer after Run returned %v", err)
	}
}

// An update that no screen took in time is kept for the next try, but a settled
// card is not shown to those who come later.
func TestUpdateThatNobodyTook(t *testing.T) {
	c := newChannel(t, nil)
	stuck := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	joined := make(chan struct{})
	go func() {
		watched <- c.Watch(ctx, ann, func(raw json.RawMessage) error {
			var e terminal.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if e.Type == terminal.EventHello {
				close(joined)
			}
			if e.Type == terminal.EventUpdate {
				<-stuck
			}
			return nil
		})
	}()
	<-joined
	k := card(t, "r1", approver.High)
	ref := post(t, c, k)
	k.State, k.Result = approver.Expired, "⌛ Expired"
	short, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	if err := c.Update(short, ref, k); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Update returned %v", err)
	}
	late := watch(t, c, ann)
	time.Sleep(20 * time.Millisecond)
	if len(late.events) != 0 {
		t.Errorf("a late watcher is shown the settled card %+v", <-late.events)
	}
	if err := c.Update(t.Context(), ref, k); err != nil {
		t.Errorf("the next try: %v", err)
	}
	if c.Shows(ref) {
		t.Error("the settled card is kept after it was shown")
	}
	close(stuck)
	cancel()
	<-watched
}

// A card that failed before a screen had its turn never shows there, not even
// as something taken back.
func TestFailedPostBeforeItsTurn(t *testing.T) {
	c := newChannel(t, nil)
	stuck, inside := make(chan struct{}), make(chan struct{})
	var got []string
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() {
		watched <- c.Watch(ctx, ann, func(raw json.RawMessage) error {
			if got = append(got, string(raw)); len(got) == 1 {
				close(inside)
				<-stuck
			}
			return nil
		})
	}()
	<-inside
	short, done := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer done()
	if _, err := c.Post(short, here, card(t, "r1", approver.High)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Post returned %v", err)
	}
	close(stuck)
	post(t, c, card(t, "r2", approver.High))
	cancel()
	<-watched
	if len(got) != 2 || !strings.Contains(got[1], `"r2"`) {
		t.Errorf("the screen was shown %q, want a hello and the second card", got)
	}
}
