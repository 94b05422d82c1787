package sqlitestore

import (
	"testing"

	"approver.example"
)

// What is remembered of a record is never older than what anybody has read of it.
func TestRecents(t *testing.T) {
	const key = "k"
	was := recentRecord{rev: "1", value: []byte("old"), whole: true}
	is := []part{{key: key, rev: "2", value: []byte("new")}}
	read := func(k *recents) { k.add(key, was, k.now()) }
	for name, c := range map[string]struct {
		do   func(k *recents)
		want approver.Rev // empty: nothing is remembered
	}{
		"read":                              {read, "1"},
		"read and committed":                {func(k *recents) { read(k); k.begin(is); k.end(is, true) }, "2"},
		"read, and its commit is under way": {func(k *recents) { read(k); k.begin(is) }, ""},
		"read, and its commit failed":       {func(k *recents) { read(k); k.begin(is); k.end(is, false) }, ""},
		"read before a commit": {func(k *recents) {
			at := k.now()
			k.begin(is)
			k.add(key, was, at)
			k.end(is, false)
		}, ""},
		"read before a commit, told after it": {func(k *recents) {
			at := k.now()
			k.begin(is)
			k.end(is, true)
			k.add(key, was, at)
		}, "2"},
		"read during a commit, told after it": {func(k *recents) {
			k.begin(is)
			at := k.now()
			k.end(is, true)
			k.add(key, was, at)
		}, "2"},
		"read during a commit": {func(k *recents) { k.begin(is); read(k); k.end(is, true) }, "2"},
	} {
		var k recents
		c.do(&k)
		if r, ok := k.get(key, ""); ok != (c.want != "") || r.rev != c.want {
			t.Errorf("%s: %q, %v", name, r.rev, ok)
		}
	}
	var k recents
	big := recentRecord{rev: "1", value: make([]byte, maxRecentBytes+1), whole: true}
	k.add(key, big, k.now())
	if _, ok := k.get(key, ""); ok {
		t.Error("a large value is remembered")
	}
	if r, ok := k.get(key, "1"); !ok || r.rev != "1" {
		t.Error("the revision of a large value is not")
	}
	for n := range 2 * maxRecent {
		k.add(string(rune(n)), was, k.now())
	}
	if len(k.of) > maxRecent {
		t.Errorf("%d are remembered", len(k.of))
	}
}
