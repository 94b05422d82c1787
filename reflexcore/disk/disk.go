// Package disk is read-only, bounded access to the file system. For each call it resolves the links
// of every folder only once.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"syscall"

	"approver.example/reflexcore/tools"
)

// Bounds.
const (
	MaxUp     = 64   // folders above one that are looked at
	MaxListed = 8192 // names of a folder that are read

	// maxLooks limits the links that are looked up for one call. Each ".." of a path repeats the look
	// at all folders above.
	maxLooks = 16_384
)

// A Disk is the file system. It is only read: nothing is written, and no program is started.
type Disk interface {
	tools.FS
	// Lstat is os.Lstat.
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir returns at most limit names of a folder, in any order. It fails if there are more.
	ReadDir(name string, limit int) ([]string, error)
	// Entries is ReadDir with the types of the entries.
	Entries(name string, limit int) ([]fs.DirEntry, error)
}

// OS is the machine's file system.
type OS struct{ tools.OS }

// Lstat is os.Lstat.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// ReadDir reads a folder.
func (OS) ReadDir(name string, limit int) ([]string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > limit {
		return nil, errTooMuch
	}
	return names, nil
}

// Entries returns at most limit entries of a folder, in any order. It fails if there are more.
func (OS) Entries(name string, limit int) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(list) > limit {
		return nil, errTooMuch
	}
	return list, nil
}

var errTooMuch = errors.New("more than is looked at")

// Links are the resolved links of one call. Each folder is looked up once.
type Links struct {
	known map[string]resolved
	looks int
}

// A resolved path is where the links of a path lead.
type resolved struct {
	To   string
	Seen bool // it could be seen
	Gone bool // it is not there, so below it is no link
}

// maxLinks limits the memory that is kept for the next call.
const maxLinks = 256

// Forget drops all results, and keeps the allocated memory.
func (l *Links) Forget() {
	if len(l.known) > maxLinks {
		l.known = nil
	}
	clear(l.known)
	l.looks = 0
}

// Real is [Real] with these results.
func (l *Links) Real(d Disk, p string) (string, bool) {
	r := l.Look(d, p)
	return r.To, r.Seen
}

// Look returns where the links of a path lead.
func (l *Links) Look(d Disk, p string) (r resolved) {
	if p == "" || p[0] != '/' || path.Clean(p) != p || strings.Count(p, "/") > MaxUp {
		r.To, r.Seen = l.follow(d, p)
		return r
	}
	return l.resolve(d, p)
}

// Spent reports whether the lookups of the call are used up. Links that were not looked up may lead
// anywhere.
func (l *Links) Spent() bool { return l.looks > maxLooks }

// follow is [Real] while there are lookups left.
func (l *Links) follow(d Disk, p string) (string, bool) {
	if l.Spent() {
		return "", false
	}
	to, looks, seen := follow(d, p)
	l.looks += looks
	return to, seen
}

// resolve follows the links of a clean path, folder by folder from the root.
func (l *Links) resolve(d Disk, p string) resolved {
	if p == "/" {
		return resolved{To: "/", Seen: true}
	}
	if r, ok := l.known[p]; ok {
		return r
	}
	cut := strings.LastIndexByte(p, '/')
	dir := p[:max(cut, 1)]
	r := l.resolve(d, dir)
	switch {
	case !r.Seen:
	case r.To == dir: // most; its own text will do
		r.To = p
	default:
		r.To = path.Join(r.To, p[cut:])
	}
	if r.Seen && !r.Gone {
		_, err := d.Readlink(r.To)
		switch {
		case err == nil: // seldom; it may lead through others
			r.To, r.Seen = l.follow(d, p)
		case errors.Is(err, syscall.EINVAL):
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			r.Gone = true
		default:
			r = resolved{}
		}
	}
	if l.known == nil {
		l.known = make(map[string]resolved, 8)
	}
	l.known[p] = r
	return r
}

// Real follows the links of a path. Names that do not exist stay as they are. ok is false if
// something could not be read.
func Real(d Disk, p string) (string, bool) {
	to, _, seen := follow(d, p)
	return to, seen
}

func follow(d Disk, p string) (to string, looks int, seen bool) {
	done, rest := "/", strings.Split(p, "/")
	for links := 0; len(rest) > 0; looks++ {
		name := rest[0]
		rest = rest[1:]
		if looks > 512 {
			return "", looks, false
		}
		switch name {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, name)
		target, err := d.Readlink(next)
		switch {
		case err == nil:
			if links++; links > 40 {
				return "", looks, false
			}
			if strings.HasPrefix(target, "/") {
				done = "/"
			}
			rest = append(strings.Split(target, "/"), rest...)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			// Below a missing name there is nothing, and no link.
			return path.Join(append([]string{next}, rest...)...), looks, true
		case errors.Is(err, syscall.EINVAL):
			done = next
		default:
			return "", looks, false
		}
	}
	return done, looks, true
}

// Below reports whether p is dir or lies below it.
func Below(p, dir string) bool {
	return dir != "" && len(p) >= len(dir) && p[:len(dir)] == dir &&
		(len(p) == len(dir) || p[len(dir)] == '/' || dir == "/")
}

// Up yields a folder and the folders above it, up to the root, at most [MaxUp].
func Up(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for range MaxUp {
			if !yield(dir) || dir == "/" {
				return
			}
			dir = path.Dir(dir)
		}
	}
}

// IsMissing reports whether an error means that the file does not exist.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// HasOneName reports whether a file has no other name by a hard link.
func HasOneName(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.IsDir() || ok && st.Nlink < 2
}

// Absolute returns p below dir, or p itself if it is absolute.
func Absolute(p, dir string) string {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// Exists reports whether a file exists, as far as that can be read.
func Exists(d Disk, p string) bool {
	_, err := d.Readlink(p)
	return !errors.Is(err, fs.ErrNotExist)
}
