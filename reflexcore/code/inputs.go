package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// inputs are what code gets from outside: the operands of the script, the environment and the
// standard input.
type inputs struct {
	lim     *Limits
	in      *cursor
	out     *report
	shifted int // the operands that were removed from the front
	lineAt  int // the lines of the input that were read
}

// operands returns the operands of the script, after skip names of programs.
func (g *inputs) operands(skip int) value {
	if g.lim.Args == nil {
		return unknown(0)
	}
	return list(append(slices.Repeat([]value{unknown(0)}, max(0, skip)), textValues(g.lim.Args, 0)...), 0)
}

// nextOperand removes and returns the first operand. In a loop it may be any of them.
func (g *inputs) nextOperand() value {
	if g.shifted >= len(g.lim.Args) || len(g.lim.Args) > 1 && g.in.loops() {
		return unknown(0)
	}
	g.shifted++
	return text(g.lim.Args[g.shifted-1], 0)
}

// areOperands reports whether a list is that of the operands.
func (g *inputs) areOperands(args []arg) bool {
	for i := range args {
		if i >= len(g.lim.Args) || args[i].kind != textValue || args[i].s != g.lim.Args[i] {
			return false
		}
	}
	return len(args) == len(g.lim.Args)
}

// env reads a variable of the environment. It is reported only if its name says that it is a secret.
func (g *inputs) env(name, by string) value {
	if name == "HOME" || name == "USERPROFILE" {
		return text(g.lim.Home, 0)
	}
	known, taint := effect.IsKnown(name), effect.Taint(0)
	if !known || isSecretName(name) {
		taint = effect.Secret
		g.out.found(Found{Op: Read, Text: "environment", Taint: taint, By: by})
	}
	if g.lim.Env != nil && known {
		if s, from, ok := g.lim.Env(name); ok {
			return text(s, from|taint)
		}
	}
	return unknown(taint)
}

func isSecretName(name string) bool {
	return wordset.ContainsAny(strings.ToUpper(name), "KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "PRIVATE",
		"DSN", "DATABASE_URL")
}

// input returns the whole standard input.
func (g *inputs) input() value {
	if !g.lim.HasInput {
		return unknown(g.lim.InputTaint)
	}
	return text(g.lim.Input, g.lim.InputTaint)
}

// inputLines returns the lines of the standard input; nil if they are not known.
func (g *inputs) inputLines() []value {
	all := strings.TrimRight(g.lim.Input, "\n")
	if !g.lim.HasInput || all == "" || strings.Count(all, "\n") >= maxLines {
		return nil
	}
	return textValues(strings.Split(all, "\n"), g.lim.InputTaint)
}

// inputLine returns the next line. In a loop it may be any of them.
func (g *inputs) inputLine() value {
	lines := g.inputLines()
	if g.lineAt >= len(lines) || len(lines) > 1 && g.in.loops() {
		return unknown(g.lim.InputTaint)
	}
	g.lineAt++
	return lines[g.lineAt-1]
}

// stdin reads the standard input as a row says.
func (g *inputs) stdin(r row) value {
	switch r.param {
	case "line":
		return g.inputLine()
	case "lines":
		if lines := g.inputLines(); lines != nil {
			return list(lines, g.lim.InputTaint)
		}
		return unknown(g.lim.InputTaint)
	}
	return g.input()
}

// maxLines limits the lines of an input that are evaluated one by one.
const maxLines = 16
