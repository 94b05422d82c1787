package agenttexts

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/content"
)

// What Claude Code makes of a text that it loads, and what it loads with it.

// brings judges the subagent that a text runs in, and what a subagent has loaded before its
// first word, or beside it.
func (l *loader) brings(file string, front *content.Front) {
	agent, sure := front.Value("agent")
	if agent == "" && front.Has("context") && !l.agent {
		agent = "general-purpose" // the one of each fork
	}
	if agent != "" {
		l.one(true, agent) // with the hooks of that one
	}
	if l.agent {
		skills, all := front.List("skills")
		for _, skill := range skills {
			l.one(false, skill)
		}
		observers, allObservers := front.List("observer")
		for _, observer := range observers {
			l.one(true, observer)
		}
		first, read := front.Value("initialprompt")
		sure = sure && all && allObservers && (!l.begun || read && !strings.HasPrefix(first, "/"))
	}
	if !sure {
		l.Unseen(file) // what else is loaded is not known
	}
}

// filled is what runs of a text with the arguments of the call in it, as newer and as older
// versions count them.
func (l *loader) filled(file, text string, p *content.Prompt) (out []content.Prompt) {
	hidden := l.inFolders(file, text)
	for first := range 2 {
		filled, ok := p.Fill(text, l.args, first)
		if !ok || l.args == anyArguments && filled != text {
			hidden = "a text of which it is not known what its arguments make of it"
		}
		filled = l.places(file, filled)
		for _, t := range slices.Compact([]string{filled, userConfig.ReplaceAllString(filled, "")}) {
			read := content.ReadPrompt(file, t)
			read.Hidden = cmp.Or(hidden, read.Hidden)
			out = append(out, read)
		}
		if l.args == "" || !strings.Contains(text, "$") {
			break
		}
	}
	return out
}

// userConfig is what stands for a setting of a plugin, which may be empty.
var userConfig = regexp.MustCompile(`\$\{user_config\.[^}]*\}`)

// inFolders says why it is not known what runs of a text because of the paths that are put
// in it, by the names that are called and by those that links lead to.
func (l *loader) inFolders(file, text string) string {
	dir := path.Dir(file)
	to := path.Dir(l.follow(file))
	hidden := content.PutIn(text+l.args, dir, to, l.dir, l.project, l.plugin)
	if l.agent {
		return hidden // no line of its folder stands before it
	}
	return cmp.Or(content.InFolder(dir), content.InFolder(to), hidden)
}

// places puts the folders in a text that Claude Code puts there.
func (l *loader) places(file, text string) string {
	if !strings.Contains(text, "${CLAUDE_") {
		return text
	}
	root, project := cmp.Or(l.plugin, path.Dir(path.Dir(path.Dir(file)))), cmp.Or(l.project, l.dir)
	return strings.NewReplacer("${CLAUDE_SKILL_DIR}", path.Dir(file), "${CLAUDE_PLUGIN_ROOT}", root,
		"${CLAUDE_PROJECT_DIR}", project).Replace(text)
}

// workflow judges what a workflow brings: its script has no way out but subagents, whose
// calls have hooks. But these may have hooks of their own, and the script may start any.
func (l *loader) workflow(name, file string) {
	var scripts []string
	if file != "" {
		if !strings.HasPrefix(file, "/") {
			file = l.dir + "/" + file
		}
		scripts = append(scripts, file)
	}
	if name != "" {
		found := l.workflows(name)
		scripts = append(scripts, found...)
		if len(found) == 0 && !builtIn(name, false) {
			l.lost(name, false)
		}
	}
	for _, script := range scripts {
		to := l.follow(script)
		if _, err := l.Analyzer.Files.Lstat(to); err != nil {
			l.Unseen(script)
		}
		l.tried = append(l.tried, to)
	}
	l.agents()
}

// agents judges every subagent that is known and loads more than its words: any of them
// may be started.
func (l *loader) agents() {
	l.agent = true
	roots := append(l.roots(), l.mains()...)
	for _, root := range append(roots, l.plugins("", roots)...) {
		l.search(root+"/agents", "", 0)
		l.ownPaths(root, "", true)
	}
	if l.budget < 0 {
		l.Unseen("agents")
	}
}

// workflows are the scripts that a name may mean: the name stands in the script.
func (l *loader) workflows(name string) (out []string) {
	plugin, inner, namespaced := strings.Cut(name, ":")
	if !namespaced {
		inner = name
	}
	dirs := l.roots()
	if namespaced {
		dirs = append(dirs, l.plugins(plugin, dirs)...)
	}
	for _, dir := range dirs {
		dir += "/workflows"
		names, _ := l.Listed(l.follow(dir))
		for _, entry := range names {
			if path.Ext(entry) != ".js" {
				continue
			}
			b, err := l.Analyzer.Files.ReadFile(l.follow(dir+"/"+entry), MaxPrompt)
			if err != nil || strings.Contains(string(b), inner) || strings.HasPrefix(entry, inner+".") {
				out = append(out, dir+"/"+entry)
			}
		}
	}
	return out
}
