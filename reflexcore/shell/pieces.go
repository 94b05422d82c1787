package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Piece is a simple command with its redirections, and the pipeline that it is part of. Both are
// parts of the text, as they are written there.
type Piece struct {
	Text, Pipe string
	At         int  // where Text begins
	Sets       bool // it sets variables
}

// maxPieces limits the pieces of a text.
const maxPieces = 8192

// Pieces returns the simple commands of a text, at most [maxPieces]. It returns none if bash does not
// read the text as it is.
func Pieces(src string, lim Limits) []Piece {
	if len(src) > maxRetried || tooDeep(src, lim.Nesting) {
		return nil
	}
	p := pool.Get().(*parsers)
	defer pool.Put(p)
	file, err := tryParse(p.bash, src)
	if err != nil {
		return nil
	}
	var out []Piece
	var pipes []*syntax.Stmt // the outermost of a pipeline, which the statements below belong to
	syntax.Walk(file, func(node syntax.Node) bool {
		stmt, ok := node.(*syntax.Stmt)
		if !ok || len(out) >= maxPieces {
			return len(out) < maxPieces
		}
		for len(pipes) > 0 && pipes[len(pipes)-1].End().Offset() <= stmt.Pos().Offset() {
			pipes = pipes[:len(pipes)-1]
		}
		switch cmd := stmt.Cmd.(type) {
		case *syntax.BinaryCmd:
			if (cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll) && len(pipes) == 0 {
				pipes = append(pipes, stmt)
			}
		case *syntax.CallExpr, *syntax.DeclClause, nil:
			text := textOf(src, stmt)
			pipe := text
			if len(pipes) > 0 {
				pipe = textOf(src, pipes[0])
			}
			if text != "" {
				call, is := cmd.(*syntax.CallExpr)
				sets := stmt.Cmd != nil && (!is || len(call.Assigns) > 0)
				at := int(stmt.Pos().Offset()) //nolint:gosec // an offset in a text
				out = append(out, Piece{Text: text, Pipe: pipe, At: at, Sets: sets})
			}
		}
		return true
	})
	return out
}

// textOf returns a statement as it is written, without what ends it.
func textOf(src string, stmt *syntax.Stmt) string {
	from, to := stmt.Pos().Offset(), stmt.End().Offset()
	if stmt.Semicolon.IsValid() {
		to = stmt.Semicolon.Offset()
	}
	if from >= to || to > uint(len(src)) {
		return ""
	}
	return strings.TrimSpace(src[from:to])
}
