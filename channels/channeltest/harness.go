package channeltest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
	"approver.example/tokens"
)

// times are the suite's patience. A check that waits for something ends as soon
// as it is there; only what must not come costs the whole quiet time.
type times struct {
	patience time.Duration // for what must come
	recovery time.Duration // for a channel that backs off after a fault
	quiet    time.Duration // for what must not come, after a later event has come
	prompt   time.Duration // for Run to end
	fault    time.Duration // how long Run is left to meet a fault
}

var usual = times{
	patience: 20 * time.Second, recovery: 45 * time.Second, quiet: 250 * time.Millisecond,
	prompt: 5 * time.Second, fault: time.Second,
}

const pollEvery = 5 * time.Millisecond

// A maker makes the fixture of one check.
type maker struct {
	times
	fixture func(*testing.T) Fixture
}

// ready is what the suite's own probe is told; it is no part of any check.
const ready = "The suite's probe has arrived."

// A bench is a running channel and what its people did.
type bench struct {
	Fixture
	times
	t       *testing.T
	cancel  context.CancelFunc
	ended   chan struct{}
	err     error // of Run, once ended is closed
	outcome func(context.Context, approver.Reply) approver.Outcome

	mu      sync.Mutex
	replies []approver.Reply
	probes  []tokens.Code
	probed  bool
}

// start makes a fixture, runs its channel, and waits until events arrive.
func start(t *testing.T, m maker) *bench {
	t.Helper()
	return startWith(t, m, func(_ context.Context, r approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeRecorded, Text: outcomeFor(r)}
	})
}

// posted is start with a card in the first conversation.
func posted(t *testing.T, m maker, kind func(*testing.T) approver.Card) (*bench, approver.Card, approver.Ref) {
	t.Helper()
	b, card := start(t, m), kind(t)
	ref, _ := b.post(b.Here, card)
	return b, card, ref
}

// outcomeFor is a text that names its reply without a code.
func outcomeFor(r approver.Reply) string {
	word := "no"
	if r.Approve {
		word = "yes"
	}
	return fmt.Sprintf("Outcome: the %s of person %s is noted.", word, r.Sender)
}

func startWith(t *testing.T, m maker, outcome func(context.Context, approver.Reply) approver.Outcome) *bench {
	t.Helper()
	b := &bench{Fixture: m.fixture(t), times: m.times, t: t, ended: make(chan struct{}), outcome: outcome}
	b.run(b.reply)
	b.waitReady()
	return b
}

// run starts Run and sees to its end.
func (b *bench) run(reply approver.ReplyFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	ended := b.ended
	go func() {
		defer close(ended)
		b.err = b.Channel.Run(ctx, reply)
	}()
	b.t.Cleanup(func() {
		cancel()
		select {
		case <-b.ended:
		case <-time.After(b.patience):
			b.t.Errorf("Run did not return after its context ended")
		}
	})
}

func (b *bench) reply(ctx context.Context, r approver.Reply) approver.Outcome {
	b.mu.Lock()
	for _, p := range b.probes {
		if p.Equal(r.Code) {
			b.probed = true
			b.mu.Unlock()
			return approver.Outcome{Kind: approver.OutcomeUnknown, Text: ready}
		}
	}
	b.replies = append(b.replies, r)
	b.mu.Unlock()
	return b.outcome(ctx, r)
}

// waitReady types denials of a code that nobody knows until one arrives: a
// channel that is only just connecting may miss what was said before.
func (b *bench) waitReady() {
	b.t.Helper()
	code := mint(b.t)
	b.mu.Lock()
	b.probes, b.probed = append(b.probes, code), false
	b.mu.Unlock()
	deadline := time.Now().Add(b.recovery)
	for wait := 50 * time.Millisecond; time.Now().Before(deadline); wait = min(2*wait, time.Second) {
		b.Fake.Type(b.Approver, b.Here.Conversation, "/deny "+code.Reveal())
		for until := time.Now().Add(wait); time.Now().Before(until); time.Sleep(pollEvery) {
			b.mu.Lock()
			probed := b.probed
			b.mu.Unlock()
			if probed {
				return
			}
			b.alive()
		}
	}
	b.t.Fatalf("no event reached the channel within %v: /deny of an approver never became a reply", b.recovery)
}

