package configs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"approver.example"
)

// Claude Code was started with --add-dir lib, where a subagent general-purpose lay whose skill
// pushes. It took the place of the built-in one, and each Agent call passed, as no call names
// the folder. The command line of the process above the courier does, and it is read now.
func TestSubagentsOfAddedFolders(t *testing.T) {
	reflex := newEngine(t)
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	put(t, dir, "f", "")
	put(t, home, "lib/.claude/skills/deep/SKILL.md", forced)
	put(t, home, "lib/.claude/agents/zz.md", "---\nname: general-purpose\ndescription: x\nskills: deep\n---\nhi\n")
	put(t, home, "lib/.claude/agents/fine.md", "---\nname: Plan\ndescription: x\n---\nhi\n")
	judged := func(pid int, tool, args string) approver.Verdict {
		v, err := reflex.Judge(context.Background(),
			approver.ToolCall{Agent: "claude", Tool: tool, Dir: dir, Args: json.RawMessage(args),
				Env: map[string]string{"HOME": home}, Peer: approver.Peer{Known: true, PID: int32(pid)}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, row := range []struct {
		name  string
		words []string
		ask   bool
	}{
		{"named", []string{"claude", "--add-dir", filepath.Join(home, "lib")}, true},
		{"joined", []string{"claude", "--add-dir=" + filepath.Join(home, "lib")}, true},
		{"below the process's folder", []string{"claude", "--add-dir", "../lib"}, true},
		{"the second", []string{"claude", "--model", "opus", "--add-dir", "/nowhere", "../lib", "-p"}, true},
		{"twice", []string{"claude", "--add-dir", "/nowhere", "-p", "--add-dir", "../lib"}, true},
		{"by its path", []string{"/opt/bin/claude", "--add-dir", "../lib"}, true},
		{"of a version", []string{"/home/u/.local/share/claude/versions/2.1.330", "--add-dir", "../lib"}, true},
		{"of node", []string{"node", "/opt/@anthropic-ai/claude-code/cli.js", "--add-dir", "../lib"}, true},
		{"none", []string{"claude", "-p", "--add-dirs"}, false},
		{"a prompt", []string{"claude", "-p", "../lib"}, false},
		{"another program", []string{"vim", "--add-dir", "../lib"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			for name, pid := range map[string]int{"the agent": agentProcess(t, dir, row.words, false),
				"below it": agentProcess(t, dir, row.words, true)} {
				if v := judged(pid, "Agent",
					`{"subagent_type":"general-purpose","prompt":"p"}`); (v.Decision <= approver.Ask) != row.ask {
					t.Errorf("from %s: %v (%s)", name, v.Decision, v.Rule)
				}
				if v := judged(pid, "Agent", `{"prompt":"p"}`); (v.Decision <= approver.Ask) != row.ask {
					t.Errorf("without a type, from %s: %v (%s)", name, v.Decision, v.Rule)
				}
				for _, honest := range []string{"Explore", "Plan"} {
					if v := judged(pid, "Agent", `{"subagent_type":"`+honest+`","prompt":"p"}`); v.Decision <= approver.Ask {
						t.Errorf("honest %s from %s: %v (%s)", honest, name, v.Decision, v.Rule)
					}
				}
			}
		})
	}
	// What lies in an added folder does not make a name known.
	pid := agentProcess(t, dir, []string{"claude", "--add-dir", "../lib"}, false)
	put(t, home, "lib/.claude/skills/plain/SKILL.md", plainSkill)
	if v := judged(pid, "Skill", `{"skill":"plain"}`); v.Decision > approver.Ask {
		t.Errorf("a skill of an added folder is %v", v.Decision)
	}
}

// agentProcess starts a process with the words as its command line, and returns its id, or
// that of a process below it, as a courier is.
func agentProcess(t *testing.T, dir string, words []string, below bool) int {
	t.Helper()
	script := filepath.Join(t.TempDir(), "wait")
	if err := os.WriteFile(script, []byte("( echo child; exec sleep 60 ) &\necho $!\nwait\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A shell takes its script from its first word, so that the words may be anything else.
	cmd := exec.Command("/bin/sh")
	cmd.Args, cmd.Dir = append([]string{words[0], "-s", "--"}, words[1:]...), dir
	in, err := os.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd.Stdin = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	lines := bufio.NewScanner(out)
	for range 2 {
		if lines.Scan() && lines.Text() != "child" {
			child, err = strconv.Atoi(strings.TrimSpace(lines.Text()))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() {
		if p, err := os.FindProcess(child); err == nil && child > 1 {
			_ = p.Kill()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if child < 2 {
		t.Fatal("no child was started")
	}
	if below {
		return child
	}
	return cmd.Process.Pid
}
