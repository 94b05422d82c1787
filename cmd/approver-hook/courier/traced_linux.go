package courier

import (
	"errors"
	"strings"
	"syscall"
)

// tasks is the folder in which the kernel lists this process's threads.
const tasks = "/proc/self/task"

// traced returns an error if a debugger is attached to a thread of this process, or if that
// cannot be determined. A debugger that was attached before the program began stays attached,
// whatever the program does to keep others out, and can change its output and exit code.
//
// This is no proof: a tracer can also change what is read here. It stops tracers that do not go
// to that trouble, and it tells everybody else why their calls are stopped.
//
// It makes its own system calls: package os would register each file with its poller, which
// takes longer than the whole check.
func traced(dir string) error {
	buf := make([]byte, 8<<10)
	n, err := readAt(dir, buf, syscall.ReadDirent)
	if err != nil {
		return errUnseen
	}
	_, _, threads := syscall.ParseDirent(buf[:n], -1, nil)
	if len(threads) == 0 {
		return errUnseen
	}
	for _, thread := range threads {
		if err := tracedIn(dir+"/"+thread+"/status", buf); err != nil && !errors.Is(err, syscall.ENOENT) &&
			!errors.Is(err, syscall.ESRCH) {
			return err // otherwise the thread has ended
		}
	}
	return nil
}

// tracedFirst is traced for the first thread only: at the start of a program, every tracer is
// attached to that thread. It takes a fifth of the time.
func tracedFirst(dir string) error {
	err := tracedIn(dir+"/../status", make([]byte, 8<<10))
	if errors.Is(err, syscall.ENOENT) {
		return errUnseen
	}
	return err
}

// tracedIn is traced for the thread of one status file. buf holds what is read.
func tracedIn(status string, buf []byte) error {
	n, err := readAt(status, buf, syscall.Read)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH) {
		return err
	}
	_, after, found := strings.Cut(string(buf[:max(n, 0)]), "\nTracerPid:")
	if err != nil || !found {
		return errUnseen
	}
	line, _, _ := strings.Cut(after, "\n")
	if pid := strings.TrimSpace(line); pid != "0" {
		return errors.New("the approver hook is traced by process " + pid +
			", which could change its answer, so the call was stopped; end strace, gdb or whatever traces the agent")
	}
	return nil
}

var errUnseen = errors.New("the approver hook cannot see whether it is traced, so the call was stopped; mount /proc " +
	"where the agent runs")

// readAt reads the beginning of a file or a folder.
func readAt(path string, buf []byte, read func(int, []byte) (int, error)) (n int, err error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	return read(fd, buf)
}
