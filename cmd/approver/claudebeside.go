package main

import (
	"io/fs"
	"path/filepath"
	"strings"

	"approver.example/agents/claudesettings"
)

// maxBeside bounds how many files beside the settings are looked at.
const maxBeside = 2000

// beside says what files that are none of the settings do to the hooks: the front matter
// of agents and skills, plugins, and the MCP servers of a user and a project.
func (p claudePlaces) beside(sources []claudesettings.Source, want claudesettings.Want) (found []claudesettings.Finding) {
	for _, s := range sources {
		found = append(found, claudesettings.Servers(s)...)
	}
	homes := append([]string{firstText(p.home, p.config)}, p.users...)
	for _, project := range p.projects {
		homes = append(homes, filepath.Join(project, ".claude"))
		found = append(found, claudesettings.Servers(readSource(claudesettings.Project, filepath.Join(project, ".mcp.json")))...)
	}
	seen := map[string]bool{"": true}
	for _, home := range homes {
		if seen[home] {
			continue
		}
		seen[home] = true
		for _, path := range hooksBeside(home) {
			found = append(found, claudesettings.Beside(readSource(claudesettings.User, path), want)...)
		}
	}
	return found
}

// hooksBeside are the files below a folder of settings that may have hooks.
func hooksBeside(home string) (paths []string) {
	seen := 0
	_ = filepath.WalkDir(filepath.Join(home, "agents"), func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > maxBeside {
			return filepath.SkipAll
		}
		if err == nil && !e.IsDir() && strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return nil // what cannot be read has nothing for Claude Code of this user either
	})
	for _, pattern := range []string{
		"skills/*/SKILL.md", "plugins/cache/*/*/hooks/hooks.json", "plugins/cache/*/*/*/hooks/hooks.json",
		"plugins/cache/*/*/*/skills/*/SKILL.md", "plugins/cache/*/*/*/agents/*.md",
	} {
		more, _ := filepath.Glob(filepath.Join(globbed(home), filepath.FromSlash(pattern))) // a wrong pattern alone is an error
		paths = append(paths, more[:min(len(more), maxBeside)]...)
	}
	return paths
}

// globbed writes a path so that a pattern finds it as it is.
func globbed(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
