package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyIsMadeOnceAndStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "audit.key")
	first, err := LoadOrCreateKey(path)
	must(t, err)
	second, err := LoadOrCreateKey(path)
	if err != nil || first.ID() != second.ID() || !bytes.Equal(first.private, second.private) || len(first.ID()) != 16 {
		t.Errorf("keys %v and %v, %v", first, second, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	keys, err := LoadKeys(path + ".pub")
	if err != nil || len(keys) != 1 || !bytes.Equal(keys[first.ID()], first.Public()) {
		t.Errorf("listed %v, %v", keys, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// The list of public keys is lost. A rotation must not take the last that is
// known of the old key with it.
func TestKeyRotationListsTheOldKeyFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.key")
	if _, err := RotateKey(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no key was replaced: %v", err)
	}
	old, err := LoadOrCreateKey(path)
	must(t, err)
	must(t, os.Remove(path+".pub"))
	if _, err := RotateKey(path); err != nil {
		t.Fatal(err)
	}
	if keys, err := LoadKeys(path + ".pub"); err != nil || len(keys) != 2 || keys[old.ID()] == nil {
		t.Errorf("listed %v, %v", keys, err)
	}
}

func TestKeyRotationKeepsOldPublicKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.key")
	o, _ := options(t)
	ids := map[string]bool{}
	for i := range 3 {
		key, err := LoadOrCreateKey(path)
		must(t, err)
		if i > 0 {
			if key, err = RotateKey(path); err != nil {
				t.Fatal(err)
			}
			loaded, err := LoadOrCreateKey(path)
			if err != nil || loaded.ID() != key.ID() {
				t.Fatalf("after the rotation to %v the file has %v, %v", key, loaded, err)
			}
		}
		ids[key.ID()] = true
		o.Key = key
		newLog(t, o, 3)
	}
	keys, err := LoadKeys(path + ".pub")
	if err != nil || len(keys) != 3 || len(ids) != 3 {
		t.Fatalf("listed %v, %v; made %v", keys, err, ids)
	}
	if r := mustVerify(t, o, keys, nil); len(r.KeyIDs) != 3 {
		t.Errorf("report %+v", r)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestLostPublicListIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.key")
	key, err := LoadOrCreateKey(path)
	must(t, err)
	must(t, os.Remove(path+".pub"))
	if _, err := LoadOrCreateKey(path); err != nil {
		t.Fatal(err)
	}
	if keys, err := LoadKeys(path + ".pub"); err != nil || keys[key.ID()] == nil {
		t.Errorf("listed %v, %v", keys, err)
	}
}

func TestBadKeyFiles(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.key")
	if _, err := LoadOrCreateKey(good); err != nil {
		t.Fatal(err)
	}
	private, public := readFile(t, good), readFile(t, good+".pub")
	for name, tt := range map[string]struct {
		content []byte
		mode    os.FileMode
		want    string
	}{
		"open to others": {private, 0o644, "chmod 600"},
		"open to group":  {private, 0o640, "chmod 600"},
		"empty":          {nil, 0o600, "damaged"},
		"cut":            {private[:len(private)/2], 0o600, "damaged"},
		"public":         {public, 0o600, "damaged"},
		"twice":          {append(bytes.Clone(private), private...), 0o600, "damaged"},
		"huge":           {bytes.Repeat([]byte("x"), maxKeyFile+1), 0o600, "larger than"},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		writeFile(t, path, tt.content)
		must(t, os.Chmod(path, tt.mode))
		if key, err := LoadOrCreateKey(path); err == nil || !strings.Contains(err.Error(), tt.want) || key.ID() != "" {
			t.Errorf("%s: key %v, %v, want %q", name, key, err, tt.want)
		}
		if got := readFile(t, path); !bytes.Equal(got, tt.content) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	for name, content := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "private": private, "cut": public[:len(public)-10],
		"one cut": append(bytes.Clone(public), public[:len(public)-10]...),
	} {
		path := filepath.Join(dir, "bad.pub")
		writeFile(t, path, content)
		if keys, err := LoadKeys(path); err == nil {
			t.Errorf("public keys, %s: %v", name, keys)
		}
	}
	if _, err := LoadKeys(filepath.Join(dir, "missing.pub")); !os.IsNotExist(err) {
		t.Errorf("missing public keys: %v", err)
	}
	if _, err := LoadOrCreateKey(dir); err == nil {
		t.Error("a directory was taken for a key")
	}
}

func TestKeyMasksItself(t *testing.T) {
	key, _ := testKey(t)
	b, err := json.Marshal(key)
	must(t, err)
	secret := fmt.Sprintf("%x", []byte(key.private.Seed()))
	for _, s := range []string{fmt.Sprint(key), fmt.Sprintf("%+v", key), fmt.Sprintf("%#v", key), fmt.Sprintf("%x", key),
		string(b)} {
		if !strings.Contains(s, "audit key") || strings.Contains(s, secret) {
			t.Errorf("the key shows as %q", s)
		}
	}
	if (Key{}).ID() != "" || (Key{}).Public() != nil {
		t.Error("the zero key has an id")
	}
}
