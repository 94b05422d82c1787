// Package gitrepo reads git's own files: which files of the working tree a repository tracks, what
// it ignores, its branches and its remotes. It does not run git.
//
// Read repository.go, then index.go, then look.go.
package gitrepo

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own hash
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"approver.example/reflexcore/disk"
)

// A Reader reads repositories. It caches the last index, and is safe for concurrent use.
type Reader struct {
	Disk  disk.Disk
	index atomic.Pointer[cachedIndex]
}

// A Repository is a working tree of git on the disk. Git's settings are not applied.
type Repository struct {
	Root   string // of the working tree
	git    string // its own folder
	Common string // that of all working trees of the repository
	Index  *Index
}

// Name returns a path relative to the root.
func (r *Repository) Name(p string) string {
	return strings.TrimPrefix(strings.TrimPrefix(p, r.Root), "/")
}

// A cachedIndex is the index that was read last.
type cachedIndex struct {
	path    string
	written time.Time
	size    int64
	index   *Index
}

// Find returns the repository of a folder, nil if there is none. Its Index is nil if there is none
// that can be decoded.
func (d *Reader) Find(dir string) *Repository {
	for dir := range disk.Up(dir) {
		info, err := d.Disk.Lstat(path.Join(dir, ".git"))
		switch {
		case err == nil && info.IsDir():
			r := &Repository{Root: dir, git: path.Join(dir, ".git"), Common: path.Join(dir, ".git")}
			r.Index = d.indexOf(r)
			return r
		case err == nil && info.Mode().IsRegular():
			r := &Repository{Root: dir}
			d.Worktree(r)
			return r
		case err == nil:
			return &Repository{Root: dir} // a link, or something odd
		}
	}
	return nil
}

// Top returns the root of the working tree that contains a folder, or the folder itself if there is
// none. It is empty if that cannot be determined.
func (d *Reader) Top(dir string) string {
	for at := range disk.Up(dir) {
		switch _, err := d.Disk.Lstat(path.Join(at, ".git")); {
		case err == nil:
			return at
		case !disk.IsMissing(err):
			return ""
		case at == "/":
			return dir
		}
	}
	return ""
}

// Worktree follows the file .git of a linked working tree to its folder, which must point back to
// the file. Submodules do not point back, and are not trusted.
func (d *Reader) Worktree(r *Repository) {
	text, err := d.Disk.ReadFile(r.Root+"/.git", MaxPath)
	git, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok || !strings.HasPrefix(git, "/") {
		return
	}
	git = path.Clean(git)
	back, err := d.Disk.ReadFile(git+"/gitdir", MaxPath)
	if err != nil || strings.TrimSpace(string(back)) != r.Root+"/.git" {
		return
	}
	common, err := d.Disk.ReadFile(git+"/commondir", MaxPath)
	if err != nil {
		return
	}
	r.git, r.Common = git, strings.TrimSpace(string(common))
	if !strings.HasPrefix(r.Common, "/") {
		r.Common = path.Join(git, r.Common)
	}
	r.Index = d.indexOf(r)
}

// indexOf reads the index of a repository; nil if it cannot be decoded.
func (d *Reader) indexOf(r *Repository) *Index {
	p := r.git + "/index"
	info, err := d.Disk.Lstat(p)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if k := d.index.Load(); k != nil && k.path == p && k.size == info.Size() && k.written.Equal(info.ModTime()) {
		return k.index
	}
	b, err := d.Disk.ReadFile(p, maxIndex)
	if err != nil {
		return nil
	}
	x, err := decodeIndex(b)
	if err != nil {
		return nil
	}
	x.written = info.ModTime()
	d.index.Store(&cachedIndex{path: p, written: info.ModTime(), size: info.Size(), index: x})
	return x
}

// Branch returns the branch that is checked out, empty if it is not known.
func (d *Reader) Branch(dir string) string {
	dir, ok := disk.Real(d.Disk, dir)
	if !ok {
		return ""
	}
	r := d.Find(dir)
	if r == nil || r.git == "" {
		return ""
	}
	head, err := d.Disk.ReadFile(r.git+"/HEAD", MaxPath)
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if strings.Contains(name, " ") || len(name) == 2*sha1.Size {
		return ""
	}
	return name
}

