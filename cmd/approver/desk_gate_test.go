package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/store/storetest/redistest"
)

// everyOp is each operation of the resolve socket with a body that it understands. Those
// that are open to whoever was removed say so.
var everyOp = []struct {
	op, body string
	open     bool
}{
	{opStatus, `{}`, true}, {opFreeze, `{"reason":"stolen"}`, true},
	{opPending, `{}`, false}, {opShow, `{"request":"x"}`, false}, {opUnfreeze, `{}`, false}, {opPause, `{"for":60000000000,"all":true}`, false},
	{opPause, `{}`, false}, {opObserve, `{"for":3600000000000}`, false}, {opEnforce, `{}`, false}, {opPair, `{"channel":"telegram","code":"x"}`, false},
	{opAdmit, `{"channel":"telegram","who":{"id":"666"},"diff":["+x"]}`, false}, {opPeople, `{}`, false}, {opRemove, `{"person":"bob"}`, false},
	{opRestore, `{"person":"ada"}`, false}, {opRestore, `{"person":"terminal:61004"}`, false}, {opRecover, `{}`, false}, {opRecover, `{"show":true}`, false},
	{opOwnerShow, `{"request":"x"}`, false}, {opOwnerApprove, `{"request":"x","code":"y"}`, false}, {opGrants, `{}`, false},
	{opPropose, `{"request":"x"}`, false}, {opRevoke, `{"request":"x"}`, false}, {"", `{}`, false}, {"status/", `{}`, false}, {"Freeze", `{}`, false}, {"what comes next", `{}`, false},
}

