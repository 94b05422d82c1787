package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/terminal"
	"approver.example/tokens"
)

func TestUISession(t *testing.T) {
	c := sit(t, nil)
	c.show(hello())
	c.sees("Watching. Type help")
	c.types("list")
	c.sees("Nothing is pending.")

	a, b, d := shown(t, "a", approver.High), shown(t, "b", approver.Catastrophic), shown(t, "d", approver.High)
	c.show(a)
	c.sees("🟠 HIGH · Build a\n┌─ 1 ─")
	c.sees("Expires  12:02:00 UTC (in 2 min)\nCode     CONFIRM-7KQ4MX\nRequest  req-a\n" +
		"Answer: y 1 approves · n 1 denies\n")
	c.show(b)
	c.sees("🔴 CATASTROPHIC · Build b\n┌─ 2 ─")
	c.sees("2 CODE approves, with the code above")
	c.show(d)
	c.sees("┌─ 3 ─")

	c.types("y 1")
	c.wantAnswer(1, terminal.Answer{Request: "req-a", Message: "a", Approve: true})
	c.sees("Card 1: Your answer stands.")
	c.types("y 2")
	c.sees("Card 2 takes its code only: type 2 CODE.")
	c.types("2 CONFIRM-7KQ4MX")
	c.wantAnswer(2, terminal.Answer{Request: "req-b", Message: "b", Approve: true, Code: "CONFIRM-7KQ4MX"})
	c.sees("Card 2: Your answer stands.")
	c.types("n 3")
	c.wantAnswer(3, terminal.Answer{Request: "req-d", Message: "d"})
	c.sees("Card 3: Your answer stands.")
	c.types("/deny CONFIRM-7KQ4MX not on main")
	c.wantAnswer(4, terminal.Answer{Code: "CONFIRM-7KQ4MX", Command: true, Reason: "not on main"})
	c.sees("Your answer: Your answer stands.")

	c.show(closed(a, approver.Consumed, "Approved once by Ann · 2 s"))
	c.sees("Card 1: ✅ Approved once by Ann · 2 s")
	c.show(closed(b, approver.Expired, "⌛ Expired · blocked"))
	c.sees("Card 2: ⌛ Expired · blocked\n")
	c.types("y 1")
	c.sees("Card 1 is closed: ✅ Approved once by Ann · 2 s")
	c.types("show 2")
	c.sees("Card 2 is closed: ⌛ Expired · blocked")
	c.types("list")
	c.sees("3  🟠 HIGH · Build d  until 12:02:00 UTC (in 2 min)\n")
	c.types("y 4")
	c.sees("There is no card 4.")
	c.types("what?")
	c.sees("not understood")
	c.types("/freeze")
	c.sees("type approver freeze in another window")
	c.types("help")
	c.sees("show N       card N whole")
	c.types("quit")
	c.wantEnd(nil)
	if got := c.answered(); len(got) != 4 {
		t.Errorf("%d answers: %+v", len(got), got)
	}
	if strings.ContainsAny(c.screen(), "\x1b\a") {
		t.Errorf("control characters although nobody asked for colors")
	}
}

func TestUIUpdates(t *testing.T) {
	c := sit(t, nil)
	c.show(hello())
	a := shown(t, "a", approver.High)
	a.Rev = 5
	c.show(a)
	c.sees("┌─ 1 ─")

	older := a
	older.Rev, older.Card.Body = 4, channeltest.Command("something else")
	c.show(older)
	progress := a
	progress.Type, progress.Rev, progress.Card.State, progress.Offer = terminal.EventUpdate, 6, approver.Approved,
		terminal.Offer{}
	c.show(progress)
	c.sees("┌─ 1 ─")
	c.sees("State    approved; the agent has not taken the answer yet")

	b := shown(t, "b", approver.High)
	c.show(b)
	c.sees("┌─ 2 ─")
	c.show(terminal.Event{Type: terminal.EventGone, Message: "b", Rev: 2})
	c.sees("Card 2 was taken back.")
	c.show(terminal.Event{Type: terminal.EventGone, Message: "never seen", Rev: 2})
	c.types("y 2")
	c.sees("Card 2 is no longer pending here.")
	if strings.Contains(c.screen(), "something else") {
		t.Error("an older revision replaced a newer one")
	}

	c.raw(`{"type":"confetti","message":"x"}`)
	c.sees("could not be read: unknown event \"confetti\"")
	c.raw(`{"type":`)
	c.sees("could not be read")
	close(c.events)
	c.sees("The service has ended the connection.")
	c.wantEnd(nil)
}

