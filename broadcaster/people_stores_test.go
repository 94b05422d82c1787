package broadcaster_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

// twoDaemons starts two daemons on one store, each with Ada and Bob as approvers.
func twoDaemons(t *testing.T, open func() approver.KV) (here, there replica, stores []approver.KV) {
	t.Helper()
	people := []approver.Approver{{ID: "1", Name: "Ada", Person: "ada"}, {ID: "2", Name: "Bob", Person: "bob"}}
	stores = []approver.KV{open(), open()}
	return startReplica(t, stores[0], people...), startReplica(t, stores[1], people...), stores
}

// onBothStores runs a test on the embedded store, and on a Redis to which each daemon has
// connections of its own.
func onBothStores(t *testing.T, test func(t *testing.T, open func() approver.KV)) {
	quiet := slog.New(slog.DiscardHandler)
	t.Run("embedded", func(t *testing.T) {
		store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "approver.db")}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, func() approver.KV { return store })
	})
	t.Run("redis", func(t *testing.T) {
		server, err := redistest.Start(t.Context(), redistest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		key := hubKey(t)
		test(t, func() approver.KV {
			store, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{server.Addr}, HubKeyFile: key}, quiet)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			return store
		})
	})
}

// An asked call is one whose card is there.
type asked struct {
	request string
	verdict chan approver.Verdict
}

// put asks about a command of a user's agent, and waits for a card or for the verdict.
func (r replica) put(t *testing.T, command string, park bool) (a asked, isAsked bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	here := make(chan approver.Ref, 1)
	r.m.mu.Lock()
	r.m.seen[command] = here
	r.m.mu.Unlock()
	a = asked{verdict: make(chan approver.Verdict, 1)}
	call := approver.ToolCall{
		ID: fmt.Sprint(command, time.Now().UnixNano()), Agent: "claude", Session: command, Tool: "Bash", Command: command,
		Args: fmt.Appendf(nil, `{"command":%q}`, command),
		Dir:  "/repo", At: time.Now(),
		Peer: approver.Peer{Known: true, UID: 1000},
	}
	if park {
		call.ParkAt = time.Now().Add(time.Second)
	}
	go func() {
		a.verdict <- r.b.Ask(ctx, call, approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
		})
	}()
	select {
	case ref := <-here:
		a.request = ref.Message
		return a, true
	case v := <-a.verdict:
		a.verdict <- v
		return a, false
	case <-ctx.Done():
		t.Fatal("neither a card nor a verdict")
	}
	return a, false
}

// runs reports whether a call is let go without a question.
func (r replica) runs(t *testing.T, command string) bool {
	t.Helper()
	a, isAsked := r.put(t, command, false)
	if isAsked { // a question that stays open would take in the next call
		r.says(t, "2", a.request, false, approver.Term{})
	}
	return (<-a.verdict).Decision == approver.Allow && !isAsked
}

// says is an answer of somebody at this daemon.
func (r replica) says(t *testing.T, sender, request string, approve bool, term approver.Term) approver.Outcome {
	t.Helper()
	rep := approver.Reply{
		Channel: "memory", Conversation: "room", Sender: sender, Approve: approve, Method: approver.ByTap, Request: request,
		Message: request,
	}
	if term != (approver.Term{}) {
		r.m.mu.Lock()
		rep.Method, rep.Code, rep.Grant = approver.ByCommand, r.m.cards[request].Code, term
		r.m.mu.Unlock()
	}
	return r.m.reply(t.Context(), rep)
}

func (r replica) removal(t *testing.T, person string) broadcaster.Removal {
	t.Helper()
	c, _, err := r.b.Controls.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range c.Removed.InForce() {
		if gone.Person == person {
			return gone
		}
	}
	return broadcaster.Removal{}
}

