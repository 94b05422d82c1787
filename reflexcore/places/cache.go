package places

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"approver.example/reflexcore/content"
)

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
