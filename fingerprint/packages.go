package fingerprint

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file finds which scripts of which packages a command of npm and its like runs.

// asksFor reports whether the words of a command may name a script.
func asksFor(words []string, name string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		w, _, _ = strings.Cut(strings.TrimSpace(w), " ") // run-s "lint --fix" test
		for _, by := range []string{"npm:", "yarn:", "pnpm:", "bun:", "--run="} {
			w = strings.TrimPrefix(w, by)
		}
		for _, n := range []string{name, strings.TrimPrefix(name, "pre"), strings.TrimPrefix(name, "post")} {
			if w == n || strings.ContainsAny(w, "*{([") && w[0] != '-' && like(n, []string{strings.NewReplacer("**", "*", ":", "/").Replace(w), w, strings.ReplaceAll(w, "**", "*")}) {
				return true
			}
		}
		return false
	})
}

// spreads are words by which a command goes into the packages of a workspace.
var spreads = []string{"-w", "--workspace", "-ws", "--workspaces", "-r", "--recursive", "workspace", "workspaces", "--filter", "-F", "foreach", "run-many", "affected"}

// workspaces binds the scripts of the packages of a workspace, where a command goes into
// them.
func (p *pass) workspaces(i int, file string) {
	st := &p.Steps[i]
	if !slices.Contains([]string{"lerna", "nx", "turbo", "wsrun", "ultra"}, first(st)) && !slices.ContainsFunc(st.Argv[1:], func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains(spreads, name)
	}) {
		return
	}
	dir := filepath.Dir(file)
	patterns := p.workspacePatterns(file)
	if len(patterns) == 0 {
		return
	}
	for _, pattern := range patterns {
		pattern = strings.TrimPrefix(pattern, "!")
		for _, manifest := range p.both(filepath.Join(dir, pattern, "package.json")) {
			if !p.visit(manifest, code) && p.out[filepath.Clean(manifest)] != "" {
				p.scripts(i, filepath.Clean(manifest))
			}
		}
	}
}

// workspacePatterns are the folders that a package.json, or the files of pnpm and lerna
// beside it, say that packages lie in.
func (p *pass) workspacePatterns(file string) (patterns []string) {
	text, _ := p.text(file, "names")
	lerna := filepath.Join(filepath.Dir(file), "lerna.json")
	p.visit(lerna, code)
	more, _ := p.text(lerna, "names")
	for _, manifest := range []string{text, more} {
		_ = members([]byte(strings.TrimPrefix(manifest, "\ufeff")), func(key string, value json.RawMessage) error { // scripts names it
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
	p.visit(pnpm, code)
	text, _ = p.text(pnpm, "names")
	y, err := yamlOf(text)
	if err != nil || y.deep || y.aliases {
		p.namedFile(pnpm, "names")
	}
	for _, given := range y.maps {
		patterns = append(patterns, given["packages"]...)
	}
	return patterns
}

// nx binds what the targets of the projects of a workspace of Nx run.
func (p *pass) nx(bases []string) {
	for _, base := range bases {
		if _, err := p.stat(filepath.Join(base, "nx.json")); !p.look() || err != nil {
			continue
		}
		for _, file := range p.folder(base, "project.json") {
			text, ok := p.text(file, "runs")
			if !ok || !p.once("nx", file) {
				continue
			}
			y, err := yamlOf(text)
			if err != nil || y.deep || y.aliases {
				p.namedFile(file, "runs")
			}
			dirs, commands := []string{base, filepath.Dir(file)}, []string{}
			for _, given := range y.maps {
				commands = append(append(commands, given["command"]...), given["commands"]...)
				for _, dir := range given["cwd"] {
					dirs = append(dirs, filepath.Clean(abs(base, dir)))
				}
			}
			for _, command := range commands {
				for _, dir := range slices.Compact(dirs) {
					p.starts(command, dir, file)
				}
			}
		}
	}
}

// called walks the text that npm exec -c gives to a shell.
func (p *pass) called(st *shell.Step, base string) {
	for n, w := range st.Argv[1:] {
		text, is := flagValue(w, "-c --call")
		if is && text == "" && n+2 < len(st.Argv) {
			text = st.Argv[n+2]
		}
		if !is || text == "" || strings.HasPrefix(w, "-c") && !slices.Contains([]string{"-c",
			"-c=" + text}, w) {
			continue
		}
		if p.depth >= maxFollowed {
			p.unread(p.of, "runs")
			return
		}
		call := p.call
		call.Dir, call.Args, call.Raw = base, nil, nil
		call.Command = strings.ReplaceAll(text, effect.Unknown, "${__npm__}")
		call.Env = withPath(call.Env, filepath.Join(base, "node_modules/.bin"))
		p.walk(call, scope{strict: p.strict, words: true, depth: p.depth + 1, of: "npm exec", sure: true})
	}
}
