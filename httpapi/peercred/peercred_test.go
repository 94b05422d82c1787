package peercred

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestOf(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for name, c := range map[string]net.Conn{"client": client, "server": server} {
		raw, err := c.(*net.UnixConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var got Cred
		var credErr error
		if err := raw.Control(func(fd uintptr) { got, credErr = Of(int(fd)) }); err != nil {
			t.Fatal(err)
		}
		want := Cred{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), PID: int32(os.Getpid())}
		if credErr != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, credErr, want)
		}
	}
}

func TestOfNoSocket(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := Of(int(f.Fd())); err == nil {
		t.Errorf("%+v, want an error", got)
	}
}
