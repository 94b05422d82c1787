package audit

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the one that it replaces, so that what root
// writes can still be read by the daemon. Nil is of no file.
func keepOwner(path string, like fs.FileInfo) error {
	if like == nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	was, ok := like.Sys().(*syscall.Stat_t)
	is, okNow := info.Sys().(*syscall.Stat_t)
	if !ok || !okNow || was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	if err := os.Chown(path, int(was.Uid), int(was.Gid)); err != nil {
		return fmt.Errorf("%s belongs to uid %d: run this as that user, or as root: %w", like.Name(), was.Uid, err)
	}
	return nil
}
