package courier

import (
	"syscall"
	"unsafe"
)

// hungUp polls a file without waiting, and reports whether its other end is closed.
func hungUp(fd uintptr) bool {
	p := pollFD{fd: int32(fd)}
	n, _, errno := syscall.Syscall(syscall.SYS_POLL, uintptr(unsafe.Pointer(&p)), 1, 0)
	return errno == 0 && n == 1 && p.over()
}
