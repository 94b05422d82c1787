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
)

// MaxSettings bounds what is read of a file, in bytes. The file in which Claude Code keeps its
// notes grows.
const MaxSettings = 32 << 20

// ChangeFile replaces a file atomically and keeps a backup beside it. change gets no text if
// there is no file. ChangeFile returns the name of the backup, or "" if nothing changed or
// there was no file.
func ChangeFile(path string, change func([]byte) ([]byte, error)) (backup string, changed bool, err error) {
	if path, err = RealFile(path); err != nil {
		return "", false, err
	}
	old, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return "", false, err
	}
	text, err := change(old)
	if err != nil || bytes.Equal(text, old) {
		return "", false, err
	}
	mode, owned := fs.FileMode(0o600), func(string) error { return nil }
	if !missing {
		info, err := os.Stat(path)
		if err != nil {
			return "", false, err
		}
		mode, owned = info.Mode().Perm(), OwnedAs(info)
		backup = path + backupMark + time.Now().UTC().Format("20060102T150405.000000")
		if err := errors.Join(WriteNew(backup, old, mode), owned(backup)); err != nil {
			return "", false, fmt.Errorf("the backup: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", false, err
	}
	next := path + ".approver-new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if err := errors.Join(WriteNew(next, text, mode), owned(next)); err != nil {
		return "", false, err
	}
	return backup, true, os.Rename(next, path)
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

// backupMark separates the name of a file from the time of its backup.
const backupMark = ".before-approver-"

// A Backup is the state of a file before a change.
type Backup struct {
	path string
	Text []byte
	Mode fs.FileMode
}

// BackupsOf returns the backups of a file, the newest first. Those that cannot be read are
// left out.
func BackupsOf(path string) (all []Backup) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(entries) { // sorted by name, and so by time
		if !strings.HasPrefix(e.Name(), filepath.Base(path)+backupMark) || !e.Type().IsRegular() {
			continue
		}
		at := filepath.Join(filepath.Dir(path), e.Name())
		info, err := e.Info()
		if err != nil || info.Size() > MaxSettings {
			continue
		}
		if text, err := os.ReadFile(at); err == nil {
			all = append(all, Backup{at, text, info.Mode().Perm()})
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
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
