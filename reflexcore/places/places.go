// Package places classifies paths and URLs for rules, by their text and by the folders in which a
// call works.
//
// Read places.go, then paths.go.
package places

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"approver.example/reflexcore/content"
)

// A Place classifies a path or a URL. Places are bits.
type Place uint64

// The places of paths. Those of package content follow, then those of URLs.
const (
	Root        Place = 1 << iota // the whole file system, or possibly that
	System                        // the operating system's folders
	Top                           // a folder without which a machine or a home is lost
	Home                          // somewhere below the home
	Project                       // below the working directory
	Whole                         // the working directory itself, all of it, or a folder above it
	Temp                          // temporary files
	Build                         // what builds make: output, caches, dependencies
	Device                        // a disk or another device
	Git                           // a repository's own files
	Unclear                       // the path is not known
	Outside                       // neither project nor temp
	Secret                        // a credential
	Recoverable                   // version control has all of it
	Feature                       // a branch that is not shared
	Content
)

// URL is the first flag of package urls. Content is the first kind of package content, which is
// shifted by the kind.
const URL = Content << 17

// Foreign is a host that the project does not name. Only what is much at once is asked about.
const Foreign = URL << 24

// Container is what is gone with the container in which the call runs.
const Container = Foreign << 1

// What version control says of a single file, and Local: a name below /usr/local that is not there yet
// and stands in the way of nothing.
const (
	Changed   = Container << (1 + iota) // tracked, with changes that are in no commit
	Untracked                           // nothing has it, and nothing ignores it
	Local
)

// Plain is a start-up file of a shell to which only the folders of installed tools are added, or a hook that only
// runs tools of the project.
const Plain = Local << 1

// Kept is a credential of the project that is only copied or moved to another one of its credentials.
const Kept = Plain << 1

// byName maps the words of rules to places.
var byName = func() map[string]Place {
	m := map[string]Place{
		"root": Root, "system": System, "top": Top, "home": Home, "project": Project, "whole": Whole, "temp": Temp,
		"build-output": Build, "device": Device, "git": Git,
		"unknown": Unclear, "outside": Outside, "secret": Secret, "recoverable": Recoverable, "feature-branch": Feature,
		"foreign": Foreign, "container": Container, "changed": Changed, "untracked": Untracked, "local": Local,
		"plain-startup": Plain, "kept": Kept,
	}
	for _, k := range content.Kinds() {
		if k != content.Unclear && k != content.Plain {
			m[k.String()] |= Content << k
		}
	}
	for i, name := range urlNames {
		m[name] = URL << i
	}
	return m
}()

// urlNames are the words for the flags of package urls, in order.
var urlNames = []string{
	"malformed", "unknown-host", "unknown-part", "credentials", "metadata", "internal", "loopback", "drop", "raw-code",
	"secret-query", "secret-path", "long-label", "odd-port", "disguised",
	"lookalike", "local-file", "code-url", "odd-scheme", "plaintext", "address", "packages",
	"access-url", "unknown-label",
}

// Names returns the words for places, sorted.
func Names() []string { return slices.Sorted(maps.Keys(byName)) }

// Named returns the place with a name.
func Named(word string) (Place, bool) {
	p, ok := byName[word]
	return p, ok
}

// Names returns the names of the places, sorted.
func (p Place) Names() []string {
	var out []string
	for _, name := range Names() {
		if bit := byName[name]; p&bit != 0 {
			out = append(out, name)
		}
	}
	return out
}

// A Cache remembers the places of paths with wildcards or unknown parts, which take ten times longer
// than other paths; one command often names the same path several times. It is safe for concurrent
// use.
type Cache struct {
	seed  maphash.Seed
	slots [256]atomic.Pointer[remembered]
}

type remembered struct {
	path string
	sink content.Sink
}

// maxRemembered is the longest path in a cache.
const maxRemembered = 256

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{seed: maphash.MakeSeed()} }

// Classify is [content.Classify].
func (m *Cache) Classify(path string) content.Sink {
	if len(path) > maxRemembered || !strings.ContainsAny(path, "*?[{\x00") {
		return content.Classify(path)
	}
	slot := &m.slots[maphash.String(m.seed, path)%uint64(len(m.slots))]
	if r := slot.Load(); r != nil && r.path == path {
		return r.sink
	}
	sink := content.Classify(path)
	slot.Store(&remembered{strings.Clone(path), sink})
	return sink
}

// Secret reports whether a path holds a credential.
func (m *Cache) Secret(path string) bool { return m.Classify(path).Secret }
