package approver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Bounds of a FileHasher, each for one call.
const (
	maxFiles     = 1024      // files bound
	maxCallBytes = 256 << 20 // bytes of files that are read in full
	endBytes     = 1 << 20   // of each end of a larger file
	maxLooks     = 20_000    // places looked at
	maxPath      = 4096      // bytes of a path; the kernel takes no more
	maxExpanded  = 1 << 20   // bytes that variables become
	maxQuoting   = 3         // levels of quotes within quotes
	manyNames    = 512       // from here on a folder is listed, not asked name by name
	maxListing   = 1 << 16   // entries of a folder that is listed
	maxCached    = 4096      // hashes kept between calls
	maxScans     = 64        // calls at once
)

// scanTime is how long the files of one call may take: one on a mount that hangs
// must not hold the call for ever.
const scanTime = 5 * time.Second

// A FileHasher says what the files are that a call would execute, so that an
// approval binds them: every word of the command that names a regular file,
// from the working directory, from any directory that the command names, or
// through PATH. It errs on the side of too many: it knows quotes, $NAME and ~,
// but it does not understand shell, so it cannot tell a script from data that
// is merely read. It does not see globs, or names that a program makes up.
//
// Files are read in full for every call, up to 256 MiB; of what goes beyond, both
// ends, size and times are bound. Between calls only hashes of system files are
// kept, see [FileHasher.keeps]. The zero value is ready.
type FileHasher struct {
	mu    sync.Mutex
	cache map[string]string // version → hash
	scans int               // running, also those that nobody waits for any more

	stat func(string) (fs.FileInfo, error) // for tests; nil is os.Stat
}

// errSlow means that a file does not answer.
var errSlow = fmt.Errorf("the files of the command could not be read within %v: "+
	"one of them may be on a mount that hangs", scanTime)

// Of returns path → hash for the call, and under "dir" where the working
// directory really is. A file that cannot be read counts as "unreadable", so
// that its becoming readable shows, and so does a folder, with a slash at the
// end, in which this service may not even look. A call that names more than 1024 files or leads
// to more than 20 000 places is an error.
//
// It is an error too if the files are not read within 5 s, or ctx ends first.
// What hangs in the kernel then goes on in the background; when 64 calls do,
// further ones are refused at once, until one of them ends.
func (h *FileHasher) Of(ctx context.Context, call ToolCall) (map[string]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, scanTime, errSlow)
	defer cancel()
	if !h.begin() {
		return nil, fmt.Errorf("the files of %d other commands are still being read: some may be on a mount that hangs", maxScans)
	}
	type result struct {
		files map[string]string
		err   error
	}
	done := make(chan result, 1)
	go func() {
		files, err := h.scan(ctx.Done(), call)
		h.end()
		done <- result{files, err}
	}()
	select {
	case r := <-done:
		return r.files, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("file hashes: %w", context.Cause(ctx))
	}
}

// begin takes one of the places for a scan.
func (h *FileHasher) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scans >= maxScans {
		return false
	}
	h.scans++
	return true
}

func (h *FileHasher) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scans--
}

// scan is Of without bounds in time. It gives up when it can and given is closed.
func (h *FileHasher) scan(given <-chan struct{}, call ToolCall) (map[string]string, error) {
	s := &scan{
		hasher: h, call: call, given: given, out: map[string]string{}, known: map[string]bool{}, seen: map[string]bool{},
		bases: map[string]bool{}, sums: map[string]string{}, budget: maxCallBytes,
	}
	rest, logs := onlyRead(call.Command)
	s.gather(rest)
	s.firstLog = len(s.words)
	for _, log := range logs {
		s.add(log)
	}
	if err := s.walk(); err != nil {
		return nil, err
	}
	return s.out, nil
}

// A fileID is what the kernel says of a file without its content.
type fileID struct {
	place   string // device and inode
	version string // place, size and times
	owner   uint32
	changed time.Time // when content or rights last changed; only the kernel sets it
}

// A fileSystem says how far the kernel's word about a file goes.
type fileSystem uint8

const (
	foreignFiles fileSystem = iota // a program may answer: a version says nothing
	heldFiles                      // files on a disk or in memory
	madeUp                         // the kernel's own news, as in /proc: nothing to bind
)

// A scan is the work for one call.
type scan struct {
	hasher *FileHasher
	call   ToolCall
	given  <-chan struct{} // closed when nobody waits any more
	out    map[string]string
	known  map[string]bool // words
	words  []string        // the same, in order
	// From here on the words are logs that are merely read. They come last, so
	// that one that anything else leads to is bound by then.
	firstLog int
	inLogs   bool            // they are being looked at
	seen     map[string]bool // places looked at
	looks    int
	bases    map[string]bool // directories by place
	dirs     []string        // the same by path, in order
	sums     map[string]string
	budget   int64
	// expanded counts what variables became, in bytes.
	expanded int
}

