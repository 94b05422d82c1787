package peercred

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// On a pair of sockets the kernel names this process for both ends, and its
// process id too, which older systems leave out.
func TestOfAPair(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range pair {
		got, err := Of(fd)
		if err != nil || got.UID != uint32(os.Geteuid()) || got.GID != uint32(os.Getegid()) || got.PID != 0 &&
			got.PID != int32(os.Getpid()) {
			t.Errorf("%+v, %v", got, err)
		}
		if err := unix.Close(fd); err != nil {
			t.Error(err)
		}
	}
}

// A socket of the network has no such peer.
func TestOfTheNetwork(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Of(fd); err == nil {
		t.Errorf("%+v, want an error", got)
	}
	if err := unix.Close(fd); err != nil {
		t.Error(err)
	}
}
