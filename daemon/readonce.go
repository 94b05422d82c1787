package daemon

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

// A ReadOnce lists the files that the daemon reads only at its start: its configuration, and
// the files of tokens and keys. It finds out when they change, so that people learn that the
// change is not in use. The zero value lists nothing.
type ReadOnce []onceRead

type onceRead struct {
	what, path string
	sum        [sha256.Size]byte
	err        error // why it could not be read at the start
}

// Add adds files as they are now. Empty paths are ignored.
func (r *ReadOnce) Add(what string, paths ...string) {
	for _, path := range paths {
		if path == "" {
			continue
		}
		sum, _, err := sumOf(path)
		*r = append(*r, onceRead{what, path, sum, err})
	}
}

// Outdated returns the files that differ from what is in use. inUse reports whether what a file
// says now is: a channel takes a new token from its file while the platform refuses the old one.
func (r ReadOnce) Outdated(inUse func(path string) bool) (out []adminapi.NotInForce) {
	for _, f := range r {
		sum, at, err := sumOf(f.path)
		why, refused := "", error(nil)
		switch {
		case err != nil && f.err != nil, err == nil && f.err == nil && sum == f.sum, err == nil && inUse(f.path):
			continue
		case errors.Is(err, fs.ErrNotExist):
			why = "is not there any more: the daemon goes on with what it read, and needs it for its next start: put it back"
		case err != nil:
			why = "cannot be read any more, which the daemon's next start needs: " + err.Error()
		default:
			why = "was changed at " + at.UTC().Format(time.DateTime+" UTC") + ", after the daemon had read it: "
			if refused = r.refused(); refused != nil {
				why += "the next start refuses what the files say now, so mend that first (approver check), and then restart " +
					"the daemon: " + refused.Error()
			} else {
				why += "restart the daemon"
			}
		}
		out = append(out, adminapi.NotInForce{What: f.what, File: f.path, Why: display.OneLine(why), Refused: refused != nil})
	}
	return out
}

// refused returns why the next start would refuse the configuration, or the secrets that it
// names, as they are now.
func (r ReadOnce) refused() error {
	for _, f := range r {
		if f.what != "configuration" {
			continue
		}
		cfg, err := configs.LoadOrDefault(f.path)
		if err == nil {
			_, err = OpenChannels(cfg, Isolated(cfg), nil, slog.New(slog.DiscardHandler))
		}
		return err
	}
	return nil
}

// maxOnce is how much of a file is hashed, in bytes: none of these files is longer.
const maxOnce = 4 << 20

// sumOf returns the hash of a regular file, and when it was modified.
func sumOf(path string) (sum [sha256.Size]byte, at time.Time, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0) // do not block on a pipe
	if err != nil {
		return sum, at, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return sum, at, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxOnce)); err != nil {
		return sum, at, err
	}
	h.Sum(sum[:0])
	return sum, info.ModTime(), nil
}
