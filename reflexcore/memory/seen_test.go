package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/memory"
)

const keep = 12 * time.Hour

// sees is what is known of a session; the destinations that it used are in used.
func sees(t *testing.T, p *memory.Past, to ...string) (flow.Label, string) {
	t.Helper()
	l, err := p.Seen(keep)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range to {
		if p.Used(name) {
			names = append(names, name)
		}
	}
	return l, strings.Join(names, " ")
}

// The story: an agent reads a secret and begins a new session, and the daemon starts
// anew. What its model has seen is still known, for that user, agent and project, until
// it is too long ago.
func TestWhatWasSeenOutlivesSessionAndRestart(t *testing.T) {
	kv := newFake()
	at := time.Unix(1e9, 0)
	if err := remember(kv).Open(t.Context(), key("one"), at).See(flow.Restricted,
		[]string{"host a.example", "", strings.Repeat("x", 300)}); err != nil {
		t.Fatal(err)
	}
	m := remember(kv)
	if l, used := sees(t, m.Open(t.Context(), key("two"), at.Add(time.Hour)), "host a.example",
		"host b.example"); l != flow.Restricted || used != "host a.example" {
		t.Errorf("a new session has seen %s and used %q", l, used)
	}
	other := key("one")
	other.Peer.UID = 1001
	if l, used := sees(t, m.Open(t.Context(), other, at), "host a.example"); l != flow.Public || used != "" {
		t.Errorf("another user has seen %s and used %q", l, used)
	}
	if l, _ := sees(t, m.Open(t.Context(), key("two"), at.Add(keep))); l != flow.Public {
		t.Errorf("after its time it is still %s", l)
	}
	if l, _ := sees(t, m.Open(t.Context(), key("two"), at.Add(-time.Hour))); l != flow.Restricted {
		t.Errorf("a clock that goes back makes it %s", l)
	}
	// A lower label later leaves the higher one; each ends by itself.
	if err := m.Open(t.Context(), key("two"), at.Add(time.Hour)).See(flow.Confidential, nil); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]flow.Label{2 * time.Hour: flow.Restricted,
		keep + time.Minute: flow.Confidential, keep + 2*time.Hour: flow.Public} {
		if l, _ := sees(t, m.Open(t.Context(), key("two"), at.Add(after))); l != want {
			t.Errorf("after %s: %s, want %s", after, l, want)
		}
	}
}

// What cannot be read is the highest label, and an error; what is written is written
// once.
func TestWhatCannotBeReadIsTheHighest(t *testing.T) {
	kv := newFake()
	m := remember(kv)
	p := m.Open(t.Context(), key("s"), time.Now())
	for range 3 {
		if err := p.See(flow.Critical, []string{"host a.example"}); err != nil {
			t.Fatal(err)
		}
	}
	if kv.puts != 1 {
		t.Errorf("the same was written %d times", kv.puts)
	}
	if err := errors.Join(p.See(flow.Public, nil)); err != nil || kv.puts != 1 {
		t.Error("nothing was written")
	}
	kv.set(errors.New("it is down"))
	if l, err := p.Seen(keep); err == nil || l != flow.Critical {
		t.Errorf("a store that fails: %s, %v", l, err)
	}
	if p.See(flow.Restricted, nil) == nil {
		t.Error("what could not be written is no error")
	}
	if files, err := p.Labeled("/p"); err == nil || len(files) != 1 || flow.Of(files[0].Taint) != flow.Critical {
		t.Errorf("files that are not known: %v, %v", files, err)
	}
	if taint, err := p.Label("/p/x"); err == nil || flow.Of(taint) != flow.Critical {
		t.Errorf("a file that is not known: %v, %v", taint, err)
	}
	kv.set(nil)
	for k := range kv.values {
		kv.values[k] = []byte(`{"v":1,"used":[""]}`)
		kv.revs[k] = approver.NewRev()
	}
	if l, err := p.Seen(keep); err == nil || l != flow.Critical {
		t.Errorf("a record that is none: %s, %v", l, err)
	}
}

// Two replicas add to one record, and a write of which nobody knows whether it was
// done is done.
func TestSeenByTwoReplicas(t *testing.T) {
	kv := newFake()
	a, b := remember(kv).Open(t.Context(), key("s"), time.Now()), remember(kv).Open(t.Context(), key("s"), time.Now())
	if _, err := b.Seen(keep); err != nil {
		t.Fatal(err)
	}
	kv.before = func() {
		if err := b.See(flow.Confidential, []string{"host b.example"}); err != nil {
			t.Error(err)
		}
	}
	if err := a.See(flow.Restricted, []string{"host a.example"}); err != nil {
		t.Fatal(err)
	}
	if l, used := sees(t, b, "host a.example", "host b.example"); l != flow.Restricted ||
		used != "host a.example host b.example" {
		t.Errorf("%s, %q", l, used)
	}
	for i := range 300 {
		if err := a.See(flow.Public, []string{fmt.Sprintf("host %d.example", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, used := sees(t, remember(kv).Open(t.Context(), key("s"), time.Now()), "host a.example",
		"host 299.example"); used != "host 299.example" {
		t.Errorf("of too many destinations these are left: %q", used)
	}
}

// Labels of files outlive a restart, and what there is no room for has the highest.
func TestLabelsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newFake()
		m := remember(kv)
		leave(t, m, memory.File{Path: "/p/a", Taint: effect.Confidential},
			memory.File{Path: "/p/keys", Taint: effect.Restricted, Tree: true})
		leave(t, m, memory.File{Path: "/p/a", Taint: effect.Network})
		m = remember(kv)
		wantTaint(t, m, "/p/a", effect.Confidential|effect.Network)
		wantTaint(t, m, "/p/keys/x", effect.Restricted)
		wantTaint(t, m, "/p", effect.Restricted) // who reads the folder reads that
		wantTaint(t, m, "/p/b", 0)
		past := m.Open(t.Context(), key("s"), time.Now())
		if files, err := past.Labeled("/p"); err != nil || len(files) != 2 {
			t.Errorf("%v, %v", files, err)
		}
		if files, err := past.Labeled("/q"); err != nil || len(files) != 0 {
			t.Errorf("%v, %v", files, err)
		}
		for i := range 600 {
			leave(t, m, memory.File{Path: fmt.Sprintf("/tmp/%d", i), Taint: effect.Network})
		}
		m = remember(kv)
		wantTaint(t, m, "/p/a", effect.Critical|effect.Network)
		wantTaint(t, m, "/p/keys/x", effect.Critical)
		if files, err := m.Open(t.Context(), key("s"), time.Now()).Labeled("/p"); err != nil || len(files) != 1 ||
			files[0].Path != "/p" || flow.Of(files[0].Taint) != flow.Critical {
			t.Errorf("what there was no room for: %v, %v", files, err)
		}
	})
}
