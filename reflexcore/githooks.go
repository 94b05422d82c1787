package reflexcore

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// Hooks that git runs by itself, where a repository keeps them among its own files:
// core.hooksPath. Whoever may change the files says what they run, so a command that has
// git run them is judged by what they hold.

const (
	maxGitConfig  = 256 << 10 // bytes of a file of settings
	maxGitInclude = 4         // files of settings that lead to one another
	maxHooks      = 16        // hooks that are read for one call
)

// commitHooks run when a commit is made.
const commitHooks = "pre-commit prepare-commit-msg commit-msg post-commit post-rewrite "

// gitHooksOf are the hooks that a command of git runs. Of others all are judged.
var gitHooksOf = map[string]string{
	"commit": commitHooks, "cherry-pick": commitHooks, "revert": commitHooks,
	"merge":    commitHooks + "pre-merge-commit post-merge",
	"pull":     commitHooks + "pre-merge-commit post-merge pre-rebase post-checkout",
	"rebase":   commitHooks + "pre-rebase post-checkout",
	"am":       commitHooks + "applypatch-msg pre-applypatch post-applypatch",
	"checkout": "post-checkout", "switch": "post-checkout", "worktree": "post-checkout", "clone": "post-checkout",
	"restore": "", "add": "", "reset": "", "stash": "", "rm": "", "mv": "", "branch": "", "tag": "", "fetch": "",
	"push": "pre-push", "gc": "pre-auto-gc", "update-ref": "", "apply": "", "notes": "", "bisect": "post-checkout",
	"submodule": "post-checkout", "sparse-checkout": "", "clean": "", "init": "", "remote": "", "status": "",
	"diff": "", "log": "none", "show": "none", "rev-parse": "none", "ls-files": "none", "config": "none", "blame": "none",
	"grep": "none", "rev-list": "none", "cat-file": "none", "merge-base": "none", "describe": "none",
	"shortlog": "none", "for-each-ref": "none", "show-ref": "none", "ls-tree": "none", "ls-remote": "none",
	"reflog": "none", "version": "none", "--version": "none", "help": "none",
}

// alwaysHooks may run whatever git does with its index and its branches.
const alwaysHooks = " reference-transaction post-index-change"

// elsewhereGit are the words with which git may work in another folder than the call's.
var elsewhereGit = []string{"cd ", "-C", "-dir", "-tree", "GIT_", "pushd"}

// gitDirVar finds the variable that says where a repository is.
var gitDirVar = regexp.MustCompile(`\bGIT_(?:DIR|WORK_TREE)=([^\s;&|]+)`)

// gitHooks judges the hooks that the git of a command runs.
func (e *Engine) gitHooks(w *work, place shell.Context) {
	if w.call.Command == "" || !strings.Contains(unquoted.Replace(w.text), "git") {
		return
	}
	elsewhere := func(word string) bool { return strings.Contains(w.text, word) }
	if dir, _ := e.hooksIn(w, w.call.Dir); dir == "" && !slices.ContainsFunc(elsewhereGit, elsewhere) {
		return
	}
	place.Explain = true
	var result shell.Result
	e.shell.Analyze(w.call.Command, place, &result)
	var done []string
	for i := range result.Steps {
		s := &result.Steps[i]
		if len(s.Argv) < 2 || s.Remote || path.Base(s.Argv[0]) != "git" {
			continue
		}
		at, command := gitRuns(s)
		names := gitHooksOf[command] + alwaysHooks
		switch known, ok := gitHooksOf[command]; {
		case known == "none":
			continue
		case !ok: // an alias, or a program of git's that is not known
			names = ""
		}
		if m := gitDirVar.FindStringSubmatch(unquoted.Replace(w.text)); m != nil {
			at = gitFolder(m[1], s.Dir)
		}
		dir, top := e.hooksIn(w, at)
		if dir == "" || len(done) >= maxHooks {
			continue
		}
		listed, _ := e.listed(w, dir)
		for _, name := range listed {
			file := dir + "/" + name
			if names != "" && !slices.Contains(strings.Fields(names), name) || slices.Contains(done, file) {
				continue
			}
			done = append(done, file)
			e.gitHook(w, file, top, place)
		}
	}
}

