package discord

import (
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/receiving"
)

// The story: a person opens a thread on the card, as on other platforms, and writes there what they would write
// below it: "no, use a branch instead", the code, "/freeze". All of it met silence, and the card waited on. Now
// what tightens counts there, nothing approves, and every answer has its word.
func TestThreadOfACard(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	card := high()
	ref := b.post(b.here, card)
	thread := b.s.AddThread(ref.Message)
	here := approver.Reply{Request: card.Request, Message: ref.Message, Conversation: b.here}
	want := func(text string, want approver.Reply) {
		t.Helper()
		before, told := len(b.got()), len(b.s.Told(b.ann))
		b.s.Type(b.ann, thread, text)
		r := b.one(before)
		if r.Approve || r.Want != want.Want || r.Reason != want.Reason || r.Conversation != want.Conversation ||
			r.Request != want.Request || r.Message != want.Message || r.Sender != b.ann || r.Sent.IsZero() {
			t.Errorf("%q gave %+v, want %+v", text, r, want)
		}
		b.until("a word", func() bool { return len(b.s.Told(b.ann)) == told+1 })
	}
	want("no", here)
	because := here
	because.Reason = "use a branch instead"
	want("no, use a branch instead", because)
	want(" /deny "+card.Code.Reveal()+" use a branch instead", because)
	want(" /freeze it went mad", approver.Reply{Want: approver.WantFreeze, Reason: "it went mad", Conversation: thread})
	n := len(b.got())
	for i, text := range []string{card.Code.Reveal(), " /approve " + card.Code.Reveal(), "yes", " /pending",
		"what is this?", " /deny"} {
		told := len(b.s.Told(b.bob))
		b.s.Type(b.bob, thread, text)
		b.until("a word", func() bool { return len(b.s.Told(b.bob)) == told+1 })
		if got := strings.Join(b.s.Told(b.bob), " "); !strings.Contains(got, "In a thread nothing approves") {
			t.Errorf("%d %q: told %q", i, text, got)
		}
	}
	b.s.Type(b.bob, thread, "as I said") // talk, which was told of a moment ago
	b.s.Type(b.mallory, thread, "no")
	time.Sleep(100 * time.Millisecond)
	if got := b.s.Told(b.mallory); len(got) != 0 || len(b.got()) != n || len(b.s.Told(b.bob)) != 6 {
		t.Errorf("told %q, got %+v", got, b.got()[n:])
	}
	b.nothing("what does not count in a thread")
	if n := b.s.Count("GET /api/v10/channels/" + thread); n != 1 {
		t.Errorf("the thread was looked at %d times", n)
	}
}

// Registered commands in the thread of a card: /deny counts for that card, /freeze counts anywhere, and /approve does
// not.
func TestCommandsInAThread(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	ref := b.post(b.here, card)
	thread, elsewhere := b.s.AddThread(ref.Message), b.s.AddChannel()
	b.until("the commands", func() bool { names, _ := b.s.Commands(""); return len(names) > 6 })
	b.s.Invoke(b.ann, thread, "deny", map[string]string{"code": card.Code.Reveal(), "reason": "use a branch"})
	if r := b.one(0); r.Approve || r.Conversation != b.here || r.Request != card.Request || r.Message != ref.Message ||
		!r.Code.Equal(card.Code) || r.Reason != "use a branch" {
		t.Errorf("got %+v", r)
	}
	for i, at := range []string{thread, elsewhere} {
		b.s.Invoke(b.ann, at, "freeze", map[string]string{"reason": "it went mad"})
		if r := b.one(1 + i); r.Want != approver.WantFreeze || r.Reason != "it went mad" || r.Sender != b.ann {
			t.Errorf("got %+v", r)
		}
	}
	b.s.Invoke(b.bob, thread, "approve", map[string]string{"code": card.Code.Reveal()})
	b.told(b.bob, textElsewhere)
	b.s.Invoke(b.bob, elsewhere, "deny", map[string]string{"code": card.Code.Reveal()})
	b.until("the second word", func() bool { return len(b.s.Told(b.bob)) == 2 })
	b.s.Invoke(b.mallory, thread, "deny", map[string]string{"code": card.Code.Reveal()})
	b.s.Invoke(b.mallory, elsewhere, "freeze", nil)
	b.until("the refusals", func() bool { return len(b.s.Told(b.mallory)) == 2 })
	b.nothing("what does not count in a thread")
}

