package daemon

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
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/logging"
	"approver.example/daemon/shield"
	"approver.example/internal/timing"
)

// everyOp is each operation of the resolve socket with a body that it understands. Those
// that are open to whoever was removed say so.
var everyOp = []struct {
	op, body string
	open     bool
}{
	{adminapi.OpStatus, `{}`, true}, {adminapi.OpFreeze, `{"reason":"stolen"}`, true},
	{adminapi.OpPending, `{}`, false}, {adminapi.OpShow, `{"request":"x"}`, false}, {adminapi.OpUnfreeze, `{}`, false},
	{adminapi.OpWork, `{}`, false},
	{adminapi.OpPause, `{"for":60000000000,"all":true}`, false},
	{adminapi.OpPause, `{}`, false}, {adminapi.OpObserve, `{"for":3600000000000}`, false},
	{adminapi.OpEnforce, `{}`, false}, {adminapi.OpPair, `{"channel":"telegram","code":"x"}`, false},
	{adminapi.OpAdmit, `{"channel":"telegram","who":{"id":"666"},"diff":["+x"]}`, false}, {adminapi.OpPeople, `{}`, false},
	{adminapi.OpRemove, `{"person":"bob"}`, false},
	{adminapi.OpRestore, `{"person":"ada"}`, false}, {adminapi.OpRestore, `{"person":"terminal:61004"}`, false},
	{adminapi.OpRecover, `{}`, false}, {adminapi.OpRecover, `{"show":true}`, false},
	{adminapi.OpOwnerShow, `{"request":"x"}`, false}, {adminapi.OpOwnerApprove, `{"request":"x","code":"y"}`, false},
	{adminapi.OpGrants, `{}`, false},
	{adminapi.OpPropose, `{"request":"x"}`, false}, {adminapi.OpRevoke, `{"request":"x"}`, false}, {"", `{}`, false},
	{"status/", `{}`, false}, {"Freeze", `{}`, false}, {"what comes next", `{}`, false},
}

// gateAdmin is an isolated admin whose configuration names terminal:61004 as Ada's.
func gateAdmin(t *testing.T, l *roomLife, lists string) *Admin {
	t.Helper()
	cfg, err := configs.Parse("/etc/x/approver.yaml",
		[]byte("dir: /d\nsockets: {submit: /s, resolve: /r}\nchannels:\n  terminal:\n    allow_answers: true\n"+
			"    approvers: "+lists+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := newAuthorityBench(t)
	b.kv, b.isolated = l.store, true
	log := slog.New(slog.DiscardHandler)
	return &Admin{People: l.people, authority: b.start(cfg), audit: l.records,
		observer: &observer{people: l.people, log: log}, times: &timing.Times{}, shield: &shield.Shield{}, log: log}
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
		"her person": {listed, broadcaster.Removal{Person: "ada"}},
		"her person and account": {listed,
			broadcaster.Removal{Person: "ada", Identities: []approver.Identity{{Channel: "terminal", ID: "61004"}}}},
		"her account, no list has it": {`[{id: "61005"}]`,
			broadcaster.Removal{Person: "terminal:61004", Identities: []approver.Identity{{Channel: "terminal", ID: "61004"}},
				Unlisted: true}},
		"another list calls her carol": {`[{id: "61004", person: carol}, {id: "61005"}]`,
			broadcaster.Removal{Person: "ada",
				Identities: []approver.Identity{{Channel: "slack", ID: "U1"}, {Channel: "terminal", ID: "61004"}}}},
		"the account stands for itself": {`[{id: "61004"}, {id: "61005"}]`, broadcaster.Removal{Person: "terminal:61004"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
			defer l.stop()
			d := gateAdmin(t, l, tt.lists)
			p := doorkeeper{admin: d}
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
					if !o.open && (!strings.Contains(err.Error(), " was removed by ") ||
						!strings.Contains(err.Error(), "only approver status and approver freeze")) {
						t.Errorf("%s: %v", o.op, err)
					}
				}
				if err := p.Watch(t.Context(), approver.Peer{Known: true, UID: ada}, nil); !errors.Is(err, errGone) {
					t.Errorf("%s: watch: %v", mark, err)
				}
				if after, _, err := l.people.Controls.Load(t.Context()); err != nil || !after.Frozen() ||
					len(after.Removed.InForce()) != 1 || len(after.Removed) != len(before.Removed) {
					t.Errorf("%s: %+v, %v", mark, after, err)
				}
				for _, other := range []uint32{0, bob} {
					if err := d.admits(t.Context(), approver.Peer{Known: true, UID: other}, adminapi.OpPending); err != nil {
						t.Errorf("%s: uid %d: %v", mark, other, err)
					}
				}
				d.People = like(t, l, l.store, broadcaster.NewControlMark(0))
			}
			// Somebody else, who was not, brings her back.
			if _, err := p.Operate(t.Context(), approver.Peer{Known: true, UID: bob}, adminapi.OpRestore,
				fmt.Appendf(nil, `{"person":%q,"unseen":true}`, tt.gone.Person)); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Operate(t.Context(), approver.Peer{Known: true, UID: ada}, adminapi.OpUnfreeze,
				json.RawMessage(`{}`)); err != nil {
				t.Error(err)
			}
		})
	}
}