// alive fails the test if Run has ended.
func (b *bench) alive() {
	b.t.Helper()
	select {
	case <-b.ended:
		b.t.Fatalf("Run ended although its context did not: %v", b.err)
	default:
	}
}

// stop cancels Run and returns its error.
func (b *bench) stop() error {
	b.t.Helper()
	b.cancel()
	select {
	case <-b.ended:
	case <-time.After(b.prompt):
		b.t.Fatalf("Run did not return within %v of the end of its context", b.prompt)
	}
	if errors.Is(b.err, context.Canceled) {
		return nil
	}
	return b.err
}

func (b *bench) got() []approver.Reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.replies)
}

// wantReplies waits for n replies and sees that no more come.
func (b *bench) wantReplies(n int) []approver.Reply {
	b.t.Helper()
	b.eventually(fmt.Sprintf("%d replies", n), func() bool { return len(b.got()) >= n })
	time.Sleep(b.quiet)
	got := b.got()
	if len(got) != n {
		b.t.Fatalf("got %d replies, want %d: %+v", len(got), n, got)
	}
	return got
}

// noReply lets a later event of an approver pass, and sees that nothing came
// before it or soon after.
func (b *bench) noReply(what string) {
	b.t.Helper()
	before := len(b.got())
	b.waitReady()
	time.Sleep(b.quiet)
	if got := b.got(); len(got) != before {
		b.t.Fatalf("%s: it must not become a reply, got %+v", what, got[before:])
	}
}

func (b *bench) eventually(what string, ok func() bool) {
	b.t.Helper()
	if !within(b.patience, ok) {
		b.t.Fatalf("waited %v in vain for %s", b.patience, what)
	}
}

