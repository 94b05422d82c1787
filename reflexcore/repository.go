package reflexcore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own hash
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"approver.example/reflexcore/disk"
)

// A repository is a working tree of git, as it lies on the disk. No git runs, and
// nothing of its settings counts.
type repository struct {
	root   string // of the working tree
	git    string // its own folder
	common string // that of all working trees of the repository
	index  *gitIndex
}

// name is a path below the root.
func (r *repository) name(p string) string {
	return strings.TrimPrefix(strings.TrimPrefix(p, r.root), "/")
}

// kept is the index that was read last.
type keptIndex struct {
	path    string
	written time.Time
	size    int64
	index   *gitIndex
}

// repository finds the repository of a folder; nil: there is none. Without an
// index that is understood, the index is nil.
func (e *Engine) repository(dir string) *repository {
	for range disk.MaxUp {
		info, err := e.files.Lstat(path.Join(dir, ".git"))
		switch {
		case err == nil && info.IsDir():
			r := &repository{root: dir, git: path.Join(dir, ".git"), common: path.Join(dir, ".git")}
			r.index = e.indexOf(r)
			return r
		case err == nil && info.Mode().IsRegular():
			r := &repository{root: dir}
			e.worktree(r)
			return r
		case err == nil:
			return &repository{root: dir} // a link, or something odd
		}
		if dir == "/" {
			return nil
		}
		dir = path.Dir(dir)
	}
	return nil
}

// top is the root of the working tree in which a folder lies, or the folder itself if it
// is in none; it is empty if that cannot be told.
func (e *Engine) top(dir string) string {
	at := dir
	for range disk.MaxUp {
		switch _, err := e.files.Lstat(path.Join(at, ".git")); {
		case err == nil:
			return at
		case !disk.IsMissing(err):
			return ""
		case at == "/":
			return dir
		}
		at = path.Dir(at)
	}
	return ""
}

// worktree follows the file .git of a further working tree to its folder, which
// must name that file in turn. Submodules name nothing, and are not trusted.
func (e *Engine) worktree(r *repository) {
	text, err := e.files.ReadFile(r.root+"/.git", maxIndexPath)
	git, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok || !strings.HasPrefix(git, "/") {
		return
	}
	git = path.Clean(git)
	back, err := e.files.ReadFile(git+"/gitdir", maxIndexPath)
	if err != nil || strings.TrimSpace(string(back)) != r.root+"/.git" {
		return
	}
	common, err := e.files.ReadFile(git+"/commondir", maxIndexPath)
	if err != nil {
		return
	}
	r.git, r.common = git, strings.TrimSpace(string(common))
	if !strings.HasPrefix(r.common, "/") {
		r.common = path.Join(git, r.common)
	}
	r.index = e.indexOf(r)
}

// indexOf reads the index of a repository; nil: it is not understood.
func (e *Engine) indexOf(r *repository) *gitIndex {
	p := r.git + "/index"
	info, err := e.files.Lstat(p)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if k := e.index.Load(); k != nil && k.path == p && k.size == info.Size() && k.written.Equal(info.ModTime()) {
		return k.index
	}
	b, err := e.files.ReadFile(p, maxIndex)
	if err != nil {
		return nil
	}
	x, err := decodeIndex(b)
	if err != nil {
		return nil
	}
	x.written = info.ModTime()
	e.index.Store(&keptIndex{path: p, written: info.ModTime(), size: info.Size(), index: x})
	return x
}

// branch is the branch that is checked out; empty: it is not known.
func (e *Engine) branch(dir string) string {
	dir, ok := disk.Real(e.files, dir)
	if !ok {
		return ""
	}
	r := e.repository(dir)
	if r == nil || r.git == "" {
		return ""
	}
	head, err := e.files.ReadFile(r.git+"/HEAD", maxIndexPath)
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if strings.Contains(name, " ") || len(name) == 2*sha1.Size {
		return ""
	}
	return name
}

