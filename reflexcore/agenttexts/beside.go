package agenttexts

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/gitrepo"
)

// Folders can be added to a project, as with claude --add-dir. Their skills and subagents are
// loaded in addition to those of the project, and can replace built-in ones. No call says which
// folders these are, but the process of the agent does, and its settings may.

const (
	maxAncestors = 6        // processes between a courier and its agent
	maxProcess   = 64 << 10 // bytes of what the system says of a process
	maxAdded     = 32       // folders that are added
	maxFlags     = 8        // words of node before the script that it runs
)

// findAdded finds the folders that are added to the project of the calling agent.
func (l *loader) findAdded() {
	for _, root := range []string{l.dir + "/.claude", l.project + "/.claude", l.Around.Home + "/.claude",
		l.ToolCall.Env["CLAUDE_CONFIG_DIR"]} {
		if !strings.HasPrefix(root, "/") {
			continue
		}
		for _, name := range [...]string{"/settings.json", "/settings.local.json"} {
			b, err := l.Analyzer.Files.ReadFile(l.follow(path.Clean(root+name)), MaxPrompt)
			if err != nil {
				continue // most have none
			}
			var settings struct {
				Permissions struct {
					Folders []string `json:"additionalDirectories"`
				} `json:"permissions"`
			}
			if json.Unmarshal(b, &settings) != nil {
				continue // Claude Code takes none of it, either
			}
			for _, folder := range settings.Permissions.Folders {
				if below, ok := strings.CutPrefix(folder, "~/"); ok {
					folder = l.Around.Home + "/" + below
				}
				l.added = append(l.added, disk.Absolute(folder, cmp.Or(l.project, l.dir)))
			}
		}
	}
	l.findStart()
}

// findStart reads the command line of the calling agent, which is an ancestor of the courier.
func (l *loader) findStart() {
	pid := int(l.ToolCall.Peer.PID)
	for range maxAncestors {
		if pid <= 1 {
			return
		}
		process := "/proc/" + strconv.Itoa(pid)
		line, err := l.Analyzer.Files.ReadFile(process+"/cmdline", maxProcess)
		if err != nil {
			return // another system, or a process that approver may not see
		}
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		starts := func(word string) bool { // its program, or the script of it that node runs
			return agentcli.ClaudeProgram(word) || strings.HasSuffix(word, "/cli.js") && strings.Contains(word, "claude")
		}
		if i := slices.IndexFunc(words, starts); i >= 0 && i < maxFlags {
			dir, err := l.Analyzer.Files.Readlink(process + "/cwd")
			if err != nil {
				dir = l.dir
			}
			l.added = append(l.added, addedFolders(words[i+1:], dir)...)
			return
		}
		pid = l.parent(process)
	}
}

// parent returns the parent of a process; 0: it is not known.
func (l *loader) parent(process string) int {
	stat, err := l.Analyzer.Files.ReadFile(process+"/stat", maxProcess)
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // a name may hold anything
	if len(fields) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pid
}

// loadAdded judges files with the names in added folders. Such a file does not make the name known,
// because another folder may have precedence.
func (l *loader) loadAdded(agent bool, names []string) {
	if len(l.added) > maxAdded {
		l.Unseen("more added folders than are looked at")
		return
	}
	found := l.found
	for _, dir := range l.added {
		root := path.Clean(dir) + "/.claude"
		for _, name := range names {
			if odd(name) {
				continue
			}
			l.named(root, name, agent)
			for _, folder := range folders(agent) {
				l.search(root+"/"+folder, name[strings.LastIndexByte(name, ':')+1:], 0)
			}
		}
	}
	l.found = found
}

// In a linked working tree of git, Claude Code also loads the texts of the main one: of each kind
// (skills, commands, subagents) for which the root of the linked one has no folder.

// A tree is a linked working tree of git in which an agent works.
type tree struct {
	root string
	main []string // folders that may be the main checkout
	sure bool     // git itself takes the first of them for it
}

// trees returns the linked working trees in which the agent works, and was started.
func (l *loader) trees() (out []tree) {
	for _, dir := range [...]string{l.dir, l.project} {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		root := l.Analyzer.Git.Top(l.follow(path.Clean(dir)))
		if root == "" || slices.ContainsFunc(out, func(t tree) bool { return t.root == root }) {
			continue
		}
		if t, ok := l.tree(root); ok {
			out = append(out, t)
		}
	}
	return out
}

// tree follows the file .git of a linked working tree.
func (l *loader) tree(root string) (tree, bool) {
	b, err := l.Analyzer.Files.ReadFile(root+"/.git", gitrepo.MaxPath)
	if err != nil {
		return tree{}, false // most have a folder
	}
	git := disk.Absolute(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(b)), "gitdir:")), root)
	if b, err = l.Analyzer.Files.ReadFile(l.follow(git)+"/commondir", gitrepo.MaxPath); err != nil {
		return tree{}, false // a submodule
	}
	common := disk.Absolute(strings.TrimSpace(string(b)), l.follow(git))
	r := gitrepo.Repository{Root: root}
	l.Analyzer.Git.Worktree(&r)
	t := tree{root: root, main: []string{path.Dir(common)}, sure: r.Common == common && path.Base(common) == ".git"}
	if path.Base(common) != ".git" {
		t.main = append(t.main, common) // it has no checkout of its own
	}
	return t, true
}

// mainFolders returns the settings folders of main checkouts.
func (l *loader) mainFolders() (out []string) {
	for _, t := range l.trees() {
		for _, main := range t.main {
			out = append(out, main+"/.claude")
		}
	}
	return out
}

// mainFoldersFor returns the settings folders of main checkouts from which Claude Code certainly loads
// the texts of a kind.
func (l *loader) mainFoldersFor(kind string) (out []string) {
	for _, t := range l.trees() {
		if _, err := l.Analyzer.Files.Lstat(t.root + "/.claude/" + kind); t.sure && disk.IsMissing(err) {
			out = append(out, t.main[0]+"/.claude")
		}
	}
	return out
}
