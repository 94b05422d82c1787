package hooks

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/store/sqlitestore"
)

// An agent was told yes only by an answer that lets the call run, of a verdict that lets it.
func TestWhatAnAgentWasTold(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	allow, zero := approver.Verdict{Decision: approver.Allow}, agents.Answer{ExitZero: true}
	for name, c := range map[string]struct {
		ctx  context.Context
		v    approver.Verdict
		told agents.Answer
		want outcome
	}{
		"a yes":                    {t.Context(), allow, zero, permitted},
		"a pass":                   {t.Context(), approver.Verdict{Decision: approver.Pass}, zero, permitted},
		"a yes that is not one":    {t.Context(), allow, agents.Answer{}, denied},
		"a block with exit code 0": {t.Context(), allow, agents.Answer{ExitZero: true, Blocks: true}, denied},
		"a no with exit code 0":    {t.Context(), approver.Verdict{}, zero, denied},
		"a question":               {t.Context(), approver.Verdict{Decision: approver.Ask}, zero, denied},
		"nobody there any more":    {gone, allow, zero, unanswered},
	} {
		if got := outcomeOf(c.ctx, c.v, c.told); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Of two answers for one id, the stricter one counts, and it is about what was permitted last, if anything
// was. Two that permitted nothing and are about different calls are about none.
func TestAnswersForOneID(t *testing.T) {
	a, b := agents.Content{1}, agents.Content{2}
	no := use{outcome: denied, content: a}
	for name, c := range map[string]struct{ now, old, want use }{
		"the first":            {no, use{}, no},
		"the same no again":    {no, no, no},
		"a no to another call": {use{outcome: denied, content: b}, no, use{outcome: denied}},
		"waiting for another":  {use{outcome: unanswered, content: b}, no, use{outcome: denied}},
		"a yes after a no": {use{outcome: permitted, content: b}, use{outcome: denied, content: a},
			use{outcome: denied, content: b}},
		"a no after a yes": {use{outcome: denied, content: b}, use{outcome: permitted, content: a},
			use{outcome: denied, content: a}},
		"another yes": {use{outcome: permitted, content: b}, use{outcome: permitted, content: a},
			use{outcome: permitted, content: b}},
		"nothing new": {use{}, no, no},
		"kept in the store": {use{outcome: permitted, content: a},
			use{outcome: permitted, content: a, lasting: true, asked: "q"},
			use{outcome: permitted, content: a, lasting: true, asked: "q"}},
		"asked again": {use{outcome: permitted, content: a, asked: "r"}, use{outcome: permitted, content: a, asked: "q"},
			use{outcome: permitted, content: a, asked: "r"}},
	} {
		if got := c.now.over(c.old); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// With ids that are derived from the call, each yes is for one run.
	ev := agents.Event{Derived: true}
	u := use{outcome: permitted, asked: "q", by: "q"}.after(ev, use{})
	if u = (use{outcome: permitted, by: "p"}).after(ev, u); len(u.permits) != 2 || u.asked != "q" {
		t.Errorf("two: %+v", u)
	}
	if u = (use{outcome: permitted, asked: "q", by: "q"}).after(ev, u); len(u.permits) != 2 {
		t.Errorf("the courier of one of them came back: %+v", u)
	}
	if u = (use{outcome: denied, asked: "r"}).after(ev, u); len(u.permits) != 2 || u.asked != "r" || u.outcome != denied {
		t.Errorf("a no after them: %+v", u)
	}
	for i, want := range []struct {
		was   outcome
		asked string
		left  int
	}{{permitted, "", 1}, {permitted, "q", 0}, {0, "", 0}} {
		var was use
		if was, u = u.ran(ev); was.outcome != want.was || was.asked != want.asked || len(u.permits) != want.left ||
			want.left == 0 && !reflect.DeepEqual(u, use{}) {
			t.Errorf("run %d: %+v, then %+v", i, was, u)
		}
	}
	one := use{}
	for _, content := range []agents.Content{b, a, a} { // the courier comes back, and what it asked before is void
		one = (use{outcome: permitted, content: content, by: "p"}).after(agents.Event{}, one)
	}
	one = (use{outcome: permitted, content: a}).after(agents.Event{}, one) // nobody knows whose it is
	if _, left := one.ran(agents.Event{}); len(one.permits) != 1 || !reflect.DeepEqual(left, use{}) {
		t.Errorf("a call with an id of its own runs once: %+v, %+v", one, left)
	}
	other := use{outcome: permitted, content: b, by: "q"}.after(agents.Event{}, one)
	if _, left := other.ran(agents.Event{}); !reflect.DeepEqual(left, use{}) {
		t.Errorf("two different calls under one id run once: %+v", left)
	}
	refused := (use{outcome: denied, content: a, by: "q"}).after(agents.Event{}, one)
	refused = (use{outcome: permitted, content: a, by: "r"}).after(agents.Event{}, refused)
	if was, left := refused.ran(agents.Event{}); was.outcome != denied || !reflect.DeepEqual(left, use{}) {
		t.Errorf("one of its hooks was told no: %+v, %+v", was, left)
	}
	for range 3 * maxPermits {
		u = use{outcome: permitted}.after(ev, u)
	}
	if len(u.permits) != maxPermits {
		t.Errorf("%d permissions of which nothing ran are kept", len(u.permits))
	}
}

// unreadStore gives out no values.
type unreadStore struct{ approver.KV }

var errUnread = errors.New("the disk is gone")

func (unreadStore) Get(context.Context, string) ([]byte, approver.Rev, error) {
	return nil, "", errUnread
}

// lateStore has no clock.
type lateStore struct{ approver.KV }

func (lateStore) Now(context.Context) (time.Time, error) { return time.Time{}, errUnread }

func openStore(t *testing.T) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// A record that cannot be read is an error and never a call that was not denied, and nothing is written
// over it.
func TestARecordThatCannotBeRead(t *testing.T) {
	store := openStore(t)
	ev, peer := agents.Event{Agent: "claude", UseID: "toolu_1"}, approver.Peer{}
	key, rev := storeKey(keyOf(ev, peer)), approver.Rev("")
	good := `"content":"` + string(make48('0')) + `"}`
	for _, value := range []string{"", "x", "[]", `{"outcome":2}`, `{"outcome":2,"content":"zz"}`,
		`{"outcome":2,"content":"00"}`, `{"outcome":5,` + good, `{"outcome":300,` + good, `{"outcome":-1,` + good,
		`{"outcome":2,"content":"` + string(make48('g')) + `"}`} {
		next := approver.NewRev()
		if err := store.Put(t.Context(), key, []byte(value), rev, next, time.Time{}, time.Now().Add(UseKeep)); err != nil {
			t.Fatal(err)
		}
		rev = next
		o := &Outcomes{Store: store}
		if u, err := o.take(t.Context(), ev, peer, "r"); err == nil || u.outcome != 0 {
			t.Errorf("%q is taken as %+v", value, u)
		}
		if u, err := o.over(t.Context(), ev, peer); err == nil || u.outcome != 0 {
			t.Errorf("%q looks like %+v", value, u)
		}
		if err := o.keep(t.Context(), ev, peer, use{outcome: permitted}); err == nil {
			t.Errorf("%q is written over", value)
		}
	}
	for name, kv := range map[string]approver.KV{"no values": unreadStore{store}, "no clock": lateStore{openStore(t)}} {
		o := &Outcomes{Store: kv}
		if err := o.keep(t.Context(), ev, peer, use{outcome: permitted}); !errors.Is(err, errUnread) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&Outcomes{Store: unreadStore{store}}).over(t.Context(), ev, peer); !errors.Is(err, errUnread) {
		t.Errorf("looked at: %v", err)
	}
}

// make48 returns the hexadecimal text of a content, of one digit.
func make48(digit byte) []byte {
	text := make([]byte, 2*len(agents.Content{}))
	for i := range text {
		text[i] = digit
	}
	return text
}

// What this daemon knows counts before what another one stored, unless this one was not heard.
func TestTwoDaemonsAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		here outcome
		want outcome
	}{"nothing here": {0, permitted}, "not heard here": {unanswered, permitted}, "a no here": {denied, denied}} {
		store := openStore(t)
		ev, peer := agents.Event{Agent: "claude", UseID: "toolu_1"}, approver.Peer{}
		other, o := &Outcomes{Store: store}, &Outcomes{Store: store}
		if err := other.keep(t.Context(), ev, peer, use{outcome: permitted}); err != nil {
			t.Fatal(err)
		}
		if c.here != 0 {
			o.note(ev, peer, use{outcome: c.here, lasting: true})
		}
		if u, err := o.over(t.Context(), ev, peer); err != nil || u.outcome != c.want {
			t.Errorf("%s: looked at as %+v, %v", name, u, err)
		}
		if u, err := o.take(t.Context(), ev, peer, "r"); err != nil || u.outcome != c.want {
			t.Errorf("%s: taken as %+v, %v", name, u, err)
		}
	}
	store := openStore(t)
	o := &Outcomes{Store: store}
	ev := agents.Event{Agent: "claude"}
	if err := o.keep(t.Context(), ev, approver.Peer{}, use{outcome: permitted}); err != nil {
		t.Fatal(err)
	}
	if u, _ := o.over(t.Context(), ev, approver.Peer{}); u.outcome != 0 {
		t.Errorf("a call without an id is stored: %+v", u)
	}
	// A report that comes again keeps the id of the first.
	ev.UseID = "toolu_1"
	if err := o.keep(t.Context(), ev, approver.Peer{}, use{outcome: permitted}); err != nil {
		t.Fatal(err)
	}
	for _, report := range []string{"r", "s", "t"} {
		u, err := o.take(t.Context(), ev, approver.Peer{}, report)
		if first := report == "r"; err != nil || (u.outcome == permitted) != first || !first && u.report != "r" {
			t.Errorf("report %s: %+v, %v", report, u, err)
		}
	}
}

// contentNo is a content that no other number has.
func contentNo(i int) (c agents.Content) {
	binary.BigEndian.PutUint64(c[:], uint64(i)+1) //nolint:gosec // a test counts from zero
	return c
}

// An approval is for a call of which it is known what it does, and only so many are kept.
func TestApprovalsForTheSameCall(t *testing.T) {
	call := approver.ToolCall{Session: "s", Dir: "/p", At: time.Now()}
	yes := promptYes{at: call.At}
	for name, c := range map[string]struct {
		kind    agents.Kind
		moment  string
		content agents.Content
		want    bool
	}{
		"a call":            {agents.Decide, "1", agents.Content{1}, true},
		"a question":        {agents.Prompted, "1", agents.Content{1}, false},
		"a report":          {agents.Ran, "1", agents.Content{1}, false},
		"no time":           {agents.Decide, "", agents.Content{1}, false},
		"nothing is known":  {agents.Decide, "1", agents.Content{}, false},
		"the zero question": {agents.Prompted, "", agents.Content{}, false},
	} {
		ev := agents.Event{Agent: "copilot", Kind: c.kind, Name: "a", Moment: c.moment, Content: c.content}
		var kept Outcomes
		kept.twinYes(ev, call, yes)
		// It is not taken even where it was kept.
		given := Outcomes{twins: map[useKey][]twinYes{twinKey(ev, call): {{"b", yes}}}}
		if _, ok := given.twin(ev, call); ok != c.want || len(kept.twins) > 0 != c.want {
			t.Errorf("%s: kept %d, taken %v", name, len(kept.twins), ok)
		}
		var said Outcomes
		said.yes(promptKey(ev, call, c.content), yes)
		asked := Outcomes{prompts: map[useKey]promptYes{promptKey(ev, call, ev.Asks()): yes}}
		known := c.content != agents.Content{}
		if _, ok := asked.said(ev, call); ok != known || len(said.prompts) > 0 != known {
			t.Errorf("%s: kept %d, said %v", name, len(said.prompts), ok)
		}
	}
	var o Outcomes
	for i := range maxOutcomes {
		ev := agents.Event{Agent: "copilot", Kind: agents.Decide, Moment: "1", Content: contentNo(i)}
		o.yes(promptKey(ev, call, ev.Content), yes)
		o.twinYes(ev, call, yes)
	}
	if len(o.prompts) != maxOutcomes || len(o.twins) != maxOutcomes {
		t.Fatalf("%d and %d approvals", len(o.prompts), len(o.twins))
	}
	ev := agents.Event{Agent: "copilot", Kind: agents.Decide, Moment: "1", Content: contentNo(maxOutcomes)}
	o.yes(promptKey(ev, call, ev.Content), yes)
	o.twinYes(ev, call, yes)
	if len(o.prompts) != 1 || len(o.twins) != 1 {
		t.Errorf("%d and %d approvals are kept", len(o.prompts), len(o.twins))
	}
}

// An approval whose prompt can no longer come is forgotten: a daemon that is asked twice a second would have kept
// two hours of them.
func TestApprovalsAreForgotten(t *testing.T) {
	var o Outcomes
	start := time.Now()
	for i := range 600 {
		o.yes(useKey(contentNo(i)), promptYes{at: start.Add(time.Duration(i) * time.Second)})
		if most := int(2 * promptWait / time.Second); len(o.prompts) > most {
			t.Fatalf("%d approvals after %d s", len(o.prompts), i)
		}
		for young := max(0, i-int(promptWait/time.Second)+1); young <= i; young++ {
			if _, kept := o.prompts[useKey(contentNo(young))]; !kept {
				t.Fatalf("that of %d s before is gone", i-young)
			}
		}
	}
}

// A call that is noted again makes nobody forget another one.
func TestNotedAgain(t *testing.T) {
	var o Outcomes
	for i := range maxOutcomes / 2 {
		o.put(useKey(contentNo(i)), use{outcome: denied})
	}
	o.put(useKey(contentNo(0)), use{outcome: permitted})
	if len(o.young) != maxOutcomes/2 || o.old != nil {
		t.Errorf("%d young and %d old", len(o.young), len(o.old))
	}
}

// The story: an agent gave its call the id "x: the same report again", and the record of a call that ran
// read like one that was reported twice.
func TestAnIDIsNoNote(t *testing.T) {
	for id, want := range map[string]string{
		"toolu_01":                 "tool_use_id toolu_01",
		"a/b:c.1":                  "tool_use_id a/b:c.1",
		"":                         "tool_use_id ",
		"x: the same report again": `tool_use_id "x: the same report again"`,
		"x:\u00a0a\nb":             `tool_use_id "x:\u00a0a\nb"`,
		`"x": the same`:            `tool_use_id "\"x\": the same"`,
		"x\u202eagain":             `tool_use_id "x\u202eagain"`,
	} {
		if got := useOf(agents.Event{UseID: id}); got != want {
			t.Errorf("%q: %s", id, got)
		}
	}
}
