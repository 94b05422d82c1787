package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/reflexcore/disk"
)

// The name of a repository is that of its remote, without what must not be shown.
func TestNamed(t *testing.T) {
	for _, c := range []struct{ settings, head, name, branch string }{
		{"[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n", "ref: refs/heads/main\n", "acme/shop", "main"},
		{"[remote \"origin\"]\nURL=https://ada:secret@github.com/Acme/Shop/\n",
			"ref: refs/heads/feat/x", "Acme/Shop", "feat/x"},
		{"[remote \"origin\"]\nurl = ssh://git@host:2222/group/sub/shop.git\n", "0123456789", "sub/shop", ""},
		{"[remote \"other\"]\nurl = git@github.com:acme/shop.git\n", "ref: refs/heads/main", "work", "main"},
		{"[remote \"origin\"]\nurl = ../shop\n", "", "work", ""},
		{"[remote \"origin\"]\nurl = https://ada:secret@github.com\n", "", "work", ""},
		{"[remote \"origin\"]\nurl = git@h:a/\u202eb\n", "ref: refs/heads/\u202e", "", ""},
		{"[remote \"origin\"]\nurl = git@h:a/" + strings.Repeat("b", 200),
			"ref: refs/heads/" + strings.Repeat("b", 200), "", ""},
	} {
		dir := filepath.Join(t.TempDir(), "work")
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, ".git/config"), c.settings)
		put(t, filepath.Join(dir, ".git/HEAD"), c.head)
		if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
			t.Fatal(err)
		}
		name, branch := (&Reader{Disk: disk.OS{}}).Named(filepath.Join(dir, "src"))
		if name != c.name || branch != c.branch {
			t.Errorf("%q: got %q %q, want %q %q", c.settings, name, branch, c.name, c.branch)
		}
	}
}

// Another working tree of a repository has a branch of its own.
func TestNamedWorktree(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main", "shop")
	shop := filepath.Join(dir, "shop")
	git(t, shop, "remote", "add", "origin", "https://github.com/acme/shop.git")
	git(t, shop, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	git(t, shop, "worktree", "add", "-q", "-b", "topic", "../other")
	name, branch := (&Reader{Disk: disk.OS{}}).Named(filepath.Join(dir, "other"))
	if name != "acme/shop" || branch != "topic" {
		t.Errorf("got %q %q", name, branch)
	}
	if name, branch := (&Reader{Disk: disk.OS{}}).Named(dir); name != "" || branch != "" {
		t.Errorf("outside: got %q %q", name, branch)
	}
}
