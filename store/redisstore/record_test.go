package redisstore

import (
	"bytes"
	"errors"
	"testing"

	"approver.example"
	"approver.example/internal/secret"
)

func sealerFor(t testing.TB, hubKey string) sealer {
	t.Helper()
	s, err := newSealer(hubKey)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const testHubKey = "0123456789abcdef0123456789abcdef"

func TestHubKeyMustBeLong(t *testing.T) {
	for _, key := range []string{"", "short", testHubKey[1:]} {
		if _, err := newSealer(key); err == nil {
			t.Errorf("a key of %d bytes was taken", len(key))
		}
	}
}

// Lengths are signed too: bytes that move from one part to the next give
// another signature.
func TestSignatureTellsPartsApart(t *testing.T) {
	s := sealerFor(t, testHubKey)
	seen := make(map[string]string)
	for _, parts := range [][3]string{
		{"ab", "c", "d"}, {"a", "bc", "d"}, {"ab", "", "cd"}, {"", "abc", "d"}, {"abcd", "", ""}, {"", "", "abcd"},
		{"ab", "c", "d\x00"},
	} {
		mac := string(s.sign(parts[0], approver.Rev(parts[1]), []byte(parts[2])))
		if other, ok := seen[mac]; ok {
			t.Errorf("%q has the signature of %s", parts, other)
		}
		seen[mac] = parts[0] + "|" + parts[1] + "|" + parts[2]
	}
	mac := s.sign("a", "b", []byte("c"))
	if bytes.Equal(mac, sealerFor(t, "x"+testHubKey).sign("a", "b", []byte("c"))) {
		t.Error("two hub keys give one signature")
	}
	if len(mac) != macLen {
		t.Errorf("a signature has %d bytes, want %d", len(mac), macLen)
	}
}

// FuzzOpen gives arbitrary bytes to the decoder. Whatever it accepts must be
// what seal makes of the parts.
func FuzzOpen(f *testing.F) {
	s := sealerFor(f, testHubKey)
	rev := approver.NewRev()
	good := s.seal("ap:{00}:req:1", rev, []byte("value"))
	f.Add("ap:{00}:req:1", good)
	f.Add("ap:{00}:req:2", good)
	f.Add("ap:{00}:req:1", good[:headLen])
	f.Add("ap:{00}:req:1", good[:headLen-1])
	f.Add("", []byte{})
	f.Add("", []byte{format})
	f.Fuzz(func(t *testing.T, key string, b []byte) {
		value, rev, err := s.open(key, b)
		if err != nil {
			if !errors.Is(err, approver.ErrTampered) || value != nil || rev != "" {
				t.Fatalf("got %q, %q, %v, want ErrTampered and nothing else", value, rev, err)
			}
			return
		}
		if !bytes.Equal(s.seal(key, rev, value), b) {
			t.Fatalf("%q was accepted, but seal does not make it", b)
		}
	})
}

// An older key verifies and never signs; a key that is no longer listed is none.
func TestOlderHubKeysVerify(t *testing.T) {
	secrets := func(keys ...string) (all []secret.Text) {
		for _, key := range keys {
			all = append(all, secret.New(key))
		}
		return all
	}
	sealers := func(keys ...string) sealer {
		s, err := newSealers(secrets(keys...))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rev := approver.NewRev()
	old, both, next := sealers(testHubKey), sealers("n"+testHubKey, testHubKey), sealers("n"+testHubKey)
	if _, _, err := both.open("k", old.seal("k", rev, []byte("v"))); err != nil {
		t.Errorf("a record of the older key: %v", err)
	}
	if _, _, err := next.open("k", both.seal("k", rev, []byte("v"))); err != nil {
		t.Errorf("the older key signs: %v", err)
	}
	if _, _, err := next.open("k", old.seal("k", rev, []byte("v"))); !errors.Is(err, approver.ErrTampered) {
		t.Errorf("a key that is gone verifies: %v", err)
	}
	for _, bad := range [][]string{{}, {"short"}, {testHubKey, "short"}} {
		if _, err := newSealers(secrets(bad...)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
