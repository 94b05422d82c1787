//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package audit

import (
	"errors"
	"fmt"
	"os"
)

// lockFile refuses: without a lock two processes could write one log.
func lockFile(path string) (*os.File, error) {
	return nil, fmt.Errorf("lock %s: %w on this system", path, errors.ErrUnsupported)
}
