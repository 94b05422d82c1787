package tools

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"syscall"

	"approver.example/reflexcore/effect"
)

// FS is what is asked of the file system: where a link leads, and what is in a
// file that an edit changes.
type FS interface {
	// Readlink returns where a symbolic link leads. The error of what is no link
	// is syscall.EINVAL, of what is not there fs.ErrNotExist.
	Readlink(name string) (string, error)
	// ReadFile returns at most limit bytes of a regular file; a longer one is an
	// error.
	ReadFile(name string, limit int) ([]byte, error)
}

// OS is the machine's file system.
type OS struct{}

// Readlink is os.Readlink, but that the error of what is no link or is not there is the
// bare one: most of what is asked for is that, and it is asked for at every call.
func (OS) Readlink(name string) (string, error) {
	var to [256]byte
	n, err := syscall.Readlink(name, to[:])
	switch {
	case err == nil && n < len(to):
		return string(to[:n]), nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOENT):
		return "", err
	}
	return os.Readlink(name)
}

// ReadFile reads a regular file, and does not wait for a pipe.
func (OS) ReadFile(name string, limit int) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > int64(limit):
		return nil, errors.New("longer than is read")
	}
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

const (
	maxLinks = 40
	maxNames = 256
	maxPath  = 4096
)

// locate returns a path as it is named, absolute if the call has a directory,
// and, if links lead elsewhere, what they lead to. Partial is set if it could
// not be seen where they lead.
func (j *judge) locate(p string) (paths []string, partial effect.Bits) {
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		p = rest
	}
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && !strings.HasPrefix(p, "$") &&
		(len(p) < 3 || p[1] != ':') {
		if !strings.HasPrefix(j.call.Dir, "/") {
			if p == "" {
				return []string{effect.Unknown}, 0
			}
			return []string{path.Clean(p)}, effect.Partial
		}
		p = j.call.Dir + "/" + p
	}
	named := path.Clean(p)
	if j.fs == nil {
		return []string{named}, effect.Partial
	}
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "*?\x00") {
		return []string{named}, 0
	}
	if j.paths++; j.paths > j.lim.Paths {
		return []string{named, effect.Unknown}, 0
	}
	real, err := resolve(j.fs, p)
	switch {
	case errors.Is(err, errLinks):
		return []string{named, effect.Unknown}, 0
	case err != nil:
		return []string{named}, effect.Partial
	case real == named:
		return []string{named}, 0
	}
	return []string{named, real}, 0
}

var errLinks = errors.New("too many links or names")

// resolve follows every link of an absolute path; names that are not there
// stand for themselves.
func resolve(fs FS, p string) (string, error) {
	if len(p) > maxPath {
		return "", errLinks
	}
	done, rest, links := "/", strings.Split(p, "/"), 0
	missing := false // done is not there, so nothing below it is
	for steps := 0; len(rest) > 0; steps++ {
		if steps > maxNames*4 || len(rest) > maxNames*4 {
			return "", errLinks
		}
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done, missing = path.Dir(done), false
			continue
		}
		next := path.Join(done, name)
		if missing {
			done = next
			continue
		}
		target, err := fs.Readlink(next)
		switch {
		case err == nil:
			if links++; links > maxLinks || len(target) > maxPath {
				return "", errLinks
			}
			if strings.HasPrefix(target, "/") {
				done = "/"
			}
			rest = append(strings.Split(target, "/"), rest...)
		case errors.Is(err, syscall.EINVAL):
			done = next
		case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			done, missing = next, true
		default:
			return "", err
		}
	}
	return done, nil
}
