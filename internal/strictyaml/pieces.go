package strictyaml

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A cut is a place where a file can be divided: a line on which an entry of a list of the top level
// begins.
type cut struct {
	line int
	key  string // of the list
}

// A cutter finds the cuts in the tokens of a file.
type cutter struct {
	cuts []cut

	key     string          // of the top level, in which the tokens are
	column  int             // of the dashes of its list; 0 before the first
	started bool            // its list has an entry
	entry   *token.Position // where the entry began, or the key
	tokens  int             // of the entry
	piece   int             // tokens since the last cut
	last    *token.Token
}

// next takes the next token. flow is the number of open brackets.
func (c *cutter) next(tk *token.Token, flow int) {
	c.tokens++
	c.piece++
	switch at := tk.Position; {
	case flow > 0:
	case tk.Type == token.MappingValueType && c.last != nil && c.last.Position.Column == 1:
		c.key, c.column, c.started = c.last.Value, 0, false
		c.entry, c.tokens = c.last.Position, 0
	case tk.Type == token.SequenceEntryType && c.key != "" && (c.column == 0 || at.Column == c.column):
		if c.started && c.piece > pieceTokens && onNewLine(c.last, tk) {
			c.cuts = append(c.cuts, cut{at.Line, c.key})
			c.piece = 0
		}
		c.column, c.started = at.Column, true
		c.entry, c.tokens = at, 0
	}
	c.last = tk
}

func onNewLine(last, tk *token.Token) bool {
	return last == nil || last.Position.Line < tk.Position.Line
}

// parsePieces parses the file in pieces, and puts their lists together.
func (f *File) parsePieces(cuts []cut) {
	begin, key := 1, ""
	for _, c := range append(cuts, cut{line: len(f.lines) + 1}) {
		if c.line > begin {
			f.parsePiece(begin, c.line, key)
		}
		if len(f.problems) > 0 {
			return
		}
		begin, key = c.line, c.key
	}
}

// parsePiece parses the lines from begin on. If they begin with an entry of a list, key is that of the
// list. Lines have the same numbers as in the file.
func (f *File) parsePiece(begin, end int, key string) {
	lines := strings.Join(f.lines[begin-1:end-1], "\n")
	if end <= len(f.lines) {
		lines += "\n"
	}
	if key == "" {
		f.parse(lines)
		return
	}
	rest := File{name: f.name, lines: f.lines}
	rest.parse(strings.Repeat("\n", begin-2) + "'" + strings.ReplaceAll(key, "'", "''") + "':\n" + lines)
	f.problems = append(f.problems, rest.problems...)
	if len(f.problems) == 0 && !f.join(rest.root) {
		f.add(begin, 1, "not YAML: check indentation, quotes and brackets before this line", true)
	}
}

// join appends the entries of the first list of rest to the last list of the file, and the other keys
// of rest to the file. It reports whether it could.
func (f *File) join(rest ast.Node) bool {
	whole, more := keysOf(f.root), keysOf(rest)
	if len(whole) == 0 || len(more) == 0 {
		return false
	}
	list, isList := whole[len(whole)-1].Value.(*ast.SequenceNode)
	entries, areEntries := more[0].Value.(*ast.SequenceNode)
	if !isList || !areEntries {
		return false
	}
	list.Values = append(list.Values, entries.Values...)
	if len(more) > 1 {
		f.root = ast.Mapping(f.root.GetToken(), false, append(whole, more[1:]...)...)
	}
	return true
}

// keysOf returns the keys of a mapping with their values.
func keysOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// parsed parses a text as one document.
func parsed(text string) (*ast.File, error) {
	return parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
}
