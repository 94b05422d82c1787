// Package places says what a path or a URL is, as far as rules care: by its words, and by
// the folders in which a call works.
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

// A Place is what a path or a URL is, as far as rules care. Places add up.
type Place uint64

// The places of paths; those of package content follow, then those of URLs.
const (
	Root        Place = 1 << iota // the whole file system, or what may be it
	System                        // the operating system's folders
	Top                           // a folder without which a machine is gone, or a whole home
	Home                          // somewhere below the home
	Project                       // below the working directory
	Whole                         // the working directory itself, all of it, or a folder above it
	Temp                          // temporary files
	Build                         // what builds make: output, caches, dependencies
	Device                        // a disk or another device
	Git                           // a repository's own files
	Unclear                       // the path is not known
	Outside                       // none of project, temp
	Secret                        // a credential
	Recoverable                   // version control has all of it
	Feature                       // a branch on which others do not build
	Content
)

// URL is the first of the flags of package urls; Content the first of the kinds of package
// content: shift it by a kind.
const URL = Content << 17

// byName are the words of rules for places.
var byName = func() map[string]Place {
	m := map[string]Place{
		"root": Root, "system": System, "top": Top, "home": Home, "project": Project, "whole": Whole, "temp": Temp,
		"build-output": Build, "device": Device, "git": Git,
		"unknown": Unclear, "outside": Outside, "secret": Secret, "recoverable": Recoverable, "feature-branch": Feature,
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

// urlNames are the words for the flags of package urls, in their order.
var urlNames = []string{
	"malformed", "unknown-host", "unknown-part", "credentials", "metadata", "internal", "loopback", "drop", "raw-code",
	"secret-query", "secret-path", "long-label", "odd-port", "disguised",
	"lookalike", "local-file", "code-url", "odd-scheme", "plaintext", "address",
}

// Names returns the words for places, sorted.
func Names() []string { return slices.Sorted(maps.Keys(byName)) }

// Named is the place that a word stands for.
func Named(word string) (Place, bool) {
	p, ok := byName[word]
	return p, ok
}

// Names are the words for places, sorted.
func (p Place) Names() []string {
	var out []string
	for _, name := range Names() {
		if bit := byName[name]; p&bit != 0 {
			out = append(out, name)
		}
	}
	return out
}

// A Cache remembers what paths with wildcards or unknown parts are: to find out
// takes ten times as long as for other paths, and one command names the same path
// several times. It can be shared; what it forgets is found out again.
type Cache struct {
	seed  maphash.Seed
	slots [256]atomic.Pointer[remembered]
}

type remembered struct {
	path string
	sink content.Sink
}

// maxRemembered is the longest path that is kept.
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