func within(d time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(d); ; time.Sleep(pollEvery) {
		if ok() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// told is what user was told alone, without the answers to the suite's probe.
func (b *bench) told(user string) []string {
	var out []string
	for _, text := range b.Fake.Told(user) {
		if !strings.Contains(text, ready) {
			out = append(out, text)
		}
	}
	return out
}

func (b *bench) wasTold(user, text string) bool {
	return slices.ContainsFunc(b.told(user), func(s string) bool { return strings.Contains(s, text) })
}

// tryPost posts a card within a time.
func (b *bench) tryPost(to approver.Destination, card approver.Card, limit time.Duration) (approver.Ref, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ref, err := b.Channel.Post(ctx, to, card)
	b.clean(err)
	return ref, err
}

// tryUpdate updates a card within a time.
func (b *bench) tryUpdate(ref approver.Ref, card approver.Card, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := b.Channel.Update(ctx, ref, card)
	b.clean(err)
	return err
}

// post posts a card and returns it as people see it.
func (b *bench) post(to approver.Destination, card approver.Card) (approver.Ref, fake.Shown) {
	b.t.Helper()
	ref, err := b.tryPost(to, card, b.patience)
	if err != nil {
		b.t.Fatalf("Post: %v", err)
	}
	if ref.Destination != to || ref.Message == "" {
		b.t.Fatalf("Post returned %+v: want the destination %+v and the platform's message id", ref, to)
	}
	// One that does not fit may be whole all the same: its channel has plainer forms, with less room.
	f, ok := b.Channel.(approver.Fitter)
	if ok && f.Fits(card) && ref.Partial {
		b.t.Error("the card was posted as a part of it, and the channel says that it fits")
	}
	return ref, b.shown(ref)
}

func (b *bench) update(ref approver.Ref, card approver.Card) fake.Shown {
	b.t.Helper()
	if err := b.tryUpdate(ref, card, b.patience); err != nil {
		b.t.Fatalf("Update to %s: %v", card.State, err)
	}
	return b.shown(ref)
}

// shown is the message of ref as people see it. It must be there.
func (b *bench) shown(ref approver.Ref) fake.Shown {
	b.t.Helper()
	for _, s := range b.Fake.Cards(ref.Conversation) {
		if s.Message == ref.Message {
			if b.Reads != nil {
				s.Text = b.Reads(s.Text)
			}
			return s
		}
	}
	b.t.Fatalf("the conversation %s has no message %s", ref.Conversation, ref.Message)
	return fake.Shown{}
}

// showing counts the messages of a conversation that show a text.
func (b *bench) showing(conversation, text string) int {
	n := 0
	for _, s := range b.Fake.Cards(conversation) {
		if strings.Contains(plain(s.Text), text) {
			n++
		}
	}
	return n
}

func (b *bench) tap(user string, ref approver.Ref, button fake.Button) {
	b.t.Helper()
	if err := b.Fake.Tap(user, ref.Conversation, ref.Message, button); err != nil {
		b.t.Fatalf("tap: %v", err)
	}
}

// clean fails if an error shows one of the fixture's secrets.
func (b *bench) clean(err error) {
	b.t.Helper()
	if err == nil {
		return
	}
	for _, s := range b.Secrets {
		if s != "" && strings.Contains(err.Error(), s) {
			b.t.Errorf("the error shows a token: %s", strings.ReplaceAll(err.Error(), s, "<the token>"))
		}
	}
}

// plain takes out the zero-width spaces with which a channel may break up the
// platform's markup.
func plain(s string) string { return strings.ReplaceAll(s, "\u200b", "") }

func mint(t *testing.T) tokens.Code {
	t.Helper()
	code, err := tokens.Mint(tokens.MinLength)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// high is a card that one tap may approve.
func high(t *testing.T) approver.Card {
	t.Helper()
	now := time.Now().Truncate(time.Second)
	id := uuid.Must(uuid.NewV7()).String()
	return approver.Card{
		Request: id, State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: display.PushLine(approver.High.String(), "Force-push main", "acme/shop "+id[24:]),
		Body: Command("git push --force origin main # " + id[24:]),
		Why: []string{"A forced push rewrites history that others have.",
			"Hard to undo: only who has the old commits can."},
		Claimed: "tidy the branch before the release", Context: "claude of dev @ devbox · ~/shop (main) · NOT ISOLATED",
		Warnings: []string{"./deploy.sh can change after you answer, so a yes is for one run."},
		Details:  []display.Block{{Label: "Rule", Text: "reflex · git_force_push · version-control.yaml:77:5"}},
		Code:     mint(t), Created: now, Due: now.Add(2 * time.Minute),
	}
}

// Command is the body of a card for a command.
func Command(text string) []display.Block { return []display.Block{{Kind: display.Code, Text: text}} }

// command is the command of a card.
func command(card approver.Card) string { return card.Body[0].Text }

// catastrophic is a card that takes the typed code only.
func catastrophic(t *testing.T) approver.Card {
	t.Helper()
	card := high(t)
	card.Severity, card.OneTap = approver.Catastrophic, false
	card.Body = Command("rm -rf /srv/data # " + card.Request[24:])
	card.Push = display.PushLine(approver.Catastrophic.String(), "Delete /srv/data", card.Request[24:])
	return card
}

// settled is card as the core sends it once it is answered.
func settled(card approver.Card, state approver.State, result string) approver.Card {
	card.State, card.Result = state, result
	card.OneTap, card.Code = false, tokens.Code{}
	return card
}

// leaked returns the goroutines that a channel or its library has left running.
// A goroutine belongs to the channel if it runs or was started by code of the
// channel's package or of a chat library, and not by a fake or a test.
func leaked() []string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	var out []string
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		ours := false
		for line := range strings.SplitSeq(g, "\n") {
			line = strings.TrimPrefix(line, "created by ")
			if strings.HasPrefix(line, "testing.") {
				ours = false
				break
			}
			if rest, ok := strings.CutPrefix(line, "approver.example/channels/"); ok {
				pkg, _, _ := strings.Cut(rest, ".")
				if strings.Contains(pkg+"/", "test/") {
					ours = false
					break
				}
				ours = true
			}
			for _, lib := range []string{"github.com/go-telegram/", "github.com/bwmarrin/", "github.com/slack-go/"} {
				ours = ours || strings.HasPrefix(line, lib)
			}
		}
		if ours {
			out = append(out, g)
		}
	}
	return out
}

// noLeak waits until the channel has no goroutine left.
func (b *bench) noLeak() {
	b.t.Helper()
	if !within(b.prompt, func() bool { return len(leaked()) == 0 }) {
		b.t.Errorf("goroutines are left:\n%s", strings.Join(leaked(), "\n\n"))
	}
}
