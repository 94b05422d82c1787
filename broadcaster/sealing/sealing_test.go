package sealing_test

import (
	"bytes"
	"errors"
	"testing"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

// A text opens under its own name, with the key that sealed it, and in no other way.
func TestTexts(t *testing.T) {
	first, second := bytes.Repeat([]byte{1}, sealing.MinKey), bytes.Repeat([]byte{2}, sealing.MinKey)
	sealer := func(keys ...[]byte) *sealing.Sealer {
		s, err := sealing.New(keys[0], keys[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	record, err := sealer(first).SealText("policy", []byte("orchid"))
	if err != nil || bytes.Contains(record, []byte("orchid")) {
		t.Fatalf("%s, %v", record, err)
	}
	if text, err := sealer(second, first).OpenText("policy", record); err != nil || string(text) != "orchid" {
		t.Errorf("with the old key behind the new one: %q, %v", text, err)
	}
	if _, err := sealer(first).OpenText("rules", record); !errors.Is(err, approver.ErrTampered) {
		t.Errorf("under another name: %v", err)
	}
	if _, err := sealer(second).OpenText("policy", record); !errors.Is(err, sealing.ErrUnknownKey) {
		t.Errorf("without its key: %v", err)
	}
	if _, err := (&sealing.Sealer{}).SealText("policy", nil); !errors.Is(err, sealing.ErrUnknownKey) {
		t.Errorf("the zero value seals: %v", err)
	}
}
