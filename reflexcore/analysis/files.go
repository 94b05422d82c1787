package analysis

import (
	"path"
	"regexp"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/patches"
)

// unseenCode is what the effect of code that no hook sees is called in rules.
const unseenCode = "unseen-code"

// Unseen notes that the call leaves or loads code that no hook sees.
func (a *Call) Unseen(file string) {
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == effect.Persist && e.What == unseenCode && e.Target == file {
			return
		}
	}
	a.Effects = append(a.Effects,
		effect.Effect{Kind: effect.Persist, What: unseenCode, Target: file, By: a.ToolCall.Tool, Step: -1})
}

// Listed are the names in a folder from which something is loaded. Where there is a folder
// whose names cannot be read, or are too many, the call is a question.
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

// ExecutedSkill is the effect that binds an approval to a file with its commands.
func ExecutedSkill(file string) effect.Effect {
	return effect.Effect{Kind: effect.Exec, Target: file, By: "file " + file, Step: -1}
}

// TextOf is what a file has in it: what the call writes there, or what lies on the disk.
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
	b, err := a.Analyzer.Files.ReadFile(to, patches.MaxBytes)
	return string(b), err == nil
}

// PatchReader reads the differences of the call.
func (a *Call) PatchReader() patches.Reader {
	return patches.Reader{
		Disk: a.Analyzer.Files, Links: &a.Links, Names: &a.Names, Shell: a.ToolCall.Command != "", Text: a.Text,
		Written: a.Texts, Effects: a.Effects, Paths: a.Analyzer.Paths,
	}
}

// RunsGit reports whether git may be a word of the call's command.
func (a *Call) RunsGit() bool {
	return a.ToolCall.Command != "" && strings.Contains(Unquoted.Replace(a.Text), "git")
}

// Unquoted drops what may stand in a word and not count.
var Unquoted = strings.NewReplacer("'", "", `"`, "", `\`, "")

// promptRuns notes what a text that agents load runs, and reports whether it is judged as the
// command that it is.
func (a *Call) promptRuns(p *effect.Payload) bool {
	if a.onlyRead(p.Path) {
		return false
	}
	if !tellsOnly(p) {
		a.Unseen(a.pluginFile(p.Path))
	}
	return p.Lang != ""
}

// onlyRead reports whether a text is one beside a skill, which is read as any file is: Claude
// Code runs the commands of the SKILL.md alone.
func (a *Call) onlyRead(p string) bool {
	at := strings.LastIndex(p, "/.claude/skills/")
	if at < 0 || !effect.IsKnown(p) || strings.ContainsAny(p, "*?[") || strings.EqualFold(path.Base(p), "skill.md") {
		return false
	}
	to, ok := a.Links.Real(a.Analyzer.Files, p)
	return ok && to == p && path.Clean(p) == p && besideSkill.MatchString(p[at+len("/.claude/skills/"):]) &&
		!content.IsPlugin(a.Analyzer.Files, p)
}

// besideSkill finds a text beside the SKILL.md of a skill, where no plugin has its texts.
var besideSkill = regexp.MustCompile(`^[^/]+/(?:(?:references?|docs|examples|assets|resources|templates)/)?[^/]+\.md$`)

// pluginFile is the file of a plugin whose content was read by another path.
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

// tellingGit finds a command of git that only tells something, however the repository is.
var tellingGit = regexp.MustCompile(`^git (?:(?:status|diff|log|show)(?: ` +
	`(?:-\d{1,3}|-s|-b|--short|--branch|--porcelain|--stat|--staged|--cached|--name-only|` +
	`--name-status|--oneline|--no-color|--graph|@|(?:origin/)?(?:HEAD|main|master)(?:[~^]\d{0,3})?(?:\.{2,3}(?:HEAD|@))?))*|` +
	`branch(?: --show-current| -a| -v)?|rev-parse(?: --abbrev-ref| --short| --show-toplevel)?(?: HEAD)?|remote -v)$`)

// tellsOnly reports whether a payload is a command of a text that only tells something. It stands
// in many texts, such as those that commit.
func tellsOnly(p *effect.Payload) bool {
	return p.Lang == effect.Shell && strings.HasPrefix(p.Why, "a command in ") && tellingGit.MatchString(p.Text)
}
