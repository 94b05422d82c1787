package broadcaster_test

import (
	"encoding/json"
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

// The story: an attacker fills the record of freezes and removals as far as it goes, on the
// embedded store and on a Redis, with what JSON writes longest. Then an approver is removed,
// brought back, one agent is frozen, everything is, and it is lifted, and after a restart of
// the daemon all of that still holds: no store says that the record is too large.
func TestAFilledRecordTakesEveryFreezeOnTheRealStores(t *testing.T) {
	if testing.Short() {
		t.Skip("records of megabytes take minutes under the race detector, in one goroutine")
	}
	quiet := slog.New(slog.DiscardHandler)
	t.Run("embedded", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "approver.db")
		filledRecord(t, func() approver.KV {
			store, err := sqlitestore.Open(sqlitestore.Config{Path: path}, quiet)
			if err != nil {
				t.Fatal(err)
			}
			return store
		})
	})
	t.Run("redis", func(t *testing.T) {
		server, err := redistest.Start(t.Context(), redistest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		key := hubKey(t)
		filledRecord(t, func() approver.KV {
			store, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{server.Addr}, HubKeyFile: key}, quiet)
			if err != nil {
				t.Fatal(err)
			}
			return store
		})
	})
}

func filledRecord(t *testing.T, open func() approver.KV) {
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %.300v", what, err)
		}
	}
	long := strings.Repeat("<", 60_000)
	gone := func(i int) broadcaster.Removal {
		account := fmt.Sprintf("%03d%s", i, strings.Repeat("<", broadcaster.MaxName-10))
		return broadcaster.Removal{
			Person: "t:" + account, Identities: []approver.Identity{{Channel: "t", ID: account}}, By: long, Reason: long,
		}
	}
	store := open()
	// What is there at most of what only people, or only lists, could have put there.
	was := broadcaster.Controls{Version: 1}
	const people = 44
	for i := range people {
		r := gone(i)
		for j := range 128 {
			r.Identities = append(r.Identities, approver.Identity{
				Channel: "t", ID: fmt.Sprintf("%03d%s", j, r.Identities[0].ID),
			})
		}
		r.At, r.Reason, r.By = time.Now(), strings.Repeat("<", 1000), "uid 7"
		was.Removed = append(was.Removed, r)
	}
	who := func(uid int) broadcaster.Who {
		return broadcaster.Who{Agent: "claude", Peer: approver.Peer{Known: true, UID: uint32(uid)}, Project: "/" +
			strings.Repeat("<", 4000), Session: strings.Repeat("<", 256)}
	}
	for i := range 63 {
		was.Holds = append(was.Holds, broadcaster.Hold{
			Freeze: broadcaster.Freeze{At: time.Now(), By: "approver", Reason: strings.Repeat("<", 1000)}, Who: who(i),
		})
	}
	value, err := json.Marshal(was)
	must("encode", err)
	now, err := store.Now(t.Context())
	must("now", err)
	must("put", store.Put(t.Context(), approver.Key("control", "all"), value, "", approver.NewRev(), time.Time{},
		now.Add(time.Hour)))
	x := startReplica(t, store)
	refused := 0
	for i := range 20 { // the attack itself
		r := gone(1000 + i)
		r.Unlisted = true
		if _, err := x.b.Removals.Remove(t.Context(), r); err != nil {
			refused++
		}
	}
	if refused != 20-16 {
		t.Errorf("%d were refused", refused)
	}
	_, err = x.b.Removals.Remove(t.Context(), broadcaster.Removal{
		Person: "ada", Identities: []approver.Identity{{Channel: "memory", ID: "1"}}, By: long, Reason: long,
	})
	must("remove somebody listed", err)
	must("restore", x.b.Removals.Restore(t.Context(), x.gone(t, "ada"), long))
	for i := range 2 { // the second one freezes everything
		if _, err := x.b.Controls.Hold(t.Context(), who(100+i), long, long); err != nil {
			t.Fatalf("hold %d: %.300v", i, err)
		}
		if c, _, err := x.b.Controls.Load(t.Context()); err != nil || c.Frozen() != (i == 1) {
			t.Errorf("hold %d: everything is frozen %v: %v", i, c.Frozen(), err)
		}
	}
	_, err = x.b.Controls.Freeze(t.Context(), long, long)
	must("freeze", err)
	must("unfreeze", x.b.Controls.Unfreeze(t.Context(), long))
	_, err = x.b.Controls.Freeze(t.Context(), long, long)
	must("freeze once more", err)
	_, err = x.b.Removals.Remove(t.Context(), broadcaster.Removal{Person: "bob", By: long, Reason: long})
	must("remove somebody else", err)
	if closer, ok := store.(interface{ Close() error }); ok {
		must("close", closer.Close())
	}
	store = open()
	c, err := broadcaster.LoadControls(t.Context(), store)
	if err != nil || !c.Frozen() || len(c.Removed.InForce()) != people+16+1 {
		t.Errorf("after a restart: frozen %v, %d are away: %v", c.Frozen(), len(c.Removed.InForce()), err)
	}
	if closer, ok := store.(interface{ Close() error }); ok {
		must("close", closer.Close())
	}
}

// gone is the removal of a person as it stands.
func (r replica) gone(t *testing.T, person string) broadcaster.Removal {
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
