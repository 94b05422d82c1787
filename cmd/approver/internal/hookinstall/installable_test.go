package hookinstall

import (
	"strings"
	"testing"

	"approver.example/agents"
	"approver.example/agents/blocking"
)

// An agent of which it is not known how it is told "no" would run what the hook
// means to stop: the hook is put into the settings of no such agent, and the daemon
// speaks the dialect of none.
func TestInstallKnowsOnlyAgentsThatCanBeStopped(t *testing.T) {
	offered := agents.Installers()
	if len(offered) == 0 || len(Install().Agents) != len(offered) {
		t.Error("nothing can be installed")
	}
	for _, agent := range offered {
		if name := agent.Name(); !blocking.Known(name) {
			t.Errorf("install offers %s, which has no row in agents/blocking", name)
		}
	}
	for _, name := range agents.Names() {
		if !blocking.Known(name) {
			t.Errorf("%s has no row in agents/blocking", name)
		}
	}
	if err := installable("nobody"); err == nil || !strings.Contains(err.Error(), "not known how nobody is told no") {
		t.Errorf("nobody: %v", err)
	}
	if err := installable("claude"); err != nil {
		t.Error(err)
	}
}
