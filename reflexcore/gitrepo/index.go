package gitrepo

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own hash: it names contents, and protects nothing here
	"encoding/binary"
	"errors"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"
)

// An Index lists the files of a working tree that git tracks. The content of each entry is in the
// repository and can be restored.
type Index struct {
	entries []entry   // sorted by name
	written time.Time // of the index itself
	Tree    [sha1.Size]byte
	Whole   bool // tree is the tree that all entries make
}

type entry struct {
	name    string
	changed [2]uint32 // seconds and nanoseconds, as all times here
	seconds uint32
	nanos   uint32
	mode    uint32
	size    uint32
	blob    [sha1.Size]byte
	vague   bool // git does not look at the file, or has no content for it
}

const (
	maxIndex        = 8 << 20
	maxIndexEntries = 100_000
)

var errIndex = errors.New("not an index that is understood")

// decodeIndex decodes versions 2 to 4. A required extension that is not understood here (a split or
// a sparse index, another hash) is an error.
func decodeIndex(b []byte) (*Index, error) {
	if len(b) < 12+sha1.Size || len(b) > maxIndex || string(b[:4]) != "DIRC" {
		return nil, errIndex
	}
	body := b[:len(b)-sha1.Size]
	if sum := sha1.Sum(body); !bytes.Equal(sum[:], b[len(body):]) { //nolint:gosec // see above
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 || count > maxIndexEntries {
		return nil, errIndex
	}
	x := &Index{entries: make([]entry, 0, min(int(count), len(body)/62))}
	rest, last := body[12:], ""
	for range count {
		e, n, ok := decodeEntry(rest, last, version)
		if !ok || e.name < last {
			return nil, errIndex
		}
		if len(x.entries) > 0 && e.name == last { // the stages of a conflict
			x.entries[len(x.entries)-1].vague = true
			e.vague = true
		}
		x.entries = append(x.entries, e)
		rest, last = rest[n:], e.name
	}
	return x, x.extensions(rest)
}

// decodeEntry decodes one entry and returns its length. last is the name of the entry before it.
func decodeEntry(b []byte, last string, version uint32) (e entry, n int, ok bool) {
	const fixed = 62
	if len(b) < fixed {
		return e, 0, false
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	e = entry{changed: [2]uint32{word(0), word(1)}, seconds: word(2), nanos: word(3), mode: word(6), size: word(9)}
	copy(e.blob[:], b[40:60])
	flags := binary.BigEndian.Uint16(b[60:])
	const assumeValid, extended, stage = 0x8000, 0x4000, 0x3000
	e.vague = flags&(assumeValid|stage) != 0
	n = fixed
	if flags&extended != 0 {
		if version < 3 || len(b) < fixed+2 {
			return e, 0, false
		}
		const skipWorktree, intentToAdd = 0x4000, 0x2000
		e.vague = e.vague || binary.BigEndian.Uint16(b[fixed:])&(skipWorktree|intentToAdd) != 0
		n += 2
	}
	prefix := ""
	if version == 4 { // a name is what it shares with the last one, and the rest
		strip, used := offset(b[n:])
		if used == 0 || strip > len(last) {
			return e, 0, false
		}
		prefix, n = last[:len(last)-strip], n+used
	}
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 || len(prefix)+end == 0 || len(prefix)+end > MaxPath {
		return e, 0, false
	}
	e.name = prefix + string(b[n:n+end])
	if n += end + 1; version < 4 {
		n = (n + 7) &^ 7
	}
	return e, n, n <= len(b) && fs.ValidPath(e.name)
}

// MaxPath is the longest path, in bytes, that is read from git's own files.
const MaxPath = 4096

// offset decodes git's variable-length number; used is 0 if there is none.
func offset(b []byte) (n, used int) {
	for i, c := range b {
		if i > 3 {
			break
		}
		if n = n<<7 | int(c&0x7f); c&0x80 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}

// extensions reads the tree of all entries, and refuses required extensions.
func (x *Index) extensions(b []byte) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return errIndex
		}
		name, size := string(b[:4]), int64(binary.BigEndian.Uint32(b[4:]))
		if size > int64(len(b)-8) || name[0] < 'A' || name[0] > 'Z' {
			return errIndex
		}
		if name == "TREE" {
			x.cachedTree(b[8 : 8+size])
		}
		b = b[8+size:]
	}
	return nil
}

// cachedTree reads the first record of the cached trees, which is the root.
func (x *Index) cachedTree(b []byte) {
	path, b, _ := bytes.Cut(b, []byte{0})
	head, b, ok := bytes.Cut(b, []byte{'\n'})
	count, _, _ := strings.Cut(string(head), " ")
	n, err := strconv.Atoi(count)
	if !ok || len(path) > 0 || err != nil || n != len(x.entries) || len(b) < sha1.Size {
		return
	}
	x.Whole = true
	copy(x.Tree[:], b)
}

// entry finds a file by its name relative to the root.
func (x *Index) entry(name string) *entry {
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].name >= name })
	if i < len(x.entries) && x.entries[i].name == name {
		return &x.entries[i]
	}
	return nil
}

// below returns the entries in a folder; the empty name is the root.
func (x *Index) below(folder string) []entry {
	if folder == "" {
		return x.entries
	}
	from := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].name >= folder+"/" })
	to := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].name >= folder+"0" }) // 0 comes after /
	return x.entries[from:to]
}

// Tracked reports whether git tracks the file, or a file in the folder.
func (x *Index) Tracked(name string) bool {
	return x.entry(name) != nil || len(x.below(name)) > 0
}

// same reports whether a file is certainly unchanged since its entry was made. It uses git's own
// rule: a file that changed at the time of the index or later may have changed unnoticed.
func (x *Index) same(e *entry, info fs.FileInfo) bool {
	at := info.ModTime()
	seconds, nanos, ok := changedAt(info)
	return ok && e.changed == [2]uint32{seconds, nanos} && e.hasType(info) && int64(e.size) == info.Size() &&
		int64(e.seconds) == at.Unix() && int(e.nanos) == at.Nanosecond() && at.Before(x.written)
}

// hasType reports whether a file has the entry's type.
func (e *entry) hasType(info fs.FileInfo) bool {
	switch e.mode {
	case 0o100644:
		return info.Mode().IsRegular() && info.Mode()&0o100 == 0
	case 0o100755:
		return info.Mode().IsRegular() && info.Mode()&0o100 != 0
	case 0o120000:
		return info.Mode().Type() == fs.ModeSymlink
	}
	return false
}

// blobOf returns the object id that git gives a content.
func blobOf(content []byte) [sha1.Size]byte {
	h := sha1.New() //nolint:gosec // see above
	h.Write([]byte("blob " + strconv.Itoa(len(content)) + "\x00"))
	h.Write(content)
	return [sha1.Size]byte(h.Sum(nil))
}
