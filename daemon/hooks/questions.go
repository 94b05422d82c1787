package hooks

import (
	"context"
	"sync"

	"approver.example"
)

// questions are the agents' own questions, which have no id of the call: each is about a content, see
// promptKey. What is about the zero key cannot be told apart, so nothing is noted of it. The zero value has
// none.
type questions struct {
	mu  sync.Mutex
	all map[useKey]map[*int]context.CancelCauseFunc // those that wait for people
	// answers are what the agents were told, until the call is reported. Only the newest are kept.
	answers map[useKey]answers
	// reported are the calls that ran by a yes to a question, and what it was about, until their turn is over.
	// Only the newest are kept.
	reported map[useKey]useKey
}

// answers counts what an agent was told about questions that are the same.
type answers struct{ yes, no int }

// add notes a question, and returns what removes it.
func (q *questions) add(key useKey, cancel context.CancelCauseFunc) (remove func()) {
	id := new(int)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = map[useKey]map[*int]context.CancelCauseFunc{}
	}
	if q.all[key] == nil {
		q.all[key] = map[*int]context.CancelCauseFunc{}
	}
	q.all[key][id] = cancel
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if delete(q.all[key], id); len(q.all[key]) == 0 {
			delete(q.all, key)
		}
	}
}

// told notes what an agent was told about its question.
func (q *questions) told(key useKey, what outcome) {
	if what == unanswered || key == (useKey{}) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.answers == nil || len(q.answers) >= maxOutcomes {
		q.answers = map[useKey]answers{}
	}
	a := q.answers[key]
	if what == permitted {
		a.yes++
	} else {
		a.no++
	}
	q.answers[key] = a
}

// began notes that a new call with this content was decided, which the agent may not ask about.
func (q *questions) began(of func() useKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.answers) == 0 {
		return
	}
	key := of()
	if a, ok := q.answers[key]; ok && a.yes > 0 {
		q.answers[key] = answers{yes: a.yes}
	} else if ok {
		delete(q.answers, key)
	}
}

// ran ends the questions about a call that the agent reports: its user answered them, because nobody
// else did. no says that the agent was told no about this call.
func (q *questions) ran(call, key useKey) (no bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.answers[key]
	if a.yes > 0 { // the questions that wait may be about other calls of the turn
		if q.reported == nil || len(q.reported) >= maxOutcomes {
			q.reported = map[useKey]useKey{}
		}
		q.reported[call] = key
		if a.yes--; a == (answers{}) {
			delete(q.answers, key)
		} else {
			q.answers[key] = a
		}
		return false
	}
	delete(q.answers, key)
	q.endAll(key)
	return a.no > 0
}

// over ends the questions about a call whose turn is over. key is zero if it ran: where two hooks have asked
// the same, one question may still wait.
func (q *questions) over(call, key useKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ran, ok := q.reported[call]; ok {
		key = ran
		delete(q.reported, call)
	}
	delete(q.answers, key)
	q.endAll(key)
}

func (q *questions) endAll(key useKey) {
	if key == (useKey{}) {
		return
	}
	for _, cancel := range q.all[key] {
		cancel(approver.ErrAtDesk)
	}
}
