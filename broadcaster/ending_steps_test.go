package broadcaster

import (
	"errors"
	"slices"
	"testing"
	"time"

	"approver.example"
)

// A call that took its yes after a freeze was never released. What its agent reports of it
// says nothing about the yes, and it holds back nothing that is true of the others.
func TestALostCallHasNoFate(t *testing.T) {
	r := Request{
		CallID: "a", State: approver.Consumed, Verdict: approver.Verdict{Severity: approver.High},
		Release:    Release{ReleasedAt: at(1), Acked: at(2), Lapsed: true},
		Resolution: approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: person(0)},
		Also:       []Caller{{CallID: "b", N: 1, Taken: at(1), Lost: true}, {CallID: "c", N: 2, Taken: at(1)}},
	}
	for call, want := range map[string]error{"a": nil, "b": ErrNotBound, "c": nil, "d": ErrNotBound} {
		for _, f := range []Fate{NotRun, Untaken, DidRun} {
			_, err := r.setFate(call, f)
			if f != Untaken && !errors.Is(err, want) || f == Untaken && errors.Is(err, nil) {
				t.Errorf("%s, %v: %v", call, f, err)
			}
		}
	}
	if got, all := r.released(r.Also); got != 2 || all != 3 {
		t.Errorf("released %d of %d", got, all)
	}
	for _, call := range []string{"a", "c"} {
		if commonFate(r) != NoFate {
			t.Errorf("a fate before %s: %v", call, commonFate(r))
		}
		var err error
		if r, err = r.setFate(call, NotRun); err != nil {
			t.Fatal(err)
		}
	}
	if commonFate(r) != NotRun {
		t.Errorf("none of those that were released ran, and the cards say %v", commonFate(r))
	}
}

// The agent is told to come back. Calls whose couriers are there are told so themselves, and
// the audit has that of each; one whose courier had left has an end of its own.
func TestParkingEndsCallsThatHadLeft(t *testing.T) {
	for name, c := range map[string]struct {
		gone []string
		want []string
	}{
		"all are there": {nil, nil}, "the first had left": {[]string{"a"}, nil},
		"another had left": {[]string{"c"}, []string{"c"}},
		"all had left":     {[]string{"a", "b", "c"}, []string{"b", "c"}},
	} {
		r := Request{
			CallID: "a", Holder: "a", State: approver.Pending, Due: at(100), Verdict: approver.Verdict{Severity: approver.High},
		}
		step := func(next Request, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			r = next
		}
		step(r.AddCaller(Caller{CallID: "b", Holder: "b"}, at(0)))
		step(r.AddCaller(Caller{CallID: "c", Holder: "c"}, at(0)))
		for _, id := range c.gone {
			step(r.Leave(id, at(0), time.Hour))
		}
		step(r.Park(at(120), at(1)))
		var ended []string
		for _, e := range r.Ended {
			ended = append(ended, e.CallID)
		}
		if !slices.Equal(ended, c.want) || len(r.Also) != 0 {
			t.Errorf("%s: %v, %v wait", name, ended, r.Also)
		}
	}
}

