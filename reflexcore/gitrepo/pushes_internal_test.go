package gitrepo

import (
	"path/filepath"
	"strings"
	"testing"

	"approver.example/reflexcore/disk"
)

// A repository of its own for each case, with the branch main checked out.
func pushingFrom(t *testing.T, settings string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	for name, text := range map[string]string{
		".git/config": settings, ".git/HEAD": "ref: refs/heads/main\n", "src/a": "",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	return filepath.Join(dir, "src")
}

const (
	origin = "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n"
	up     = "[remote \"up\"]\n\turl = https://ada:secret@git.example:8443/Group/Sub/Shop.git/\n"
)

// Where a push goes is what git's settings say, or nothing is said.
func TestPushes(t *testing.T) {
	for _, c := range []struct {
		name, settings, user, to string
		want                     Push
	}{
		{"origin", origin, "", "", Push{Remote: "origin", Repo: "acme/shop", Branch: "main"}},
		{"another host", up, "", "", Push{Remote: "up", Repo: "git.example/8443/Group/Sub/Shop", Branch: "main"}},
		{"named", origin + up, "", "up", Push{Remote: "up", Repo: "git.example/8443/Group/Sub/Shop", Branch: "main"}},
		{"an address", origin, "", "git@github.com:acme/billing",
			Push{Remote: "git@github.com:acme/billing", Repo: "acme/billing", Branch: "main"}},
		{"pushurl", origin + "pushurl = git@github.com:acme/billing.git\n", "", "",
			Push{Remote: "origin", Repo: "acme/billing", Branch: "main"}},
		{"two addresses", origin + "url = git@github.com:acme/billing.git\n", "", "", Push{Remote: "origin", Branch: "main"}},
		{"pushDefault", origin + up + "[remote]\npushDefault = up\n", "", "",
			Push{Remote: "up", Repo: "git.example/8443/Group/Sub/Shop", Branch: "main"}},
		{"pushRemote", origin + up + "[branch \"main\"]\npushRemote = up\n", "", "",
			Push{Remote: "up", Repo: "git.example/8443/Group/Sub/Shop", Branch: "main"}},
		{"pushDefault of the user", origin + up, "[remote]\npushDefault = up\n", "",
			Push{Remote: "up", Repo: "git.example/8443/Group/Sub/Shop", Branch: "main"}},
		{"pushInsteadOf of the user", origin,
			"[url \"git@github.com:acme/billing\"]\npushInsteadOf = git@github.com:acme/shop\n", "",
			Push{Remote: "origin", Branch: "main", Rewritten: true}},
		{"a program of its own", origin + "[core]\nsshCommand = ./x\n", "", "",
			Push{Remote: "origin", Branch: "main", Rewritten: true}},
		{"a refspec", origin + "push = refs/heads/main:refs/heads/production\n", "", "", Push{Mapped: true}},
		{"mirror", origin + "mirror = true\n", "", "origin", Push{Remote: "origin", Mapped: true}},
		{"upstream", origin + "[push]\ndefault = upstream\n", "", "",
			Push{Remote: "origin", Repo: "acme/shop", Mapped: true}},
		{"another upstream", origin + "[branch \"main\"]\nremote = origin\nmerge = refs/heads/production\n", "", "",
			Push{Remote: "origin", Repo: "acme/shop"}},
		{"settings elsewhere", origin + "[include]\npath = more\n", "", "",
			Push{Remote: "origin", Repo: "acme/billing", Branch: "main"}},
		{"settings perhaps", origin + "[includeIf \"onbranch:main\"]\npath = more\n", "", "up",
			Push{Remote: "up", Mapped: true, Rewritten: true}},
		{"no settings", "[", "", "origin", Push{Remote: "origin", Mapped: true, Rewritten: true}},
		{"no such remote", origin, "", "other", Push{Remote: "other", Branch: "main"}},
		{"an older remote", origin, "", "older", Push{Remote: "older", Branch: "main", Mapped: true}},
		{"a folder", "[remote \"origin\"]\nurl = ../shop\n", "", "", Push{Remote: "origin", Branch: "main"}},
		{"not to be shown", "[remote \"origin\"]\nurl = git@h:a/\u202eb\n", "", "",
			Push{Remote: "origin", Branch: "main"}},
		{"too long", "[remote \"origin\"]\nurl = git@h:a/" + strings.Repeat("b", 200), "", "",
			Push{Remote: "origin", Branch: "main"}},
	} {
		dir := pushingFrom(t, c.settings)
		put(t, filepath.Join(dir, "../.git/remotes/older"), "URL: x\nPush: main:production\n")
		put(t, filepath.Join(dir, "../.git/more"), "[remote \"origin\"]\npushurl = git@github.com:acme/billing\n")
		user := filepath.Join(t.TempDir(), ".gitconfig")
		put(t, user, c.user)
		if got := (&Reader{Disk: disk.OS{}}).Pushes(dir, c.to, []string{user}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// git is the oracle: the branch that a push without words is said to overwrite is the one that git says.
func TestPushesAsGitDoes(t *testing.T) {
	for _, setting := range [][]string{
		{"user.name", "ada"}, {"push.default", "simple"}, {"push.default", "current"}, {"push.default", "upstream"},
		{"push.default", "matching"}, {"remote.origin.push", "refs/heads/main:refs/heads/production"},
		{"remote.pushDefault", "up"}, {"remote.origin.mirror", "true"}, {"remote.origin.pushurl", "../other"},
	} {
		for _, merge := range []string{"main", "production"} {
			top := t.TempDir()
			git(t, top, "init", "-q", "--bare", "other")
			git(t, top, "init", "-q", "-b", "main", "clone")
			clone := filepath.Join(top, "clone")
			git(t, clone, "commit", "-q", "--allow-empty", "-m", "x")
			git(t, clone, "push", "-q", "../other", "main:main", "main:production")
			git(t, clone, "commit", "-q", "--allow-empty", "-m", "y")
			for _, s := range [][]string{{"remote.origin.url", "../other"}, {"remote.up.url", "../other"},
				{"branch.main.remote", "origin"}, {"branch.main.merge", "refs/heads/" + merge}, setting} {
				git(t, clone, "config", s[0], s[1])
			}
			reader := &Reader{Disk: disk.OS{}}
			if said := reader.Pushes(clone, "", nil).Branch; said != "" {
				does := git(t, clone, "push", "--force", "--dry-run", "--porcelain")
				if !strings.Contains(does, ":refs/heads/"+said+"\t") {
					t.Errorf("%s, merge with %s: %q is said, and git says %s", setting, merge, said, does)
				}
			}
			if reader.Pushes(clone, "origin", nil).Mapped {
				continue // the name in the command is not shown
			}
			does := git(t, clone, "push", "--force", "--dry-run", "--porcelain", "origin", "main")
			if !strings.Contains(does, ":refs/heads/main\t") {
				t.Errorf("%s, merge with %s: main is shown, and git says %s", setting, merge, does)
			}
		}
	}
}

// Another working tree of a repository has a branch of its own.
func TestPushesOfAWorktree(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main", "shop")
	shop := filepath.Join(dir, "shop")
	git(t, shop, "remote", "add", "origin", "https://github.com/acme/shop.git")
	git(t, shop, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	git(t, shop, "worktree", "add", "-q", "-b", "topic", "../other")
	want := Push{Remote: "origin", Repo: "acme/shop", Branch: "topic"}
	if got := (&Reader{Disk: disk.OS{}}).Pushes(filepath.Join(dir, "other"), "", nil); got != want {
		t.Errorf("got %+v", got)
	}
	if got := (&Reader{Disk: disk.OS{}}).Pushes(dir, "", nil); got != (Push{}) {
		t.Errorf("outside: got %+v", got)
	}
}

// A command of git is bound to the branch that is checked out if it works on it.
func TestReadsHead(t *testing.T) {
	for command, want := range map[string]bool{
		"push": true, "push -f": true, "push --force origin": true, "push origin HEAD": true, "push origin HEAD:main": true,
		"push origin @:main": true, "push origin +HEAD": true, "push -o x origin": true, "push origin main HEAD": true,
		"push origin main": false, "push -f origin a:main": false, "push -o ci.skip origin main": false,
		"reset --hard": true, "commit -m x": true, "status": false, "checkout -- .": false,
	} {
		words := strings.Fields(command)
		if got := ReadsHead(words[0], words[1:]); got != want {
			t.Errorf("git %s: got %v", command, got)
		}
	}
}
