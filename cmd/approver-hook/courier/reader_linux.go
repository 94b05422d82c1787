package courier

import (
	"syscall"
	"unsafe"
)

// hungUp polls a file without waiting, and reports whether its other end is closed.
func hungUp(fd uintptr) bool {
	p := pollFD{fd: int32(fd)}
	var now syscall.Timespec
	n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&now)), 0, 0,
		0)
	return errno == 0 && n == 1 && p.over()
}
