package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/httpapi"
)

// The story: .claude/settings.local.json at the root of a repository said
// "disableAllHooks": true, and Claude Code was started in a folder below it, or in a
// linked worktree of it. It read that file and ran without the hooks. Doctor looked
// only at the folder of the start, and said ok. It looks at all of them now, and so does
// the daemon when settings change in a session.
func TestLocalSettingsOfTheRepositoryCount(t *testing.T) {
	for name, tt := range map[string]struct {
		lay  func(m *claudeMachine, repo, tree string) // what makes them a repository
		from string                                    // where Claude Code is started
		off  string                                    // where the hooks are disabled
		read bool
	}{
		"the root itself":                     {plain, "repo", "repo", true},
		"a folder below":                      {plain, "repo/a", "repo", true},
		"three folders below":                 {plain, "repo/a/b/c", "repo", true},
		"a folder below, with its own":        {own, "repo/a", "repo", true},
		"between the two":                     {plain, "repo/a/b/c", "repo/a", false},
		"above the root":                      {plain, "repo/a", ".", false},
		"no repository":                       {none, "repo/a", "repo", false},
		"a repository in between":             {nested, "repo/a/b", "repo", false},
		"a link to a folder below":            {linked, "link", "repo", true},
		".git is a link":                      {linkedGit, "tree", "repo", true},
		"a worktree":                          {worktree, "tree", "repo", true},
		"below a worktree":                    {worktree, "tree/a", "repo", true},
		"a worktree, paths relative":          {relative, "tree", "repo", true},
		"a worktree, commondir absolute":      {absolute, "tree", "repo", true},
		"a worktree, with its own":            {worktreeOwn, "tree", "repo", true},
		"a worktree, blanks and a line":       {blanks, "tree", "repo", true},
		"a submodule":                         {submodule, "repo/mod", "repo", false},
		"a .git of something else":            {nonsense, "tree", "repo", false},
		"a worktree whose main one is a link": {linkedMain, "tree", "repo", true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newClaudeMachine(t)
			repo, tree := filepath.Join(m.dir, "repo"), filepath.Join(m.dir, "tree")
			for _, dir := range []string{"repo/a/b/c", "repo/mod", "tree/a"} {
				m.must(os.MkdirAll(filepath.Join(m.dir, dir), 0o700))
			}
			tt.lay(m, repo, tree)
			at := filepath.Join(m.dir, tt.off, ".claude", "settings.local.json")
			m.write(at, `{"disableAllHooks":true}`)
			t.Chdir(filepath.Join(m.dir, tt.from))
			d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
			d.hook(settings.Target{Managed: m.managed("")}, "")
			said := fmt.Sprint(d.found)
			if got := strings.Contains(said, "disableAllHooks"); got != tt.read {
				t.Errorf("doctor says %s", said)
			}
			payload := fmt.Sprintf(`{"session_id":"s","transcript_path":"%[1]s/.claude/projects/-p/s.jsonl","cwd":%[2]q,`+
				`"hook_event_name":"ConfigChange","source":"user_settings","file_path":"%[1]s/.claude/settings.json"}`, m.dir,
				filepath.Join(m.dir, tt.from))
			if a := m.decide.Hook(t.Context(),
				httpapi.HookRequest{Agent: "claude", CallID: "c", Payload: []byte(payload)}); tt.read == a.ExitZero {
				t.Errorf("the changed settings: %+v", a)
			}
		})
	}
}

func plain(m *claudeMachine, repo, _ string) { m.must(os.Mkdir(filepath.Join(repo, ".git"), 0o700)) }

func none(*claudeMachine, string, string) {}

func nonsense(m *claudeMachine, _, tree string) { m.write(filepath.Join(tree, ".git"), "something") }

func own(m *claudeMachine, repo, tree string) {
	plain(m, repo, tree)
	m.write(filepath.Join(repo, "a", ".claude", "settings.local.json"), `{}`)
}

func nested(m *claudeMachine, repo, tree string) {
	plain(m, repo, tree)
	m.must(os.Mkdir(filepath.Join(repo, "a", ".git"), 0o700))
}

func linked(m *claudeMachine, repo, tree string) {
	plain(m, repo, tree)
	m.must(os.Symlink(filepath.Join(repo, "a"), filepath.Join(m.dir, "link")))
}

func linkedGit(m *claudeMachine, repo, tree string) {
	plain(m, repo, tree)
	m.must(os.Symlink(filepath.Join(repo, ".git"), filepath.Join(tree, ".git")))
}

func worktreeBy(m *claudeMachine, repo, tree, gitdir, common string) {
	plain(m, repo, tree)
	m.write(filepath.Join(repo, ".git", "worktrees", "w", "commondir"), common)
	m.write(filepath.Join(tree, ".git"), gitdir)
}

func worktree(m *claudeMachine, repo, tree string) {
	worktreeBy(m, repo, tree, "gitdir: "+repo+"/.git/worktrees/w\n", "../..\n")
}

func relative(m *claudeMachine, repo, tree string) {
	worktreeBy(m, repo, tree, "gitdir: ../repo/.git/worktrees/w\n", "../..\n")
}

func absolute(m *claudeMachine, repo, tree string) {
	worktreeBy(m, repo, tree, "gitdir: "+repo+"/.git/worktrees/w\n", repo+"/.git\n")
}

func blanks(m *claudeMachine, repo, tree string) {
	worktreeBy(m, repo, tree, "gitdir:   "+repo+"/.git/worktrees/w/  \r\n", " ../.. \n\n")
}

func worktreeOwn(m *claudeMachine, repo, tree string) {
	worktree(m, repo, tree)
	m.write(filepath.Join(tree, ".claude", "settings.local.json"), `{}`)
}

func linkedMain(m *claudeMachine, repo, tree string) {
	plain(m, repo, tree)
	m.must(os.Symlink(repo, filepath.Join(m.dir, "other")))
	m.write(filepath.Join(repo, ".git", "worktrees", "w", "commondir"), "../..\n")
	m.write(filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(m.dir, "other")+"/.git/worktrees/w\n")
}

func submodule(m *claudeMachine, repo, tree string) {
	plain(m, repo, tree)
	m.must(os.MkdirAll(filepath.Join(repo, ".git", "modules", "mod"), 0o700))
	m.write(filepath.Join(repo, "mod", ".git"), "gitdir: ../.git/modules/mod\n")
}

// Where a repository is cannot be read: nobody can say which settings count, so a change
// is not taken and doctor fails.
func TestARepositoryThatCannotBeFollowed(t *testing.T) {
	for name, text := range map[string]string{
		"too long": "gitdir: " + strings.Repeat("x", settings.MaxGitFile),
		"a folder": "gitdir: private\n",
	} {
		t.Run(name, func(t *testing.T) {
			m := newClaudeMachine(t)
			tree := filepath.Join(m.dir, "tree")
			m.write(filepath.Join(tree, ".git"), text)
			m.must(os.MkdirAll(filepath.Join(tree, "private", "commondir"), 0o700))
			t.Chdir(tree)
			d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
			d.hook(settings.Target{Managed: m.managed("")}, "")
			d.has(t, "hook", finding.Fail, "cannot be read")
		})
	}
}
