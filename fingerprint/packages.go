package fingerprint

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// A packageReader reads the package scripts that a command of npm, or a similar tool, runs.
type packageReader struct{ reading }

// asksFor reports whether the words of a command may name a script.
func asksFor(words []string, name string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		w, _, _ = strings.Cut(strings.TrimSpace(w), " ") // run-s "lint --fix" test
		for _, by := range []string{"npm:", "yarn:", "pnpm:", "bun:", "--run="} {
			w = strings.TrimPrefix(w, by)
		}
		for _, n := range []string{name, strings.TrimPrefix(name, "pre"), strings.TrimPrefix(name, "post")} {
			if w == n || strings.ContainsAny(w, "*{([") && w[0] != '-' &&
				disk.Like(n, []string{strings.NewReplacer("**", "*", ":", "/").Replace(w), w, strings.ReplaceAll(w, "**", "*")}) {
				return true
			}
		}
		return false
	})
}

// workspaces binds the scripts of the packages of a workspace, if the command runs in them.
func (r packageReader) workspaces(file string) {
	st := r.c.Step
	if !slices.Contains([]string{"lerna", "nx", "turbo", "wsrun", "ultra"}, first(st)) &&
		!slices.ContainsFunc(st.Argv[1:], func(w string) bool {
			name, _, _ := strings.Cut(w, "=")
			return spreads[name]
		}) {
		return
	}
	dir := filepath.Dir(file)
	for _, pattern := range r.workspacePatterns(file) {
		pattern = strings.TrimPrefix(pattern, "!")
		for _, manifest := range r.matchesAndSelf(filepath.Join(dir, pattern, "package.json")) {
			if r.BindCode(manifest) {
				r.runScripts(filepath.Clean(manifest))
			}
		}
	}
}

// workspacePatterns are the folders of packages in a package.json, and in the files of pnpm
// and lerna next to it.
func (r packageReader) workspacePatterns(file string) (patterns []string) {
	text, _ := r.TextOf(file, "names")
	lerna := filepath.Join(filepath.Dir(file), "lerna.json")
	r.Visit(lerna, disk.Code)
	more, _ := r.TextOf(lerna, "names")
	for _, manifest := range []string{text, more} {
		// scripts names it
		_ = members([]byte(strings.TrimPrefix(manifest, "\ufeff")), func(key string, value json.RawMessage) error {
			var nested struct {
				Packages []string `json:"packages"`
			}
			var list []string
			if key == "workspaces" || key == "packages" {
				_ = json.Unmarshal(value, &list) // one of both
				_ = json.Unmarshal(value, &nested)
				patterns = append(append(patterns, list...), nested.Packages...)
			}
			return nil
		})
	}
	pnpm := filepath.Join(filepath.Dir(file), "pnpm-workspace.yaml")
	r.Visit(pnpm, disk.Code)
	text, _ = r.TextOf(pnpm, "names")
	for _, given := range r.mappings(pnpm, text, "names") {
		patterns = append(patterns, given["packages"]...)
	}
	return patterns
}

// nx binds the commands in the targets of an Nx workspace.
func (r packageReader) nx() {
	for _, base := range r.bases {
		if _, err := r.Stat(filepath.Join(base, "nx.json")); !r.Look() || err != nil {
			continue
		}
		for _, file := range r.BindFolder(base, "project.json") {
			text, ok := r.TextOf(file, "runs")
			if !ok || !r.Once("nx", file) {
				continue
			}
			dirs, commands := []string{base, filepath.Dir(file)}, []string{}
			for _, given := range r.mappings(file, text, "runs") {
				commands = append(append(commands, given["command"]...), given["commands"]...)
				for _, dir := range given["cwd"] {
					dirs = append(dirs, filepath.Clean(abs(base, dir)))
				}
			}
			for _, command := range commands {
				for _, dir := range slices.Compact(dirs) {
					r.starts(command, dir, file)
				}
			}
		}
	}
}

