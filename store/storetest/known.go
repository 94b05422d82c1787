package storetest

import (
	"errors"
	"strings"
	"testing"

	"approver.example"
)

func getUnless(t *testing.T, f *fixture) {
	s := f.open()
	some, ok := s.(approver.RevReader)
	if !ok {
		t.Skip("this store always reads the whole record")
	}
	get := func(what, key string, known approver.Rev, value string, rev approver.Rev) {
		t.Helper()
		got, at, err := some.GetUnless(t.Context(), key, known)
		if err != nil || string(got) != value || (got == nil) != (known == rev) || at != rev {
			t.Errorf("%s: %q at %s, %v", what, got, at, err)
		}
	}
	key := newKey()
	first := put(t, s, key, strings.Repeat("v", 20_000), "")
	get("nothing is known", key, "", strings.Repeat("v", 20_000), first)
	get("it is known", key, first, "", first)
	get("another revision is known", key, approver.NewRev(), strings.Repeat("v", 20_000), first)
	second := put(t, s, key, "", first)
	get("it has changed to an empty value", key, first, "", second)
	get("the empty value is known", key, second, "", second)
	for _, known := range []approver.Rev{"", first} {
		if value, rev, err := some.GetUnless(t.Context(), newKey(), known); !errors.Is(err, approver.ErrNotFound) ||
			value != nil || rev != "" {
			t.Errorf("no record: %q at %q, %v", value, rev, err)
		}
	}
}
