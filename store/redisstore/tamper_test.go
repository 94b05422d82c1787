package redisstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"approver.example"
	"approver.example/store/storetest/redistest"
)

// wantTampered makes sure that a record is not given out.
func wantTampered(t *testing.T, s *Store, key string) {
	t.Helper()
	value, rev, err := s.Get(t.Context(), key)
	if !errors.Is(err, approver.ErrTampered) || value != nil || rev != "" {
		t.Errorf("get: got %q, %q, %v, want ErrTampered and nothing else", value, rev, err)
	}
	value, rev, now, err := s.GetNow(t.Context(), key)
	if !errors.Is(err, approver.ErrTampered) || value != nil || rev != "" || !now.IsZero() {
		t.Errorf("get with the clock: got %q, %q, %v, %v, want ErrTampered and nothing else", value, rev, now, err)
	}
}

func write(t *testing.T, s *Store, key, value string, prev approver.Rev) approver.Rev {
	t.Helper()
	rev := approver.NewRev()
	if err := s.Put(t.Context(), key, []byte(value), prev, rev, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return rev
}

// Someone has got hold of Redis: they can read and write every key, but they do
// not have the hub key. They want a denied request approved.
func TestRecordsChangedByHandAreRefused(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	s, admin := openFor(t, Config{Addrs: []string{redis7.Addr}}), redis7.Admin()
	mine, other := approver.Key("req", "mine"), approver.Key("req", "other")
	attacks := map[string]func(raw, approved string) any{
		"another format":           func(raw, _ string) any { return "\x02" + raw[1:] },
		"another revision":         func(raw, _ string) any { return raw[:1] + string(approver.NewRev()) + raw[37:] },
		"another signature":        func(raw, _ string) any { return raw[:37] + strings.Repeat("\x00", 32) + raw[69:] },
		"another value":            func(raw, _ string) any { return strings.Replace(raw, "denied", "approve", 1) },
		"a longer value":           func(raw, _ string) any { return raw + " " },
		"a shorter value":          func(raw, _ string) any { return raw[:len(raw)-1] },
		"no value":                 func(raw, _ string) any { return raw[:69] },
		"one byte":                 func(raw, _ string) any { return raw[:1] },
		"half a head":              func(raw, _ string) any { return raw[:40] },
		"nothing":                  func(string, string) any { return "" },
		"plain JSON":               func(string, string) any { return `{"state":"approved"}` },
		"the value of another key": func(_, approved string) any { return approved },
		"its head, their value":    func(raw, approved string) any { return raw[:69] + approved[69:] },
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			if err := admin.Del(t.Context(), mine, other).Err(); err != nil {
				t.Fatal(err)
			}
			write(t, s, mine, "denied", "")
			rev := write(t, s, other, "approved", "")
			raw, approved := admin.Get(t.Context(), mine).Val(), admin.Get(t.Context(), other).Val()
			if err := admin.Set(t.Context(), mine, attack(raw, approved), 0).Err(); err != nil {
				t.Fatal(err)
			}
			wantTampered(t, s, mine)
			if admin.StrLen(t.Context(), mine).Val() > 0 {
				// Nor is it taken for no record, and replaced unseen.
				err := s.Put(t.Context(), mine, nil, "", approver.NewRev(), time.Time{}, time.Time{})
				if !errors.Is(err, approver.ErrConflict) {
					t.Errorf("a creation in its place: got %v, want ErrConflict", err)
				}
			}
			if value, got, err := s.Get(t.Context(), other); err != nil || got != rev || string(value) != "approved" {
				t.Errorf("the untouched record: got %q, %v", value, err)
			}
		})
	}
}

