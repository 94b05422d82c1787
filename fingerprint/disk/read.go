package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// This file reads the text of bound files. A file that cannot be read is reported, so that
// a reader never takes it for one that names nothing.

// Once reports whether a key is used for the first time. It ends cycles of files that name
// each other.
func (s *Scan) Once(key ...string) bool {
	k := strings.Join(key, "\x00")
	before := s.visited[k]
	s.visited[k] = true
	return !before
}

// TextOf is the text of a bound file. verb is for Unread: "runs", "names", "imports". If
// there is no file, the text is empty and ok. If it is not ok, the file was reported.
func (s *Scan) TextOf(file, verb string) (text string, ok bool) {
	if s.Bound[filepath.Clean(file)] == "" {
		return "", true
	}
	if text, ok = s.Contents(file); !ok {
		s.Unread(file, verb)
		return "", false
	}
	return text, true
}

// FindAll returns the matches of an expression in the text of a file, or in a part of it. If there
// are too many, it reports the file.
func (s *Scan) FindAll(what *regexp.Regexp, file, text string) [][]string {
	found := what.FindAllStringSubmatch(text, MaxWords+1)
	if len(found) > MaxWords {
		s.Unread(file, "names")
	}
	return found
}

// Unread reports a file that is not read, or not followed further.
func (s *Scan) Unread(file, verb string) {
	file = filepath.Clean(file)
	if rest, ok := strings.CutPrefix(file, filepath.Clean(s.ToolCall.Dir)+"/"); ok {
		file = rest
	}
	s.Name("what %s %s", file, verb)
}

// Contents reads a bound file. all says that the text is complete and is what was hashed.
// Of a larger file it returns the beginning. It reports nothing; TextOf does.
func (s *Scan) Contents(file string) (text string, all bool) {
	bound, ok := strings.CutPrefix(s.Bound[filepath.Clean(file)], whole)
	if !ok {
		return "", false
	}
	if s.texts++; s.texts > maxTexts || s.textBytes > maxTextBytes {
		return "", false
	}
	f, _, err := Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(cancelReader{io.LimitReader(f, MaxText+1), s.access})
	s.textBytes += len(b)
	if err != nil {
		return "", false
	}
	if len(b) > MaxText {
		return string(b[:MaxText]), false
	}
	// The file may have been replaced since it was bound.
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != bound {
		return "", false
	}
	return string(b), true
}
