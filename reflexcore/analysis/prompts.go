package analysis

import (
	"path"
	"regexp"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
)

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
	return ok && to == p && path.Clean(p) == p && besideSkill.MatchString(p[at+len("/.claude/skills/"):]) && !content.IsPlugin(a.Analyzer.Files, p)
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
var tellingGit = regexp.MustCompile(`^git (?:(?:status|diff|log|show)(?: (?:-\d{1,3}|-s|-b|--short|--branch|--porcelain|--stat|--staged|--cached|--name-only|` +
	`--name-status|--oneline|--no-color|--graph|@|(?:origin/)?(?:HEAD|main|master)(?:[~^]\d{0,3})?(?:\.{2,3}(?:HEAD|@))?))*|` +
	`branch(?: --show-current| -a| -v)?|rev-parse(?: --abbrev-ref| --short| --show-toplevel)?(?: HEAD)?|remote -v)$`)

// tellsOnly reports whether a payload is a command of a text that only tells something. It stands
// in many texts, such as those that commit.
func tellsOnly(p *effect.Payload) bool {
	return p.Lang == effect.Shell && strings.HasPrefix(p.Why, "a command in ") && tellingGit.MatchString(p.Text)
}
