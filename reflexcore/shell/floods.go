package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// flood records that a loop without an end starts commands in the background, and nothing in it
// waits.
func (in *interp) flood(body []*syntax.Stmt) {
	starts := false
	for _, s := range body {
		switch {
		case s.Background:
			starts = true
		case !isQuick(s):
			return
		}
	}
	if starts {
		in.floods("a loop in the background")
	}
}

func (in *interp) floods(by string) {
	in.add(effect.Effect{Kind: effect.Kill, Target: "host", Bits: effect.Bulk, By: by})
}

// isQuick reports whether a command neither waits nor ends a loop.
func isQuick(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		switch s.Cmd.(type) {
		case *syntax.ArithmCmd, *syntax.LetClause, *syntax.DeclClause, *syntax.TestClause:
			return true
		}
		return false
	}
	return len(call.Args) == 0 || wordset.Has("echo printf : true let test [ date mkdir touch cp ln cat export disown",
		call.Args[0].Lit())
}

// isEndless reports whether the condition of a loop always holds.
func isEndless(cond []*syntax.Stmt, until bool) bool {
	if len(cond) != 1 || cond[0].Negated {
		return false
	}
	switch c := cond[0].Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return false
		}
		if name := c.Args[0].Lit(); until {
			return name == "false"
		} else if name == "[" || name == "test" { // [ 1 ]
			return len(c.Args) > 1 && isDigits(c.Args[1].Lit()) && (len(c.Args) == 2 || c.Args[2].Lit() == "]")
		} else {
			return wordset.Has(": true yes", name)
		}
	case *syntax.ArithmCmd:
		word, ok := c.X.(*syntax.Word)
		return ok && isDigits(word.Lit()) && (strings.Trim(word.Lit(), "0") == "") == until
	case *syntax.TestClause:
		word, ok := c.X.(*syntax.Word)
		return ok && !until && isDigits(word.Lit())
	}
	return false
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// floodsPipe records that words without an end become commands, all of them at once.
func (in *interp) floodsPipe(c *syntax.BinaryCmd) {
	call, ok := c.Y.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	at := slices.IndexFunc(call.Args, func(w *syntax.Word) bool { return wordset.Has("xargs gxargs parallel", w.Lit()) })
	if at < 0 || !printsForever(c.X) {
		return
	}
	for i, w := range call.Args[at:] {
		switch w.Lit() {
		case "-P0", "-j0", "--max-procs=0", "--jobs=0":
			in.floods("endless " + call.Args[at].Lit())
			return
		case "-P", "-j", "--max-procs", "--jobs":
			if at+i+1 < len(call.Args) && call.Args[at+i+1].Lit() == "0" {
				in.floods("endless " + call.Args[at].Lit())
				return
			}
		}
	}
}

// printsForever reports whether a command's output has no end.
func printsForever(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && (c.Args[0].Lit() == "yes" || c.Args[0].Lit() == "cat" && len(c.Args) > 1 &&
			wordset.Has("/dev/zero /dev/urandom /dev/random", c.Args[1].Lit()))
	case *syntax.BinaryCmd:
		if call, ok := c.Y.Cmd.(*syntax.CallExpr); ok && c.Op == syntax.Pipe && len(call.Args) > 0 {
			return wordset.Has("cat tr sed tee nl awk xxd od base64", call.Args[0].Lit()) && printsForever(c.X)
		}
	case *syntax.WhileClause:
		return isEndless(c.Cond, c.Until) && !slices.ContainsFunc(c.Do, func(s *syntax.Stmt) bool { return !isQuick(s) })
	}
	return false
}