// Head returns the tree of the commit that is checked out, if the commit is a loose object;
// otherwise zero.
func (d *Reader) Head(r *Repository) (tree [sha1.Size]byte) {
	text, err := d.Disk.ReadFile(r.git+"/HEAD", MaxPath)
	if err != nil {
		return tree
	}
	commit := strings.TrimSpace(string(text))
	if ref, ok := strings.CutPrefix(commit, "ref: "); ok {
		if commit = d.ref(r, ref); commit == "" {
			return tree
		}
	}
	if _, err := hex.DecodeString(commit); err != nil || len(commit) != 2*sha1.Size {
		return tree
	}
	packed, err := d.Disk.ReadFile(r.Common+"/objects/"+commit[:2]+"/"+commit[2:], maxObject)
	if err != nil {
		return tree
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return tree
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxObject))
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

// ref returns the commit that a name points to, empty if it is not known.
func (d *Reader) ref(r *Repository, name string) string {
	if !fs.ValidPath(name) || !strings.HasPrefix(name, "refs/") {
		return ""
	}
	if b, err := d.Disk.ReadFile(r.Common+"/"+name, MaxPath); err == nil {
		return strings.TrimSpace(string(b))
	}
	b, err := d.Disk.ReadFile(r.Common+"/packed-refs", maxObject)
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

// Ignored reports whether git ignores a file or folder, or one above it. The last pattern that
// matches decides.
func (d *Reader) Ignored(r *Repository, name string) bool {
	if d.ignoredBy(r.Common+"/info/exclude", name) {
		return true
	}
	parts := strings.Split(name, "/")
	for i := range min(len(parts), 16) {
		dir := path.Join(append([]string{r.Root}, parts[:i]...)...)
		if d.ignoredBy(dir+"/.gitignore", strings.Join(parts[i:], "/")) {
			return true
		}
	}
	return false
}

func (d *Reader) ignoredBy(file, name string) bool {
	b, err := d.Disk.ReadFile(file, 64<<10)
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

// ignores reports whether a pattern of .gitignore matches a path relative to its folder.
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

// Link reads a file .git. It returns the folder that all working trees share, and the folder of this
// one. common is empty if it is not known.
func (d *Reader) Link(file, top string) (common, own string) {
	b, err := d.Disk.ReadFile(file, MaxPath)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if err != nil || !ok {
		return "", file
	}
	own = disk.Absolute(to, top)
	b, err = d.Disk.ReadFile(own+"/commondir", MaxPath)
	switch {
	case err == nil:
		return disk.Absolute(strings.TrimSpace(string(b)), own), own
	case disk.IsMissing(err): // a submodule
		return own, own
	}
	return "", own
}

// Remotes reads the addresses of remotes from git's settings. It returns none if settings may change
// the addresses.
func (d *Reader) Remotes(file string) map[string]string {
	const most = 64 << 10
	b, err := d.Disk.ReadFile(file, most)
	text := strings.ToLower(string(b))
	if err != nil || strings.Contains(text, "insteadof") || strings.Contains(text, "[include") ||
		strings.Contains(text, "pushurl") {
		return nil
	}
	out := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		name, is := strings.CutPrefix(section, `[remote "`)
		key, value, _ := strings.Cut(line, "=")
		if is && strings.TrimSpace(key) == "url" {
			out[strings.TrimSuffix(name, `"]`)] = "git " + strings.TrimSpace(value)
		}
	}
	return out
}

// Project returns the repository that contains dir, or dir itself. An agent that changes to a
// subfolder stays in the same project.
func Project(d disk.Disk, dir string) string {
	const levels = 32
	at := path.Clean(dir)
	for range levels {
		if len(at) < 2 || at[0] != '/' {
			break
		}
		if disk.Exists(d, at+"/.git") {
			return at
		}
		at = path.Dir(at)
	}
	return dir
}
