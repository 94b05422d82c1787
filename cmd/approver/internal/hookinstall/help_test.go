package hookinstall

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents"
)

// The help of an agent, and its page, name the variables by which it finds its settings elsewhere, and
// there is no example for settings that the agent has not.
func TestHelpSaysWhatAnAgentHas(t *testing.T) {
	for _, agent := range agents.Installers() {
		f := agent.Files()
		page, err := os.ReadFile(filepath.Join("../../../../docs/agents", f.Agent+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for command, help := range map[string]string{
			"install":   AgentCmd{Agent: f.Agent}.Help(),
			"uninstall": UninstallAgentCmd{Agent: f.Agent}.Help(),
		} {
			for _, name := range []string{f.Home, f.Config} {
				if name == "" {
					continue
				}
				if !strings.Contains(help, "$"+name) || !strings.Contains(string(page), name) {
					t.Errorf("%s %s: the help or the page does not name %s", command, f.Agent, name)
				}
			}
			line := "\n  approver " + command + " " + f.Agent
			for flag, has := range map[string]bool{"": true, " --project .": f.Unread == "", " --system": f.Managed != ""} {
				if strings.Contains(help+"\n", line+flag+"\n") != has {
					t.Errorf("%s %s: the example%s: %v is wanted\n%s", command, f.Agent, flag, has, help)
				}
			}
		}
	}
}
