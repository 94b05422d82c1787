package reflexcore

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/shell"
)

// Texts that agents load can run commands that no hook sees (content.Prompt). To put such
// a text there is a question, however it is done.

const (
	// maxPrompt is the longest text that is read, in bytes. Claude Code reads no longer one.
	maxPrompt = 1 << 20
	// maxPrompts bounds the texts that one call brings or loads, and the folders.
	maxPrompts = 512
	// lostText and lostAgent are what the effect of a load is called whose file is not found.
	lostText, lostAgent = "lost-text", "lost-agent"
)

// prompts looks at the files that a shell or code writes, and finds those that agents load.
// Tools that write files hand out what runs of them (package tools).
func (e *Engine) prompts(w *work, place shell.Context) {
	handed := 0 // effects of tools that write files
	if w.a.ToolCall.Command == "" {
		handed = len(w.a.Other.Effects)
	}
	for i, n := 0, len(w.a.Effects); i < n; i++ {
		ef := w.a.Effects[i]
		switch {
		case ef.Kind != effect.Write, ef.Bits&(effect.Remote|effect.Later) != 0, effect.MakesFolder(&ef), ef.By == "touch":
			continue
		case !effect.IsKnown(ef.Target) && strings.Contains(w.a.Text, "CLAUDE_ENV"), w.isEnvFile(ef.Target):
			w.a.Unseen("$CLAUDE_ENV_FILE")
			continue
		case i < handed:
			e.promptHanded(w, ef.Target, place)
			continue
		}
		for _, target := range e.promptNames(w, &ef) {
			if !e.promptWritten(w, &ef, target, place) {
				w.a.Unseen(target)
			}
		}
	}
}

// promptHanded judges what a tool writes to a folder of settings that only the environment
// names. Of other places the tool's payloads say what runs.
func (e *Engine) promptHanded(w *work, target string, place shell.Context) {
	p, ok := w.inConfig(target)
	if !ok || !content.IsPrompt(p) || content.Classify(target).Prompts() || !content.Classify(p).Prompts() {
		return
	}
	if len(w.a.Other.Texts) == 0 {
		w.a.Unseen(target)
	}
	for _, text := range w.a.Other.Texts {
		e.promptText(w, p, "", text, place)
	}
}

// inConfig is the path that a file in CLAUDE_CONFIG_DIR has for Claude Code.
func (w *work) inConfig(p string) (string, bool) {
	config := path.Clean(w.a.ToolCall.Env["CLAUDE_CONFIG_DIR"])
	if len(config) < 2 || !disk.Below(p, config) {
		return p, false
	}
	return "/.claude" + p[len(config):], true
}

// promptAs is the path by which a text at a place is read: Claude Code's own for one in
// CLAUDE_CONFIG_DIR, or in a plugin.
func (e *Engine) promptAs(w *work, p string) string {
	if in, ok := w.inConfig(p); ok {
		return in
	}
	if as, ok := content.PluginText(e.analyzer.Files, p); ok {
		return as
	}
	return p
}

// isEnvFile reports whether a file is the one that Claude Code reads before each command.
func (w *work) isEnvFile(p string) bool {
	file := w.a.ToolCall.Env["CLAUDE_ENV_FILE"]
	return file != "" && path.Clean(file) == p
}

// promptNames are the names under which a written file is a text that agents load: its
// own, or where links lead.
func (e *Engine) promptNames(w *work, ef *effect.Effect) (out []string) {
	if e.isPromptPlace(w, ef.Target) {
		return []string{ef.Target}
	}
	if by, _, _ := strings.Cut(ef.By, " "); (asTheyAre[by] || unpacks[by]) && content.IsPlugin(e.analyzer.Files, ef.Target) {
		return []string{ef.Target} // its folders may be what is put there
	}
	if !effect.IsKnown(ef.Target) || !strings.HasPrefix(ef.Target, "/") || strings.ContainsAny(ef.Target, "*?[") {
		return nil
	}
	if to, ok := w.a.Links.Real(e.analyzer.Files, ef.Target); ok && to != ef.Target && e.isPromptPlace(w, to) {
		return []string{to}
	}
	return nil
}

// isPromptPlace reports whether a file there, or what is put into a folder there, is a
// text that agents load.
func (e *Engine) isPromptPlace(w *work, p string) bool {
	p = e.promptAs(w, p)
	base := strings.ToLower(path.Base(p))
	if base == ".claude" || base == ".claude-plugin" {
		return true
	}
	s := e.analyzer.Paths.Classify(p)
	if !s.Prompts() || !content.IsPrompt(p) && path.Ext(base) != "" {
		return false
	}
	if !s.May {
		return true
	}
	low := strings.ToLower(p) // of what is not known no more than its name says
	return protected.InAgentFolder(low) || strings.Contains(base, "skill.md")
}

