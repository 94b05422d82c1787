package courier

import (
	"io"
	"os"
	"time"
)

// look is how often the courier looks whether somebody still reads its answer.
const look = 250 * time.Millisecond

const unread = "the agent that ran the approver hook has gone (nobody reads its answer any more), so the call was " +
	"stopped"

// readerGone reports whether what is written to w can reach nobody: the other end of
// the pipe, socket or terminal is closed. An agent that is killed outright closes it,
// and does not end its hooks, which have groups of their own. The parent says nothing:
// agents start a shell between them and the hook, and that one stays.
//
// It is false where that cannot be told. A program in between that still reads hides
// the agent's end.
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

// Of a look at a file, in the words of poll(2): the same on Linux and macOS.
const (
	pollErr  = 0x8
	pollHup  = 0x10
	pollNval = 0x20
)

// pollFD is what poll(2) looks at. Without events it tells of trouble only.
type pollFD struct {
	fd              int32
	events, revents int16
}

// over reports whether poll found the other end closed.
func (p pollFD) over() bool { return p.revents&(pollErr|pollHup|pollNval) != 0 }
