package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

func (in *interp) stmts(list []*syntax.Stmt, std *input, sink *data) {
	for i, s := range list {
		if in.stopped() {
			return
		}
		before := in.jumped
		in.stmt(s, std, sink)
		if in.jumped != before && i+1 < len(list) { // the rest may not run
			scope := in.branch()
			in.stmts(list[i+1:], std, sink)
			in.join(scope)
			return
		}
	}
}

// stmt walks a statement with its redirections.
func (in *interp) stmt(s *syntax.Stmt, std *input, sink *data) {
	if s.Cmd == nil && len(s.Redirs) == 0 || !in.spend() {
		return
	}
	if in.level++; in.level > 4*in.lim.Nesting {
		in.over("nesting")
	}
	defer func() { in.level-- }()
	if len(s.Redirs) == 0 {
		in.cmd(s, std, sink)
		return
	}
	fds, err := in.fds, in.err
	p := in.conduit()
	own, r, out := &p.in, &p.to, &p.out
	in.every(func() {
		*own, *r, *out = *std, redirected{std: own, sink: sink}, data{}
		for _, redir := range s.Redirs {
			in.redirect(redir, r, out)
		}
		if s.Cmd != nil {
			choose := in.choose
			in.choose = choose && in.shared
			in.cmd(s, r.std, r.sink)
			in.choose = choose
		} else if own.present {
			r.sink.append(own.data) // $(<FILE)
		}
		for _, t := range r.targets[:r.n] {
			d := data{taint: out.taint}
			if t.fd == 1 {
				d = *out
			}
			in.wrote(t.path, d, t.more, "redirection")
		}
	})
	if call, ok := s.Cmd.(*syntax.CallExpr); !ok || len(call.Args) != 1 || call.Args[0].Lit() != "exec" {
		in.fds = fds
	} else if own.present {
		*std = *own // exec connects what comes after it
	}
	in.err = err
	in.drop(p)
}

// A conduit is the memory for what flows between two commands, or into files.
type conduit struct {
	out data
	in  input
	to  redirected
}

// conduit returns an empty one.
func (in *interp) conduit() *conduit {
	if n := len(in.conduits); n > 0 {
		p := in.conduits[n-1]
		in.conduits = in.conduits[:n-1]
		return p
	}
	return &conduit{}
}

func (in *interp) drop(p *conduit) {
	*p = conduit{}
	in.conduits = append(in.conduits, p)
}

// redirected is where the streams of a statement go.
type redirected struct {
	std     *input
	sink    *data
	targets [8]target
	n       int
}

type target struct {
	path string
	more bool
	fd   int
}

// redirect applies one redirection.
func (in *interp) redirect(redir *syntax.Redirect, r *redirected, out *data) {
	fd := -1
	if redir.N != nil {
		if n, err := strconv.Atoi(redir.N.Value); err == nil && n < len(in.fds) {
			fd = n
		} else {
			fd = len(in.fds) - 1
		}
	}
	switch redir.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		in.here(in.document(redir), fd, r)
	case syntax.WordHdoc:
		d := in.one(redir.Word)
		d.text += "\n"
		in.here(d, fd, r)
	case syntax.RdrIn, syntax.RdrInOut:
		p := in.one(redir.Word)
		if fd < 0 {
			fd = 0
		}
		in.fds[fd] = p.text
		d := in.readFile(p, "redirection")
		if fd == 0 {
			*r.std = input{d, true}
		}
		if redir.Op == syntax.RdrInOut {
			in.opened(p, fd, true, r, out)
		}
	case syntax.DplIn, syntax.DplOut:
		in.duplicate(redir, fd, r, out)
	case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
		if fd < 0 {
			fd = 1
		}
		in.opened(in.one(redir.Word), fd, redir.Op == syntax.AppOut || redir.Op == syntax.AppClob || redir.Op == syntax.AppAll || redir.Op == syntax.AppAllClob, r, out)
	default:
		in.add(effect.Effect{Kind: effect.Opaque, Target: "redirection"})
	}
}