// unpacks put there what nobody has looked at.
var unpacks = map[string]bool{"tar": true, "gtar": true, "bsdtar": true, "unzip": true, "7z": true, "7za": true, "cpio": true}

// asTheyAre put there what they read, as it is.
var asTheyAre = map[string]bool{"cp": true, "mv": true, "gcp": true, "gmv": true, "install": true, "rsync": true, "ditto": true, "tee": true}

// promptWritten judges what a file has in it after the call; false if that is not known.
func (e *Engine) promptWritten(w *work, ef *effect.Effect, target string, place shell.Context) bool {
	by, _, _ := strings.Cut(ef.By, " ")
	if (by == "sed" || by == "gsed") && e.editedPlainly(w, target, place) {
		return true
	}
	known := false
	for _, t := range w.a.Texts {
		if t.Path != ef.Target {
			continue
		}
		if t.Part || !effect.IsKnown(t.Text) {
			return false
		}
		before := ""
		if ef.Bits&effect.Append != 0 {
			b, err := e.analyzer.Files.ReadFile(target, maxPrompt)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false
			}
			before = string(b)
		}
		known = true
		e.promptText(w, target, before, before+t.Text, place)
	}
	if known {
		return true
	}
	if !asTheyAre[by] && ef.By != "git mv" {
		return false
	}
	budget := maxPrompts
	for i, n := 0, len(w.a.Effects); i < n; i++ {
		r := w.a.Effects[i]
		if r.Kind != effect.Read || r.By != ef.By || r.Bits&effect.Remote != 0 {
			continue
		}
		if r.Target == ef.Target && effect.Moves(ef) {
			return true // it is taken away
		}
		if known = true; effect.Links(&r) || r.Target == ef.Target || !e.promptCopied(w, r.Target, target, &budget, place) {
			return false
		}
	}
	return known
}

// takenAway reports whether an effect is that a file is moved away from there.
func (w *work) takenAway(i int) bool {
	return i > 0 && effect.Moves(&w.a.Effects[i]) && w.a.Effects[i-1].Kind == effect.Read && w.a.Effects[i-1].Target == w.a.Effects[i].Target
}

// promptText judges what runs of a text and did not before.
func (e *Engine) promptText(w *work, target, before, after string, place shell.Context) {
	target = promptFile(e.promptAs(w, target))
	had := map[effect.Payload]bool{}
	if before != "" {
		content.Payloads(target, before, e.analyzer.Limits.Tools.Content, func(p effect.Payload) { had[p] = true })
	}
	content.Payloads(target, after, e.analyzer.Limits.Tools.Content, func(p effect.Payload) {
		if !had[p] {
			w.a.Payload(p, place)
		}
	})
}

// promptFile is the name under which a text is read. In a folder of which the name is all
// that is known it is one of Claude Code's.
func promptFile(target string) string {
	if content.IsPrompt(target) && content.Classify(target).Prompts() {
		return target
	}
	return target + "/.claude/commands/any.md"
}

// promptCopied judges a file, or the texts in a folder, that is copied to a place of such
// texts; false if not all of it is known.
func (e *Engine) promptCopied(w *work, from, target string, budget *int, place shell.Context) bool {
	if *budget--; *budget < 0 || from == "" || !effect.IsKnown(from) || !strings.HasPrefix(from, "/") {
		return false
	}
	if strings.ContainsAny(from, "*?[") {
		found := true
		for _, p := range w.a.Names.Seen(from, true, true) {
			found = found && e.promptCopied(w, p, target, budget, place)
		}
		return found
	}
	for i := range w.a.Effects { // the call itself makes it
		if made := &w.a.Effects[i]; made.Kind == effect.Write && made.Target != target && (disk.Below(made.Target, from) || made.Target == from) && !effect.MakesFolder(made) && !w.takenAway(i) {
			for _, t := range w.a.Texts {
				if t.Path == from && !t.Part && effect.IsKnown(t.Text) && made.Bits&effect.Append == 0 {
					e.promptText(w, target, "", t.Text, place)
					return true
				}
			}
			return false
		}
	}
	to, ok := w.a.Links.Real(e.analyzer.Files, path.Clean(from))
	if !ok {
		return false
	}
	info, err := e.analyzer.Files.Lstat(to)
	if err != nil {
		return false
	}
	if info.IsDir() {
		names, err := e.analyzer.Files.ReadDir(to, disk.MaxListed)
		if err != nil {
			return false
		}
		for _, name := range names {
			if !e.promptCopied(w, to+"/"+name, target+"/"+name, budget, place) {
				return false
			}
		}
		return true
	}
	if !content.IsPrompt(from) && !content.IsPrompt(target) {
		return true // a script, which a call names
	}
	b, err := e.analyzer.Files.ReadFile(to, maxPrompt)
	if err != nil {
		return false
	}
	e.promptText(w, target, "", string(b), place)
	return true
}
