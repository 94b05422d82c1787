package adminclient

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user who may not connect was told to name a socket that refuses them, too. Now they
// are told who may.
func TestOutsidersAreToldWhoMayLook(t *testing.T) {
	denied := fmt.Errorf("connect: %w", fs.ErrPermission)
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.WriteFile(closed, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 { // root may everything
		if text := Outsider(denied, closed).Error(); !strings.Contains(text, "may not look at the daemon or steer it") ||
			strings.Contains(text, "--socket") {
			t.Error(text)
		}
	}
	if text := Outsider(denied, filepath.Join(t.TempDir(), "none")).Error(); !strings.Contains(text,
		"name the daemon's socket instead") {
		t.Error(text)
	}
	if !errors.Is(Outsider(denied, closed), fs.ErrPermission) {
		t.Error("the cause is lost")
	}
}
