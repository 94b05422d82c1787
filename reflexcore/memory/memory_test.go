package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func remember(kv memory.KV) *memory.Memory { return memory.New(kv, loop.DefaultLimits, quiet()) }

func key(session string) memory.Key {
	return memory.Key{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/p", Session: session}
}

// A fake is a KV in memory that can fail, and counts.
type fake struct {
	mu         sync.Mutex
	values     map[string][]byte
	revs       map[string]approver.Rev
	fail       error
	ambiguous  bool // the next Put is done and reports an error all the same
	gets, puts int
	before     func() // once, before the next Put
}

func newFake() *fake { return &fake{values: map[string][]byte{}, revs: map[string]approver.Rev{}} }

func (f *fake) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func (f *fake) Get(_ context.Context, k string) ([]byte, approver.Rev, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gets++
	if f.fail != nil {
		return nil, "", f.fail
	}
	if f.revs[k] == "" {
		return nil, "", approver.ErrNotFound
	}
	return f.values[k], f.revs[k], nil
}

func (f *fake) Put(_ context.Context, k string, v []byte, prev, next approver.Rev, _, _ time.Time) error {
	f.mu.Lock()
	if before := f.before; before != nil {
		f.before = nil
		f.mu.Unlock()
		before()
		f.mu.Lock()
	}
	defer f.mu.Unlock()
	f.puts++
	switch {
	case f.fail != nil:
		return f.fail
	case f.revs[k] == next:
		return nil
	case f.revs[k] != prev:
		return approver.ErrConflict
	}
	f.values[k], f.revs[k] = v, next
	if f.ambiguous {
		f.ambiguous = false
		return errors.New("the line broke")
	}
	return nil
}

func (f *fake) count() (gets, puts int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gets, f.puts
}

func call(text string) loop.Call { return loop.Describe("Bash", text, nil, loop.Run) }

func leave(t *testing.T, m *memory.Memory, files ...memory.File) {
	t.Helper()
	if err := m.Open(t.Context(), key("s"), time.Now()).Leave(files); err != nil {
		t.Fatal(err)
	}
}

func wantTaint(t *testing.T, m *memory.Memory, path string, want effect.Taint) {
	t.Helper()
	p := m.Open(t.Context(), key("another"), time.Now())
	if got := p.Taint(path); got != want || p.Err() != nil {
		t.Errorf("%s has taint %q (%v), want %q", path, got, p.Err(), want)
	}
}

// onStores runs a test on both stores. open opens the same store once more.
func onStores(t *testing.T, test func(t *testing.T, open func(t *testing.T) (memory.KV, func()))) {
	t.Run("embedded", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "approver.db")
		test(t, func(t *testing.T) (memory.KV, func()) {
			s, err := sqlitestore.Open(sqlitestore.Config{Path: path}, quiet())
			if err != nil {
				t.Fatal(err)
			}
			return s, func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	})
	t.Run("redis", func(t *testing.T) {
		server, err := redistest.Start(t.Context(), redistest.Options{})
		if errors.Is(err, redistest.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		hubKey := filepath.Join(t.TempDir(), "hub")
		if err := os.WriteFile(hubKey, []byte(strings.Repeat("k", 64)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		test(t, func(t *testing.T) (memory.KV, func()) {
			s, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{server.Addr}, HubKeyFile: hubKey}, quiet())
			if err != nil {
				t.Fatal(err)
			}
			return s, func() { _ = s.Close() }
		})
	})
}

// What calls leave in files, and the trace of a session, outlive the process.
func TestOutlivesTheProcess(t *testing.T) {
	onStores(t, func(t *testing.T, open func(t *testing.T) (memory.KV, func())) {
		kv, closed := open(t)
		m := remember(kv)
		leave(t, m, memory.File{Path: "/tmp/x.sh", Taint: effect.Network})
		past := m.Open(t.Context(), key("s"), time.Now())
		for range 3 {
			past.Call(call("make"), []string{"/p/made"})
			past.Ran(call("make").Hash, loop.Measure("no rule", true))
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := m.Run(ctx); err != nil { // the daemon stops: the last is written
			t.Fatal(err)
		}
		closed()

		kv, closed = open(t)
		defer closed()
		m = remember(kv)
		wantTaint(t, m, "/tmp/x.sh", effect.Network)
		past = m.Open(t.Context(), key("s"), time.Now())
		if !past.Made("/p/made") {
			t.Error("what the session made is forgotten")
		}
		if f := past.Loop(call("make")); f.Rule != "loop.repeat" || f.Ask {
			t.Errorf("the fourth call is %+v, want a warning", f)
		}
		if other := m.Open(t.Context(), key("t"), time.Now()); other.Made("/p/made") || other.Loop(call("make")).Rule != "" {
			t.Error("another session has the trace of this one")
		}
	})
}

// Taint is durable when Leave returns, and any other replica sees it with its next
// call. Two that write at the same time both count.
func TestReplicas(t *testing.T) {
	kv := newFake()
	a, b := remember(kv), remember(kv)
	wantTaint(t, b, "/tmp/a0", 0)
	var all sync.WaitGroup
	for i := range 4 {
		for name, m := range map[string]*memory.Memory{"a": a, "b": b} {
			all.Go(func() {
				if err := m.Open(t.Context(), key("s"),
					time.Now()).Leave([]memory.File{{Path: fmt.Sprintf("/tmp/%s%d", name, i), Taint: effect.Network}}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for i := range 4 {
		for _, m := range []*memory.Memory{a, b} {
			wantTaint(t, m, fmt.Sprintf("/tmp/a%d", i), effect.Network)
			wantTaint(t, m, fmt.Sprintf("/tmp/b%d", i), effect.Network)
		}
	}
}

// Another replica writes between the read and the write of this one.
func TestAConflict(t *testing.T) {
	kv := newFake()
	a, b := remember(kv), remember(kv)
	kv.before = func() { leave(t, b, memory.File{Path: "/tmp/b", Taint: effect.Network}) }
	leave(t, a, memory.File{Path: "/tmp/a", Taint: effect.Network})
	for _, m := range []*memory.Memory{a, b, remember(kv)} {
		wantTaint(t, m, "/tmp/a", effect.Network)
		wantTaint(t, m, "/tmp/b", effect.Network)
	}
}

// Two replicas that serve one session add up what they saw.
func TestTracesAreMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newFake()
		a, b := remember(kv), remember(kv)
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, m := range []*memory.Memory{a, b} {
			all.Go(func() { _ = m.Run(ctx) })
			past := m.Open(t.Context(), key("s"), time.Now())
			past.Call(call("make"), nil)
			past.Ran(call("make").Hash, loop.Measure("no rule", true))
		}
		b.Open(t.Context(), key("s"), time.Now()).Call(call("touch x"), []string{"/p/x"})
		b.Open(t.Context(), key("s"), time.Now()).Ran(call("touch x").Hash, loop.Measure("", false))
		time.Sleep(time.Minute)
		past := a.Open(t.Context(), key("s"), time.Now())
		if !past.Made("/p/x") {
			t.Error("what the other replica saw made is not known here")
		}
		past.Call(call("make"), nil)
		past.Ran(call("make").Hash, loop.Measure("no rule", true))
		stop()
		all.Wait()
		gets, puts := kv.count()
		if gets > 20 || puts > 8 {
			t.Errorf("%d reads and %d writes for six calls", gets, puts)
		}
	})
}

// The hook path reads nothing of files that no call asks for, and decodes nothing
// that has not changed; a trace is written behind.
func TestCosts(t *testing.T) {
	kv := newFake()
	m := remember(kv)
	now := time.Now()
	past := m.Open(t.Context(), key("s"), now)
	past.Loop(call("ls"))
	past.Call(call("ls"), nil)
	if gets, puts := kv.count(); gets != 1 || puts != 0 {
		t.Errorf("the first call costs %d reads and %d writes, want 1 and none", gets, puts)
	}
	past = m.Open(t.Context(), key("s"), now)
	past.Loop(call("ls"))
	past.Call(call("ls"), nil)
	if gets, puts := kv.count(); gets != 1 || puts != 0 {
		t.Errorf("the second call makes it %d reads and %d writes, want 1 and none", gets, puts)
	}
	past.Taint("/x")
	past.Taint("/y")
	if gets, _ := kv.count(); gets != 2 {
		t.Errorf("%d reads after two questions about files, want 2", gets)
	}
	leave(t, m, memory.File{Path: "/tmp/x", Taint: effect.Network})
	leave(t, m, memory.File{Path: "/tmp/x", Taint: effect.Network}, memory.File{Path: "/tmp/y", Taint: effect.File})
	if _, puts := kv.count(); puts != 1 {
		t.Errorf("%d writes, want 1: the second time nothing is new", puts)
	}
}

// The story: the store is away for a moment. Nobody may then take a downloaded
// file for any file, and a download that cannot be remembered must not happen.
func TestAStoreThatFailsIsSaid(t *testing.T) {
	kv := newFake()
	m := remember(kv)
	leave(t, m, memory.File{Path: "/tmp/x", Taint: effect.Network})
	wantTaint(t, m, "/tmp/x", effect.Network)
	kv.set(errors.New("the line is cut"))
	past := m.Open(t.Context(), key("s"), time.Now())
	if past.Taint("/tmp/y"); past.Err() == nil {
		t.Error("what could not be read is not an error")
	}
	if err := past.Leave([]memory.File{{Path: "/tmp/y", Taint: effect.Network}}); err == nil {
		t.Error("what could not be written is not an error")
	}
	if past := m.Open(t.Context(), key("s"), time.Now()); past.Err() != nil {
		t.Error("a call that asks for no file fails")
	}
	kv.set(nil)
	kv.ambiguous = true
	leave(t, m, memory.File{Path: "/tmp/z", Taint: effect.Secret})
	wantTaint(t, remember(kv), "/tmp/z", effect.Secret)
	for k := range kv.values {
		kv.values[k], kv.revs[k] = []byte(`{"v":99}`), approver.NewRev()
	}
	past = m.Open(t.Context(), key("s"), time.Now())
	if past.Taint("/tmp/x"); past.Err() == nil || !strings.Contains(past.Err().Error(), "form 99") {
		t.Errorf("a record of another version is read: %v", past.Err())
	}
}

func TestTaint(t *testing.T) {
	m := remember(nil)
	leave(t, m,
		memory.File{Path: "/tmp/x.sh", Taint: effect.Network},
		memory.File{Path: "/tmp/src", Taint: effect.Network, Tree: true},
		memory.File{Path: "/p/keys/id", Taint: effect.Secret | effect.File},
		memory.File{Path: "/p/plain", Taint: effect.File}, memory.File{Path: "relative", Taint: effect.Network},
		memory.File{Path: "/tmp/" + effect.Unknown, Taint: effect.Network},
		memory.File{Path: "/", Taint: effect.Network, Tree: true}, memory.File{Path: "/tmp/../etc", Taint: effect.Network})
	leave(t, m, memory.File{Path: "/tmp/x.sh", Taint: effect.Decoded})
	for path, want := range map[string]effect.Taint{
		"/tmp/x.sh": effect.Network | effect.Decoded, "/tmp/*.sh": effect.Network | effect.Decoded, "/tmp/x.py": 0, "/tmp": 0,
		"/tmp/src": effect.Network, "/tmp/src/a/b.sh": effect.Network,
		"/tmp/src2/b.sh": 0, "/tmp/src/*.sh": effect.Network, "/p/keys/id": effect.Secret, "/p/keys": effect.Secret,
		"/p": effect.Secret, "/p/plain": 0, "relative": 0, "": 0, "/": 0, "/etc": 0, "/p/key": 0,
	} {
		wantTaint(t, m, path, want)
	}
}

// The story: a script is downloaded, and a thousand other files after it. What there
// is no room for is still known for what it is, though not its taint exactly; no
// record grows beyond its bound.
func TestBounds(t *testing.T) {
	kv := newFake()
	m := remember(kv)
	long := strings.Repeat("x", 200)
	for i := range 12 {
		files := make([]memory.File, 100)
		for j := range files {
			files[j] = memory.File{Path: fmt.Sprintf("/tmp/%d/%d/%s", i, j, long), Taint: effect.Network}
		}
		leave(t, m, files...)
	}
	wantTaint(t, m, "/tmp/11/99/"+long, effect.Network)
	wantTaint(t, m, "/tmp/0/0/"+long, effect.Network)
	short := remember(kv)
	for i := range 1200 {
		leave(t, short, memory.File{Path: fmt.Sprintf("/tmp/s%d", i), Taint: effect.Network})
	}
	wantTaint(t, remember(kv), "/tmp/s1199", effect.Network)
	wantTaint(t, remember(kv), "/tmp/s0", effect.Network)
	wantTaint(t, remember(kv), "/tmp/s?", effect.Network)
	wantTaint(t, remember(kv), "/tmp/other", 0)
	past := m.Open(t.Context(), key("s"), time.Now())
	for i := range 400 {
		c := call(fmt.Sprintf("touch %d", i))
		makes := make([]string, 12)
		for j := range makes {
			makes[j] = fmt.Sprintf("/p/%d/%d/%s", i, j, long)
		}
		past.Call(c, makes)
		past.Ran(c.Hash, loop.Measure(long, false))
	}
	if !past.Made("/p/399/7/"+long) || past.Made("/p/0/0/"+long) || past.Made("/p/399/8/"+long) {
		t.Error("not the newest files are remembered")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_ = m.Run(ctx)
	for k, v := range kv.values {
		if len(v) > 64<<10 {
			t.Errorf("%s has %d bytes", k, len(v))
		}
	}
	if _, puts := kv.count(); puts < 2 || len(kv.values) != 2 {
		t.Errorf("%d records, want two", len(kv.values))
	}
	for i := range 2000 { // sessions
		m.Open(t.Context(), key(fmt.Sprint(i)), time.Now()).Call(call("ls"), nil)
	}
}

// A file counts as made once its call ran; one that failed may have made it as well.
func TestMade(t *testing.T) {
	past := remember(nil).Open(t.Context(), key("s"), time.Now())
	past.Call(call("touch /p/a"), []string{"/p/a"})
	if past.Made("/p/a") {
		t.Error("a file is made before the call ran")
	}
	past.Ran(call("touch /p/b").Hash, loop.Measure("", false))
	if past.Made("/p/a") {
		t.Error("another call made it")
	}
	past.Ran(call("touch /p/a").Hash, loop.Measure("", false))
	if !past.Made("/p/a") || past.Made("/p") || past.Made("/p/a/b") {
		t.Error("the call ran, and its file, and only that, is not made")
	}
}

// What a record has no room for keeps its taint in a sieve: files, folders with all
// below, patterns, and secrets in a folder. It takes no other file for one of
// them, and what is old goes.
func TestSieve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newFake()
		leave(t, remember(kv),
			memory.File{Path: "/tmp/x.sh", Taint: effect.Network},
			memory.File{Path: "/tmp/src", Taint: effect.Decoded, Tree: true},
			memory.File{Path: "/p/keys/id", Taint: effect.Secret},
			memory.File{Path: "/p/vault", Taint: effect.Secret, Tree: true})
		flood := func(name string) {
			for i := range 3 {
				files := make([]memory.File, 400)
				for j := range files {
					files[j] = memory.File{Path: fmt.Sprintf("/flood/%s/%d/%d", name, i, j), Taint: effect.Network}
				}
				leave(t, remember(kv), files...)
			}
		}
		want := map[string]effect.Taint{
			"/tmp/x.sh": effect.Network, "/tmp/src": effect.Network, "/tmp/src/a/b.sh": effect.Network,
			"/tmp/*.sh": effect.Network, "/*/x.sh": effect.Network,
			"/p/keys/id": effect.Secret, "/p/keys": effect.Secret, "/p": effect.Secret, "/p/vault/a/b": effect.Secret,
			"/tmp/y.sh": 0, "/tmp/source/a": 0, "/q/*.sh": 0, "/p/keys/other": 0, "/p/plain": 0,
		}
		flood("a")
		for path, taint := range want {
			wantTaint(t, remember(kv), path, taint)
		}
		time.Sleep(31 * 24 * time.Hour)
		flood("b") // the present sieve becomes the older one
		wantTaint(t, remember(kv), "/tmp/x.sh", effect.Network)
		time.Sleep(31 * 24 * time.Hour)
		flood("c")
		wantTaint(t, remember(kv), "/tmp/x.sh", 0)
		wantTaint(t, remember(kv), "/flood/c/0/0", effect.Network)
	})
}