// here connects a text to a descriptor.
func (in *interp) here(d data, fd int, r *redirected) {
	if fd <= 0 {
		*r.std = input{d, true}
		return
	}
	in.procs++
	name := "/dev/fd/" + strconv.Itoa(62+in.procs)
	in.files = append(in.files, virtual{path: name, data: d})
	in.fds[fd] = name
}

// opened notes that a descriptor writes to a path.
func (in *interp) opened(p data, fd int, more bool, r *redirected, out *data) {
	in.fds[fd] = p.text
	if fd == 1 {
		r.sink = out
	}
	if r.n < len(r.targets) {
		r.targets[r.n] = target{p.text, more, fd}
		r.n++
		return
	}
	in.over("redirections")
}

// duplicate is >&N, <&N, and >&FILE.
func (in *interp) duplicate(redir *syntax.Redirect, fd int, r *redirected, out *data) {
	to := in.one(redir.Word)
	n, err := strconv.Atoi(strings.TrimSuffix(to.text, "-"))
	if fd < 0 {
		fd = 1
		if redir.Op == syntax.DplIn {
			fd = 0
		}
	}
	switch {
	case to.text == "-":
		return
	case err != nil && to.known():
		in.opened(to, 1, false, r, out)
		in.fds[2] = to.text
		return
	case err != nil || n >= len(in.fds):
		n = len(in.fds) - 1
	}
	from := in.fds[n]
	in.fds[fd] = from
	switch {
	case fd == 0 && from != "":
		*r.std = input{in.contentOf(from), true}
	case fd == 1 && from != "" && n != 1:
		in.opened(data{text: from}, 1, true, r, out)
	case fd == 1 && n == 2:
		r.sink = in.err
	case fd == 2 && n == 1:
		in.err = r.sink
	}
}

// cmd walks a command by its kind.
func (in *interp) cmd(s *syntax.Stmt, std *input, sink *data) {
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		in.call(c, std, sink, s.Background)
	case *syntax.BinaryCmd:
		in.binaryCmd(c, std, sink)
	case *syntax.Subshell:
		scope := in.enter()
		in.stmts(c.Stmts, std, sink)
		in.leave(scope)
	case *syntax.Block:
		in.stmts(c.Stmts, std, sink)
	case *syntax.IfClause:
		in.ifClause(c, std, sink)
	case *syntax.WhileClause:
		in.while(c, std, sink)
	case *syntax.ForClause:
		in.loop(c, std, sink)
	case *syntax.CaseClause:
		in.caseClause(c, std, sink)
	case *syntax.FuncDecl:
		in.declare(c, std, sink)
	case *syntax.ArithmCmd:
		in.number(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			in.number(x)
		}
	case *syntax.TestClause:
		in.test(c.X)
	case *syntax.DeclClause:
		in.declClause(c, sink)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			in.stmt(c.Stmt, std, sink)
		}
	case *syntax.CoprocClause:
		if c.Stmt != nil {
			in.stmt(c.Stmt, &input{unknown, true}, nil)
		}
	default:
		in.add(effect.Effect{Kind: effect.Opaque, Target: "unknown syntax"})
	}
}

func (in *interp) binaryCmd(c *syntax.BinaryCmd, std *input, sink *data) {
	switch c.Op {
	case syntax.AndStmt:
		before := in.before
		in.stmt(c.X, std, sink)
		in.before = before
		// The right side may not run; where it does, the left did too.
		scope := in.branch()
		in.stmt(c.Y, std, sink)
		dir := in.dir
		in.join(scope)
		if in.dir != dir {
			in.dir, in.before = dir, scope.dir
		}
	case syntax.OrStmt:
		in.stmt(c.X, std, sink)
		scope := in.branch()
		in.stmt(c.Y, std, sink)
		in.join(scope)
	default:
		if !in.shared && flat(c.X) && flat(c.Y) {
			in.every(func() {
				in.shared = true
				in.pipe(c, std, sink)
				in.shared = false
			})
			return
		}
		in.pipe(c, std, sink)
	}
}

