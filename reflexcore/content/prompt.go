package content

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
)

// Skills, slash commands and subagents are texts for a model. Some agents run commands in them
// before the model reads them, and their first lines can add hooks and servers. No hook of the
// agent sees these commands.

// A Prompt says what runs of such a text.
type Prompt struct {
	Commands []string // what a shell runs when the text is loaded
	Lang     string   // of the shell, as [effect.Payload] has it
	// Adds says what the front matter adds: "hooks" or "servers". It is empty for nothing.
	Adds  string
	Front Front
	// Hidden says why it is not fully known what runs. It is empty if everything is known.
	Hidden string
}

// Runs reports whether anything of it runs.
func (p *Prompt) Runs() bool { return len(p.Commands) > 0 || p.Adds != "" || p.Hidden != "" }

const (
	maxPromptCommands = 64       // that are read of one text
	maxFront          = 64 << 10 // bytes of front matter
)

// A dialect says how an agent marks commands in a text.
type dialect uint8

const (
	claude dialect = iota // !`…` behind white space, and ```! blocks
	ticks                 // !`…` anywhere
	braces                // !{…}
)

// promptDialect returns the dialect of a place. The default is that of Claude Code.
func promptDialect(p string) dialect {
	p = strings.ToLower(p)
	switch {
	case strings.Contains(p, ".gemini/"), strings.Contains(p, ".qwen/"):
		return braces
	case strings.Contains(p, "opencode/"):
		return ticks
	}
	return claude
}

// IsPrompt reports whether a file with that name is loaded as a text with commands. Other files in
// the same folders are not read, or are scripts that a call names.
func IsPrompt(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".mdc", ".toml", ".json":
		return true
	}
	return !effect.IsPlain(path.Base(p))
}

// Prompts reports whether agents load texts from the place, with their commands.
func (s Sink) Prompts() bool { return s.format != nil && s.format.prompt }

// ReadPrompt finds what runs of a text at a path. If versions of an agent differ, it finds what any
// of them runs, such as commands in code spans.
func ReadPrompt(p, text string) (out Prompt) {
	out.Lang = effect.Shell
	if !utf8.ValidString(text) { // such as UTF-16, which agents may read
		out.Hidden = "a text that cannot be read"
		return out
	}
	how := promptDialect(p)
	if ext := strings.ToLower(path.Ext(p)); ext == ".toml" && strings.Contains(text, `\`) &&
		(strings.Contains(text, `\u`) || strings.Contains(text, `\U`) || strings.Contains(text, `\x`)) {
		out.Hidden = "escapes that may be anything"
	}
	if out.Front = ReadFront(text); len(out.Front.Text) > maxFront {
		out.Hidden, out.Front = "more front matter than is read", Front{Odd: true}
	} else {
		out.adding()
	}
	out.commands(text, how)
	return out
}

// adding notes what the front matter adds. Names of servers that are defined elsewhere add nothing.
func (p *Prompt) adding() {
	f := &p.Front
	shell, sure := f.Value("shell")
	shell = strings.ToLower(shell)
	if strings.HasPrefix(shell, "pwsh") || strings.HasPrefix(shell, "powershell") {
		p.Lang = effect.PowerShell
	}
	_, mcp := f.List("mcpservers")
	_, gemini := f.List("mcp_servers")
	_, lsp := f.List("lspservers")
	switch {
	case f.Odd:
		p.Adds, p.Hidden = "hooks", "front matter that may say anything"
	case f.Has("hooks"):
		p.Adds = "hooks"
	case !mcp || !gemini || !lsp:
		p.Adds = "servers"
	}
	if !sure {
		p.Hidden = "front matter that may say anything"
	}
}

func (p *Prompt) commands(text string, how dialect) {
	add := func(command string) {
		command = strings.ReplaceAll(strings.TrimFunc(command, IsScriptSpace), "\r\n", "\n")
		switch {
		case command == "":
		case len(p.Commands) >= maxPromptCommands:
			p.Hidden = "more commands than are read of a text"
		default:
			p.Commands = append(p.Commands, command)
		}
	}
	if how == braces {
		eachBraced(text, add)
		return
	}
	for rest := text; ; {
		_, block, ok := strings.Cut(rest, "```!")
		if !ok {
			break
		}
		command, after, ok := strings.Cut(block, "```")
		if !ok {
			break
		}
		add(command)
		rest = after
	}
	for i := 0; ; {
		j := strings.Index(text[i:], "!`")
		if j < 0 {
			return
		}
		j += i
		i = j + 1
		if how == claude && !afterSpace(text[:j]) {
			continue
		}
		if command, _, ok := strings.Cut(text[j+2:], "`"); ok {
			add(command)
		}
	}
}

