package disk

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
	"time"

	"approver.example"
	"approver.example/reflexcore/wordset"
)

// A Level says how a file is bound. A higher one includes those below it.
type Level uint8

// Levels of files.
const (
	Unseen Level = iota
	Data         // its content is bound as far as possible
	Code         // it is bound as a whole, or reported
)

// A Scan is the work for one call: it collects what is bound, and what is not.
type Scan struct {
	*access
	hasher
	environment
	unboundNames
	folderWalk
	ToolCall   approver.ToolCall
	Bound      map[string]string          // path or other key → hash
	seen       map[string]Level           // places looked at
	NamedFiles int                        // files bound because the command names them
	texts      int                        // files whose text was read
	textBytes  int                        // bytes of them
	visited    map[string]bool            // keys of Once
	listed     map[string][]string        // folders that were listed
	folded     map[string]map[string]bool // their names in lower case
}

// NewScan begins the work for a call. Once canceled is closed, it ends as soon as it can.
func NewScan(shared *Shared, canceled <-chan struct{}, call approver.ToolCall) *Scan {
	d := &access{Shared: shared, canceled: canceled, trusts: map[uint64]bool{}, synced: map[uint64]time.Time{}}
	s := &Scan{
		access: d, hasher: hasher{access: d, sums: map[string]string{}, budget: MaxCallBytes},
		environment: environment{agent: call.Env, dir: call.Dir, Given: map[string][]string{}}, ToolCall: call,
		folderWalk: folderWalk{trees: map[string][]string{}}, Bound: map[string]string{},
		seen: map[string]Level{}, visited: map[string]bool{}, listed: map[string][]string{},
		folded: map[string]map[string]bool{},
	}
	for name := range call.Env {
		s.Compares = s.Compares || strings.HasPrefix(name, approver.ComparedEnv)
	}
	return s
}

// BindDir binds the real path of the working directory. A symbolic link could point
// elsewhere by the time the command runs.
func (s *Scan) BindDir() {
	if s.ToolCall.Dir == "" {
		s.Bound["dir"] = missing
		return
	}
	s.Bound["dir"] = Unreadable
	real, err := filepath.EvalSymlinks(s.ToolCall.Dir)
	if errors.Is(err, fs.ErrNotExist) { // nothing is there; if that changes, this does
		s.Bound["dir"] = missing
		return
	}
	if err == nil {
		if info, err := os.Stat(real); err == nil {
			id, _ := Identify(info)
			s.Bound["dir"] = id.place + " " + real
			return
		}
	}
	s.Name("%s", s.ToolCall.Dir)
}

// Visit binds the file at an absolute path, if it is a regular file, and reports whether
// the path is a folder. A path with ".." has two meanings, and both count: cd drops the
// last name, while the kernel goes to the parent of a link's target.
func (s *Scan) Visit(path string, as Level) (folder bool) {
	if strings.ContainsRune(path, 0) || s.Err != nil {
		return false
	}
	clean := filepath.Clean(path)
	if s.TooLong(clean) {
		return false
	}
	if ownProcess(clean) {
		if as == Code && !standardStream(clean) && !s.substitution(clean) {
			s.Name("%s, which is open in the agent's own process", clean)
		}
		return false
	}
	folder = s.bind(clean, as)
	if strings.Contains(path, "..") && s.seen[path] < as {
		s.seen[path] = as
		s.looks += strings.Count(path, "/")
		if !s.Look() {
			return folder
		}
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return s.bind(real, as) || folder
		}
		if !IsAbsent(err) {
			s.Name("%s", path)
		}
	}
	return folder
}

// BindCode binds the file at an absolute path as code, and reports whether a file is bound there.
func (s *Scan) BindCode(file string) bool {
	return !s.Visit(file, Code) && s.Bound[filepath.Clean(file)] != ""
}

// TooLong reports whether a path is too long for this service to open. It reports the path
// as unbound if it may still lead to a file, because the command may start in a folder far
// below the root.
func (s *Scan) TooLong(path string) bool {
	if len(path) <= MaxPath {
		return false
	}
	const maxName = 255
	for part := range strings.SplitSeq(path, "/") {
		if len(part) > maxName {
			return true
		}
	}
	s.Name("a path of %d bytes, which is too long: ...%s", len(path), strings.ToValidUTF8(path[len(path)-60:], ""))
	return true
}

// substitution reports whether a path is the one of <(command), which the walk follows.
func (s *Scan) substitution(path string) bool {
	return path == "/dev/fd/63" && !strings.Contains(s.ToolCall.Command, "fd/63")
}

// standardStream reports whether a path is a standard stream. The walk follows standard input.
func standardStream(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "std") || base == "fd" || base == "0" || base == "1" || base == "2"
}

