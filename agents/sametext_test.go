package agents

import (
	"fmt"
	"testing"

	"approver.example/agents/settings"
)

// What is wrong with a file is said in the same words and order each time: other words are a new alarm.
func TestWhatIsWrongIsSaidInOneOrder(t *testing.T) {
	for _, c := range []struct {
		agent Installer
		text  string
	}{
		{cursor, `{"version":1,"hooks":{"a":[],"b":[],"c":[],"d":[]}}`},
		{codex, `{"a":1,"b":1,"c":1,"d":1}`},
		{codex, `{"hooks":{"Stop":5,"PreToolUse":5,"PostToolUse":5,"SessionEnd":5}}`},
		{codex, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":5,"timeout":"x","statusMessage":5}]}]}}`},
		{droid, `{"hooks":{"a":1,"b":1,"c":1}}`},
	} {
		first := ""
		for range 30 {
			found := c.agent.Compare([]settings.Source{{Place: settings.User, Path: "/h/settings.json", Text: []byte(c.text)}},
				settings.Want{Hooks: wantedHooks(t, c.agent)})
			if now := fmt.Sprint(found); first == "" {
				first = now
			} else if now != first {
				t.Fatalf("%s: %s\nand then %s", c.agent.Name(), first, now)
			}
		}
	}
}