// flat reports whether a statement is simple commands in a pipe: what they choose
// is chosen for all of them.
func flat(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && flat(c.X) && flat(c.Y)
	}
	return false
}

func (in *interp) pipe(c *syntax.BinaryCmd, std *input, sink *data) {
	p := in.conduit()
	scope := in.enter()
	in.stmt(c.X, std, &p.out)
	in.leave(scope)
	via := in.via
	in.via = "pipe"
	scope = in.branch()
	p.in = input{p.out, true}
	in.stmt(c.Y, &p.in, sink)
	in.join(scope) // zsh runs the last one in the shell itself
	in.via = via
	in.drop(p)
}

func (in *interp) ifClause(c *syntax.IfClause, std *input, sink *data) {
	for ; c != nil; c = c.Else {
		in.stmts(c.Cond, std, sink)
		scope := in.branch()
		in.stmts(c.Then, std, sink)
		in.join(scope)
	}
}

// while walks a loop as often as it reads lines that are known, else twice: what
// the first round assigned is there in the second.
func (in *interp) while(c *syntax.WhileClause, std *input, sink *data) {
	defer in.landed(in.jumped)
	for round := 0; round < in.lim.Rounds && in.spend(); round++ {
		before := len(std.text)
		eof := in.eof
		in.eof = false
		in.stmts(c.Cond, std, sink)
		done := in.eof
		in.eof = eof
		if done && round > 0 {
			return
		}
		scope := in.branch()
		in.stmts(c.Do, std, sink)
		in.join(scope)
		if round == 0 {
			in.settle()
		}
		if round >= 1 && len(std.text) == before {
			break
		}
		if round == in.lim.Rounds-2 {
			std.data = data{effect.Unknown, std.taint} // more than is looked at one by one
		}
	}
	if in.widen() {
		in.stmts(c.Cond, std, sink)
		scope := in.branch()
		in.stmts(c.Do, std, sink)
		in.join(scope)
	}
}

// settle notes how many values each variable has after the first round of a loop.
func (in *interp) settle() {
	for i := range in.vars {
		in.vars[i].settled = len(in.vars[i].alts)
	}
}

// widen makes unknown what has more values with each round of a loop, and reports
// whether there is such a variable.
func (in *interp) widen() (any bool) {
	for i := range in.vars {
		v := &in.vars[i]
		if len(v.alts) <= max(v.settled, 2) {
			continue
		}
		any = true
		d := data{text: "1" + effect.Unknown}
		for _, a := range v.alts {
			d.taint |= a.taint
			if _, err := strconv.Atoi(a.text); err != nil {
				d.text = effect.Unknown
			}
		}
		v.data, v.alts = d, nil
	}
	return any
}

func (in *interp) loop(c *syntax.ForClause, std *input, sink *data) {
	defer in.landed(in.jumped)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		mark := len(in.fields)
		if l.InPos.IsValid() {
			in.every(func() { in.expand(l.Items) })
		} else {
			list, sure := in.elements("@")
			for _, d := range list {
				in.push(field{data: d, splits: !sure})
			}
		}
		n := len(in.fields) - mark
		for i := 0; i < n && in.spend(); i++ {
			f := in.fields[mark+i]
			if i >= in.lim.Rounds {
				in.set(l.Name.Value, data{effect.Unknown, f.taint})
				in.stmts(c.Do, std, sink)
				break
			}
			if in.jumped&leavesLoop == 0 {
				in.set(l.Name.Value, f.data)
				in.stmts(c.Do, std, sink)
				continue
			}
			scope := in.branch() // the loop may have ended
			in.set(l.Name.Value, f.data)
			in.stmts(c.Do, std, sink)
			in.join(scope)
		}
		in.fields = in.fields[:mark]
	case *syntax.CStyleLoop:
		in.number(l.Init)
		for round := 0; round < in.lim.Rounds && in.spend(); round++ {
			n, ok := in.number(l.Cond)
			if ok && n == 0 && l.Cond != nil {
				return
			}
			if !ok && round > 1 {
				return
			}
			in.stmts(c.Do, std, sink)
			in.number(l.Post)
		}
		in.vague = true // from here on it counts to what is not known
		in.number(l.Post)
		in.vague = false
		in.stmts(c.Do, std, sink)
	}
}

