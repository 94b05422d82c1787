package channeltest_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest/fake"
)

// stories are the bug classes of other approval systems, each with what must not happen here, told on each platform.
var stories = []struct {
	classes, name string
	tell          func(*testing.T, *story)
}{
	{"A2", "no approvers means nobody", noApproversMeansNobody},
	{"A3", "a rule names its approvers", aRuleNamesItsApprovers},
	{"A4 A8", "only the id says who it is", onlyTheIDSaysWhoItIs},
	{"A5", "reactions and edits are no answers", reactionsAndEditsAreNoAnswers},
	{"A6", "the record says who answered", theRecordSaysWhoAnswered},
	{"A7", "a looser policy is asked of people", aLooserPolicyIsAskedOfPeople},
	{"B9", "a cut card takes no tap", aCutCardTakesNoTap},
	{"B10", "a yes is for the call of its card", aYesIsForTheCallOfItsCard},
	{"B11", "a yes for the session covers no wrapper", aYesForTheSessionCoversNoWrapper},
	{"B12", "once is once", onceIsOnce},
	{"B13", "a yes that was taken back stays so", aTakenBackYesStaysSo},
	{"B14", "nothing invisible on a card", nothingInvisibleOnACard},
	{"C15 C21", "silence is a no of nobody", silenceIsANoOfNobody},
	{"C16", "a tap after the hook was killed", aTapAfterTheHookWasKilled},
	{"C17 C18", "one press after a restart", onePressAfterARestart},
	{"C18", "nothing is told before it is recorded", nothingIsToldBeforeItIsRecorded},
	{"C19", "two presses at once", twoPressesAtOnce},
	{"C20", "a broken channel answers nothing", aBrokenChannelAnswersNothing},
	{"C20", "a refusal is no command", aRefusalIsNoCommand},
	{"C20", "a freeze in a field freezes", aFreezeInAFieldFreezes},
	{"D23", "a refused markup still arrives", aRefusedMarkupStillArrives},
	{"D24", "a card goes to no other place", aCardGoesToNoOtherPlace},
	{"D25", "no way to people is a no at once", noWayToPeopleIsANoAtOnce},
	{"D26", "each of several questions is shown", eachOfSeveralQuestionsIsShown},
	{"D27", "what needs nobody waits for nobody", whatNeedsNobodyWaitsForNobody},
}

// TestStories tells each story on each platform. A1 is [TestWhoGetsThrough], and C22 is [TestEverySettingIsRead].
func TestStories(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees the same in the tests of each channel")
	}
	room := make(chan struct{}, 6) // they wait most of the time
	var all sync.WaitGroup
	for _, s := range stories {
		for name, start := range platforms {
			all.Go(func() {
				room <- struct{}{}
				defer func() { <-room }()
				t.Run(s.classes+" "+s.name+"/"+name, func(t *testing.T) {
					a := start(t)
					x := &story{matrix: &matrix{app: a, t: t}, ann: a.add("approver"), bob: a.add("approver"),
						file: filepath.Join(t.TempDir(), "story.db"), audit: &ledger{}}
					x.kv = embeddedIn(t, x.file)
					x.start()
					s.tell(t, x)
				})
			})
		}
	}
	all.Wait()
}

// A story is a core with one platform and two approvers, whose couriers wait for what becomes of their calls.
type story struct {
	*matrix

	ann, bob string
	kv       approver.KV
	file     string // of the store
	audit    *ledger
	with     func(*broadcaster.Options) // changes what the core is started with; may be nil
	stop     func()
	asked    int
}

// A ledger is an audit that remembers. It may be full, or keep the record of a yes waiting.
type ledger struct {
	mu      sync.Mutex
	records []approver.Record
	hold    chan struct{} // until it is closed; nil holds nothing
	full    bool
}

func (l *ledger) Record(ctx context.Context, r approver.Record) (string, error) {
	l.mu.Lock()
	hold, full := l.hold, l.full
	l.mu.Unlock()
	if r.Event == approver.EventApproved && full {
		return "", errors.New("the disk is full")
	}
	if r.Event == approver.EventApproved && hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
	return "hash", nil
}

