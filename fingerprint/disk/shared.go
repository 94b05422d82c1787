package disk

import (
	"io/fs"
	"sync"
)

// Shared is the cache that all calls share. Its entries are valid as long as the versions of files and
// folders. The zero value is ready to use, by several goroutines.
type Shared struct {
	mu       sync.Mutex
	cache    map[string]string       // version → hash
	searches map[string]PathContents // versions of the folders of a PATH → their contents
	Syncing  int                     // running syncs of disks

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
