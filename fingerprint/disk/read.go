package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// This file reads files that are bound for what they run or name. What it cannot read
// has a name: a reader never takes it for a file that names nothing.

// Once reports whether a reader comes to something for the first time. So files that
// name each other come to an end.
func (s *Scan) Once(key ...string) bool {
	k := strings.Join(key, "\x00")
	before := s.visited[k]
	s.visited[k] = true
	return !before
}

// TextOf is what a bound file says; verb says what for: "runs", "names", "imports". It is
// ok and empty where there is no file. If it is not ok, that was named.
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

// FindAll is what an expression finds in the text of a file, or in a part of it. If that is too much,
// the file has a name.
func (s *Scan) FindAll(what *regexp.Regexp, file, text string) [][]string {
	found := what.FindAllStringSubmatch(text, MaxWords+1)
	if len(found) > MaxWords {
		s.Unread(file, "names")
	}
	return found
}

// Unread names what is not bound because a file is not read, or not followed further.
func (s *Scan) Unread(file, verb string) {
	file = filepath.Clean(file)
	if rest, ok := strings.CutPrefix(file, filepath.Clean(s.ToolCall.Dir)+"/"); ok {
		file = rest
	}
	s.Name("what %s %s", file, verb)
}

// Contents reads a bound file, and reports whether that is all of it and what was
// hashed. Of a larger file it returns the beginning. It names nothing: use text.
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
	// Another file may lie there by now: what it names is not what was bound.
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != bound {
		return "", false
	}
	return string(b), true
}