// called walks the shell text of npm exec -c.
func (r packageReader) called(base string) {
	st := r.c.Step
	for n, w := range st.Argv[1:] {
		text, is := flagAt(st.Argv, n+1, "-c --call")
		if !is || text == "" || strings.HasPrefix(w, "-c") && !slices.Contains([]string{"-c",
			"-c=" + text}, w) {
			continue
		}
		if r.depth >= disk.MaxFollowed {
			r.Unread(r.of, "runs")
			return
		}
		env := withPath(r.call.Env, filepath.Join(base, "node_modules/.bin"))
		r.runs(strings.ReplaceAll(text, effect.Unknown, "${__npm__}"), base, env,
			scope{strict: r.strict, words: true, of: "npm exec", sure: true})
	}
}

// runsByName binds the installed programs that the words of a command name: yarn NAME runs the
// program NAME.
func (r packageReader) runsByName() {
	if r.name == "nx" {
		r.nx()
	}
	for _, base := range r.bases {
		r.called(base)
		for _, w := range r.c.Argv[1:] {
			if operand(w) && effect.IsKnown(w) && !strings.Contains(w, "/") {
				r.Visit(filepath.Join(base, "node_modules/.bin", w), disk.Code)
			}
		}
	}
}

// bindFile reads a file of a package for what it loads and runs.
func (r packageReader) bindFile(file string) {
	switch filepath.Base(file) {
	case ".pnpmfile.cjs":
		text, _ := r.TextOf(file, "loads")
		for _, m := range r.FindAll(required, file, text) {
			for _, ending := range []string{"", ".js", ".cjs", ".json", "/index.js"} {
				r.Visit(filepath.Clean(filepath.Join(filepath.Dir(file), m[1]))+ending, disk.Code)
			}
		}
	case "package.json":
		r.runScripts(file)
		r.workspaces(file)
	}
}

// required finds the local files that a Node.js file loads.
var required = regexp.MustCompile(`\b(?:require|import)[ \t]*\(?[ \t]*["'](\.[^"'\n]*)["']`)

// runScripts walks the scripts of a package.json that the words of the command name, and
// those that run by themselves.
func (r packageReader) runScripts(file string) {
	r.runsScripts(file)
	if !r.Once(append([]string{"package", file}, r.c.Argv...)...) {
		return
	}
	text, ok := r.TextOf(file, "runs")
	if !ok {
		return
	}
	scripts, err := packageScripts(text)
	if err != nil || r.depth >= disk.MaxFollowed && len(scripts) > 0 {
		r.Unread(file, "runs")
	}
	if r.depth >= disk.MaxFollowed {
		return
	}
	open := slices.ContainsFunc(r.c.Argv, func(w string) bool { return !effect.IsKnown(w) }) // it may be any
	words := append(slices.Clone(r.c.Argv[1:]), lifecycle...)
	dir := filepath.Dir(file)
	env := withPath(r.call.Env, filepath.Join(dir, "node_modules/.bin"))
	names := slices.Sorted(maps.Keys(scripts))
	r.scriptsOf[file] = append(r.scriptsOf[file], names...)
	r.runsScripts(file)
	for _, name := range names {
		if !open && !asksFor(words, name) {
			continue
		}
		for _, script := range scripts[name] {
			r.runs(script, dir, env, scope{strict: r.strict, words: true, of: file, sure: true, unit: file + "#" + name})
		}
	}
}

// runsScripts notes which scripts of a package.json a step runs by name.
func (r packageReader) runsScripts(file string) {
	words := r.c.Argv[1:]
	open := slices.ContainsFunc(words, func(w string) bool { return !effect.IsKnown(w) })
	for _, name := range r.scriptsOf[file] {
		if open || asksFor(words, name) {
			r.runsText(file + "#" + name)
		}
	}
}

// lifecycle are the scripts of a package that several commands run.
var lifecycle = []string{"install", "prepare", "prepublish", "prepublishOnly", "publish", "prepack", "pack",
	"postpack", "dependencies", "test", "start", "stop", "restart", "version"}

func withPath(env map[string]string, dir string) map[string]string {
	path, ok := env["PATH"]
	if !ok {
		path = systemPath
	}
	out := map[string]string{}
	maps.Copy(out, env)
	out["PATH"] = dir + ":" + path
	return out
}
