package fingerprint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"approver.example"
)

// A level says what a file is to the call. A higher one includes those below it.
type level uint8

const (
	unseen level = iota
	data         // it is named: its content is bound as far as it can be
	code         // it decides what happens: it is bound as a whole, or that is said
)

// A scan is the work for one call: what is bound, and what is not.
type scan struct {
	*disk
	hasher
	environment
	omissions
	folderWalk
	call       approver.ToolCall
	out        map[string]string          // what is bound → its hash
	seen       map[string]level           // places looked at
	namedFiles int                        // files bound because the command names them
	texts      int                        // files that were read for what they name
	textBytes  int                        // bytes of them
	visited    map[string]bool            // what readers came to; see once
	listed     map[string][]string        // folders that were listed
	folded     map[string]map[string]bool // their names, in small letters
}

// newScan begins the work for a call. Once canceled is closed, it ends as soon as it can.
func newScan(shared *shared, canceled <-chan struct{}, call approver.ToolCall) *scan {
	d := &disk{shared: shared, canceled: canceled}
	s := &scan{
		disk: d, hasher: hasher{disk: d, sums: map[string]string{}, budget: maxCallBytes},
		environment: environment{agent: call.Env, dir: call.Dir}, call: call, out: map[string]string{},
		seen: map[string]level{}, visited: map[string]bool{}, listed: map[string][]string{},
		folded: map[string]map[string]bool{},
	}
	for name := range call.Env {
		s.compares = s.compares || strings.HasPrefix(name, approver.ComparedEnv)
	}
	return s
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
	if strings.ContainsRune(path, 0) || s.err != nil {
		return false
	}
	clean := filepath.Clean(path)
	if s.tooLong(clean) {
		return false
	}
	if ownProcess(clean) {
		if as == code && !standardStream(clean) && !s.substitution(clean) {
			s.name("%s, which is open in the agent's own process", clean)
		}
		return false
	}
	folder = s.bind(clean, as)
	if strings.Contains(path, "..") && s.seen[path] < as {
		s.seen[path] = as
		s.looks += strings.Count(path, "/")
		if !s.look() {
			return folder
		}
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return s.bind(real, as) || folder
		}
		if !isAbsent(err) {
			s.name("%s", path)
		}
	}
	return folder
}

// tooLong reports whether a path is too long for this service to look at, and names it
// if it can lead to a file all the same: the kernel's limit is on what one call is
// given, which may start at a folder far below the root.
func (s *scan) tooLong(path string) bool {
	if len(path) <= maxPath {
		return false
	}
	const maxName = 255
	for part := range strings.SplitSeq(path, "/") {
		if len(part) > maxName {
			return true
		}
	}
	s.name("a path of %d bytes, which is too long: ...%s", len(path), strings.ToValidUTF8(path[len(path)-60:], ""))
	return true
}

// substitution reports whether a path is that of <(command), which the walk follows.
func (s *scan) substitution(path string) bool {
	return path == "/dev/fd/63" && !strings.Contains(s.call.Command, "fd/63")
}

// standardStream reports whether a path is one of the three streams: what comes through
// the first is followed by the walk.
func standardStream(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "std") || base == "fd" || base == "0" || base == "1" || base == "2"
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
	case err != nil && !isAbsent(err):
		// A file may be there, and nobody can say what is in it.
		dir := filepath.Dir(path) + "/"
		s.out[dir] = unreadable
		if strings.HasPrefix(filepath.Base(path), "-") { // an option, as far as anybody can say
			s.name("what lies in %s, which cannot be searched", dir)
		} else {
			s.name("%s", path)
		}
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
	if s.namedFiles++; s.namedFiles > maxFiles {
		s.fail(approver.UnbindableError(fmt.Sprintf("the command names more than %d files: split it", maxFiles)))
		return false
	}
	s.bindHash(path, as)
	return false
}

// isFolder reports that nothing is bound at a place that was looked at: it is a folder,
// or nothing is there. Such a place is looked at again each time.
func (s *scan) isFolder(path string) bool {
	_, bound := s.out[path]
	return !bound
}

// bindHash puts the hash of a file into the result.
func (s *scan) bindHash(path string, as level) {
	hash := s.hash(path)
	if hash == "" {
		if as == code {
			s.name("%s, which the kernel makes up", path)
		}
		return
	}
	s.out[path] = hash
	if hash == unreadable || as == code && !strings.HasPrefix(hash, whole) {
		s.name("%s", path)
	}
}

// bindLink binds where the links of a path lead, and not what is there.
func (s *scan) bindLink(path string) {
	if len(path) > maxPath || strings.ContainsRune(path, 0) || strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/") || !s.look() {
		return
	}
	s.looks += strings.Count(path, "/")
	if real, err := filepath.EvalSymlinks(path); err == nil && real != filepath.Clean(path) {
		s.out["leads "+filepath.Clean(path)] = real
	}
}

// entries reads a folder, as far as the looks last: what is larger is an error of the scan.
func (s *scan) entries(dir string) (names []string, err error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		some, err := f.Readdirnames(1024)
		names = append(names, some...)
		s.looks += len(some) / 16
		switch {
		case errors.Is(err, io.EOF):
			return names, nil
		case err != nil:
			return nil, err
		case s.looks > maxLooks || s.isCanceled():
			s.look() // which fails
			return nil, fs.ErrNotExist
		}
	}
}

// listDir returns the sorted names in a folder; ok is false if they cannot be listed.
func (s *scan) listDir(dir string) (names []string, ok bool) {
	if names, ok := s.listed[dir]; ok {
		return names, names != nil
	}
	if !s.look() {
		return nil, false
	}
	entries, err := s.entries(dir)
	if err != nil && !isAbsent(err) && s.out[dir+"/"] == "" {
		if info, statErr := s.stat(dir); statErr != nil || info.IsDir() { // else it is a file
			s.out[dir+"/"] = unreadable
			s.name("%s/", dir)
		}
	}
	if err != nil {
		s.listed[dir] = nil
		return nil, false
	}
	names = append(make([]string, 0, len(entries)), entries...)
	slices.Sort(names)
	s.listed[dir] = names
	return names, true
}
