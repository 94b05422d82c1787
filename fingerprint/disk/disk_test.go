//go:build unix

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example"
)

// A sandbox is a folder whose files are bound.
type sandbox struct {
	*testing.T
	dir    string
	shared Shared
}

func newSandbox(t *testing.T, files ...string) *sandbox {
	b := &sandbox{T: t, dir: t.TempDir()}
	for _, name := range files {
		b.write(name, "v1")
	}
	return b
}

func (b *sandbox) path(name string) string { return filepath.Join(b.dir, name) }

func (b *sandbox) write(name, text string) {
	b.Helper()
	b.check(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.check(os.WriteFile(b.path(name), []byte(text), 0o644))
}

func (b *sandbox) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// Scan begins the work for a call.
func (b *sandbox) scan() *Scan { return NewScan(&b.shared, nil, approver.ToolCall{Dir: b.dir}) }

type fakeInfo struct {
	fs.FileInfo
	mode fs.FileMode
}

func (f fakeInfo) Mode() fs.FileMode { return f.mode }

func TestBinderKeepsHashesOfSystemFilesOnly(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name  string
		mode  fs.FileMode
		owner uint32
		since time.Time
		euid  int
		want  bool
	}{
		{"/usr/bin/git", 0o755, 0, long, 1000, true},
		{"the agent's own file", 0o755, 1000, long, 1000, false},
		{"somebody's file", 0o555, 7, long, 1000, false},
		{"root's, but the group writes", 0o775, 0, long, 1000, false},
		{"root's, but all write", 0o757, 0, long, 1000, false},
		{"the agent may be root", 0o755, 0, long, 0, false},
		{"changed just now", 0o755, 0, time.Now(), 1000, false},
	} {
		if got := (&Shared{}).isCacheable(fakeInfo{mode: c.mode}, FileID{owner: c.owner, Changed: c.since},
			c.euid); got != c.want {
			t.Errorf("%s: kept: %v", c.name, got)
		}
	}
}

// What cannot be told in time, or by nobody, has a name as before.
func TestWhatIsTooLargeHasAName(t *testing.T) {
	p := newSandbox(t, "m/a.yaml", "m/b.yaml")
	fresh := func() *Scan {
		return p.scan()
	}
	s := fresh()
	s.treeFiles = 2 * MaxTree
	if s.BindFolder(p.path("m")); len(s.Unbound) != 0 ||
		!strings.HasPrefix(s.Bound[FolderKey(p.path("m"), nil)], StampedSum) {
		t.Skipf("this file system keeps no times: %q", s.Unbound)
	}
	for name, set := range map[string]func(*Scan){
		"entries": func(s *Scan) { s.walked = maxWalked },
		"time":    func(s *Scan) { s.walked, s.walkedFor = 255, walkTime },
		"future": func(s *Scan) {
			s.treeFiles = 2 * MaxTree
			p.shared.Stat = func(string) (os.FileInfo, error) { return nil, syscall.EIO }
			p.write("m/a.yaml", "v3") // it changed just now, and nobody can look again
		},
	} {
		s := fresh()
		set(s)
		if s.BindFolder(p.path("m")); len(s.Unbound) == 0 || !strings.Contains(s.Unbound[0], "too large") {
			t.Errorf("%s: %q", name, s.Unbound)
		}
		p.shared.Stat = nil
	}
	p.check(syscall.Mkfifo(p.path("m/p.yaml"), 0o600))
	s = fresh()
	s.treeFiles = 2 * MaxTree
	if s.BindFolder(p.path("m")); len(s.Unbound) != 1 || !strings.Contains(s.Unbound[0], "which is no file") {
		t.Errorf("a pipe: %q", s.Unbound)
	}
	if info, err := os.Stat("/proc/self/status"); err == nil {
		if v, known := appendVersion(nil, info); known && trustedTimes("/proc/self/status", v.device) {
			t.Error("times that the kernel makes up are trusted")
		}
	}
}

// A file that changes again within the same tick of the clock is waited for.
func TestAFreshFileIsLookedAtAgain(t *testing.T) {
	p := newSandbox(t, "m/a.yaml")
	s := p.scan()
	t.Run("as it was", func(t *testing.T) {
		info, err := os.Stat(p.path("m/a.yaml"))
		p.check(err)
		v, _ := appendVersion(nil, info)
		if !s.settle([]freshFile{{p.path("m/a.yaml"), string(v.text), time.Now()}}) {
			t.Error("it is as it was")
		}
		if s.settle([]freshFile{{p.path("m/a.yaml"), string(v.text), time.Now().Add(time.Hour)}}) {
			t.Error("a file from the future is trusted")
		}
		p.write("m/a.yaml", "v9")
		if s.settle([]freshFile{{p.path("m/a.yaml"), string(v.text), time.Now()}}) {
			t.Error("it changed, and nobody sees it")
		}
	})
}

