package broadcaster

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// This file explores every interleaving of a request's events: up to three
// repliers, the clock, the courier leaving and coming back, the release with
// its audit record, a failing audit, and a crash of the daemon between any two
// steps. Every read and every compare-and-set is a step of its own. The steps
// call the real state machine and the real rule of what people are told; the
// exploration visits every reachable state once and counts the paths.

const (
	modelDue    = 10 // seconds
	modelGrace  = 4
	modelFP     = approver.Fingerprint("fp")
	modelCall   = "call"
	modelPeople = 3
)

// What an actor of the model does next.
const (
	idle    = iota
	read    // has read the record and will write
	audited // courier: the approval is in the audit; will read, then write
	consume // courier: has read after the audit and will write the release
	waiting // replier: written or lost the race; waits to be told
	done
)

type modelActor struct {
	pc    uint8
	stale bool // somebody wrote since this actor read
}

// world is one state of the model; it is comparable.
type world struct {
	now      int8
	state    approver.State
	cause    approver.Cause
	winner   int8 // replier whose answer the record holds; -1 none
	approve  bool
	audit    bool // the record names an audit record
	leaveAt  int8 // WithdrawAt; -1 none
	holder   int8
	logged   int8 // whose approval is in the audit log; -1 nobody's
	released int8 // how often the release was written

	reply   [modelPeople]modelActor
	told    [modelPeople]approver.OutcomeKind
	claim   [modelPeople]int8 // what a person was told of the call: 1 it runs, 2 it does not
	courier modelActor
	gone    bool // the courier's connection is gone
	leaver  modelActor
	back    bool // the courier came back once
	holding modelActor
	sweeper modelActor
	agent   int8 // 0 not told, 1 allow, 2 deny
	crashes int8
}

type model struct {
	t       *testing.T
	n       int // repliers
	says    [modelPeople]bool
	auditOK bool
	seen    map[world]*big.Int
	states  int
}

func at(s int8) time.Time { return time.Unix(int64(s), 0) }

func person(i int8) approver.Person { return approver.Person{ID: fmt.Sprintf("p%d", i)} }

func identityOf(i int8) approver.Identity {
	return approver.Identity{Channel: "chat", ID: fmt.Sprintf("id%d", i)}
}

func (w world) request() Request {
	r := Request{
		ID: "r", CallID: modelCall, Holder: fmt.Sprint(w.holder), Fingerprint: modelFP,
		Created: at(0), Due: at(modelDue), State: w.state,
		Resolution: approver.Resolution{Approve: w.approve, Cause: w.cause},
	}
	if w.winner >= 0 {
		r.Resolution.Person, r.Resolution.Identity = person(w.winner), identityOf(w.winner)
	}
	if w.leaveAt >= 0 {
		r.WithdrawAt = at(w.leaveAt)
	}
	if w.audit {
		r.Audit = "hash"
	}
	return r
}

// write is a successful compare-and-set: everybody else's reading is stale.
func (m *model) write(w world, r Request) world {
	if w.state.Settled() {
		m.t.Fatalf("a settled request was changed: %v -> %v\n%+v", w.state, r.State, w)
	}
	if r.State == approver.Consumed {
		w.released++
		if int(w.now) >= modelDue {
			m.t.Fatalf("released at or after the deadline\n%+v", w)
		}
		if w.logged < 0 || w.logged != w.winner {
			m.t.Fatalf("released without this person's approval in the audit\n%+v", w)
		}
	}
	if w.winner >= 0 && r.Resolution.Person != person(w.winner) {
		m.t.Fatalf("the first answer was replaced by another\n%+v", w)
	}
	w.state, w.cause, w.approve, w.audit = r.State, r.Resolution.Cause, r.Resolution.Approve, r.Audit != ""
	w.leaveAt = -1
	if !r.WithdrawAt.IsZero() {
		w.leaveAt = int8(min(r.WithdrawAt.Unix(), 100))
	}
	w.winner = -1
	for i := range int8(modelPeople) {
		if r.Resolution.Person == person(i) {
			w.winner = i
		}
	}
	fmt.Sscan(r.Holder, &w.holder)
	for i := range w.reply {
		w.reply[i].stale = w.reply[i].pc == read
	}
	w.courier.stale = w.courier.pc == read || w.courier.pc == consume
	w.leaver.stale = w.leaver.pc == read
	w.holding.stale = w.holding.pc == read
	w.sweeper.stale = w.sweeper.pc == read
	return w
}

