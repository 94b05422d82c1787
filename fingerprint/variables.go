package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// comparedOnly begins the names of variables whose value is compared, but whose files are
// not bound: the mailbox and other files that change by themselves.
const comparedOnly = approver.ComparedEnv + approver.ComparedEnv

// bindEnvironment binds the files that variables of the environment name, such as libraries and
// settings, whatever program reads the variable.
func (r *reader) bindEnvironment() {
	names := make([]string, 0, len(r.ToolCall.Env))
	for name := range r.ToolCall.Env {
		if !elsewhereNamed[name] && !strings.HasPrefix(name, "BASH_FUNC_") && !strings.HasPrefix(name,
			comparedOnly) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value := r.ToolCall.Env[name]
		if len(value) > disk.MaxText {
			r.Name("%s", name)
			continue
		}
		if strings.Contains(value, "$") { // bash expands BASH_ENV
			value += " " + r.Expand(value)
		}
		r.bindValue(r.ToolCall.Dir, value)
	}
}

// bindValue binds the files that a value names, which is used in a folder.
func (r *reader) bindValue(dir, value string) {
	words := splitAny(value, " \t\n:=,;\"'")
	if strings.ContainsAny(value, " =,;'") { // a path may have these as well
		_, behind, _ := strings.Cut(value, ":")
		words = append(append(words, value, behind), strings.Split(value, ":")...)
	}
	for _, word := range words {
		for _, flag := range []string{"", "-r", "-I", "-f", "-C"} {
			w, ok := strings.CutPrefix(word, flag)
			if rest, home := strings.CutPrefix(w, "~"); home {
				w = r.ToolCall.Env["HOME"] + rest
			}
			if !ok || w == "" || w[0] == '-' || !effect.IsKnown(w) || !filepath.IsAbs(w) && !filepath.IsAbs(dir) {
				continue
			}
			file := abs(dir, w)
			if info, err := r.Stat(file); r.Look() &&
				(err == nil && info.Mode().IsRegular() || err != nil && !disk.IsAbsent(err)) && !r.Visit(file, disk.Code) {
				r.bindScript(file, dir)
			}
		}
	}
}
