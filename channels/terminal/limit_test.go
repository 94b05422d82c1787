package terminal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/display"
)

// maxLine is what `approver watch` reads of one event from the socket.
const maxLine = 16 << 20

// The story: an agent writes a file of 3 MiB in which every second byte pair is
// a soft hyphen, or claims as much about its call. Made visible, that is six
// times as long, and one event more than the socket's reader takes: every watcher
// is cut off, and again whenever it reconnects. The event must fit, say what is
// hidden, and take no one-tap approval, neither then nor after an update.
func TestHugeCardFitsIntoAnEvent(t *testing.T) {
	soft := display.Visible(strings.Repeat("\u00ad", 3<<19))
	wide := strings.Repeat("<", 2<<20) // JSON makes six bytes of each
	for name, test := range map[string]struct {
		change  func(*approver.Card)
		partial bool
	}{
		"a command made visible":           {func(k *approver.Card) { k.Command = soft }, true},
		"a command that JSON makes longer": {func(k *approver.Card) { k.Command = wide }, true},
		"everything": {func(k *approver.Card) {
			k.Command, k.Push, k.Why, k.Rule, k.Claimed, k.Agent = wide, wide, wide, wide, wide, wide
			k.Session, k.Dir, k.Host, k.Notice, k.Result = wide, wide, wide, wide, wide
		}, true},
		"a directory":              {func(k *approver.Card) { k.Dir = soft }, true},
		"a claim":                  {func(k *approver.Card) { k.Claimed = soft }, true},
		"a command that just fits": {func(k *approver.Card) { k.Command = wide[:1<<20] }, false},
		"a byte more":              {func(k *approver.Card) { k.Command = wide[:1<<20+1] }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChannel(t, nil)
			s := watchLines(t, c)
			k := card(t, "r1", approver.High)
			test.change(&k)
			ref := post(t, c, k)
			if ref.Partial != test.partial {
				t.Errorf("the card is partial: %v, want %v", ref.Partial, test.partial)
			}
			check := func(e terminal.Event) {
				t.Helper()
				if e.Offer.Tap == test.partial || e.Card.OneTap == test.partial || !e.Offer.Code || !e.Offer.Deny {
					t.Errorf("offered %+v, one-tap %v, of a card that is partial: %v", e.Offer, e.Card.OneTap, test.partial)
				}
				if cut := len(e.Card.Command) < len(k.Command); cut {
					text := terminal.Render(e.Card, terminal.Options{Number: 1, Offer: e.Offer})
					if !strings.Contains(e.Card.Command, "bytes hidden, sha256") ||
						!strings.Contains(text, "bytes of the command are not shown here") || strings.Contains(text, "y 1 approves") {
						t.Error("the card does not say that its command is cut")
					}
				} else if test.partial && len(e.Card.Dir) == len(k.Dir) && len(e.Card.Claimed) == len(k.Claimed) {
					t.Error("nothing is cut of a partial card")
				}
			}
			check(<-s)
			if err := c.Update(t.Context(), ref, k); err != nil {
				t.Fatal(err)
			}
			check(<-s)
			if test.partial { // shorter now, but what people have read was not the whole
				k.Command, k.Dir, k.Claimed = "true", "/p", "nothing"
				if err := c.Update(t.Context(), ref, k); err != nil {
					t.Fatal(err)
				}
				if e := <-s; e.Offer.Tap {
					t.Error("a card that was partial takes a tap after an update")
				}
			}
			post(t, c, card(t, "r2", approver.High))
			if e := <-s; e.Card.Request != "r2" {
				t.Errorf("the next event is of %q", e.Card.Request)
			}
		})
	}
}

// watchLines watches through a reader with the socket's limit.
func watchLines(t *testing.T, c *terminal.Channel) <-chan terminal.Event {
	t.Helper()
	events, ended, hello := make(chan terminal.Event, 10), make(chan error, 1), make(chan struct{})
	ctx, leave := context.WithCancel(context.Background())
	go func() {
		defer close(events) // whoever waits for one gets none
		ended <- c.Watch(ctx, ann, func(raw json.RawMessage) error {
			if len(raw) >= maxLine {
				return fmt.Errorf("the event has %d bytes", len(raw))
			}
			var e terminal.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if e.Type == terminal.EventHello {
				close(hello)
				return nil
			}
			events <- e
			return nil
		})
	}()
	t.Cleanup(func() { leave(); <-ended })
	<-hello
	return events
}

// The story: `make deploy` runs in the directory. Of a long one the screen shows
// no more than fits beside the command, so staging and production may look the
// same at first sight. The card takes its code, not a tap, and "show N" has all.
func TestFoldedTextTakesNoTap(t *testing.T) {
	long := strings.Repeat("environments/", 50)
	for name, change := range map[string]func(*approver.Card){
		"directory":               func(k *approver.Card) { k.Dir = "/srv/" + long + "stage" },
		"directory and host":      func(k *approver.Card) { k.Dir, k.Host = "/srv/"+long[:450], long[:200] },
		"directory of many lines": func(k *approver.Card) { k.Dir = strings.Repeat("d\n", 120) },
		"session":                 func(k *approver.Card) { k.Session = long },
		"agent":                   func(k *approver.Card) { k.Agent = long },
		"claim":                   func(k *approver.Card) { k.Claimed = long },
	} {
		t.Run(name, func(t *testing.T) {
			c := newChannel(t, nil)
			s := watchLines(t, c)
			k := card(t, "r1", approver.High)
			change(&k)
			if ref := post(t, c, k); !ref.Partial {
				t.Error("the card is not called partial")
			}
			e := <-s
			text := terminal.Render(e.Card, terminal.Options{Number: 1, Offer: e.Offer})
			full := terminal.Render(e.Card, terminal.Options{Number: 1, Offer: e.Offer, Full: true})
			if e.Offer.Tap || !e.Offer.Code || !strings.Contains(text, "bytes hidden") ||
				strings.Contains(text, "y 1 approves") {
				t.Errorf("offered %+v:\n%s", e.Offer, text)
			}
			if strings.Contains(full, "bytes hidden") || len(full) <= len(text) {
				t.Errorf("the whole card hides something:\n%s", full)
			}
		})
	}
}