// ownProcess reports whether a path depends on the process: here it would lead to this
// service's own files, not to the agent's.
func ownProcess(path string) bool {
	return wordset.HasAnyPrefix(path+"/", "/dev/fd/", "/dev/stdin/", "/dev/stdout/", "/dev/stderr/", "/proc/self/fd/",
		"/proc/thread-self/fd/")
}

func (s *Scan) bind(path string, as Level) (folder bool) {
	// For links to the process's own directory, use the agent's.
	for _, p := range []string{"/proc/self/", "/proc/thread-self/"} {
		if rest, ok := strings.CutPrefix(path+"/", p+"cwd/"); ok && filepath.IsAbs(s.ToolCall.Dir) {
			path = filepath.Join(s.ToolCall.Dir, rest)
		}
	}
	before := s.seen[path]
	if before >= as && !s.NothingBound(path) {
		return false
	}
	s.seen[path] = max(as, before)
	if !s.Look() {
		return false
	}
	info, err := s.Stat(path)
	switch {
	case err != nil && !IsAbsent(err):
		// There may be a file that cannot be read.
		dir := filepath.Dir(path) + "/"
		s.Bound[dir] = Unreadable
		if strings.HasPrefix(filepath.Base(path), "-") { // an option, as far as anybody can say
			s.Name("what lies in %s, which cannot be searched", dir)
		} else {
			s.Name("%s", path)
		}
		return false
	case err != nil:
		return false
	case info.IsDir():
		return true
	case !info.Mode().IsRegular():
		if as == Code && before < Code && path != "/dev/null" {
			s.Name("%s, which is no file", path)
		}
		return false
	case s.Bound[path] != "":
		if as == Code && !strings.HasPrefix(s.Bound[path], whole) {
			s.Name("%s", path)
		}
		return false
	}
	if s.NamedFiles++; s.NamedFiles > MaxFiles {
		s.Fail(approver.UnbindableError(fmt.Sprintf("the command names more than %d files: split it", MaxFiles)))
		return false
	}
	s.bindHash(path, as)
	return false
}

// NothingBound reports whether nothing is bound at a path: it is a folder, or does not exist.
// Visit checks such a path again each time.
func (s *Scan) NothingBound(path string) bool {
	_, bound := s.Bound[path]
	return !bound
}

// bindHash puts the hash of a file into the result.
func (s *Scan) bindHash(path string, as Level) {
	hash := s.hash(path)
	if hash == "" {
		if as == Code {
			s.Name("%s, which the kernel makes up", path)
		}
		return
	}
	s.Bound[path] = hash
	if hash == Unreadable || as == Code && !strings.HasPrefix(hash, whole) {
		s.Name("%s", path)
	}
}

// BindLink binds the real path of a path, and not the content.
func (s *Scan) BindLink(path string) {
	if len(path) > MaxPath || strings.ContainsRune(path, 0) || strings.HasPrefix(path, "/proc/") ||
		strings.HasPrefix(path, "/dev/") || !s.Look() {
		return
	}
	s.looks += strings.Count(path, "/")
	if real, err := filepath.EvalSymlinks(path); err == nil && real != filepath.Clean(path) {
		s.Bound["leads "+filepath.Clean(path)] = real
	}
}

// entries reads a folder. If it exceeds the limit of looks, the scan fails.
func (s *Scan) entries(dir string) (names []string, err error) {
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
		case s.looks > maxLooks || s.IsCanceled():
			s.Look() // which fails
			return nil, fs.ErrNotExist
		}
	}
}

// ListDir returns the sorted names in a folder; ok is false if they cannot be listed.
func (s *Scan) ListDir(dir string) (names []string, ok bool) {
	if names, ok := s.listed[dir]; ok {
		return names, names != nil
	}
	if !s.Look() {
		return nil, false
	}
	entries, err := s.entries(dir)
	if err != nil && !IsAbsent(err) && s.Bound[dir+"/"] == "" {
		if info, statErr := s.Stat(dir); statErr != nil || info.IsDir() { // else it is a file
			s.Bound[dir+"/"] = Unreadable
			s.Name("%s/", dir)
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

// AddValue notes a value that a text gives a variable.
func (s *Scan) AddValue(name, value string) {
	if value == "" || slices.Contains(s.Given[name], value) {
		return
	}
	if len(s.Given[name]) >= MaxNested {
		s.Name("further values of %s", name)
		return
	}
	s.Given[name] = append(s.Given[name], value)
}

// A folderWalk is the state of walking folders for one call.
type folderWalk struct {
	treeFiles int                     // files bound because they lie in a folder
	walked    int                     // entries of such folders
	walkedFor time.Duration           // how long that took
	trees     map[string][]string     // the files found in folders that were walked
	skipped   []string                // names of folders that are skipped now
	Ignored   func(string, bool) bool // reports what the build of an image leaves out; nil: nothing
	Ignores   string                  // the name of Ignored in keys
}