// A number that a person has read must never come to mean another card, not
// even over a new connection.
func TestUIReconnects(t *testing.T) {
	c := sit(t, nil)
	c.show(hello())
	a, b := shown(t, "a", approver.High), shown(t, "b", approver.High)
	c.show(a)
	c.show(b)
	c.sees("┌─ 2 ─")
	c.show(hello())
	c.sees("Watching.")
	c.types("y 1")
	c.sees("Card 1 is no longer pending here.")
	c.show(b)
	c.show(shown(t, "c", approver.High))
	c.sees("🟠 HIGH · Build c\n┌─ 3 ─")
	c.types("y 2")
	c.wantAnswer(1, terminal.Answer{Request: "req-b", Message: "b", Approve: true})
	if n := strings.Count(c.screen(), "┌─ 2 ─"); n != 1 {
		t.Errorf("a card that had not changed was drawn %d times", n)
	}
}

func TestUIWithoutAnswers(t *testing.T) {
	c := sit(t, nil)
	c.show(terminal.Event{Type: terminal.EventHello})
	c.sees("Answers are not taken in this terminal: answer in a chat, or set allow_answers for the terminal.")
	e := shown(t, "a", approver.Catastrophic)
	e.Offer, e.Card.Code = terminal.Offer{}, tokens.Code{}
	c.show(e)
	c.sees("Answer: approve it in a chat, with the code there")
	// The service has the last word, and says it.
	c.reply = func(context.Context, terminal.Answer) (json.RawMessage, error) {
		return json.RawMessage(`{"kind":"refused","text":"Not here."}`), nil
	}
	c.types("y 1")
	c.sees("Card 1: Not here.")
}

func TestUIOutcomes(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		err  error
		want string
	}{
		"a text":     {raw: `{"kind":"denied","text":"Done."}`, want: "Card 1: Done.\n"},
		"no text":    {raw: `{"kind":"locked"}`, want: "Card 1: locked\n"},
		"hostile":    {raw: `{"text":"a\u001b[2Jb\nc"}`, want: "Card 1: a\uFFFD[2Jb ⏎ c\n"},
		"unreadable": {raw: `<html>`, want: "Card 1: the service's answer could not be read"},
		"an error":   {err: errors.New("socket\nclosed\x1b[2J"), want: "Card 1: not delivered: socket ⏎ closed\uFFFD[2J\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := sit(t, nil)
			c.reply = func(context.Context, terminal.Answer) (json.RawMessage, error) {
				return json.RawMessage(test.raw), test.err
			}
			c.show(shown(t, "a", approver.High))
			c.types("y 1")
			c.sees(test.want)
		})
	}
}

// While an answer is under way, cards are still shown and other answers given.
func TestUISlowAnswer(t *testing.T) {
	c := sit(t, nil)
	release := make(chan struct{})
	c.reply = func(_ context.Context, a terminal.Answer) (json.RawMessage, error) {
		if a.Message == "a" {
			<-release
		}
		return json.RawMessage(`{"text":"Done with ` + a.Message + `."}`), nil
	}
	c.show(shown(t, "a", approver.High))
	c.types("y 1")
	c.wantAnswer(1, terminal.Answer{Request: "req-a", Message: "a", Approve: true})
	c.show(shown(t, "b", approver.High))
	c.sees("┌─ 2 ─")
	c.types("n 2")
	c.sees("Card 2: Done with b.")
	c.types("quit") // waits for what is under way
	close(release)
	c.sees("Card 1: Done with a.")
	c.wantEnd(nil)
}

func TestUIContextEndsAnswers(t *testing.T) {
	c := sit(t, nil)
	under := make(chan struct{})
	var ended atomic.Bool
	c.reply = func(ctx context.Context, _ terminal.Answer) (json.RawMessage, error) {
		close(under)
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		ended.Store(true)
		return nil, ctx.Err()
	}
	c.show(shown(t, "a", approver.High))
	c.types("y 1")
	<-under
	c.stop()
	c.wantEnd(context.Canceled)
	if !ended.Load() {
		t.Error("Run returned before the answer under way had ended")
	}
}

