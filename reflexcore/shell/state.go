package shell

import (
	"path"
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
	splits bool // it may be any number of words, as it was not quoted
	glob   bool // it is a pattern of file names
	quoted bool // some of it was quoted
}

// A variable has one value, or one of several.
type variable struct {
	name string
	data
	alts    []data // more than one value is possible
	list    []data // an array
	keys    []string
	array   bool
	unset   bool
	forms   []variable // more than one array is possible
	settled int        // how many alts it had after a loop's first round
	ref     string     // it stands for the variable of this name
}

type function struct {
	name  string
	body  *syntax.Stmt // nil: it was taken back
	maybe bool         // in a branch: an earlier one may count
}

type alias struct {
	name, text string
	maybe      bool
}

// A held variable is restored when a function or a command ends.
type held struct {
	variable
	was bool // there was one
}

// A virtual file is a file that this text wrote, copied, or connected.
type virtual struct {
	path string
	data
	alias string            // it is another file
	link  bool              // and a link to it: what lies below it lies there
	sink  []*syntax.Stmt    // what is written there is read by these
	src   *syntax.ProcSubst // for which they were made
}

// An interp walks one text. It is kept for the next one.
type interp struct {
	*Analyzer
	lim *Limits
	res *Result
	ctx Context

	vars     []variable // the last one of a name counts
	mark     int        // variables before it belong to an outer scope
	funcs    []function
	aliases  []alias
	files    []virtual
	params   []data
	others   [][]data // more than one list of parameters is possible
	locals   []held   // what functions that are running restore
	branches int      // how many branches, which may not be taken, enclose this
	jumped   jump
	vague    bool   // numbers that are assigned are not known
	err      *data  // where the error output goes; nil: nowhere
	shared   bool   // a command chooses for the one that it is part of
	before   string // where it still is if the last cd failed; empty: it did not
	zero     data   // $0
	named    bool   // the first word after a script is $0
	dir      string

	depth    int
	steps    int
	expanded int
	bits     effect.Bits // of the place: remote
	via      string
	step     int
	fds      [10]string     // the paths of open descriptors
	eof      bool           // read found nothing more
	active   []*syntax.Stmt // bodies of functions that are running

	texts    strings.Builder // what words are made of, in one piece of memory
	fields   []field         // a stack
	words    []string
	buf      []byte
	spare    []*applied
	conduits []*conduit
	level    int
	choices  []choice
	choose   bool // choices are open: the command is tried for each
	procs    int
	links    int          // how many files are links
	murky    effect.Taint // of what is not known in texts that are parsed once more
}

// A jump leaves a loop or a function: what stands after it may not run.
type jump uint8

const (
	leavesLoop jump = 1 << iota
	leavesFunction
)

// A choice is a value that may be one of several.
type choice struct {
	key string
	n   int
	at  int
}

var interps = sync.Pool{New: func() any { return &interp{} }}

func (in *interp) reset(a *Analyzer, ctx Context, out *Result) {
	*out = Result{Effects: out.Effects[:0], Steps: out.Steps[:0]}
	*in = interp{
		Analyzer: a, lim: &a.Limits, res: out, ctx: ctx, dir: ctx.Dir, step: -1, zero: data{text: "bash"},
		vars: in.vars[:0], funcs: in.funcs[:0], aliases: in.aliases[:0], files: in.files[:0], locals: in.locals[:0],
		fields: in.fields[:0], words: in.words[:0], buf: in.buf[:0], spare: in.spare, conduits: in.conduits, choices: in.choices[:0],
	}
	if in.dir == "" {
		in.dir = effect.Unknown
	}
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
	in.vars, in.funcs, in.aliases = wiped(in.vars), wiped(in.funcs), wiped(in.aliases)
	in.files, in.fields, in.words = wiped(in.files), wiped(in.fields), wiped(in.words)
	in.texts.Reset()
	in.locals = wiped(in.locals)
	in.Analyzer, in.res, in.ctx, in.params, in.others = nil, nil, Context{}, nil, nil
}

// keep returns bytes as a text.
func (in *interp) keep(b []byte) string {
	start := in.texts.Len()
	in.texts.Write(b)
	return in.texts.String()[start:]
}

// concat joins texts.
func (in *interp) concat(parts ...string) string {
	start := in.texts.Len()
	for _, p := range parts {
		in.texts.WriteString(p)
	}
	return in.texts.String()[start:]
}

func (in *interp) stopped() bool { return in.res.Over != "" }

