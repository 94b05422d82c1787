package hookfiles

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// patience is how long an install waits for another one.
const patience = 20 * time.Second

// Alone waits until no other install or uninstall changes the record in a data folder, and keeps others out
// until done is called. Two at once would each write a record without the other's entry. A folder that is not
// there, or that this user may not read, has no record for it to write, and keeps nobody out.
func Alone(dir string) (done func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, nil
	}
	done = func() { _ = f.Close() } // the kernel lets go of the lock with it, also if the process is killed
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return done, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return done, nil // a file system without locks
		case time.Now().After(end):
			done()
			return nil, fmt.Errorf("%s is held by another install or uninstall: wait for its end, and run this again; "+
				"nothing was changed", dir)
		}
	}
}
