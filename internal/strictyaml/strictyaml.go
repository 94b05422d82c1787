// Package strictyaml reads small configuration files in YAML, strictly: an unknown key, a repeated key
// and a value of the wrong kind are errors. All errors are reported at once. Each names its place in the
// file, shows the line with a caret below it, and says what to do.
//
// Only the plain part of YAML is read. Anchors, aliases, merge keys, tags, directives, explicit keys
// ("? a") and several documents in one file are refused, because with them a file may mean something
// else than it seems to say, or far more than its size.
//
// A problem never shows a secret: the value of a key such as token or password is masked in the line.
//
// Read strictyaml.go, decode.go, keys.go and problem.go.
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"approver.example"
)

// The limits of a file. With them the parser, part of which takes quadratic time, needs at most about
// a second.
const (
	MaxBytes  = 1 << 20 // size of a file
	maxTokens = 50_000  // comments not counted
	maxDepth  = 32      // nesting

	// Those of a library, see [ParseLibrary].
	MaxLibraryBytes  = 16 << 20
	maxLibraryTokens = 2_000_000
	entryTokens      = maxTokens // of one entry of a list
	pieceTokens      = 4_000     // that are parsed at once, except for a longer entry

	maxProblems = 500       // kept of one file
	maxLine     = 10 * 1024 // bytes of a line of which a part is shown
)

// A File is a parsed file, and the problems found in it so far. It is not safe for concurrent use.
type File struct {
	name     string
	lines    []string
	root     ast.Node // nil when the file is empty
	places   map[string]place
	unread   map[string]bool // values that could not be read
	problems []Problem
	warnings []Problem // what is odd, but not wrong
}

// A place has the positions of a key and its value. For an element of a list both are that of the
// element.
type place struct {
	key, value *token.Position
}

// Parse reads the syntax of a file. name is used in positions only. The error is a [*FileError].
func Parse(name string, data []byte) (*File, error) { return parse(name, data, maxTokens) }

