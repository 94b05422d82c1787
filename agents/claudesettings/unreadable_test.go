package claudesettings

import (
	"io/fs"
	"strings"
	"testing"
)

// The managed settings that held the hooks of a whole machine could not be read, and the cure
// said "or remove it": whoever did that had no hook left. That is said only of files in which
// none of approver's can stand.
func TestNobodyIsToldToRemoveTheHooks(t *testing.T) {
	for _, tt := range []struct {
		place  Place
		want   Want
		remove bool
	}{
		{Managed, Want{}, false},
		{Managed, Want{In: "/f"}, false},
		{Managed, Want{In: "/other"}, false},
		{User, Want{}, false},
		{User, Want{In: "/f"}, false},
		{Local, Want{In: "/f"}, false},
		{Local, Want{Anywhere: true}, false},
		{Local, Want{In: "/other"}, true},
		{Local, Want{}, true},
	} {
		fix := unreadable(Source{Place: tt.place, Path: "/f"}, tt.want, fs.ErrPermission).Fix
		if strings.Contains(fix, "remove") != tt.remove || !strings.Contains(fix, "make /f readable") {
			t.Errorf("%v %+v: %s", tt.place, tt.want, fix)
		}
	}
}
