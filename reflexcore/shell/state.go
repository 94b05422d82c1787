package shell

import (
	"slices"
	"strings"
	"sync"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// data is what flows: a value, a file's content, a stream.
type data struct {
	text  string // with [effect.Unknown] for what is not known
	taint effect.Taint
}

var unknown = data{text: effect.Unknown}

func (d data) known() bool { return effect.IsKnown(d.text) }

// append adds more to a stream.
func (d *data) append(more data) {
	if d == nil {
		return
	}
	if d.text == "" {
		d.text = more.text
	} else if more.text != "" && (more.text != effect.Unknown || !strings.HasSuffix(d.text, effect.Unknown)) {
		d.text += more.text
	}
	d.taint |= more.taint
}

// input is the standard input of a command.
type input struct {
	data
	present bool // something is connected
}

// A field is one word after expansion.
type field struct {
	data
	branch   bool // it is the name of the branch that is checked out, which git printed
	splits   bool // it may be any number of words, as it was not quoted
	glob     bool // it is a pattern of file names
	quoted   bool // some of it was quoted
	hollow   bool // what is not known of it may be nothing
	filled   bool // it begins with what is not known, which is something: "${X:?}/x"
	strange  bool // what is not known of it may be several words, and anybody's: $(cat f)
	based    bool // it begins with a variable of which only the environment knows the value: "$DESTDIR/usr"
	inherits bool // what is not known of it is in variables of the environment, all of it
	folder   askedFolder
	shaken   bool // it is a variable that a file may have set, see [variables.shake]
	setup    bool // it is what a program prints for a shell to run, and that alone
	odd      Oddity
}

type function struct {
	name  string
	body  *syntax.Stmt // nil: it was taken back
	maybe bool         // in a branch: an earlier one may count
	// It is exported: a shell that is started may have it.
	passed bool
}

type alias struct {
	name, text string
	maybe      bool
}

// An interp walks one text. It is kept for the next one.
type interp struct {
	*Analyzer

	ctx Context

	branches int // how many branches, which may not be taken, enclose this
	jumped   jump

	via string

	stands stands // what a word may be of which nothing is known

	rep      report // what was found, and what is left of the limits
	arena    arena
	cwd      workdir         // the working directory
	vars     variables       // what the shell's variables hold
	alt      alternatives    // which of several values the present command is walked with
	par      parameters      // $1, $name, ${name[i]}: what a word reads
	math     arithmetic      // $((…))
	assigner assigner        // name=value, declare, export
	exp      expander        // words become fields
	fs       filesystem      // files as the text leaves them
	io       descriptorTable // redirections and pipes
	def      definitions     // functions and aliases
	traps    traps           // what the shell runs by itself
	hist     history         // the list of commands, $_, FUNCNAME
	lines    lineReader      // read and mapfile
	echoes   echoLog         // what echo printed with backslashes
	dirs     directories     // cd, pushd, popd
	readings readings        // the ways to read one command
	src      sources         // the texts that are walked
	agents   agentReader     // commands that start agents
	env      exporter        // variables that programs inherit
	payloads payloadRunner   // sh -c, eval, scripts, code
	programs programRunner   // what the tables say of a program
}

// A jump leaves a loop or a function: what stands after it may not run.
type jump uint8

const (
	leavesLoop jump = 1 << iota
	leavesFunction
)

var interps = sync.Pool{New: func() any { return &interp{} }}

func (in *interp) reset(a *Analyzer, ctx Context, out *Result) {
	*out = Result{Effects: out.Effects[:0], Files: out.Files[:0], Texts: out.Texts[:0], Steps: out.Steps[:0], Dotted: out.Dotted[:0], Mentions: out.Mentions[:0], Programs: out.Programs[:0]}
	*in = interp{
		Analyzer: a, ctx: ctx,
		rep:      report{res: out, lim: &a.Limits, step: -1},
		cwd:      workdir{dir: ctx.Dir},
		vars:     variables{list: in.vars.list[:0], locals: in.vars.locals[:0]},
		alt:      alternatives{selection: selection{choices: in.alt.choices[:0]}},
		par:      parameters{zero: data{text: "bash"}},
		def:      definitions{funcs: in.def.funcs[:0], aliases: in.def.aliases[:0]},
		fs:       filesystem{list: in.fs.list[:0]},
		exp:      expander{fields: in.exp.fields[:0], buf: in.exp.buf[:0]},
		io:       descriptorTable{conduits: in.io.conduits},
		readings: readings{below: in.readings.below[:0]},
		stands:   stands{files: in.stands.files[:0], words: in.stands.words[:0]},
		src:      sources{trees: in.src.trees[:0]},
		programs: programRunner{words: in.programs.words[:0], spare: in.programs.spare},
	}
	in.assemble()
	if in.cwd.dir == "" {
		in.cwd.dir = effect.Unknown
	}
}

// assemble lets the parts of a walk find those that they need.
func (in *interp) assemble() {
	in.rep.ctx = &in.ctx
	in.vars.rep, in.vars.ctx, in.vars.cwd = &in.rep, &in.ctx, &in.cwd
	in.alt.rep, in.alt.vars, in.alt.arena, in.alt.ctx = &in.rep, &in.vars, &in.arena, &in.ctx
	in.echoes.rep, in.echoes.alt = &in.rep, &in.alt
	in.src.rep, in.src.ctx = &in.rep, &in.ctx
	in.par.in, in.math.in, in.assigner.in, in.exp.in, in.fs.in, in.io.in = in, in, in, in, in, in
	in.def.in, in.traps.in, in.hist.in, in.lines.in, in.dirs.in, in.readings.in = in, in, in, in, in, in
	in.stands.in, in.agents.in, in.env.in, in.payloads.in, in.programs.in = in, in, in, in, in
}

// wiped returns the memory of a list for the next text, or none if it is large.
func wiped[T any](list []T) []T {
	if cap(list) > 256 {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

// release forgets what the text was, so that nothing of it is kept.
func (in *interp) release() {
	in.vars.list, in.def.funcs, in.def.aliases = wiped(in.vars.list), wiped(in.def.funcs), wiped(in.def.aliases)
	in.fs.list, in.exp.fields, in.programs.words = wiped(in.fs.list), wiped(in.exp.fields), wiped(in.programs.words)
	in.arena.texts.Reset()
	in.stands = stands{files: wiped(in.stands.files), words: wiped(in.stands.words)}
	in.vars.locals, in.src.trees = wiped(in.vars.locals), wiped(in.src.trees)
	in.io.outs, in.io.err, in.io.out, in.io.stdin, in.io.stdout = [descriptors]*data{}, nil, connected{}, nil, nil
	in.io.wires, in.io.aliased, in.io.rewired, in.alt.snapshot = nil, nil, nil, nil
	in.src.outermost = read{}
	in.Analyzer, in.rep.res, in.ctx, in.par.params, in.par.others, in.traps.list, in.traps.hooks = nil, nil, Context{}, nil, nil, nil, nil
	in.par.grown = [2][]data{}
}

// keep returns bytes as a text.
func (m *arena) keep(b []byte) string {
	start := m.texts.Len()
	m.texts.Write(b)
	return m.texts.String()[start:]
}

// concat joins texts.
func (m *arena) concat(parts ...string) string {
	start := m.texts.Len()
	for _, p := range parts {
		m.texts.WriteString(p)
	}
	return m.texts.String()[start:]
}

func (r *report) stopped() bool { return r.res.Over != "" }

// over ends the analysis: what comes after is not known.
func (r *report) over(limit string) {
	if r.res.Over == "" {
		r.res.Over = limit
		r.res.Effects = append(r.res.Effects, effect.Effect{Kind: effect.Opaque, Target: "too complex: " + limit, Step: r.step})
	}
}

// tellsOver makes sure that a limit is an effect as well: only effects are judged.
func (r *report) tellsOver() {
	if over := r.res.Over; over != "" && !slices.ContainsFunc(r.res.Effects, func(e effect.Effect) bool { return e.Kind == effect.Opaque }) {
		r.res.Over = ""
		r.over(over)
	}
}

// spend takes one step.
func (r *report) spend() bool {
	if r.steps++; r.steps > r.lim.Steps {
		r.over("steps")
	}
	return !r.stopped()
}

// work takes the steps that looking for a pattern in so many bytes is worth.
func (r *report) work(bytes int) bool {
	r.steps += bytes / 8
	return r.spend()
}

// made counts bytes that an expansion made.
func (r *report) made(n int) bool {
	if r.expanded += n; r.expanded > r.lim.Expanded {
		r.over("expansion")
	}
	return !r.stopped()
}

// add adds an effect, and where its path is only known to be in a folder that may be
// one or another, what it is in that one as well.
func (in *interp) add(e effect.Effect) {
	in.rep.effect(e)
	switch e.Kind {
	case effect.Read, effect.Write, effect.Delete, effect.Permission, effect.Exec:
		if e.Bits&effect.Remote != 0 {
			break
		}
		target := e.Target
		if p := in.cwd.mayBe(target); p != "" {
			e.Target = p
			in.rep.effect(e)
		}
		if p := in.cwd.ifStill(target); p != "" && e.Kind != effect.Read && e.Kind != effect.Exec {
			e.Target = p
			in.rep.effect(e)
		}
		if p := in.dirs.atTop(target); p != "" {
			e.Target = p
			in.rep.effect(e)
		}
	default: // the others have no path
	}
}

// sameTail is how many effects an effect is compared with, so that it is not added twice.
const sameTail = 4

func (r *report) effect(e effect.Effect) {
	if len(r.res.Effects) >= r.lim.Effects {
		r.over("effects")
		return
	}
	// What a pattern may name is found out by looking through many places.
	if strings.Count(e.Target, "*") > 1 {
		r.steps += 96
	} else if strings.ContainsAny(e.Target, "*?[{\x00") {
		r.steps += 16
	}
	e.Bits |= r.bits
	e.Step = r.step
	for i := len(r.res.Effects) - 1; i >= max(0, len(r.res.Effects)-sameTail); i-- {
		if have := r.res.Effects[i]; have.Kind == e.Kind {
			if have.Step = e.Step; have == e {
				return
			}
		}
	}
	r.res.Effects = append(r.res.Effects, e)
}

// environment is the value of a variable that the text did not assign.
func (vs *variables) environment(name string) data {
	switch name {
	case "PWD":
		return data{text: vs.cwd.dir}
	case "BASH":
		return data{text: "/bin/bash"} // by the shell itself, whatever it inherits
	case "BASH_COMMAND":
		vs.rep.typed = true
		return unknown
	case "_":
		return unknown // the shell's own path, or a word of the command before this text
	case "DIRSTACK":
		return data{text: vs.cwd.dir}
	case unknownName:
		return data{effect.Unknown, vs.murky}
	}
	if v, ok := vs.ctx.Env[name]; ok {
		return data{text: v}
	}
	if vs.ctx.Unset {
		return data{}
	}
	switch name {
	case "TMPDIR": // where it is not set, programs use this
		return data{text: "/tmp"}
	case "SHELL":
		return data{text: "/bin/bash"} // or another one that takes -c
	}
	if secretName(name) {
		return data{text: effect.Unknown, taint: effect.Secret}
	}
	return unknown
}

// secretName reports whether a variable of that name holds a credential.
func secretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, part := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return false
}