// head is the tree of the commit that is checked out, if that lies in a file of its
// own; zero if it is not known.
func (e *Engine) head(r *repository) (tree [sha1.Size]byte) {
	text, err := e.files.ReadFile(r.git+"/HEAD", maxIndexPath)
	if err != nil {
		return tree
	}
	commit := strings.TrimSpace(string(text))
	if ref, ok := strings.CutPrefix(commit, "ref: "); ok {
		if commit = e.ref(r, ref); commit == "" {
			return tree
		}
	}
	if _, err := hex.DecodeString(commit); err != nil || len(commit) != 2*sha1.Size {
		return tree
	}
	packed, err := e.files.ReadFile(r.common+"/objects/"+commit[:2]+"/"+commit[2:], maxReadOne)
	if err != nil {
		return tree
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return tree
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxReadOne))
	if sum := sha1.Sum(plain); err != nil || hex.EncodeToString(sum[:]) != commit { //nolint:gosec // git's own hash
		return tree
	}
	_, body, _ := bytes.Cut(plain, []byte{0})
	line, _, _ := bytes.Cut(body, []byte{'\n'})
	if name, ok := strings.CutPrefix(string(line), "tree "); ok {
		if b, err := hex.DecodeString(name); err == nil && len(b) == sha1.Size {
			tree = [sha1.Size]byte(b)
		}
	}
	return tree
}

// ref is the commit that a name stands for; empty: it is not known.
func (e *Engine) ref(r *repository, name string) string {
	if !fs.ValidPath(name) || !strings.HasPrefix(name, "refs/") {
		return ""
	}
	if b, err := e.files.ReadFile(r.common+"/"+name, maxIndexPath); err == nil {
		return strings.TrimSpace(string(b))
	}
	b, err := e.files.ReadFile(r.common+"/packed-refs", maxReadOne)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if commit, ref, _ := strings.Cut(strings.TrimSpace(line), " "); ref == name {
			return commit
		}
	}
	return ""
}

// ignored reports whether git is told to ignore a file or a folder, or one that it
// lies in. The last pattern that matches counts.
func (l *looking) ignored(r *repository, name string) bool {
	if l.ignoredBy(r.common+"/info/exclude", name) {
		return true
	}
	parts := strings.Split(name, "/")
	for i := range min(len(parts), 16) {
		dir := path.Join(append([]string{r.root}, parts[:i]...)...)
		if l.ignoredBy(dir+"/.gitignore", strings.Join(parts[i:], "/")) {
			return true
		}
	}
	return false
}

func (l *looking) ignoredBy(file, name string) bool {
	b, err := l.disk.ReadFile(file, 64<<10)
	if err != nil {
		return false
	}
	for p := name; p != "."; p = path.Dir(p) {
		ignored, lines := false, 0
		for line := range strings.Lines(string(b)) {
			if lines++; lines > 500 {
				return false
			}
			line = strings.TrimRight(line, " \t\r\n")
			pattern, not := strings.CutPrefix(line, "!")
			if line == "" || line[0] == '#' || !ignores(pattern, p) {
				continue
			}
			ignored = !not
		}
		if ignored {
			return true
		}
	}
	return false
}

// ignores reports whether a pattern of .gitignore matches a path below its folder.
func ignores(pattern, name string) bool {
	pattern = strings.TrimSuffix(pattern, "/")
	pattern, any := strings.CutPrefix(pattern, "**/")
	if !any && strings.Contains(pattern, "/") {
		ok, err := path.Match(strings.TrimSuffix(strings.TrimPrefix(pattern, "/"), "/**"), name)
		return ok && err == nil
	}
	if strings.Contains(pattern, "/") {
		n := strings.Count(pattern, "/") + 1
		if parts := strings.Split(name, "/"); len(parts) >= n {
			name = strings.Join(parts[len(parts)-n:], "/")
		}
	} else {
		name = path.Base(name)
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
