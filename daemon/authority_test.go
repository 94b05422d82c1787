package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/broadcaster/sealing"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/sealed"
	"approver.example/shieldcore/evaluator"
)

// An authorityBench is an installation whose daemon starts again and again.
type authorityBench struct {
	*testing.T
	kv       approver.KV
	audit    *daemontest.Ledger
	isolated bool
	older    bool
	log      bytes.Buffer
	counts   approver.People // in the daemon
}

func newAuthorityBench(t *testing.T) *authorityBench {
	return &authorityBench{T: t, kv: daemontest.OpenKV(t), audit: &daemontest.Ledger{}}
}

// lists is a configuration with these approvers on Telegram, and one in the terminal.
func (b *authorityBench) lists(more string, ids ...string) configs.Config {
	b.Helper()
	text := "dir: /d\nsockets: {submit: /s, resolve: /r}\nchannels:\n  terminal:\n    approvers: [{id: \"0\"}]\n" + more
	if len(ids) > 0 {
		text += "  telegram:\n    token: \"123456:AAEhBP0av28FrPBmiRhTLD2ucWOCrDqUmZs\"\n    chats: [{id: \"-1001\"}]\n" +
			"    approvers:\n"
	}
	for _, id := range ids {
		text += fmt.Sprintf("      - {id: %q}\n", id)
	}
	cfg, err := configs.Parse("/etc/x/approver.yaml", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return cfg
}

func (b *authorityBench) try(cfg configs.Config) (*authority, error) {
	sealer, err := sealing.New(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	h := &authority{
		Record: sealed.Record{Name: "approvers", Store: b.kv, Sealer: sealer, ID: "here", Where: "the store"}, cfg: cfg,
		isolated: b.isolated, older: b.older, doubt: (&trust{}).distrust,
		audit: b.audit, log: slog.New(slog.NewTextHandler(&b.log, nil)), admitted: func(p approver.People) { b.counts = p },
	}
	err = h.start(b.Context())
	b.counts = cfg.PeopleHeldTo(h.kept.Lines)
	return h, err
}

func (b *authorityBench) start(cfg configs.Config) *authority {
	b.Helper()
	h, err := b.try(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// on returns who counts on Telegram.
func (b *authorityBench) on() string {
	var ids []string
	for id := range b.counts {
		if id.Channel == "telegram" {
			ids = append(ids, id.ID)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func (b *authorityBench) want(what, ids string) {
	b.Helper()
	if got := b.on(); got != ids {
		b.Fatalf("%s: %q counts, want %q\n%s\n%s", what, got, ids, b.audit.Notes(), &b.log)
	}
}

// says answers what the daemon asks.
func (b *authorityBench) says(h *authority, d approver.Decision) (asked string) {
	b.Helper()
	err := h.run(b.Context(), func(_ context.Context, call approver.ToolCall, why approver.Verdict) approver.Verdict {
		asked = string(call.Args)
		if why.Severity != approver.Catastrophic || why.Decision != approver.Ask {
			b.Errorf("%+v", why)
		}
		return approver.Verdict{Decision: d, Reason: "approved by Ada"}
	})
	if err != nil {
		b.Error(err)
	}
	return asked
}

// The story: an agent that may write the configuration adds itself to the approver
// list and makes the daemon restart. It does not count, at no start, until those
// who count said yes to exactly that; whoever is taken out is out at once, and does
// not come back unasked.
func TestARestartAddsNoApprover(t *testing.T) {
	b := newAuthorityBench(t)
	b.start(b.lists("", "1"))
	b.want("the first start", "1")
	for range 2 {
		h := b.start(b.lists("", "1", "2"))
		b.want("added", "1")
		if asked := b.says(h, approver.Deny); !strings.Contains(asked,
			`"diff":["+channels.telegram.approvers: 2, person \"telegram:2\""]`) {
			t.Errorf("people see %s", asked)
		}
		b.want("after a no", "1")
	}
	h := b.start(b.lists("", "1", "2"))
	b.says(h, approver.Allow)
	b.want("after a yes", "1 2")
	if len(h.waiting()) != 0 || !strings.Contains(b.audit.Notes(), "approved by Ada") {
		t.Errorf("%v waits\n%s", h.waiting(), b.audit.Notes())
	}
	if asked := b.says(b.start(b.lists("", "1", "2")), approver.Deny); asked != "" {
		t.Errorf("asked again: %s", asked)
	}
	b.want("the yes outlives a restart", "1 2")
	b.start(b.lists("", "2"))
	b.want("taken out", "2")
	b.start(b.lists("", "1", "2"))
	b.want("put back", "2")
}

// The story: the agent takes everybody out and puts itself in, in one step or in
// two. Nobody counts, nobody is asked, and the log says what to do: put one of
// those back who counted.
func TestNobodyIsLeftWhoCounts(t *testing.T) {
	b := newAuthorityBench(t)
	b.start(b.lists("", "1"))
	for _, step := range [][]string{{"2"}, {}, {"2"}} {
		b.log.Reset()
		h := b.start(b.lists("", step...))
		b.want("all others", "")
		if asked := b.says(h, approver.Allow); asked != "" {
			t.Errorf("somebody was asked %s", asked)
		}
		if !strings.Contains(b.log.String(), "level=ERROR") || !strings.Contains(b.log.String(), "NOBODY IS LEFT") ||
			!strings.Contains(b.log.String(), "put one of those") {
			t.Errorf("the log: %s", &b.log)
		}
	}
	b.start(b.lists("", "1", "2"))
	b.want("put back", "1")
}

// The story: the only one whom a chat reaches was removed, and the log said that nobody was
// left who could approve, while the terminal's yes to a HIGH request counted. It says now who
// is not left, and who still counts.
func TestTheLogSaysWhoIsNotLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		gone []string
		want string
	}{
		"who decides": {[]string{"telegram:1"},
			`"NOBODY IS LEFT WHO COULD APPROVE A CATASTROPHIC REQUEST: everybody who could was removed"`},
		"everybody": {[]string{"telegram:1", "terminal:0"},
			`"NOBODY IS LEFT WHO COULD APPROVE: everybody who could was removed"`},
		"another one":  {[]string{"terminal:0"}, ""},
		"nobody known": {[]string{"slack:U1"}, ""},
	} {
		b := newAuthorityBench(t)
		h := b.start(b.lists("    allow_answers: true\n", "1"))
		b.log.Reset()
		var c broadcaster.Controls
		for _, person := range tt.gone {
			c.Removed = append(c.Removed, broadcaster.Removal{Person: person, At: time.Now()})
		}
		if err := h.takeAway(t.Context(), c, "removed"); err != nil {
			t.Fatal(err)
		}
		said := b.log.String()
		if !strings.Contains(said, tt.want) || (tt.want == "") == strings.Contains(said, "NOBODY IS LEFT") {
			t.Errorf("%s: %s", name, said)
		}
		if left := strings.Contains(said, "counting="); left != (tt.want != "") ||
			name == "who decides" && !strings.Contains(said, "terminal:0") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// Whoever is the first that could approve a CATASTROPHIC request needs nobody's
// yes: nobody can give it. From then on it is needed.
func TestTheFirstWhoDecides(t *testing.T) {
	answers := "    allow_answers: true\n"
	b := newAuthorityBench(t)
	b.start(b.lists(""))
	b.start(b.lists("", "1"))
	b.want("the first whom a chat reaches", "1")
	if h := b.start(b.lists(answers, "1")); h.cfg.HeldTo(h.counting()).Channels.Terminal.AllowAnswers ||
		len(h.waiting()) != 1 {
		t.Errorf("the terminal takes answers unasked: %v", h.waiting())
	}

	// In an isolated terminal everything can be approved, so people there are asked,
	// also where it became isolated later.
	b = newAuthorityBench(t)
	b.start(b.lists(answers))
	b.isolated = true
	h := b.start(b.lists(answers, "1"))
	b.want("who has an isolated terminal is asked", "")
	b.says(h, approver.Allow)
	b.want("after a yes", "1")
}

// A store that was removed is no first start, and says so; a record that cannot be
// read stops the start; and what cannot be recorded does not count.
func TestTheRecordOfThoseWhoCount(t *testing.T) {
	b := newAuthorityBench(t)
	b.older = true
	b.start(b.lists("", "1"))
	if notes := b.audit.Notes(); !strings.Contains(notes, "NO FORMER LISTS") ||
		!strings.Contains(b.log.String(), "level=ERROR") {
		t.Errorf("the audit: %s\nthe log: %s", notes, &b.log)
	}
	h := b.start(b.lists("", "1", "2"))
	b.audit.Fail = true
	b.says(h, approver.Allow)
	b.want("not recorded", "1")
	b.audit.Fail = false
	b.start(b.lists("", "1", "2"))
	b.want("after that", "1")

	_, rev, err := b.kv.Get(t.Context(), h.Key())
	if err == nil {
		err = b.kv.Put(t.Context(), h.Key(), []byte(`{"lines":[]}`), rev, approver.NewRev(), time.Time{},
			time.Now().Add(time.Hour))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.try(b.lists("", "1", "2")); err == nil || !strings.Contains(err.Error(), "remove it only if") {
		t.Error(err)
	}
	b.want("a record that somebody else made", "")
}

// Whoever was let in by approver pair counts from the next start, unasked.
func TestAPairingIsApproved(t *testing.T) {
	b := newAuthorityBench(t)
	h := b.start(b.lists("", "1"))
	d := &Admin{authority: h, log: slog.New(slog.DiscardHandler)} // isolated: the operator's word counts
	req := adminapi.AdmitRequest{Channel: "telegram", Who: approver.Paired{ID: "2"}, Diff: []string{"+x"}}
	if _, err := d.admit(t.Context(), approver.Peer{Known: true, UID: 7}, req); err != nil {
		t.Fatal(err)
	}
	b.start(b.lists("", "1", "2", "3"))
	b.want("paired", "1 2")
	if !strings.Contains(b.audit.Notes(), "added by uid 7") {
		t.Error(b.audit.Notes())
	}
	b.audit.Fail = true
	req.Who.ID = "3"
	if done, err := d.admit(t.Context(), approver.Peer{Known: true, UID: 7}, req); err == nil {
		t.Errorf("it cannot be recorded, and is %+v", done)
	}
}

// The story: an agent writes a model of its own into the configuration, or the open
// fail mode, and makes the daemon restart. Neither counts until those who count said
// yes to exactly that; another address is another model.
func TestAnEvaluatorWaitsForPeople(t *testing.T) {
	b := newAuthorityBench(t)
	b.start(b.lists("", "1"))
	with := func(url string) configs.Config {
		cfg := b.lists("", "1")
		cfg.FailMode = configs.FailOpen
		cfg.Shield.Evaluator = &evaluator.Config{Provider: evaluator.OpenAI, URL: url, Model: "m"}
		return cfg
	}
	counts := func(h *authority) (open, model bool) {
		cfg := h.cfg.HeldTo(h.counting())
		return cfg.FailMode == configs.FailOpen, cfg.Shield.Evaluator != nil
	}
	h := b.start(with("https://a.example/v1"))
	if open, model := counts(h); open || model {
		t.Fatalf("unasked: open %v, a model %v", open, model)
	}
	if h.cfg.Shield.Evaluator == nil || h.cfg.FailMode != configs.FailOpen {
		t.Error("the file's own configuration was changed")
	}
	if asked := b.says(h, approver.Deny); !strings.Contains(asked, `+fail_mode: open`) ||
		!strings.Contains(asked, `+shield.evaluator: openai m at https://a.example/v1`) {
		t.Errorf("people see %s", asked)
	}
	h = b.start(with("https://a.example/v1"))
	if open, model := counts(h); open || model {
		t.Fatalf("after a no: open %v, a model %v", open, model)
	}
	b.says(h, approver.Allow)
	if open, model := counts(b.start(with("https://a.example/v1"))); !open || !model {
		t.Errorf("after a yes: open %v, a model %v", open, model)
	}
	if open, model := counts(b.start(with("https://b.example/v1"))); !open || model {
		t.Errorf("another address: open %v, a model %v", open, model)
	}
}

// The story: `audit.sync: group` was written into the file of an installation that had promised its
// owner that nothing runs before it is recorded, and the next start did as the file said. It waits for
// people now, like all that loosens: until then, and after a no, calls are recorded first.
func TestRecordsInGroupsWaitForPeople(t *testing.T) {
	b, dir := newAuthorityBench(t), t.TempDir()
	start := func(sync string) (g *deps, end func()) {
		t.Helper()
		cfg := b.lists("", "1")
		cfg.Dir, cfg.Audit.Sync = dir, sync
		g, err := openDeps(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		g.records.Accept()
		return g, func() {
			t.Helper()
			if g.close(t.Context(), &err); err != nil {
				t.Fatal(err)
			}
		}
	}
	const line = "audit.sync: " + configs.SyncGroup
	_, end := start(configs.SyncBeforeAnswer)
	end()
	for _, tt := range []struct {
		what, sync       string
		grouped, waiting bool
	}{
		{"unasked", configs.SyncGroup, false, true},
		{"asked again", configs.SyncGroup, false, true},
		{"after a yes", configs.SyncGroup, true, false},
		{"taken back", configs.SyncBeforeAnswer, false, false},
		{"once more", configs.SyncGroup, false, true},
	} {
		g, end := start(tt.sync)
		grouped := g.passed(slog.New(slog.DiscardHandler)) != nil
		if waiting := slices.Contains(g.authority.waiting(), line); grouped != tt.grouped || waiting != tt.waiting ||
			(g.cfg.Audit.Sync == configs.SyncGroup) != tt.grouped {
			t.Errorf("%s: in groups %v, waits %v, status says %s", tt.what, grouped, waiting, g.cfg.Audit.Sync)
		}
		if tt.what == "asked again" {
			g.authority.admitted = func(approver.People) {}
			if err := g.authority.admit(t.Context(), []string{line}, "people said yes"); err != nil {
				t.Fatal(err)
			}
		}
		end()
	}
}
