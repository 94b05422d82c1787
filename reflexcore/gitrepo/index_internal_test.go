package gitrepo

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own hash
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/reflexcore/disk"
)

// git runs git in a folder, with none of the machine's settings.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
		"GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func put(t testing.TB, p, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What the decoder says of an index is what git ls-files says, in each version of
// the format, for names that share beginnings, and that are long or odd.
func TestIndexAsGitReadsIt(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run("version "+version, func(t *testing.T) {
			dir := t.TempDir()
			git(t, dir, "init", "-q")
			for i := range 60 {
				put(t, filepath.Join(dir, strings.Repeat("d/", i%5), fmt.Sprintf("f%s%d.txt", strings.Repeat("x", i*3), i%7)),
					fmt.Sprint(i))
			}
			put(t, filepath.Join(dir, "ä b\tc"), "odd")
			put(t, filepath.Join(dir, "later"), "x")
			git(t, dir, "add", ".")
			git(t, dir, "rm", "-q", "--cached", "later")
			git(t, dir, "update-index", "--index-version", version)
			if version != "2" {
				git(t, dir, "add", "-N", "later")
			}
			git(t, dir, "update-index", "--assume-unchanged", "f0.txt")
			b, err := os.ReadFile(filepath.Join(dir, ".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			x, err := decodeIndex(b)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range x.entries {
				got = append(got, fmt.Sprintf("%o %x 0\t%s", e.mode, e.blob, e.name))
				if vague := e.name == "f0.txt" || e.name == "later"; e.vague != vague {
					t.Errorf("%q: vague is %v", e.name, e.vague)
				}
			}
			want := strings.Split(strings.TrimSuffix(git(t, dir, "ls-files", "-s", "-z"), "\x00"), "\x00")
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// What is not understood is refused, not half read.
func TestIndexRefused(t *testing.T) {
	t.Run("split", func(t *testing.T) {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		put(t, filepath.Join(dir, "a"), "a")
		git(t, dir, "add", ".")
		git(t, dir, "update-index", "--split-index")
		refused(t, dir)
	})
	t.Run("another hash", func(t *testing.T) {
		dir := t.TempDir()
		git(t, dir, "init", "-q", "--object-format=sha256")
		put(t, filepath.Join(dir, "a"), "a")
		git(t, dir, "add", ".")
		refused(t, dir)
	})
	t.Run("a flipped bit", func(t *testing.T) {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		put(t, filepath.Join(dir, "a"), "a")
		git(t, dir, "add", ".")
		p := filepath.Join(dir, ".git/index")
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		b[40] ^= 1
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		refused(t, dir)
	})
}

func refused(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	if x, err := decodeIndex(b); err == nil {
		t.Errorf("it is read: %d entries", len(x.entries))
	}
}

// git status is the oracle: over random repositories, a folder counts as
// recoverable only if git sees nothing in it that it does not have.
func TestRecoverableOnlyIfGitSaysClean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	silent, asked := 0, 0
	for round := range 24 {
		dir := t.TempDir()
		git(t, dir, "init", "-q", "-b", "main")
		folders := []string{"a", "a/b", "c", "c/d/e", "f g"}
		for i, folder := range folders {
			for j := range 3 {
				put(t, filepath.Join(dir, folder, fmt.Sprintf("%d.txt", j)), fmt.Sprintln(round, i, j))
			}
		}
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-q", "-m", "one")
		for range rng.IntN(4) {
			p := filepath.Join(dir, folders[rng.IntN(len(folders))], fmt.Sprintf("%d.txt", rng.IntN(3)))
			switch rng.IntN(7) {
			case 0: // the same length, at the same moment
				info, err := os.Stat(p)
				if err != nil {
					continue
				}
				text, _ := os.ReadFile(p)
				put(t, p, strings.Repeat("!", len(text)))
				if err := os.Chtimes(p, info.ModTime(), info.ModTime().Add(time.Duration(rng.IntN(2))*time.Second)); err != nil {
					t.Fatal(err)
				}
			case 1:
				put(t, p+".new", "x")
			case 2:
				_ = os.Remove(p)
			case 3:
				_ = os.Chmod(p, 0o755)
			case 4:
				_ = os.Remove(p)
				_ = os.Symlink("/etc/passwd", p)
			case 5:
				put(t, p, "staged\n")
				git(t, dir, "add", ".")
			case 6: // touched, but the same
				_ = os.Chtimes(p, time.Now(), time.Now())
			}
		}
		for _, folder := range folders {
			look := Look{Reader: &Reader{Disk: disk.OS{}}, Budget: &Budget{}}
			got := look.Recoverable(filepath.Join(dir, folder))
			// Deleted files are nothing that a delete could lose; staged ones are kept.
			dirty := ""
			for line := range strings.Lines(git(t, dir, "status", "--porcelain", "--no-renames", "-uall", "--", folder)) {
				if line[1] != ' ' && line[1] != 'D' {
					dirty += line
				}
			}
			if _, err := os.Lstat(filepath.Join(dir, folder)); err != nil {
				dirty += "gone"
			}
			if got && dirty != "" {
				t.Errorf("round %d: %s counts as recoverable, but git says\n%s", round, folder, dirty)
			}
			if got {
				silent++
			} else if asked++; dirty == "" {
				t.Errorf("round %d: %s does not count as recoverable, and git has all of it", round, folder)
			}
		}
	}
	if silent == 0 || asked == 0 {
		t.Errorf("%d folders are recoverable and %d not: the test shows nothing", silent, asked)
	}
}

func FuzzDecodeIndex(f *testing.F) {
	dir := f.TempDir()
	for _, version := range []string{"2", "4"} {
		git(f, dir, "init", "-q")
		put(f, filepath.Join(dir, "a/b"), "x")
		put(f, filepath.Join(dir, "a/c"), "y")
		git(f, dir, "add", ".")
		git(f, dir, "update-index", "--index-version", version)
		b, err := os.ReadFile(filepath.Join(dir, ".git/index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:len(b)-sha1.Size])
	}
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha1.Sum(body) //nolint:gosec // git's own hash
		x, err := decodeIndex(slices.Concat(body, sum[:]))
		if err != nil {
			return
		}
		for i := range x.entries {
			e := &x.entries[i]
			if i > 0 && e.name < x.entries[i-1].name {
				t.Fatalf("%q comes after %q", e.name, x.entries[i-1].name)
			}
			if e.name == "" || e.name[0] == '/' || bytes.Contains([]byte("/"+e.name+"/"), []byte("/../")) {
				t.Fatalf("the name %q leaves the working tree", e.name)
			}
			if x.entry(e.name) == nil || !x.Tracked(e.name) {
				t.Fatalf("%q is not found", e.name)
			}
		}
	})
}

func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"bin/", "bin", true}, {"/bin", "bin", true}, {"/bin", "a/bin", false}, {"bin", "a/bin", true},
		{"*.log", "a/b.log", true}, {"a/b", "a/b", true}, {"a/b", "c/a/b", false},
		{"**/tmp", "a/tmp", true}, {"**/a/tmp", "x/a/tmp", true}, {"doc/*.txt", "doc/a.txt", true},
		{"doc/*.txt", "doc/x/a.txt", false}, {"", "x", false}, {"[", "x", false},
	} {
		if got := ignores(c.pattern, c.name); got != c.want {
			t.Errorf("%q ignores %q: %v", c.pattern, c.name, got)
		}
	}
}
