package peercred

import "golang.org/x/sys/unix"

// Of returns the credentials of the peer of the connected local socket fd.
func Of(fd int) (Cred, error) {
	x, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return Cred{}, err
	}
	if x.Version != 0 || x.Ngroups < 1 {
		return Cred{}, unix.EINVAL
	}
	c := Cred{UID: x.Uid, GID: x.Groups[0]}
	if pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID); err == nil {
		c.PID = int32(pid)
	}
	return c, nil
}
