package shieldcore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"approver.example/internal/glob"
)

// A pathGlob is a rule's path pattern: exact for allow, and folded to lower case
// for ask and deny, because some file systems ignore case.
type pathGlob struct {
	exact, folded glob.Path
}

// newPathGlob checks and compiles a pattern.
func newPathGlob(pattern string) (pathGlob, error) {
	switch {
	case strings.HasPrefix(pattern, "/"), strings.HasPrefix(pattern, "~/"), strings.HasPrefix(pattern, "**/"):
	case pattern == "**":
		return pathGlob{}, errors.New("matches every path: write /** if that is meant")
	default:
		return pathGlob{}, errors.New("must start with /, ~/ or **/: write **/" + pattern + " for that name anywhere")
	}
	if pattern != path.Clean(pattern) {
		return pathGlob{}, fmt.Errorf("has a needless slash or dot: write %q", path.Clean(pattern))
	}
	if strings.HasPrefix(pattern, "**/") {
		pattern = "/" + pattern
	}
	var g pathGlob
	for seg := range strings.SplitSeq(pattern, "/") {
		if seg != "**" && strings.Contains(seg, "**") {
			return pathGlob{}, errors.New("** must stand alone between slashes")
		}
		if strings.ContainsAny(seg, "{}\\") {
			return pathGlob{}, errors.New("may not hold { } or a backslash: write one pattern for each alternative")
		}
		low := fold(seg)
		for _, s := range []string{seg, low} {
			if _, err := path.Match(s, ""); err != nil {
				return pathGlob{}, errors.New("has a bracket that is not closed or a range that is empty")
			}
		}
		g.exact, g.folded = append(g.exact, seg), append(g.folded, low)
	}
	return g, nil
}

// A location has all files that one path of a call may mean.
type location struct {
	abs     []string // as written, cleaned; and with symbolic links resolved
	folded  []string // the same in lower case and, inside a home, the form with ~
	certain bool     // the path can mean nothing else than abs
	rooted  bool     // the path is absolute, or the call has a directory
}

// places locates every path of the call.
func (s *subject) places() []location {
	if s.haveLocated {
		return s.located
	}
	s.haveLocated = true
	for _, p := range s.call.Paths {
		s.located = append(s.located, s.locate(p))
	}
	return s.located
}

// hasUnplaced reports whether some path is relative to an unknown directory.
func (s *subject) hasUnplaced() bool {
	return slices.ContainsFunc(s.places(), func(l location) bool { return !l.rooted })
}

func (s *subject) locate(p string) location {
	// Where a brace stands for alternatives, the path is more than one.
	l := location{certain: !strings.ContainsAny(p, "{}"), rooted: true}
	h := s.knownHomes()
	for _, prefix := range []string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(p, prefix); ok && (rest == "" || rest[0] == '/') {
			p = "~" + rest
		}
	}
	candidates := []string{p}
	if strings.HasPrefix(p, "~") {
		// It is not known whether the tool expands ~, and to what.
		l.certain = false
		candidates = h.expand(p)
	}
	for _, c := range candidates {
		if !strings.HasPrefix(c, "/") {
			if strings.HasPrefix(s.call.Dir, "/") {
				c = s.call.Dir + "/" + c
			} else {
				l.certain, l.rooted = false, false
				c = "/" + c
			}
		}
		l.add(path.Clean(c))
		resolved, err := s.resolve(c)
		if err != nil {
			l.certain = false
		}
		l.add(resolved)
	}
	for _, abs := range l.abs {
		l.folded = append(l.folded, fold(abs))
		if t, ok := h.tilde(abs); ok {
			l.folded = append(l.folded, fold(t))
		}
	}
	return l
}

func (l *location) add(p string) {
	if !slices.Contains(l.abs, p) {
		l.abs = append(l.abs, p)
	}
}

// allowed reports whether all forms of the path match the patterns of an allow
// rule. In these, ~ is only the home of the user who connected.
func (s *subject) allowed(globs []pathGlob, l location) bool {
	for _, form := range l.abs {
		ok := false
		for _, g := range globs {
			exact := g.exact
			if exact[0] == "~" {
				home := s.knownHomes().own
				if home == "" {
					continue
				}
				exact = append(strings.Split(path.Clean(home), "/"), exact[1:]...)
			}
			ok = ok || exact.Match(form)
		}
		if !ok {
			return false
		}
	}
	return true
}

// homes are the home directories that ~ may mean for one call.
type homes struct {
	own     string // of the user who connected, by the user database; empty: unknown
	claimed string // HOME as the courier sent it
}

