package fingerprint

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// This file knows what lies in the folders of a PATH that an agent can write to.

// A namedFolder is a folder of PATH that an agent can write to.
type namedFolder struct {
	path  string
	names []string
}

// A pathContents is what the folders of a PATH have that an agent can put there.
type pathContents struct {
	before []string      // files with the name of one in a later folder
	dirs   []namedFolder // in the order of PATH
}

// owned returns what lies in the folders of a PATH that an agent can write to. It asks the
// kernel for the version of each folder, and lists them again only when one has another.
func (b *shared) owned(s *scan, dirs []string) pathContents {
	all, key, settled := s.pathFolders(dirs)
	if !slices.ContainsFunc(all, func(f pathFolder) bool { return f.own }) {
		return pathContents{}
	}
	if settled {
		b.mu.Lock()
		found, ok := b.searches[key]
		b.mu.Unlock()
		if ok {
			return found
		}
	}
	found, held := s.shadowing(all)
	if settled && held && s.err == nil {
		b.mu.Lock()
		if b.searches == nil || len(b.searches) >= maxSearched {
			b.searches = map[string]pathContents{}
		}
		b.searches[key] = found
		b.mu.Unlock()
	}
	return found
}

// A pathFolder is a folder of PATH.
type pathFolder struct {
	path, place string
	own         bool // an agent may write to it
}

// pathFolders are the folders of a PATH that are there, once each, what tells them and their
// versions from others, and whether none of them changed a moment ago.
func (s *scan) pathFolders(dirs []string) (all []pathFolder, key string, settled bool) {
	var versions strings.Builder
	settled = true
	for _, dir := range dirs {
		if len(dir) > maxPath || strings.ContainsRune(dir, 0) || strings.HasPrefix(dir, "/proc/") || !s.look() {
			continue
		}
		info, err := s.stat(dir)
		if err != nil || !info.IsDir() {
			continue // each look for a program in it is named
		}
		id, known := identify(info)
		settled = settled && known && time.Since(id.changed) > 2*time.Second
		if known && slices.ContainsFunc(all, func(f pathFolder) bool { return f.place == id.place }) {
			continue
		}
		all = append(all, pathFolder{dir, id.place, !system(path.Join(dir, "x")) && agentMayWrite(info, id)})
		versions.WriteString(dir + "\x00" + id.version + "\x00")
	}
	return all, versions.String(), settled
}

// shadowing lists folders of PATH, and reports whether the lists hold as long as the versions
// of the folders do.
func (s *scan) shadowing(all []pathFolder) (found pathContents, held bool) {
	held = true
	later := map[string]bool{}
	for n := len(all) - 1; n >= 0; n-- {
		names, ok := s.listDir(all[n].path)
		held = held && ok && holds(all[n].path)
		if all[n].own {
			found.dirs = append(found.dirs, namedFolder{all[n].path, names})
		}
		for _, name := range names {
			if all[n].own && later[name] {
				found.before = append(found.before, path.Join(all[n].path, name))
			}
		}
		for _, name := range names {
			later[name] = true
		}
	}
	slices.Reverse(found.dirs)
	return found, held
}

// agentMayWrite reports whether a folder is not root's, or others than root may write to it.
// Where this service is root's, the agent may be root too.
func agentMayWrite(info fs.FileInfo, id fileID) bool {
	return id.owner != 0 || info.Mode()&0o022 != 0 || os.Geteuid() == 0
}

// holds reports whether the kernel's word about a folder can be trusted.
func holds(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only looked at
	return fileSystemOf(f) == diskFiles
}

// stamp binds a program that is not known to run.
func (s *scan) stamp(file string) {
	if !s.once("stamp", file) || !s.look() {
		return
	}
	info, err := s.stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	sum := ""
	if info.Size() > ownedBytes {
		sum = s.versionOf(file, info)
	}
	if sum == "" {
		sum = s.hash(file)
	}
	s.out["starts "+file] = sum + " " + info.Mode().String()
}

// ownedBytes is the size up to which such a program is bound by its content. Of a larger one
// its place, its size and its times are.
const ownedBytes = 64 << 10

// maxSearched is how many sets of folders a Binder remembers.
const maxSearched = 64

// system reports whether a program is in a folder of the system.
func system(file string) bool {
	for _, at := range []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"} {
		if strings.HasPrefix(file, at) && path.Clean(file) == file {
			return true
		}
	}
	return false
}
