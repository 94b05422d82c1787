package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// This file finds what a call wrote and runs by another path, or in pieces.

// unfilled makes unknown what code put into the files that it opened: it was not seen to
// write anything, and need not have said it in a way that is followed.
func (fsys *filesystem) unfilled(paths []string) {
	for _, p := range paths {
		if f := fsys.fileAt(p); f != nil && f.text == "" {
			f.text = effect.Unknown
		}
	}
}

// notePieces notes the files that split and csplit write: all that begin with a name.
func (fsys *filesystem) notePieces(argv []string, base string, taint effect.Taint) {
	prefix, operands := "x", 0
	valued := "abCnlN"
	switch base {
	case "csplit":
		prefix, valued = "xx", "bn"
	case "split":
	default:
		return
	}
	for i := 1; i < len(argv); i++ {
		w := argv[i]
		switch {
		case base == "csplit" && strings.HasPrefix(w, "-f") && len(w) > 2:
			prefix = w[2:]
		case base == "csplit" && w == "-f" && i+1 < len(argv):
			i++
			prefix = argv[i]
		case strings.HasPrefix(w, "--prefix="):
			prefix = w[len("--prefix="):]
		case len(w) == 2 && w[0] == '-' && strings.IndexByte(valued, w[1]) >= 0:
			i++
		case len(w) > 1 && w[0] == '-':
		default:
			if operands++; operands == 2 && base == "split" {
				prefix = w
			}
		}
	}
	if len(fsys.list) >= fsys.in.rep.lim.Fields {
		fsys.in.rep.over("files")
		return
	}
	fsys.list = append(fsys.list, virtual{path: fsys.abs(prefix), data: data{effect.Unknown, taint}, pieces: true})
}

// pieceOf is the taint of what was split into pieces of which a path may be one.
func (fsys *filesystem) pieceOf(p string) (t effect.Taint) {
	for i := range fsys.list {
		if f := &fsys.list[i]; f.pieces && strings.HasPrefix(p, f.path) {
			t |= f.taint
		}
	}
	return t
}

// firstPieces are the ends of the names of the first pieces: those are told to later calls.
var firstPieces = [...]string{"aa", "ab", "ac", "ad", "ae", "af", "ag", "ah", "00", "01", "02", "03", "04", "05", "06", "07"}

// mayRun is the file of this text that a path may be: a piece of one that was split, or one
// whose path ends like what is known of it, behind a folder that is not known. It is nil
// where there is none.
func (fsys *filesystem) mayRun(p string) *virtual {
	_, rest, open := cutLast(p, effect.Unknown)
	fsys.in.rep.steps += len(fsys.list) / 16
	for i := len(fsys.list) - 1; i >= 0; i-- {
		f := &fsys.list[i]
		if f.pieces && strings.HasPrefix(p, f.path) || open && len(rest) > 1 && rest[0] == '/' && strings.HasSuffix(f.path, rest) {
			return f
		}
	}
	return nil
}
