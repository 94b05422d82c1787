package broadcaster

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"approver.example"
)

// This file explores every interleaving of a request that identical calls share: two
// calls join, the card is edited, a person answers, couriers leave and come back, each
// takes its yes, a freeze, the clock. The steps are the real state machine. A read and its
// compare-and-set are one step here: a write that loses is read again, as change does.

type shareWorld struct {
	r      Request
	now    int64
	seen   map[int]shownCalls // each version of the card, by its Upto
	gone   map[string]int     // 1 left, 2 came back
	taken  map[string]int     // how often each call was released
	joined map[string]bool
	yes    []string // what the card showed when a person said yes
	frozen bool
	unsure bool
	page   int      // what somebody who shows the request by its id was told to answer with
	read   []string // and the calls that stood there; none before that
	said   int8     // 1 yes, 2 no
}

// shownCalls is one version of the card.
type shownCalls struct {
	calls []string
	at    int64 // since when people see it
}

// sent is which calls the card showed to somebody whose message was sent at a time.
func (w shareWorld) sent(at int64) []string {
	last := 0
	for upto, v := range w.seen {
		if v.at < at {
			last = max(last, upto)
		}
	}
	return w.seen[last].calls
}

type shareModel struct {
	t      *testing.T
	sev    approver.Severity
	seen   map[string]bool
	states int
	most   int
}

var shareCalls = []string{"a", "b", "c"}

func (w shareWorld) key() string {
	r := w.r
	return fmt.Sprint(r.State, r.CallID, r.N, r.Holder, r.WithdrawAt.Unix(), r.Also, r.Joined, r.Resolution,
		r.ReleasedAt.Unix(), r.Postings, w.now, w.seen, w.gone, w.taken, w.joined, w.yes, w.frozen, w.said, w.unsure, w.page,
		w.read, w.ended(), r.Acked.Unix(), r.Lapsed, r.Fate)
}

func (w shareWorld) clone() shareWorld {
	v := w
	v.gone, v.taken, v.joined, v.seen = map[string]int{}, map[string]int{}, map[string]bool{}, maps.Clone(w.seen)
	for k, n := range w.gone {
		v.gone[k] = n
	}
	for k, n := range w.taken {
		v.taken[k] = n
	}
	for k, n := range w.joined {
		v.joined[k] = n
	}
	return v
}

// goneAll reports that no call waits that has not left.
func (w shareWorld) goneAll() bool {
	return !slices.ContainsFunc(shareCalls, func(id string) bool {
		return w.joined[id] && w.gone[id] != 1 && w.r.callers().includes(id)
	})
}

// ended are the calls of which the audit is to say that they are off the request.
func (w shareWorld) ended() (calls []string) {
	for _, e := range w.r.Ended {
		calls = append(calls, e.CallID)
	}
	slices.Sort(calls)
	return calls
}

// waiting are the calls on a card that is edited now.
func (w shareWorld) waiting() []string {
	out := []string{w.r.CallID}
	for _, c := range w.r.Also {
		out = append(out, c.CallID)
	}
	slices.Sort(out)
	return out
}

func (m *shareModel) next(w shareWorld) (out []shareWorld) {
	now := time.Unix(w.now, 0)
	step := func(r Request, err error, then func(*shareWorld)) {
		if err != nil {
			return
		}
		v := w.clone()
		v.r = r
		if then != nil {
			then(&v)
		}
		out = append(out, v)
	}
	for _, id := range shareCalls[1:] {
		if !w.joined[id] {
			r, err := w.r.AddCaller(Caller{CallID: id, Holder: id}, now)
			step(r, err, func(v *shareWorld) { v.joined[id] = true })
		}
	}
	if w.r.State == approver.Pending && w.r.Postings[0].Upto < w.r.Joined { // the edit, and the note of it
		r, err := counted(w.r, w.r, []int{0}, []bool{true}, []bool{false}, now)
		step(r, err, func(v *shareWorld) { v.seen[w.r.Joined] = shownCalls{w.waiting(), w.now} })
	}
	// approver show
	if w.r.State == approver.Pending && w.read == nil && w.now == 0 && !w.unsure && !w.frozen && len(w.gone) == 0 {
		v := w.clone()
		v.page, v.read = w.r.Joined, w.waiting()
		out = append(out, v)
	}
	if w.said == 0 {
		ways := map[*approver.Reply][]string{{Method: approver.ByID}: {"a"}}
		for upto, version := range w.seen { // also one that was on a screen before the last edit
			ways[&approver.Reply{Method: approver.ByTap, Shown: upto}] = version.calls
		}
		for _, ago := range []int64{0, 5} { // also a message that waited
			ways[&approver.Reply{
				Method: approver.ByCommand, Sent: now.Add(-time.Duration(ago) * time.Second),
			}] = w.sent(w.now - ago)
		}
		if w.read != nil {
			ways = map[*approver.Reply][]string{{Method: approver.ByID, Shown: w.page}: w.read} // a tap is as without it
		}
		for rep, saw := range ways {
			for _, approve := range []bool{true, false} {
				res := approver.Resolution{Approve: approve, Cause: approver.ByPerson, Person: person(0), Identity: identityOf(0),
					Method: rep.Method, Calls: shownTo(w.r, w.r.Postings[0], *rep, false, rep.Sent)}
				r, err := w.r.Answer(res, now)
				step(r, err, func(v *shareWorld) {
					v.said = 2
					if approve {
						v.said, v.yes = 1, saw
					}
				})
			}
		}
	}
	for _, id := range shareCalls {
		if !w.joined[id] {
			continue
		}
		switch w.gone[id] {
		case 0:
			r, err := w.r.Leave(id, now, modelGrace*time.Second)
			step(r, err, func(v *shareWorld) { v.gone[id] = 1 })
		case 1:
			r, err := w.r.Hold(id, modelFP, id)
			step(r, err, func(v *shareWorld) { v.gone[id] = 2 })
		}
		if w.gone[id] == 1 { // nobody is there to take it
			continue
		}
		takes := w.r.Parked || w.r.callers().mayTake(id, now.Sub(w.r.Resolution.At))
		if w.r.State == approver.Approved && takes && !w.frozen {
			r, err := w.r.Consume(id, modelFP, "hash", now)
			step(r, err, func(v *shareWorld) { v.taken[id]++ })
		}
		r, err := w.r.Share(id, modelFP, id, at(0), now)
		step(r, err, func(v *shareWorld) {
			if !w.frozen { // a freeze is looked at after the write
				v.taken[id]++
				return
			}
			v.r.Also = slices.Clone(v.r.Also)
			v.r.Also[v.r.Also.at(id)].Lost = true
		})
	}
	if w.r.State == approver.Pending && !w.unsure && w.now == 0 { // an answer of the platform was lost
		v := w.clone()
		v.unsure = true
		v.r.Postings = slices.Clone(w.r.Postings)
		v.r.Postings[0].Unsure = true
		out = append(out, v)
	}
	r, err := w.r.Withdraw(now)
	step(r, err, nil)
	r = w.r
	r.Release, err = w.r.ack(now)
	step(r, err, nil)
	r, err = w.r.lapse(true, at(0), now)
	step(r, err, nil)
	r, err = w.r.Expire(now)
	step(r, err, nil)
	if !w.frozen {
		v := w.clone()
		if r, err := w.r.End(approver.Denied, approver.Frozen, now); err == nil {
			v.r = r
		}
		v.frozen = true
		out = append(out, v)
	}
	if w.now < modelDue {
		v := w.clone()
		v.now += 5
		out = append(out, v)
	}
	return out
}

