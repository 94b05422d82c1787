package courier

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"approver.example/agents/blocking"
)

// writeWait is how long the agent may take to read an answer. It is part of the margin between
// the courier's deadline and the agent's own timeout.
const writeWait = time.Second

const unwritten = "the approver hook could not write its answer, so the call was stopped"

var errPanicked = errors.New("a panic")

// leave writes the answer, each stream in one write, and returns the exit code. It is the only
// place that a hook's exit code comes from. An answer that cannot be read must not be taken for
// a yes.
func (c *Courier) leave(o options, a blocking.Answer) int {
	if !a.ExitZero && len(a.Stderr) == 0 {
		a = o.blocked("")
	}
	if a.ExitZero {
		if err := traced(c.tasks()); err != nil {
			a = o.blocked(err.Error())
		}
	}
	if len(a.Stdout) > 0 {
		err := readable(c.Stdout)
		if err == nil {
			err = write(c.Stdout, a.Stdout)
		}
		switch {
		case errors.Is(err, errPanicked):
			a = o.blocked(panicked)
			if write(c.Stdout, a.Stdout) != nil {
				a.ExitZero = false
			}
		case err != nil && a.ExitZero: // otherwise the exit code and the reason remain, and block
			a = o.blocked(unwritten + " (" + err.Error() + ")")
			a.ExitZero = false // half a document is not an answer
		}
	}
	if len(a.Stderr) > 0 {
		_ = write(c.Stderr, a.Stderr) // there is nobody left to tell
	}
	return a.Exit()
}

// readable returns an error if nobody can read what is written to w. If standard output is
// closed, the runtime opens the null device instead, and writes to it succeed. A character
// device that can seek is not a terminal.
func readable(w io.Writer) error {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := writableFile(f, info); err != nil {
		return err
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	if _, err := f.Seek(0, io.SeekCurrent); err == nil {
		return errors.New("its standard output is closed, or a device that nobody reads")
	}
	return nil
}

var errNotWritable = errors.New("its standard output cannot be written to")

// writableFile returns an error if a file was opened only for reading, or is of a kind that
// takes no text, such as a kernel counter (eventfd).
func writableFile(f *os.File, info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || info.IsDir() || st.Mode&syscall.S_IFMT == 0 {
		return errNotWritable
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var flags uintptr
	var errno syscall.Errno
	if err := conn.Control(func(fd uintptr) {
		flags, _,
			errno = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	}); err != nil {
		return err
	}
	if errno != 0 || flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		return errNotWritable
	}
	return nil
}

// write writes all of b within writeWait: a full pipe without a reader must not keep the hook
// beyond its deadline.
func write(w io.Writer, b []byte) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- errPanicked
			}
		}()
		n, err := w.Write(b)
		if err == nil && n != len(b) {
			err = io.ErrShortWrite
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(writeWait):
		return errors.New("nobody read it for " + writeWait.String())
	}
}
