package disk

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"approver.example/reflexcore/wordset"
)

// AgentWritable returns the contents of the folders of a PATH that an agent can write to. It lists the
// folders again only if the version of one has changed.
func (b *Shared) AgentWritable(s *Scan, dirs []string) PathContents {
	all, key, settled := s.pathFolders(dirs)
	if !slices.ContainsFunc(all, func(f pathFolder) bool { return f.own }) {
		return PathContents{}
	}
	if found, ok := b.searches.Get(key); ok && settled {
		return found
	}
	found, held := s.shadowing(all)
	if settled && held && s.Err == nil {
		b.searches.Put(key, found, maxSearched)
	}
	return found
}

// A pathFolder is a folder of PATH.
type pathFolder struct {
	path, place string
	own         bool // an agent may write to it
}

// pathFolders are the existing folders of a PATH, once each. key identifies them and their versions;
// settled says that none has just changed.
func (s *Scan) pathFolders(dirs []string) (all []pathFolder, key string, settled bool) {
	var versions strings.Builder
	settled = true
	for _, dir := range dirs {
		if len(dir) > MaxPath || strings.ContainsRune(dir, 0) || strings.HasPrefix(dir, "/proc/") || !s.Look() {
			continue
		}
		info, err := s.Stat(dir)
		if err != nil || !info.IsDir() {
			continue // each look for a program in it is named
		}
		id, known := Identify(info)
		settled = settled && known && time.Since(id.Changed) > 2*time.Second
		if known && slices.ContainsFunc(all, func(f pathFolder) bool { return f.place == id.place }) {
			continue
		}
		all = append(all, pathFolder{dir, id.place, !InSystemFolder(path.Join(dir, "x")) && agentMayWrite(info, id)})
		versions.WriteString(dir + "\x00" + id.Version + "\x00")
	}
	return all, versions.String(), settled
}

// shadowing lists folders of PATH, and reports whether the lists are valid as long as the
// versions of the folders.
func (s *Scan) shadowing(all []pathFolder) (found PathContents, held bool) {
	held = true
	later := map[string]bool{}
	for n := len(all) - 1; n >= 0; n-- {
		names, ok := s.ListDir(all[n].path)
		held = held && ok && hasTrustedTimes(all[n].path)
		if all[n].own {
			found.Dirs = append(found.Dirs, Folder{all[n].path, names})
		}
		for _, name := range names {
			if all[n].own && later[name] {
				found.Before = append(found.Before, path.Join(all[n].path, name))
			}
		}
		for _, name := range names {
			later[name] = true
		}
	}
	slices.Reverse(found.Dirs)
	return found, held
}

// agentMayWrite reports whether others than root may write to a folder. If this service runs
// as root, the agent may be root too.
func agentMayWrite(info fs.FileInfo, id FileID) bool {
	return id.owner != 0 || info.Mode()&0o022 != 0 || os.Geteuid() == 0
}

// hasTrustedTimes reports whether the metadata of a folder can be trusted.
func hasTrustedTimes(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only looked at
	return fileSystemOf(f) == diskFiles
}

// Stamp binds a program that may run.
func (s *Scan) Stamp(file string) {
	if !s.Once("stamp", file) || !s.Look() {
		return
	}
	info, err := s.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	sum := ""
	if info.Size() > OwnedBytes {
		sum = s.versionOf(file, info)
	}
	if sum == "" {
		sum = s.hash(file)
	}
	s.Bound["starts "+file] = sum + " " + info.Mode().String()
}

// OwnedBytes is the size up to which such a program is bound by its content. A larger one is
// bound by its metadata.
const OwnedBytes = 64 << 10

// maxSearched bounds the cached sets of folders.
const maxSearched = 64

// InSystemFolder reports whether a program is in a folder of the system.
func InSystemFolder(file string) bool {
	return wordset.HasAnyPrefix(file, "/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/") && path.Clean(file) == file
}
