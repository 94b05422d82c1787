package shieldcore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"approver.example"
)

// repository makes a folder with .git/HEAD in it and returns the folder.
func repository(t *testing.T, head string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir+"/.git/HEAD", head)
	must(t, os.MkdirAll(dir+"/sub/sub", 0o755))
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

// What cannot be known holds for a rule that stops and not for one that allows.
func TestWhenBranch(t *testing.T) {
	p := mustLoad(t, head+`rules:
  - {name: main, command: push, when: {branches: [main, 'release/*']}, decision: deny}
  - {name: topic, command: 'ls', when: {branches: ['topic/*']}, decision: allow}
`)
	main, release, topic := repository(t, "ref: refs/heads/main\n"), repository(t, "ref: refs/heads/release/1.2/x\n"),
		repository(t, "ref: refs/heads/topic/a")
	worktree := t.TempDir()
	write(t, main+"/.git/worktrees/w/HEAD", "ref: refs/heads/topic/w\n")
	write(t, worktree+"/.git", "gitdir: "+main+"/.git/worktrees/w\n")
	broken := repository(t, "")
	write(t, broken+"/.git/HEAD", "garbage\n")
	big := repository(t, string(make([]byte, 10000)))
	reftable := repository(t, "ref: refs/heads/.invalid\n")
	detached := repository(t, "0123456789012345678901234567890123456789\n")
	pipe := t.TempDir()
	must(t, os.Mkdir(pipe+"/.git", 0o755))
	must(t, syscall.Mkfifo(pipe+"/.git/HEAD", 0o644))
	for name, tt := range map[string]struct {
		dir, gitDir string
		push, ls    approver.Decision
	}{
		"main":             {main, "", approver.Deny, approver.Pass},
		"below":            {main + "/sub/sub", "", approver.Deny, approver.Pass},
		"with a slash":     {release, "", approver.Deny, approver.Pass},
		"topic":            {topic, "", approver.Pass, approver.Allow},
		"worktree":         {worktree, "", approver.Pass, approver.Allow},
		"detached":         {detached, "", approver.Pass, approver.Pass},
		"no repository":    {"/", "", approver.Pass, approver.Pass},
		"no directory":     {"", "", approver.Deny, approver.Pass},
		"broken":           {broken, "", approver.Deny, approver.Pass},
		"big":              {big, "", approver.Deny, approver.Pass},
		"reftable":         {reftable, "", approver.Deny, approver.Pass},
		"pipe":             {pipe, "", approver.Deny, approver.Pass},
		"GIT_DIR":          {topic, main + "/.git", approver.Deny, approver.Pass},
		"GIT_DIR, nothing": {topic, "/nowhere", approver.Deny, approver.Pass},
	} {
		for command, want := range map[string]approver.Decision{"push": tt.push, "ls": tt.ls} {
			call := approver.ToolCall{Tool: "Bash", Command: command, Dir: tt.dir}
			if tt.gitDir != "" {
				call.Env = map[string]string{"GIT_DIR": tt.gitDir}
			}
			if v := judge(t, p, call); v.Decision != want {
				t.Errorf("%s, %s: got %v, want %v", name, command, v.Decision, want)
			}
		}
	}
}

func TestWhenAgentAndUID(t *testing.T) {
	p := mustLoad(t, head+`rules:
  - {name: a, command: one, when: {agents: [codex], uids: [1000]}, decision: deny}
  - {name: b, command: 'two', when: {agents: [codex], uids: [1000]}, decision: allow}
`)
	for _, tt := range []struct {
		agent    string
		peer     approver.Peer
		one, two approver.Decision
	}{
		{"codex", approver.Peer{Known: true, UID: 1000}, approver.Deny, approver.Allow},
		{"claude", approver.Peer{Known: true, UID: 1000}, approver.Pass, approver.Pass},
		{"codex", approver.Peer{Known: true, UID: 1001}, approver.Pass, approver.Pass},
		{"codex", approver.Peer{}, approver.Deny, approver.Pass},
		{"", approver.Peer{Known: true, UID: 1000}, approver.Deny, approver.Pass},
	} {
		for command, want := range map[string]approver.Decision{"one": tt.one, "two": tt.two} {
			if v := judge(t, p, approver.ToolCall{Tool: "Bash", Command: command, Agent: tt.agent,
				Peer: tt.peer}); v.Decision != want {
				t.Errorf("%s by %q %+v: got %v, want %v", command, tt.agent, tt.peer, v.Decision, want)
			}
		}
	}
}

func TestWhenEnvironment(t *testing.T) {
	p := mustLoad(t, `version: 1
tools: {known: ['*']}
rules:
  - {name: prod, tools: ['*'], when: {environments: [prod]}, decision: deny}
  - {name: dev, tools: [Bash], when: {environments: [dev]}, decision: allow}
`)
	for _, tt := range []struct {
		call approver.ToolCall
		want approver.Decision
	}{
		{bash("kubectl --context=prod-eu get pods"), approver.Deny},
		{bash("NODE_ENV=production npm start"), approver.Deny},
		{bash("psql -h db.live.example"), approver.Deny},
		{bash("ssh prod1"), approver.Deny},
		{bash("make product"), approver.Pass},
		{bash("ls delivery"), approver.Pass},
		{bash("psql -h localhost"), approver.Allow},
		{bash("cp local.env prod.env"), approver.Deny},
		{approver.ToolCall{Tool: "Bash", Command: "ls", Env: map[string]string{"AWS_PROFILE": "acme-prod"}}, approver.Deny},
		{approver.ToolCall{Tool: "Bash", Command: "ls", Env: map[string]string{"PATH": "/opt/prod/bin"}}, approver.Pass},
		{approver.ToolCall{Tool: "mcp__db__query", Args: json.RawMessage(`{"environment":"production"}`)}, approver.Deny},
		{approver.ToolCall{Tool: "Write", Paths: []string{"/project/deploy/prod/x"}}, approver.Deny},
	} {
		if v := judge(t, p, tt.call); v.Decision != tt.want {
			t.Errorf("%s %q %s %v: got %v, want %v", tt.call.Tool, tt.call.Command, tt.call.Args, tt.call.Paths, v.Decision,
				tt.want)
		}
	}
}