// afterSpace reports whether a text is empty, or ends in white space of JavaScript, or in the
// dashes that end front matter.
func afterSpace(s string) bool {
	if s == "" || strings.HasSuffix(s, "---") {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(r) || r == '\ufeff' || r == '\u180e' || r == 0 // what is not known
}

// InFolder returns why it is not known what runs in the line that Claude Code puts before the text
// of a file: "Base directory for this skill: DIR". It is empty if the line runs nothing. Arguments
// are replaced in that line, too.
func InFolder(dir string) string {
	if strings.ContainsAny(dir, "`$") {
		return "a folder with a name that may run"
	}
	return ""
}

// PutIn is the same for variables in the text that stand for folders, such as
// ${CLAUDE_PLUGIN_ROOT}.
func PutIn(text string, dirs ...string) string {
	if !strings.Contains(text, "${CLAUDE_") {
		return ""
	}
	for _, dir := range dirs {
		if strings.ContainsAny(dir, "`$!") {
			return "a folder with a name that may run, which is put in the text"
		}
	}
	return ""
}

// eachBraced calls add with every text between !{ and the closing brace, or to the end.
func eachBraced(text string, add func(string)) {
	for {
		_, rest, ok := strings.Cut(text, "!{")
		if !ok {
			return
		}
		depth, end := 1, len(rest)
		for i := 0; i < len(rest) && depth > 0; i++ {
			switch rest[i] {
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 {
					end = i
				}
			}
		}
		add(rest[:end])
		text = rest[min(end+1, len(rest)):]
	}
}

// prompt yields what runs of a text for agents.
func (x *extractor) prompt(text string) {
	if strings.EqualFold(path.Ext(x.path), ".json") {
		x.manifest(text)
		return
	}
	p := ReadPrompt(x.path, text)
	if p.Hidden == "" && promptDialect(x.path) == claude {
		dir := path.Dir(x.path)
		p.Hidden = cmp.Or(InFolder(dir), PutIn(text, dir))
	}
	for _, command := range p.Commands {
		x.emit(p.Lang, command, "a command in "+x.sink.Name)
	}
	x.adds(&p)
	if p.Hidden == "" && promptDialect(x.path) == claude && replacesBuiltIn(x.path, &p.Front) {
		p.Hidden = "a subagent in the place of a built-in one, with more than words"
	}
	if p.Hidden != "" {
		x.hidden(p.Hidden)
	}
}

// builtInAgents are the built-in subagents of Claude Code 2.1.330.
var builtInAgents = []string{"claude", "claude-code-guide", "Explore", "general-purpose", "Plan", "statusline-setup"}

// BuiltInAgent reports whether Claude Code has a built-in subagent with a name. A file with that
// name replaces it.
func BuiltInAgent(name string) bool { return slices.Contains(builtInAgents, name) }

// replacesBuiltIn reports whether a text is a subagent that replaces a built-in one, or may replace
// it, and loads more than its text. Claude Code loads it from any folder that is added to a
// project, and no call shows these folders.
func replacesBuiltIn(p string, f *Front) bool {
	dir, base := path.Split(strings.ToLower(p))
	if !strings.Contains("/"+dir, "/agents/") || !f.Loads() && !f.Has("initialprompt") {
		return false
	}
	return slices.ContainsFunc(builtInAgents, func(name string) bool {
		called, _ := f.Called(name)
		return called || base == strings.ToLower(name)+".md"
	})
}

// adds yields the commands of hooks and servers in the front matter.
func (x *extractor) adds(p *Prompt) {
	if p.Adds == "" {
		return
	}
	before := x.count
	x.yaml(p.Front.Text)
	if x.count == before {
		x.hidden(p.Adds + " of which no command is known")
	}
}

// manifest yields what runs of a plugin's manifest, or of one of its lists: hooks, servers,
// monitors, and commands whose text is in it.
func (x *extractor) manifest(text string) {
	if !ManifestRuns(text) {
		return
	}
	before := x.count
	x.json(text)
	if x.count == before {
		x.hidden("hooks or servers of which no command is known")
	}
}

// ManifestRuns reports whether a plugin's manifest, or one of its lists, may start programs.
func ManifestRuns(text string) bool { return manifestRuns().MatchString(strings.ToLower(text)) }

// manifestRuns matches the keys of a manifest whose values are, or may be, programs.
var manifestRuns = lazyregexp.New(`(?:"hooks"|servers"|"monitors"|"command"|"content")\s*:|\\u`)
