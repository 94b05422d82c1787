package fingerprint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// A level says what a file is to the call. A higher one includes those below it.
type level uint8

const (
	unseen level = iota
	data         // it is named: its content is bound as far as it can be
	code         // it decides what happens: it is bound as a whole, or that is said
)

// A scan is the work for one call.
type scan struct {
	binder  *Binder
	call    approver.ToolCall
	given   <-chan struct{} // closed when nobody waits any more
	out     map[string]string
	unbound []string
	seen    map[string]level // places looked at
	looks   int
	named   int                 // files bound because the command names them
	treed   int                 // files bound because they lie in a folder
	walked  int                 // entries of such folders
	walks   int                 // texts that were walked
	listed  map[string][]string // folders that were listed
	sums    map[string]string   // version → hash, for second names of a file
	texts   map[string]bool     // files that were read for what they name
	budget  int64               // bytes still to be read
	err     error               // the first; it ends the scan
}

func (s *scan) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// look counts one look at the disk, and reports whether there may be one.
func (s *scan) look() bool {
	if s.looks++; s.looks > maxLooks {
		s.fail(fmt.Errorf("the command may lead to more than %d files: split it", maxLooks))
	}
	if s.givenUp() {
		s.fail(errGivenUp)
	}
	return s.err == nil
}

func (s *scan) givenUp() bool {
	select {
	case <-s.given:
		return true
	default:
		return false
	}
}

// name notes what is not bound. Names are for people; most are the agent's own words.
func (s *scan) name(format string, args ...any) {
	// Cards take … for an odd character.
	text := cut(strings.NewReplacer("…", "...", effect.Unknown, "...").Replace(fmt.Sprintf(format, args...)))
	switch {
	case len(s.unbound) < maxNames:
		s.unbound = append(s.unbound, text)
	case len(s.unbound) == maxNames:
		s.unbound = append(s.unbound, "more that is not listed")
	}
}

// cut shortens a name that would fill a card.
func cut(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

func (s *scan) stat(path string) (fs.FileInfo, error) {
	if s.binder.stat != nil {
		return s.binder.stat(path)
	}
	return os.Stat(path)
}

// bindDir binds where the working directory leads now: as a symbolic link it
// could lead elsewhere by the time the command runs.
func (s *scan) bindDir() {
	if s.call.Dir == "" {
		s.out["dir"] = missing
		return
	}
	s.out["dir"] = unreadable
	real, err := filepath.EvalSymlinks(s.call.Dir)
	if errors.Is(err, fs.ErrNotExist) { // nothing is there; if that changes, this does
		s.out["dir"] = missing
		return
	}
	if err == nil {
		if info, err := os.Stat(real); err == nil {
			id, _ := identify(info)
			s.out["dir"] = id.place + " " + real
			return
		}
	}
	s.name("%s", s.call.Dir)
}

// visit binds what lies at an absolute path, if it is a regular file, and reports
// whether it is a folder. A path with ".." has two readings: cd goes by the name, the
// kernel by where the links before it lead.
func (s *scan) visit(path string, as level) (folder bool) {
	if len(path) > maxPath || strings.ContainsRune(path, 0) || s.err != nil {
		return false
	}
	clean := filepath.Clean(path)
	if ownProcess(clean) {
		return false
	}
	folder = s.bind(clean, as)
	if strings.Contains(path, "..") && s.seen[path] < as {
		s.seen[path] = as
		s.looks += strings.Count(path, "/")
		if !s.look() {
			return folder
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			folder = s.bind(real, as) || folder
		}
	}
	return folder
}

// ownProcess reports whether a path means something else to each process: here
// it would lead to this service's own input, not to the agent's.
func ownProcess(path string) bool {
	for _, p := range []string{"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self/fd", "/proc/thread-self/fd"} {
		if rest, ok := strings.CutPrefix(path, p); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

func (s *scan) bind(path string, as level) (folder bool) {
	// Links that mean each process's own directories mean the agent's here.
	for _, p := range []string{"/proc/self/", "/proc/thread-self/"} {
		if rest, ok := strings.CutPrefix(path+"/", p+"cwd/"); ok && filepath.IsAbs(s.call.Dir) {
			path = filepath.Join(s.call.Dir, rest)
		}
	}
	before := s.seen[path]
	if before >= as && !s.isFolder(path) {
		return false
	}
	s.seen[path] = max(as, before)
	if !s.look() {
		return false
	}
	info, err := s.stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		// A file may be there, and nobody can say what is in it.
		dir := filepath.Dir(path) + "/"
		s.out[dir] = unreadable
		s.name("%s", path)
		return false
	case err != nil:
		return false
	case info.IsDir():
		return true
	case !info.Mode().IsRegular():
		if as == code && before < code && path != "/dev/null" {
			s.name("%s, which is no file", path)
		}
		return false
	case s.out[path] != "":
		if as == code && !strings.HasPrefix(s.out[path], whole) {
			s.name("%s", path)
		}
		return false
	}
	if s.named++; s.named > maxFiles {
		s.fail(fmt.Errorf("the command names more than %d files: split it", maxFiles))
		return false
	}
	s.keep(path, as)
	return false
}

// isFolder reports whether a place that was looked at is a folder, which is looked at
// anew each time: commands start from it.
func (s *scan) isFolder(path string) bool {
	_, bound := s.out[path]
	return !bound
}

// keep puts the hash of a file into the result.
func (s *scan) keep(path string, as level) {
	hash := s.hash(path)
	if hash == "" {
		return
	}
	s.out[path] = hash
	if hash == unreadable || as == code && !strings.HasPrefix(hash, whole) {
		s.name("%s", path)
	}
}

// leads binds where the links of a path lead, and not what is there.
func (s *scan) leads(path string) {
	if len(path) > maxPath || strings.ContainsRune(path, 0) || strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/") || !s.look() {
		return
	}
	s.looks += strings.Count(path, "/")
	if real, err := filepath.EvalSymlinks(path); err == nil && real != filepath.Clean(path) {
		s.out["leads "+filepath.Clean(path)] = real
	}
}

// list returns the sorted names in a folder; ok is false if they cannot be listed.
func (s *scan) list(dir string) (names []string, ok bool) {
	if names, ok := s.listed[dir]; ok {
		return names, names != nil
	}
	if !s.look() {
		return nil, false
	}
	entries, err := os.ReadDir(dir)
	s.looks += len(entries) / 16
	if err != nil && !errors.Is(err, fs.ErrNotExist) && s.out[dir+"/"] == "" {
		if info, statErr := s.stat(dir); statErr != nil || info.IsDir() { // else it is a file
			s.out[dir+"/"] = unreadable
			s.name("%s/", dir)
		}
	}
	if err != nil {
		s.listed[dir] = nil
		return nil, false
	}
	names = make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	s.listed[dir] = names
	return names, true
}
