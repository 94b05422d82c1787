package sqlitestore

import "golang.org/x/sys/unix"

// setLock locks for an open file.
const setLock = unix.F_OFD_SETLK
