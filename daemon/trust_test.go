package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/store/sqlitestore"
)

// hiding is a store out of which somebody has taken records.
type hiding struct {
	*sqlitestore.Store
	gone map[string]bool
}

func (h *hiding) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	if h.gone[key] || h.gone["all"] {
		return nil, "", approver.ErrNotFound
	}
	return h.Store.Get(ctx, key)
}

// A trustLife is a daemon's, as far as it trusts its store.
type trustLife struct {
	t       *testing.T
	dir     string
	store   *sqlitestore.Store
	records *audit.Log
	people  *broadcaster.Broadcaster
	trust   trust
}

// startLife starts a daemon on what is in a folder; gone are records that were
// deleted meanwhile. id is the audit's.
func startLife(t *testing.T, dir, id string, gone ...string) *trustLife {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	l := &trustLife{t: t, dir: dir}
	l.trust.survives = true
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	l.store, err = sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(dir, "approver.db")}, log)
	must(err)
	kv := &hiding{Store: l.store, gone: map[string]bool{}}
	for _, key := range gone {
		kv.gone[key] = true
	}
	key, err := audit.LoadOrCreateKey(filepath.Join(dir, "audit.key"))
	must(err)
	l.records, err = audit.Open(t.Context(), audit.Options{
		Dir: filepath.Join(dir, "audit"), ID: id, Key: key, KV: kv, Hold: true,
		Controls: func() uint64 { return l.trust.mark.Version() }, Changed: l.trust.changed,
	})
	must(err)
	must(l.trust.judge(t.Context(), kv, l.records.Opened()))
	l.people, err = broadcaster.NewBroadcaster(broadcaster.Options{
		Store: kv, Audit: l.records, Mark: l.trust.mark,
		Limit: func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: make([]byte, 32), Log: log,
		Fingerprint: func(context.Context, approver.ToolCall) (approver.Binding, error) { return approver.Binding{}, nil },
	})
	must(err)
	if len(gone) == 0 {
		must(l.trust.settle(t.Context(), l.people, l.records))
	}
	l.record(approver.EventStarted, "")
	return l
}

func (l *trustLife) record(e approver.Event, request string) {
	l.t.Helper()
	if _, err := l.records.Record(l.t.Context(), approver.Record{Event: e, Request: request, At: time.Now()}); err != nil {
		l.t.Fatal(err)
	}
}

// release is what is left in store and audit of a call that people let run.
func (l *trustLife) release(id string) {
	l.t.Helper()
	now := time.Now()
	if err := l.store.Put(l.t.Context(), approver.Key("req", id), []byte(`{"state":"consumed"}`), "", approver.NewRev(),
		time.Time{}, now.Add(time.Hour)); err != nil {
		l.t.Fatal(err)
	}
	l.record(approver.EventReleased, id)
}

