package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"approver.example/daemon/safefile"
)

// What a process that was killed left is no copy of the file, and is removed without touching one.
func TestWhatAKilledProcessLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	backup, _, err := safefile.ChangeFile(path, func([]byte) ([]byte, error) { return []byte("new"), nil })
	for _, left := range []string{path + ".approver-new", path + ".approver-new-1", backup + ".approver-new-2"} {
		err = errors.Join(err, os.WriteFile(left, []byte("ol"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if all := safefile.BackupsOf(path); len(all) != 1 || string(all[0].Text) != "old" {
			t.Errorf("%v", all)
		}
		if err := safefile.RemoveTemporary(path); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
