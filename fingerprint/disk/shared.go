package disk

import (
	"io/fs"
	"sync"
)

// Shared is the cache that all calls share. Its entries are valid as long as the versions of files and
// folders. The zero value is ready to use, by several goroutines.
type Shared struct {
	hashes   Cache[string]       // by version
	searches Cache[PathContents] // by the versions of the folders of a PATH

	mu      sync.Mutex
	Syncing int // under mu: running syncs of disks

	Stat func(string) (fs.FileInfo, error) // for tests; nil is os.Stat
}

// A PathContents lists the files in the folders of a PATH that an agent can write to.
type PathContents struct {
	Before []string // files with the name of one in a later folder
	Dirs   []Folder // in the order of PATH
}

// A Folder is a folder of PATH that an agent can write to.
type Folder struct {
	Path  string
	Names []string
}

// A Cache keeps values by versions, for all calls. The zero value is ready to use, by several
// goroutines.
type Cache[V any] struct {
	mu     sync.Mutex
	values map[string]V
}

// Get returns the value of a version.
func (c *Cache[V]) Get(version string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok := c.values[version]
	return value, ok
}

// Put keeps a value. If there are most values already, they are dropped.
func (c *Cache[V]) Put(version string, value V, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= most {
		c.values = map[string]V{}
	}
	c.values[version] = value
}
