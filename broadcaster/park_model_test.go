package broadcaster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// This file explores every interleaving of a parked request: the park itself, two
// people, two calls that come back, a freeze, the clock. As in
// request_model_test.go every read and every compare-and-set is a step of its
// own, and the steps are the real state machine.

const modelTakeBy = 20 // seconds; silence is a no at modelDue

type parkWorld struct {
	r        Request
	now      int64
	reply    [2]modelActor
	claim    [2]int8 // 1 told that it was released, 2 that nothing runs, 3 that it may run
	back     [2]modelActor
	told     [2]int8 // 1 allow, 2 deny
	parker   modelActor
	frozen   bool
	released int
}

type parkModel struct {
	t      *testing.T
	says   [2]bool
	seen   map[string]bool
	states int
}

func (w parkWorld) key() string {
	r := w.r
	return fmt.Sprint(r.State, r.Parked, r.CallID, r.Due.Unix(), r.Audit, r.Resolution.Person.ID, r.Resolution.Cause,
		r.Resolution.Approve,
		w.now, w.reply, w.claim, w.back, w.told, w.parker, w.frozen, w.released)
}

func backCall(i int) approver.ToolCall {
	return approver.ToolCall{ID: fmt.Sprintf("back%d", i), Agent: "a"}
}

// write is a successful compare-and-set.
func (m *parkModel) write(w parkWorld, r Request) parkWorld {
	if w.r.State.Settled() {
		m.t.Fatalf("a settled request was changed\n%+v", w)
	}
	if r.State == approver.Consumed {
		if w.released++; w.frozen || !w.r.Resolution.Approve || w.now >= modelTakeBy {
			m.t.Fatalf("released without a yes, after its time or in a freeze\n%+v", w)
		}
	}
	w.r = r
	for _, a := range []*modelActor{&w.reply[0], &w.reply[1], &w.back[0], &w.back[1], &w.parker} {
		a.stale = a.pc == read || a.pc == consume
	}
	return w
}

func (m *parkModel) next(w parkWorld) (out []parkWorld) {
	add := func(w parkWorld) { out = append(out, w) }
	now := time.Unix(w.now, 0)
	for i := range w.reply {
		v, a := w, w.reply[i]
		mine := w.r.Resolution.Person == person(int8(i))
		switch {
		case a.pc == idle:
			v.reply[i] = modelActor{pc: read}
			add(v)
		case a.pc == read && a.stale:
			v.reply[i] = modelActor{}
			add(v)
		case a.pc == read:
			r, err := w.r.Answer(approver.Resolution{
				Approve: m.says[i], Cause: approver.ByPerson, Person: person(int8(i)), Identity: identityOf(int8(i)),
			}, now)
			if err == approver.ErrOverdue {
				r, err = w.r.Expire(now)
			}
			if v.reply[i] = (modelActor{pc: waiting}); err == nil {
				v = m.write(v, r)
			}
			add(v)
		case a.pc == waiting && w.r.State.Settled():
			res := outcomeOf(w.r, approver.Reply{
				Channel: "chat", Sender: identityOf(int8(i)).ID, Approve: m.says[i],
			}, person(int8(i)))
			v.claim[i] = 2
			if res.Kind == approver.OutcomeApproved || strings.Contains(res.Text, "has been released") {
				v.claim[i] = 1
			}
			v.reply[i] = modelActor{pc: done}
			add(v)
		case a.pc == waiting && mine && w.r.Granted():
			v.claim[i], v.reply[i] = 3, modelActor{pc: done}
			add(v)
		case a.pc == waiting && mine && w.r.State == approver.Approved && w.r.Parked: // the record, then the note of it
			r := w.r
			r.Audit = "granted"
			add(m.write(v, r))
		}
	}
	v := w
	switch a := w.parker; {
	case a.pc == idle, a.pc == read && a.stale:
		v.parker = modelActor{pc: read}
		add(v)
	case a.pc == read:
		r, err := w.r.Park(time.Unix(modelTakeBy, 0), now)
		if v.parker = (modelActor{pc: done}); err == nil {
			v = m.write(v, r)
		}
		add(v)
	}
	for i := range w.back {
		v, a := w, w.back[i]
		switch {
		case !w.r.Parked:
		case a.pc == idle && w.r.State.Settled():
			v.told[i], v.back[i] = 2, modelActor{pc: done}
			if w.r.Released(backCall(i).ID, modelFP) {
				v.told[i] = 1
			}
			add(v)
		case a.pc == idle && w.r.State == approver.Approved && !w.frozen: // reads that there is no freeze, and records
			v.back[i] = modelActor{pc: consume}
			add(v)
		case a.pc == consume && a.stale:
			v.back[i] = modelActor{}
			add(v)
		case a.pc == consume:
			r, err := w.r.Take(backCall(i), modelFP, "used", now, now)
			if v.back[i] = (modelActor{}); err == nil {
				v = m.write(v, r)
			}
			if err == nil || w.r.State.Settled() || !now.Before(w.r.Due) {
				add(v)
			} else {
				m.t.Fatalf("a yes that waits is not given: %v\n%+v", err, w)
			}
		}
	}
	if !w.frozen && !w.r.State.Settled() { // with what it denies: later is what the release itself checks
		v := w
		if r, err := w.r.End(approver.Denied, approver.Frozen, now); err == nil {
			v = m.write(v, r)
		}
		v.frozen = true
		add(v)
	}
	if r, err := w.r.Expire(now); err == nil {
		add(m.write(w, r))
	}
	if w.now < modelTakeBy {
		v := w
		v.now += 5
		add(v)
	}
	return out
}

func (m *parkModel) walk(w parkWorld) {
	k := w.key()
	if m.seen[k] {
		return
	}
	m.seen[k] = true
	m.states++
	allowed := 0
	for _, told := range w.told {
		if told == 1 {
			allowed++
		}
	}
	if w.released > 1 || allowed > w.released {
		m.t.Fatalf("released %d times, told %d\n%+v", w.released, allowed, w)
	}
	for i, claim := range w.claim {
		switch {
		case claim == 1 && w.released != 1:
			m.t.Fatalf("person %d was told that it was released\n%+v", i, w)
		case claim == 2 && w.released != 0 && w.r.State.Settled():
			m.t.Fatalf("person %d was told that nothing runs\n%+v", i, w)
		case claim == 3 && !m.says[i]:
			m.t.Fatalf("person %d said no and was told that it may run\n%+v", i, w)
		}
	}
	next := m.next(w)
	if len(next) == 0 && !w.r.State.Settled() {
		m.t.Fatalf("never settled\n%+v", w)
	}
	for _, v := range next {
		m.walk(v)
	}
}

// TestParkedInterleavings: a yes that waits is used at most once, by one call,
// in its time, never after a freeze; and what people are told holds.
func TestParkedInterleavings(t *testing.T) {
	states := 0
	for says := range 4 {
		m := &parkModel{t: t, says: [2]bool{says&1 > 0, says&2 > 0}, seen: map[string]bool{}}
		m.walk(parkWorld{r: Request{
			ID: "r", CallID: modelCall, Fingerprint: modelFP, Call: approver.ToolCall{ID: modelCall, Agent: "a"},
			Created: at(0), Due: at(modelDue), State: approver.Pending,
		}})
		states += m.states
	}
	t.Logf("%d states", states)
	if states < 1000 {
		t.Errorf("only %d states: the model has lost its events", states)
	}
}
