package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"approver.example/daemon/safefile"
)

// A change that fails leaves nothing beside the file: no copy, and no half of it.
func TestAChangeThatFailsLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		as    int // the user
		want  string
	}{
		"another's file in a folder for everybody": {func(t *testing.T, path string) {
			t.Helper()
			err := os.Chmod(path, 0o666)                                                  //nolint:gosec // it is the case
			if err := errors.Join(err, os.Chmod(filepath.Dir(path), 0o777)); err != nil { //nolint:gosec // it is the case
				t.Fatal(err)
			}
		}, 61007, "the owner and group of the file cannot be kept"},
		"a file that cannot be replaced": {immutable, 0, "operation not permitted"},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Getuid() != 0 {
				t.Skip("only root can make that")
			}
			dir, err := os.MkdirTemp("", "safefile")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			path := filepath.Join(dir, "settings.json")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, path)
			as(c.as, func() {
				_, _, err = safefile.ChangeFile(path, func([]byte) ([]byte, error) { return []byte("new"), nil })
				err = errors.Join(err, safefile.Restore(path, []byte("new")))
			})
			if err == nil || strings.Count(err.Error(), c.want) != 2 {
				t.Errorf("%v", err)
			}
			entries, err := os.ReadDir(dir)
			text, readErr := os.ReadFile(path)
			if err != nil || readErr != nil || len(entries) != 1 || string(text) != "old" {
				t.Errorf("%v; %q; %v, %v", entries, text, err, readErr)
			}
		})
	}
}

// as calls a function as another user, in a thread that ends with it.
func as(uid int, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked
		if uid != 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0)
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETRESGID, uintptr(uid), uintptr(uid), uintptr(uid))
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid))
		}
		do()
	}()
	<-done
}

// immutable keeps a file from being replaced, also by root.
func immutable(t *testing.T, path string) {
	t.Helper()
	const get, set, flag = 0x80086601, 0x40086602, 0x10 // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_IMMUTABLE_FL
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	flags := 0
	call := func(what uintptr) error {
		if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), what, uintptr(unsafe.Pointer(&flags))); no != 0 {
			return no
		}
		return nil
	}
	err = call(get)
	if flags |= flag; err == nil {
		err = call(set)
	}
	if err != nil {
		t.Skip("this file system has no such files: ", err)
	}
	t.Cleanup(func() {
		if flags &^= flag; call(set) != nil {
			t.Error("it stays immutable: ", path)
		}
	})
}