func (l *ledger) set(hold chan struct{}, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold, l.full = hold, full
}

// of are the records of a request with one of these events.
func (l *ledger) of(request string, events ...approver.Event) (out []approver.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if r.Request == request && slices.Contains(events, r.Event) {
			out = append(out, r)
		}
	}
	return out
}

// start starts the core and its channel on what is stored.
func (x *story) start() {
	listed := []approver.Approver{{ID: x.ann, Name: "Ann", Person: "ann"}, {ID: x.bob, Name: "Bob", Person: "bob"}}
	channel, to, err := x.open(listed)
	if err != nil {
		x.t.Fatal(err)
	}
	x.to = to
	o := coreOptions(x.kv, channel, to, listed)
	o.Audit = x.audit
	if x.with != nil {
		x.with(&o)
	}
	x.stop = x.run(o)
}

// restart ends the core and its channel, and starts them anew.
func (x *story) restart() {
	x.stop()
	x.start()
}

// call is a new call of a command.
func (x *story) call(command string) approver.ToolCall {
	x.asked++
	call := approver.ToolCall{ID: fmt.Sprintf("%032d", x.asked), Agent: "claude", Session: "s", Tool: "Bash",
		Command: command, Dir: "/repo", At: time.Now(), Peer: approver.Peer{Known: true, UID: 1000}}
	call.Args = fmt.Appendf(nil, `{"command":%q}`, command)
	return call
}

// ask asks about a call, until the context ends.
func (x *story) ask(ctx context.Context, call approver.ToolCall) <-chan approver.Verdict {
	return x.askAs(ctx, call, approver.Verdict{Severity: approver.High})
}

// askAs asks about a call as a rule wants it.
func (x *story) askAs(ctx context.Context, call approver.ToolCall, why approver.Verdict) <-chan approver.Verdict {
	verdict := make(chan approver.Verdict, 1)
	core := x.core
	why.Decision, why.By, why.Rule = approver.Ask, "policy", "r"
	go func() { verdict <- core.Ask(ctx, call, why) }()
	return verdict
}

// card waits for the card of an open request for a command, and returns its message and request.
func (x *story) card(command string) (message, request string) {
	x.t.Helper()
	return x.cardOf(func(c approver.ToolCall) bool { return c.Command == command }, command)
}

// cardOf waits for the card of an open request for a call, which shows a text.
func (x *story) cardOf(is func(approver.ToolCall) bool, shows string) (message, request string) {
	x.t.Helper()
	x.until("the card of "+shows, func() bool {
		open, _ := x.core.Requests.Open(x.t.Context())
		for _, r := range open {
			for _, c := range x.Cards(x.to.Conversation) {
				if is(r.Call) && strings.Contains(c.Text, shows) && len(r.Postings) > 0 &&
					r.Postings[0].Phase == broadcaster.Posted && r.Postings[0].Ref.Message == c.Message {
					message, request = c.Message, r.ID
				}
			}
		}
		return message != ""
	})
	return message, request
}

// shown is a card as people see it now.
func (x *story) shown(message string) fake.Shown {
	for _, c := range x.Cards(x.to.Conversation) {
		if c.Message == message {
			return c
		}
	}
	return fake.Shown{}
}

// refused presses a button, whether the card has it or not, and waits until that is answered.
func (x *story) refused(user, message, request string, b fake.Button) (told string) {
	x.t.Helper()
	before := len(x.Told(user))
	if x.Tap(user, x.to.Conversation, message, b) != nil {
		x.press(user, x.to.Conversation, message, request, b)
	}
	x.until("a word", func() bool { return len(x.Told(user)) > before })
	return strings.Join(x.Told(user)[before:], "\n")
}

func (x *story) tap(user, message string, b fake.Button) {
	x.t.Helper()
	if err := x.Tap(user, x.to.Conversation, message, b); err != nil {
		x.t.Error(err)
	}
}

func verdictOf(t *testing.T, v <-chan approver.Verdict) approver.Verdict {
	t.Helper()
	select {
	case got := <-v:
		return got
	case <-time.After(time.Minute):
		t.Fatal("the courier waits for ever")
		panic("unreachable")
	}
}
