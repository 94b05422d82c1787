package agenttexts

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
)

// A call that loads a skill, a slash command or a subagent runs the commands in its file before any
// hook is asked again. So the file is judged together with the call.

// Loads judges the files that a Skill, SlashCommand, Agent or Workflow call loads. A name that is
// neither found nor built into Claude Code is a question: its file may be in a place that is not
// known here, such as a folder below the project, a plugin or folder that is only on the command
// line of this Claude Code, or a place of a later version.
func (r *Reader) Loads() {
	var in map[string]json.RawMessage // keys are compared exactly, as Claude Code does
	agent := false
	switch r.ToolCall.Tool {
	case "Skill", "SlashCommand":
	case "Agent", "Task":
		agent = true
	case "Workflow":
	default:
		return
	}
	shaped := json.Unmarshal(r.ToolCall.Args, &in) == nil
	text := func(key string) (s string) {
		if raw, ok := in[key]; ok && json.Unmarshal(raw, &s) != nil {
			shaped = false
		}
		return s
	}
	l := &loader{
		Reader: r, dir: r.ToolCall.Dir, project: r.ToolCall.Env["CLAUDE_PROJECT_DIR"],
		budget: maxSearches, from: len(r.Effects), done: map[string]content.Front{},
	}
	l.findAdded()
	if r.ToolCall.Tool == "Workflow" {
		if name, file := text("name"), text("scriptPath"); shaped {
			l.workflow(name, file)
			l.bind()
			return
		}
	}
	names, args := []string{text("skill")}, text("args")
	switch command := trimScript(text("command")); {
	case agent:
		names, args = []string{text("subagent_type")}, ""
	case names[0] == "" && command != "":
		names = []string{command}
	case names[0] == "":
		names[0] = text("name")
	}
	if !shaped {
		r.Unseen(r.ToolCall.Tool) // another shape than is known
		return
	}
	names[0] = strings.TrimPrefix(trimScript(names[0]), "/")
	if agent && names[0] == "" {
		names[0] = "general-purpose"
	}
	if end := strings.IndexFunc(names[0], content.IsScriptSpace); end >= 0 && !agent {
		names, args = append(names, names[0][:end]), trimScript(trimScript(names[0][end:])+" "+args)
	}
	l.args = args
	l.one(agent, names...)
	l.bind()
}

// trimScript removes the same white space as JavaScript's trim.
func trimScript(s string) string { return strings.TrimFunc(s, content.IsScriptSpace) }

// maxName is the longest name of a file.
const maxName = 255

const (
	// maxSearched limits what is read of a file whose name says nothing, in bytes.
	maxSearched = 64 << 10
	// maxSearches limits the files and folders that are looked at for one call.
	maxSearches = 2048
	maxBelow    = 8 // folders in each other, of which Claude Code knows no bound
)

// one loads what has one of these names. The last one is the shortest.
func (l *loader) one(agent bool, names ...string) {
	key := strconv.FormatBool(agent) + names[0] + "\x00" + l.args
	if slices.Contains(l.names, key) {
		return
	}
	l.names = append(l.names, key)
	was := *l
	l.found, l.certain, l.agent, l.plugin, l.wanted = false, false, agent, "", names
	for _, name := range names {
		l.load(name, agent)
	}
	l.loadAdded(agent, names)
	if last := names[len(names)-1]; !l.certain && !l.typed && !builtIn(last, agent) {
		l.notFound(last, agent)
	}
	l.found, l.certain, l.agent, l.plugin, l.wanted = was.found, was.certain, was.agent, was.plugin, was.wanted
}

// load judges each file that may have the name. Which one the agent uses depends on its version,
// and front matter may change names, so the strictest counts.
func (l *loader) load(name string, agent bool) {
	if odd(name) {
		return // it is not found
	}
	plugin, inner, namespaced := strings.Cut(name, ":")
	roots := append(l.roots(), l.mainFolders()...)
	own := len(roots) // those behind are plugins
	for _, root := range roots {
		l.named(root, name, agent)
	}
	l.certain = l.certain || !agent && l.owns(name)
	if namespaced {
		l.found = false
		for _, root := range l.plugins(plugin, roots) {
			l.plugin = root
			l.named(root, inner, agent)
			l.fileIgnoringCase(root, "SKILL.md")
			l.ownPaths(root, inner)
			roots = append(roots, root)
		}
		l.certain = l.certain || l.found
	}
	base := name[strings.LastIndexByte(name, ':')+1:]
	for i, root := range roots {
		if l.plugin = ""; i >= own {
			l.plugin = root
		}
		for _, folder := range folders(agent) {
			l.search(root+"/"+folder, base, 0)
		}
	}
	if l.budget < 0 {
		l.Unseen(name)
	}
}

