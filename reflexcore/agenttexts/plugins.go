package agenttexts

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds the texts of plugins, and knows what is built into Claude Code.

// plugins returns the folders that the part before the colon of a name may mean: those of a plugin
// that is installed or among the skills, and the settings of a subfolder. The empty name means all
// plugins.
func (l *loader) plugins(name string, roots []string) (out []string) {
	for _, home := range []string{l.Around.Home + "/.claude", l.ToolCall.Env["CLAUDE_CONFIG_DIR"]} {
		if !strings.HasPrefix(home, "/") {
			continue
		}
		b, err := l.Analyzer.Files.ReadFile(home+"/plugins/installed_plugins.json", MaxPrompt)
		if err != nil {
			continue
		}
		var list struct {
			Plugins map[string]json.RawMessage `json:"plugins"`
		}
		if json.Unmarshal(b, &list) != nil {
			l.Unseen(home + "/plugins/installed_plugins.json")
			continue
		}
		for id, entry := range list.Plugins {
			if plugin, _, _ := strings.Cut(id, "@"); name == "" || strings.EqualFold(plugin, name) {
				out = append(out, installPaths(entry)...)
			}
		}
	}
	for _, root := range roots {
		if name != "" {
			out = append(out, path.Dir(root)+"/"+name+"/.claude")
		}
		out = append(out, l.amongSkills(root+"/skills", name)...) // of NAME@skills-dir
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// amongSkills returns the folders of skills that are a plugin with a name: that of the folder, or
// that in its manifest.
func (l *loader) amongSkills(dir, name string) (out []string) {
	names, _ := l.Listed(l.follow(dir))
	for _, entry := range names {
		if l.budget--; l.budget < 0 {
			return out
		}
		root := dir + "/" + entry
		b, err := l.Analyzer.Files.ReadFile(l.follow(root+"/.claude-plugin/plugin.json"), MaxPrompt)
		if err == nil && (strings.EqualFold(entry, name) ||
			strings.Contains(strings.ToLower(string(b)), strings.ToLower(name))) {
			out = append(out, root)
		}
	}
	return out
}

// installPaths returns the folders of an entry of the list of plugins: one, or one for each
// project.
func installPaths(entry json.RawMessage) (out []string) {
	type one struct {
		Path string `json:"installPath"`
	}
	var many []one
	if json.Unmarshal(entry, &many) != nil {
		many = make([]one, 1)
		if json.Unmarshal(entry, &many[0]) != nil {
			return nil
		}
	}
	for _, m := range many {
		if strings.HasPrefix(m.Path, "/") {
			out = append(out, path.Clean(m.Path))
		}
	}
	return out
}

// ownPaths judges the files in a plugin's manifest, because the name of a command may be only
// there. The empty name means any subagent.
func (l *loader) ownPaths(root, name string) {
	file := root + "/.claude-plugin/plugin.json"
	b, err := l.Analyzer.Files.ReadFile(l.follow(file), MaxPrompt)
	if err != nil {
		return // a plugin needs none
	}
	own, readable := content.PluginPaths(string(b))
	if !readable || !l.found && name != "" && strings.Contains(string(b), `"content"`) { // a text in the manifest
		l.Unseen(file)
		l.found = true
	}
	var texts []string
	for _, o := range own {
		at := root + "/" + o
		if strings.EqualFold(path.Ext(o), ".md") {
			texts = append(texts, at)
			continue
		}
		if name == "" {
			l.search(at, name, 0)
			continue
		}
		l.file(at + "/" + name + "/SKILL.md")
		l.file(at + "/" + strings.ReplaceAll(name, ":", "/") + ".md")
		l.file(at + "/SKILL.md")
		if path.Ext(o) == "" {
			l.search(at, name[strings.LastIndexByte(name, ':')+1:], 0)
		}
	}
	for _, text := range texts {
		if strings.EqualFold(path.Base(text), name+".md") {
			l.file(text)
		}
	}
	for _, text := range texts {
		if name == "" {
			l.called(text, name)
		}
	}
	if !l.found && name != "" {
		for _, text := range texts { // any of them
			l.file(text)
		}
	}
}

// builtIn reports whether Claude Code has a built-in skill, command or agent with a name, as in
// 2.1.330 and some versions before it. Files with the name were looked at before. A name that is
// not in every start is not listed, because a file in an unknown folder may have it. Names of later
// versions are not listed, either. Both are a question.
func builtIn(name string, agent bool) bool {
	if agent {
		return content.BuiltInAgent(name)
	}
	return builtInTexts[name]
}

// builtInTexts are the names of built-in skills and commands.
var builtInTexts = wordset.Of(`batch claude-api code-review compact context cost dataviz debug deep-research doctor
	fewer-permission-prompts help init insights keybindings-help loop plugin-authoring recap release-notes review run
	run-skill-generator security-review simplify statusline team-onboarding update-config usage verify workflow-authoring`)

// notFound notes that a call loads a text whose file is not found.
func (r *Reader) notFound(name string, agent bool) {
	what := lostText
	if agent {
		what = lostAgent
	}
	r.Effects = append(r.Effects,
		effect.Effect{Kind: effect.Persist, What: what, Target: name, By: r.ToolCall.Tool, Step: -1})
}
