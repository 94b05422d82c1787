// Package asuser lets a command run checks as the daemon's user, because what that user may
// read and write is what matters to the daemon. Root may do everything, and other users little.
package asuser

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"approver.example/daemon/hookfiles"
)

// SameFile reports whether two paths lead to the same file.
func SameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// RunsAs returns the uid that the daemon runs as: this user's, or for root the owner of the
// daemon's data.
func RunsAs(dir string) uint32 {
	own := uint32(os.Geteuid())
	if owner, err := OwnerOf(dir); own == 0 && err == nil {
		return owner
	}
	return own
}

// Become makes this process permanently run as another user, if it is root's. of is a file of
// that user, whose group is used if the system has no account for the uid.
func Become(uid uint32, of string) error {
	if os.Geteuid() != 0 || uid == 0 {
		return nil
	}
	gid, groups, home := groupOf(of), []int{}, "/"
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		if gid, err = strconv.Atoi(u.Gid); err != nil {
			return fmt.Errorf("the group of uid %d: %w", uid, err)
		}
		ids, err := u.GroupIds()
		if err != nil {
			return fmt.Errorf("the groups of uid %d: %w", uid, err)
		}
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil {
				groups = append(groups, n)
			}
		}
		home = u.HomeDir
	}
	err := errors.Join(syscall.Setgroups(groups), syscall.Setgid(gid), syscall.Setuid(int(uid)), os.Setenv("HOME", home))
	if err != nil {
		return fmt.Errorf("cannot look as uid %d: %w: run it as that user", uid, err)
	}
	if dir, err := os.Getwd(); err != nil || syscall.Access(dir, 1) != nil {
		return os.Chdir("/") // leave a folder that this user could not be in
	}
	return nil
}

// groupOf returns the group of a file, or that of nobody if it is unknown or root's.
func groupOf(path string) int {
	info, err := os.Stat(path)
	if err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Gid != 0 {
			return int(st.Gid)
		}
	}
	return hookfiles.Nobody
}

// OwnerOf returns the uid of the owner of a file or folder.
func OwnerOf(path string) (uint32, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("the owner of %s is not known", path)
	}
	return st.Uid, nil
}
