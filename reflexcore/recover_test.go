package reflexcore_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/reflexcore/disk"

	"approver.example"
)

// chroot shows a folder as if it were the whole file system.
type chroot struct {
	disk.OS
	root string
}

func (c chroot) Readlink(p string) (string, error)              { return c.OS.Readlink(c.root + p) }
func (c chroot) ReadFile(p string, n int) ([]byte, error)       { return c.OS.ReadFile(c.root+p, n) }
func (c chroot) Lstat(p string) (fs.FileInfo, error)            { return c.OS.Lstat(c.root + p) }
func (c chroot) ReadDir(p string, n int) ([]string, error)      { return c.OS.ReadDir(c.root+p, n) }
func (c chroot) Entries(p string, n int) ([]fs.DirEntry, error) { return c.OS.Entries(c.root+p, n) }

// machine makes a file system with /home/ada/shop, a repository in which all is
// committed, and something beside it that is not.
func machine(t testing.TB) chroot {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	m := chroot{root: t.TempDir()}
	for _, name := range []string{"README.md", "src/app.go", "src/deep/a.go", "docs/guide.md", "lib/x.go", "other/y.go"} {
		m.put(t, "/home/ada/shop/"+name, name)
	}
	m.put(t, "/home/ada/shop/.gitignore", "/dist\n/bin\n*.log\n.env\nnode_modules\n")
	m.git(t, "init", "-q", "-b", "topic")
	m.git(t, "add", ".")
	m.git(t, "commit", "-q", "-m", "one")
	m.git(t, "commit", "-q", "--allow-empty", "-m", "two")
	m.put(t, "/home/ada/shop/dist/app.js", "x")
	m.put(t, "/home/ada/shop/node_modules/a/b.js", "x")
	m.put(t, "/home/ada/photos/1.jpg", "x")
	m.put(t, "/srv/data/1.db", "x")
	m.put(t, "/tmp/x/y", "x")
	return m
}

func (c chroot) put(t testing.TB, p, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.root+p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.root+p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (c chroot) link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(c.root + from); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(c.root+from), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, c.root+from); err != nil {
		t.Fatal(err)
	}
}

