package checks

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/statusview"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/logging"
	"approver.example/display"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/evaluator/evaluatortest"
	"approver.example/shieldcore/sidecar"
)

// What was made visible once is not marked twice, in the log and by status.
func TestNoMarkIsMarkedAgain(t *testing.T) {
	once := display.OneLine("s\u202egnp ⟨U+0041⟩")
	var out bytes.Buffer
	logging.New(&out, configs.Log{Format: configs.LogJSON}).Warn("x", "session", once)
	if !strings.Contains(out.String(), "s⟨U+202E⟩gnp") || strings.Contains(out.String(), "U+27E8⟩U+202E") {
		t.Errorf("the log: %s", &out)
	}
	was := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	statusview.Print(adminapi.Status{Up: true,
		Held:    []broadcaster.Hold{{Who: broadcaster.Who{Session: once}, Freeze: broadcaster.Freeze{Reason: once}}},
		Control: "frozen", Hooks: []string{once}, Trouble: once, Removed: []string{once, "raw \u202e"}}, "")
	os.Stdout = was
	_ = w.Close()
	shown, err := io.ReadAll(r)
	if err != nil || strings.Contains(string(shown), "U+27E8⟩U+202E") || strings.Contains(string(shown), "\u202e") ||
		strings.Count(string(shown), "s⟨U+202E⟩gnp") < 4 || !strings.Contains(string(shown), "raw ⟨U+202E⟩") {
		t.Errorf("status: %s, %v", shown, err)
	}
}

