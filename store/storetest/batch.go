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