// next lists the states that one step of one actor leads to.
func (m *model) next(w world) []world {
	var out []world
	add := func(w world) { out = append(out, w) }
	r, now := w.request(), at(w.now)

	for i := range m.n { // people
		a := w.reply[i]
		v := w
		switch {
		case a.pc == idle:
			v.reply[i] = modelActor{pc: read}
			if r.State.Settled() {
				v.reply[i].pc = waiting
			}
			add(v)
		case a.pc == read && a.stale:
			v.reply[i] = modelActor{}
			add(v)
		case a.pc == read:
			next, err := r.Answer(approver.Resolution{
				Approve: m.says[i], Cause: approver.ByPerson, Person: person(int8(i)), Identity: identityOf(int8(i)),
			}, now)
			if err == approver.ErrOverdue {
				next, err = r.Expire(now)
			}
			if err == nil {
				v = m.write(v, next)
			}
			v.reply[i] = modelActor{pc: waiting}
			add(v)
		case a.pc == waiting:
			if _, ok := r.Told(); ok {
				out := outcomeOf(r, approver.Reply{
					Channel: "chat", Sender: identityOf(int8(i)).ID, Approve: m.says[i],
				}, person(int8(i)))
				v.told[i], v.claim[i] = out.Kind, 2
				if out.Kind == approver.OutcomeApproved || strings.Contains(out.Text, "has been released") {
					v.claim[i] = 1
				}
				v.reply[i] = modelActor{pc: done}
				add(v)
			}
		}
	}

	if !w.gone { // the courier's connection
		a := w.courier
		v := w
		switch {
		case a.pc == idle && r.State.Settled():
			v.agent = 2
			if r.Released(modelCall, modelFP) {
				v.agent = 1
			}
			v.courier = modelActor{pc: done}
			add(v)
		case a.pc == idle && (r.State == approver.Approved || !now.Before(r.Due)):
			v.courier = modelActor{pc: read}
			add(v)
		case a.pc == read && a.stale, a.pc == consume && a.stale && m.auditOK:
			v.courier = modelActor{pc: map[bool]uint8{true: audited, false: idle}[a.pc == consume]}
			add(v)
		case a.pc == read && !now.Before(r.Due):
			if next, err := r.Expire(now); err == nil {
				v = m.write(v, next)
			}
			v.courier = modelActor{}
			add(v)
		case a.pc == read && m.auditOK:
			v.logged = w.winner
			v.courier = modelActor{pc: audited}
			add(v)
		case a.pc == read:
			if next, err := r.End(approver.Denied, approver.Unrecorded, now); err == nil {
				v = m.write(v, next)
			}
			v.courier = modelActor{}
			add(v)
		case a.pc == audited:
			v.courier = modelActor{pc: consume}
			add(v)
		case a.pc == consume:
			if next, err := r.Consume(modelCall, modelFP, "hash", now); err == nil {
				v = m.write(v, next)
			}
			v.courier = modelActor{}
			add(v)
		}
		if w.courier.pc != done && !w.back { // it leaves
			v := w
			v.gone, v.courier = true, modelActor{}
			add(v)
		}
	} else {
		v := w
		switch a := w.leaver; {
		case a.pc == idle:
			v.leaver = modelActor{pc: read}
			add(v)
		case a.pc == read && a.stale:
			v.leaver = modelActor{}
			add(v)
		case a.pc == read:
			if next, err := r.Leave("0", now, modelGrace*time.Second); err == nil {
				v = m.write(v, next)
			}
			v.leaver = modelActor{pc: done}
			add(v)
		}
		v = w
		switch a := w.holding; { // it comes back
		case a.pc == idle:
			v.holding = modelActor{pc: read}
			add(v)
		case a.pc == read && a.stale:
			v.holding = modelActor{}
			add(v)
		case a.pc == read:
			if next, err := r.Hold(modelCall, modelFP, "1"); err == nil {
				v = m.write(v, next)
			}
			v.gone, v.back, v.holding, v.courier = false, true, modelActor{pc: done}, modelActor{}
			add(v)
		}
	}

	v := w // the sweeper
	switch a := w.sweeper; {
	case a.pc == idle && !r.State.Settled() && (!now.Before(r.Due) || !r.WithdrawAt.IsZero() && !now.Before(r.WithdrawAt)):
		v.sweeper = modelActor{pc: read}
		add(v)
	case a.pc == read && a.stale:
		v.sweeper = modelActor{}
		add(v)
	case a.pc == read:
		next, err := r.Expire(now)
		if err != nil {
			next, err = r.Withdraw(now)
		}
		if err == nil {
			v = m.write(v, next)
		}
		v.sweeper = modelActor{}
		add(v)
	}

	if w.now < modelDue { // time passes
		v := w
		v.now += 5
		add(v)
	}
	if w.crashes < 1 { // everything in memory is gone; people tap again, the courier reconnects
		v := w
		v.crashes++
		for i := range v.reply {
			if v.reply[i].pc != done {
				v.reply[i] = modelActor{}
			}
		}
		v.sweeper, v.leaver = modelActor{}, modelActor{}
		if v.courier.pc != done {
			v.courier = modelActor{}
		}
		if v.holding.pc == read {
			v.holding = modelActor{}
		}
		add(v)
	}
	return out
}