// Doctor has one evaluation made, shows no key, and with --offline sends nothing.
func TestDoctorAsksTheEvaluator(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	key := filepath.Join(t.TempDir(), "key")
	look := func(secret string, does evaluatortest.Behavior, offline bool) *doctor {
		if err := os.WriteFile(key, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Behave(does)
		d := &doctor{}
		d.cfg.Shield.Evaluator = &evaluator.Config{Provider: evaluator.OpenAI, URL: p.URL(evaluatortest.OpenAI),
			Model: evaluatortest.Model, KeyFile: key, Deadline: time.Second}
		d.evaluator(t.Context(), offline)
		for _, f := range d.found {
			if strings.Contains(f.Text+f.Fix, secret) {
				t.Errorf("the key is shown: %+v", f)
			}
		}
		return d
	}
	look(p.Key(), evaluatortest.Honest(), false).has(t, "evaluator", finding.OK, "it answers as it must")
	look(p.Key(), daemontest.WrongModel(), false).has(t, "evaluator", finding.Fail,
		"evaluator openai evaluatortest-1: the provider refused the request (HTTP 400, model not found): check model")
	look("another-key", evaluatortest.Honest(), false).has(t, "evaluator", finding.Fail, "does not take the key (HTTP 401")
	look(p.Key(), evaluatortest.Deciding("BLOCK", 0.9, "no"), false).has(t, "evaluator", finding.Warn,
		"says BLOCK to a plain ls")
	asked := p.Count()
	look(p.Key(), daemontest.WrongModel(), true).has(t, "evaluator", finding.OK, "not asked (--offline)")
	if p.Count() != asked {
		t.Error("--offline asked the provider")
	}
	p.Close()
	look(p.Key(), evaluatortest.Honest(), false).has(t, "evaluator", finding.Fail, "cannot be connected to")
	d := doctor{}
	if d.evaluator(t.Context(), false); len(d.found) > 0 {
		t.Errorf("none is configured: %+v", d.found)
	}
}

// printedStatus is what status prints, in one line.
func printedStatus(t *testing.T, doc adminapi.Status) string {
	t.Helper()
	return strings.Join(strings.Fields(daemontest.PrintedOut(t, func() { statusview.Print(doc, "") })), " ")
}

// The audit's folder was moved away and back, an evaluator failed, approver had frozen
// everything: status ended with 1, and doctor with 0, because each had a list of its own.
// Now there is one: what status fails for it prints, and doctor tells it with a cure, and
// fails for it. Only of people it warns, as somebody may watch the terminal in a moment.
func TestStatusAndDoctorCannotDisagree(t *testing.T) {
	at := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	chat := broadcaster.ChannelState{Receiver: true, Reception: approver.Reception{Up: true, Since: at}}
	chat.Cards = []broadcaster.CardsState{{NoneSince: at, Problem: "403: kicked"}}
	failing := &adminapi.Shield{FailMode: configs.FailClosed, Evaluator: "evaluator openai tpyo", Since: at,
		LastFailure: at, Problem: "HTTP 404"}
	for name, tt := range map[string]struct {
		doc  adminapi.Status
		why  string // told by both
		cure string // of doctor
	}{
		"a socket is lost": {adminapi.Status{Lost: []string{"/run/s: it was removed"}}, "/run/s: it was removed",
			"restart the daemon"},
		"the store fails": {adminapi.Status{Trouble: "disk full"}, "disk full", "tells more of the store"},
		"a channel is deaf": {adminapi.Status{Channels: []adminapi.Channel{{Name: "slack", Error: "401"}}},
			"slack DOES NOT RECEIVE: 401", "docs/channels/slack.md"},
		"a chat gets no cards": {adminapi.Status{Channels: []adminapi.Channel{adminapi.ChannelOf("slack", chat, nil)}},
			"403: kicked", "docs/channels/slack.md"},
		"nobody can approve": {adminapi.Status{Nobody: "nobody can approve ANY request: of slack no approver " +
			"counts. Pair a chat"}, "of slack no approver counts", "Pair a chat"},
		"the hooks are weakened": {adminapi.Status{Hooks: []string{"the hook is gone" + adminapi.FixMark +
			"put it back"}}, "the hook is gone", "put it back"},
		"frozen by approver": {adminapi.Status{Control: "FROZEN because of an alarm",
			Freeze: &broadcaster.Freeze{By: "approver", Reason: "it is older"}}, "it is older", "find out why"},
		"the evaluator fails": {adminapi.Status{Shield: failing},
			"FAILS since 2026-11-23 05:00:00 UTC, and never answered: HTTP 404", "restart the daemon"},
		"the evaluator did answer": {adminapi.Status{Shield: &adminapi.Shield{Evaluator: "e", Since: at, LastSuccess: at,
			Problem: "HTTP 500"}}, "HTTP 500; it last answered at", "within"},
		"the model is down": {adminapi.Status{Shield: &adminapi.Shield{Evaluator: "e",
			Model: &sidecar.Status{State: sidecar.State("down"), Error: "exit status 1"}}}, "exit status 1", "shield.sidecar"},
		"the budget cannot be read": {adminapi.Status{Shield: &adminapi.Shield{Evaluator: "e", QuotaErr: "no quorum"}},
			"no quorum", "tells more of the store"},
		"the audit fails": {adminapi.Status{AuditErr: "the audit log has failed: no space"},
			"every call is denied: the audit log has failed: no space", "tries again by itself"},
		"the audit was moved": {adminapi.Status{AuditErr: "it was moved", AuditChanged: true},
			"every call is denied: it was moved", "approver unfreeze"},
		"the policy is broken": {adminapi.Status{NotInForce: []adminapi.NotInForce{{What: "policy",
			Why: adminapi.BrokenFiles + "line 3: no such key"}}}, "line 3: no such key", "approver check"},
		"a looser policy waits": {adminapi.Status{NotInForce: []adminapi.NotInForce{{What: "policy",
			Why: "they loosen what is in force"}}}, "", ""},
		"all is well": {adminapi.Status{}, "", ""},
		"a person froze": {adminapi.Status{Control: "FROZEN by uid 7", Freeze: &broadcaster.Freeze{By: "uid 7"}},
			"", ""},
		"nobody, but it is observed": {adminapi.Status{Nobody: "nobody can approve ANY request: x. y",
			Observe: &adminapi.Observe{}}, "", ""},
		"nobody for the worst": {adminapi.Status{Nobody: "nobody can approve a CATASTROPHIC request: x. y"}, "", ""},
		"nobody watches": {adminapi.Status{Channels: []adminapi.Channel{{Name: "terminal", Watchers: new(int)}}},
			"", ""},
		"it was not asked yet": {adminapi.Status{Shield: &adminapi.Shield{Evaluator: "e"}}, "", ""},
		"the model begins": {adminapi.Status{Shield: &adminapi.Shield{Evaluator: "e", Model: &sidecar.Status{}}},
			"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.doc.Up, tt.doc.Version = true, adminapi.BuildVersion()
			if well := tt.doc.Well(); well != (tt.why == "") {
				t.Errorf("status is well: %v", well)
			}
			d := doctor{asked: true, status: tt.doc}
			d.daemon(t.Context())
			d.people()
			failed := 0
			for _, f := range d.found {
				if warned := f.Check == adminapi.PartPeople &&
					len(tt.doc.TroublesOf(adminapi.PartPeople)) > 0; f.Result != finding.Fail && !warned {
					continue
				}
				failed++
				if !strings.Contains(f.Text, tt.why) || !strings.Contains(f.Fix, tt.cure) && tt.cure != "within" {
					t.Errorf("%+v, want %q and %q", f, tt.why, tt.cure)
				}
			}
			if want := len(tt.doc.Troubles()); failed != want || (want == 0) != (tt.why == "") {
				t.Errorf("doctor fails %d times of %d: %+v", failed, want, d.found)
			}
			if text := printedStatus(t, tt.doc); !strings.Contains(text, tt.why) {
				t.Errorf("status says %q", text)
			}
		})
	}
	for _, changed := range []bool{false, true} {
		text := printedStatus(t, adminapi.Status{Up: true, AuditErr: "no space", AuditChanged: changed})
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
		theirs *adminapi.Shield
		how    finding.Result
		want   string
	}{
		"another that fails": {&adminapi.Shield{Evaluator: "evaluator openai tpyo", Since: at}, finding.Fail,
			"the daemon asks evaluator openai tpyo, and the configuration says " + same},
		"another that works": {&adminapi.Shield{Evaluator: "evaluator openai old", Since: at, Answers: true}, finding.Warn,
			"the daemon asks evaluator openai old"},
		"none": {&adminapi.Shield{}, finding.Warn, "the daemon asks none, and the configuration says"},
		"the same that failed": {&adminapi.Shield{Evaluator: same, Since: at, LastFailure: at}, finding.Fail,
			"last evaluation failed at 2026-11-23 05:00:00 UTC; it answers now"},
		"the same that works": {&adminapi.Shield{Evaluator: same, Since: at, Answers: true}, finding.OK,
			"it answers as it must"},
		"the same, not asked": {&adminapi.Shield{Evaluator: same}, finding.OK, "it answers as it must"},
		"no daemon that says": {nil, finding.OK, "it answers as it must"},
	} {
		d := doctor{asked: true, status: adminapi.Status{Up: tt.theirs != nil, Shield: tt.theirs}}
		d.cfg.Shield.Evaluator = &evaluator.Config{Provider: evaluator.OpenAI, URL: p.URL(evaluatortest.OpenAI),
			Model: evaluatortest.Model, KeyFile: key, Deadline: 5 * time.Second}
		d.evaluator(t.Context(), false)
		if d.has(t, "evaluator", tt.how, tt.want); t.Failed() {
			t.Fatalf("%s: %+v", name, d.found)
		}
	}
}

// The embedded store's file was removed under the daemon. Doctor said "ok: approver.db can
// be written" of a file that did not exist, beside "its store fails". Now it looks for the
// file that the daemon has open.
func TestDoctorMissesTheStoresFile(t *testing.T) {
	for name, tt := range map[string]struct {
		there, up bool
		how       finding.Result
		want      string
	}{
		"removed under the daemon": {false, true, finding.Fail,
			"the daemon that runs has its store open, and nothing can be found at"},
		"as it should be":       {true, true, finding.OK, "can be written"},
		"no daemon, and a file": {true, false, finding.OK, "can be written"},
		"neither":               {false, false, finding.Warn, "approver.db yet"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "approver.db")
			if tt.there {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d := doctor{asked: true, status: adminapi.Status{Up: tt.up}}
			d.embedded(path)
			d.has(t, "store", tt.how, tt.want)
		})
	}
}