// walk looks at each place a word can lead to. A word that names a directory
// makes that one more place to start from: cd sub && ./x.sh.
func (s *scan) walk() error {
	if s.expanded > maxExpanded {
		return fmt.Errorf("the variables of the command come to more than %d bytes: name the files", maxExpanded)
	}
	var relative, names []string // names: those that PATH is asked for
	for _, word := range s.words[:s.firstLog] {
		switch {
		case filepath.IsAbs(word):
			if err := s.visitAll("", word); err != nil {
				return err
			}
			continue
		case !strings.Contains(word, "/") && !strings.HasPrefix(word, "-"):
			names = append(names, word)
		}
		relative = append(relative, word)
	}
	if filepath.IsAbs(s.call.Dir) {
		s.bindDir()
		if err := s.visit(filepath.Clean(s.call.Dir), true); err != nil {
			return err
		}
	}
	if home := s.call.Env["HOME"]; filepath.IsAbs(home) && (s.known["cd"] || s.known["pushd"]) {
		if err := s.visit(filepath.Clean(home), true); err != nil { // a bare cd goes home
			return err
		}
	}
	for i := 0; i < len(s.dirs); i++ { // grows
		for _, word := range s.present(s.dirs[i], relative) {
			if err := s.visitAll(s.dirs[i], word); err != nil {
				return err
			}
		}
	}
	for _, dir := range filepath.SplitList(s.call.Env["PATH"]) {
		if !filepath.IsAbs(dir) {
			if !filepath.IsAbs(s.call.Dir) {
				continue
			}
			dir = filepath.Join(s.call.Dir, dir)
		}
		for _, name := range s.present(dir, names) {
			if err := s.visit(filepath.Join(dir, name), false); err != nil {
				return err
			}
		}
	}
	return s.walkLogs()
}

// bindDir binds where the working directory leads now: as a symbolic link it
// could lead elsewhere by the time the command runs.
func (s *scan) bindDir() {
	s.out["dir"] = unreadable
	real, err := filepath.EvalSymlinks(s.call.Dir)
	if s.call.Dir == "" || errors.Is(err, fs.ErrNotExist) { // nothing is there; if that changes, this does
		s.out["dir"] = missing
		return
	}
	if err != nil {
		return
	}
	if info, err := os.Stat(real); err == nil {
		id, _ := identify(info)
		s.out["dir"] = id.place + " " + real
	}
}

// visitAll visits where word leads from base. A path with ".." has two
// readings: cd goes by the name, the kernel by where the links before it lead.
func (s *scan) visitAll(base, word string) error {
	path := base + "/" + word
	if len(word) > maxPath || ownProcess(filepath.Clean(path)) {
		return nil
	}
	if err := s.visit(filepath.Clean(path), true); err != nil {
		return err
	}
	if !strings.Contains(word, "..") || s.seen[path] {
		return nil
	}
	s.seen[path] = true
	if s.looks += strings.Count(path, "/"); s.looks > maxLooks {
		return errTooManyLooks()
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	return s.visit(real, true)
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

func errTooManyLooks() error {
	return fmt.Errorf("the command may lead to more than %d files: split it", maxLooks)
}

func (s *scan) visit(path string, base bool) error {
	if s.seen[path] {
		return nil
	}
	s.seen[path] = true
	if s.looks++; s.looks > maxLooks {
		return errTooManyLooks()
	}
	// Links that mean each process's own directories mean the agent's here.
	for _, p := range []string{"/proc/self/", "/proc/thread-self/"} {
		if rest, ok := strings.CutPrefix(path+"/", p+"cwd/"); ok && filepath.IsAbs(s.call.Dir) {
			return s.visit(filepath.Join(s.call.Dir, rest), base)
		}
	}
	if s.givenUp() {
		return errGivenUp
	}
	stat := os.Stat
	if s.hasher.stat != nil {
		stat = s.hasher.stat
	}
	info, err := stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		// A file may be there, and nobody can say what is in it.
		s.out[filepath.Dir(path)+"/"] = unreadable
		return nil
	case err != nil:
		return nil
	case info.IsDir() && base:
		place := path
		if id, ok := identify(info); ok {
			place = id.place
		}
		if !s.bases[place] {
			s.bases[place] = true
			s.dirs = append(s.dirs, path)
		}
		return nil
	case !info.Mode().IsRegular() || s.growing(path, info):
		return nil
	case len(s.out) >= maxFiles:
		return fmt.Errorf("the command names more than %d files: split it", maxFiles)
	}
	hash, err := s.hash(path)
	if err == nil && hash != "" {
		s.out[path] = hash
	}
	return err
}

// errGivenUp is seen by nobody: the call was answered.
var errGivenUp = errors.New("nobody waits for the files any more")

func (s *scan) givenUp() bool {
	select {
	case <-s.given:
		return true
	default:
		return false
	}
}

// A patient reader reads until nobody waits.
type patient struct {
	io.Reader
	s *scan
}

func (p patient) Read(b []byte) (int, error) {
	if p.s.givenUp() {
		return 0, errGivenUp
	}
	return p.Reader.Read(b)
}

// walkLogs looks at the logs that are merely read, from every directory.
func (s *scan) walkLogs() error {
	s.inLogs = true
	for _, dir := range append([]string{""}, s.dirs...) {
		for _, word := range s.words[s.firstLog:] {
			if filepath.IsAbs(word) != (dir == "") {
				continue
			}
			if err := s.visitAll(dir, word); err != nil {
				return err
			}
		}
	}
	return nil
}

// growing reports whether a file may have grown by the time a person answers,
// which would make the approval void: a log that the command merely reads and
// that nobody may execute. See onlyRead.
func (s *scan) growing(path string, info fs.FileInfo) bool {
	return s.inLogs && strings.HasSuffix(path, ".log") && info.Mode()&0o111 == 0
}

// present drops the names that are surely not in dir, where there are so many
// that listing dir is cheaper. Names may differ in case on some file systems.
func (s *scan) present(dir string, names []string) []string {
	if len(names) < manyNames {
		return names
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return names
	}
	defer f.Close()
	entries, err := f.Readdirnames(maxListing)
	s.looks += len(entries) / 64
	if (err != nil && !errors.Is(err, io.EOF)) || len(entries) >= maxListing {
		return names
	}
	there := make(map[string]bool, len(entries))
	for _, name := range entries {
		there[strings.ToLower(name)] = true
	}
	var out []string
	for _, name := range names {
		plain := !strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r > 126 })
		if !plain || name == "." || name == ".." || there[strings.ToLower(name)] {
			out = append(out, name)
		}
	}
	return out
}
