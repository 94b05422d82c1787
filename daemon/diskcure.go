package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// diskCure says what helps against an error of the disk, which by itself names
// only the place. What is said already is not said twice.
func diskCure(err error) error {
	cure := ""
	switch {
	case errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "make room"):
		cure = "the disk is full: make room there, then start again"
	case errors.Is(err, syscall.EROFS):
		cure = "the daemon has to write there: mount it writable, or name another place in the configuration"
	case errors.Is(err, fs.ErrPermission):
		cure = fmt.Sprintf("the daemon runs as uid %d: give it the place, or name another in the configuration", os.Geteuid())
	}
	if cure == "" || strings.Contains(err.Error(), cure) {
		return err
	}
	return fmt.Errorf("%w: %s", err, cure)
}
