package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/evaluator/evaluatortest"
	"approver.example/shieldcore/sidecar"
)

// printedStatus is what status prints, in one line.
func printedStatus(t *testing.T, doc statusDoc) string {
	t.Helper()
	return strings.Join(strings.Fields(printedOut(t, func() { printStatus(doc, "") })), " ")
}

// printedOut is what a function prints, which is short.
func printedOut(t *testing.T, print func()) string {
	t.Helper()
	was := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	print()
	os.Stdout = was
	_ = w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The audit's folder was moved away and back, an evaluator failed, approver had frozen
// everything: status ended with 1, and doctor with 0, because each had a list of its own.
// Now there is one: what status fails for it prints, and doctor tells it with a cure, and
// fails for it. Only of people it warns, as somebody may watch the terminal in a moment.
func TestStatusAndDoctorCannotDisagree(t *testing.T) {
	at := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	chat := approver.ChannelState{Receiver: true, Reception: approver.Reception{Up: true, Since: at}}
	chat.Cards = []approver.CardsState{{NoneSince: at, Problem: "403: kicked"}}
	failing := &shieldStatus{FailMode: configs.FailClosed, Evaluator: "evaluator openai tpyo", Since: at, LastFailure: at, Problem: "HTTP 404"}
	for name, tt := range map[string]struct {
		doc  statusDoc
		why  string // told by both
		cure string // of doctor
	}{
		"a socket is lost":           {statusDoc{Lost: []string{"/run/s: it was removed"}}, "/run/s: it was removed", "restart the daemon"},
		"the store fails":            {statusDoc{Trouble: "disk full"}, "disk full", "tells more of the store"},
		"a channel is deaf":          {statusDoc{Channels: []channelStatus{{Name: "slack", Error: "401"}}}, "slack DOES NOT RECEIVE: 401", "docs/channels/slack.md"},
		"a chat gets no cards":       {statusDoc{Channels: []channelStatus{statusOf("slack", chat, nil)}}, "403: kicked", "docs/channels/slack.md"},
		"nobody can approve":         {statusDoc{Nobody: "nobody can approve ANY request: of slack no approver counts. Pair a chat"}, "of slack no approver counts", "Pair a chat"},
		"the hooks are weakened":     {statusDoc{Hooks: []string{"the hook is gone" + fixMark + "put it back"}}, "the hook is gone", "put it back"},
		"frozen by approver":         {statusDoc{Control: "FROZEN because of an alarm", Freeze: &approver.Freeze{By: "approver", Reason: "it is older"}}, "it is older", "find out why"},
		"the evaluator fails":        {statusDoc{Shield: failing}, "FAILS since 2026-11-23 05:00:00 UTC, and never answered: HTTP 404", "restart the daemon"},
		"the evaluator did answer":   {statusDoc{Shield: &shieldStatus{Evaluator: "e", Since: at, LastSuccess: at, Problem: "HTTP 500"}}, "HTTP 500; it last answered at", "within"},
		"the model is down":          {statusDoc{Shield: &shieldStatus{Evaluator: "e", Model: &sidecar.Status{State: sidecar.State("down"), Error: "exit status 1"}}}, "exit status 1", "shield.sidecar"},
		"the budget cannot be read":  {statusDoc{Shield: &shieldStatus{Evaluator: "e", QuotaErr: "no quorum"}}, "no quorum", "tells more of the store"},
		"the audit fails":            {statusDoc{AuditErr: "the audit log has failed: no space"}, "every call is denied: the audit log has failed: no space", "tries again by itself"},
		"the audit was moved":        {statusDoc{AuditErr: "it was moved", AuditChanged: true}, "every call is denied: it was moved", "approver unfreeze"},
		"the policy is broken":       {statusDoc{NotInForce: []unheeded{{What: "policy", Why: brokenFiles + "line 3: no such key"}}}, "line 3: no such key", "approver check"},
		"a looser policy waits":      {statusDoc{NotInForce: []unheeded{{What: "policy", Why: "they loosen what is in force"}}}, "", ""},
		"all is well":                {statusDoc{}, "", ""},
		"a person froze":             {statusDoc{Control: "FROZEN by uid 7", Freeze: &approver.Freeze{By: "uid 7"}}, "", ""},
		"nobody, but it is observed": {statusDoc{Nobody: "nobody can approve ANY request: x. y", Observe: &observeStatus{}}, "", ""},
		"nobody for the worst":       {statusDoc{Nobody: "nobody can approve a CATASTROPHIC request: x. y"}, "", ""},
		"nobody watches":             {statusDoc{Channels: []channelStatus{{Name: "terminal", Watchers: new(int)}}}, "", ""},
		"it was not asked yet":       {statusDoc{Shield: &shieldStatus{Evaluator: "e"}}, "", ""},
		"the model begins":           {statusDoc{Shield: &shieldStatus{Evaluator: "e", Model: &sidecar.Status{}}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.doc.Up, tt.doc.Version = true, buildVersion()
			if well := tt.doc.well(); well != (tt.why == "") {
				t.Errorf("status is well: %v", well)
			}
			d := doctor{asked: true, status: tt.doc}
			d.daemon(t.Context())
			d.people()
			failed := 0
			for _, f := range d.found {
				if warned := f.Check == ofPeople && len(tt.doc.troublesOf(ofPeople)) > 0; f.Result != fail && !warned {
					continue
				}
				failed++
				if !strings.Contains(f.Text, tt.why) || !strings.Contains(f.Fix, tt.cure) && tt.cure != "within" {
					t.Errorf("%+v, want %q and %q", f, tt.why, tt.cure)
				}
			}
			if want := len(tt.doc.troubles()); failed != want || (want == 0) != (tt.why == "") {
				t.Errorf("doctor fails %d times of %d: %+v", failed, want, d.found)
			}
			if text := printedStatus(t, tt.doc); !strings.Contains(text, tt.why) {
				t.Errorf("status says %q", text)
			}
		})
	}
	for _, changed := range []bool{false, true} {
		text := printedStatus(t, statusDoc{Up: true, AuditErr: "no space", AuditChanged: changed})
		if !strings.Contains(text, "needs no restart") || strings.Contains(text, "unfreeze") != changed {
			t.Errorf("what helps, where it was changed: %v: %q", changed, text)
		}
	}
}

// The model's name had a typing error, which was mended in the file. Doctor tested the
// file's evaluator and was well, while the daemon went on to ask for the wrong one and
// blocked each call. Both facts are told now, with the restart that is the cure.
func TestDoctorKnowsWhichEvaluatorTheDaemonAsks(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(p.Key()), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	same := "evaluator openai " + evaluatortest.Model
	for name, tt := range map[string]struct {
		theirs *shieldStatus
		how    result
		want   string
	}{
		"another that fails":   {&shieldStatus{Evaluator: "evaluator openai tpyo", Since: at}, fail, "the daemon asks evaluator openai tpyo, and the configuration says " + same},
		"another that works":   {&shieldStatus{Evaluator: "evaluator openai old", Since: at, Answers: true}, warn, "the daemon asks evaluator openai old"},
		"none":                 {&shieldStatus{}, warn, "the daemon asks none, and the configuration says"},
		"the same that failed": {&shieldStatus{Evaluator: same, Since: at, LastFailure: at}, fail, "last evaluation failed at 2026-11-23 05:00:00 UTC; it answers now"},
		"the same that works":  {&shieldStatus{Evaluator: same, Since: at, Answers: true}, ok, "it answers as it must"},
		"the same, not asked":  {&shieldStatus{Evaluator: same}, ok, "it answers as it must"},
		"no daemon that says":  {nil, ok, "it answers as it must"},
	} {
		d := doctor{asked: true, status: statusDoc{Up: tt.theirs != nil, Shield: tt.theirs}}
		d.cfg.Shield.Evaluator = &evaluator.Config{Provider: evaluator.OpenAI, URL: p.URL(evaluatortest.OpenAI), Model: evaluatortest.Model, KeyFile: key, Deadline: 5 * time.Second}
		d.evaluator(t.Context(), false)
		if d.has(t, "evaluator", tt.how, tt.want); t.Failed() {
			t.Fatalf("%s: %+v", name, d.found)
		}
	}
}

// A provider was down for a minute while a call needed it. Nobody's call needed it for
// hours, and status failed all that time. The daemon now asks it anew by itself, ever more
// rarely, and an evaluator that works is never asked.
func TestAnEvaluatorThatFailedIsAskedAnew(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	e, err := evaluator.New(evaluator.Config{Provider: evaluator.OpenAI, URL: p.URL(evaluatortest.OpenAI), Model: evaluatortest.Model, Key: approver.NewSecret(p.Key()), Deadline: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s := &shield{name: e.String(), asks: e, log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	var probing sync.WaitGroup
	probing.Go(func() { s.probe(ctx, time.Millisecond, 4*time.Millisecond) })
	defer probing.Wait()
	defer stop()
	time.Sleep(50 * time.Millisecond)
	if p.Count() > 0 {
		t.Error("one that no call needed was asked")
	}
	p.Behave(wrongModel())
	if _, err := e.Health(t.Context()); err == nil || !s.status(t.Context()).fails() {
		t.Fatalf("%v: this tests nothing", err)
	}
	p.Behave(evaluatortest.Honest())
	for end := time.Now().Add(20 * time.Second); s.status(t.Context()).fails(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it answers for long, and still counts as failing")
		}
	}
	asked := p.Count()
	time.Sleep(50 * time.Millisecond)
	if p.Count() > asked {
		t.Errorf("one that works was asked %d times", p.Count()-asked)
	}
}

// The embedded store's file was removed under the daemon. Doctor said "ok: approver.db can
// be written" of a file that did not exist, beside "its store fails". Now it looks for the
// file that the daemon has open.
func TestDoctorMissesTheStoresFile(t *testing.T) {
	for name, tt := range map[string]struct {
		there, up bool
		how       result
		want      string
	}{
		"removed under the daemon": {false, true, fail, "the daemon that runs has its store open, and nothing can be found at"},
		"as it should be":          {true, true, ok, "can be written"},
		"no daemon, and a file":    {true, false, ok, "can be written"},
		"neither":                  {false, false, warn, "approver.db yet"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "approver.db")
			if tt.there {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d := doctor{asked: true, status: statusDoc{Up: tt.up}}
			d.embedded(path)
			d.has(t, "store", tt.how, tt.want)
		})
	}
}
