package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

func (in *interp) caseClause(c *syntax.CaseClause, std *input, sink *data) {
	words := in.readings.values(func() data { return in.exp.one(c.Word) })
	wired := len(in.io.rewired)
	if len(words) == 1 {
		in.cases(c, words[0], std, sink)
	} else {
		for _, word := range words {
			scope := in.enterBranch()
			in.cases(c, word, std, sink)
			in.join(scope)
		}
	}
	if len(in.io.rewired) > wired { // ;;& goes on with the next one
		in.io.onceMore(wired, std, sink, func() {
			for _, item := range c.Items {
				in.walkStmts(item.Stmts, std, sink)
			}
		})
	}
}

func (in *interp) cases(c *syntax.CaseClause, word data, std *input, sink *data) {
	certain := true // no item before this one may have matched
	for _, item := range c.Items {
		matched, sure := false, true
		for _, p := range item.Patterns {
			is, known := in.exp.matches(word.text, in.exp.one(p).text)
			matched = matched || is
			sure = sure && known
		}
		if sure && !matched {
			continue
		}
		if sure && certain && item.Op == syntax.Break {
			in.walkStmts(item.Stmts, std, sink)
			return
		}
		certain = false
		in.mayWalk(item.Stmts, std, sink)
		if sure && item.Op == syntax.Break {
			return
		}
	}
}

// testExpr walks the words of [[ ]] for what they run.
func (in *interp) testExpr(x syntax.TestExpr) {
	if !in.rep.spend() {
		return
	}
	switch x := x.(type) {
	case *syntax.Word:
		in.exp.one(x)
	case *syntax.BinaryTest:
		in.testExpr(x.X)
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest { // which may not be looked at
			scope := in.enterBranch()
			in.testExpr(x.Y)
			in.join(scope)
			return
		}
		in.testExpr(x.Y)
		if x.Op == syntax.TsReMatch {
			in.assigner.rematch(x.X, x.Y)
		}
		if x.Op >= syntax.TsEql && x.Op <= syntax.TsGtr { // numbers
			in.math.testNumber(x.X)
			in.math.testNumber(x.Y)
		}
	case *syntax.UnaryTest:
		in.testExpr(x.X)
		if x.Op == syntax.TsVarSet {
			in.math.testNumber(x.X)
		}
	case *syntax.ParenTest:
		in.testExpr(x.X)
	}
}
