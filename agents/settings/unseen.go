package settings

import (
	"errors"
	"slices"
	"syscall"
)

// Unseen reports whether an error says nothing about the file, because the process or the machine
// cannot read it at the moment. After such an error it is not known whether something is weakened,
// missing or right.
func Unseen(err error) bool {
	return slices.ContainsFunc([]error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EAGAIN, syscall.EINTR, syscall.EBUSY,
		syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ENOTCONN, syscall.EHOSTDOWN,
	}, func(no error) bool { return errors.Is(err, no) })
}

// FirstUnseen returns the first such error of the sources, or nil.
func FirstUnseen(sources []Source) error {
	for _, s := range sources {
		if Unseen(s.Err) {
			return s.Err
		}
	}
	return nil
}

// Blindness returns err if it says nothing about the file, see [Unseen].
func Blindness(err error) error {
	if Unseen(err) {
		return err
	}
	return nil
}
