// Package socketpath says, for both the daemon and the courier,
// where the sockets are and who must own them.
//
// # Where
//
// If the folder /run/approver exists, both sockets are in it and nowhere else:
// the installer of an isolated daemon makes it. Otherwise they are in
// ~/.approver/run. No environment variable other than HOME is used, so that
// daemon and agent, started in different ways, agree.
//
// # Who
//
// A socket is trusted if its listener is root, the caller itself, or the owner
// of its folder, and if nobody else can write to that folder;
// see [Trust]. If the agent must not be able to impersonate the daemon, the
// file /etc/approver/courier, which only root can write, pins path and uid; see
// [ReadPin].
//
// The package is part of the courier, so it imports next to nothing.
package socketpath

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Names of the places.
const (
	SystemDir = "/run/approver"
	HomeDir   = ".approver/run" // under the home folder
	Submit    = "submit.sock"   // agents ask here
	Resolve   = "resolve.sock"  // people answer here
	PinFile   = "/etc/approver/courier"
)

// MaxLength is the maximum length of a socket's path in bytes, which is the system's
// limit.
const MaxLength = len(syscall.RawSockaddrUnix{}.Path) - 1

// Dir returns the default folder of the sockets for a user with this home folder.
func Dir(home string) (string, error) { return dir(SystemDir, home) }

func dir(system, home string) (string, error) {
	// Any error other than "not there", and anything other than a folder, is
	// left for the caller to find: falling back to home would let whoever caused
	// it choose the folder.
	if _, err := os.Lstat(system); !errors.Is(err, os.ErrNotExist) {
		return system, nil
	}
	if !strings.HasPrefix(home, "/") {
		return "", errors.New("no socket: " + system +
			" does not exist and HOME is not an absolute path; name the socket with --socket")
	}
	return strings.TrimRight(home, "/") + "/" + HomeDir, nil
}

// Check returns an error if a path cannot be that of a socket.
func Check(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return errors.New("the socket " + strconv.Quote(path) + " is not an absolute path")
	case strings.IndexByte(path, 0) >= 0:
		return errors.New("the socket " + strconv.Quote(path) + " contains a NUL")
	case len(path) > MaxLength:
		return errors.New("the socket " + path + " is longer than the " + strconv.Itoa(MaxLength) +
			" bytes that the system allows: choose a shorter folder")
	}
	return nil
}

// Folder returns the folder of a socket.
func Folder(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/"
	}
	return path[:i]
}

// Trust returns an error unless the process that listens on the socket may do so. Its
// uid must come from the kernel.
func Trust(path string, uid uint32) error {
	folder := Folder(path)
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.IsDir():
		return errors.New(folder + " is not a folder")
	case info.Mode().Perm()&0o022 != 0:
		return errors.New("the folder " + folder + " can be written by others (mode " + info.Mode().Perm().String() +
			"): run chmod go-w on it")
	case uid == 0 || uid == uint32(os.Geteuid()) || uid == st.Uid:
		return nil
	}
	return errors.New("the listener on " + path + " runs as uid " + utoa(uid) +
		", which is neither root, nor you, nor the owner of the folder")
}

// A Pin says which socket a courier must use and which uid must listen there.
type Pin struct {
	Socket string
	UID    uint32
}

// ReadPin reads a pin. If there is no such file, ok is false, and any socket that [Trust]
// allows may be used. The file has two lines, "socket PATH" and "uid NUMBER". It must belong
// to owner, which is root except in tests, and be writable by nobody else.
func ReadPin(file string, owner uint32) (pin Pin, ok bool, err error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return Pin{}, false, nil
	}
	if err != nil {
		return Pin{}, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Pin{}, false, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.Mode().IsRegular() || st.Uid != owner ||
		info.Mode().Perm()&0o022 != 0 {
		return Pin{}, false, errors.New(file + " must be a file of root that nobody else can write")
	}
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return Pin{}, false, err
	}
	if pin, ok = parsePin(string(text)); !ok {
		return Pin{}, false, errors.New(file + " must have two lines: socket PATH, and uid NUMBER")
	}
	return pin, true, Check(pin.Socket)
}

func parsePin(text string) (Pin, bool) {
	first, rest, _ := strings.Cut(text, "\n")
	second, rest, _ := strings.Cut(rest, "\n")
	path, ok := strings.CutPrefix(first, "socket ")
	if !ok || rest != "" {
		return Pin{}, false
	}
	number, ok := strings.CutPrefix(second, "uid ")
	if !ok {
		return Pin{}, false
	}
	uid, err := strconv.ParseUint(number, 10, 32)
	return Pin{Socket: path, UID: uint32(uid)}, err == nil
}

func utoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
