package fingerprint

import (
	"os"
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
				p.captured = true
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					p.assigned(n.Assigns)
				}
			case *syntax.DeclClause:
				p.assigned(n.Args)
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

// assigned binds the files that the values of assignments name, such as KUBECONFIG=x.
func (p *pass) assigned(list []*syntax.Assign) {
	if !p.words {
		return
	}
	for _, a := range list {
		if a.Value == nil {
			continue
		}
		value := os.Expand(plainText(a.Value), func(name string) string {
			if v, ok := p.call.Env[name]; ok {
				return v
			}
			return effect.Unknown
		})
		for _, word := range p.parts(value) {
			if effect.IsKnown(word) && word != "" && (filepath.IsAbs(word) || filepath.IsAbs(p.call.Dir)) {
				p.visit(abs(p.call.Dir, word), data)
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