func (c chroot) git(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = c.root + "/home/ada/shop"
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
		"GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// What is silent on a clean tree is a question as soon as something would be lost:
// each story changes one thing.
func TestDeletesThatLoseSomethingAreAsked(t *testing.T) {
	rules := engine(t)
	for name, c := range map[string]struct {
		change func(*testing.T, chroot)
		call   string
		silent string // the same without the change; empty: no such
	}{
		"a file that changed": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/src/app.go", "new work") },
			"rm -rf src", "rm -rf src"},
		"a file of the same length that changed at the same moment": {func(t *testing.T, m chroot) {
			p := m.root + "/home/ada/shop/src/app.go"
			info, _ := os.Stat(p)
			m.put(t, "/home/ada/shop/src/app.go", "src/app.gO")
			_ = os.Chtimes(p, time.Now(), info.ModTime().Add(time.Millisecond))
		}, "rm -rf src", "rm -rf src"},
		"a file of the same length whose time was set back": {func(t *testing.T, m chroot) {
			p := m.root + "/home/ada/shop/src/app.go"
			info, _ := os.Stat(p)
			m.put(t, "/home/ada/shop/src/app.go", "src/app.gO")
			_ = os.Chtimes(p, info.ModTime(), info.ModTime())
		}, "rm -rf src", "rm -rf src"},
		"a new file": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/src/deep/new.go", "x") },
			"rm -rf src", "rm -rf src"},
		"a new file, by pattern": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/src/deep/new.go", "x") },
			"rm -rf sr*", "rm -rf sr*"},
		"an ignored file with secrets": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/src/.env", "x") },
			"rm -rf src", ""},
		"a repository in it": {func(t *testing.T, m chroot) {
			m.put(t, "/home/ada/shop/src/.git/HEAD",
				"ref: refs/heads/x")
		}, "rm -rf src", ""},
		"a file that git is told not to look at": {func(t *testing.T, m chroot) {
			m.git(t, "update-index", "--assume-unchanged", "src/app.go")
		}, "rm -rf src", "rm -rf src"},
		"a file that git does not have": {func(t *testing.T, m chroot) {
			m.put(t, "/home/ada/shop/src/new.go", "")
			m.git(t, "add", "-N", "src/new.go")
		}, "rm -rf src", ""},
		"no repository": {func(t *testing.T, m chroot) { _ = os.Rename(m.root+"/home/ada/shop/.git", m.root+"/git") },
			"rm -rf src", "rm -rf src"},
		"a repository that is another's": {func(t *testing.T, m chroot) {
			_ = os.Rename(m.root+"/home/ada/shop/.git", m.root+"/srv/git")
			m.put(t, "/home/ada/shop/.git", "gitdir: /srv/git\n")
		}, "rm -rf src", ""},
		"a linked .git": {func(t *testing.T, m chroot) {
			_ = os.Rename(m.root+"/home/ada/shop/.git", m.root+"/srv/git")
			m.link(t, "/home/ada/shop/.git", "/srv/git")
		}, "rm -rf src", ""},
		"a link out of the project": {func(t *testing.T, m chroot) {
			m.link(t, "/home/ada/shop/src",
				"/home/ada/photos")
		}, "rm -rf src/*", ""},
		"build output that is a link": {func(t *testing.T, m chroot) {
			m.link(t, "/home/ada/shop/dist",
				"/home/ada/photos")
		}, "rm -rf dist/*", "rm -rf dist/*"},
		"build output that is a link, find": {func(t *testing.T, m chroot) { m.link(t, "/home/ada/shop/dist", "/srv/data") },
			"find dist/ -delete", "find dist/ -delete"},
		"build output below a link": {func(t *testing.T, m chroot) { m.link(t, "/home/ada/shop/web", "/srv") },
			"rm -rf web/build", ""},
		"a cache that is a link": {func(t *testing.T, m chroot) { m.link(t, "/home/ada/.cache/pip", "/srv/data") },
			"rm -rf ~/.cache/pip", "rm -rf ~/.cache/pip"},
		"a temporary folder that is a link": {func(t *testing.T, m chroot) { m.link(t, "/tmp/x", "/home/ada/photos") },
			"rm -rf /tmp/x", "rm -rf /tmp/x"},
		"build output that is tracked": {func(t *testing.T, m chroot) {
			m.git(t, "add", "-f", "dist")
			m.put(t, "/home/ada/shop/dist/app.js", "y")
		}, "rm -rf dist", "rm -rf dist"},
		"a name that may be source": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/lib2/vendor/x", "y") },
			"rm -rf lib2/vendor", ""},
		"source is moved there first":        {nil, "mv src x && rm -rf x", ""},
		"source is moved into output":        {nil, "mv src dist/ && rm -rf dist", "rm -rf dist"},
		"source is moved to a temporary one": {nil, "mv src /tmp/x/ && rm -rf /tmp/x", "rm -rf /tmp/x"},
		"mounted there first":                {nil, "mkdir m && mount /dev/sdb1 m && rm -rf m", "mkdir m && rm -rf m"},
		"not output after all":               {nil, "rm -rf dist/../src2/../../photos", ""},

		"checkout over changes": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/src/app.go", "new") },
			"git checkout -- .", "git checkout -- ."},
		"restore over changes": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/src/app.go", "new") },
			"git restore src/app.go", "git restore src/app.go"},
		"reset over changes": {func(t *testing.T, m chroot) { m.put(t, "/home/ada/shop/src/app.go", "new") },
			"git reset --hard", "git reset --hard"},
		"reset over staged work": {func(t *testing.T, m chroot) {
			m.put(t, "/home/ada/shop/src/app.go", "new")
			m.git(t,
				"add", ".")
		}, "git reset --hard", "git reset --hard"},
		"reset drops commits":      {nil, "git reset --hard HEAD~1", "git reset --hard HEAD"},
		"reset of another tree":    {nil, "GIT_WORK_TREE=/srv git reset --hard", "git reset --hard"},
		"reset of another, by cd":  {nil, "cd /srv && git reset --hard", ""},
		"checkout of another tree": {nil, "git --work-tree=/srv checkout -- .", "git checkout -- ."},
		"checkout elsewhere":       {nil, "git -C /srv/data checkout -- .", ""},
		"force on the main branch": {func(t *testing.T, m chroot) { m.git(t, "checkout", "-q", "-b", "main") }, "git push -f",
			"git push -f"},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			e := rules.WithDisk(m)
			if c.silent != "" {
				if v, _ := e.Judge(t.Context(), bash(c.silent)); v.Decision <= approver.Ask {
					t.Errorf("before, %q: %s by %s: it loses nothing", c.silent, v.Decision, v.Rule)
				}
			}
			if c.change != nil {
				c.change(t, m)
			}
			if v, _ := e.Judge(t.Context(), bash(c.call)); v.Decision > approver.Ask {
				t.Errorf("%q: %s", c.call, v.Decision)
			}
		})
	}
}

