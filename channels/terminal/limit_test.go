package terminal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
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
		"a command made visible":           {func(k *approver.Card) { k.Body = channeltest.Command(soft) }, true},
		"a command that JSON makes longer": {func(k *approver.Card) { k.Body = channeltest.Command(wide) }, true},
		"everything": {func(k *approver.Card) {
			block := display.Block{Kind: display.Diff, Label: wide, Text: wide}
			k.Body, k.Push, k.Claimed, k.Context, k.Part, k.Result = many(block, 2), wide, wide, wide, wide, wide
			k.Why, k.Warnings, k.Details = many(wide, 2), many(wide, 2), many(block, 2)
		}, true},
		"very many arguments": {func(k *approver.Card) {
			k.Body = many(display.Block{Label: "a", Text: "1"}, 1<<20)
		}, true},
		"very many sentences": {func(k *approver.Card) {
			k.Why, k.Warnings = many(wide[:1<<14], 199), many(wide[:1<<14], 199)
		}, true},
		"a directory":              {func(k *approver.Card) { k.Context = soft }, true},
		"a claim":                  {func(k *approver.Card) { k.Claimed = soft }, true},
		"a command that just fits": {func(k *approver.Card) { k.Body = channeltest.Command(wide[:1<<20-64]) }, false},
		"a byte more":              {func(k *approver.Card) { k.Body = channeltest.Command(wide[:1<<20-63]) }, true},
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
				if size(e.Card) < size(k) {
					text := terminal.Render(e.Card, terminal.Options{Number: 1, Offer: e.Offer})
					if !strings.Contains(text, "bytes hidden, sha256") &&
						!strings.Contains(text, "Not all of the call is shown here") ||
						strings.Contains(text, "y 1 approves") {
						t.Error("the card does not say that it is cut")
					}
				} else if test.partial {
					t.Error("nothing is cut of a partial card")
				}
			}
			check(<-s)
			if err := c.Update(t.Context(), ref, k); err != nil {
				t.Fatal(err)
			}
			check(<-s)
			if test.partial { // shorter now, but what people have read was not the whole
				k.Body, k.Context, k.Claimed = channeltest.Command("true"), "/p", "nothing"
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

// size is how much a card shows, in bytes.
func size(k approver.Card) int {
	n := len(k.Push) + len(k.Part) + len(k.Claimed) + len(k.Context) + len(strings.Join(k.Why, ""))
	for _, b := range k.Body {
		n += len(b.Label) + len(b.Text)
	}
	return n
}

func many[T any](one T, n int) []T { return slices.Repeat([]T{one}, n) }

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
		"directory":               func(k *approver.Card) { k.Context = "claude · /srv/" + long + "stage" },
		"directory of many lines": func(k *approver.Card) { k.Context = strings.Repeat("d\n", 120) },
		"claim":                   func(k *approver.Card) { k.Claimed = long },
		"reason":                  func(k *approver.Card) { k.Why = append(k.Why, "It overwrites "+long) },
		"warning":                 func(k *approver.Card) { k.Warnings = []string{"Can change after you answer: " + long} },
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
