package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

func (in *interp) stmts(list []*syntax.Stmt, std *input, sink *data) {
	for _, s := range list {
		if in.stopped() {
			return
		}
		in.stmt(s, std, sink)
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
	fds := in.fds
	p := in.pipe()
	p.in = *std
	r, out := &p.to, &p.out
	r.std, r.sink = &p.in, sink
	for _, redir := range s.Redirs {
		in.redirect(redir, r, out)
	}
	if s.Cmd != nil {
		in.cmd(s, r.std, r.sink)
	}
	for _, t := range r.targets[:r.n] {
		d := data{taint: out.taint}
		if t.fd == 1 {
			d = *out
		}
		in.wrote(t.path, d, t.more, "redirection")
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); !ok || len(call.Args) != 1 || call.Args[0].Lit() != "exec" {
		in.fds = fds
	}
	in.drop(p)
}

// A pipe is the memory for what flows between two commands, or into files.
type pipe struct {
	out data
	in  input
	to  redirected
}

// pipe returns an empty one.
func (in *interp) pipe() *pipe {
	if n := len(in.pipes); n > 0 {
		p := in.pipes[n-1]
		in.pipes = in.pipes[:n-1]
		return p
	}
	return &pipe{}
}

func (in *interp) drop(p *pipe) {
	*p = pipe{}
	in.pipes = append(in.pipes, p)
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
		r.sink = nil
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
		in.declClause(c)
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
		in.stmt(c.X, std, sink)
		// The right side may not run; where it does, the left did too.
		scope := in.enter()
		in.stmt(c.Y, std, sink)
		dir := in.dir
		in.join(scope)
		in.dir = dir
	case syntax.OrStmt:
		in.stmt(c.X, std, sink)
		scope := in.enter()
		in.stmt(c.Y, std, sink)
		in.join(scope)
	default:
		p := in.pipe()
		scope := in.enter()
		in.stmt(c.X, std, &p.out)
		in.leave(scope)
		via := in.via
		in.via = "pipe"
		scope = in.enter()
		p.in = input{p.out, true}
		in.stmt(c.Y, &p.in, sink)
		in.join(scope) // zsh runs the last one in the shell itself
		in.via = via
		in.drop(p)
	}
}

func (in *interp) ifClause(c *syntax.IfClause, std *input, sink *data) {
	for ; c != nil; c = c.Else {
		in.stmts(c.Cond, std, sink)
		scope := in.enter()
		in.stmts(c.Then, std, sink)
		in.join(scope)
	}
}

// while walks a loop as often as it reads lines that are known, else twice: what
// the first round assigned is there in the second.
func (in *interp) while(c *syntax.WhileClause, std *input, sink *data) {
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
		scope := in.enter()
		in.stmts(c.Do, std, sink)
		in.join(scope)
		if round >= 1 && len(std.text) == before {
			return
		}
	}
}

func (in *interp) loop(c *syntax.ForClause, std *input, sink *data) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		mark := len(in.fields)
		if l.InPos.IsValid() {
			in.expand(l.Items)
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
			in.set(l.Name.Value, f.data)
			in.stmts(c.Do, std, sink)
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
	}
}

func (in *interp) caseClause(c *syntax.CaseClause, std *input, sink *data) {
	word := in.one(c.Word)
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
		scope := in.enter()
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
		in.funcs = append(in.funcs, function{n.Value, c.Body})
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
	case *syntax.UnaryTest:
		in.test(x.X)
	case *syntax.ParenTest:
		in.test(x.X)
	}
}

// declClause is export, declare, local, readonly and typeset.
func (in *interp) declClause(c *syntax.DeclClause) {
	for _, a := range c.Args {
		if a.Name != nil && !a.Naked {
			in.assign(a)
			continue
		}
		if a.Name != nil || a.Value == nil {
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
	if c.Variant != nil && c.Variant.Value == "export" {
		for _, a := range c.Args {
			if a.Name != nil && !a.Naked {
				in.environ(a.Name.Value, in.value(a.Name.Value))
			}
		}
	}
}

// assign makes an assignment.
func (in *interp) assign(a *syntax.Assign) {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		in.assignArray(a)
	case a.Index != nil:
		in.assignIndex(name, a)
	case a.Append:
		old, more := in.value(name), in.one(a.Value)
		v := in.slot(name)
		if v.array {
			if len(v.list) > 0 {
				v.list[0].append(more)
			}
			return
		}
		if in.made(len(old.text) + len(more.text)) {
			*v = variable{name: name, data: data{old.text + more.text, old.taint | more.taint}}
		}
	default:
		in.set(name, in.one(a.Value))
	}
}

func (in *interp) assignArray(a *syntax.Assign) {
	v := variable{name: a.Name.Value, array: true}
	if old := in.lookup(v.name); a.Append && old != nil && old.array {
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
	*in.slot(v.name) = v
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
