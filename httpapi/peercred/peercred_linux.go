package peercred

import "syscall"

// Of returns the credentials of the peer of the connected local socket fd.
func Of(fd int) (Cred, error) {
	c, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return Cred{}, err
	}
	if c.Uid == ^uint32(0) { // the kernel's value for "not connected"
		return Cred{}, syscall.ENOTCONN
	}
	return Cred{UID: c.Uid, GID: c.Gid, PID: c.Pid}, nil
}
