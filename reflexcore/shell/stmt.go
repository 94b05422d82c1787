package shell

import (
	"slices"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// cmd walks a command according to its type.
func (in *interp) cmd(s *syntax.Stmt, std *input, sink *data) {
	if len(in.vars.readonly) > 0 {
		defer in.vars.keepReadonly(in.vars.heldReadonly())
	}
	if s.Background { // in a subshell
		defer in.leave(in.enter())
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		in.callExpr(c, std, sink, s.Background)
	case *syntax.BinaryCmd:
		in.binaryCmd(c, std, sink)
	case *syntax.Subshell:
		in.subshell(func() { in.walkStmts(c.Stmts, std, sink) })
	case *syntax.Block:
		in.walkStmts(c.Stmts, std, sink)
	case *syntax.IfClause:
		in.ifClause(c, std, sink)
	case *syntax.WhileClause:
		in.while(c, std, sink)
	case *syntax.ForClause:
		in.loop(c, std, sink)
	case *syntax.CaseClause:
		in.caseClause(c, std, sink)
	case *syntax.FuncDecl:
		in.def.declare(c, std, sink)
	case *syntax.ArithmCmd:
		in.math.number(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			in.math.number(x)
		}
	case *syntax.TestClause:
		in.testExpr(c.X)
	case *syntax.DeclClause:
		in.assigner.declClause(c, sink)
		if in.hist.recalls&recallsLast != 0 {
			in.hist.recall([]data{in.hist.lastDeclared(c)}, s.Background)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			in.walkStmt(c.Stmt, std, sink)
		}
	case *syntax.CoprocClause:
		if c.Stmt != nil {
			in.scoped(func() { in.walkStmt(c.Stmt, &input{unknown, true}, nil) })
		}
	default:
		in.add(effect.Effect{Kind: effect.Opaque, Target: "unknown syntax"})
	}
}

func (in *interp) binaryCmd(c *syntax.BinaryCmd, std *input, sink *data) {
	switch c.Op {
	case syntax.AndStmt:
		before, beside := in.cwd.before, in.cwd.beside
		wired := len(in.io.rewired)
		in.walkStmt(c.X, std, sink)
		in.cwd.before, in.cwd.beside = before, beside
		// The right side may not run. If it does, the left side succeeded.
		scope := in.enterBranch()
		in.io.rewiredly(wired, std, sink, func() { in.walkStmt(c.Y, std, sink) })
		dir, may := in.cwd.dir, in.cwd.may
		in.join(scope)
		if in.cwd.dir != dir {
			in.dirs.goesFrom(scope.dir)
			in.cwd.dir, in.cwd.may = dir, may
		}
	case syntax.OrStmt:
		wired := len(in.io.rewired)
		in.walkStmt(c.X, std, sink)
		in.inBranch(func() { in.io.rewiredly(wired, std, sink, func() { in.walkStmt(c.Y, std, sink) }) })
	default:
		if !in.alt.shared && flat(c.X) && flat(c.Y) {
			omits, to := in.readings.omits, sink
			in.readings.every(func() {
				if in.readings.omits != omits {
					to = &data{}
				}
				in.alt.shared = true
				in.pipe(c, std, to)
				in.alt.shared = false
			})
			return
		}
		in.pipe(c, std, sink)
	}
}

func (in *interp) pipe(c *syntax.BinaryCmd, std *input, sink *data) {
	if in.def.installs(c) {
		defer in.rep.markInstaller(len(in.rep.res.Effects))
	}
	in.floodsPipe(c)
	p, left, stdin, via := in.io.conduit(), c.X, in.io.fds[0], in.via
	if c.Op == syntax.PipeAll { // 2>&1, after its own redirections
		with := *left
		with.Redirs = append(slices.Clip(with.Redirs), errorToo)
		left = &with
	}
	in.subshell(func() {
		in.io.fds[1] = ""
		in.walkStmt(left, std, &p.out)
	})
	in.io.fds[0], in.via = in.def.shownBy(left), "pipe"
	p.in = input{p.out, true}
	in.inBranch(func() { in.walkStmt(c.Y, &p.in, sink) }) // zsh runs the last one in the shell itself
	in.io.fds[0], in.via = stdin, via
	in.io.drop(p)
}

// errorToo is the redirection that |& adds to the command on its left.
var errorToo = &syntax.Redirect{
	N: &syntax.Lit{Value: "2"}, Op: syntax.DplOut, Word: &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "1"}}},
}

// isSimple reports whether the words of a command are expanded before its redirections are
// applied.
func isSimple(c syntax.Command) bool {
	switch c.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.LetClause, nil:
		return true
	}
	return false
}

func (in *interp) ifClause(c *syntax.IfClause, std *input, sink *data) {
	for ; c != nil; c = c.Else {
		if in.neverHolds(c.Cond) {
			continue
		}
		wired := len(in.io.rewired)
		in.walkStmts(c.Cond, std, sink)
		if len(in.io.rewired) > wired {
			in.io.rewiredly(wired, std, sink, func() {
				in.mayWalk(c.Then, std, sink)
				in.ifClause(c.Else, std, sink)
			})
			return
		}
		in.mayWalk(c.Then, std, sink)
	}
}

// neverHolds reports whether a condition is the word false, which nothing in the text makes another command.
func (in *interp) neverHolds(cond []*syntax.Stmt) bool {
	c := onlyCall(cond)
	return c != nil && len(c.Args) == 1 && c.Args[0].Lit() == "false" && isAlone(cond[0]) && !in.def.defines("false")
}

