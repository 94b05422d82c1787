package agenttexts

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/wordset"
)

// Texts that agents load can run commands that no hook sees (content.Prompt). A call that writes
// such a text is a question, however it does that.

const (
	// MaxPrompt is the longest text that is read, in bytes. Claude Code does not read longer ones.
	MaxPrompt = 1 << 20
	// maxPrompts limits the texts and folders that one call writes or loads.
	maxPrompts = 512
	// lostText and lostAgent are the What of the effect if the file of a text is not found.
	lostText, lostAgent = "lost-text", "lost-agent"
)

// Written judges the files that a shell or code writes, if agents load them. For tools that write
// files, package tools returns what runs.
func (r *Reader) Written() {
	handed := 0 // effects of tools that write files
	if r.ToolCall.Command == "" {
		handed = len(r.Other.Effects)
	}
	for i, n := 0, len(r.Effects); i < n; i++ {
		ef := r.Effects[i]
		switch {
		case ef.Kind != effect.Write, ef.Bits&(effect.Remote|effect.Later) != 0, effect.MakesFolder(&ef), ef.By == "touch":
			continue
		case !effect.IsKnown(ef.Target) && strings.Contains(r.Text, "CLAUDE_ENV"), r.isEnvFile(ef.Target):
			r.Unseen("$CLAUDE_ENV_FILE")
			continue
		case i < handed:
			r.promptHanded(ef.Target)
			continue
		}
		for _, target := range r.promptNames(&ef) {
			if !r.promptWritten(&ef, target) {
				r.Unseen(target)
			}
		}
	}
}

// promptHanded judges what a tool writes to a settings folder that only the environment names. For
// other places the tool's payloads say what runs.
func (r *Reader) promptHanded(target string) {
	p, ok := r.inConfig(target)
	if !ok || !content.IsPrompt(p) || content.Classify(target).Prompts() || !content.Classify(p).Prompts() {
		return
	}
	if len(r.Other.Texts) == 0 {
		r.Unseen(target)
	}
	for _, text := range r.Other.Texts {
		r.Changed(p, "", text)
	}
}

// inConfig returns the usual path of a file in CLAUDE_CONFIG_DIR.
func (r *Reader) inConfig(p string) (string, bool) {
	config := path.Clean(r.ToolCall.Env["CLAUDE_CONFIG_DIR"])
	if len(config) < 2 || !disk.Below(p, config) {
		return p, false
	}
	return "/.claude" + p[len(config):], true
}

// promptAs returns the path by which a text is classified: the usual one for a file in
// CLAUDE_CONFIG_DIR, or in a plugin.
func (r *Reader) promptAs(p string) string {
	if in, ok := r.inConfig(p); ok {
		return in
	}
	for _, known := range r.plugins {
		if known.path == p {
			return known.as
		}
	}
	as, ok := content.PluginText(r.Analyzer.Files, p)
	if !ok {
		as = p
	}
	r.plugins[r.looked%len(r.plugins)] = pluginText{p, as}
	r.looked++
	return as
}

// isEnvFile reports whether a file is the one that Claude Code reads before each command.
func (r *Reader) isEnvFile(p string) bool {
	file := r.ToolCall.Env["CLAUDE_ENV_FILE"]
	return file != "" && path.Clean(file) == p
}

// promptNames returns the names by which a written file is a text that agents load: its own, or
// where links lead.
func (r *Reader) promptNames(ef *effect.Effect) (out []string) {
	if r.IsPlace(ef.Target) {
		return []string{ef.Target}
	}
	if by := ef.Program(); (copiers[by] || unpacks[by]) &&
		content.IsPlugin(r.Analyzer.Files, ef.Target) {
		return []string{ef.Target} // its folders may be what is put there
	}
	if !effect.IsPlain(ef.Target) || !strings.HasPrefix(ef.Target, "/") {
		return nil
	}
	if to, ok := r.Links.Real(r.Analyzer.Files, ef.Target); ok && to != ef.Target && r.IsPlace(to) {
		return []string{to}
	}
	return nil
}

// IsPlace reports whether agents load a file at a path, or a file that is put into a folder there.
func (r *Reader) IsPlace(p string) bool {
	p = r.promptAs(p)
	base := strings.ToLower(path.Base(p))
	if base == ".claude" || base == ".claude-plugin" {
		return true
	}
	s := r.Analyzer.Paths.Classify(p)
	if !s.Prompts() || !content.IsPrompt(p) && path.Ext(base) != "" {
		return false
	}
	if !s.May {
		return true
	}
	low := strings.ToLower(p) // of an unknown path only what its name says
	return protected.InAgentFolder(low) || strings.Contains(base, "skill.md")
}