// Whoever may tell that a card is to be looked at again: what waits for the audit, and what
// a platform asked for, are due.
func TestWhatIsDueOfAnEndedCall(t *testing.T) {
	card := Posting{Phase: Posted, Ref: approver.Ref{Message: "1"}}
	later := card
	later.Next, later.Attempts = at(60), 1
	past := card
	past.Next, past.Attempts = at(5), 2
	for name, c := range map[string]struct {
		r    Request
		want time.Time
	}{
		"nothing": {Request{State: approver.Denied, Closed: true}, time.Time{}},
		"a call that ended": {
			Request{
				State: approver.Denied, Closed: true, Ended: []Ending{{"b", "", approver.AgentGone, at(1)}},
			}, at(10).Add(settleGrace),
		},
		"while others wait": {
			Request{
				State: approver.Pending, Due: at(100), Ended: []Ending{{"b", "", approver.AgentGone, at(1)}},
			}, at(10).Add(settleGrace),
		},
		"a card that is new":     {Request{State: approver.Denied, Closed: true, Postings: []Posting{card}}, at(11)},
		"a card, not before":     {Request{State: approver.Denied, Closed: true, Postings: []Posting{later}}, at(60)},
		"a card that was missed": {Request{State: approver.Denied, Closed: true, Postings: []Posting{past}}, at(14)},
	} {
		if got := c.r.Attention(at(10)); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A yes is for what was shown, whatever the answer claims to have seen, and no matter when
// it is entered.
func TestWhatAnAnswerMayClaimToHaveSeen(t *testing.T) {
	card := Posting{Code: "code", Phase: Posted, Upto: 2, UptoAt: at(10)}
	twice, former := card, card
	twice.Unsure, former.UptoAt = true, time.Time{}
	typed := func(m approver.Method, shown int) approver.Reply {
		return approver.Reply{Method: m, Shown: shown, Sent: at(1)}
	}
	long, soon := at(60), at(10).Add(readFor-1)
	for name, c := range map[string]struct {
		card   Posting
		rep    approver.Reply
		screen bool
		sent   time.Time
		wants  int
	}{
		"a tap on this version":      {card, approver.Reply{Method: approver.ByTap, Shown: 2}, false, long, 2},
		"a tap at once":              {card, approver.Reply{Method: approver.ByTap, Shown: 2}, false, at(1), 2},
		"a tap on the one before":    {card, approver.Reply{Method: approver.ByTap, Shown: 1}, false, long, 1},
		"a tap on the first":         {card, approver.Reply{Method: approver.ByTap}, false, long, 0},
		"a tap, not yet confirmed":   {card, approver.Reply{Method: approver.ByTap, Shown: 3}, false, long, 2},
		"a tap that claims":          {card, approver.Reply{Method: approver.ByTap, Shown: 1 << 30}, false, long, 2},
		"a tap below nothing":        {card, approver.Reply{Method: approver.ByTap, Shown: -1}, false, long, 0},
		"a tap with a time":          {card, typed(approver.ByTap, 0), false, long, 0},
		"a dialog":                   {card, approver.Reply{Method: approver.ByCode, Shown: 2}, false, long, 2},
		"a dialog of before":         {card, approver.Reply{Method: approver.ByCode, Shown: 1}, false, long, 1},
		"a dialog that claims":       {card, approver.Reply{Method: approver.ByCode, Shown: 3}, false, long, 2},
		"a code":                     {card, typed(approver.ByCode, 0), false, long, 2},
		"a code that claims":         {card, typed(approver.ByCode, 3), false, long, 2},
		"a code in time":             {card, typed(approver.ByCode, 0), false, soon.Add(1), 2},
		"a code too soon":            {card, typed(approver.ByCode, 3), false, soon, 0},
		"a command too soon":         {card, typed(approver.ByCommand, 3), false, soon, 0},
		"a plain yes too soon":       {card, typed(approver.ByPlain, 3), false, soon, 0},
		"a command of before":        {card, typed(approver.ByCommand, 3), false, at(5), 0},
		"a plain yes of before":      {card, typed(approver.ByPlain, 3), false, at(5), 0},
		"a command":                  {card, typed(approver.ByCommand, 0), false, long, 2},
		"a plain yes":                {card, typed(approver.ByPlain, 0), false, long, 2},
		"nobody knows when":          {card, approver.Reply{Method: approver.ByCommand}, false, long, 0},
		"a plain yes, who knows":     {card, approver.Reply{Method: approver.ByPlain}, false, long, 0},
		"a record without a time":    {former, typed(approver.ByCommand, 3), false, long, 0},
		"a tap, such a record":       {former, approver.Reply{Method: approver.ByTap, Shown: 2}, false, long, 2},
		"a screen":                   {former, approver.Reply{Method: approver.ByTyped, Shown: 3}, true, long, 3},
		"a screen, a code":           {former, approver.Reply{Method: approver.ByCode, Shown: 1}, true, long, 1},
		"a screen that claims":       {former, approver.Reply{Method: approver.ByTyped, Shown: 4}, true, long, 3},
		"an unsure card":             {twice, approver.Reply{Method: approver.ByTap, Shown: 3}, false, long, 0},
		"an unsure card, a code":     {twice, typed(approver.ByCode, 3), false, long, 0},
		"an unsure card on a screen": {twice, approver.Reply{Method: approver.ByTyped, Shown: 3}, true, long, 0},
		"by id":                      {card, approver.Reply{Method: approver.ByID, Shown: 2}, false, long, 2},
		"by id, all":                 {card, approver.Reply{Method: approver.ByID, Shown: 3}, false, long, 3},
		"by id, less than a card":    {card, approver.Reply{Method: approver.ByID}, false, long, 0},
		"by id, nothing below that":  {card, approver.Reply{Method: approver.ByID, Shown: -5}, false, long, 0},
		"by id, nobody that comes":   {card, approver.Reply{Method: approver.ByID, Shown: 4}, false, long, 3},
		"by id, nobody ever":         {card, approver.Reply{Method: approver.ByID, Shown: 1 << 30}, false, long, 3},
		"by id, an unsure card":      {twice, approver.Reply{Method: approver.ByID, Shown: 2}, false, long, 2},
		"by id, without a card":      {Posting{}, approver.Reply{Method: approver.ByID, Shown: 2}, false, long, 2},
		"root":                       {Posting{}, approver.Reply{Method: approver.ByCode, Shown: 2}, false, long, 2},
		"root, without a word":       {Posting{}, approver.Reply{Method: approver.ByCode}, false, long, 0},
		"root, nobody that comes":    {Posting{}, approver.Reply{Method: approver.ByCode, Shown: 9}, false, long, 3},
		"a card that is not there": {
			Posting{Code: "other", Upto: 3}, approver.Reply{Method: approver.ByTap, Shown: 3}, false, long, 0,
		},
		"without a method":           {card, approver.Reply{}, false, long, 0},
		"without a method, no card":  {Posting{}, approver.Reply{}, false, long, 0},
		"a method that is not known": {card, approver.Reply{Method: 99, Shown: 3}, false, long, 2},
	} {
		r := Request{CallID: "a", Joined: 3, State: approver.Pending, Postings: []Posting{c.card}}
		if name == "a card that is not there" {
			r.Postings = []Posting{card}
		}
		if got := shownTo(r, c.card, c.rep, c.screen, c.sent); got != c.wants {
			t.Errorf("%s: up to %d, want %d", name, got, c.wants)
		}
	}
}
