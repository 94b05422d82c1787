package reflexcore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"approver.example/reflexcore/tools"
)

// A Disk is what is asked of the file system. It is only looked at: nothing is
// written, and no program is started.
type Disk interface {
	tools.FS
	// Lstat is os.Lstat.
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir returns at most limit names of a folder, in any order; one that holds
	// more is an error.
	ReadDir(name string, limit int) ([]string, error)
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

var errTooMuch = errors.New("more than is looked at")

// WithDisk returns an engine with the same rules that looks at another file
// system.
func (e *Engine) WithDisk(d Disk) *Engine {
	other, err := NewWith(e.rules.Load(), e.limits)
	if err != nil {
		return e // it cannot fail twice
	}
	other.files, other.Project = d, e.Project
	other.SetFlow(e.flow.Load())
	return other
}

// links are what became known of a disk's links in one call: each folder is looked at
// once.
type links struct {
	known map[string]resolved
}

// A resolved path is where its links lead.
type resolved struct {
	to   string
	ok   bool // it could be seen
	gone bool // it is not there, so below it is no link
}

// maxLinks bounds what is kept for the next call.
const maxLinks = 256

// forget drops what is known, and keeps the memory.
func (l *links) forget() {
	if len(l.known) > maxLinks {
		l.known = nil
	}
	clear(l.known)
}

// real is [real].
func (l *links) real(d Disk, p string) (string, bool) {
	r := l.look(d, p)
	return r.to, r.ok
}

// look says where the links of a path lead.
func (l *links) look(d Disk, p string) (r resolved) {
	if p == "" || p[0] != '/' || path.Clean(p) != p || strings.Count(p, "/") > maxUp {
		r.to, r.ok = real(d, p)
		return r
	}
	return l.resolve(d, p)
}

// resolve follows the links of a clean path, folder by folder from the root.
func (l *links) resolve(d Disk, p string) resolved {
	if p == "/" {
		return resolved{to: "/", ok: true}
	}
	if r, ok := l.known[p]; ok {
		return r
	}
	cut := strings.LastIndexByte(p, '/')
	dir := p[:max(cut, 1)]
	r := l.resolve(d, dir)
	switch {
	case !r.ok:
	case r.to == dir: // most; its own text will do
		r.to = p
	default:
		r.to = path.Join(r.to, p[cut:])
	}
	if r.ok && !r.gone {
		_, err := d.Readlink(r.to)
		switch {
		case err == nil: // seldom; it may lead through others
			r.to, r.ok = real(d, p)
		case errors.Is(err, syscall.EINVAL):
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			r.gone = true
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

// real follows the links of a path. What is not there stands for itself; ok is
// false if it could not be seen.
func real(d Disk, p string) (string, bool) {
	done, rest := "/", strings.Split(p, "/")
	for links, steps := 0, 0; len(rest) > 0; steps++ {
		name := rest[0]
		rest = rest[1:]
		if steps > 512 {
			return "", false
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
				return "", false
			}
			if strings.HasPrefix(target, "/") {
				done = "/"
			}
			rest = append(strings.Split(target, "/"), rest...)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			// Below what is not there is nothing, and no link.
			return path.Join(append([]string{next}, rest...)...), true
		case errors.Is(err, syscall.EINVAL):
			done = next
		default:
			return "", false
		}
	}
	return done, true
}