// The bounds on all texts together, and on what is open at once, are too far away to
// write so much: they are driven from their edge.
func TestBoundsOfAllTextsTogether(t *testing.T) {
	p := newSandbox(t)
	p.write("Makefile", "all:\n\t./evil.sh\n")
	for name, set := range map[string]func(*Scan){
		"texts": func(s *Scan) { s.texts = maxTexts }, "bytes": func(s *Scan) { s.textBytes = maxTextBytes + 1 },
		"another file": func(s *Scan) { s.Bound[p.path("Makefile")] = whole + "00" },
		"unreadable":   func(s *Scan) { s.Bound[p.path("Makefile")] = Unreadable },
		"gone": func(s *Scan) {
			s.Bound[p.path("gone")] = whole + "00"
			_, _ = s.TextOf(p.path("gone"), "runs")
		},
	} {
		s := p.scan()
		s.bindHash(p.path("Makefile"), Code)
		set(s)
		text, ok := s.TextOf(p.path("Makefile"), "runs")
		if name != "gone" && (ok || text != "" || !slices.Contains(s.Unbound, "what Makefile runs")) || len(s.Unbound) == 0 {
			t.Errorf("%s: %q, %v, and %q is not bound", name, text, ok, s.Unbound)
		}
	}
	s := p.scan()
	s.walked = maxWalked
	if s.BindFolder(p.dir); len(s.Unbound) != 1 {
		t.Errorf("a folder beyond the entries of all: %q", s.Unbound)
	}
	for range 2 * maxNames {
		s.Name("x")
	}
	if len(s.Unbound) != maxNames+1 || s.Unbound[maxNames] != "more that is not listed" {
		t.Errorf("%d names", len(s.Unbound))
	}
	deep := strings.Repeat("/"+strings.Repeat("d", 250), 17)
	for path, want := range map[string]int{deep: 1, "/" + strings.Repeat("m", MaxPath): 0, deep[:MaxPath-200]: 0} {
		s = p.scan()
		if s.Visit(path, Code); len(s.Unbound) != want {
			t.Errorf("a path of %d bytes: %q", len(path), s.Unbound)
		}
	}
}

// The lists of folders that did not change for a while are kept, until one changes.
func TestListsOfPATHAreKept(t *testing.T) {
	t.Parallel()
	p := newSandbox(t, "own/ssh", "own/x", "sys/ssh", "sys/x.y")
	own := func(list ...string) PathContents {
		s := p.scan()
		return p.shared.AgentWritable(s, list)
	}
	dirs := []string{p.path("own"), p.path("sys")}
	if got := own(dirs...); len(got.Before) != 1 || len(p.shared.searches.values) != 0 {
		t.Errorf("of folders that are new: %v, kept: %v", got, p.shared.searches.values)
	}
	time.Sleep(2100 * time.Millisecond)
	for range 2 {
		if got := own(dirs...); len(got.Before) != 1 || len(p.shared.searches.values) != 1 {
			t.Errorf("of folders that are old: %v, kept: %v", got, p.shared.searches.values)
		}
	}
	if got := own(dirs[1], dirs[0]); len(got.Before) != 1 || got.Before[0] != p.path("sys/ssh") {
		t.Errorf("in the other order: %v", got)
	}
	p.write("own/x.y", "v1")
	if got := own(dirs...); len(got.Before) != 2 {
		t.Errorf("of a folder that changed: %v", got)
	}
	time.Sleep(2100 * time.Millisecond) // it may be kept again, as another version
	if got := own(dirs...); len(got.Before) != 2 {
		t.Errorf("of a folder that changed a while ago: %v", got)
	}
}

// What a pattern is made of stays a pattern that can be read, or matches all.
func FuzzLoose(f *testing.F) {
	f.Add("@(a|b).sh")
	f.Add("[!x]*(y(z))+(")
	f.Fuzz(func(t *testing.T, pattern string) {
		if out := Loose(pattern); strings.IndexByte(out, '(') >= 0 &&
			strings.Contains(out[strings.LastIndexByte(out, '('):], ")") ||
			len(out) > len(pattern)+strings.Count(pattern, "[!") {
			t.Errorf("%q became %q", pattern, out)
		}
	})
}

// A second name of a file is not read again, and a pipe in a file's place is not waited for.
func TestAFileIsReadOnce(t *testing.T) {
	p := newSandbox(t, "large")
	p.check(os.Truncate(p.path("large"), 20<<20))
	p.check(os.Link(p.path("large"), p.path("alias")))
	s := p.scan()
	s.budget = 21 << 20
	for _, name := range []string{"large", "alias"} {
		if sum := s.hash(p.path(name)); !strings.HasPrefix(sum, "sha256:") {
			t.Errorf("a second name is read again: %q", sum)
		}
	}
	p.check(syscall.Mkfifo(p.path("pipe"), 0o600))
	s = p.scan()
	s.budget = 1
	if sum := s.hash(p.path("pipe")); sum != Unreadable {
		t.Errorf("a pipe in a file's place: %q", sum)
	}
}

// What nobody waits for any more stops in the middle of a file.
func TestReadingEndsWhenNobodyWaits(t *testing.T) {
	given := make(chan struct{})
	close(given)
	r := cancelReader{strings.NewReader("x"), &access{canceled: given}}
	if n, err := io.Copy(io.Discard, r); n != 0 || !errors.Is(err, ErrCanceled) {
		t.Errorf("%d bytes were read, %v", n, err)
	}
}

// A pattern of a shell becomes one of package filepath.
func TestLoose(t *testing.T) {
	for pattern, want := range map[string]string{
		"a(b": "a(b", "a(b|c)d": "a*d", "@(a|(b))": "*", "(a(b": "(a(b", "((a)": "(*", "[!a](": "[^a](",
	} {
		if got := Loose(pattern); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}