// odd reports whether no file in a known folder could have a name.
func odd(name string) bool {
	for step := range strings.SplitSeq(strings.ReplaceAll(name, ":", "/"), "/") {
		if step == "" || step == "." || step == ".." || len(step) > maxName {
			return true
		}
	}
	return false
}

// bind binds an approval to the files that were found, and to the absence of files that would have
// precedence.
func (l *loader) bind() {
	if l.Binds && len(l.Effects) > l.from {
		for _, file := range l.tried {
			l.Effects = append(l.Effects, analysis.ExecutedSkill(file))
		}
	}
}

func folders(agent bool) []string {
	if agent {
		return []string{"agents"}
	}
	return []string{"skills", "commands"}
}

// named looks at the files with a name in one settings folder.
func (l *loader) named(root, name string, agent bool) {
	below := strings.ReplaceAll(name, ":", "/")
	if agent {
		l.fileIgnoringCase(root+"/agents", below+".md")
		return
	}
	for _, p := range slices.Compact([]string{name, below, path.Base(below)}) { // a folder may have a colon in its name
		l.fileIgnoringCase(root+"/skills/"+p, "SKILL.md")
		l.fileIgnoringCase(root+"/commands/"+p, "SKILL.md")
		l.fileIgnoringCase(root+"/commands", p+".md")
	}
}

// fileIgnoringCase looks at the files in a folder with a name, ignoring case.
func (l *loader) fileIgnoringCase(dir, name string) {
	file := dir + "/" + name
	dir, name = path.Split(file)
	dir = path.Clean(dir)
	names, ok := l.Listed(l.follow(dir))
	if !ok {
		l.file(file) // it may be entered though its names cannot be read
		return
	}
	if l.budget--; l.budget < 0 {
		return
	}
	l.file(file)
	for _, entry := range names {
		if entry != name && strings.EqualFold(entry, name) {
			l.file(dir + "/" + entry)
		}
	}
}