// ParseLibrary is Parse for a file of lists with very many entries, such as ten thousand rules. It parses
// a few entries at a time, so that the time grows with the size of the file. Its limits are for what is
// hostile, not for what is large.
func ParseLibrary(name string, data []byte) (*File, error) {
	f := &File{name: name, places: map[string]place{}, unread: map[string]bool{}}
	if len(data) > MaxLibraryBytes {
		f.add(1, 1, fmt.Sprintf("the file has more than %d bytes: take out what no call needs, or split it between the "+
			"layers", MaxLibraryBytes), false)
		return nil, f.Err()
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	f.lines = strings.Split(text, "\n")
	f.checkCharacters()
	if f.Err() == nil {
		cuts := f.checkTokens(text, maxLibraryTokens)
		if f.Err() == nil {
			f.parsePieces(cuts)
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// ParseLong is Parse for a list that only its owner writes: it may have six times as many values. The
// worst of such files takes some ten seconds.
func ParseLong(name string, data []byte) (*File, error) { return parse(name, data, 6*maxTokens) }

func parse(name string, data []byte, tokens int) (*File, error) {
	f := &File{name: name, places: map[string]place{}, unread: map[string]bool{}}
	if len(data) > MaxBytes {
		f.add(1, 1, fmt.Sprintf("the file has %d bytes: the limit is %d", len(data), MaxBytes), false)
		return nil, f.Err()
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	f.lines = strings.Split(text, "\n")
	f.checkCharacters()
	if f.Err() == nil {
		f.checkTokens(text, tokens) // in one piece
	}
	if f.Err() == nil {
		f.parse(text)
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// checkCharacters refuses invisible characters, because a rule or an id with one never matches what it
// seems to say. It reports the first of each line.
func (f *File) checkCharacters() {
	for n, line := range f.lines {
		if len(f.problems) >= maxProblems {
			return
		}
		col := 0
		for i, r := range strings.TrimSuffix(line, "\r") {
			col++
			if r >= ' ' && r <= '~' {
				continue
			}
			text := ""
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(line[i:], "\uFFFD"):
				text = "not UTF-8 text: save the file as UTF-8"
			case r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)):
				text = fmt.Sprintf("invisible character U+%04X: remove it, or write it as \\u%04X in double quotes", r, r)
			}
			if text != "" {
				f.add(n+1, col, text, true)
				break
			}
		}
	}
}

// refused are the kinds of tokens that this package does not read.
var refused = map[token.Type]string{
	token.AnchorType:    "an anchor is not allowed: write the value out, or quote the text if it starts with a literal &",
	token.AliasType:     "an alias is not allowed: write the value out, or quote the text if it starts with a literal *",
	token.MergeKeyType:  "a merge key is not allowed: write the keys out",
	token.TagType:       "a tag is not allowed: remove it, or quote the text if it starts with a literal !",
	token.DirectiveType: "a directive is not allowed: remove it, or quote the text if it starts with a literal %",
	token.MappingKeyType: "an explicit key is not allowed: write \"key: value\", or quote the text if it starts with " +
		"a literal ?",
}

// checkTokens refuses what makes the parser slow or the file unclear, before the parser runs. It scans
// in small steps, so that it stops early. It returns where a list of the top level can be cut.
func (f *File) checkTokens(text string, most int) []cut {
	var s scanner.Scanner
	s.Init(text)
	count, flow, dashes, line := 0, 0, 0, 0
	var at cutter
	for {
		tokens, err := s.Scan()
		if errors.Is(err, io.EOF) {
			return at.cuts
		}
		for _, tk := range tokens {
			if tk.Type == token.CommentType {
				continue
			}
			count++
			if tk.Position.Line != line {
				dashes, line = 0, tk.Position.Line
			}
			switch tk.Type {
			case token.MappingStartType, token.SequenceStartType:
				flow++ // open brackets
			case token.MappingEndType, token.SequenceEndType:
				flow--
			case token.SequenceEntryType:
				dashes++ // of lists in one line
			default:
			}
			if text, bad := refused[tk.Type]; bad {
				f.addAt(tk.Position, text)
			}
			at.next(tk, flow)
			switch {
			case count > most:
				f.addAt(tk.Position, fmt.Sprintf("the file is too long: more than %d values and marks: take out what no call "+
					"needs, or split it", most))
				return nil
			case most == maxLibraryTokens && at.tokens > entryTokens:
				f.addAt(at.entry, fmt.Sprintf("this entry is too long: more than %d values and marks: split it", entryTokens))
				return nil
			case flow > maxDepth || dashes > maxDepth:
				f.addAt(tk.Position, fmt.Sprintf("nested more than %d levels deep: nothing here needs that", maxDepth))
				return nil
			}
		}
		if err != nil { // the parser reports it better
			return at.cuts
		}
	}
}

func (f *File) parse(text string) {
	file, err := parsed(text)
	if err != nil {
		f.addSyntax(err)
		return
	}
	for i, doc := range file.Docs {
		switch {
		case i == 0:
			f.root = doc.Body
		case doc.Body != nil:
			f.addAt(start(doc.Body), "a second document is not allowed: keep everything in one")
		}
	}
}

func (f *File) addSyntax(err error) {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		f.addAt(at.GetToken().Position, at.GetMessage()+": check indentation, quotes and brackets around here")
		return
	}
	f.add(1, 1, "not YAML: check indentation, quotes and brackets", false)
}

// Report adds a problem with the value at path, such as "rules[3].command". If the file has no such
// value, the problem is reported at the nearest key above.
func (f *File) Report(path, text string) {
	at := f.nearest(path)
	if f.Has(path) {
		at.key = at.value
	}
	f.addAt(at.key, text)
}

// ReportKey is Report for the key instead of the value.
func (f *File) ReportKey(path, text string) {
	f.addAt(f.nearest(path).key, text)
}

// Warn adds a warning about the key at path: something is odd, but the file can be used. See
// [File.Warnings].
func (f *File) Warn(path, text string) {
	kept := f.problems
	f.problems = f.warnings
	f.ReportKey(path, text)
	f.problems, f.warnings = kept, f.problems
}

// Warnings returns the warnings in the order of the file.
func (f *File) Warnings() []Problem {
	inOrder(f.warnings)
	return f.warnings
}

// ReportPart is Report with the caret below part, if the line of the value contains it.
func (f *File) ReportPart(path, part, text string) {
	at := f.nearest(path).value
	if at != nil && part != "" && at.Line <= len(f.lines) {
		line := []rune(f.lines[at.Line-1])
		start := min(at.Column-1, len(line))
		if before, _, found := strings.Cut(string(line[start:]), part); found {
			f.add(at.Line, start+utf8.RuneCountInString(before)+1, text, true)
			return
		}
	}
	f.addAt(at, text)
}

// Has reports whether the file itself has a key or list element at path.
func (f *File) Has(path string) bool {
	_, ok := f.places[path]
	return ok
}

// Good reports whether the file has a value at path that Decode could read. Only such a value is worth
// further checks.
func (f *File) Good(path string) bool { return f.Has(path) && !f.unread[path] }

// Position returns the position of the key or list element at path.
func (f *File) Position(path string) approver.Position {
	at := f.nearest(path).key
	if at == nil {
		return approver.Position{File: f.name, Line: 1, Col: 1}
	}
	return approver.Position{File: f.name, Line: at.Line, Col: at.Column}
}

// nearest returns the place of path or of the closest path above it.
func (f *File) nearest(path string) place {
	for path != "" {
		if p, ok := f.places[path]; ok {
			return p
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return place{}
}

// Err returns the problems found so far in the order of the file, as a [*FileError], or nil.
func (f *File) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	inOrder(f.problems)
	return &FileError{Problems: f.problems}
}

func inOrder(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
}

func (f *File) addAt(at *token.Position, text string) {
	if at == nil {
		f.add(1, 1, text, false)
		return
	}
	f.add(at.Line, at.Column, text, true)
}

// addKey adds a problem, and shows the line only up to the end of the key. The value of a mistyped key
// may be a secret.
func (f *File) addKey(at *token.Position, key, text string) {
	before := len(f.problems)
	f.add(at.Line, at.Column, text, false)
	if len(f.problems) == before || at.Line > len(f.lines) || len(f.lines[at.Line-1]) > maxLine {
		return
	}
	line := []rune(f.lines[at.Line-1])
	end := min(at.Column-1+utf8.RuneCountInString(key), len(line))
	p := &f.problems[len(f.problems)-1]
	p.Line, p.caret = excerpt(string(line[:end]), at.Column)
	p.Line += ": …"
}

func (f *File) add(line, col int, text string, show bool) {
	if len(f.problems) >= maxProblems {
		return
	}
	p := Problem{Pos: approver.Position{File: f.name, Line: line, Col: col}, Text: text}
	if show && line >= 1 && line <= len(f.lines) && len(f.lines[line-1]) <= maxLine {
		p.Line, p.caret = excerpt(f.lines[line-1], col)
	}
	f.problems = append(f.problems, p)
}
