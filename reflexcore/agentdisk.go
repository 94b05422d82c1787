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

// agentsOnDisk judges programs that are started by their path, under each name that the
// disk has for them: a link to an agent's program is that agent.
func (e *Engine) agentsOnDisk(w *work) (approver.Decision, string) {
	for _, p := range w.reach.programs {
		file := p.Path
		if file == "" || file[0] == 0 {
			continue
		}
		if file[0] != '/' {
			if !strings.HasPrefix(w.call.Dir, "/") {
				continue
			}
			file = w.call.Dir + "/" + file
		}
		file = path.Clean(w.ofProcess(file))
		id := e.agentAt(w, file, p.Words)
		if strings.ContainsAny(file, "*?[") {
			for _, found := range e.seen(w, file, true, true) {
				if id == "" {
					id = e.agentAt(w, found, p.Words)
				}
			}
		}
		if id == "" {
			continue
		}
		ef := effect.Effect{Kind: effect.Permission, Target: "agent-start", What: id}
		if d, text := w.starts(&ef); d < approver.Pass {
			return d, text + " (" + short(effect.Show(id)) + ")"
		}
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
