package settings

import (
	"errors"
	"slices"
	"syscall"
)

// Unseen reports an error that says nothing of the file that it is about: the process, or
// the machine, cannot look just now. It is never the reason to say that something is
// weakened, or gone, nor that it is well.
func Unseen(err error) bool {
	return slices.ContainsFunc([]error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EAGAIN, syscall.EINTR, syscall.EBUSY,
		syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ENOTCONN, syscall.EHOSTDOWN,
	}, func(no error) bool { return errors.Is(err, no) })
}

// FirstUnseen is why one of the sources could not be looked at; nil if all were.
func FirstUnseen(sources []Source) error {
	for _, s := range sources {
		if Unseen(s.Err) {
			return s.Err
		}
	}
	return nil
}

// Blindness is err if it says nothing of the file that it is about.
func Blindness(err error) error {
	if Unseen(err) {
		return err
	}
	return nil
}
