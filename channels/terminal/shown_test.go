package terminal_test

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
)

// A card was on a screen, the watch was closed, and another identical call joined. The edit
// that counts it reached nobody and passed for shown, so the yes to the card that was read
// released a call that no screen ever named. An edit of a card that waits says now that
// nobody saw it; of a settled one there is nothing left to see.
func TestAnEditThatNobodySees(t *testing.T) {
	for name, c := range map[string]struct {
		watched bool
		state   approver.State
		seen    bool
	}{
		"waiting, watched": {true, approver.Pending, true}, "waiting, unwatched": {false, approver.Pending, false},
		"settled, watched": {true, approver.Expired, true}, "settled, unwatched": {false, approver.Expired, true},
		"granted, unwatched": {false, approver.Consumed, true}, "replaced, unwatched": {false, approver.Withdrawn, true},
	} {
		t.Run(name, func(t *testing.T) {
			ch := newChannel(t, nil)
			s := watch(t, ch, ann)
			k := card(t, "r1", approver.High)
			ref := post(t, ch, k)
			s.next(t)
			if !c.watched {
				s.leave()
				<-s.ended
			}
			k.Warnings, k.Upto, k.State = []string{"2 identical calls wait: a yes runs each of them once."}, 1, c.state
			err := ch.Update(t.Context(), ref, k)
			if c.seen != (err == nil) || !c.seen && (!errors.Is(err, terminal.ErrNobody) || !errors.Is(err, approver.ErrFinal)) {
				t.Errorf("the edit: %v", err)
			}
			if c.state != approver.Pending {
				return
			}
			// Whoever comes sees it as it is.
			if e := watch(t, ch, ann).next(t); e.Card.Upto != 1 || !slices.Equal(e.Card.Warnings, k.Warnings) {
				t.Errorf("%+v", e.Card)
			}
		})
	}
}

// stopped is a screen that can be stopped, as by Ctrl-S: what is written to it waits.
type stopped struct {
	*console
	mu sync.Mutex
}

func (s *stopped) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.console.Write(p)
}

// A yes typed in approver watch is for the calls that this very screen had drawn when it was
// typed: not for what another screen shows, and not for what waited in a stopped one.
func TestAnswersSayWhatTheScreenShowed(t *testing.T) {
	out := &stopped{}
	c := sit(t, func(u *terminal.UI) { u.Out = out })
	out.console = c
	c.show(hello())
	e := shown(t, "a", approver.High)
	code := e.Card.Code.Reveal()
	more := func(upto int) {
		e.Type, e.Rev, e.Card.Upto = terminal.EventUpdate, e.Rev+1, upto
		c.show(e)
	}
	answers := 0
	want := func(line string, shown int) {
		t.Helper()
		c.types("list") // so that the screen has drawn all
		c.sees("until")
		c.types(line)
		answers++
		for end := time.Now().Add(20 * time.Second); len(c.answered()) < answers &&
			time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		if got := c.answered(); len(got) != answers || got[answers-1].Shown != shown {
			t.Fatalf("%s: %+v, want %d shown", line, got, shown)
		}
	}
	c.show(e)
	want("y 1", 0)
	more(1)
	for _, line := range []string{"y 1", "n 1", "1 " + code, "y 1 " + code, code, "/approve " + code,
		"/approve " + code + " 15m", "no " + code} {
		want(line, 1)
	}
	want("CONFIRM-XXXXXX", 0) // of a card that is not here
	more(3)
	c.types("show 1")
	want("y 1", 3)
	e.Type, e.Rev, e.Card.Upto = terminal.EventUpdate, e.Rev+1, 4
	event, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for taken := false; !taken; { // what became of the last answer may have to be written first
		out.mu.Lock() // the screen is stopped
		select {
		case c.events <- event:
			taken = true
		case <-time.After(100 * time.Millisecond):
			out.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
	}
	c.types("y 1")
	time.Sleep(20 * time.Millisecond)
	out.mu.Unlock()
	answers++
	for end := time.Now().Add(20 * time.Second); len(c.answered()) < answers &&
		time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if got := c.answered(); len(got) != answers || got[answers-1].Shown != 0 {
		t.Errorf("typed into a stopped screen: %+v", got)
	}
	want("y 1", 4)
}
