package sealed

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/store/redisstore"
)

// A linesRecord is some record.
type linesRecord struct{ Lines []string }

// The story: a machine on a shared Redis got another name. Its records of whose answers
// count and of the policy in force are kept under the name, so that they seemed to be
// gone: every daemon was frozen. Now they move along. Back under the former name, what
// was in force then does not come back; nor does anything where a record was removed.
func TestSealedRecordsMoveWithTheName(t *testing.T) {
	store := daemontest.EmbeddedPlace().Open(t, t.TempDir())
	defer store.Close()
	hub := filepath.Join(t.TempDir(), "hub.key")
	if err := os.WriteFile(hub, []byte(strings.Repeat("h", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(id string) configs.Config {
		cfg := configs.Config{Dir: t.TempDir()}
		cfg.Store.Redis, cfg.Audit.ID = &redisstore.Config{HubKeyFile: hub}, id
		return cfg
	}
	record := func(id, name string) Record {
		t.Helper()
		s, err := New(at(id), store, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	save := func(id, name, line string) {
		t.Helper()
		if err := record(id, name).Save(t.Context(), linesRecord{Lines: []string{line}}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(id, name, want string) {
		t.Helper()
		var k linesRecord
		err := record(id, name).Load(t.Context(), &k)
		if want == "" && errors.Is(err, approver.ErrNotFound) {
			return
		}
		if err != nil || len(k.Lines) != 1 || k.Lines[0] != want {
			t.Errorf("%s of %s: %v, %v, want %q", name, id, k.Lines, err, want)
		}
	}
	move := func(from, to string) error { return Carry(t.Context(), at(to), store, from) }
	for _, name := range recordNames() {
		if name != "flow" { // nobody changed it
			save("one", name, "ada and bob")
		}
	}
	if err := errors.Join(move("one", "two"), move("one", "two")); err != nil {
		t.Fatal(err)
	}
	has("two", "approvers", "ada and bob")
	has("two", "policy", "ada and bob")
	has("two", "flow", "")
	save("two", "approvers", "ada") // bob is taken out
	if err := move("two", "one"); err != nil {
		t.Fatal(err)
	}
	has("one", "approvers", "ada")
	// A record that is gone does not let an earlier one count.
	if err := move("nobody", "one"); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("a record that was removed: %v", err)
	}
	// One that was copied from another name is not believed.
	value, _, err := store.Get(t.Context(), record("two", "approvers").Key())
	if err != nil {
		t.Fatal(err)
	}
	key := approver.Key("approvers", "copied")
	if err := store.Put(t.Context(), key, value, "", approver.NewRev(), time.Time{},
		time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := move("copied", "three"); err == nil {
		t.Error("a record of another name is carried over")
	}
	// An embedded store is of one installation, whatever its name.
	if err := Carry(t.Context(), configs.Config{Dir: t.TempDir()}, store, "one"); err != nil {
		t.Error(err)
	}
}