// The story: Ada's phone is stolen. Her yes waits for its call at one daemon, another one
// lasts for a quarter of an hour, and a card is open. Somebody removes her at the other
// daemon. From that moment she is refused at both, her yes releases nothing and her grant
// lets nothing run, at neither; Bob's does. Brought back by the first daemon she counts
// again at the other, and what she had approved before stays void.
func TestSomebodyIsRemovedAtTheOtherDaemon(t *testing.T) {
	onBothStores(t, func(t *testing.T, open func() approver.KV) {
		here, there, _ := twoDaemons(t, open)
		quarter, ok := approver.ParseTerm("15m")
		if !ok {
			t.Fatal("no term")
		}
		for sender, prefix := range map[string]string{"1": "ada", "2": "bob"} {
			for _, kind := range []string{" waits", " lasts"} {
				a, ok := here.put(t, prefix+kind, kind == " waits")
				if !ok {
					t.Fatalf("%s%s: %+v", prefix, kind, <-a.verdict)
				}
				term := quarter
				if kind == " waits" {
					<-a.verdict // the agent is told to come back
					term = approver.Term{}
				}
				if out := here.says(t, sender, a.request, true, term); out.Kind != approver.OutcomeApproved &&
					out.Kind != approver.OutcomeRecorded {
					t.Fatalf("%s%s: %+v", prefix, kind, out)
				}
				if kind == " lasts" {
					<-a.verdict
				}
			}
		}
		if grants, err := there.b.Grants.List(t.Context()); err != nil || len(grants) != 4 {
			t.Fatalf("%d grants, %v", len(grants), err)
		}
		open1, _ := here.put(t, "open", false)
		gone := broadcaster.Removal{
			Person: "ada", Identities: []approver.Identity{{Channel: "memory", ID: "1"}}, By: "uid 0", Reason: "stolen",
		}
		if voided, err := there.b.Removals.Remove(t.Context(), gone); err != nil || voided != 2 {
			t.Fatalf("%d void, %v", voided, err)
		}
		for name, d := range map[string]replica{"here": here, "there": there} {
			for _, approve := range []bool{true, false} {
				if out := d.says(t, "1", open1.request, approve, approver.Term{}); out.Kind != approver.OutcomeRefused ||
					!strings.Contains(out.Text, "You were removed") {
					t.Errorf("%s: her answer %v: %+v", name, approve, out)
				}
			}
			for command, want := range map[string]bool{"ada waits": false, "ada lasts": false, "bob lasts": true} {
				if ran := d.runs(t, command); ran != want {
					t.Errorf("%s: %q runs: %v", name, command, ran)
				}
			}
			if grants, err := d.b.Grants.List(t.Context()); err != nil || len(grants) != 2 {
				t.Errorf("%s: %d grants, %v", name, len(grants), err)
			}
			if n := len(d.b.Approvers.Counting()); n != 1 {
				t.Errorf("%s: %d people count", name, n)
			}
		}
		if !here.runs(t, "bob waits") || there.runs(t, "bob waits") {
			t.Error("Bob's yes that waits releases one call")
		}
		if out := there.says(t, "2", open1.request, true, approver.Term{}); out.Kind != approver.OutcomeApproved {
			t.Errorf("Bob: %+v", out)
		}
		if v := <-open1.verdict; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
		if err := here.b.Removals.Restore(t.Context(), here.removal(t, "ada"), "uid 0"); err != nil {
			t.Fatal(err)
		}
		for name, d := range map[string]replica{"here": here, "there": there} {
			for _, command := range []string{"ada waits", "ada lasts"} {
				if d.runs(t, command) {
					t.Errorf("%s: %q runs since she is back", name, command)
				}
			}
		}
		anew, _ := here.put(t, "anew", false)
		if out := here.says(t, "1", anew.request, true, approver.Term{}); out.Kind != approver.OutcomeApproved {
			t.Errorf("she is back: %+v", out)
		}
		if v := <-anew.verdict; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}

// The story: a freeze begins at one daemon and root lifts it at the other; each meets it at
// once. Then both approvers are removed while a card is open: root, who may approve only
// where nobody else can, releases it at the daemon that did not post it, once.
func TestRootAtTheOtherDaemon(t *testing.T) {
	onBothStores(t, func(t *testing.T, open func() approver.KV) {
		here, there, stores := twoDaemons(t, open)
		frozen := func(want bool) {
			t.Helper()
			for i, d := range []replica{here, there} {
				v, err := broadcaster.FreezeStage{Store: stores[i], Mark: d.b.Mark}.Judge(t.Context(),
					approver.ToolCall{Agent: "claude", Dir: "/repo"})
				if err != nil || (v.Decision == approver.Deny) != want {
					t.Errorf("daemon %d, frozen %v: %+v, %v", i, want, v, err)
				}
			}
		}
		before, _ := here.put(t, "before the freeze", false)
		if denied, err := there.b.Controls.Freeze(t.Context(), "ada", "it runs wild"); err != nil || denied != 1 {
			t.Fatalf("%d denied, %v", denied, err)
		}
		if v := <-before.verdict; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		frozen(true)
		if err := here.b.Controls.Unfreeze(t.Context(), "uid 0"); err != nil {
			t.Fatal(err)
		}
		frozen(false)
		a, _ := here.put(t, "dropdb", false)
		may := func() string {
			t.Helper()
			r, err := there.b.Requests.Get(t.Context(), a.request)
			if err != nil {
				t.Fatal(err)
			}
			return there.b.Approvers.OwnerMay(t.Context(), r)
		}
		for _, person := range []string{"ada", "bob"} {
			if why := may(); !strings.Contains(why, "others can approve it") {
				t.Errorf("before %s is removed: %q", person, why)
			}
			if out := there.b.Answers.OwnerApproves(t.Context(), a.request, 1); out.Kind != approver.OutcomeRefused {
				t.Errorf("%+v", out)
			}
			if _, err := here.b.Removals.Remove(t.Context(), broadcaster.Removal{Person: person, By: "uid 0"}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := there.b.Controls.Load(t.Context()); err != nil { // as each call and each answer does
				t.Fatal(err)
			}
		}
		if why := may(); why != "" {
			t.Fatalf("root may not: %q", why)
		}
		if out := there.b.Answers.OwnerApproves(t.Context(), a.request, 1); out.Kind != approver.OutcomeApproved &&
			out.Kind != approver.OutcomeRecorded {
			t.Errorf("%+v", out)
		}
		if v := <-a.verdict; v.Decision != approver.Allow || v.By != approver.ByPeople {
			t.Errorf("%+v", v)
		}
		late, isAsked := here.put(t, "another", false)
		if v := <-late.verdict; isAsked || v.Decision != approver.Deny || !strings.Contains(v.Reason, "nobody is left") {
			t.Errorf("asked %v, %+v", isAsked, v)
		}
	})
}
