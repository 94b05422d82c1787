package sqlitestore

// setLock locks for an open file: F_OFD_SETLK of sys/fcntl.h.
const setLock = 90
