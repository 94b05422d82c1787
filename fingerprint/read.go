package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// This file reads files that are bound for what they run or name. What it cannot read
// has a name: a reader never takes it for a file that names nothing.

// once reports whether a reader comes to something for the first time. So files that
// name each other come to an end.
func (s *scan) once(key ...string) bool {
	k := strings.Join(key, "\x00")
	before := s.visited[k]
	s.visited[k] = true
	return !before
}

// textOf is what a bound file says; verb says what for: "runs", "names", "imports". It is
// ok and empty where there is no file. If it is not ok, that was named.
func (s *scan) textOf(file, verb string) (text string, ok bool) {
	if s.out[filepath.Clean(file)] == "" {
		return "", true
	}
	if text, ok = s.contents(file); !ok {
		s.unread(file, verb)
		return "", false
	}
	return text, true
}

// found is what an expression finds in the text of a file, or in a part of it. If that is too much,
// the file has a name.
func (s *scan) found(what *regexp.Regexp, file, text string) [][]string {
	found := what.FindAllStringSubmatch(text, maxWords+1)
	if len(found) > maxWords {
		s.unread(file, "names")
	}
	return found
}

// unread names what is not bound because a file is not read, or not followed further.
func (s *scan) unread(file, verb string) {
	file = filepath.Clean(file)
	if rest, ok := strings.CutPrefix(file, filepath.Clean(s.call.Dir)+"/"); ok {
		file = rest
	}
	s.name("what %s %s", file, verb)
}

// contents reads a bound file, and reports whether that is all of it and what was
// hashed. Of a larger file it returns the beginning. It names nothing: use text.
func (s *scan) contents(file string) (text string, all bool) {
	bound, ok := strings.CutPrefix(s.out[filepath.Clean(file)], whole)
	if !ok {
		return "", false
	}
	if s.texts++; s.texts > maxTexts || s.textBytes > maxTextBytes {
		return "", false
	}
	f, _, err := open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(cancelReader{io.LimitReader(f, maxText+1), s.disk})
	s.textBytes += len(b)
	if err != nil {
		return "", false
	}
	if len(b) > maxText {
		return string(b[:maxText]), false
	}
	// Another file may lie there by now: what it names is not what was bound.
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != bound {
		return "", false
	}
	return string(b), true
}

// errShape says that a package.json is not what npm takes.
var errShape = errors.New("not one object")

// packageScripts are the scripts of a package.json: for each name, spelled exactly so,
// all its values. Where a name is there twice, tools differ in which one they take.
func packageScripts(text string) (map[string][]string, error) {
	text = strings.TrimPrefix(text, "\ufeff") // npm takes it
	scripts := map[string][]string{}
	if strings.TrimSpace(text) == "" {
		return scripts, nil
	}
	err := members([]byte(text), func(key string, value json.RawMessage) error {
		if key != "scripts" || len(value) == 0 || value[0] != '{' {
			return nil // npm drops scripts that are no object
		}
		return members(value, func(name string, script json.RawMessage) error {
			var command string
			if json.Unmarshal(script, &command) == nil { // nobody runs what is no text
				scripts[name] = append(scripts[name], command)
			}
			return nil
		})
	})
	return scripts, err
}

// members goes through the members of a JSON object, and nothing may follow it.
func members(text []byte, each func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errShape, err)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		key, _ := t.(string) // the decoder takes nothing else for a key
		if err := each(key, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.Join(errShape, err)
	}
	return nil
}
