package display

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCommandsOfRoot(t *testing.T) {
	dir := t.TempDir()
	put := func(path string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	usual, linked, home, blank := put("usual/approver"), put("opt/approver"), put("home/bin/approver"),
		put("my home/bin/approver")
	if err := os.MkdirAll(filepath.Join(dir, "links"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(linked, filepath.Join(dir, "links/approver")); err != nil {
		t.Fatal(err)
	}
	folders := []string{filepath.Join(dir, "none"), filepath.Join(dir, "usual"), filepath.Join(dir, "links")}
	for name, c := range map[string]struct{ self, want string }{
		"in a usual folder":             {usual, "approver"},
		"linked from a usual folder":    {linked, "approver"},
		"in a folder of its user":       {home, home},
		"with a blank in its path":      {blank, "'" + blank + "'"},
		"gone since, in a usual folder": {filepath.Join(dir, "none/approver"), "approver"},
		"gone since, elsewhere":         {"/nowhere/bin/approver", "/nowhere/bin/approver"},
		"go run":                        {"/tmp/go-build1/b001/exe/approver", "approver"},
		"a test":                        {"/tmp/x/display.test", "approver"},
		"not known":                     {"", "approver"},
	} {
		if got := sudoName(c.self, folders); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := AsRoot("unfreeze"); got != "sudo approver unfreeze" {
		t.Errorf("a test says %s", got)
	}
}
