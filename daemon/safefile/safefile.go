// Package safefile changes files that belong to other programs, such as an agent's settings:
// completely or not at all, with a backup, and without changing their owner.
package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"approver.example/internal/regular"
)

// MaxSettings bounds what is read of a file, in bytes. The file in which Claude Code keeps its
// notes grows.
const MaxSettings = 32 << 20

// Read returns the text of a file, also behind links; nil if there is no file. What is no file, or
// longer than MaxSettings, is an error.
func Read(path string) ([]byte, error) {
	if _, err := RealFile(path); err != nil {
		return nil, err
	}
	text, err := regular.Read(path, MaxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, inFile(path, err)
	}
	return text, err
}

// inFile is the error for a path below a file.
func inFile(path string, err error) error {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, stat := os.Stat(dir); stat == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file and not a folder: move it away", dir)
		}
	}
	return err
}

// ChangeFile replaces a file atomically and keeps a backup beside it. change gets no text if
// there is no file. ChangeFile returns the name of the backup, or "" if nothing changed or
// there was no file.
func ChangeFile(path string, change func([]byte) ([]byte, error)) (backup string, changed bool, err error) {
	return ChangeOrMake(path, 0o600, change)
}

// ChangeOrMake is ChangeFile with the mode of a new file.
func ChangeOrMake(
	path string, fresh fs.FileMode, change func([]byte) ([]byte, error),
) (backup string, changed bool, err error) {
	old, err := Read(path)
	if err != nil {
		return "", false, err
	}
	if path, err = RealFile(path); err != nil {
		return "", false, err
	}
	text, err := change(old)
	if err != nil || bytes.Equal(text, old) {
		return "", false, err
	}
	if old == nil {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", false, err
		}
		return "", true, replace(path, text, fresh, nil)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", false, err
	}
	backup = path + backupMark + time.Now().UTC().Format("20060102T150405.000000")
	if err := makeNew(backup, old, info.Mode().Perm(), info); err != nil {
		return "", false, fmt.Errorf("the backup: %w", err)
	}
	if err := replace(path, text, info.Mode().Perm(), info); err != nil {
		return "", false, errors.Join(err, os.Remove(backup))
	}
	return backup, true, nil
}

// Restore gives a file that is there another text, and keeps no backup.
func Restore(path string, text []byte) error {
	path, err := RealFile(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return replace(path, text, info.Mode().Perm(), info)
}

// replace puts a text in the place of a file, or makes the file. of is whose the file is; nil means
// this process's.
func replace(path string, text []byte, mode fs.FileMode, of fs.FileInfo) error {
	next, err := temporary(path, text, mode, of)
	if err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return nil
}

// RealFile follows links, so that a link into a repository of dotfiles stays a link. A
// dangling link is an error: replacing it would lose it, and somebody else may have chosen its
// target.
func RealFile(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if to, linkErr := os.Readlink(path); linkErr == nil {
		return "", fmt.Errorf("%s is a link to %s, which cannot be followed (%w): make that file, or remove the link; "+
			"nothing was changed", path, to, err)
	}
	return path, nil
}

// IsLink reports whether a path itself is a link, and not only a folder above it.
func IsLink(path string) bool {
	_, err := os.Readlink(path)
	return err == nil
}

const (
	// backupMark separates the name of a file from the time of its backup.
	backupMark = ".before-approver-"
	// temporaryMark separates the name of a file from what a text has while it is written.
	temporaryMark = ".approver-new"
)

// A Backup is the state of a file before a change.
type Backup struct {
	path string
	Text []byte
	Mode fs.FileMode
}

// Remove removes the backup.
func (b Backup) Remove() error { return os.Remove(b.path) }

// BackupsOf returns the backups of a file, the newest first. Those that cannot be read are
// left out.
func BackupsOf(path string) (all []Backup) {
	for _, at := range slices.Backward(beside(path, backupMark)) { // sorted by name, and so by time
		info, err := os.Lstat(at)
		if err != nil || strings.Contains(at[len(path):], temporaryMark) {
			continue
		}
		if text, err := regular.Read(at, MaxSettings); err == nil {
			all = append(all, Backup{at, text, info.Mode().Perm()})
		}
	}
	return all
}

// RemoveTemporary removes what a process that was killed while it changed a file left beside it.
func RemoveTemporary(path string) (err error) {
	for _, mark := range []string{temporaryMark, backupMark} {
		for _, at := range beside(path, mark) {
			if strings.Contains(at[len(path):], temporaryMark) {
				err = errors.Join(err, os.Remove(at))
			}
		}
	}
	return err
}

// beside returns the regular files with the name of a file and this mark behind it, sorted.
func beside(path, mark string) (all []string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+mark) && e.Type().IsRegular() {
			all = append(all, path+strings.TrimPrefix(e.Name(), filepath.Base(path)))
		}
	}
	return all
}

// OwnedAs returns a function that gives a file the same owner and group as another: whoever
// could read that one must be able to read its replacement.
func OwnedAs(info fs.FileInfo) func(path string) error {
	return func(path string) error {
		was, ok := info.Sys().(*syscall.Stat_t)
		now, err := os.Stat(path)
		if err != nil || !ok {
			return err
		}
		is, ok := now.Sys().(*syscall.Stat_t)
		if ok && is.Uid == was.Uid && is.Gid == was.Gid {
			return nil
		}
		return os.Chown(path, int(was.Uid), int(was.Gid))
	}
}

// WriteNew writes a file that must not exist yet, completely or not at all: half a file, as a
// full disk leaves it, would block the next attempt.
func WriteNew(path string, text []byte, mode fs.FileMode) error {
	return makeNew(path, text, mode, nil)
}

// makeNew is WriteNew with the owner of another file; nil means this process's.
func makeNew(path string, text []byte, mode fs.FileMode, of fs.FileInfo) error {
	whole, err := temporary(path, text, mode, of)
	if err != nil {
		return err
	}
	return errors.Join(os.Link(whole, path), os.Remove(whole))
}

// temporary writes a text beside a path, completely or not at all, and returns its name.
func temporary(path string, text []byte, mode fs.FileMode, of fs.FileInfo) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+temporaryMark+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil && of != nil {
		if err = OwnedAs(of)(f.Name()); errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("the owner and group of the file cannot be kept: %w: do this as its owner, or as root", err)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
