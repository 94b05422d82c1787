package selfprotect

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// programsOnDisk judges programs that are started by their path, under each of their names on the
// disk: a link to an agent's program is that agent, and a link to approver's is approver.
func (c *Check) programsOnDisk() (worst approver.Decision, what string) {
	worst = approver.Pass
	for _, p := range c.Programs {
		for _, file := range c.filesOf(p) {
			if d, text := c.programAt(file, &p); d < worst {
				worst, what = d, text+" ("+effect.Short(effect.Show(file))+")"
			}
		}
	}
	return worst, what
}

// filesOf returns the files that a program may be. If find searches for the program, these are the
// files in the folder where it begins and in the folders in it.
func (c *Check) filesOf(p shell.Program) []string {
	file := p.Path
	if file == "" || file[0] == 0 {
		return nil
	}
	if file[0] != '/' {
		if !strings.HasPrefix(c.ToolCall.Dir, "/") {
			return nil
		}
		file = c.ToolCall.Dir + "/" + file
	}
	file = path.Clean(c.Names.OfProcess(file))
	switch {
	case !effect.IsKnown(file):
		files := c.Names.Seen(strings.ReplaceAll(file, effect.Unknown, "*"), true, true)
		return append(files, path.Clean(strings.ReplaceAll(file, effect.Unknown, "")))
	case strings.ContainsAny(file, "*?["):
		return c.Names.Seen(file, true, true)
	}
	return []string{file}
}

// programAt judges the start of one file, with each of its lists of words.
func (c *Check) programAt(file string, p *shell.Program) (worst approver.Decision, what string) {
	worst = approver.Pass
	if p.Named { // most are what they are called
		info, err := c.Analyzer.Files.Lstat(file)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 && (disk.HasOneName(info) && info.Size() < smallest) {
			return worst, ""
		}
	}
	if c.isOwnProgram(file) {
		// By its own name the words were judged where they stand.
		if p.More && !protected.IsOwnProgram(path.Base(file)) || slices.ContainsFunc(p.Words, c.changesApprover) {
			return approver.Deny, "it answers or changes approver in a person's place"
		}
	}
	names := c.agentNames(file)
	starts := func(words []string) {
		for _, name := range names {
			if id := agentcli.StartedBy(name, words); id != "" {
				if id == "claude" && (!agentcli.ClaudeProgram(p.Path) || path.Ext(p.Path) == ".js") {
					id = "copy of claude" // what it loads is judged under its own names only
				}
				if d, text := c.starts(&effect.Effect{Kind: effect.Permission, Target: "agent-start", What: id}); d < worst {
					worst, what = d, text
				}
				return
			}
		}
	}
	for _, words := range p.Words {
		starts(words)
	}
	if p.More && slices.ContainsFunc(names, agentcli.MayBeAgent) && worst > approver.Ask {
		return approver.Ask, "it starts an agent's program with words of which not all were looked at"
	}
	return worst, what
}

// agentNames returns the names by which a file may be an agent: where its links lead, and programs
// of agents that are the same file.
func (c *Check) agentNames(file string) []string {
	to, ok := c.Links.Real(c.Analyzer.Files, file)
	if !ok {
		return nil
	}
	names := c.agentsByInode(to)
	if to != file || agentcli.ClaudeInstalled(file) {
		return append([]string{to}, names...)
	}
	return names
}

// programFolders are the folders in which agents are installed, besides those of the system.
var programFolders = [...]string{
	".local/bin", "bin", ".npm-global/bin", ".bun/bin", ".cargo/bin", "/usr/local/bin", "/opt/homebrew/bin",
}

// agentsByInode returns the programs of agents of which a file is a hard link.
func (c *Check) agentsByInode(file string) (out []string) {
	info, err := c.Analyzer.Files.Lstat(file)
	if err != nil || disk.HasOneName(info) || info.Mode()&0o111 == 0 {
		return nil
	}
	for _, dir := range programFolders {
		if dir[0] != '/' {
			dir = c.Around.Home + "/" + dir
		}
		names := c.listed(dir)
		for _, name := range names {
			if agentcli.IsAgent(name) && c.sameFile(dir+"/"+name, info) {
				out = append(out, name)
			}
		}
	}
	return out
}

func (c *Check) sameFile(p string, info fs.FileInfo) bool {
	to, ok := c.Links.Real(c.Analyzer.Files, p)
	if !ok {
		return false
	}
	other, err := c.Analyzer.Files.Lstat(to)
	return err == nil && os.SameFile(info, other)
}

// The program of a running process has another name in /proc. The parent of a command is the agent
// itself, so its program is /proc/$PPID/exe.

// startsProcess judges a call that starts a program by such a name, or by that of an open file.
func (c *Check) startsProcess() (approver.Decision, string) {
	for i := range c.Effects {
		ef := &c.Effects[i]
		if ef.Kind != effect.Exec || ef.Bits&(effect.Remote|effect.Later) != 0 {
			continue
		}
		// A script often comes from an open file, as in bash <(curl ...).
		itself := path.Base(ef.By) == path.Base(ef.Target)
		if isProcessProgram(ef.Target) || itself && isOpenFile(ef.Target) {
			return approver.Ask, "it starts the program of a process, which may be an agent, " +
				"under a name by which nobody knows it (" + effect.Short(effect.Show(ef.Target)) + ")"
		}
	}
	return approver.Pass, ""
}

// inProcess returns the names of a path below the folder of a process. A pattern or an unknown part
// may be any process.
func inProcess(p string) []string {
	rest, ok := strings.CutPrefix(path.Clean("/"+p), "/proc/")
	if !ok {
		return nil
	}
	steps := strings.Split(rest, "/")
	if len(steps) > 3 && mayBe(steps[1], "task") {
		steps = steps[2:]
	}
	return steps[1:]
}

// isProcessProgram reports whether a path is, or may be, the program of a process.
func isProcessProgram(p string) bool {
	in := inProcess(p)
	return len(in) == 1 && mayBe(in[0], "exe") || len(in) == 2 && in[0] == "map_files"
}

// isOpenFile reports whether a path is that of a file that a process has opened.
func isOpenFile(p string) bool {
	in := inProcess(p)
	return len(in) == 2 && mayBe(in[0], "fd") || path.Dir(path.Clean(p)) == "/dev/fd"
}

// printers can print a whole file.
var printers = wordset.Of("head tail pv")

// copiesProcess reports whether an effect reads a process's program, and the call makes a copy of
// it or a link to it, which has another name.
func (c *Check) copiesProcess(read *effect.Effect) bool {
	as := *read
	switch {
	case printers[read.By]:
		as.By = "cat"
	case !copiers[read.By] && !effect.Links(read):
		return false
	}
	program := isProcessProgram(read.Target)
	if !effect.IsKnown(read.Target) && !program { // cp "$(readlink /proc/$PPID/exe)" x
		for _, m := range located().FindAllString(c.Text, 8) {
			program = program || strings.Contains(m, "/proc") && strings.Contains(m, "exe")
		}
	}
	return program && givesName(c.Effects, &as, "")
}