func TestSwappedRecordsAreRefused(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	s, admin := openFor(t, Config{Addrs: []string{redis7.Addr}}), redis7.Admin()
	a, b := approver.Key("req", "a"), approver.Key("req", "b")
	write(t, s, a, "approved", "")
	write(t, s, b, "denied", "")
	rawA, rawB := admin.Get(t.Context(), a).Val(), admin.Get(t.Context(), b).Val()
	for key, raw := range map[string]string{a: rawB, b: rawA} {
		if err := admin.Set(t.Context(), key, raw, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	wantTampered(t, s, a)
	wantTampered(t, s, b)
}

// A record that is put back whole, as it once was, carries a good signature.
// The package comment says so; the test keeps it true, and shows what the
// compare-and-set still does: who holds the newer revision does not win.
func TestAReplayIsNotSeenButDoesNotMatchTheNewRevision(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	s, admin := openFor(t, Config{Addrs: []string{redis7.Addr}}), redis7.Admin()
	key := approver.Key("req", "replayed")
	first := write(t, s, key, "pending", "")
	old := admin.Get(t.Context(), key).Val()
	second := write(t, s, key, "denied", first)
	if err := admin.Set(t.Context(), key, old, 0).Err(); err != nil {
		t.Fatal(err)
	}
	value, rev, err := s.Get(t.Context(), key)
	if err != nil || string(value) != "pending" || rev != first {
		t.Errorf("got %q, %s, %v", value, rev, err)
	}
	err = s.Put(t.Context(), key, []byte("consumed"), second, approver.NewRev(), time.Time{}, time.Time{})
	if !errors.Is(err, approver.ErrConflict) {
		t.Errorf("a write on the newer revision: got %v, want ErrConflict", err)
	}
}

func TestKeysOfAnotherTypeAreRefused(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	s, admin := openFor(t, Config{Addrs: []string{redis7.Addr}}), redis7.Admin()
	key := approver.Key("req", "list")
	if err := admin.LPush(t.Context(), key, "x").Err(); err != nil {
		t.Fatal(err)
	}
	wantTampered(t, s, key)
	err := s.Put(t.Context(), key, nil, "", approver.NewRev(), time.Time{}, time.Time{})
	if !errors.Is(err, approver.ErrTampered) {
		t.Errorf("put: got %v, want ErrTampered", err)
	}

	// A due set of another type must not leave a record that nobody would look
	// after: the write is refused whole.
	due := key[:8] + "due"
	if err := errors.Join(admin.Del(t.Context(), key).Err(), admin.Set(t.Context(), due, "x", 0).Err()); err != nil {
		t.Fatal(err)
	}
	err = s.Put(t.Context(), key, nil, "", approver.NewRev(), time.Now(), time.Time{})
	if !errors.Is(err, approver.ErrTampered) {
		t.Errorf("put with a broken due set: got %v, want ErrTampered", err)
	}
	if n := admin.Exists(t.Context(), key).Val(); n != 0 {
		t.Error("the record was written without its due time")
	}
}

func TestDueDropsWhatIsNotThere(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	s, admin := openFor(t, Config{Addrs: []string{redis7.Addr}}), redis7.Admin()
	past := time.Now().Add(-time.Minute)
	shard := approver.ShardOf("due")
	key := approver.Key("req", "due")
	set := key[:8] + "due"
	if err := s.Put(t.Context(), key, nil, "", approver.NewRev(), past, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for i := range 200 { // more than one look of the script at a small limit
		member := key[:8] + "req:gone" + string(rune('a'+i%26)) + strings.Repeat("x", i)
		if err := admin.ZAdd(t.Context(), set, redis.Z{Score: float64(i), Member: member}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, member := range []string{"", "forged", "ap:{99}:req:x", "ap:{00}/clock"} {
		if err := admin.ZAdd(t.Context(), set, redis.Z{Score: 0, Member: member}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 { // each call does a bounded part
		if _, err := s.Due(t.Context(), shard, 1); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := s.Due(t.Context(), shard, 1)
	if err != nil || len(keys) != 1 || keys[0] != key {
		t.Errorf("got %q, %v, want %s", keys, err, key)
	}
	if left := admin.ZRange(t.Context(), set, 0, -1).Val(); len(left) != 1 {
		t.Errorf("%d entries are left, want 1: %.5q", len(left), left)
	}
}

func TestAnotherHubKeyIsRefused(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	openFor(t, Config{Addrs: []string{redis7.Addr}})
	s, err := Open(t.Context(), Config{Addrs: []string{redis7.Addr}, HubKeyFile: hubKeyFile(t, "x")}, quiet())
	if err == nil || !strings.Contains(err.Error(), "another hub key") {
		t.Errorf("got %v, %v, want to hear of another hub key", s, err)
	}
}

func TestABrokenFenceGrantsNothing(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	s := openFor(t, Config{Addrs: []string{redis7.Addr}})
	for _, fence := range []string{"9e15", "inf", "nan", "1e999"} {
		keys := redis7.Admin().Keys(t.Context(), "ap:*/lease:*").Val()
		if len(keys) > 0 {
			redis7.Admin().Del(t.Context(), keys...)
		}
		if err := redis7.Admin().Set(t.Context(), fenceKey("leader"), fence, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Lease(t.Context(), "leader", time.Minute); err == nil {
			t.Errorf("a fence of %s: got %d, want an error", fence, got)
		}
	}
}

func fenceKey(name string) string {
	return strings.Replace(approver.Key("x", name), ":x:", "/fence:", 1)
}

// Fences must grow even over the loss of what Redis knew.
func TestFencesGrowOverALoss(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	c := Config{Addrs: []string{redis7.Addr}}
	before, err := openFor(t, c).Lease(t.Context(), "leader", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := redis7.Admin().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	after, err := openFor(t, c).Lease(t.Context(), "leader", time.Minute)
	if err != nil || after <= before {
		t.Errorf("got %d, %v after %d", after, err, before)
	}
	if ttl := redis7.Admin().TTL(t.Context(), fenceKey("leader")).Val(); ttl != -1 {
		t.Errorf("the fence has a time to live of %v", ttl)
	}
}

func TestClockGoesOnFromItsMark(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	c := Config{Addrs: []string{redis7.Addr}}
	s, admin := openFor(t, c), redis7.Admin()
	now := func(s *Store) time.Time {
		t.Helper()
		time.Sleep(clockFor + time.Millisecond) // so that the server is asked
		now, err := s.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	// As after a fail-over to a server whose clock is an hour late.
	mark := time.Now().Add(time.Hour)
	if err := admin.Set(t.Context(), clockKey, millis(mark)+"000 0", 0).Err(); err != nil {
		t.Fatal(err)
	}
	first := now(s)
	if first.Before(mark) {
		t.Errorf("the clock went back to %v, before its mark %v", first, mark)
	}
	time.Sleep(30 * time.Millisecond)
	if second := now(openFor(t, c)); second.Sub(first) < 30*time.Millisecond {
		t.Errorf("30 ms later, the clock is %v further", second.Sub(first))
	}
	// Due goes by the same clock.
	key := approver.Key("req", "soon")
	if err := s.Put(t.Context(), key, nil, "", approver.NewRev(), first.Add(-time.Minute), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.Due(t.Context(), approver.ShardOf("soon"), 1); err != nil || len(keys) != 1 {
		t.Errorf("due by the store's clock: got %q, %v", keys, err)
	}
	// What a process has read, it and others keep, even if the mark is lost.
	last := now(s)
	for _, mark := range []string{"", "nonsense", "1", "99999999999999999999 0", "0 99999999999999999999", "-1 -1"} {
		if err := admin.Set(t.Context(), clockKey, mark, 0).Err(); err != nil {
			t.Fatal(err)
		}
		again := now(s)
		if again.Before(last) || again.Sub(last) > time.Minute {
			t.Errorf("with the mark %q the clock went from %v to %v", mark, last, again)
		}
		if other := now(openFor(t, c)); other.Before(again) {
			t.Errorf("with the mark %q another process sees %v after %v", mark, other, again)
		}
		last = now(s)
	}
}

// One due set that somebody spoiled, and a server that has lost its scripts, keep
// nobody from hearing what is due in the other shards.
func TestASpoiledDueSetHidesNoOther(t *testing.T) {
	t.Parallel()
	redis7 := startFor(t, redistest.Options{})
	s, admin := openFor(t, Config{Addrs: []string{redis7.Addr}}), redis7.Admin()
	key := approver.Key("req", "due")
	past := time.Now().Add(-time.Second)
	if err := s.Put(t.Context(), key, []byte("v"), "", approver.NewRev(), past, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	spoiled := (approver.ShardOf("due") + 1) % approver.Shards
	if err := admin.Set(t.Context(), dueKey(spoiled), "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := admin.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if keys, err := s.DueAll(t.Context(), 10); !errors.Is(err, approver.ErrTampered) || len(keys) != 1 || keys[0] != key {
			t.Errorf("due: %q, %v", keys, err)
		}
	}
}