// check holds the invariants of one state.
func (m *model) check(w world) {
	fail := func(what string) { m.t.Fatalf("%s\nsays %v, audit ok %v\n%+v", what, m.says[:m.n], m.auditOK, w) }
	if w.released > 1 {
		fail("released twice")
	}
	stands := 0
	for i := range m.n {
		switch {
		case w.claim[i] == 0:
			continue
		case w.claim[i] == 1 && (w.released != 1 || w.agent == 2):
			fail("somebody was told that the call runs, and it does not")
		case w.claim[i] == 2 && (w.released != 0 || w.agent == 1):
			fail("somebody was told that the call does not run, and it does")
		}
		switch w.told[i] {
		case approver.OutcomeApproved, approver.OutcomeDenied:
			stands++
			if int(w.winner) != i || (w.told[i] == approver.OutcomeApproved) != m.says[i] {
				fail("a person was told that an answer stands which does not")
			}
		case approver.OutcomeTooLate, approver.OutcomeExpired:
		default:
			fail(fmt.Sprintf("a person was told %d", w.told[i]))
		}
	}
	if stands > 1 {
		fail("two standing answers")
	}
	if w.agent == 1 && (w.released != 1 || w.logged != w.winner || w.winner < 0 || !m.says[w.winner]) {
		fail("the agent was told allow without a recorded approval")
	}
	if w.state == approver.Consumed && (w.winner < 0 || !m.says[w.winner]) {
		fail("consumed without a yes")
	}
}

// permits compares, in every reachable state, what each step of the state
// machine does with what the design allows, whoever may come to call it.
func (m *model) permits(w world) {
	r, now := w.request(), at(w.now)
	open, overdue := w.state == approver.Pending || w.state == approver.Approved, int(w.now) >= modelDue
	yes := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: person(2), Identity: identityOf(2)}
	for _, step := range []struct {
		name    string
		allowed bool
		do      func() (Request, error)
	}{
		{"answer", w.state == approver.Pending && !overdue, func() (Request, error) { return r.Answer(yes, now) }},
		{"answer by nobody", false, func() (Request, error) {
			return r.Answer(approver.Resolution{Approve: true, Cause: approver.ByPerson}, now)
		}},
		{"answer by the clock", false, func() (Request, error) {
			return r.Answer(approver.Resolution{Approve: true, Cause: approver.TimedOut, Person: person(2)}, now)
		}},
		{"expire", open && overdue, func() (Request, error) { return r.Expire(now) }},
		{"withdraw", open && w.leaveAt >= 0 && w.now >= w.leaveAt, func() (Request, error) { return r.Withdraw(now) }},
		{"leave", open, func() (Request, error) { return r.Leave(r.Holder, now, time.Second) }},
		{"leave of a former connection", false, func() (Request, error) { return r.Leave("former", now, time.Second) }},
		{"hold", open, func() (Request, error) { return r.Hold(modelCall, modelFP, "x") }},
		{"hold by another call", false, func() (Request, error) { return r.Hold("other", modelFP, "x") }},
		{"hold of another content", false, func() (Request, error) { return r.Hold(modelCall, "other", "x") }},
		{"fail", open, func() (Request, error) { return r.End(approver.Denied, approver.Unreachable, now) }},
		{"consume", w.state == approver.Approved && w.approve && !overdue, func() (Request, error) {
			return r.Consume(modelCall, modelFP, "hash", now)
		}},
		{"consume unrecorded", false, func() (Request, error) { return r.Consume(modelCall, modelFP, "", now) }},
		{"consume by another call", false, func() (Request, error) { return r.Consume("other", modelFP, "hash", now) }},
		{"consume of another content", false, func() (Request, error) { return r.Consume(modelCall, "other", "hash", now) }},
		{"consume by nobody", false, func() (Request, error) { return r.Consume("", "", "hash", now) }},
	} {
		next, err := step.do()
		if (err == nil) != step.allowed {
			m.t.Fatalf("%s: allowed %v, error %v\n%+v", step.name, step.allowed, err, w)
		}
		if err != nil && next.State != r.State {
			m.t.Fatalf("%s was refused and changed the request\n%+v", step.name, w)
		}
		switch {
		case err != nil:
		case next.State.Settled() && next.State != approver.Consumed && next.Resolution.Approve:
			m.t.Fatalf("%s: the request has ended as %v and its record says yes\n%+v", step.name, next.State, w)
		case next.State.Settled() && !next.WithdrawAt.IsZero(), step.name == "hold" &&
			(!next.WithdrawAt.IsZero() || next.Holder != "x"):
			m.t.Fatalf("%s: it would still be withdrawn\n%+v", step.name, w)
		}
	}
	if r.Released("other", modelFP) || r.Released(modelCall, "other") || r.Released("", "") ||
		r.Released(modelCall, modelFP) != (w.released > 0) {
		m.t.Fatalf("released to the wrong call\n%+v", w)
	}
	if res, told := r.Told(); told == open || res.Approve != (w.released > 0) {
		m.t.Fatalf("people may be told %+v, %v\n%+v", res, told, w)
	}
}

