package seat

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process reads /proc/PID/stat: the parent, and the device number of the controlling terminal, or zero.
func process(pid int32) (parent int32, terminal uint64, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	// The name of the program, in brackets, can have any characters.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 5 {
		return 0, 0, false
	}
	up, err := strconv.ParseInt(string(fields[1]), 10, 32)
	if err != nil {
		return 0, 0, false
	}
	device, err := strconv.ParseInt(string(fields[4]), 10, 32)
	return int32(up), uint64(uint32(device)), err == nil //nolint:gosec // the kernel prints it signed
}

// lastRead returns when something was last read from a terminal. Only pseudo terminals, which all
// windows and connections are, and virtual consoles are found.
func lastRead(device uint64) (at time.Time, ok bool) {
	for _, path := range []string{
		fmt.Sprintf("/dev/pts/%d", minor(device)), fmt.Sprintf("/dev/tty%d", unix.Minor(device)),
	} {
		var st syscall.Stat_t
		if syscall.Stat(path, &st) == nil && st.Rdev == device && st.Mode&syscall.S_IFMT == syscall.S_IFCHR {
			return time.Unix(st.Atim.Unix()), true
		}
	}
	return time.Time{}, false
}

// firstPts is the first of the eight major numbers of pseudo terminals.
const firstPts = 136

// minor is the number of a pseudo terminal.
func minor(device uint64) uint32 {
	return (unix.Major(device)-firstPts)<<8 + unix.Minor(device)
}
