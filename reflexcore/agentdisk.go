package reflexcore

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// programsOnDisk judges programs that are started by their path, under each name that the
// disk has for them: a link to an agent's program is that agent, and one to approver's is
// approver.
func (e *Engine) programsOnDisk(w *work) (worst approver.Decision, what string) {
	worst = approver.Pass
	for _, p := range w.reach.programs {
		for _, file := range e.filesOf(w, p) {
			if d, text := e.programAt(w, file, &p); d < worst {
				worst, what = d, text+" ("+short(effect.Show(file))+")"
			}
		}
	}
	return worst, what
}

// filesOf are the files that a program may be. Of one in a folder that find goes through
// the folder where it begins is looked at, and those in it.
func (e *Engine) filesOf(w *work, p shell.Program) []string {
	file := p.Path
	if file == "" || file[0] == 0 {
		return nil
	}
	if file[0] != '/' {
		if !strings.HasPrefix(w.call.Dir, "/") {
			return nil
		}
		file = w.call.Dir + "/" + file
	}
	file = path.Clean(w.ofProcess(file))
	switch {
	case !effect.IsKnown(file):
		files := e.seen(w, strings.ReplaceAll(file, effect.Unknown, "*"), true, true)
		return append(files, path.Clean(strings.ReplaceAll(file, effect.Unknown, "")))
	case strings.ContainsAny(file, "*?["):
		return e.seen(w, file, true, true)
	}
	return []string{file}
}

// programAt judges one file that is started.
func (e *Engine) programAt(w *work, file string, p *shell.Program) (approver.Decision, string) {
	if p.Named { // most are what they are called
		info, err := e.files.Lstat(file)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 && (links1(info) && info.Size() < smallest) {
			return approver.Pass, ""
		}
	}
	if e.isOwnProgram(w, file) && e.tellsOwn(p.Words) {
		return approver.Deny, "it answers or changes approver in a person's place"
	}
	if id := e.agentAt(w, file, p.Words); id != "" {
		return w.starts(&effect.Effect{Kind: effect.Permission, Target: "agent-start", What: id})
	}
	return approver.Pass, ""
}

// agentAt is the agent that a file is, by where its links lead or by a hard link, if those
// words start it.
func (e *Engine) agentAt(w *work, file string, words []string) string {
	to, ok := w.links.real(e.files, file)
	if !ok {
		return ""
	}
	if to != file {
		if id := shell.AgentOf(to, words); id != "" {
			return id
		}
	}
	return e.agentByInode(w, to, words)
}

// programFolders are where agents are installed, besides those of the system.
var programFolders = [...]string{
	".local/bin", "bin", ".npm-global/bin", ".bun/bin", ".cargo/bin", "/usr/local/bin", "/opt/homebrew/bin",
}

// agentByInode is the agent that a program is by a hard link, if those words start it.
func (e *Engine) agentByInode(w *work, file string, words []string) string {
	info, err := e.files.Lstat(file)
	if err != nil || links1(info) || info.Mode()&0o111 == 0 {
		return ""
	}
	for _, dir := range programFolders {
		if dir[0] != '/' {
			dir = w.around.home + "/" + dir
		}
		names, err := e.files.ReadDir(dir, maxListed)
		if err != nil {
			continue
		}
		for _, name := range names {
			if shell.IsAgent(name) && e.sameFile(w, dir+"/"+name, info) {
				if id := shell.AgentOf(name, words); id != "" {
					return id
				}
			}
		}
	}
	return ""
}

func (e *Engine) sameFile(w *work, p string, info fs.FileInfo) bool {
	to, ok := w.links.real(e.files, p)
	if !ok {
		return false
	}
	other, err := e.files.Lstat(to)
	return err == nil && os.SameFile(info, other)
}
