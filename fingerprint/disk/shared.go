package disk

import (
	"io/fs"
	"sync"
)

// Shared is what all calls have in common: what was read before and holds as long as the kernel says
// that nothing changed. Its zero value can be used, by several goroutines.
type Shared struct {
	mu       sync.Mutex
	cache    map[string]string       // version → hash
	searches map[string]PathContents // versions of the folders of a PATH → what is in them
	Syncing  int                     // disks that are being brought up to date

	Stat func(string) (fs.FileInfo, error) // for tests; nil is os.Stat
}

// A PathContents is what the folders of a PATH have that an agent can put there.
type PathContents struct {
	Before []string // files with the name of one in a later folder
	Dirs   []Folder // in the order of PATH
}

// A Folder is a folder of PATH that an agent can write to.
type Folder struct {
	Path  string
	Names []string
}