// gitHook judges what one hook runs.
func (e *Engine) gitHook(w *work, file, top string, place shell.Context) {
	b, err := e.files.ReadFile(file, maxPrompt)
	if err != nil {
		return // a folder, or a program: it is as unknown as any of the project
	}
	from := len(w.effects)
	place.Dir, place.Explain = top, w.explain
	lang := shell.Shebang(string(b))
	if lang == "sh" {
		lang = effect.Shell
	}
	e.payload(w, effect.Payload{Lang: lang, Text: string(b), Why: "the hook " + file}, place)
	// What is not known of a program of the project is no reason to ask: it is named by
	// the repository, as that of a build is.
	w.effects = append(w.effects[:from], slices.DeleteFunc(slices.Clone(w.effects[from:]), func(ef effect.Effect) bool {
		return ef.Kind == effect.Opaque || ef.Bits&effect.Partial != 0 || !ef.Known()
	})...)
	if w.binds && len(w.effects) > from {
		w.effects = append(w.effects, executedSkill(file))
	}
	w.loaded = append(w.loaded, loaded{file, from, len(w.effects)})
}

// gitRuns is the folder in which a command of git works, and its own word.
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
			dir = absolute(value, dir)
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

// gitFolder is the folder of a working tree by that of its repository, or by itself.
func gitFolder(p, dir string) string {
	return strings.TrimSuffix(absolute(p, dir), "/.git")
}

// hooksIn is the folder of hooks that the settings of a repository name, and the top of its
// working tree. Empty: they name none, and git's own folder counts, which no call changes
// without a question.
func (e *Engine) hooksIn(w *work, dir string) (hooks, top string) {
	if !strings.HasPrefix(dir, "/") || !effect.IsKnown(dir) {
		return "", ""
	}
	dir, _ = w.links.real(e.files, path.Clean(dir))
	if top = e.top(dir); top == "" {
		return "", ""
	}
	git := top + "/.git"
	if b, err := e.files.ReadFile(git, maxIndexPath); err == nil { // a further working tree, or a submodule
		to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if !ok {
			return "", ""
		}
		git = absolute(to, top)
		if b, err := e.files.ReadFile(git+"/commondir", maxIndexPath); err == nil {
			hooks = e.hooksPath(w, git+"/config.worktree", 0)
			git = absolute(strings.TrimSpace(string(b)), git)
		}
	}
	home := w.around.home
	for _, file := range [...]string{
		git + "/config.worktree", git + "/config", home + "/.gitconfig", home + "/.config/git/config",
	} {
		if hooks == "" {
			hooks = e.hooksPath(w, file, 0)
		}
	}
	if below, ok := strings.CutPrefix(hooks, "~/"); ok {
		hooks = home + "/" + below
	}
	if hooks != "" {
		hooks = absolute(hooks, top)
	}
	return hooks, top
}

// hooksPath is the last core.hooksPath of a file of settings, and of those it includes.
func (e *Engine) hooksPath(w *work, file string, depth int) (hooks string) {
	b, err := e.files.ReadFile(file, maxGitConfig)
	if err != nil || depth > maxGitInclude {
		return "" // most have none
	}
	section := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			end := strings.LastIndexByte(line, ']')
			if end < 0 {
				continue
			}
			section, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(line[1:end])), " ")
			line = strings.TrimSpace(line[end+1:])
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case section == "core" && key == "hookspath":
			hooks = value
		case (section == "include" || section == "includeif") && key == "path":
			if below, ok := strings.CutPrefix(value, "~/"); ok {
				value = w.around.home + "/" + below
			}
			if more := e.hooksPath(w, absolute(value, path.Dir(file)), depth+1); more != "" {
				hooks = more
			}
		}
	}
	return hooks
}
