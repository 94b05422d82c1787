// Package peercred asks the kernel which process is at the other end of a local socket.
// On systems where it cannot, it returns an error.
package peercred

// Cred is the identity of a process when it connected, or when it began to
// listen.
type Cred struct {
	UID, GID uint32
	PID      int32 // 0 if the kernel does not say
}
