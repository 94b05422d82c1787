package daemon

import (
	"errors"
	"fmt"
)

// closing closes a part and joins its error to that of the whole.
func closing(err *error, name string, f func() error) {
	if closeErr := f(); closeErr != nil {
		*err = errors.Join(*err, fmt.Errorf("close the %s: %w", name, closeErr))
	}
}