// over ends the analysis: what comes after is not known.
func (in *interp) over(limit string) {
	if in.res.Over == "" {
		in.res.Over = limit
		in.res.Effects = append(in.res.Effects, effect.Effect{Kind: effect.Opaque, Target: "too complex: " + limit, Step: in.step})
	}
}

// spend takes one step.
func (in *interp) spend() bool {
	if in.steps++; in.steps > in.lim.Steps {
		in.over("steps")
	}
	return !in.stopped()
}

// work takes the steps that looking for a pattern in so many bytes is worth.
func (in *interp) work(bytes int) bool {
	in.steps += bytes / 8
	return in.spend()
}

// made counts bytes that an expansion made.
func (in *interp) made(n int) bool {
	if in.expanded += n; in.expanded > in.lim.Expanded {
		in.over("expansion")
	}
	return !in.stopped()
}

func (in *interp) add(e effect.Effect) {
	if len(in.res.Effects) >= in.lim.Effects {
		in.over("effects")
		return
	}
	e.Bits |= in.bits
	e.Step = in.step
	for i := len(in.res.Effects) - 1; i >= max(0, len(in.res.Effects)-4); i-- {
		if have := in.res.Effects[i]; have.Kind == e.Kind {
			if have.Step = e.Step; have == e {
				return
			}
		}
	}
	in.res.Effects = append(in.res.Effects, e)
}

// lookup finds a variable, or nil.
func (in *interp) lookup(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := in.find(name)
		if v == nil || v.ref == "" {
			if v != nil && v.forms != nil {
				return &v.forms[in.pick(name, len(v.forms))]
			}
			return v
		}
		name = v.ref
	}
	return nil
}

func (in *interp) find(name string) *variable {
	for i := len(in.vars) - 1; i >= 0; i-- {
		if in.vars[i].name == name {
			return &in.vars[i]
		}
	}
	return nil
}

// hold remembers a variable until [interp.restore].
func (in *interp) hold(name string) held {
	v := in.find(name)
	if v == nil {
		return held{variable: variable{name: name}}
	}
	h := held{variable: *v, was: true}
	h.list, h.keys = slices.Clone(v.list), slices.Clone(v.keys)
	return h
}

// restore gives a variable back the value that it had.
func (in *interp) restore(h held) {
	for i := len(in.vars) - 1; i >= in.mark; i-- {
		if in.vars[i].name == h.name {
			in.vars[i] = h.variable
			if !h.was {
				in.vars[i] = variable{}
				if i == len(in.vars)-1 {
					in.vars = in.vars[:i]
				}
			}
			return
		}
	}
	if h.was {
		in.vars = append(in.vars, h.variable)
	}
}

// slot returns the variable to assign to, in the present scope.
func (in *interp) slot(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := in.find(name)
		if v == nil || v.ref == "" {
			break
		}
		name = v.ref
	}
	for i := len(in.vars) - 1; i >= in.mark; i-- {
		if in.vars[i].name == name {
			return &in.vars[i]
		}
	}
	if len(in.vars) >= in.lim.Fields {
		in.over("variables")
	}
	v := variable{name: name}
	if outer := in.find(name); outer != nil {
		v = *outer
		v.list, v.keys = append([]data(nil), outer.list...), append([]string(nil), outer.keys...)
	}
	in.vars = append(in.vars, v)
	return &in.vars[len(in.vars)-1]
}

func (in *interp) set(name string, d data) {
	v := in.slot(name)
	*v = variable{name: v.name, data: d}
}

// A scope is what a subshell or a branch has for itself.
type scope struct {
	mark, length   int
	dir, before    string
	params         []data
	others         [][]data
	funcs, aliases int
}

// enter begins a scope for variables, directory and parameters.
func (in *interp) enter() scope {
	s := scope{in.mark, len(in.vars), in.dir, in.before, in.params, in.others, len(in.funcs), len(in.aliases)}
	in.mark = s.length
	return s
}

// branch begins a scope that [interp.join] ends.
func (in *interp) branch() scope {
	in.branches++
	return in.enter()
}

// leave ends a scope and forgets what became of it, as a subshell does.
func (in *interp) leave(s scope) {
	clear(in.vars[s.length:])
	in.mark, in.vars, in.dir, in.before, in.params, in.others = s.mark, in.vars[:s.length], s.dir, s.before, s.params, s.others
	in.funcs, in.aliases = in.funcs[:s.funcs], in.aliases[:min(s.aliases, len(in.aliases))]
}

