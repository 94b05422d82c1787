package agenttexts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/content"
)

// This file judges how Claude Code changes a text that it loads, and what it loads with it.

// loadSubagents judges the subagent in which a text runs, and what a subagent loads at its start.
func (l *loader) loadSubagents(file string, front *content.Front) {
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

// filled returns what runs of a text with the arguments of the call, as newer and as older versions
// number them.
func (l *loader) filled(file, text string, p *content.Prompt) (out []content.Prompt) {
	hidden := l.inFolders(file, text)
	for first := range 2 {
		filled, ok := p.Fill(text, l.args, first)
		if !ok || l.args == anyArguments && filled != text {
			hidden = "a text of which it is not known what its arguments make of it"
		}
		filled = l.places(file, filled)
		for _, t := range slices.Compact([]string{filled, userConfig().ReplaceAllString(filled, "")}) {
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

// userConfig matches a variable for a setting of a plugin, which may be empty.
var userConfig = lazyregexp.New(`\$\{user_config\.[^}]*\}`)

// inFolders says why the paths that are put into a text make it unknown what runs. It looks at the
// paths as they are named and at where their links lead.
func (l *loader) inFolders(file, text string) string {
	dir := path.Dir(file)
	to := path.Dir(l.follow(file))
	hidden := content.PutIn(text+l.args, dir, to, l.dir, l.project, l.plugin)
	if l.agent {
		return hidden // Claude Code puts no line with its folder before it
	}
	return cmp.Or(content.InFolder(dir), content.InFolder(to), hidden)
}

// places replaces the variables in a text that stand for folders.
func (l *loader) places(file, text string) string {
	if !strings.Contains(text, "${CLAUDE_") {
		return text
	}
	root, project := cmp.Or(l.plugin, path.Dir(path.Dir(path.Dir(file)))), cmp.Or(l.project, l.dir)
	return strings.NewReplacer("${CLAUDE_SKILL_DIR}", path.Dir(file), "${CLAUDE_PLUGIN_ROOT}", root,
		"${CLAUDE_PROJECT_DIR}", project).Replace(text)
}

// workflow judges a workflow. Its script can only start subagents, whose calls have hooks. But
// subagents may have hooks of their own, and the script may start any of them.
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
			l.notFound(name, false)
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

// agents judges every known subagent that loads more than its text, because any of them may be
// started.
func (l *loader) agents() {
	l.agent = true
	roots := append(l.roots(), l.mainFolders()...)
	for _, root := range append(roots, l.plugins("", roots)...) {
		l.search(root+"/agents", "", 0)
		l.ownPaths(root, "")
	}
	if l.budget < 0 {
		l.Unseen("agents")
	}
}

// workflows returns the scripts that a name may mean: those that contain the name.
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
