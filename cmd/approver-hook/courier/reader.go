package courier

import (
	"io"
	"os"
	"time"
)

// look is how often the courier checks that somebody still reads its answer.
const look = 250 * time.Millisecond

const unread = "the agent that ran the approver hook has gone (nobody reads its answer any more), so the call was " +
	"stopped"

// readerGone reports whether nothing written to w can reach a reader: the other end of the
// pipe, socket or terminal is closed. A killed agent closes its end but does not kill its
// hooks, which have process groups of their own. The parent process is no evidence: agents
// start a shell between them and the hook, and the shell survives.
//
// It is false where this cannot be determined. A program in between that still reads hides that
// the agent has gone.
func readerGone(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = conn.Control(func(fd uintptr) { gone = hungUp(fd) })
	return err == nil && gone
}

// The results of poll(2), the same on Linux and macOS.
const (
	pollErr  = 0x8
	pollHup  = 0x10
	pollNval = 0x20
)

// pollFD is the pollfd of poll(2). Without events, poll reports only errors and hang-ups.
type pollFD struct {
	fd              int32
	events, revents int16
}

// over reports whether poll found that the other end is closed.
func (p pollFD) over() bool { return p.revents&(pollErr|pollHup|pollNval) != 0 }
