package daemon

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// serve said twice in one line what helps.
func TestACureIsSaidOnce(t *testing.T) {
	err := diskCure(&fs.PathError{Op: "write", Path: "/proc", Err: fs.ErrPermission})
	if again := diskCure(errors.Join(err)); again.Error() != err.Error() ||
		strings.Count(again.Error(), "give it the place") != 1 {
		t.Errorf("%v", again)
	}
}
