package fingerprint

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// onlyLooks reports whether a command in a local container only shows something to the agent,
// also if it is a text for a shell.
func (f *flow) onlyLooks(i int) bool {
	if f.setsVariables(i) {
		return false // BASH_ENV, LD_PRELOAD and PATH name code in the container
	}
	name := f.Steps[i].Argv[0]
	if viewers[name] {
		return true
	}
	if !shells[name] || !f.commands[i].wrapped || len(f.Steps[i].Argv) != 3 ||
		f.Steps[i].Argv[1] != "-c" {
		return false
	}
	within := map[int]bool{i: true}
	for n := i + 1; n < len(f.Steps); n++ {
		st := &f.Steps[n]
		if !within[st.Parent] {
			continue
		}
		within[n] = true
		shown := len(st.Argv) > 0 && (viewers[st.Argv[0]] ||
			st.Shell && filters[st.Argv[0]])
		if !shown {
			return false
		}
	}
	return true
}

// setsVariables reports whether the command that starts another one in a container may set
// variables or a working folder for it.
func (f *flow) setsVariables(i int) bool {
	parent := f.Steps[i].Parent
	if parent < 0 || parent >= i {
		return true
	}
	words := f.Steps[parent].Argv
	words = words[:max(len(words)-len(f.Steps[i].Argv), 0)]
	at := slices.Index(words, "exec")
	if at < 0 {
		return true
	}
	return slices.ContainsFunc(words[at+1:], func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		if !strings.HasPrefix(w, "-") || strings.HasPrefix(w, "--") {
			return !effect.IsKnown(w) || wordset.Has("--env --env-file --workdir", name)
		}
		flags, _, _ := strings.Cut(w[1:], "u") // the rest is the name of a user
		return !effect.IsKnown(w) || strings.ContainsAny(flags, "ew")
	})
}

// shows reports whether a command only shows files to the agent. Then their content is not
// bound, because a log may grow while a person decides; the real paths of their names are.
func (f *flow) shows(i int) bool { return !f.flows && f.isA(i, viewers) }

// isA reports whether a step runs one of some system programs, and not another program of
// that name.
func (f *flow) isA(i int, names map[string]bool) bool {
	st := &f.Steps[i]
	if len(st.Argv) == 0 || st.Shell || st.Path != f.path || !names[first(st)] {
		return false
	}
	file := st.Argv[0]
	if !strings.Contains(file, "/") {
		if file = f.lookup(st, file); file == "" {
			return true
		}
	}
	return slices.ContainsFunc([]string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/",
		"/run/current-system/sw/bin/"}, func(dir string) bool {
		rest, ok := strings.CutPrefix(file, dir)
		return ok && !strings.Contains(rest, "/")
	})
}