// unpacks are programs that write unknown content.
var unpacks = wordset.Of("tar gtar bsdtar unzip 7z 7za cpio")

// copiers are programs that write exactly what they read.
var copiers = wordset.Of("cp mv gcp gmv install rsync ditto tee")

// promptWritten judges the content of a file after the call; false if it is not known.
func (r *Reader) promptWritten(ef *effect.Effect, target string) bool {
	by := ef.Program()
	if (by == "sed" || by == "gsed") && r.editedPlainly(target) {
		return true
	}
	known := false
	for _, t := range r.Texts {
		if t.Path != ef.Target {
			continue
		}
		if t.Part || !effect.IsKnown(t.Text) {
			return false
		}
		before := ""
		if ef.Bits&effect.Append != 0 {
			b, err := r.Analyzer.Files.ReadFile(target, MaxPrompt)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false
			}
			before = string(b)
		}
		known = true
		r.Changed(target, before, before+t.Text)
	}
	if known {
		return true
	}
	if !copiers[by] && ef.By != "git mv" {
		return false
	}
	budget := maxPrompts
	for i, n := 0, len(r.Effects); i < n; i++ {
		read := r.Effects[i]
		if read.Kind != effect.Read || read.By != ef.By || read.Bits&effect.Remote != 0 {
			continue
		}
		if read.Target == ef.Target && effect.Moves(ef) {
			return true // it is taken away
		}
		if known = true; effect.Links(&read) || read.Target == ef.Target || !r.promptCopied(read.Target, target, &budget) {
			return false
		}
	}
	return known
}

// takenAway reports whether an effect moves a file away.
func takenAway(effects []effect.Effect, i int) bool {
	return i > 0 && effect.Moves(&effects[i]) && effects[i-1].Kind == effect.Read &&
		effects[i-1].Target == effects[i].Target
}

// Changed judges what runs of a text, and did not run before the change.
func (r *Reader) Changed(target, before, after string) {
	r.Added(promptFile(r.promptAs(target)), before, after, r.Place)
}

// promptFile returns the path by which a text is read. For a folder, of which only the name is
// known, it is that of a command of Claude Code.
func promptFile(target string) string {
	if content.IsPrompt(target) && content.Classify(target).Prompts() {
		return target
	}
	return target + "/.claude/commands/any.md"
}

// promptCopied judges a file, or the texts in a folder, that is copied to a place of such texts;
// false if it is not fully known.
func (r *Reader) promptCopied(from, target string, budget *int) bool {
	if *budget--; *budget < 0 || from == "" || !effect.IsKnown(from) || !strings.HasPrefix(from, "/") {
		return false
	}
	if strings.ContainsAny(from, "*?[") {
		found := true
		for _, p := range r.Names.Seen(from, true, true) {
			found = found && r.promptCopied(p, target, budget)
		}
		return found
	}
	for i := range r.Effects { // the call itself makes it
		if made := &r.Effects[i]; made.Kind == effect.Write && made.Target != target &&
			(disk.Below(made.Target, from) || made.Target == from) && !effect.MakesFolder(made) &&
			!takenAway(r.Effects, i) {
			for _, t := range r.Texts {
				if t.Path == from && !t.Part && effect.IsKnown(t.Text) && made.Bits&effect.Append == 0 {
					r.Changed(target, "", t.Text)
					return true
				}
			}
			return false
		}
	}
	to, ok := r.Links.Real(r.Analyzer.Files, path.Clean(from))
	if !ok {
		return false
	}
	info, err := r.Analyzer.Files.Lstat(to)
	if err != nil {
		return false
	}
	if info.IsDir() {
		names, err := r.Analyzer.Files.ReadDir(to, disk.MaxListed)
		if err != nil {
			return false
		}
		for _, name := range names {
			if !r.promptCopied(to+"/"+name, target+"/"+name, budget) {
				return false
			}
		}
		return true
	}
	if !content.IsPrompt(from) && !content.IsPrompt(target) {
		return true // a script, which a call names
	}
	b, err := r.Analyzer.Files.ReadFile(to, MaxPrompt)
	if err != nil {
		return false
	}
	r.Changed(target, "", string(b))
	return true
}
