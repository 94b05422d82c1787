package claudesettings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"approver.example/agents/settings"
)

// MaxBeside limits the other files that are looked at. More of them are a finding.
const MaxBeside = 2000

// AllBeside says what files other than the settings do to the hooks: the front matter of agents and
// skills, plugins, and the MCP servers of a user and a project. An error means that they cannot be
// read at the moment.
func AllBeside(p settings.Places, sources []settings.Source, want settings.Want) (found []settings.Finding, err error) {
	read := func(place settings.Place, path string) settings.Source {
		s := settings.ReadSource(place, path)
		err = errors.Join(err, settings.Blindness(s.Err))
		return s
	}
	for _, s := range sources {
		found = append(found, Servers(s)...)
	}
	homes := append([]string{cmp.Or(p.Home, p.Config)}, p.Users...)
	for _, project := range p.Projects {
		homes = append(homes, filepath.Join(project, ".claude"))
		found = append(found, Servers(read(settings.Project, filepath.Join(project, ".mcp.json")))...)
	}
	seen := map[string]bool{"": true}
	for _, home := range homes {
		if seen[home] {
			continue
		}
		seen[home] = true
		paths, all, blind := hooksBeside(home)
		err = errors.Join(err, blind)
		if !all {
			found = append(found, settings.Finding{
				Path: home, Text: fmt.Sprintf("has more than %d agents or skills: nobody can say which hooks they have", MaxBeside),
				Fix: "take those that you do not need out of " + home,
			})
		}
		for _, path := range paths {
			found = append(found, Beside(read(settings.User, path), want)...)
		}
	}
	return found, err
}

// hooksBeside returns the files below a folder of settings that may have hooks. Like Claude Code,
// it follows links to folders. all says whether these are all.
func hooksBeside(home string) (paths []string, all bool, blind error) {
	entries, been := 0, map[string]bool{}
	var walk func(dir string)
	walk = func(dir string) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || been[real] {
			return
		}
		been[real] = true
		list, err := os.ReadDir(real) // Claude Code of this user cannot read it either
		blind = errors.Join(blind, settings.Blindness(err))
		for _, e := range list {
			if entries++; entries > MaxBeside {
				return
			}
			path := filepath.Join(dir, e.Name())
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				walk(path)
			} else if strings.HasSuffix(path, ".md") {
				paths = append(paths, path)
			}
		}
	}
	walk(filepath.Join(home, "agents"))
	all = entries <= MaxBeside
	for _, pattern := range []string{
		"skills/*/SKILL.md", "plugins/cache/*/*/hooks/hooks.json", "plugins/cache/*/*/*/hooks/hooks.json",
		"plugins/cache/*/*/*/skills/*/SKILL.md", "plugins/cache/*/*/*/agents/*.md",
	} {
		// a wrong pattern alone is an error
		more, _ := filepath.Glob(filepath.Join(globbed(home), filepath.FromSlash(pattern)))
		all = all && len(more) <= MaxBeside
		paths = append(paths, more[:min(len(more), MaxBeside)]...)
	}
	return paths, all, blind
}

// globbed escapes a path for a pattern.
func globbed(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
