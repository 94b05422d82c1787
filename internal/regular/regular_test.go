package regular_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example/internal/regular"
)

// What is no file is named with what to do, and nothing waits for it.
func TestOnlyFilesAreRead(t *testing.T) {
	const most = 8
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"empty": "", "full": "12345678", "long": "123456789"} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := errors.Join(os.Mkdir(at("folder"), 0o700), syscall.Mkfifo(at("pipe"), 0o600),
		os.Symlink("pipe", at("link")), os.Symlink("/dev/zero", at("zero"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"folder": "folder is a folder and not a file: move it away",
		"pipe":   "pipe is a named pipe and not a file: move it away",
		"link":   "link is a named pipe and not a file: move it away",
		"socket": "socket is a socket and not a file: move it away",
		"zero":   "zero is a device and not a file: move it away",
		"long":   "long has more than 8 bytes, which is not read: make it shorter, or move it away",
	} {
		done := make(chan error, 1)
		go func() {
			_, err := regular.Read(at(name), most)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.HasSuffix(err.Error(), want) || !strings.HasPrefix(err.Error(), dir) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s holds the reader", name)
		}
	}
	if text, err := regular.Read(at("full"), most); err != nil || string(text) != "12345678" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := regular.Read(at("empty"), most); err != nil || text == nil || len(text) > 0 {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := regular.Read(at("nothing"), most); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
