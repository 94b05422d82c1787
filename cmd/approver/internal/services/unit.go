package services

import (
	"os"
	"path/filepath"
)

// Flag is the flag that means this unit, with a space in front.
func (u Unit) Flag() string {
	if u.User {
		return " --user"
	}
	return ""
}

// Enabled reports whether a target wants the unit: systemctl enable makes a link
// beside it.
func Enabled(path string, u Unit) bool {
	target := "multi-user.target.wants"
	if u.User {
		target = "default.target.wants"
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), target, filepath.Base(path)))
	return err == nil
}
