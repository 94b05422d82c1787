package analysis

import (
	"path"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
)

// unseenCode is the What of effects of code that no hook sees.
const unseenCode = "unseen-code"

// Unseen records that the call leaves or loads code that no hook sees.
func (a *Call) Unseen(file string) {
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == effect.Persist && e.What == unseenCode && e.Target == file {
			return
		}
	}
	a.Effects = append(a.Effects,
		effect.Effect{Kind: effect.Persist, What: unseenCode, Target: file, By: a.ToolCall.Tool, Step: -1})
}

// Listed returns the names in a folder from which something is loaded. If the folder exists and
// cannot be listed, or has too many names, the call becomes a question.
func (a *Call) Listed(dir string) ([]string, bool) {
	names, err := a.Analyzer.Files.ReadDir(dir, disk.MaxListed)
	if err == nil {
		return names, true
	}
	if at, err := a.Analyzer.Files.Lstat(dir); err == nil && at.IsDir() {
		a.Unseen(dir)
	}
	return nil, false
}

// ExecutedSkill returns the effect that binds an approval to a file and its commands.
func ExecutedSkill(file string) effect.Effect {
	return effect.Effect{Kind: effect.Exec, Target: file, By: "file " + file, Step: -1}
}

// MaxText is how much of a file is read as a text, in bytes.
const MaxText = 1 << 20

// TextOf returns the content of a file: what the call writes there, or what is on the disk.
func (a *Call) TextOf(file string) (string, bool) {
	for _, t := range a.Texts {
		if t.Path == file {
			return t.Text, !t.Part && effect.IsKnown(t.Text)
		}
	}
	if !effect.IsKnown(file) || !strings.HasPrefix(file, "/") {
		return "", false
	}
	to, ok := a.Links.Real(a.Analyzer.Files, path.Clean(file))
	if !ok {
		return "", false
	}
	b, err := a.Analyzer.Files.ReadFile(to, MaxText)
	return string(b), err == nil
}

// RunsGit reports whether the call's command may run git.
func (a *Call) RunsGit() bool {
	return a.ToolCall.Command != "" && strings.Contains(Unquoted.Replace(a.Text), "git")
}

// Unquoted removes quotes and backslashes.
var Unquoted = strings.NewReplacer("'", "", `"`, "", `\`, "")

// promptRuns records the effect of a text that agents load and that runs something. It reports
// whether the text must also be judged as a command.
func (a *Call) promptRuns(p *effect.Payload) bool {
	if a.isOnlyRead(p.Path) {
		return false
	}
	if !onlyPrints(p) {
		a.Unseen(a.pluginFile(p.Path))
	}
	return p.Lang != ""
}

// isOnlyRead reports whether a file lies beside a SKILL.md and is only read. Claude Code runs the
// commands of the SKILL.md alone.
func (a *Call) isOnlyRead(p string) bool {
	at := strings.LastIndex(p, "/.claude/skills/")
	if at < 0 || !effect.IsPlain(p) || strings.EqualFold(path.Base(p), "skill.md") {
		return false
	}
	to, ok := a.Links.Real(a.Analyzer.Files, p)
	return ok && to == p && path.Clean(p) == p && skillCompanion().MatchString(p[at+len("/.claude/skills/"):]) &&
		!content.IsPlugin(a.Analyzer.Files, p)
}

// skillCompanion matches texts beside the SKILL.md of a skill, in folders where no plugin has its
// commands.
var skillCompanion = lazyregexp.New(
	`^[^/]+/(?:(?:references?|docs|examples|assets|resources|templates)/)?[^/]+\.md$`)

// pluginFile returns the plugin file whose content was read by another path.
func (a *Call) pluginFile(as string) string {
	for _, folder := range [...]string{"/.claude/commands/", "/.claude-plugin/"} {
		if dir, name, ok := strings.Cut(as, folder); ok {
			own := dir + "/" + name
			if again, ok := content.PluginText(a.Analyzer.Files, own); ok && again == as {
				return own
			}
		}
	}
	return as
}

// printingGit matches git commands that only print, whatever the repository contains.
var printingGit = lazyregexp.New(`^git (?:(?:status|diff|log|show)(?: ` +
	`(?:-\d{1,3}|-s|-b|--short|--branch|--porcelain|--stat|--staged|--cached|--name-only|` +
	`--name-status|--oneline|--no-color|--graph|@|(?:origin/)?(?:HEAD|main|` +
	`master)(?:[~^]\d{0,3})?(?:\.{2,3}(?:HEAD|@))?))*|` +
	`branch(?: --show-current| -a| -v)?|rev-parse(?: --abbrev-ref| --short| --show-toplevel)?(?: HEAD)?|remote -v)$`)

// onlyPrints reports whether a payload is a command that only prints. Many texts have such commands,
// for example texts about commits.
func onlyPrints(p *effect.Payload) bool {
	return p.Lang == effect.Shell && strings.HasPrefix(p.Why, "a command in ") && printingGit().MatchString(p.Text)
}
