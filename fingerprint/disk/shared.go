package disk

import (
	"io/fs"
	"sync"
)

// Shared is what the calls of a [Binder] have in common: what was read before and holds as long as
// the kernel says that nothing changed.
type Shared struct {
	mu       sync.Mutex
	cache    map[string]string       // version → hash
	searches map[string]PathContents // versions of the folders of a PATH → what is in them
	Syncing  int                     // disks that are being brought up to date

	Stat func(string) (fs.FileInfo, error) // for tests; nil is os.Stat
}
