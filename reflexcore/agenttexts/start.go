package agenttexts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file judges what a Claude Code loads that a command starts.

// Starts judges what a Claude Code that a command starts loads before any hook is asked: the
// programs of a plugin in a flag, and the text of a slash command in its prompt.
func (r *Reader) Starts() {
	if r.ToolCall.Command == "" || !strings.Contains(analysis.Unquoted.Replace(r.Text), "claude") {
		return
	}
	r = &Reader{Call: r.Call, Place: r.Place}
	r.Place.Explain = true // the words are only kept with this
	var result shell.Result
	r.Analyzer.Shell.Analyze(r.ToolCall.Command, r.Place, &result)
	slashes := slashName().FindAllStringSubmatch(r.Text, maxGiven)
	splits := splitWord().MatchString(r.Text)
	starts := 0
	for i := range result.Steps {
		if s := &result.Steps[i]; len(s.Argv) > 0 && !s.Remote && agentcli.ClaudeProgram(s.Argv[0]) {
			if starts++; starts > maxStarts {
				r.Unseen(s.Argv[0] + ", which the call starts more often than is looked at")
				return
			}
			g := given{reads: result.Effects, before: result.Steps[:i], steps: result.Steps, at: i,
				slashes: slashes, splits: splits}
			r.start(s, &g)
		}
	}
}

// start judges one start of Claude Code.
func (r *Reader) start(s *shell.Step, g *given) {
	r.startsIn(s, g)
	l := &loader{Reader: r, dir: s.Dir, budget: maxSearches, from: len(r.Effects), done: map[string]content.Front{}}
	l.added = addedFolders(s.Argv[1:], s.Dir)
	for j, word := range s.Argv[1:] {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && j+2 < len(s.Argv) {
			value = s.Argv[j+2]
		}
		switch flag {
		case "--plugin-dir", "--plugin-dir-no-mcp":
			l.elsewhere = true
			r.pluginsStart(s, value, g)
		case "--add-dir":
			l.elsewhere = true
		case "--agent":
			l.begun = true
			l.one(true, value)
			l.begun = false
		}
	}
	for _, word := range s.Argv[1:] {
		if name, args, ok := typedName(word); ok {
			l.loadTyped(name, args)
		}
	}
	l.given(s, g)
	l.bind()
}

// idleSettings are the keys of settings that start no program and disable no hook.
var idleSettings = wordset.Of(`$schema permissions model language attribution includeCoAuthoredBy
	cleanupPeriodDays outputStyle theme spinnerTipsEnabled alwaysThinkingEnabled`)

// startFiles are the files of a folder that say what a Claude Code runs that starts there.
var startFiles = []string{".claude/settings.json", ".claude/settings.local.json"}

// startsIn judges the settings of the folder in which a Claude Code starts. The settings of the
// agent's own folder are already in use, and so are equal ones in another checkout.
func (r *Reader) startsIn(s *shell.Step, g *given) {
	if s.Dir == r.ToolCall.Dir || len(s.Argv) == 2 && infoFlags[s.Argv[1]] {
		return
	}
	if !strings.HasPrefix(s.Dir, "/") || !effect.IsKnown(s.Dir) {
		r.Unseen(s.Argv[0] + " in a folder that is not known")
		return
	}
	if r.mayFill(g, path.Clean(s.Dir), startFiles, false) {
		r.Unseen(s.Dir)
		return
	}
	for _, file := range startFiles {
		name := "/" + file
		at, _ := r.Links.Real(r.Analyzer.Files, path.Clean(s.Dir+name))
		b, err := r.Analyzer.Files.ReadFile(at, MaxPrompt)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var keys map[string]json.RawMessage
		if err != nil || json.Unmarshal(b, &keys) != nil {
			r.Unseen(s.Dir + name)
			continue
		}
		maps.DeleteFunc(keys, func(key string, _ json.RawMessage) bool { return idleSettings[key] })
		if own, err := r.Analyzer.Files.ReadFile(r.ToolCall.Dir+name, MaxPrompt); len(keys) > 0 &&
			(err != nil || !bytes.Equal(own, b)) {
			r.Unseen(s.Dir + name)
		}
	}
}

// infoFlags are the flags with which Claude Code only prints something about itself.
var infoFlags = wordset.Of("--version -v --help -h")

// manifestFile is the manifest of a plugin.
const manifestFile = ".claude-plugin/plugin.json"

// pluginRuns are the files of a plugin that start programs by themselves.
var pluginRuns = []string{"hooks/hooks.json", ".mcp.json", ".lsp.json", "monitors/monitors.json", "settings.json"}

// pluginsStart judges the folder in a flag of a start: a plugin, or a folder of plugins.
func (r *Reader) pluginsStart(s *shell.Step, dir string, g *given) {
	if !strings.HasPrefix(dir, "/") {
		dir = s.Dir + "/" + dir
	}
	if !effect.IsPlain(dir) || !strings.HasPrefix(dir, "/") {
		r.Unseen(dir)
		return
	}
	dir = path.Clean(dir)
	if r.mayFill(g, dir, append([]string{manifestFile}, pluginRuns...), true) {
		r.Unseen(dir)
		return
	}
	to, _ := r.Links.Real(r.Analyzer.Files, dir)
	if !r.pluginStarts(to) {
		return
	}
	names, ok := r.Listed(to)
	if _, err := r.Analyzer.Files.Lstat(to + "/" + manifestFile); !ok || err == nil {
		return // it is a plugin itself
	}
	for _, name := range names[:min(len(names), maxPrompts)] {
		child := to + "/" + name
		at, _ := r.Links.Real(r.Analyzer.Files, child)
		if _, err := r.Analyzer.Files.Lstat(at + "/" + manifestFile); err == nil {
			r.pluginStarts(at)
		}
	}
}

func (r *Reader) isFolder(p string) bool {
	info, err := r.Analyzer.Files.Lstat(p)
	return err == nil && info.IsDir()
}

// pluginStarts judges a folder that may be a plugin, and reports whether it is a folder. What its
// commands run is judged when they are loaded.
func (r *Reader) pluginStarts(dir string) bool {
	info, err := r.Analyzer.Files.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false // nothing is loaded
	case err != nil || !info.IsDir(): // an archive
		r.Unseen(dir)
		return false
	}
	for _, name := range pluginRuns {
		if _, err := r.Analyzer.Files.Lstat(dir + "/" + name); !errors.Is(err, fs.ErrNotExist) {
			r.Unseen(dir + "/" + name)
		}
	}
	manifest := dir + "/" + manifestFile
	b, err := r.Analyzer.Files.ReadFile(manifest, MaxPrompt)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil || content.ManifestRuns(string(b)) {
		r.Unseen(manifest)
	}
	return true
}
