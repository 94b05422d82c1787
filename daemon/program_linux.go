package daemon

import (
	"debug/elf"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dropProgram unmaps the pages of the program's own code and constants. What is needed again comes from the
// page cache, in a microsecond for some pages at once. The start reads most of the tables once, so without this
// some 20 MB of them would count as in use for as long as the daemon runs, and be the last to be reclaimed. If
// it fails, they stay.
func dropProgram() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil || !isFixed(self) {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		field := strings.Fields(line)
		if len(field) != 6 || field[5] != self || field[1] != "r-xp" && field[1] != "r--p" {
			continue
		}
		first, last, _ := strings.Cut(field[0], "-")
		from, err := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(last, 16, 64)
		if err == nil && err2 == nil {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(from), uintptr(to-from), syscall.MADV_DONTNEED)
		}
	}
}

// isFixed reports whether a program has the addresses that it was linked for. Of any other one, the loader
// has written into pages of constants, and the file does not have what they are now.
func isFixed(program string) bool {
	f, err := elf.Open(program)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Type == elf.ET_EXEC
}