// A line that is too long is dropped whole: its tail is not another line.
func TestUILongLine(t *testing.T) {
	c := sit(t, nil)
	c.show(shown(t, "a", approver.High))
	c.sees("┌─ 1 ─")
	for _, n := range []int{4092, 4093, 4096, 4097, 4098, 8192, 20_000} {
		c.types(strings.Repeat("x", n) + "\r" + "y 1")
		c.types("list")
		c.sees("1  🟠 HIGH · Build a")
	}
	if got := c.answered(); len(got) != 0 {
		t.Errorf("the tail of a long line became the answer %+v", got)
	}
	c.sees("")
	if !strings.Contains(c.screen(), "more than 4096 bytes and was not read") {
		t.Errorf("nothing says that the line was dropped")
	}
}

func TestUIEnds(t *testing.T) {
	t.Run("end of input", func(t *testing.T) {
		c := sit(t, nil)
		_ = c.keys.Close()
		c.wantEnd(nil)
	})
	t.Run("broken input", func(t *testing.T) {
		c := sit(t, nil)
		_ = c.keys.CloseWithError(errors.New("the cable\x1b is out"))
		c.sees("what you type cannot be read any more: the cable\uFFFD is out")
		c.wantEnd(nil)
	})
	t.Run("broken output", func(t *testing.T) {
		broken := errors.New("no screen")
		c := sit(t, func(u *terminal.UI) { u.Out = badWriter{broken} })
		c.show(hello())
		c.wantEnd(broken)
	})
	t.Run("a last line without its end", func(t *testing.T) {
		c := sit(t, nil)
		c.show(shown(t, "a", approver.High))
		_, _ = io.WriteString(c.keys, "n 1")
		_ = c.keys.Close()
		c.wantEnd(nil)
		c.wantAnswer(1, terminal.Answer{Request: "req-a", Message: "a"})
	})
}

type badWriter struct{ err error }

func (w badWriter) Write([]byte) (int, error) { return 0, w.err }

func TestUIColor(t *testing.T) {
	c := sit(t, func(u *terminal.UI) { u.Color, u.Width = true, func() int { return 40 } })
	c.show(shown(t, "a", approver.High))
	c.sees("\a")
	c.sees("\x1b[1;33m🟠 HIGH · Build a\x1b[0m")
}

// The two halves of the package together: what the channel streams is what the
// UI reads, and what the UI writes is what the channel takes.
func TestUIOnChannel(t *testing.T) {
	c := newChannel(t, nil)
	rec := started(t, c)
	in, keys := io.Pipe()
	con := &console{t: t, keys: keys}
	events := make(chan json.RawMessage)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		_ = c.Watch(ctx, ann, func(raw json.RawMessage) error {
			select {
			case events <- raw:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	work.Go(func() {
		ui := terminal.UI{In: in, Out: con, Now: func() time.Time { return noon }}
		_ = ui.Run(ctx, events, func(ctx context.Context, body json.RawMessage) (json.RawMessage, error) {
			return c.Answer(ctx, ann, body)
		})
	})
	t.Cleanup(func() { cancel(); _ = in.Close(); work.Wait() })

	con.sees("Watching.")
	k := card(t, "r1", approver.Catastrophic)
	ref := post(t, c, k)
	con.sees("Code     " + k.Code.Reveal())
	con.types("1 " + strings.ToLower(k.Code.Reveal()))
	con.sees("Card 1: Noted.")
	got := rec.got()
	if len(got) != 1 || !got[0].Approve || !got[0].Code.Equal(k.Code) || got[0].Message != ref.Message ||
		got[0].Sender != "1001" {
		t.Errorf("replies %+v", got)
	}
	k.State, k.Result = approver.Consumed, "Approved once by Ann via terminal · 3 s"
	if err := c.Update(t.Context(), ref, k); err != nil {
		t.Fatal(err)
	}
	con.sees("Card 1: ✅ Approved once by Ann via terminal · 3 s")
}

// After Run, whoever reads In goes with the next line. synctest fails the test
// if a goroutine is left.
func TestUILeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		events := make(chan json.RawMessage)
		close(events)
		ui := terminal.UI{In: in, Out: io.Discard, Now: time.Now}
		if err := ui.Run(context.Background(), events, nil); err != nil { // no context whose end would help
			t.Fatal(err)
		}
		_, _ = io.WriteString(keys, "list\n")
	})
}