// while walks a loop as often as it reads known lines, or else twice, so that the second round
// sees the assignments of the first.
func (in *interp) while(c *syntax.WhileClause, std *input, sink *data) {
	if isEndless(c.Cond, c.Until) {
		in.flood(c.Do)
	}
	defer in.landed(in.jumped)
	defer in.io.onceMore(len(in.io.rewired), std, sink, func() {
		in.walkStmts(c.Cond, std, sink)
		in.walkStmts(c.Do, std, sink)
	})
	lists := loopLists{first: in.par.positionals}
	for round := 0; round < in.rep.lim.Rounds && in.rep.spend(); round++ {
		before, list := len(std.text), in.par.positionals
		eof := in.lines.eof
		in.lines.eof = false
		in.walkStmts(c.Cond, std, sink)
		done := in.lines.eof
		in.lines.eof = eof
		if done && round > 0 {
			in.par.afterLoop(&lists)
			return
		}
		var left positionals
		in.inBranch(func() {
			in.walkStmts(c.Do, std, sink)
			left = in.par.positionals
		})
		if round == 0 {
			for i := range in.vars.list {
				in.vars.list[i].settled = len(in.vars.list[i].alts)
			}
		}
		shifted := in.par.nextRound(&lists, list, left, round >= in.rep.lim.Rounds-2)
		if round >= 1 && len(std.text) == before && !shifted {
			break
		}
		if round == in.rep.lim.Rounds-2 {
			std.data = data{effect.Unknown, std.taint} // more lines than are walked one by one
		}
	}
	in.par.afterLoop(&lists)
	if in.vars.widen() {
		in.walkStmts(c.Cond, std, sink)
		in.mayWalk(c.Do, std, sink)
	}
}

func (in *interp) loop(c *syntax.ForClause, std *input, sink *data) {
	defer in.landed(in.jumped)
	defer in.io.onceMore(len(in.io.rewired), std, sink, func() { in.walkStmts(c.Do, std, sink) })
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		mark := len(in.exp.fields)
		lists := in.items(l)
		n := len(in.exp.fields) - mark
		for i := 0; i < n && in.rep.spend(); i++ {
			f := in.exp.fields[mark+i]
			round := func() {
				in.assigner.setVariable(l.Name.Value, f.data)
				in.walkStmts(c.Do, std, sink)
			}
			switch {
			case i >= in.rep.lim.Rounds:
				f.text, n = effect.Unknown, i
				round()
			case c.Select, lists > 1, f.vanishes(), !f.known() && f.taint&effect.File != 0: // it may not run at all
				in.dirs.perhaps(round)
			case in.jumped&leavesLoop == 0:
				round()
			default:
				in.inBranch(round) // the loop may have ended
			}
		}
		in.exp.fields = in.exp.fields[:mark]
	case *syntax.CStyleLoop:
		if l.Cond == nil {
			in.flood(c.Do)
		}
		in.math.number(l.Init)
		for round := 0; round < in.rep.lim.Rounds && in.rep.spend(); round++ {
			n, ok := in.math.number(l.Cond)
			if ok && n == 0 && l.Cond != nil {
				return
			}
			if !ok && round > 1 {
				return
			}
			do := func() {
				in.walkStmts(c.Do, std, sink)
				in.math.number(l.Post)
			}
			if !ok && l.Cond != nil {
				in.dirs.perhaps(do)
				continue
			}
			do()
		}
		in.math.vague = true // from here on the counter is unknown
		in.math.number(l.Post)
		in.math.vague = false
		in.walkStmts(c.Do, std, sink)
	}
}

// items pushes the words of a for loop, and returns how many alternative lists of them it pushed,
// one after the other.
func (in *interp) items(l *syntax.WordIter) (lists int) {
	if l.InPos.IsValid() {
		in.par.iterates = true
		in.readings.either(func() {
			in.exp.expand(l.Items)
			lists++
		})
		in.par.iterates = false
		return lists
	}
	open, all := in.par.openParams(), in.par.allLists()
	if open {
		all = [][]data{{unknown}}
	}
	for _, d := range slices.Concat(all...) {
		in.exp.push(field{data: d, splits: open, hollow: open})
	}
	return len(all)
}

// landed ends a loop: break and continue do not reach beyond it.
func (in *interp) landed(before jump) { in.jumped = in.jumped&^leavesLoop | before&leavesLoop }

func (in *interp) caseClause(c *syntax.CaseClause, std *input, sink *data) {
	words := in.readings.values(func() data { return in.exp.oneWord(c.Word) })
	wired := len(in.io.rewired)
	if len(words) == 1 {
		in.cases(c, words[0], std, sink)
	} else {
		for _, word := range words {
			in.inBranch(func() { in.cases(c, word, std, sink) })
		}
	}
	if len(in.io.rewired) > wired { // ;;& continues with the next item
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
			is, known := in.exp.matches(word.text, in.exp.oneWord(p).text)
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

// testExpr walks the words of [[ ]] for the commands that they run.
func (in *interp) testExpr(x syntax.TestExpr) {
	if !in.rep.spend() {
		return
	}
	switch x := x.(type) {
	case *syntax.Word:
		in.exp.oneWord(x)
	case *syntax.BinaryTest:
		in.testExpr(x.X)
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest { // which may not be evaluated
			in.inBranch(func() { in.testExpr(x.Y) })
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
