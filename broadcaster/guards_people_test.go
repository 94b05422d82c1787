package broadcaster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A removal takes back each yes of that person, by name or by account, and nothing else:
// neither a no, nor an end that nobody gave, nor what others said.
func TestWhichAnswersARemovalTakesBack(t *testing.T) {
	now := time.Now()
	c := Controls{
		Removed: []Removal{{Person: "ada", Identities: []approver.Identity{{Channel: "telegram", ID: "1"}}, At: now}},
	}
	ada, hers := approver.Person{ID: "ada"}, approver.Identity{Channel: "telegram", ID: "1"}
	for name, tt := range map[string]struct {
		res  approver.Resolution
		want bool
	}{
		"her yes": {
			approver.Resolution{Cause: approver.ByPerson, Approve: true, Person: ada, Identity: hers}, true,
		},
		"her account, another name": {
			approver.Resolution{
				Cause: approver.ByPerson, Approve: true, Person: approver.Person{ID: "eve"}, Identity: hers,
			}, true,
		},
		"her name, another account": {
			approver.Resolution{
				Cause: approver.ByPerson, Approve: true, Person: ada, Identity: approver.Identity{Channel: "slack", ID: "U1"},
			}, true,
		},
		"her no": {approver.Resolution{Cause: approver.ByPerson, Person: ada, Identity: hers}, false},
		"an end that nobody gave": {
			approver.Resolution{Cause: approver.TimedOut, Approve: true, Person: ada, Identity: hers}, false,
		},
		"Bob's yes": {approver.Resolution{Cause: approver.ByPerson, Approve: true,
			Person: approver.Person{ID: "bob"}, Identity: approver.Identity{Channel: "telegram", ID: "2"}}, false},
		"her id on another platform": {approver.Resolution{Cause: approver.ByPerson, Approve: true,
			Person: approver.Person{ID: "bob"}, Identity: approver.Identity{Channel: "slack", ID: "1"}}, false},
		"nobody's": {approver.Resolution{Cause: approver.ByPerson, Approve: true}, false},
	} {
		if got := c.Removed.takesBack(tt.res); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What people saw of a removal before they let somebody back is compared in every field:
// another time, another account or a later return is another removal.
func TestARemovalIsComparedWhole(t *testing.T) {
	at := time.Now()
	seen := Removal{
		Person: "ada", Identities: []approver.Identity{{Channel: "telegram", ID: "1"}}, At: at, Last: at, Back: at,
	}
	for name, other := range map[string]func(r *Removal){
		"the person": func(r *Removal) { r.Person = "bob" },
		"when":       func(r *Removal) { r.At = at.Add(1) },
		"when anew":  func(r *Removal) { r.Last = at.Add(1) },
		"when back":  func(r *Removal) { r.Back = at.Add(1) },
		"an account": func(r *Removal) { r.Identities = []approver.Identity{{Channel: "telegram", ID: "2"}} },
		"more accounts": func(r *Removal) {
			r.Identities = append(r.Identities, approver.Identity{Channel: "slack", ID: "U1"})
		},
		"no accounts": func(r *Removal) { r.Identities = nil },
	} {
		r := seen
		if other(&r); r.same(seen) || seen.same(r) {
			t.Errorf("%s: taken for the same", name)
		}
	}
	if !seen.same(seen) {
		t.Error("it is not the same as itself")
	}
	var c Controls
	for _, ids := range [][]approver.Identity{{
		{Channel: "telegram", ID: "1"}, {Channel: "discord", ID: "1"},
	}, {{Channel: "discord", ID: "1"}, {Channel: "slack", ID: "1"}}, {{Channel: "slack", ID: "1"}}} {
		if err := c.remove(Removal{Person: "ada", Identities: ids}, at); err != nil {
			t.Fatal(err)
		}
	}
	if r := c.Removed[0]; len(c.Removed) != 1 || len(r.Identities) != 3 {
		t.Errorf("%+v", c.Removed)
	}
}

// The story: the audit's disk or the store is away in the moment of a removal, or of a
// restore. Each ends closed, and its error says what is so: who was removed is away although
// no record says it, and nobody is back without a record.
func TestRemovalsWhenSomethingFails(t *testing.T) {
	ada := Removal{Person: "alice", By: "uid 0"}
	isAway := func(t *testing.T, x *bench, want bool) {
		t.Helper()
		if r := away(t, x.Broadcaster, "alice"); r.Stands() != want {
			t.Errorf("away: %+v", r)
		}
	}
	policies := func(x *bench) (notes []string) {
		for _, r := range x.audit.of("") {
			if r.Event == approver.EventPolicy {
				notes = append(notes, r.Note)
			}
		}
		return notes
	}
	failing := func(x *bench, op string) {
		x.kv.mu.Lock()
		defer x.kv.mu.Unlock()
		x.kv.fail = func(now, key string) error {
			if now == op && (op != "put" || key == controlKey()) {
				return errors.New("the store is away")
			}
			return nil
		}
	}
	for name, f := range map[string]func(t *testing.T, x *bench){
		"nobody is named": func(t *testing.T, x *bench) {
			if _, err := x.Removals.Remove(t.Context(), Removal{By: "uid 0"}); err == nil || len(x.Mark.Removed()) != 0 {
				t.Errorf("%v, %v", err, x.Mark.Removed())
			}
		},
		"it is not recorded": func(t *testing.T, x *bench) {
			x.audit.fail = approver.EventPolicy
			if _, err := x.Removals.Remove(t.Context(), ada); err == nil ||
				!strings.Contains(err.Error(), "alice is removed, but that could not be recorded") {
				t.Error(err)
			}
			isAway(t, x, true)
		},
		"the open requests cannot be listed": func(t *testing.T, x *bench) {
			failing(x, "scheduled")
			if _, err := x.Removals.Remove(t.Context(), ada); err == nil || !strings.Contains(err.Error(), "the store is away") {
				t.Error(err)
			}
			isAway(t, x, true)
		},
		"the store lost the controls": func(t *testing.T, x *bench) {
			x.kv.mu.Lock()
			delete(x.kv.records, controlKey())
			x.kv.mu.Unlock()
			if _, err := x.Removals.Remove(t.Context(), ada); err != nil {
				t.Error(err)
			}
			isAway(t, x, true)
			if c, _, err := x.Controls.Load(t.Context()); err != nil || !c.Frozen() || c.Missing {
				t.Errorf("%+v, %v", c, err)
			}
		},
		"nobody was removed": func(t *testing.T, x *bench) {
			if err := x.Removals.Restore(t.Context(), ada, "uid 0"); !errors.Is(err, ErrNotRemoved) || len(policies(x)) != 0 {
				t.Errorf("%v, recorded %q", err, policies(x))
			}
		},
		"a restore that is not recorded": func(t *testing.T, x *bench) {
			removeAlice(t, x.Broadcaster)
			x.audit.fail = approver.EventPolicy
			if err := x.Removals.Restore(t.Context(), away(t, x.Broadcaster, "alice"), "uid 0"); err == nil {
				t.Error("she is brought back without a record")
			}
			isAway(t, x, true)
		},
		"a restore that the store does not take": func(t *testing.T, x *bench) {
			removeAlice(t, x.Broadcaster)
			failing(x, "put")
			if err := x.Removals.Restore(t.Context(), away(t, x.Broadcaster, "alice"), "uid 0"); err == nil {
				t.Error("no error")
			}
			isAway(t, x, true)
			if notes := policies(x); len(notes) != 3 ||
				!strings.HasPrefix(notes[2], "this is not known to have taken effect: alice is BROUGHT BACK") {
				t.Errorf("recorded %q", notes)
			}
		},
		"a yes that waits": func(t *testing.T, x *bench) {
			answer := x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
			synctest.Wait()
			<-answer
			x.tap(x.tg, 0, "1", true)
			synctest.Wait()
			removeAlice(t, x.Broadcaster)
			synctest.Wait()
			_, card := x.tg.card(0)
			r, _, err := x.Requests.load(t.Context(), card.Request)
			if err != nil || !r.State.Settled() || r.Resolution.Cause != approver.Revoked ||
				!strings.Contains(card.Result, "revoked") {
				t.Errorf("%v, the request is %v by %v, its card says %q", err, r.State, r.Resolution.Cause, card.Result)
			}
			if events := fmt.Sprint(x.audit.events(card.Request)); strings.Count(events, string(approver.EventRevoked)) != 1 {
				t.Errorf("recorded %s", events)
			}
		},
		"a no of hers": func(t *testing.T, x *bench) {
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			x.tap(x.tg, 0, "1", false)
			<-answer
			if n, err := x.Removals.Remove(t.Context(), ada); n != 0 || err != nil {
				t.Errorf("%d void, %v", n, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { story(t, f) })
	}
}

// An account without an id, or a list's entry without a person, is nobody; an entry that
// names no person is a person by itself, of that channel alone.
func TestWhoIsOnAList(t *testing.T) {
	people := approver.People{{Channel: "slack", ID: ""}: {ID: "eve"}, {Channel: "slack", ID: "U9"}: {Name: "no id"}}
	people.Add("telegram", []approver.Approver{{ID: "1"}, {ID: "2", Name: "Bob", Person: "bob"}})
	for _, tt := range []struct {
		channel, id string
		want        approver.Person
		ok          bool
	}{
		{"telegram", "1", approver.Person{ID: "telegram:1", Name: "1"}, true},
		{"telegram", "2", approver.Person{ID: "bob", Name: "Bob"}, true},
		{"discord", "1", approver.Person{}, false},
		{"telegram", "Bob", approver.Person{}, false},
		{"slack", "", approver.Person{}, false},
		{"slack", "U9", approver.Person{Name: "no id"}, false},
	} {
		if who, ok := people.Lookup(tt.channel, tt.id); ok != tt.ok || ok && who != tt.want {
			t.Errorf("%s %q: %+v, %v", tt.channel, tt.id, who, ok)
		}
	}
}

type takerChat struct {
	*chat
	only approver.Severity
}

func (c takerChat) Takes(s approver.Severity) bool { return s == c.only }

type receiverChat struct {
	*chat
	now approver.Reception
}

func (c receiverChat) Reception() approver.Reception { return c.now }

// Whether somebody could approve decides between a question and a denial at once, and
// whether root may: each reason counts by itself. A channel that has not tried yet hears
// nothing: status said that it does not receive, and not that nobody can approve.
func TestNobodyCouldApprove(t *testing.T) {
	on := []approver.Destination{{Channel: "telegram", Conversation: "T"}}
	listed := approver.People{{Channel: "telegram", ID: "1"}: {ID: "ada"}}
	at := time.Now()
	for name, tt := range map[string]struct {
		channel approver.Channel
		people  approver.People
		at      []approver.Destination
		ended   error
		want    string
	}{
		"somebody":         {newChat("telegram"), listed, on, nil, ""},
		"no destination":   {newChat("telegram"), listed, nil, nil, "no channel is configured"},
		"nobody is listed": {newChat("telegram"), approver.People{}, on, nil, "of telegram no approver counts"},
		"listed elsewhere": {
			newChat("telegram"), approver.People{
				{Channel: "discord", ID: "1"}: {ID: "ada"},
			}, on, nil, "of telegram no approver counts",
		},
		"the severity is too high": {
			takerChat{
				newChat("telegram"), approver.Catastrophic,
			}, listed, on, nil, "the telegram takes no approval of HIGH requests",
		},
		"the severity is taken": {takerChat{newChat("telegram"), approver.High}, listed, on, nil, ""},
		"the channel has ended": {newChat("telegram"), listed, on, errors.New("401"), "from telegram no answers arrive"},
		"no answers arrive": {
			receiverChat{
				newChat("telegram"), approver.Reception{Since: at},
			}, listed, on, nil, "from telegram no answers arrive now",
		},
		"answers arrive": {receiverChat{newChat("telegram"), approver.Reception{Since: at, Up: true}}, listed, on, nil, ""},
		"it has not tried": {
			receiverChat{newChat("telegram"), approver.Reception{}}, listed, on, nil, "from telegram no answers arrive now",
		},
	} {
		b := composed(Options{Destinations: tt.at, Mark: NewControlMark(0), Channels: []approver.Channel{tt.channel}})
		b.Approvers.people.Store(&tt.people)
		b.Channels.states.ended("telegram", tt.ended)
		if got := b.Approvers.Nobody(approver.High); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
