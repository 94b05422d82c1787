package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// This file hashes one file, and keeps the hashes of what cannot change unseen.

// A FileID is what the kernel says of a file without its content.
type FileID struct {
	place   string // device and inode
	Version string // place, size and times
	owner   uint32
	Changed time.Time // when content or rights last changed; only the kernel sets it
}

// A fileSystem says how far the kernel's word about a file goes.
type fileSystem uint8

const (
	servedFiles fileSystem = iota // a program may answer: a version says nothing
	diskFiles                     // files on a disk or in memory
	kernelFiles                   // the kernel's own news, as in /proc: nothing to bind
)

// A hasher hashes the files of one call.
type hasher struct {
	*access
	sums   map[string]string // version → hash, for second names of a file
	budget int64             // bytes still to be read
	buffer []byte            // for that
}

// hash returns "" for what is not a file to bind.
func (h *hasher) hash(path string) string {
	f, info, err := Open(path)
	if err != nil {
		return Unreadable
	}
	defer f.Close()
	system := fileSystemOf(f)
	if system == kernelFiles {
		return ""
	}
	id, known := Identify(info)
	keep := known && system == diskFiles && h.Shared.isCacheable(info, id, os.Geteuid())
	if keep {
		if sum, ok := h.Shared.cachedHash(id.Version); ok {
			return sum
		}
	}
	// Within one call a second name of the same file is not read again.
	if sum, ok := h.sums[id.Version]; ok && known && system == diskFiles {
		return sum
	}
	sum, err := h.read(f, info.Size())
	if err != nil {
		return Unreadable
	}
	if !strings.HasPrefix(sum, whole) {
		return sum + " " + id.Version
	}
	h.sums[id.Version] = sum
	if keep {
		h.Shared.cacheHash(id.Version, sum)
	}
	return sum
}

// Unreadable is in the place of a hash that could not be made.
const Unreadable = "unreadable"

// missing is in the place of a working directory that does not exist.
const missing = "missing"

// whole starts the hash of a file that was read in full.
const whole = "sha256:"

// read hashes a file, in full as long as the call's budget lasts. Of a larger
// one it hashes both ends: a disk image that a command deletes must not make
// the call impossible to approve, and no program is that large by accident.
func (h *hasher) read(f *os.File, size int64) (string, error) {
	d := sha256.New()
	if size <= h.budget {
		if h.buffer == nil {
			h.buffer = make([]byte, 32<<10)
		}
		n, err := io.CopyBuffer(d, cancelReader{io.LimitReader(f, h.budget+1), h.access}, h.buffer)
		h.budget -= n
		if err != nil || h.budget >= 0 {
			return whole + hex.EncodeToString(d.Sum(nil)), err
		}
		return "grows:" + hex.EncodeToString(d.Sum(nil)), nil
	}
	for _, at := range []int64{0, size - endBytes} {
		if _, err := io.Copy(d, io.NewSectionReader(f, max(at, 0), endBytes)); err != nil {
			return "", err
		}
	}
	return "ends:" + hex.EncodeToString(d.Sum(nil)), nil
}

// isCacheable reports whether the hash of a file holds as long as its version does.
// It does not for a file that the agent can write to: what is written through a
// shared mapping changes neither of the times when it is written, but when the
// kernel comes to it. So it must be root's and writable for root alone (an
// access list shows in the group's bits); and this service not root's, because
// then the agent may be root too. A file that changed a moment ago may change
// again within the same tick of the file system's clock.
func (b *Shared) isCacheable(info fs.FileInfo, id FileID, euid int) bool {
	return euid != 0 && id.owner == 0 && info.Mode()&0o022 == 0 && time.Since(id.Changed) > 2*time.Second
}

func (b *Shared) cachedHash(version string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum, ok := b.cache[version]
	return sum, ok
}

func (b *Shared) cacheHash(version, sum string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cache == nil || len(b.cache) >= maxCached {
		b.cache = map[string]string{}
	}
	b.cache[version] = sum
}

// A cancelReader reader reads until nobody waits.
type cancelReader struct {
	io.Reader
	d *access
}

func (p cancelReader) Read(b []byte) (int, error) {
	if p.d.IsCanceled() {
		return 0, ErrCanceled
	}
	return p.Reader.Read(b)
}