// landed ends a loop: what left it goes on behind it.
func (in *interp) landed(before jump) { in.jumped = in.jumped&^leavesLoop | before&leavesLoop }

func (in *interp) caseClause(c *syntax.CaseClause, std *input, sink *data) {
	words := in.values(func() data { return in.one(c.Word) })
	if len(words) == 1 {
		in.cases(c, words[0], std, sink)
		return
	}
	for _, word := range words {
		scope := in.branch()
		in.cases(c, word, std, sink)
		in.join(scope)
	}
}

func (in *interp) cases(c *syntax.CaseClause, word data, std *input, sink *data) {
	certain := true // no item before this one may have matched
	for _, item := range c.Items {
		matched, sure := false, true
		for _, p := range item.Patterns {
			is, known := in.matches(word.text, in.one(p).text)
			matched = matched || is
			sure = sure && known
		}
		if sure && !matched {
			continue
		}
		if sure && certain && item.Op == syntax.Break {
			in.stmts(item.Stmts, std, sink)
			return
		}
		certain = false
		scope := in.branch()
		in.stmts(item.Stmts, std, sink)
		in.join(scope)
		if sure && item.Op == syntax.Break {
			return
		}
	}
}

func (in *interp) declare(c *syntax.FuncDecl, std *input, sink *data) {
	names := c.Names
	if c.Name != nil {
		names = []*syntax.Lit{c.Name}
	}
	if len(names) == 0 { // an anonymous function runs at once
		in.stmt(c.Body, std, sink)
		return
	}
	for _, n := range names {
		if len(in.funcs) >= in.lim.Fields {
			in.over("functions")
			return
		}
		in.funcs = append(in.funcs, function{name: n.Value, body: c.Body})
		switch n.Value {
		case "command_not_found_handle", "command_not_found_handler", "precmd", "preexec", "chpwd", "zshexit", "TRAPEXIT", "TRAPZERR", "TRAPDEBUG":
			scope := in.enter() // nobody needs to call it
			in.stmt(c.Body, &input{}, nil)
			in.leave(scope)
		}
	}
}

// test walks the words of [[ ]] for what they run.
func (in *interp) test(x syntax.TestExpr) {
	if !in.spend() {
		return
	}
	switch x := x.(type) {
	case *syntax.Word:
		in.one(x)
	case *syntax.BinaryTest:
		in.test(x.X)
		in.test(x.Y)
		if x.Op >= syntax.TsEql && x.Op <= syntax.TsGtr { // numbers
			in.testNumber(x.X)
			in.testNumber(x.Y)
		}
	case *syntax.UnaryTest:
		in.test(x.X)
		if x.Op == syntax.TsVarSet {
			in.testNumber(x.X)
		}
	case *syntax.ParenTest:
		in.test(x.X)
	}
}

// testNumber walks what the index in a number or a name of [[ ]] runs.
func (in *interp) testNumber(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		in.injected(in.one(w))
	}
}