// While it cannot be read who was removed, nobody but root does more than look and freeze.
func TestOperatorsWhileTheStoreIsAway(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	d := gateAdmin(t, l, `[{id: "61004", person: ada}]`)
	l.stop() // and with it the store
	p := doorkeeper{d, twoCards{}}
	for _, o := range everyOp {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := p.Operate(ctx, approver.Peer{Known: true, UID: 61004}, o.op, json.RawMessage(o.body))
		cancel()
		if refused := err != nil &&
			strings.Contains(err.Error(), "it is not known whether terminal:61004 was removed"); refused == o.open {
			t.Errorf("%s: %v", o.op, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	never := func(json.RawMessage) error { t.Error("they see a card"); return nil }
	if err := p.Watch(ctx, approver.Peer{Known: true, UID: 61004}, never); err == nil {
		t.Error("they watch")
	}
	for uid, d := range map[uint32]*Admin{0: d,
		uint32(os.Getuid()): {notice: "NOT ISOLATED", People: d.People, authority: d.authority}} {
		if err := d.admits(ctx, approver.Peer{Known: true, UID: uid}, adminapi.OpPending); err != nil {
			t.Errorf("uid %d: %v", uid, err)
		}
	}
	if err := d.admits(ctx, approver.Peer{}, adminapi.OpPending); err == nil {
		t.Error("the kernel does not say who it is")
	}
}

// A store that has lost who was removed does not make an operator of them.
func TestOperatorsOfAStoreThatLostTheRemoval(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	d := gateAdmin(t, l, `[{id: "61004", person: ada}]`)
	for _, mark := range []*broadcaster.ControlMark{l.people.Mark, broadcaster.NewControlMark(0)} {
		d.People = like(t, l, lostControls{l.store}, mark)
		if err := d.admits(t.Context(), approver.Peer{Known: true, UID: 61004}, adminapi.OpPending); err == nil ||
			!strings.Contains(err.Error(), "has lost its record") {
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
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	d := gateAdmin(t, l, `[{id: "61004", person: ada}, {id: "61005", person: bob}]`)
	for uid, sees := range map[uint32]int{61004: 1, 61005: 2} {
		p := doorkeeper{d, twoCards{func() {
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
		if err := l.people.Removals.Restore(t.Context(), c.Removed.InForce()[0], "uid 0"); err != nil {
			t.Fatal(err)
		}
	}
}

// The story: the only terminal that was watched was that of somebody who was removed. It
// stayed open until the next card, was counted, and the removal had no word of warning. Now
// it is counted no more at once, and ends without a card; that of somebody else stays.
func TestAWatchThatShowsNothingEndsWithARemoval(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	d := gateAdmin(t, l, `[{id: "61004", person: ada}, {id: "61005", person: bob}]`)
	local, err := terminal.New(terminal.Config{AllowAnswers: true, Isolated: true,
		Approvers: []approver.Approver{{ID: "61004", Person: "ada"}, {ID: "61005", Person: "bob"}}},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d.channels = []approver.Channel{local}
	counts := approver.People{}
	counts.Add(terminal.Name, []approver.Approver{{ID: "61004", Person: "ada"}, {ID: "61005", Person: "bob"}})
	l.people.Approvers.Set(counts)
	p := doorkeeper{d, local}
	watch := func(uid uint32) (ended chan error, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended, begun := make(chan error, 1), make(chan struct{}, 1)
		go func() {
			ended <- p.Watch(ctx, approver.Peer{Known: true, UID: uid},
				func(json.RawMessage) error { begun <- struct{}{}; return nil })
		}()
		<-begun
		return ended, cancel
	}
	ada, stopAda := watch(61004)
	defer stopAda()
	if n, others := d.audience().watchers(local); *n != 1 || others != 0 || d.audience().onlyUnwatched() != "" {
		t.Fatalf("before: %d, %d", *n, others)
	}
	if _, err := l.people.Removals.Remove(t.Context(), broadcaster.Removal{Person: "ada"}); err != nil {
		t.Fatal(err)
	}
	if n, _ := d.audience().watchers(local); *n != 0 || !strings.HasPrefix(d.audience().onlyUnwatched(), "nobody ") {
		t.Errorf("%d watch who count, and %q", *n, d.audience().onlyUnwatched())
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
		s    adminapi.Channel
		want string
	}{
		"nobody": {adminapi.Channel{Name: "terminal", Watchers: new(int)},
			"terminal shows nobody anything: nobody watches (approver watch)"},
		"nobody who counts": {adminapi.Channel{Name: "terminal", Watchers: new(int), Others: 1},
			"terminal is watched by nobody whose answers count (approver watch), and by 1 other terminal"},
		"several who do not count": {adminapi.Channel{Name: "terminal", Watchers: new(int), Others: 3},
			"and by 3 other terminals"},
	} {
		if got := tt.s.Receiving(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The story: two watches of somebody who was removed came back again and again, and each try
// was a line of the log that did not say what was refused. Now one line a minute names it.
func TestARefusalOfTheRemovedIsToldOnce(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	d := gateAdmin(t, l, `[{id: "61004", person: ada}]`)
	var out bytes.Buffer
	d.log = logging.New(&out, configs.Log{})
	if _, err := l.people.Removals.Remove(t.Context(), broadcaster.Removal{Person: "ada"}); err != nil {
		t.Fatal(err)
	}
	p := doorkeeper{d, twoCards{}}
	for range 7 {
		if err := p.Watch(t.Context(), approver.Peer{Known: true, UID: 61004}, nil); !errors.Is(err, errGone) {
			t.Fatal(err)
		}
		if _, err := p.Operate(t.Context(), approver.Peer{Known: true, UID: 61004}, adminapi.OpUnfreeze,
			json.RawMessage(`{}`)); !errors.Is(err, errGone) {
			t.Fatal(err)
		}
	}
	for _, op := range []string{opWatch, adminapi.OpUnfreeze} {
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
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	p := doorkeeper{admin: gateAdmin(t, l, `[{id: "61004", person: ada}]`)}
	long := strings.Repeat("<", 60_000)
	for _, o := range everyOp {
		_, err := p.Operate(t.Context(), approver.Peer{Known: true}, o.op,
			fmt.Appendf(nil, `{"reason":%q,"request":"x","person":"ada"}`, long))
		if refused := err != nil &&
			strings.Contains(err.Error(),
				"bytes, more than 16384"); refused != (o.op != adminapi.OpFreeze && o.op != adminapi.OpAdmit) {
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
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	d := gateAdmin(t, l, `[{id: "61004", person: ada}]`)
	d.notice = "NOT ISOLATED"
	remove := func(uid uint32, person string) error {
		_, err := doorkeeper{admin: d}.Operate(t.Context(), approver.Peer{Known: true, UID: uid}, adminapi.OpRemove,
			fmt.Appendf(nil, `{"person":%q,"unlisted":true}`, person))
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
	if n != 16 || last == nil ||
		!strings.Contains(last.Error(), "people are removed already whom no approver list here has") {
		t.Errorf("%d strangers were removed; then: %v", n, last)
	}
	if err := remove(me+7, strings.Repeat("<", broadcaster.MaxName+1)); err == nil ||
		!strings.Contains(err.Error(), "nobody's name or account has more than 256") {
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