// join ends the scope of a branch: what it assigned is one more possibility.
func (in *interp) join(s scope) {
	in.branches--
	dir, params, others := in.dir, in.params, in.others
	in.mark, in.params, in.others = s.mark, s.params, s.others
	if others != nil || (params == nil) != (s.params == nil) || len(params) != len(s.params) || len(params) > 0 && &params[0] != &s.params[0] {
		in.joinParams(params, others)
	}
	for i := s.funcs; i < len(in.funcs); i++ {
		in.funcs[i].maybe = true
	}
	for i := s.aliases; i < len(in.aliases); i++ {
		in.aliases[i].maybe = true
	}
	if len(in.vars) > s.length {
		changed := append([]variable(nil), in.vars[s.length:]...)
		clear(in.vars[s.length:])
		in.vars = in.vars[:s.length]
		for _, v := range changed {
			if v.name != "" {
				in.merge(v)
			}
		}
	}
	if in.dir = s.dir; dir != s.dir {
		in.dir = effect.Unknown
	}
}

// joinParams makes what a branch set the parameters to one more possibility.
func (in *interp) joinParams(params []data, others [][]data) {
	all := slices.Clone(in.others)
	if all == nil {
		all = append(all, in.params)
	}
	if others == nil {
		others = append(others, params)
	}
	for _, list := range others {
		if !slices.ContainsFunc(all, func(have []data) bool { return slices.Equal(have, list) && (have == nil) == (list == nil) }) {
			all = append(all, list)
		}
	}
	if len(all) > in.lim.Alternatives {
		in.over("alternatives")
		return
	}
	if len(all) > 1 {
		in.others = all
	}
}

// setPositional sets the positional parameters.
func (in *interp) setPositional(list []data) { in.params, in.others = list, nil }

// positional are the positional parameters.
func (in *interp) positional() []data {
	if in.others != nil {
		return in.others[in.pick("@", len(in.others))]
	}
	return in.params
}

// merge makes what a branch assigned one more possible value.
func (in *interp) merge(v variable) {
	old := in.find(v.name)
	if v.array || v.ref != "" || old != nil && old.array {
		in.mergeArray(old, v)
		return
	}
	var alts []data
	switch {
	case old == nil:
		alts = append(alts, in.environment(v.name))
	case old.alts != nil:
		alts = append(alts, old.alts...)
	default:
		alts = append(alts, old.data)
	}
	more := v.alts
	if more == nil {
		more = []data{v.data}
	}
	for _, d := range more {
		have := false
		for i := range alts {
			if have = alts[i].text == d.text; have {
				alts[i].taint |= d.taint
				break
			}
		}
		if !have {
			alts = append(alts, d)
		}
	}
	slot := in.slot(v.name)
	*slot = variable{name: slot.name, data: alts[0], settled: slot.settled}
	if len(alts) > in.lim.Alternatives {
		slot.data = unknown
		for _, d := range alts {
			slot.taint |= d.taint
		}
		return
	}
	if len(alts) > 1 {
		slot.alts = alts
	}
}

// mergeArray does it for arrays. One that only grew takes the place of the other.
func (in *interp) mergeArray(old *variable, v variable) {
	var forms []variable
	if old != nil {
		grew := old.array && v.array && len(v.list) >= len(old.list) && slices.Equal(old.list, v.list[:len(old.list)])
		switch {
		case grew && v.forms == nil:
		case old.forms != nil:
			forms = append(forms, old.forms...)
		default:
			forms = append(forms, *old)
		}
	}
	if v.forms != nil {
		forms = append(forms, v.forms...)
	} else if len(forms) > 0 {
		forms = append(forms, v)
	}
	slot := in.slot(v.name)
	*slot = v
	if slot.forms = nil; len(forms) > 1 && len(forms) <= in.lim.Alternatives {
		slot.forms = forms
	}
}

// every does something for each combination of what the variables in it may be.
// What the later ones assign is one more possibility.
func (in *interp) every(do func()) {
	if in.choose {
		do()
		return
	}
	choices := in.choices
	in.choices, in.choose = in.choices[len(in.choices):], true
	do()
	for try := 1; in.next() && !in.stopped(); try++ {
		if try > in.lim.Alternatives {
			in.over("alternatives")
			break
		}
		in.choose = true
		scope := in.branch()
		do()
		in.join(scope)
	}
	in.choices, in.choose = choices, false
}

