package fingerprint

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file recognizes files whose present content does not matter. In terraform plan -out=p &&
// terraform apply p, apply reads the new plan. For other programs this is not certain: go build,
// for example, may leave an existing file unchanged.

// isPlanned reports whether a step applies or shows a plan that an earlier step is certain to have
// written.
func (f *flow) isPlanned(i int, file string) bool {
	if i < 1 || i >= len(f.Steps) || f.flows { // a function may have the name
		return false
	}
	apply := &f.Steps[i]
	if !wordset.Has("terraform tofu", first(apply)) || len(apply.Argv) < 3 || !wordset.Has("apply show", apply.Argv[1]) ||
		apply.Parent >= 0 {
		return false
	}
	for _, v := range f.VarNames("TF_CLI_ARGS*") {
		if len(f.Values(v)) > 0 {
			return false // -help, and it writes nothing
		}
	}
	for n := range i {
		plan := &f.Steps[n]
		out := planned(plan)
		if out == "" || plan.Argv[0] != apply.Argv[0] || plan.Dir != apply.Dir || plan.Parent >= 0 ||
			!filepath.IsAbs(plan.Dir) || !effect.IsKnown(plan.Dir) ||
			filepath.Clean(abs(plan.Dir, out)) != filepath.Clean(file) {
			continue
		}
		return f.onlyAfter(out, apply)
	}
	return false
}

// planned is the plan that a step is certain to write; empty if there is none.
func planned(st *shell.Step) (out string) {
	if len(st.Argv) < 3 || !wordset.Has("terraform tofu", first(st)) || st.Argv[1] != "plan" {
		return ""
	}
	for _, w := range st.Argv[2:] {
		name, value, glued := strings.Cut(w, "=")
		if !planFlags[name] || !effect.IsKnown(w) {
			return ""
		}
		if name == "-out" && (!glued || out != "" || value == "") {
			return ""
		} else if name == "-out" {
			out = value
		}
	}
	return out
}

// onlyAfter reports whether a text is a chain of && in which a plan is written before a
// command applies it.
func (f *flow) onlyAfter(out string, apply *shell.Step) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(f.call.Command), "")
	if err != nil || len(file.Stmts) != 1 {
		return false
	}
	chain, ok := chainOf(file.Stmts[0])
	if !ok {
		return false
	}
	made := -1
	for n, words := range chain {
		switch {
		case len(words) > 2 && words[0] == apply.Argv[0] && words[1] == "plan" && slices.Contains(words, "-out="+out):
			made = n
		case slices.Equal(words, apply.Argv):
			return made >= 0
		case !leavesPlans(words, apply.Argv[0]):
			made = -1 // it may write the file anew
		}
	}
	return false
}

// leavesPlans reports whether a command is certain not to change a plan.
func leavesPlans(words []string, terraform string) bool {
	if slices.ContainsFunc(words, func(w string) bool { return !effect.IsKnown(w) || strings.Contains(w, "$") }) {
		return false // echo $(cp q p)
	}
	if len(words) > 1 && words[0] == terraform {
		return wordset.Has("show validate output fmt", words[1])
	}
	return len(words) > 0 && wordset.Has("cd echo sleep", words[0])
}

// writesNothing reports whether no output of a command goes into a file.
func writesNothing(redirects []*syntax.Redirect) bool {
	return !slices.ContainsFunc(redirects, func(r *syntax.Redirect) bool {
		return r.Op != syntax.DplOut && (r.Word == nil || plainText(r.Word) != "/dev/null")
	})
}

// chainOf are the words of the commands of a && b && c, if all are plain.
func chainOf(s *syntax.Stmt) (chain [][]string, ok bool) {
	if s.Negated || s.Background || s.Coprocess || !writesNothing(s.Redirs) {
		return nil, false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		left, ok := chainOf(cmd.X)
		right, also := chainOf(cmd.Y)
		return append(left, right...), ok && also && cmd.Op == syntax.AndStmt
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 {
			return nil, false
		}
		var words []string
		for _, w := range cmd.Args {
			words = append(words, plainText(w))
		}
		return [][]string{words}, true
	}
	return nil, false
}

// database is the word of a step that names its database; empty if there is none.
func database(st *shell.Step) string {
	takes, ok := embedded[first(st)]
	if !ok {
		return ""
	}
	for n := 1; n < len(st.Argv); n++ {
		switch w := st.Argv[n]; {
		case wordset.Has(takes, strings.Replace(w, "--", "-", 1)):
			n++
		case operand(w):
			return w
		}
	}
	return ""
}

// changesItself reports whether a file is the database of a step, which the step itself changes.
// The real path of the name is bound, so that it stays the same database.
func (f *flow) changesItself(i int, file string) bool {
	if i < 0 || i >= len(f.Steps) || f.captured {
		return false
	}
	for n := range f.commands {
		if f.commands[n].fed && n != i { // what is in the database may run
			return false
		}
	}
	word := database(&f.Steps[i])
	if word == "" || !slices.ContainsFunc(f.workDirs(&f.Steps[i]), func(base string) bool {
		return filepath.Clean(abs(base, word)) == filepath.Clean(file)
	}) {
		return false
	}
	head, err := headOf(file, 16)
	if err != nil || len(head) > 0 && string(head) != "SQLite format 3\x00" &&
		!bytes.HasPrefix(head[min(8, len(head)):], []byte("DUCK")) {
		return false
	}
	f.BindLink(filepath.Clean(file))
	return true
}
