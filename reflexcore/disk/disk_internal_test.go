package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// counting counts how often each path's link is read.
type counting struct {
	OS
	reads map[string]int
}

func (c counting) Readlink(p string) (string, error) {
	c.reads[p]++
	return c.OS.Readlink(p)
}

// What is known of links leads to where they lead, and is found out once.
func TestLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c", "d"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"a/up": "../d", "a/abs": root + "/a/b", "d/chain": "../a/up", "loop": "loop", "dangling": "nowhere/x", "a/b/top": "/",
		"a/far": "abs/c/../..",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	d := counting{reads: map[string]int{}}
	var l Links
	for _, p := range []string{
		"", "/", "/a", "/a/b", "/a/b/c", "/a/b/c/new/x", "/a/b/c/new/y", "/a/up", "/a/up/x", "/a/abs/c", "/d/chain/x",
		"/loop", "/loop/x", "/dangling", "/dangling/y/z", "/a/b/top/tmp", "/a/far/b", "/file", "/file/x", "/a/../d", "/a//b",
		"/nowhere", "/nowhere/z",
	} {
		p = root + p
		to, ok := l.Real(d, p)
		if wantTo, wantOK := Real(OS{}, p); to != wantTo || ok != wantOK {
			t.Errorf("%s: %q, %v; want %q, %v", p, to, ok, wantTo, wantOK)
		}
	}
	clear(d.reads)
	l.Forget()
	for range 64 {
		l.Real(d, root+"/a/b/c")
		l.Real(d, root+"/a/b/new")
		l.Real(d, root+"/d")
		l.Real(d, root+"/new/x/y")
	}
	if d.reads[root+"/new/x"] != 0 {
		t.Error("what lies below a folder that is not there was looked at")
	}
	for p, n := range d.reads {
		if n != 1 {
			t.Errorf("%s was read %d times", p, n)
		}
	}
	if len(d.reads) == 0 {
		t.Error("nothing was read after it was forgotten")
	}
}
