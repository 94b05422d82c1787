package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// substitutes start substitutions, which take the output of a command or give it input.
var substitutes = []string{"$(", "`", "<(", ">(", "=(", "${ ", "${|", "${\n", "${\t"}

// A flow is a walk and its data flow: which output goes only to the agent, which input a program
// runs, and which files a command may write before another one runs them.
type flow struct {
	*reader
	reflexcore.Walk
	commands []command

	flows     bool // output may go somewhere else than to the agent
	captured  bool // the text itself captures output
	unordered bool // steps may run in another order
}

// newFlow analyzes the data flow of a walk.
func newFlow(r *reader, w reflexcore.Walk) *flow {
	f := &flow{reader: r, Walk: w, commands: make([]command, len(w.Steps))}
	for i := range f.Steps {
		f.commands[i].Step, f.commands[i].written = &f.Steps[i], map[string]bool{}
	}
	f.structure()
	for name := range f.call.Env {
		f.flows = f.flows || strings.HasPrefix(name, "BASH_FUNC_") // any program may be a function
	}
	for i := range f.Steps {
		st := &f.Steps[i]
		if st.Parent >= 0 && st.Parent < i {
			f.commands[st.Parent].wrapped = true
		}
		f.noteVariables(i)
		switch first(st) {
		case "hash", "enable", "bind": // names may mean something else after it
			f.flows = true
		}
	}
	for i := range f.Effects {
		e := &f.Effects[i]
		if e.Kind != effect.Read && e.Taint&effect.File != 0 || e.Kind == effect.Opaque {
			f.flows = true
		}
		switch c := f.command(e.Step); {
		case c == nil:
		case unknownCode(e):
			c.fed = true
		case e.Kind == effect.Write && effect.IsKnown(e.Target) && e.Bits&effect.Recursive == 0:
			c.written[e.Target] = true // a recursive one is mounted somewhere
		}
	}
	for i := range f.Effects { // what is read as well is bound
		e := &f.Effects[i]
		if c := f.command(e.Step); c != nil && (e.Kind == effect.Read || e.Kind == effect.Exec) {
			delete(c.written, e.Target)
		}
	}
	return f
}

// command is the command of a step; nil if there is none of that number.
func (f *flow) command(step int) *command {
	if step < 0 || step >= len(f.commands) {
		return nil
	}
	return &f.commands[step]
}

// readBy are the files that a step reads, and those that an unknown step reads.
func (f *flow) readBy(i int) (files []string) {
	for n := range f.Effects {
		e := &f.Effects[n]
		if e.Kind == effect.Read && effect.IsKnown(e.Target) && (e.Step == i || e.Step < 0) {
			files = append(files, e.Target)
		}
	}
	return files
}

// structure notes pipes, substitutions, loops and assignments in the text of the call.
func (f *flow) structure() {
	text := f.call.Command
	if text == "" {
		return
	}
	f.captured = wordset.ContainsAny(text, substitutes...)
	for i := range f.Steps {
		f.captured = f.captured || evaluators[first(&f.Steps[i])]
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		f.captured = true
	} else {
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BinaryCmd:
				if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && !passesOn(n.Y) {
					f.captured = true
				}
			case *syntax.CoprocClause:
				f.captured, f.unordered = true, true
			case *syntax.ForClause, *syntax.WhileClause:
				f.unordered = true
			case *syntax.Stmt:
				f.unordered = f.unordered || n.Background
			case *syntax.CallExpr:
				f.assigned(n.Assigns, len(n.Args) > 0)
			case *syntax.DeclClause:
				f.assigned(n.Args, true)
			}
			return true
		})
	}
	f.flows = f.flows || f.captured
}

// passesOn reports whether a command after a pipe only prints its input, or a part of it.
func passesOn(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := filepath.Base(call.Args[0].Lit())
	return viewers[name] || filters[name]
}

// assigned notes the values of assignments. It binds the files that they name if a command
// gets the variable, as in KUBECONFIG=x kubectl.
func (f *flow) assigned(list []*syntax.Assign, exported bool) {
	for _, a := range list {
		if a.Value == nil || a.Name == nil {
			continue
		}
		text := strings.ReplaceAll(plainText(a.Value), "${"+a.Name.Value+"}", "") // A="$A x"
		f.AddValue(a.Name.Value, f.Expand(text))
		if !f.words || !exported {
			continue
		}
		for _, dir := range f.folders() {
			for _, word := range f.parts(f.Expand(strings.ReplaceAll(text, "${PWD}", dir))) {
				if effect.IsKnown(word) && word != "" && (filepath.IsAbs(word) || filepath.IsAbs(dir)) {
					f.Visit(abs(dir, word), disk.Data)
				}
			}
		}
	}
}

// folders are the working folders of the call and of its steps.
func (f *flow) folders() []string {
	dirs := []string{f.call.Dir}
	for i := range f.Steps {
		dir := f.Steps[i].Dir
		if !filepath.IsAbs(dir) || !effect.IsKnown(dir) || slices.Contains(dirs, dir) {
			continue
		}
		if len(dirs) >= disk.MaxBases {
			f.Name("what lies in more than %d folders", disk.MaxBases)
			return dirs
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// noteVariables notes the variables that the words of a step set.
func (f *flow) noteVariables(i int) {
	if st := &f.Steps[i]; variableSetters[first(st)] {
		for _, w := range st.Argv[1:] {
			if name, value, ok := strings.Cut(w, "="); ok && operand(w) && !strings.ContainsAny(name, "/ ") {
				f.AddValue(name, value)
			}
		}
	}
}

// plainText is a word without its quotes. Variables in it are kept as written.
func plainText(w *syntax.Word) string {
	var b strings.Builder
	var parts func(list []syntax.WordPart)
	parts = func(list []syntax.WordPart) {
		for _, part := range list {
			switch part := part.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
			case *syntax.SglQuoted:
				b.WriteString(part.Value)
			case *syntax.DblQuoted:
				parts(part.Parts)
			case *syntax.ParamExp:
				b.WriteString("${" + part.Param.Value + "}")
			default: // its own command binds what it reads
				b.WriteString(effect.Unknown)
			}
		}
	}
	parts(w.Parts)
	return b.String()
}

// unknownCode reports whether an effect runs unknown code that is not in a file.
func unknownCode(e *effect.Effect) bool {
	if e.Bits&(effect.Remote|effect.Later) != 0 {
		return false
	}
	known := e.Bits&effect.Partial == 0 && e.Taint&effect.Network == 0
	return e.Kind == effect.Opaque || e.Kind == effect.Exec && !known && !strings.ContainsAny(e.Target, "/\x00")
}

// A pass binds what the commands and effects of one walk execute.
type pass struct {
	*flow
	executed []executedFile // files that are executed
}

// An executedFile is a file that a step executes. Earlier steps may write it.
type executedFile struct {
	step      int
	file, dir string
}