func (l *trustLife) freeze() {
	l.t.Helper()
	if _, err := l.people.Controls.Freeze(l.t.Context(), "Ada", "test"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *trustLife) unfreeze() {
	l.t.Helper()
	if err := l.people.Controls.Unfreeze(l.t.Context(), "Ada"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *trustLife) frozen() bool {
	l.t.Helper()
	c, _, err := l.people.Controls.Load(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return c.Frozen()
}

func (l *trustLife) stop() {
	l.t.Helper()
	l.record(approver.EventStopped, "")
	l.close()
}

func (l *trustLife) close() {
	l.t.Helper()
	if err := l.records.Close(context.Background()); err != nil {
		l.t.Error(err)
	}
	if err := l.store.Close(); err != nil {
		l.t.Error(err)
	}
}

// image is the folder as a crash in this moment leaves it.
func image(t *testing.T, dir string, embedded ...bool) string {
	t.Helper()
	size := func(dir string) int64 {
		i, err := os.Stat(filepath.Join(dir, "audit", "audit.jsonl"))
		if err != nil {
			return -1
		}
		return i.Size()
	}
	to, tries := "", 0
	for was := int64(-2); to == "" || size(to) != was; tries++ { // store and log of one moment
		if tries > 50 {
			t.Fatal("the log does not come to rest")
		}
		to, was = t.TempDir(), size(dir)
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"audit.key", "approver.db"}
	if len(embedded) > 0 && !embedded[0] {
		names = names[:1]
	}
	for _, name := range names {
		if err := os.Chmod(filepath.Join(to, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// put puts a store, with its log, or an audit, of another folder in the place of this one's.
func put(t *testing.T, name, from, to string) {
	t.Helper()
	if err := os.Remove(filepath.Join(to, name)); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(to, name+"-wal"))
	if data, err := os.ReadFile(filepath.Join(from, name+"-wal")); err == nil {
		if err := os.WriteFile(filepath.Join(to, name+"-wal"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(from, name))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, name), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The story: somebody who can write to the store freezes nothing and answers nothing.
// They delete the record of a freeze, or put yesterday's store back, and calls run
// again, without a line in the log. Now the daemon knows that its store is not the
// one that its audit was written beside: everything is frozen, and it says why.
func TestTheStoreIsJudged(t *testing.T) {
	const control = "ap:{04}:control:all"
	head := approver.Key("audit", "here")
	for name, tt := range map[string]struct {
		before func(l *trustLife) // of what was put back
		after  func(l *trustLife) // on top of it
		crash  bool               // instead of a stop in order
		old    bool               // the store of before is put back
		gone   []string
		id     string
		doubt  string // empty: it is trusted
		frozen bool
	}{
		"nothing happened":             {},
		"a call was released":          {after: func(l *trustLife) { l.release("r1") }},
		"a crash":                      {after: func(l *trustLife) { l.release("r1") }, crash: true},
		"a freeze stays":               {after: (*trustLife).freeze, frozen: true},
		"a freeze stays after a crash": {after: (*trustLife).freeze, crash: true, frozen: true},
		"a freeze was lifted":          {after: func(l *trustLife) { l.freeze(); l.unfreeze() }},
		"lifted, and a crash": {after: func(l *trustLife) { l.freeze(); l.unfreeze() },
			crash: true},
		"an old store, and nothing happened since": {old: true, doubt: "stopped in order", frozen: true},
		"an old store, before a release": {after: func(l *trustLife) { l.release("r1") }, old: true,
			doubt: "stopped in order", frozen: true},
		"an old store, before a release and kill": {after: func(l *trustLife) { l.release("r1") }, old: true,
			crash: true, doubt: "which was released", frozen: true},
		"an old store, before a freeze": {after: (*trustLife).freeze, old: true, doubt: "older",
			frozen: true},
		"an old store, before a freeze and kill": {after: (*trustLife).freeze, old: true, crash: true,
			doubt: "last freeze", frozen: true},
		"an old store, frozen and lifted since": {after: func(l *trustLife) { l.freeze(); l.unfreeze() }, old: true,
			doubt: "older", frozen: true},
		"an old store, lifted when it was frozen": {before: (*trustLife).freeze, after: (*trustLife).unfreeze,
			old: true, doubt: "is version 2, and was 3", frozen: true},
		"an old store, before observing ended and kill": {before: observe, after: enforce, old: true, crash: true,
			doubt: "record of freezes and pauses is version", frozen: true},
		"an old store, before observing ended": {before: observe, after: enforce, old: true,
			doubt: "record of freezes and pauses is version", frozen: true},
		"observing ended, and a crash": {before: observe, after: enforce, crash: true},
		"an old store, before a pause ended and kill": {before: pause, after: endPause, old: true, crash: true,
			doubt: "record of freezes and pauses is version", frozen: true},
		"an old store, before a pause ended": {before: pause, after: endPause, old: true,
			doubt: "record of freezes and pauses is version", frozen: true},
		"a pause ended, and a crash":                {before: pause, after: endPause, crash: true},
		"the freeze is gone":                        {after: (*trustLife).freeze, gone: []string{control}, frozen: true},
		"its record is gone, and none was in force": {gone: []string{control}, frozen: true},
		"gone after a crash":                        {gone: []string{control}, crash: true, frozen: true},
		"the audit's end is gone":                   {gone: []string{head}, doubt: "what it knew of the audit"},
		"both are gone": {gone: []string{head, control}, doubt: "what it knew of the audit",
			frozen: true},
		"all is gone": {gone: []string{"all"}, doubt: "what it knew of the audit",
			frozen: true},
		"the audit has another name now":       {id: "there"},
		"another name, and the record is gone": {id: "there", gone: []string{control}, frozen: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := startLife(t, dir, "here")
			if l.trust.first != "a new installation" || l.frozen() {
				t.Fatalf("a first start: %q, frozen %v", l.trust.first, l.frozen())
			}
			if tt.before != nil {
				tt.before(l)
			}
			l.stop()
			old := image(t, dir)
			l = startLife(t, dir, "here")
			if tt.after != nil {
				tt.after(l)
			}
			if tt.crash {
				crashed := image(t, dir)
				l.close()
				dir = crashed
			} else {
				l.stop()
			}
			if tt.old {
				put(t, "approver.db", old, dir)
			}
			if tt.id == "" {
				tt.id = "here"
			}
			l = startLife(t, dir, tt.id, tt.gone...)
			defer l.close()
			if doubts := strings.Join(l.trust.doubts, "; "); (doubts == "") != (tt.doubt == "") ||
				!strings.Contains(doubts, tt.doubt) {
				t.Errorf("doubts %q, want %q", doubts, tt.doubt)
			}
			if got := l.frozen(); got != tt.frozen {
				t.Errorf("frozen %v, want %v", got, tt.frozen)
			}
		})
	}
}

func observe(l *trustLife) {
	l.t.Helper()
	if _, err := l.people.Controls.Observe(l.t.Context(), nil, time.Hour, "Ada"); err != nil {
		l.t.Fatal(err)
	}
}

func enforce(l *trustLife) {
	l.t.Helper()
	if _, ended, err := l.people.Controls.Enforce(l.t.Context(), "Ada"); err != nil || !ended {
		l.t.Fatal(ended, err)
	}
}

func pause(l *trustLife) {
	l.t.Helper()
	if _, err := l.people.Controls.Pause(l.t.Context(), nil, time.Hour, true, "Ada"); err != nil {
		l.t.Fatal(err)
	}
}

func endPause(l *trustLife) {
	l.t.Helper()
	if _, err := l.people.Controls.Pause(l.t.Context(), nil, 0, false, "Ada"); err != nil {
		l.t.Fatal(err)
	}
}

// The story: the first two heads of a fresh installation did not say that there is a
// record of freezes. Somebody kept one of them, deleted the record of a freeze, put the
// head back and killed the daemon, and the next start took that for an upgrade and
// wrote a new record: the freeze was lifted unseen. Now every line of the audit says
// which version of the record there is.
func TestAnEarlyHeadIsNoUpgrade(t *testing.T) {
	for _, stopped := range []bool{true, false} {
		for name, act := range map[string]func(*trustLife){
			"frozen": (*trustLife).freeze, "nothing": func(*trustLife) {},
			"observing is over": func(l *trustLife) { observe(l); enforce(l) },
			"a pause is over":   func(l *trustLife) { pause(l); endPause(l) },
			"lifted":            func(l *trustLife) { l.freeze(); l.unfreeze() },
		} {
			t.Run(fmt.Sprint(name, " ", stopped), func(t *testing.T) {
				dir := t.TempDir()
				store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(dir, "approver.db")},
					slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				value := fmt.Appendf(nil, `{"log":"here","seq":0,"hash":%q}`, strings.Repeat("0", 64))
				if err := store.Put(t.Context(), approver.Key("audit", "here"), value, "", approver.NewRev(), time.Time{},
					time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				if err := store.Close(); err != nil {
					t.Fatal(err)
				}
				early := dir
				l := startLife(t, t.TempDir(), "here")
				act(l)
				if stopped {
					l.record(approver.EventStopped, "")
				}
				dir = image(t, l.dir)
				l.close()
				put(t, "approver.db", early, dir)
				l = startLife(t, dir, "here")
				defer l.close()
				if !l.frozen() || l.trust.first != "" {
					t.Errorf("frozen %v, %q", l.frozen(), l.trust.first)
				}
			})
		}
	}
}

// Two hundred starts and stops, every third of them a crash, with releases and
// freezes between them: the store is never doubted.
func TestHonestRestartsAreTrusted(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 20
	}
	dir := t.TempDir()
	for i := range n {
		l := startLife(t, dir, "here")
		if len(l.trust.doubts) > 0 || l.frozen() {
			t.Fatalf("start %d: %q, frozen %v", i, l.trust.doubts, l.frozen())
		}
		l.release(fmt.Sprint("r", i))
		if i%10 == 5 {
			l.freeze()
			l.unfreeze()
		}
		if i%3 != 0 {
			l.stop()
			continue
		}
		crashed := image(t, dir)
		l.close()
		dir = crashed
	}
}

// A data folder of the version before has an audit whose end the store knows, and no
// record of freezes: none was ever in force. Its first start with this version
// writes one and freezes nothing.
func TestAnUpgradeIsTrusted(t *testing.T) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	kv, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(dir, "approver.db")}, log)
	if err != nil {
		t.Fatal(err)
	}
	key, err := audit.LoadOrCreateKey(filepath.Join(dir, "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := audit.Open(t.Context(), audit.Options{Dir: filepath.Join(dir, "audit"), ID: "here", Key: key, KV: kv})
	if err != nil {
		t.Fatal(err)
	}
	(&trustLife{t: t, store: kv, records: records}).stop()
	l := startLife(t, dir, "here")
	if len(l.trust.doubts) > 0 || l.frozen() || !strings.Contains(l.trust.note(), "the version before") {
		t.Errorf("%q, frozen %v, %q", l.trust.doubts, l.frozen(), l.trust.note())
	}
	l.stop()
	l = startLife(t, dir, "here")
	defer l.close()
	if l.trust.first != "" || l.frozen() || l.records.Opened().Head.Controls != 1 {
		t.Errorf("the second start: %q, frozen %v, %+v", l.trust.first, l.frozen(), l.records.Opened())
	}
}
