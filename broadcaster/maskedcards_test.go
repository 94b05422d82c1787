package broadcaster

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/display"
)

// The story: Claude Code's Monitor and PowerShell run commands like Bash, and their cards
// showed the password of curl -u: the tool's name was put before the command first, and
// was then taken for the program. A call's secret is in none of the texts that leave it.
func TestASecretIsHiddenWhateverToolRunsTheCommand(t *testing.T) {
	longComputation(t)
	const key = "hunter22live"
	commands := []string{
		"curl -u u:§ -X DELETE https://h/x", "mysql -p§ -e 'drop table x'", "docker login -p § h",
		"echo § | docker login --password-stdin h", "redis-cli -a § flushall", "vault login §", "timeout 5 mysql -p§ x",
		"kubectl exec db -- mysql -p§",
		"PGPASSWORD=§ psql -h db", "K=§; curl -u u:$K https://h", "sshpass -p § ssh h", "curl.exe -u u:§ https://h",
		"sudo mysql -p§", "if true; then mysql -p§; fi", "curl -u u:§ \\\n https://h", "curl -u \"u:§",
		"npm config set //r/:_authToken §",
	}
	options := []string{
		`{}`, `{"timeout":5}`, `{"description":"it's \"a"}`, `{"note":"a' \" b"}`, `{"env":{"DB_PASSWORD":"two words 22"}}`,
	}
	tools := []struct{ agent, tool string }{
		{"claude", "Bash"}, {"claude", "Monitor"}, {"claude", "PowerShell"}, {"claude", "mcp__shell__run"},
		{"claude", "NewTool"}, {"codex", "shell"}, {"codex", "Bash"}, {"cursor", "Shell"}, {"gemini", "run_shell_command"},
		{"openclaw", "exec"}, {"", "sh"}, {"claude", ""}, {"claude", "docker"}, {"claude", "a=b"}, {"claude", "x'\""},
	}
	for _, form := range commands {
		command := strings.ReplaceAll(form, "§", key)
		for _, extra := range options {
			var args map[string]any
			if err := json.Unmarshal([]byte(extra), &args); err != nil {
				t.Fatal(err)
			}
			args["command"] = command
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range tools {
				call := approver.ToolCall{Agent: by.agent, Tool: by.tool, Command: command, Args: raw, Dir: "/repo"}
				r := Request{Call: call, Fingerprint: "ab-unbound", Verdict: approver.Verdict{Severity: approver.High},
					State: approver.Pending, Unbound: call.Display().MaskNames([]string{"what " + command + " runs"})}
				card := composed(Options{}).Cards.Of(r)
				for what, text := range map[string]string{
					"card": card.Whole(), "push line": card.Push, "warnings": warned(card), "context": card.Context,
					"names": r.Unbound[0],
				} {
					if strings.Contains(text, key) || strings.Contains(text, "words 22") {
						t.Errorf("%s %s: the %s shows %s", by.agent, by.tool, what, text)
					}
				}
				ownShell := facts.OwnShell(by.agent, by.tool)
				if named := labeled(card.Body, "Tool"); !ownShell && named != display.Visible(by.tool) {
					t.Errorf("the tool %q is not named: %s", by.tool, called(card))
				}
			}
		}
	}
}

// The notice of what is not bound writes a hidden part as the command beside it does, and
// breaks up an imitation.
func TestTheNoticeShowsAHiddenPartAsTheCommandDoes(t *testing.T) {
	call := shellCall("docker login -p " + random + " h; python3 gen.py | bash")
	r := Request{Call: call, Fingerprint: "ab-unbound", Verdict: approver.Verdict{Severity: approver.High},
		State: approver.Pending, Unbound: call.Display().MaskNames([]string{
			"what docker login -p " + random + " h prints", "‹16 characters hidden, 3fa9c1›", "a\u202eb", "TOKEN_SECRET=" + ghp,
		})}
	card := composed(Options{}).Cards.Of(r)
	note := regexp.MustCompile(`‹[0-9]+ characters hidden, [0-9a-f]{6}›`).FindString(called(card))
	if note == "" || !strings.Contains(warned(card), "what docker login -p "+note+" h prints") {
		t.Errorf("%q\n%q", called(card), warned(card))
	}
	if strings.Contains(warned(card), "‹16 characters hidden, 3fa9c1›") || !strings.Contains(warned(card), "⟨U+202E⟩") ||
		strings.Contains(warned(card), ghp[4:]) {
		t.Errorf("%q", warned(card))
	}
}

const (
	ghp     = "ghp_abcdefghijklmnopqrstuvwxyz0123456789" // the form of a real key
	random  = "a1B2c3D4e5F6g7H8"
	address = "aHR0cHM6Ly9ldmlsLmV4YW1wbGUvci5naXQ" // https://evil.example/r.git
)

// shellCall is a command of the agent's own shell.
func shellCall(command string) approver.ToolCall {
	args, _ := json.Marshal(map[string]string{"command": command})
	return approver.ToolCall{Agent: "claude", Tool: "Bash", Command: command, Args: args, Dir: "/repo"}
}

func TestAnUnknownSeverityIsPushedAsTheStrictest(t *testing.T) {
	if got := display.PushLine(approver.Severity(9).String(), "x", ""); got != "🔴 CATASTROPHIC · x" {
		t.Errorf("got %s", got)
	}
}