// gateDesk is an isolated desk whose configuration names terminal:61004 as Ada's.
func gateDesk(t *testing.T, l *roomLife, lists string) *desk {
	t.Helper()
	cfg, err := configs.Parse("/etc/x/approver.yaml", []byte("dir: /d\nsockets: {submit: /s, resolve: /r}\nchannels:\n  terminal:\n    allow_answers: true\n    approvers: "+lists+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := newAuthorityBench(t)
	b.kv, b.isolated = l.store, true
	log := slog.New(slog.DiscardHandler)
	return &desk{people: l.people, authority: b.start(cfg), audit: l.records, observer: &observer{people: l.people, log: log}, budgets: &approver.Budgets{}, shield: &shield{}, log: log}
}

// The story: Ada operates an isolated daemon from her terminal, so her uid is on the
// terminal's list and in sockets.resolve_uids. Her account is stolen, and she is removed.
// Whoever has it ran `approver people restore`, and was back at once: the socket admitted
// them, and who is admitted there was taken at their word. Every operation but status and
// freeze is refused now, by whatever name the removal calls her, by every daemon, after a
// restart, and while the store does not say who was removed.
func TestWhoeverWasRemovedOperatesNothing(t *testing.T) {
	const ada, bob = 61004, 61005
	listed := `[{id: "61004", person: ada}, {id: "61005", person: bob}]`
	for name, tt := range map[string]struct {
		lists string // of the daemon that she then speaks to
		gone  broadcaster.Removal
	}{
		"her person":                    {listed, broadcaster.Removal{Person: "ada"}},
		"her person and account":        {listed, broadcaster.Removal{Person: "ada", Identities: []approver.Identity{{Channel: "terminal", ID: "61004"}}}},
		"her account, no list has it":   {`[{id: "61005"}]`, broadcaster.Removal{Person: "terminal:61004", Identities: []approver.Identity{{Channel: "terminal", ID: "61004"}}, Unlisted: true}},
		"another list calls her carol":  {`[{id: "61004", person: carol}, {id: "61005"}]`, broadcaster.Removal{Person: "ada", Identities: []approver.Identity{{Channel: "slack", ID: "U1"}, {Channel: "terminal", ID: "61004"}}}},
		"the account stands for itself": {`[{id: "61004"}, {id: "61005"}]`, broadcaster.Removal{Person: "terminal:61004"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := startRoom(t, boltPlace(), t.TempDir())
			defer l.stop()
			d := gateDesk(t, l, tt.lists)
			p := porter{desk: d}
			if _, err := l.people.Controls.Freeze(t.Context(), "uid 1", "something to lift"); err != nil {
				t.Fatal(err)
			}
			if _, err := l.people.Removals.Remove(t.Context(), tt.gone); err != nil {
				t.Fatal(err)
			}
			for _, mark := range []string{"the daemon that removed her", "a daemon that has just started"} {
				before, _, err := l.people.Controls.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range everyOp {
					_, err := p.Operate(t.Context(), approver.Peer{Known: true, UID: ada}, o.op, json.RawMessage(o.body))
					if errors.Is(err, errGone) == o.open {
						t.Errorf("%s: %s %s: %v", mark, o.op, o.body, err)
					}
					if !o.open && (!strings.Contains(err.Error(), " was removed by ") || !strings.Contains(err.Error(), "only approver status and approver freeze")) {
						t.Errorf("%s: %v", o.op, err)
					}
				}
				if err := p.Watch(t.Context(), approver.Peer{Known: true, UID: ada}, nil); !errors.Is(err, errGone) {
					t.Errorf("%s: watch: %v", mark, err)
				}
				if after, _, err := l.people.Controls.Load(t.Context()); err != nil || !after.Frozen() || len(after.Away()) != 1 || len(after.Removed) != len(before.Removed) {
					t.Errorf("%s: %+v, %v", mark, after, err)
				}
				for _, other := range []uint32{0, bob} {
					if err := d.admits(t.Context(), approver.Peer{Known: true, UID: other}, opPending); err != nil {
						t.Errorf("%s: uid %d: %v", mark, other, err)
					}
				}
				d.people = like(t, l, l.store, broadcaster.NewControlMark(0))
			}
			// Somebody else, who was not, brings her back.
			if _, err := p.Operate(t.Context(), approver.Peer{Known: true, UID: bob}, opRestore, fmt.Appendf(nil, `{"person":%q,"unseen":true}`, tt.gone.Person)); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Operate(t.Context(), approver.Peer{Known: true, UID: ada}, opUnfreeze, json.RawMessage(`{}`)); err != nil {
				t.Error(err)
			}
		})
	}
}

// While it cannot be read who was removed, nobody but root does more than look and freeze.
func TestOperatorsWhileTheStoreIsAway(t *testing.T) {
	l := startRoom(t, boltPlace(), t.TempDir())
	d := gateDesk(t, l, `[{id: "61004", person: ada}]`)
	l.stop() // and with it the store
	p := porter{d, twoCards{}}
	for _, o := range everyOp {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := p.Operate(ctx, approver.Peer{Known: true, UID: 61004}, o.op, json.RawMessage(o.body))
		cancel()
		if refused := err != nil && strings.Contains(err.Error(), "it is not known whether terminal:61004 was removed"); refused == o.open {
			t.Errorf("%s: %v", o.op, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	never := func(json.RawMessage) error { t.Error("they see a card"); return nil }
	if err := p.Watch(ctx, approver.Peer{Known: true, UID: 61004}, never); err == nil {
		t.Error("they watch")
	}
	for uid, d := range map[uint32]*desk{0: d, uint32(os.Getuid()): {notice: "NOT ISOLATED", people: d.people, authority: d.authority}} {
		if err := d.admits(ctx, approver.Peer{Known: true, UID: uid}, opPending); err != nil {
			t.Errorf("uid %d: %v", uid, err)
		}
	}
	if err := d.admits(ctx, approver.Peer{}, opPending); err == nil {
		t.Error("the kernel does not say who it is")
	}
}

// A store that has lost who was removed does not make an operator of them.
func TestOperatorsOfAStoreThatLostTheRemoval(t *testing.T) {
	l := startRoom(t, boltPlace(), t.TempDir())
	defer l.stop()
	d := gateDesk(t, l, `[{id: "61004", person: ada}]`)
	for _, mark := range []*broadcaster.ControlMark{l.people.Mark, broadcaster.NewControlMark(0)} {
		d.people = like(t, l, lostControls{l.store}, mark)
		if err := d.admits(t.Context(), approver.Peer{Known: true, UID: 61004}, opPending); err == nil || !strings.Contains(err.Error(), "has lost its record") {
			t.Error(err)
		}
	}
}

// like is a daemon like that of a room, which does not run.
func like(t *testing.T, l *roomLife, store approver.KV, mark *broadcaster.ControlMark) *broadcaster.Broadcaster {
	t.Helper()
	o := l.people.Options
	o.Store, o.Mark = store, mark
	b, err := broadcaster.NewBroadcaster(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lostControls is a store without the record of freezes and removals.
type lostControls struct{ approver.KV }

func (s lostControls) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	if key == approver.Key("control", "all") {
		return nil, "", approver.ErrNotFound
	}
	return s.KV.Get(ctx, key)
}

// A watch of somebody who is removed ends before the next card, and only theirs.
func TestAWatchEndsWithARemoval(t *testing.T) {
	l := startRoom(t, boltPlace(), t.TempDir())
	defer l.stop()
	d := gateDesk(t, l, `[{id: "61004", person: ada}, {id: "61005", person: bob}]`)
	for uid, sees := range map[uint32]int{61004: 1, 61005: 2} {
		p := porter{d, twoCards{func() {
			if _, err := l.people.Removals.Remove(t.Context(), broadcaster.Removal{Person: "ada"}); err != nil {
				t.Error(err)
			}
		}}}
		seen := 0
		err := p.Watch(t.Context(), approver.Peer{Known: true, UID: uid}, func(json.RawMessage) error { seen++; return nil })
		if seen != sees || errors.Is(err, errGone) != (sees == 1) {
			t.Errorf("uid %d has seen %d cards: %v", uid, seen, err)
		}
		c, _, err := l.people.Controls.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.people.Removals.Restore(t.Context(), c.Away()[0], "uid 0"); err != nil {
			t.Fatal(err)
		}
	}
}

// The story: the only terminal that was watched was that of somebody who was removed. It
// stayed open until the next card, was counted, and the removal had no word of warning. Now
// it is counted no more at once, and ends without a card; that of somebody else stays.
func TestAWatchThatShowsNothingEndsWithARemoval(t *testing.T) {
	l := startRoom(t, boltPlace(), t.TempDir())
	defer l.stop()
	d := gateDesk(t, l, `[{id: "61004", person: ada}, {id: "61005", person: bob}]`)
	local, err := terminal.New(terminal.Config{AllowAnswers: true, Isolated: true, Approvers: []approver.Approver{{ID: "61004", Person: "ada"}, {ID: "61005", Person: "bob"}}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d.channels = []approver.Channel{local}
	counts := approver.People{}
	counts.Add(terminal.Name, []approver.Approver{{ID: "61004", Person: "ada"}, {ID: "61005", Person: "bob"}})
	l.people.Approvers.Set(counts)
	p := porter{d, local}
	watch := func(uid uint32) (ended chan error, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended, begun := make(chan error, 1), make(chan struct{}, 1)
		go func() {
			ended <- p.Watch(ctx, approver.Peer{Known: true, UID: uid}, func(json.RawMessage) error { begun <- struct{}{}; return nil })
		}()
		<-begun
		return ended, cancel
	}
	ada, stopAda := watch(61004)
	defer stopAda()
	if n, others := d.watchersOf(local); *n != 1 || others != 0 || d.onlyUnwatched() != "" {
		t.Fatalf("before: %d, %d", *n, others)
	}
	if _, err := l.people.Removals.Remove(t.Context(), broadcaster.Removal{Person: "ada"}); err != nil {
		t.Fatal(err)
	}
	if n, _ := d.watchersOf(local); *n != 0 || !strings.HasPrefix(d.onlyUnwatched(), "nobody ") {
		t.Errorf("%d watch who count, and %q", *n, d.onlyUnwatched())
	}
	select {
	case err := <-ada:
		if !errors.Is(err, errGone) || !strings.Contains(err.Error(), "ada was removed by") {
			t.Errorf("her watch ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("her watch goes on")
	}
	bob, stopBob := watch(61005)
	select {
	case err := <-bob:
		t.Errorf("another one's ended: %v", err)
	case <-time.After(3 * goneEvery):
	}
	stopBob()
	if err := <-bob; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A watch of somebody whose answers do not count is none that counts.
func TestWhoseWatchCounts(t *testing.T) {
	for name, tt := range map[string]struct {
		s    channelStatus
		want string
	}{
		"nobody":                   {channelStatus{Name: "terminal", Watchers: new(int)}, "terminal shows nobody anything: nobody watches (approver watch)"},
		"nobody who counts":        {channelStatus{Name: "terminal", Watchers: new(int), Others: 1}, "terminal is watched by nobody whose answers count (approver watch), and by 1 other terminal"},
		"several who do not count": {channelStatus{Name: "terminal", Watchers: new(int), Others: 3}, "and by 3 other terminals"},
	} {
		if got := tt.s.receiving(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The story: two watches of somebody who was removed came back again and again, and each try
// was a line of the log that did not say what was refused. Now one line a minute names it.
func TestARefusalOfTheRemovedIsToldOnce(t *testing.T) {
	l := startRoom(t, boltPlace(), t.TempDir())
	defer l.stop()
	d := gateDesk(t, l, `[{id: "61004", person: ada}]`)
	var out bytes.Buffer
	d.log = newLog(&out, configs.Log{})
	if _, err := l.people.Removals.Remove(t.Context(), broadcaster.Removal{Person: "ada"}); err != nil {
		t.Fatal(err)
	}
	p := porter{d, twoCards{}}
	for range 7 {
		if err := p.Watch(t.Context(), approver.Peer{Known: true, UID: 61004}, nil); !errors.Is(err, errGone) {
			t.Fatal(err)
		}
		if _, err := p.Operate(t.Context(), approver.Peer{Known: true, UID: 61004}, opUnfreeze, json.RawMessage(`{}`)); !errors.Is(err, errGone) {
			t.Fatal(err)
		}
	}
	for _, op := range []string{opWatch, opUnfreeze} {
		if n := strings.Count(out.String(), "operation="+op); n != 1 {
			t.Errorf("%s: %d lines:\n%s", op, n, &out)
		}
	}
	if n := strings.Count(out.String(), "was removed\""); n != 2 {
		t.Errorf("%d lines:\n%s", n, &out)
	}
}

// twoCards shows two cards, and between them something happens.
type twoCards struct{ meanwhile func() }

func (w twoCards) Watch(_ context.Context, _ approver.Peer, emit func(json.RawMessage) error) error {
	if err := emit(json.RawMessage(`1`)); err != nil {
		return err
	}
	w.meanwhile()
	return emit(json.RawMessage(`2`))
}

func (twoCards) Answer(context.Context, approver.Peer, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("nothing is asked")
}

// What is sent with an operation is bounded, but for a freeze, which is taken whatever is said.
func TestOperationsAreShort(t *testing.T) {
	l := startRoom(t, boltPlace(), t.TempDir())
	defer l.stop()
	p := porter{desk: gateDesk(t, l, `[{id: "61004", person: ada}]`)}
	long := strings.Repeat("<", 60_000)
	for _, o := range everyOp {
		_, err := p.Operate(t.Context(), approver.Peer{Known: true}, o.op, fmt.Appendf(nil, `{"reason":%q,"request":"x","person":"ada"}`, long))
		if refused := err != nil && strings.Contains(err.Error(), "bytes, more than 16384"); refused != (o.op != opFreeze && o.op != opAdmit) {
			t.Errorf("%s: %v", o.op, err)
		}
		if err != nil && len(err.Error()) > 4<<10 {
			t.Errorf("%s: an answer of %d bytes", o.op, len(err.Error()))
		}
	}
	if c, _, err := l.people.Controls.Load(t.Context()); err != nil || !c.Frozen() || len(c.Freeze.Reason) > 4<<10 {
		t.Errorf("%d bytes of reason, %v", len(c.Freeze.Reason), err)
	}
}

// The story: a uid that nobody trusts removes people of whom no list has heard, until no
// place is left. The removal of an approver gets in, and root's removal of anybody.
func TestFewStrangersAreRemoved(t *testing.T) {
	l := startRoom(t, boltPlace(), t.TempDir())
	defer l.stop()
	d := gateDesk(t, l, `[{id: "61004", person: ada}]`)
	d.notice = "NOT ISOLATED"
	remove := func(uid uint32, person string) error {
		_, err := porter{desk: d}.Operate(t.Context(), approver.Peer{Known: true, UID: uid}, opRemove, fmt.Appendf(nil, `{"person":%q,"unlisted":true}`, person))
		return err
	}
	me := uint32(os.Getuid())
	n := 0
	var last error
	for i := range 40 {
		if last = remove(me+7, fmt.Sprint("x", i, ":1")); last == nil {
			n++
		}
	}
	if n != 16 || last == nil || !strings.Contains(last.Error(), "people are removed already whom no approver list here has") {
		t.Errorf("%d strangers were removed; then: %v", n, last)
	}
	if err := remove(me+7, strings.Repeat("<", broadcaster.MaxName+1)); err == nil || !strings.Contains(err.Error(), "nobody's name or account has more than 256") {
		t.Error(err)
	}
	if err := remove(me+7, "ada"); err != nil {
		t.Error(err)
	}
	if os.Getuid() != 0 {
		if err := remove(0, "y:1"); err != nil {
			t.Error(err)
		}
	}
	d.notice = "" // isolated: whom the socket admits is trusted
	if err := remove(me+7, "y:2"); err != nil {
		t.Error(err)
	}
}

// The story of TestWhoeverWasRemovedOperatesNothing with real users and two real daemons on
// one Redis, of which the second is started again.
func TestARemovedOperatorOnTwoDaemons(t *testing.T) {
	m := newIsolatedMachine(t)
	server, err := redistest.Start(t.Context(), redistest.Options{})
	m.must(err)
	t.Cleanup(func() { _ = server.Close() })
	const otherUID = 61005
	text, err := os.ReadFile(m.path("etc/approver.yaml"))
	m.must(err)
	m.must(os.Mkdir(m.path("run2"), 0o755))
	m.must(os.Chown(m.path("run2"), daemonUID, daemonUID))
	m.must(os.Mkdir(m.path("lib2"), 0o700))
	m.must(os.Chown(m.path("lib2"), daemonUID, daemonUID))
	m.file("lib/hub.key", strings.Repeat("k", 64)+"\n", daemonUID, 0o600)
	first := strings.Replace(string(text), fmt.Sprintf("resolve_uids: [%d]", answererUID), fmt.Sprintf("resolve_uids: [%d, %d]", answererUID, otherUID), 1)
	first = strings.Replace(first, fmt.Sprintf(`{id: "%d"}`, answererUID), fmt.Sprintf(`{id: "%d", person: ada}`, answererUID), 1)
	first = strings.Replace(first, "  terminal:\n", "  terminal:\n    allow_answers: true\n", 1)
	first += fmt.Sprintf("store: {redis: {addrs: [%q], hub_key_file: %s}}\n", server.Addr, m.path("lib/hub.key"))
	second := strings.NewReplacer("/run/", "/run2/", "dir: "+m.dir+"/lib", "dir: "+m.dir+"/lib2", "person: ada", "person: carol").Replace(first)
	m.file("etc/approver.yaml", first+"audit: {id: one}\n", daemonUID, 0o600)
	m.file("etc/second.yaml", second+"audit: {id: two}\n", daemonUID, 0o600)
	m.start(daemonUID, m.path("run/resolve.sock"), "bin/approver", "serve", "--config", m.path("etc/approver.yaml"))
	serve := func() func() {
		c := m.command(daemonUID, nil, "bin/approver", "serve", "--config", m.path("etc/second.yaml"))
		m.must(c.Start())
		for range 400 {
			if _, err := os.Stat(m.path("run2/resolve.sock")); err == nil {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		return func() { _ = c.Process.Signal(os.Interrupt); _ = c.Wait() }
	}
	stop := serve()
	defer func() { stop() }()
	operator := func(uid uint32, socket string, args ...string) end {
		return m.run(m.command(uid, nil, "bin/approver", append(args, "--socket", m.path(socket))...), "")
	}
	const one, two = "run/resolve.sock", "run2/resolve.sock"
	for _, socket := range []string{one, two} {
		got := operator(answererUID, socket, "pending")
		m.note("Ada, before", "pending "+socket, got.exit == 0, got)
	}
	got := operator(0, one, "freeze", "--reason", "something to lift")
	m.note("root", "freeze", got.exit == 0, got)
	got = operator(0, one, "people", "remove", "ada", "--reason", "stolen")
	m.note("root", "people remove ada", got.exit == 0, got)
	for _, socket := range []string{one, two, "restarted"} {
		if socket == "restarted" {
			stop()
			m.must(os.RemoveAll(m.path("run2/resolve.sock")))
			stop, socket = serve(), two
		}
		for _, command := range []string{
			"people restore ada", "unfreeze", "people", "people remove bob --unlisted", "people recover --yes", "pending", "pause 5m --catastrophic", "pause --end",
			"observe --for 1h", "enforce", "grants list", "grants revoke x", "grants propose x", "approve 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11 --yes",
		} {
			got := operator(answererUID, socket, strings.Fields(command)...)
			refused := strings.Contains(got.err, "ada was removed by uid 0") && strings.Contains(got.err, "only approver status and approver freeze are open to them") ||
				strings.HasPrefix(command, "approve") && (strings.Contains(got.err, "You were removed") || strings.Contains(got.err, "You are not on the approver list"))
			m.note("Ada, removed", command+" "+socket, got.exit != 0 && refused, got)
		}
		got = m.run(m.command(answererUID, nil, "timeout", "-s", "INT", "2", m.path("bin/approver"), "watch", "--json", "--socket", m.path(socket)), "")
		m.note("Ada, removed", "watch "+socket, strings.Contains(got.err, "was removed by uid 0") && got.out == "", got)
		for _, command := range []string{"status", "freeze"} {
			got := operator(answererUID, socket, command)
			m.note("Ada, removed", command+" "+socket, !strings.Contains(got.err, "was removed") && strings.Contains(strings.ToLower(got.out), "frozen"), got)
		}
	}
	for _, command := range []string{"pending", "people restore ada --yes", "unfreeze"} {
		got := operator(otherUID, two, strings.Fields(command)...)
		m.note("another operator", command, got.exit == 0, got)
	}
	got = operator(answererUID, one, "pending")
	m.note("Ada, back", "pending", got.exit == 0, got)
	t.Logf("tried:\n%s", m.table())
}