func (m *shareModel) walk(w shareWorld) {
	k := w.key()
	if m.seen[k] {
		return
	}
	m.seen[k] = true
	m.states++
	all := 0
	for _, id := range shareCalls {
		n := w.taken[id]
		all += n
		switch {
		case n > 1:
			m.t.Fatalf("%s was released %d times\n%+v", id, n, w)
		case n == 1 && (w.said != 1 || !slices.Contains(w.yes, id)):
			m.t.Fatalf("%s was released, and the card that was answered showed %v\n%+v", id, w.yes, w)
		}
	}
	for _, id := range shareCalls {
		off := slices.IndexFunc(w.r.Ended, func(e Ending) bool { return e.CallID == id }) >= 0
		if w.joined[id] && !w.r.callers().includes(id) && !off {
			m.t.Fatalf("the audit never hears how %s ended\n%+v", id, w)
		}
		if off && w.taken[id] > 0 {
			m.t.Fatalf("%s was released, and the audit says that it got no answer\n%+v", id, w)
		}
	}
	if got, _ := w.r.released(w.r.Also); w.r.State == approver.Consumed && !w.r.hasUntaken(w.r.Also) && got != all {
		m.t.Fatalf("the card counts %d calls, and %d were released\n%+v", got, all, w)
	}
	switch {
	case commonFate(w.r) == Untaken && all > 1:
		m.t.Fatalf("the card says that nobody took the answer, and %d calls were released\n%+v", all, w)
	case w.r.State == approver.Withdrawn && w.said == 1 && w.r.Resolution.Cause == approver.AgentGone && !w.goneAll():
		m.t.Fatalf("a yes ended as if the agents had gone, and one waits\n%+v", w)
	case w.r.Resolution.Cause == approver.NotShown && slices.ContainsFunc(shareCalls, w.r.callers().includes):
		m.t.Fatalf("the yes was for nobody, and a call is not asked anew\n%+v", w)
	}
	if m.most = max(m.most, all); all > 1 && m.sev != approver.High {
		m.t.Fatalf("one yes to a CATASTROPHIC call released %d\n%+v", all, w)
	}
	next := m.next(w)
	if len(next) == 0 && !w.r.State.Settled() {
		m.t.Fatalf("never settled\n%+v", w)
	}
	for _, v := range next {
		m.walk(v)
	}
}

// TestSharedInterleavings: a yes releases each call that the answered card showed at most
// once, and no other; of CATASTROPHIC calls one; never after a freeze.
func TestSharedInterleavings(t *testing.T) {
	longComputation(t)
	for sev, most := range map[approver.Severity]int{approver.High: 3, approver.Catastrophic: 1} {
		m := &shareModel{t: t, sev: sev, seen: map[string]bool{}}
		m.walk(shareWorld{
			r: Request{
				ID: "r", CallID: "a", Holder: "a", Fingerprint: modelFP, Call: approver.ToolCall{ID: "a", Agent: "x", Acks: true},
				Verdict: approver.Verdict{Severity: sev},
				Created: at(0), Due: at(modelDue), State: approver.Pending, Postings: []Posting{{Code: "code", Phase: Posted}},
			},
			seen: map[int]shownCalls{0: {calls: []string{"a"}}}, gone: map[string]int{}, taken: map[string]int{},
			joined: map[string]bool{"a": true},
		})
		t.Logf("%v: %d states", sev, m.states)
		if m.states < 1000 || m.most != most {
			t.Errorf("%v: %d states, at most %d released, want %d: the model has lost its events", sev, m.states, m.most, most)
		}
	}
}
