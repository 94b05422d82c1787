package gitruns

import (
	_ "embed"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// With core.hooksPath, the hooks that git runs by itself are files of the repository. Whoever may
// change these files decides what they run, so a command that makes git run them is judged by their
// content.

const (
	maxGitConfig  = 256 << 10 // bytes of a settings file
	maxGitInclude = 10        // nested includes; git's own limit
	maxGitFiles   = 32        // settings files in all
	maxHooks      = 64        // hooks that are read for one call
	maxGitFolders = 256       // folders in which git works, each with its own settings
)

// hooksText lists the hooks that each command of git runs. For other commands all hooks are judged.
//
//go:embed githooks.txt
var hooksText string

var gitHooksOf = wordset.Index(hooksText, func(heading string) string { return heading })

// gitDirVar matches the variables for the location of a repository.
var gitDirVar = lazyregexp.New(`\bGIT_(?:DIR|WORK_TREE)=([^\s;&|]+)`)

// Hooks judges the hooks that the call's git commands run.
func (g *Reader) Hooks() {
	if !g.RunsGit() {
		return
	}
	var done []string
	folders := map[string]*hookSettings{}
	named := gitDirVar().FindStringSubmatch(analysis.Unquoted.Replace(g.Text))
	for i := range len(g.Steps) {
		s := &g.Steps[i]
		if len(s.Argv) < 2 || s.Remote || path.Base(s.Argv[0]) != "git" {
			continue
		}
		at, command := gitRuns(s)
		known, ok := gitHooksOf[command]
		if known == "none" {
			continue
		}
		var names []string // for an alias or an unknown program of git, all
		if ok {
			names = strings.Fields(known)
		}
		if named != nil {
			at = gitFolder(named[1], s.Dir)
		}
		in := folders[at]
		if in == nil {
			if len(folders) >= maxGitFolders {
				g.hiddenHooks(at)
				return
			}
			in = g.hooksIn(at)
			folders[at] = in
		}
		for _, dir := range in.dirs {
			done = g.hooksOf(dir, in.top, names, done)
		}
	}
}

// hooksOf judges those hooks in a folder that have one of the names, or all hooks without names.
// done has the files that were judged before; it is returned with the new ones.
func (g *Reader) hooksOf(dir, top string, names, done []string) []string {
	dir, _ = g.Links.Real(g.Analyzer.Files, dir)
	listed, err := g.Analyzer.Files.ReadDir(dir, disk.MaxListed)
	if err != nil {
		if !disk.IsMissing(err) { // a missing folder has no hooks
			g.hiddenHooks(dir)
		}
		return done
	}
	for _, name := range listed {
		file := dir + "/" + name
		if len(names) > 0 && !slices.Contains(names, name) || slices.Contains(done, file) {
			continue
		}
		if len(done) >= maxHooks {
			g.hiddenHooks(dir)
			return done
		}
		done = append(done, file)
		g.gitHook(file, top)
	}
	return done
}

// hiddenHooks records that git may run something unknown.
func (g *Reader) hiddenHooks(where string) {
	g.Effects = append(g.Effects,
		effect.Effect{Kind: effect.Opaque, Target: "the hooks of git that " + where + " says", By: "git", Step: -1})
}

// gitHook judges what one hook runs.
func (g *Reader) gitHook(file, top string) {
	b, err := g.Analyzer.Files.ReadFile(file, agenttexts.MaxPrompt)
	if err != nil {
		if info, err := g.Analyzer.Files.Lstat(file); err != nil || !info.IsDir() { // git does not run a folder
			g.hiddenHooks(file)
		}
		return
	}
	from := len(g.Effects)
	in := g.Place
	in.Dir, in.Explain = top, g.Explain
	lang := shell.Shebang(string(b))
	if lang == "sh" {
		lang = effect.Shell
	}
	g.Payload(effect.Payload{Lang: lang, Text: string(b), Why: "the hook " + file}, in)
	// An unknown program of the project is no reason to ask: the repository chose it, like the
	// programs of a build.
	g.Effects = append(g.Effects[:from],
		slices.DeleteFunc(slices.Clone(g.Effects[from:]), func(ef effect.Effect) bool {
			return ef.Kind == effect.Opaque || ef.Bits&effect.Partial != 0 || !ef.Known()
		})...)
	if g.Binds && len(g.Effects) > from {
		g.Effects = append(g.Effects, analysis.ExecutedSkill(file))
	}
	g.Loaded = append(g.Loaded, analysis.Loaded{File: file, From: from, To: len(g.Effects)})
}

// gitRuns returns the folder in which a command of git works, and the git command.
func gitRuns(s *shell.Step) (dir, command string) {
	dir = s.Dir
	for i := 1; i < len(s.Argv); i++ {
		word := s.Argv[i]
		value := ""
		if i+1 < len(s.Argv) {
			value = s.Argv[i+1]
		}
		flag, joined, ok := strings.Cut(word, "=")
		switch {
		case word == "-C":
			dir = disk.Absolute(value, dir)
			i++
		case word == "-c", word == "--namespace", word == "--exec-path", word == "--config-env":
			i++
		case flag == "--git-dir", flag == "--work-tree":
			if !ok {
				joined = value
				i++
			}
			dir = gitFolder(joined, dir)
		case strings.HasPrefix(word, "-") && word != "--version":
		case word == "hook" && value == "run" && i+2 < len(s.Argv):
			return dir, "hook"
		default:
			return dir, word
		}
	}
	return dir, "version"
}

// gitFolder returns the working tree of a path to a repository or a working tree.
func gitFolder(p, dir string) string {
	return strings.TrimSuffix(disk.Absolute(p, dir), "/.git")
}

// hookSettings says where git finds its hooks in a folder.
type hookSettings struct {
	top  string   // of the working tree
	dirs []string // of hooks; none means git's own folder, which no call changes without a question

	sure  string // the last setting that surely applies
	files int    // of settings that were read
}

// hooksIn reads the settings of git for a folder. Each file is read again for each call, because a
// modification time does not show writes through a memory mapping.
func (g *Reader) hooksIn(at string) *hookSettings {
	h := &hookSettings{}
	if !strings.HasPrefix(at, "/") || !effect.IsKnown(at) {
		return h
	}
	dir, _ := g.Links.Real(g.Analyzer.Files, path.Clean(at))
	if h.top = g.Analyzer.Git.Top(dir); h.top == "" {
		return h
	}
	git := h.top + "/.git"
	own := git // of this working tree
	if info, err := g.Analyzer.Files.Lstat(git); err == nil && !info.IsDir() {
		if to, _ := g.Links.Real(g.Analyzer.Files, git); to != git {
			git, own = to, to
		} else if git, own = g.Analyzer.Git.Link(git, h.top); git == "" {
			g.hiddenHooks(own)
			return h
		}
	}
	home, env := g.Around.Home, g.ToolCall.Env
	for _, file := range [...]string{"/etc/gitconfig", home + "/.config/git/config", home + "/.gitconfig"} {
		g.gitSettings(h, file, 0, true)
	}
	for _, file := range [...]string{env["GIT_CONFIG_SYSTEM"], env["GIT_CONFIG_GLOBAL"]} { // instead of these
		if file != "" && file != "/dev/null" {
			g.gitSettings(h, disk.Absolute(file, at), 0, false)
		}
	}
	if config := env["XDG_CONFIG_HOME"]; config != "" {
		g.gitSettings(h, disk.Absolute(config, at)+"/git/config", 0, false)
	}
	g.gitSettings(h, git+"/config", 0, true)
	g.gitSettings(h, own+"/config.worktree", 0, false) // another setting says whether it applies
	if h.sure != "" {
		h.dirs = append(h.dirs, h.sure)
	}
	return h
}

// gitSettings reads one settings file, and those that it includes. sure is false for files that may
// not apply; their settings are added and replace nothing.
func (g *Reader) gitSettings(h *hookSettings, file string, depth int, sure bool) {
	b, err := g.Analyzer.Files.ReadFile(file, maxGitConfig)
	if disk.IsMissing(err) || depth == 0 && errors.Is(err, fs.ErrPermission) {
		return // most do not exist; a home may not be readable
	}
	if h.files++; err != nil || depth > maxGitInclude || h.files > maxGitFiles {
		g.hiddenHooks(file)
		return
	}
	text := string(b)
	if low := strings.ToLower(text); !strings.Contains(low, "hookspath") && !strings.Contains(low, "include") {
		return
	}
	settings, err := content.GitSettings(text)
	if err != nil {
		g.hiddenHooks(file)
	}
	for _, s := range settings {
		included := s.Key == "include.path"
		perhaps := strings.HasPrefix(s.Key, "includeif.") && strings.HasSuffix(s.Key, ".path")
		if !included && !perhaps && s.Key != "core.hookspath" {
			continue
		}
		value, ok := g.gitPath(s.Value)
		switch {
		case !ok:
			g.hiddenHooks(file)
		case included, perhaps:
			g.gitSettings(h, disk.Absolute(value, path.Dir(file)), depth+1, sure && included)
		case sure && value == "": // none of the files before
			h.sure = ""
		case sure:
			h.sure = disk.Absolute(value, h.top)
		case value != "":
			h.dirs = append(h.dirs, disk.Absolute(value, h.top))
		}
	}
}

// gitPath returns the path that a setting means; false if it is not known.
func (g *Reader) gitPath(value string) (string, bool) {
	if below, ok := strings.CutPrefix(value, "~/"); ok {
		return g.Around.Home + "/" + below, g.Around.Home != ""
	}
	return value, !strings.HasPrefix(value, "~") && !strings.HasPrefix(value, "%(") && !strings.HasPrefix(value, ":(") &&
		!strings.ContainsAny(value, "\t\n\r\b")
}