// values are all that an expansion may give.
func (in *interp) values(w func() data) []data {
	var one [1]data
	out := one[:0]
	in.every(func() {
		if d := w(); !slices.Contains(out, d) {
			out = append(out, d)
		}
	})
	return out
}

// assignAll gives a variable all the values that it may have.
func (in *interp) assignAll(name string, values []data) {
	in.set(name, values[0])
	if len(values) > 1 {
		in.slot(name).alts = values
	}
}

// environment is the value of a variable that the text did not assign.
func (in *interp) environment(name string) data {
	switch name {
	case "PWD":
		return data{text: in.dir}
	case unknownName:
		return data{effect.Unknown, in.murky}
	}
	if v, ok := in.ctx.Env[name]; ok {
		return data{text: v}
	}
	if in.ctx.Unset {
		return data{}
	}
	if name == "TMPDIR" { // where it is not set, programs use this
		return data{text: "/tmp"}
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

// pick chooses one of n values of key. Within a command the same key gives the
// same value; the command is tried for the others.
func (in *interp) pick(key string, n int) int {
	for i := range in.choices {
		if in.choices[i].key == key {
			return min(in.choices[i].at, n-1)
		}
	}
	if !in.choose {
		return 0
	}
	in.choices = append(in.choices, choice{key: key, n: n})
	return 0
}

// next moves to the next combination of choices.
func (in *interp) next() bool {
	for i := range in.choices {
		if in.choices[i].at++; in.choices[i].at < in.choices[i].n {
			return true
		}
		in.choices[i].at = 0
	}
	return false
}

// abs makes a path absolute where the directory is known, and clean.
func (in *interp) abs(p string) string {
	if p == "" {
		return p
	}
	if p[0] != '/' {
		if p[0] == 0 || p[0] == '\\' || len(p) > 2 && p[1] == ':' {
			return p
		}
		p = in.concat(in.dir, "/", p)
	}
	if strings.Contains(p, "/.") || strings.Contains(p, "//") || len(p) > 1 && p[len(p)-1] == '/' {
		if slash := p[len(p)-1] == '/'; slash && strings.HasSuffix(p, "\x00/") {
			return p // the part that is not known may be empty: this may be the root
		}
		p = path.Clean(p)
	}
	return in.resolve(p)
}

// resolve follows descriptors, and links that this text made.
func (in *interp) resolve(p string) string {
	for _, folder := range [...]string{"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} {
		if n, ok := strings.CutPrefix(p, folder); ok && len(n) == 1 && n[0] >= '3' && n[0] <= '9' && in.fds[n[0]-'0'] != "" {
			return in.abs(in.fds[n[0]-'0'])
		}
	}
	for hops := 0; in.links > 0 && hops < 4; hops++ {
		i := len(in.files) - 1
		in.steps += i / 16
		for ; i >= 0; i-- {
			if f := &in.files[i]; f.link && len(p) > len(f.path) && p[len(f.path)] == '/' && p[:len(f.path)] == f.path {
				break
			}
		}
		if i < 0 {
			break
		}
		p = path.Clean(in.files[i].alias + p[len(in.files[i].path):])
	}
	return p
}

// file finds what this text knows of a file.
func (in *interp) file(p string) *virtual {
	in.steps += len(in.files) / 64
	for i := len(in.files) - 1; i >= 0; i-- {
		if in.files[i].path == p {
			return &in.files[i]
		}
	}
	if strings.ContainsAny(p, "*?[") {
		in.steps += len(in.files) / 4
		for i := len(in.files) - 1; i >= 0; i-- {
			if ok, err := path.Match(p, in.files[i].path); ok && err == nil {
				return &in.files[i]
			}
		}
	}
	return nil
}

// write notes that data was written to a path.
func (in *interp) write(p string, d data, more bool) {
	if f := in.file(p); f != nil {
		if f.sink != nil {
			s := in.enter()
			in.nested(f.sink, &input{d, true}, nil)
			in.leave(s)
			return
		}
		if more || in.branches > 0 { // what was there may still be
			if !more && f.text != "" && d.text != "" {
				d.text = "\n" + d.text
			}
			f.append(d)
		} else {
			f.data, f.alias = d, ""
		}
		return
	}
	if len(in.files) >= in.lim.Fields {
		in.over("files")
		return
	}
	if more {
		d = data{effect.Unknown + d.text, d.taint}
	}
	in.files = append(in.files, virtual{path: p, data: d})
}
