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

// FS is the part of the file system that is needed: where a link leads, and the content of an edited
// file.
type FS interface {
	// Readlink returns where a symbolic link leads. The error is syscall.EINVAL if the file is no
	// link, and fs.ErrNotExist if it does not exist.
	Readlink(name string) (string, error)
	// ReadFile returns a regular file of at most limit bytes. A longer file is an error.
	ReadFile(name string, limit int) ([]byte, error)
}

// OS is the machine's file system.
type OS struct{}

// Readlink is os.Readlink with unwrapped errors for files that are no link or do not exist. Nearly
// all lookups end so, and every call needs some.
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

// ReadFile reads a regular file, and never waits for a pipe.
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

// locate returns a path as it is named, absolute if the call has a directory, and where it leads if
// that differs. It sets Partial if links could not be read.
func (j *judge) locate(p string) (paths []string, partial effect.Bits) {
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		p = rest
	}
	if home := j.call.Env["HOME"]; strings.HasPrefix(home, "/") && (p == "~" || strings.HasPrefix(p, "~/")) {
		p = home + p[1:]
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

// resolve follows every link of an absolute path. Names that do not exist stay as they are.
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