// Discord shows the bot no text in a thread that does not name it. The person is told so once in a while, and in the
// channel where the bot may not write in threads.
func TestThreadWithoutTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	ref := b.post(b.here, card)
	thread := b.s.AddThread(ref.Message)
	for range 3 {
		b.s.Type(b.ann, thread, "no, use a branch instead")
	}
	b.told(b.ann, "does not show approver what you write in this thread")
	b.nothing("a text that is not shown")
	if got := b.s.Told(b.ann); len(got) != 1 {
		t.Errorf("told %q", got)
	}
	b.s.Type(b.ann, thread, "<@"+b.s.Bot()+"> no, use a branch instead")
	if r := b.one(1); r.Reason != "use a branch instead" || r.Request != card.Request || r.Conversation != b.here {
		t.Errorf("got %+v", r)
	}
	b.until("a word", func() bool { return len(b.s.Told(b.ann)) == 2 })
	b.s.Trips.Add(fake.Trip{Call: "POST /api/v10/channels/" + thread + "/messages", Times: 9, Status: 403,
		Body: `{"code":50013,"message":"Missing Permissions"}`})
	b.s.Type(b.ann, thread, "<@"+b.s.Bot()+"> no, not now")
	b.one(2)
	b.until("a word below the card", func() bool {
		return strings.Contains(strings.Join(b.s.Replies(b.here, ref.Message), " "), "Ann: ")
	})
	if !strings.Contains(b.logged(), "Send Messages in Threads") {
		t.Error("the log does not name the permission")
	}
}

// Threads that are not of a card of ours say nothing, also where they look like one; what cannot be read is told.
func TestOtherThreads(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	talk, elsewhere := "", b.s.AddChannel()
	b.s.SendMessage(b.ann, b.here, "shall we?", 1, func(e event) { talk = e["id"].(string) })
	before := b.cfg
	before.Channels = []string{elsewhere}
	old, err := New(before, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := old.Post(t.Context(), approver.Destination{Channel: Name, Conversation: elsewhere}, high())
	if err != nil {
		t.Fatal(err)
	}
	ref := b.post(b.here, high())
	gone := b.post(b.here, high())
	deleted := b.s.AddThread(gone.Message)
	b.s.Delete(b.here, gone.Message)
	for _, thread := range []string{b.s.AddThread(talk), b.s.AddThread(theirs.Message), deleted, elsewhere} {
		b.s.Type(b.ann, thread, "no")
		b.s.Type(b.ann, thread, "yes")
	}
	b.nothing("an answer in a thread of no card")
	if got := b.s.Told(b.ann); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	thread := b.s.AddThread(ref.Message)
	b.s.Trips.Add(fake.Trip{Call: "GET /api/v10/channels/" + thread, Times: 9, Status: 500, Body: `{}`})
	b.s.Type(b.ann, thread, "no")
	b.told(b.ann, textElsewhere)
	b.s.Trips.Clear()
	b.s.Type(b.ann, thread, "no")
	b.one(1)
}

// A code that an approver types where no cards are is told: everybody there can read it.
func TestCodeElsewhereIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	card := high()
	b.post(b.here, card)
	elsewhere := b.s.AddChannel()
	for i := range 7 {
		b.s.Type(b.ann, elsewhere, "ok, "+card.Code.Reveal())
		b.until("a word", func() bool { return len(b.s.Told(b.ann)) > i || i >= 5 })
	}
	b.s.Type(b.mallory, elsewhere, card.Code.Reveal())
	b.s.Type(b.bob, elsewhere, "no, use a branch")
	time.Sleep(100 * time.Millisecond)
	got := b.s.Told(b.ann)
	if len(got) != 5 || !strings.HasPrefix(got[0], receiving.LeakedText) ||
		!strings.Contains(strings.Join(got, " "), "More messages like this") {
		t.Errorf("told %q", got)
	}
	if got := append(b.s.Told(b.mallory), b.s.Told(b.bob)...); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	b.nothing("a code elsewhere")
}