// Every silence has another side: calls that look like the honest ones.
func TestSilenceIsNotForged(t *testing.T) {
	e := engine(t).WithDisk(machine(t))
	for _, command := range []string{
		// find: what restricts nothing
		"find . -name '*' -delete", "find . -name '*.*' -delete", "find . -name '*.go' -delete",
		"find . -name '*.pyc' -o -delete", "find . ! -name '*.pyc' -delete", "find . -not -name '*.pyc' -delete",
		"find . -name '*.pyc' , -delete", "find . \\( -name '*.pyc' -o -true \\) -delete",
		"find . -name '*.log' -prune -o -delete", "find . -name '*.pyc' -delete -o -delete",
		"find . -name '*.pyc' -o -name '*.go' -delete", "find . -name \"$X\" -delete", "find . -iname '*' -delete",
		"find . -path '*' -delete", "find . -path './dist/../src/*' -delete", "find . -delete", "find . -empty -o -delete",
		"find . -empty -delete", "find . -type f -empty -delete", "find . -type d -o -empty -delete",
		"find . -type f -delete", "find . -regex '.*pyc' -delete", "find / -name '*.pyc' -delete",
		"find ~ -name '*.log' -delete", "find .. -name '*.pyc' -delete", "find . ~ -name '*.pyc' -delete",
		"find / -empty -delete", "find /etc -name '*.bak' -delete", "find dist / -name __pycache__ -exec rm -rf {} +",
		"find dist ~/photos -exec rm -rf {} +", "find /tmp/x /srv -exec rm -rf {} +", "find . -exec rm -r {} \\;",
		"find . -name '*.pyc' -o -name src -exec rm -rf {} +", "find . -type d | xargs rm -rf",
		"find . -name '*.go' -o -name node_modules | xargs rm -rf", "find / -name node_modules | xargs rm -rf",
		"find . -name node_modules -o -print | xargs rm -rf",
		// temporary, or is it
		"rm -rf /tmp/../etc", "rm -rf /tmp/x/../../home/ada", "TMPDIR=/home/ada; rm -rf \"$TMPDIR\"",
		"export TMPDIR=/home/ada/photos; rm -rf \"$TMPDIR\"", "TMPDIR=/srv; d=$(mktemp -d); rm -rf \"$(dirname $d)\"",
		"T=$(mktemp -d -p /srv/data); rm -rf \"$T\"", "T=$(mktemp -d /srv/data/XXXXXX); rm -rf \"$T\"",
		"T=$(mktemp -d); rm -rf \"$T/../../srv/data\"", "T=$(mktemp -d); T=/srv/data; rm -rf \"$T\"",
		"tmp=$(cat where); rm -rf \"$tmp\"", "mktemp() { echo /srv/data; }; rm -rf \"$(mktemp)\"",
		"T=$(mktemp -t ../srv/XXXX); rm -rf \"$T\"", "rm -rf \"$TMP_DIR\"", "rm -rf ${XDG_CACHE_HOME:+/srv/data}",
		"rm -rf \"${XDG_CACHE_HOME:-/srv/data}\"", "XDG_CACHE_HOME=/srv/data; rm -rf ${XDG_CACHE_HOME:-~/.cache/x}",
		// traps: whatever value the variable has when the script may end
		"trap 'rm -rf \"$x\"' EXIT; x=/srv/data", "trap 'rm -rf \"$x\"' EXIT; x=/srv/data; exit; x=/tmp/x",
		"trap 'rm -rf \"$x\"' EXIT; x=/srv/data; false; x=/tmp/x", "x=/srv/data; trap 'rm -rf \"$x\"' EXIT; ls; x=/tmp/x",
		"f() { trap 'rm -rf \"$x\"' EXIT; }; x=/srv/data; f", "(trap 'rm -rf /srv/data' EXIT)",
		"trap 'rm -rf /srv/data' DEBUG; ls", "trap c EXIT; c() { rm -rf \"$x\"; }; x=/srv/data",
		"trap 'rm -rf \"$x\"' EXIT; ls; x=$(mktemp -d)",
		// names
		"rm -rf /srv/build", "rm -rf /srv/data/node_modules/../..", "rm -rf /usr/lib/node_modules", "rm -rf ../build",
		"rm -rf ~/.cache", "rm -rf ~/build", "rm -rf ~/.cache/../photos", "rm -rf /etc/dist", "rm -rf dist src2 ~/photos",
		"rm -rf src/../../photos", "rm -rf dist \"$X\"", "rm -rf .git dist", "rm -rf dist/../.git", "cd .. && rm -rf dist",
		"cd /srv && rm -rf node_modules", "rm -rf ./dist ~", "echo '/srv/data' | xargs rm -rf",
		"ls -d ~/photos | xargs rm -rf", "ls -d */ | xargs rm -rf", "ln -s ~/photos dist2 && rm -rf dist2/*",
		"rm -rf dist/$(cat x)/../../..",
		// branches that others build on
		"git push -f origin main", "git push --force-with-lease origin main", "git push -f origin HEAD:main",
		"git push -f origin topic:refs/heads/main", "git push origin +main", "git push origin +topic:main",
		"git push -f origin topic main", "git push --force --all",
		"git push -f origin release/2", "git push -f origin \"$B\"", "git push --mirror",
		"git push -f origin 'refs/heads/*'", "git push -f origin production", "cd /srv && git push -f",
	} {
		if v, _ := e.Judge(t.Context(), bash(command)); v.Decision > approver.Ask {
			t.Errorf("%s: %s", command, v.Decision)
		}
	}
}

