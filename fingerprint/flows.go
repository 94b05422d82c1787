package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"approver.example/reflexcore/effect"
)

// This file finds out, from how a text is written, whether what a command prints may go
// somewhere else than to the agent, and which files assignments name.

// substitutes start what takes the output of a command, or gives it input.
var substitutes = []string{"$(", "`", "<(", ">(", "=(", "${ ", "${|", "${\n", "${\t"}

// evaluators run words as text, in which a substitution may be hidden.
var evaluators = []string{"eval", "source", ".", "trap", "sh", "bash", "dash", "zsh", "ksh", "coproc"}

// structure notes what the text of the call says of where output goes.
func (p *pass) structure() {
	text := p.call.Command
	if text == "" {
		return
	}
	p.captured = slices.ContainsFunc(substitutes, func(s string) bool { return strings.Contains(text, s) })
	for i := range p.Steps {
		p.captured = p.captured || slices.Contains(evaluators, first(&p.Steps[i]))
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		p.captured = true
	} else {
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BinaryCmd:
				if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && !passesOn(n.Y) {
					p.captured = true
				}
			case *syntax.CoprocClause:
				p.captured, p.unordered = true, true
			case *syntax.ForClause, *syntax.WhileClause:
				p.unordered = true
			case *syntax.Stmt:
				p.unordered = p.unordered || n.Background
			case *syntax.CallExpr:
				p.assigned(n.Assigns, len(n.Args) > 0)
			case *syntax.DeclClause:
				p.assigned(n.Args, true)
			}
			return true
		})
	}
	p.flows = p.flows || p.captured
}

// passesOn reports whether a command behind a pipe only prints its input, or a part.
func passesOn(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := filepath.Base(call.Args[0].Lit())
	return slices.Contains(viewers, name) || slices.Contains(filters, name)
}

// assigned notes the values of assignments, and binds the files that they name if they
// are for a command, such as KUBECONFIG=x.
func (p *pass) assigned(list []*syntax.Assign, exported bool) {
	for _, a := range list {
		if a.Value == nil || a.Name == nil {
			continue
		}
		text := strings.ReplaceAll(plainText(a.Value), "${"+a.Name.Value+"}", "") // A="$A x"
		p.gives(a.Name.Value, p.expands(text))
		if !p.words || !exported {
			continue
		}
		for _, dir := range p.folders() {
			for _, word := range p.parts(p.expands(strings.ReplaceAll(text, "${PWD}", dir))) {
				if effect.IsKnown(word) && word != "" && (filepath.IsAbs(word) || filepath.IsAbs(dir)) {
					p.visit(abs(dir, word), data)
				}
			}
		}
	}
}

// folders are those in which the steps of a text run, and that of the call.
func (p *pass) folders() []string {
	dirs := []string{p.call.Dir}
	for i := range p.Steps {
		dir := p.Steps[i].Dir
		if !filepath.IsAbs(dir) || !effect.IsKnown(dir) || slices.Contains(dirs, dir) {
			continue
		}
		if len(dirs) >= maxBases {
			p.name("what lies in more than %d folders", maxBases)
			return dirs
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// givers are programs whose words give variables to others.
var givers = []string{"env", "sudo", "doas", "export", "declare", "typeset", "local", "readonly", "cross-env", "dotenv", "make", "gmake"}

// givesVariables notes the variables that the words of a step give.
func (p *pass) givesVariables(i int) {
	if st := &p.Steps[i]; slices.Contains(givers, first(st)) {
		for _, w := range st.Argv[1:] {
			if name, value, ok := strings.Cut(w, "="); ok && operand(w) && !strings.ContainsAny(name, "/ ") {
				p.gives(name, value)
			}
		}
	}
}

// plainText is a word without its quotes; what it expands to stays as it is written.
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