func (s *subject) knownHomes() *homes {
	if s.homes != nil {
		return s.homes
	}
	s.homes = &homes{}
	if h := s.call.Env["HOME"]; strings.HasPrefix(h, "/") && path.Clean(h) != "/" {
		s.homes.claimed = path.Clean(h)
	}
	lookup := s.home
	if lookup == nil {
		lookup = homeOf
	}
	if s.call.Peer.Known {
		if h, ok := lookup(s.call.Peer.UID); ok && strings.HasPrefix(h, "/") && path.Clean(h) != "/" {
			s.homes.own = path.Clean(h)
		}
	}
	return s.homes
}

// A homeCache remembers what the system says of homes for homeKept, because asking it takes as long as all
// rules together. The zero value is empty.
type homeCache struct {
	mu    sync.Mutex
	known map[uint32]knownHome
}

type knownHome struct {
	dir   string
	ok    bool
	until time.Time
}

const (
	homeKept = time.Second
	maxHomes = 256
)

func (c *homeCache) of(uid uint32) (dir string, ok bool) {
	c.mu.Lock()
	h := c.known[uid]
	c.mu.Unlock()
	if time.Now().Before(h.until) {
		return h.dir, h.ok
	}
	dir, ok = homeOf(uid) // a slow directory service must not hold up the others
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxHomes {
		c.known = map[uint32]knownHome{}
	}
	c.known[uid] = knownHome{dir, ok, time.Now().Add(homeKept)}
	return dir, ok
}

func homeOf(uid uint32) (string, bool) {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return "", false
	}
	return u.HomeDir, true
}

// expand returns what a path that starts with ~ may mean.
func (h *homes) expand(p string) []string {
	name, rest, _ := strings.Cut(p[1:], "/")
	out := []string{p} // a file whose name starts with ~
	switch name {
	case "":
		for _, dir := range []string{h.own, h.claimed} {
			if dir != "" {
				out = append(out, dir+"/"+rest)
			}
		}
		if len(out) == 1 {
			out = append(out, "/home/~/"+rest) // an unknown home; tilde recognizes its parent folder
		}
	case "root":
		out = append(out, "/root/"+rest)
	default:
		out = append(out, "/home/"+name+"/"+rest, "/Users/"+name+"/"+rest)
	}
	return out
}

// tilde writes a path in any user's home with ~ for the home.
func (h *homes) tilde(p string) (string, bool) {
	for _, dir := range []string{h.own, h.claimed, "/root", "/var/root"} {
		if rest, ok := strings.CutPrefix(p, dir); ok && dir != "" && (rest == "" || rest[0] == '/') {
			return "~" + rest, true
		}
	}
	for _, parent := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(p, parent); ok && rest != "" {
			_, in, deeper := strings.Cut(rest, "/")
			if deeper {
				in = "/" + in
			}
			return "~" + in, true
		}
	}
	return "", false
}

// Bounds of resolve. Kernels have the same bound for links, and 4096 bytes for paths.
const (
	maxLinks    = 40
	maxResolved = 8192
)

// A link is the result of reading a symbolic link: its target or an error.
type link struct {
	target string
	err    error
}

// readlink reads a link once for each call, because its paths share most folders.
func (s *subject) readlink(name string) (string, error) {
	l, known := s.links[name]
	if !known {
		if s.links == nil {
			s.links = map[string]link{}
		}
		l.target, l.err = os.Readlink(name)
		s.links[name] = l
	}
	return l.target, l.err
}

// resolve follows the symbolic links in an absolute path, even if its end does not
// exist yet. With an error it returns the part resolved so far, joined with the
// rest as written.
func (s *subject) resolve(p string) (string, error) {
	if strings.Contains(p, "\x00") {
		return path.Clean(p), errors.New("the path holds a NUL character")
	}
	if len(p) > maxResolved {
		return path.Clean(p), errors.New("the path is longer than any file's")
	}
	done, rest, links := "/", strings.Split(p, "/"), 0
	missing := false // done does not exist, so nothing below it does
	for len(rest) > 0 {
		seg := rest[0]
		rest = rest[1:]
		switch seg {
		case "", ".":
			continue
		case "..":
			done, missing = path.Dir(done), false
			continue
		}
		next := path.Join(done, seg)
		if missing {
			done = next
			continue
		}
		target, err := s.readlink(next)
		switch {
		case err == nil:
			if links++; links > maxLinks {
				return path.Join(next, path.Join(rest...)), errors.New("too many symbolic links")
			}
			if strings.HasPrefix(target, "/") {
				done = "/"
			}
			rest = append(strings.Split(target, "/"), rest...)
		case errors.Is(err, syscall.EINVAL): // not a link
			done = next
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			done, missing = next, true
		default:
			return path.Join(next, path.Join(rest...)), err
		}
	}
	return done, nil
}