// A working directory that no project can be in makes nothing the project's.
func TestDirectoriesThatAreNoProject(t *testing.T) {
	m := machine(t)
	m.put(t, "/dist/x", "x")
	e := engine(t).WithDisk(m)
	for _, c := range []struct{ dir, command string }{
		{"/", "rm -rf srv/data"}, {"/", "rm -rf dist"}, {"/home/ada", "rm -rf photos"}, {"/home/ada", "rm -rf build"},
		{"/home", "rm -rf ada/photos"}, {"/etc", "rm -rf build"}, {"/etc/nginx", "rm -rf dist"}, {"/home/bob", "rm -rf dist"},
		{"/tmp", "rm -rf ../srv/data"}, {"/tmp", "rm -rf /home/ada/photos"}, {"/home/ada/.ssh", "rm -rf tmp"},
		{"/srv", "rm -rf data"}, {"/usr", "rm -rf lib/node_modules"}, {"", "rm -rf photos"},
		{"/home/ada/shop/../photos", "rm -rf /home/ada/photos"},
	} {
		call := bash(c.command)
		call.Dir = c.dir
		if v, _ := e.Judge(t.Context(), call); v.Decision > approver.Ask {
			t.Errorf("in %q %s: %s", c.dir, c.command, v.Decision)
		}
	}
}

// A tree that is too large to be looked at is not recoverable, and the time that
// finds that out is bounded by work, not by the tree.
func TestLookingIsBounded(t *testing.T) {
	m := machine(t)
	for i := range 2100 {
		m.put(t, "/home/ada/shop/many/"+strings.Repeat("d/", i%3)+"f"+time.Duration(i).String(), "x")
	}
	m.git(t, "add", ".")
	m.git(t, "commit", "-q", "-m", "many")
	e := engine(t).WithDisk(m)
	if v, _ := e.Judge(t.Context(), bash("rm -rf many")); v.Decision != approver.Ask {
		t.Errorf("%s", v.Decision)
	}
	if v, _ := e.Judge(t.Context(), bash("rm -rf src")); v.Decision != approver.Pass {
		t.Errorf("%s by %s", v.Decision, v.Rule)
	}
}

// What the disk costs: nothing for calls that delete nothing, and for others what
// they are worth.
func BenchmarkDisk(b *testing.B) {
	e := engine(b).WithDisk(machine(b))
	for _, command := range []string{"git status", "rm -rf node_modules", "rm -rf src", "git reset --hard",
		"git checkout -- ."} {
		b.Run(command, func(b *testing.B) {
			call := bash(command)
			for b.Loop() {
				if v, _ := e.Judge(b.Context(), call); v.Decision <= approver.Ask {
					b.Fatal(v)
				}
			}
		})
	}
}
