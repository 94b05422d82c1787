package claudesettings

import (
	"io/fs"
	"strings"
	"testing"

	"approver.example/agents/settings"
)

// The managed settings that held the hooks of a whole machine could not be read, and the cure
// said "or remove it": whoever did that had no hook left. That is said only of files in which
// none of approver's can stand.
func TestNobodyIsToldToRemoveTheHooks(t *testing.T) {
	for _, tt := range []struct {
		place  settings.Place
		want   settings.Want
		remove bool
	}{
		{settings.Managed, settings.Want{}, false},
		{settings.Managed, settings.Want{In: "/f"}, false},
		{settings.Managed, settings.Want{In: "/other"}, false},
		{settings.User, settings.Want{}, false},
		{settings.User, settings.Want{In: "/f"}, false},
		{settings.Local, settings.Want{In: "/f"}, false},
		{settings.Local, settings.Want{Anywhere: true}, false},
		{settings.Local, settings.Want{In: "/other"}, true},
		{settings.Local, settings.Want{}, true},
	} {
		fix := unreadable(settings.Source{Place: tt.place, Path: "/f"}, tt.want, fs.ErrPermission).Fix
		if strings.Contains(fix, "remove") != tt.remove || !strings.Contains(fix, "make /f readable") {
			t.Errorf("%v %+v: %s", tt.place, tt.want, fix)
		}
	}
}
