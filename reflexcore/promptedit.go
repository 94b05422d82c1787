package reflexcore

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// An edit in place by sed of a text that agents load is judged by what comes out, where that
// is plain: one replacement of words in one file.

const (
	sedCall  = `^\s*g?sed\s+(?:-(?:i|E|r|s|Ei|ri|i ''|i "")\s+)*(?:-i|-Ei|-ri|-i ''|-i "")\s+(?:-[Ers]\s+)*(?:-e\s+)?`
	sedFile  = `\s+[\w./~-]+\s*$`
	sedWords = `s/([^/QUOTE&;]+)/([^/QUOTE&;]*)/(g?)|s\|([^|QUOTE&;]+)\|([^|QUOTE&;]*)\|(g?)|s#([^#QUOTE&;]+)#([^#QUOTE&;]*)#(g?)|s,([^,QUOTE&;]+),([^,QUOTE&;]*),(g?)`
	sedBare  = `s([/,])([\w.:@%+=-]+)[/,]([\w.:@%+=-]*)[/,](g?)`
)

// plainSeds find such a call, by how its script is written: in either quotes, or in none.
var plainSeds = [...]*regexp.Regexp{
	regexp.MustCompile(sedCall + `'(?:` + strings.ReplaceAll(sedWords, "QUOTE", "'") + `)'` + sedFile),
	regexp.MustCompile(sedCall + `"(?:` + strings.ReplaceAll(sedWords, "QUOTE", `"!`) + `)"` + sedFile),
	regexp.MustCompile(sedCall + sedBare + sedFile),
}

// sedReplaces is what a call of sed replaces; ok: nothing else is done by it.
func sedReplaces(command string) (from, to string, all, ok bool) {
	if strings.ContainsAny(command, "`\\$\n") {
		return "", "", false, false
	}
	for _, form := range plainSeds {
		m := form.FindStringSubmatch(command)
		if m == nil {
			continue
		}
		if len(m) == 5 { // in no quotes
			from, to, all = m[2], m[3], m[4] != ""
			return from, to, all, !strings.Contains(from+to, m[1])
		}
		for i := 1; i < len(m); i += 3 {
			if m[i] != "" {
				return m[i], m[i+1], m[i+2] != "", true
			}
		}
	}
	return "", "", false, false
}

// editedPlainly judges an edit in place by what comes out; false: that is not known.
func (e *Engine) editedPlainly(w *work, target string, place shell.Context) bool {
	from, to, all, ok := sedReplaces(w.text)
	if !ok || strings.ContainsAny(from, `*[]^+?(){}|`) {
		return false
	}
	b, err := e.files.ReadFile(target, maxPrompt)
	if errors.Is(err, fs.ErrNotExist) {
		return true // then nothing is edited
	}
	before := string(b)
	dotted := strings.Contains(from, ".")
	if err != nil || dotted && strings.ContainsFunc(before, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false // a dot is a letter or a byte, as the language of the machine says
	}
	matches := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(from), `\.`, "."))
	lines := strings.Split(before, "\n")
	for i, line := range lines {
		if at := matches.FindStringIndex(line); all {
			lines[i] = matches.ReplaceAllLiteralString(line, to)
		} else if at != nil {
			lines[i] = line[:at[0]] + to + line[at[1]:]
		}
	}
	e.promptText(w, target, before, strings.Join(lines, "\n"), place)
	return true
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

// promptRuns notes what a text that agents load runs, and reports whether it is judged as the
// command that it is.
func (e *Engine) promptRuns(w *work, p *effect.Payload) bool {
	if e.onlyRead(w, p.Path) {
		return false
	}
	if !tellsOnly(p) {
		w.unseen(e.pluginFile(p.Path))
	}
	return p.Lang != ""
}

// besideSkill finds a text beside the SKILL.md of a skill, where no plugin has its texts.
var besideSkill = regexp.MustCompile(`^[^/]+/(?:(?:references?|docs|examples|assets|resources|templates)/)?[^/]+\.md$`)

// onlyRead reports whether a text is one beside a skill, which is read as any file is: Claude
// Code runs the commands of the SKILL.md alone.
func (e *Engine) onlyRead(w *work, p string) bool {
	at := strings.LastIndex(p, "/.claude/skills/")
	if at < 0 || !effect.IsKnown(p) || strings.ContainsAny(p, "*?[") || strings.EqualFold(path.Base(p), "skill.md") {
		return false
	}
	to, ok := w.links.Real(e.files, p)
	return ok && to == p && path.Clean(p) == p && besideSkill.MatchString(p[at+len("/.claude/skills/"):]) && !content.IsPlugin(e.files, p)
}
