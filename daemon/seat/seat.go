// Package seat finds out when somebody last typed at the terminal of an agent.
//
// The daemon knows the process that asks, from the kernel. Its ancestors include the agent, and the
// terminal of the agent is the first that one of them has: hooks themselves have none. The kernel
// notes when something was last read from a terminal, to within eight seconds, for everybody to see;
// w and finger show the same as the idle time.
package seat

import "time"

// maxAncestors bounds how many processes are looked at.
const maxAncestors = 32

// LastTyped returns when somebody last typed at the terminal of a process or of the nearest ancestor
// that has one. ok is false if there is no such terminal, or it cannot be seen from here: in another
// container, on another system than Linux, or with hidden processes.
func LastTyped(pid int32) (at time.Time, ok bool) {
	for range maxAncestors {
		if pid <= 1 {
			return time.Time{}, false
		}
		parent, terminal, found := process(pid)
		if !found {
			return time.Time{}, false
		}
		if terminal != 0 {
			return lastRead(terminal)
		}
		pid = parent
	}
	return time.Time{}, false
}