// paths returns the number of ways to go on from w to an end.
func (m *model) paths(w world) *big.Int {
	if n, ok := m.seen[w]; ok {
		return n
	}
	m.seen[w] = nil
	m.states++
	m.check(w)
	m.permits(w)
	sum := new(big.Int)
	next := m.next(w)
	if len(next) == 0 {
		sum.SetInt64(1)
		m.end(w)
	}
	for _, v := range next {
		n := m.paths(v)
		if n == nil {
			m.t.Fatalf("the model runs in a circle\n%+v", v)
		}
		sum.Add(sum, n)
	}
	m.seen[w] = sum
	return sum
}

// end checks a state in which nothing more can happen.
func (m *model) end(w world) {
	if !w.state.Settled() {
		m.t.Fatalf("a request was never settled\n%+v", w)
	}
	for i := range m.n {
		if w.claim[i] == 0 {
			m.t.Fatalf("a person was never told\n%+v", w)
		}
	}
	if !w.gone && w.agent == 0 {
		m.t.Fatalf("the agent was never told\n%+v", w)
	}
}

// TestInterleavings is the proof by exhaustion that a request has at most one
// standing answer, that nobody is told "approved" for a call that was not
// released, and that nothing is released twice, unrecorded or after expiry.
func TestInterleavings(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	start := time.Now()
	total, states := new(big.Int), 0
	for n := range modelPeople + 1 {
		for says := range 1 << n {
			for _, auditOK := range []bool{true, false} {
				m := &model{t: t, n: n, auditOK: auditOK, seen: map[world]*big.Int{}}
				for i := range n {
					m.says[i] = says>>i&1 == 1
				}
				w := world{state: approver.Pending, winner: -1, leaveAt: -1, logged: -1}
				total.Add(total, m.paths(w))
				states += m.states
			}
		}
	}
	t.Logf("%d states, %s interleavings, %v", states, total, time.Since(start).Round(time.Millisecond))
	if states < 10_000 {
		t.Errorf("only %d states: the model has lost its events", states)
	}
}

// Whatever a record says of a yes, nobody is told of it unless the call was
// released.
func TestToldOfABrokenRecord(t *testing.T) {
	for _, s := range []approver.State{
		approver.Denied, approver.Pending, approver.Approved, approver.Expired, approver.Withdrawn, 99,
	} {
		r := Request{
			State: s, CallID: "c", Fingerprint: "f", Resolution: approver.Resolution{Approve: true, Cause: approver.ByPerson},
		}
		if res, _ := r.Told(); res.Approve || r.Released("c", "f") {
			t.Errorf("%v: told %+v, released %v", s, res, r.Released("c", "f"))
		}
	}
}
