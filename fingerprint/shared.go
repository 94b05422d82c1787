package fingerprint

import (
	"io/fs"
	"sync"
)

// shared is what the calls of a [Binder] have in common: what was read before and holds as long as
// the kernel says that nothing changed.
type shared struct {
	mu       sync.Mutex
	cache    map[string]string       // version → hash
	searches map[string]pathContents // versions of the folders of a PATH → what is in them
	syncing  int                     // disks that are being brought up to date

	stat func(string) (fs.FileInfo, error) // for tests; nil is os.Stat
}
