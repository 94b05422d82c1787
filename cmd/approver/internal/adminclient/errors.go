package adminclient

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"approver.example/httpapi"
)

// Outsider tells a user who may not read the configuration, or not connect to the resolve
// socket, what they can do: name the socket, where it lets them in.
func Outsider(err error, socket string) error {
	const w = 2 // W_OK, which connecting needs
	switch access := syscall.Access(socket, w); {
	case errors.Is(access, fs.ErrPermission):
		return fmt.Errorf("this user (uid %d) may not look at the daemon or steer it; who may: its own user, root, and sockets.resolve_uids (%w)", os.Geteuid(), err)
	default:
		return fmt.Errorf("%w: name the daemon's socket instead, such as --socket %s", err, socket)
	}
}

// NotRunning tells what to do about a daemon that is not there.
func NotRunning(err error) error {
	if err != nil && !errors.Is(err, httpapi.ErrRefused) && (errors.Is(err, os.ErrNotExist) || IsRefused(err)) {
		return &DownError{Cure: startIt, Err: err}
	}
	return err
}

const startIt = "start it with approver serve"

// A DownError says that no daemon runs, and what to do.
type DownError struct {
	Cure string
	Err  error
}

// Error names the place once.
func (d *DownError) Error() string {
	why := d.Err.Error()
	if op := (*net.OpError)(nil); errors.As(d.Err, &op) && op.Addr != nil {
		why = op.Addr.String() + ": " + op.Err.Error()
	}
	return "approver is not running: " + d.Cure + " (" + why + ")"
}

// Unwrap returns the cause.
func (d *DownError) Unwrap() error { return d.Err }

// IsRefused reports that nobody listens on a socket that is there.
func IsRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// A SilentError says that a daemon listens and does not answer.
type SilentError struct {
	Socket string
	begun  bool // a change was asked for, and may be made
}

// Error says what to do: starting another one would be refused.
func (s *SilentError) Error() string {
	done := ""
	if s.begun {
		done = ", so what was asked for may be done or not"
	}
	return "approver listens on " + s.Socket + " and does not answer" + done + ": it may be stopped or overloaded: " + SilentCure
}

// Unwrap is for errors.Is.
func (*SilentError) Unwrap() error { return httpapi.ErrSilent }

// SilentCure is what helps against a daemon that listens and does not answer.
const SilentCure = "look at its process (a T in the state that ps shows: somebody stopped it, kill -CONT lets it go on), at memory and disk, and at its log; if it stays so, restart it"

// IsDown reports that nobody listens.
func IsDown(err error) bool {
	down := (*DownError)(nil)
	return errors.As(err, &down)
}