// declClause is export, declare, local, readonly and typeset.
func (in *interp) declClause(c *syntax.DeclClause, sink *data) {
	if len(c.Args) == 0 || len(c.Args) == 1 && c.Args[0].Value != nil && (c.Args[0].Value.Lit() == "-p" || c.Args[0].Value.Lit() == "-x") {
		in.environs(0, nil, sink)
	}
	var ref, global bool
	variant := ""
	if c.Variant != nil {
		variant = c.Variant.Value
	}
	for _, a := range c.Args {
		if a.Name != nil {
			if len(in.active) > 0 && !global && (variant == "local" || variant == "declare" || variant == "typeset") {
				in.locals = append(in.locals, in.hold(a.Name.Value))
			}
			if !a.Naked {
				in.assign(a)
			}
			if ref && a.Value != nil {
				*in.slot(a.Name.Value) = variable{name: a.Name.Value, ref: in.value(a.Name.Value).text}
			}
			continue
		}
		if a.Value == nil {
			continue
		}
		if flag := a.Value.Lit(); flag != "" && flag[0] == '-' {
			ref = ref || strings.Contains(flag, "n")
			global = global || strings.Contains(flag, "g")
			continue
		}
		// The word may itself expand to an assignment.
		mark := len(in.fields)
		in.word(a.Value)
		for _, f := range in.fields[mark:] {
			if name, value, ok := strings.Cut(f.text, "="); ok && effect.IsKnown(name) {
				in.set(name, data{value, f.taint})
			}
		}
		in.fields = in.fields[:mark]
	}
	for _, a := range c.Args {
		if a.Name != nil && !a.Naked && !ref {
			in.environ(a.Name.Value, in.value(a.Name.Value))
		}
	}
}

// assign makes an assignment.
func (in *interp) assign(a *syntax.Assign) {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		in.every(func() { in.assignArray(a) })
	case a.Index != nil:
		in.every(func() { in.assignIndex(name, a) })
	case a.Append:
		if v := in.slot(name); v.array {
			more := in.one(a.Value)
			if v = in.slot(name); len(v.list) > 0 {
				v.list[0].append(more)
			}
			return
		}
		in.assignAll(name, in.values(func() data {
			old, more := in.value(name), in.one(a.Value)
			in.made(len(old.text) + len(more.text))
			return data{old.text + more.text, old.taint | more.taint}
		}))
	default:
		in.assignAll(name, in.values(func() data { return in.one(a.Value) }))
	}
}

func (in *interp) assignArray(a *syntax.Assign) {
	v := variable{name: a.Name.Value, array: true}
	if old := in.lookup(v.name); a.Append && old != nil && old.array {
		in.steps += len(old.list) / 16
		v.list, v.keys = append(v.list, old.list...), append(v.keys, old.keys...)
	}
	mark := len(in.fields)
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			v.keys = append(v.keys, in.key(e.Index).text)
			v.list = append(v.list, in.one(e.Value))
			continue
		}
		in.word(e.Value)
	}
	for _, f := range in.fields[mark:] {
		v.list = append(v.list, f.data)
		if v.keys != nil {
			v.keys = append(v.keys, strconv.Itoa(len(v.keys)))
		}
	}
	in.fields = in.fields[:mark]
	slot := in.slot(v.name)
	v.name = slot.name
	*slot = v
}

func (in *interp) assignIndex(name string, a *syntax.Assign) {
	value, key := in.one(a.Value), in.key(a.Index)
	n, err := strconv.Atoi(in.arithmetic(a.Index).text)
	v := in.slot(name)
	if !v.array {
		*v = variable{name: name, array: true}
	}
	if err == nil && v.keys == nil && n >= 0 && n <= len(v.list) {
		if n == len(v.list) {
			v.list = append(v.list, value)
		} else {
			v.list[n] = value
		}
		return
	}
	if v.keys == nil {
		for i := range v.list {
			v.keys = append(v.keys, strconv.Itoa(i))
		}
	}
	if a.Append {
		for i := range v.keys {
			if v.keys[i] == key.text {
				v.list[i].append(value)
				return
			}
		}
	}
	if err == nil {
		key.text = strconv.Itoa(n)
	}
	v.keys, v.list = append(v.keys, key.text), append(v.list, value)
}
