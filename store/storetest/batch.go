package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"approver.example"
)

func putAll(t *testing.T, f *fixture) {
	s := f.open()
	taken := newKey()
	was := put(t, s, taken, "was there", "")
	changed := newKey()
	first := put(t, s, changed, "1", "")
	due := time.Now().Add(time.Hour)
	writes := []approver.Write{
		{Key: newKey(), Value: []byte("a"), Next: approver.NewRev(), KeepUntil: later()},
		{Key: taken, Value: []byte("b"), Next: approver.NewRev(), KeepUntil: later()},
		{Key: "no key", Value: []byte("c"), Next: approver.NewRev(), KeepUntil: later()},
		{Key: changed, Value: []byte("2"), Prev: first, Next: approver.NewRev(), Due: due, KeepUntil: later()},
		{Key: newKey(), Value: []byte("e"), Prev: approver.NewRev(), Next: approver.NewRev(), KeepUntil: later()},
		{Key: newKey(), Value: []byte("f"), Next: approver.NewRev(), KeepUntil: later()},
	}
	errs := s.(approver.Batcher).PutAll(t.Context(), writes)
	if len(errs) != len(writes) {
		t.Fatalf("%d errors for %d writes", len(errs), len(writes))
	}
	if errs[2] == nil {
		t.Error("a key of the wrong form was taken")
	}
	errs[2] = nil
	for i, want := range []error{nil, approver.ErrConflict, nil, nil, approver.ErrConflict, nil} {
		switch {
		case !errors.Is(errs[i], want):
			t.Errorf("write %d: got %v, want %v", i, errs[i], want)
		case want == nil && i != 2:
			wantRecord(t, s, writes[i].Key, string(writes[i].Value), writes[i].Next)
		}
	}
	wantRecord(t, s, taken, "was there", was)
	wantGone(t, s, writes[4].Key)
	shard, _ := approver.ShardOfKey(changed)
	if keys, err := s.(approver.Lister).Scheduled(t.Context(), shard, 10); err != nil || len(keys) != 1 ||
		keys[0] != changed {
		t.Errorf("scheduled %q, %v", keys, err)
	}
	if errs := s.(approver.Batcher).PutAll(t.Context(), nil); len(errs) != 0 {
		t.Errorf("no writes: %v", errs)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late := approver.Write{Key: newKey(), Next: approver.NewRev(), KeepUntil: later()}
	if errs := s.(approver.Batcher).PutAll(ended, []approver.Write{late}); len(errs) != 1 || errs[0] == nil {
		t.Errorf("with an ended context: %v", errs)
	}
	wantGone(t, s, late.Key)
	other := f.other(s)
	wantRecord(t, other, writes[0].Key, "a", writes[0].Next)
	wantRecord(t, other, changed, "2", writes[3].Next)
}

func putWith(t *testing.T, f *fixture) {
	s := f.open()
	shard := 7
	claim, first, second := newKeyIn(shard), newKeyIn(shard), newKeyIn(shard)
	write := func(key, value string, prev approver.Rev) approver.Write {
		return approver.Write{Key: key, Value: []byte(value), Prev: prev, Next: approver.NewRev(),
			Due: time.Now().Add(time.Hour), KeepUntil: later()}
	}
	all := func(w approver.Write) error { return s.(approver.Batcher).PutAll(t.Context(), []approver.Write{w})[0] }
	one := write(first, "one", "")
	one.With = []approver.Write{write(claim, "of one", "")}
	for range 2 { // once more after an ambiguous error
		if err := all(one); err != nil {
			t.Fatal(err)
		}
	}
	wantRecord(t, s, first, "one", one.Next)
	wantRecord(t, s, claim, "of one", one.With[0].Next)
	two := write(second, "two", "")
	two.With = []approver.Write{write(claim, "of two", "")}
	if err := all(two); !errors.Is(err, approver.ErrConflict) {
		t.Errorf("with a record that is taken: %v", err)
	}
	wantGone(t, s, second)
	wantRecord(t, s, claim, "of one", one.With[0].Next)
	if keys, err := s.(approver.Lister).Scheduled(t.Context(), shard, 10); err != nil || len(keys) != 2 {
		t.Errorf("scheduled %q, %v", keys, err)
	}
	taken := write(first, "three", "")
	taken.With = []approver.Write{write(newKeyIn(shard), "of three", "")}
	if err := all(taken); !errors.Is(err, approver.ErrConflict) {
		t.Errorf("if it is taken itself: %v", err)
	}
	wantGone(t, s, taken.With[0].Key)
	two.With[0].Prev = one.With[0].Next
	if err := all(two); err != nil {
		t.Errorf("with the right revision: %v", err)
	}
	s = f.other(s)
	wantRecord(t, s, second, "two", two.Next)
	wantRecord(t, s, claim, "of two", two.With[0].Next)
	last := put(t, s, claim, "later", two.With[0].Next)
	if err := all(two); err != nil {
		t.Errorf("a repeat after the other record has changed again: %v", err)
	}
	wantRecord(t, s, claim, "later", last)
	for name, bad := range map[string][]approver.Write{
		"of another shard": {write(newKeyIn(shard+1), "x", "")},
		"twice":            {write(claim, "x", two.Next), write(claim, "y", two.Next)},
		"nested":           {{Key: newKeyIn(shard), Next: approver.NewRev(), With: []approver.Write{write(claim, "x", "")}}},
	} {
		w := write(newKeyIn(shard), "x", "")
		w.With = bad
		if err := all(w); err == nil || errors.Is(err, approver.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
		wantGone(t, s, w.Key)
	}
}

func putAllAgain(t *testing.T, f *fixture) {
	s := f.open()
	writes := []approver.Write{
		{Key: newKey(), Value: []byte("a"), Next: approver.NewRev(), KeepUntil: later()},
		{Key: newKey(), Value: []byte("b"), Next: approver.NewRev(), KeepUntil: later()},
	}
	for range 3 {
		if err := errors.Join(s.(approver.Batcher).PutAll(t.Context(), writes)...); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range writes {
		wantRecord(t, s, w.Key, string(w.Value), w.Next)
	}
	put(t, s, writes[0].Key, "later", writes[0].Next)
	errs := s.(approver.Batcher).PutAll(t.Context(), writes)
	if !errors.Is(errs[0], approver.ErrConflict) || errs[1] != nil {
		t.Errorf("after another change: %v", errs)
	}
}
