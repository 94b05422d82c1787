package courier

import (
	"errors"
	"os"
	"strings"
)

// tasks is where the kernel tells of each thread of this process.
const tasks = "/proc/self/task"

// traced returns an error if a debugger is attached to a thread of this process, or if
// that cannot be seen. One that was there before the program began stays, whatever the
// program does to shut others out, and can change what it says and how it ends.
//
// It is no proof: a tracer can also change what is read here. It keeps out those that
// do not take that trouble, and says to everybody else why their calls are stopped.
func traced(dir string) error {
	threads, err := os.ReadDir(dir)
	if err != nil || len(threads) == 0 {
		return errUnseen
	}
	for _, thread := range threads {
		text, err := os.ReadFile(dir + "/" + thread.Name() + "/status")
		if errors.Is(err, os.ErrNotExist) {
			continue // it has ended
		}
		_, after, found := strings.Cut(string(text), "\nTracerPid:")
		if err != nil || !found {
			return errUnseen
		}
		line, _, _ := strings.Cut(after, "\n")
		if pid := strings.TrimSpace(line); pid != "0" {
			return errors.New("the approver hook is traced by process " + pid +
				", which could change its answer, so the call was stopped; end strace, gdb or whatever traces the agent")
		}
	}
	return nil
}

var errUnseen = errors.New("the approver hook cannot see whether it is traced, so the call was stopped; mount /proc where the agent runs")