// roots returns the settings folders: of the project and the folders above it, of the home, and of
// the machine.
func (l *loader) roots() (out []string) {
	add := func(dir string) {
		if dir = path.Clean(dir); strings.HasPrefix(dir, "/") && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	for _, dir := range []string{l.dir, l.project} {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		for up := range disk.Up(path.Clean(dir)) {
			add(up + "/.claude")
		}
	}
	if home := l.Around.Home; home != "" {
		add(home + "/.claude")
	}
	if config := l.ToolCall.Env["CLAUDE_CONFIG_DIR"]; config != "" {
		add(config)
	}
	add("/etc/claude-code/.claude")
	add("/etc/claude-code")
	return out
}

// search finds the files below a folder that have the name, or get it from their front matter. In a
// folder of skills only each SKILL.md counts.
func (l *loader) search(dir, name string, depth int) {
	if l.budget < 0 {
		return
	}
	names, ok := l.Listed(l.follow(dir))
	if !ok {
		return
	}
	if depth > maxBelow {
		l.Unseen(dir)
		return
	}
	skills := path.Base(dir) == "skills" && depth == 0
	for _, entry := range names {
		p := dir + "/" + entry
		if l.budget--; l.budget < 0 {
			return
		}
		switch {
		case skills:
			l.called(p+"/SKILL.md", name)
		case strings.EqualFold(path.Ext(entry), ".md"):
			l.called(p, name)
			fallthrough // a folder may have such a name, too
		default:
			l.search(p, name, depth+1)
		}
	}
}

// called judges a file if it has the name, or gets it from its front matter, or may get it. A file
// that may have any name is judged, but does not make the name known. The empty name means any
// subagent.
func (l *loader) called(file, name string) {
	if name != "" && strings.EqualFold(path.Base(file), name+".md") {
		l.file(file)
		return
	}
	to := l.follow(file)
	b, err := l.Analyzer.Files.ReadFile(to, maxSearched)
	if err != nil {
		if _, err := l.Analyzer.Files.Lstat(to); err != nil {
			return
		}
		l.budget -= maxSearches / 32 // longer ones are few
		if b, err = l.Analyzer.Files.ReadFile(to, MaxPrompt); err != nil {
			if strings.Contains(file, "/agents/") {
				l.file(file) // only its front matter says the name
			}
			return
		}
	}
	front := content.ReadFront(string(b))
	if called, sure := front.Called(name); called && name != "" || name == "" && front.Loads() {
		found := l.found
		l.file(file)
		l.found = found || sure
	}
}

// gives reports whether front matter gives a subagent the wanted name.
func (l *loader) gives(front *content.Front) bool {
	return l.agent && slices.ContainsFunc(l.wanted, func(name string) bool {
		_, sure := front.Called(name)
		return sure
	})
}

// owns reports whether a text that was judged certainly has the name of a skill. Claude Code adds
// skills of folders below the project when it reads something there, and they must not replace the
// text. So the text must be exactly where the name says, in a folder that Claude Code loads at its
// start, and must apply to all files of the project.
func (l *loader) owns(name string) bool {
	roots := []string{"/etc/claude-code/.claude",
		cmp.Or(l.ToolCall.Env["CLAUDE_CONFIG_DIR"], l.Around.Home+"/.claude")}
	for dir := range disk.Up(path.Clean(cmp.Or(l.project, l.dir))) {
		roots = append(roots, strings.TrimSuffix(dir, "/")+"/.claude")
		if _, err := l.Analyzer.Files.Lstat(dir + "/.git"); err == nil {
			break
		}
	}
	for _, root := range append(l.mainFoldersFor("skills"), roots...) {
		if skill, ok := l.done[path.Clean(root)+"/skills/"+name+"/SKILL.md"]; ok && !skill.Odd && !skill.Has("paths") {
			return true
		}
	}
	for _, root := range append(l.mainFoldersFor("commands"), roots...) {
		if _, ok := l.done[path.Clean(root)+"/commands/"+strings.ReplaceAll(name, ":", "/")+".md"]; ok {
			return true
		}
	}
	return false
}

// follow returns where the links of a path lead.
func (l *loader) follow(p string) string {
	if to, ok := l.Links.Real(l.Analyzer.Files, p); ok {
		return to
	}
	return p
}

// file judges a file, if it exists.
func (l *loader) file(file string) {
	if front, done := l.done[file]; done {
		l.found, l.certain = true, l.certain || l.gives(&front)
		return
	}
	to := l.follow(file)
	if _, err := l.Analyzer.Files.Lstat(to); err != nil {
		l.tried = append(l.tried, to)
		return
	}
	l.done[file], l.found = content.Front{}, true
	call, from := l.Call, len(l.Effects)
	defer func() {
		call.Loaded = append(call.Loaded, analysis.Loaded{File: file, From: from, To: len(call.Effects)})
	}()
	b, err := l.Analyzer.Files.ReadFile(to, MaxPrompt)
	if err != nil {
		call.Unseen(file)
		return
	}
	text := string(b)
	p := content.ReadPrompt(file, text)
	l.done[file], l.certain = p.Front, l.certain || l.gives(&p.Front)
	l.loadSubagents(file, &p.Front)
	filled := l.filled(file, text, &p)
	if !p.Runs() && !slices.ContainsFunc(filled, func(f content.Prompt) bool { return f.Runs() }) {
		l.tried = append(l.tried, to)
		return
	}
	if call.Binds {
		call.Effects = append(call.Effects, analysis.ExecutedSkill(to))
	}
	if p.Adds != "" {
		call.Unseen(file)
		content.Payloads(promptFile(file), "---\n"+p.Front.Text+"---\n", l.Analyzer.Limits.Tools.Content,
			func(hook effect.Payload) { call.Payload(hook, l.Place) })
	}
	for _, f := range filled {
		for _, command := range f.Commands {
			call.Payload(effect.Payload{Lang: p.Lang, Text: command, Why: "a command in " + file}, l.Place)
		}
		if f.Hidden != "" {
			call.Unseen(file)
		}
	}
}

// A loader finds the files of one call.
type loader struct {
	*Reader
	dir string // where the agent is
	// project is the folder in which the agent was started. Its skills are available everywhere. It is
	// empty if the agent does not say it, or if another agent is started.
	project string
	plugin  string // the folder of the plugin that is looked at
	args    string
	typed   bool                     // in the words of a command, where a path looks the same
	from    int                      // of its effects
	budget  int                      // files and folders that are still looked at
	done    map[string]content.Front // files that are there
	names   []string                 // of skills and agents that were looked for already
	tried   []string                 // others that the name may be
	agent   bool                     // the name is that of an agent
	wanted  []string                 // what may be the name
	found   bool                     // a file that may have it is there
	certain bool                     // a file has it, and no other one can take its place
	begun   bool                     // the agent is one that a command starts with

	added     []string // folders beside the project, in which more is found
	elsewhere bool     // texts of folders that are not known here are loaded, too
}
