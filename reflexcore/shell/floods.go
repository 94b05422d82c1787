package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// flood records that a loop without an end starts commands in the background, and nothing in it
// waits for them.
func (in *interp) flood(body []*syntax.Stmt) {
	var round loopRound
	if round.walk(body); round.starts && !round.waits && !round.rests {
		in.floods("a loop in the background")
	}
}

// A loopRound is what one round of a loop does.
type loopRound struct {
	starts   bool // it starts something in the background
	waits    bool // it waits for all that it started
	detached bool // what it started is no longer a child of the shell: no wait waits for it
	rests    bool // a command runs in the foreground, or the loop may end
}

func (r *loopRound) walk(body []*syntax.Stmt) {
	for _, s := range body {
		if s.Background {
			r.starts = true
			continue
		}
		switch c := s.Cmd.(type) {
		case *syntax.Block:
			r.walk(c.Stmts)
		case *syntax.Subshell:
			r.apart(c.Stmts)
		case *syntax.IfClause:
			r.rests = r.rests || c.Else != nil || !isEndless(c.Cond, true)
		case *syntax.CallExpr:
			switch firstWord(c) {
			case "wait":
				r.waits = true
			case "disown":
				r.detached = true
			default:
				r.rests = r.rests || !isQuick(s)
			}
		default:
			r.rests = r.rests || !isQuick(s)
		}
	}
	r.waits = r.waits && !r.detached
}

// apart walks a subshell: it does not wait for what the shell started, nor the shell for what it
// starts.
func (r *loopRound) apart(body []*syntax.Stmt) {
	var sub loopRound
	sub.walk(body)
	r.rests = r.rests || sub.rests || sub.starts && sub.waits
	if sub.starts && !sub.waits {
		r.starts, r.detached = true, true
	}
}

func firstWord(c *syntax.CallExpr) string {
	if len(c.Args) == 0 {
		return ""
	}
	return c.Args[0].Lit()
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
		name := path.Base(firstWord(c))
		switch {
		case until:
			return name == "false"
		case name == "[" || name == "test":
			return isTrueTest(c.Args[1:])
		}
		return wordset.Has(": true yes", name)
	case *syntax.ArithmCmd:
		word, ok := c.X.(*syntax.Word)
		return ok && isDigits(word.Lit()) && (strings.Trim(word.Lit(), "0") == "") == until
	case *syntax.TestClause:
		switch x := c.X.(type) {
		case *syntax.Word:
			return !until && x.Lit() != ""
		case *syntax.BinaryTest:
			return !until && isSame(x.X, x.Y)
		}
	}
	return false
}

// isTrueTest reports whether a test holds whatever else is so: of one literal word, [ 1 ], or of two
// that are equal.
func isTrueTest(args []*syntax.Word) bool {
	if n := len(args); n > 0 && args[n-1].Lit() == "]" {
		args = args[:n-1]
	}
	switch len(args) {
	case 1:
		return args[0].Lit() != ""
	case 3:
		return wordset.Has("= == -eq", args[1].Lit()) && isSame(args[0], args[2])
	}
	return false
}

// isSame reports whether both sides of a comparison are the same literal word.
func isSame(x, y syntax.Node) bool {
	a, ok := x.(*syntax.Word)
	b, both := y.(*syntax.Word)
	return ok && both && a.Lit() != "" && a.Lit() == b.Lit()
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
