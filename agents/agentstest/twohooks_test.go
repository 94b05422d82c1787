package agentstest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"approver.example/channels/channeltest/fake"
)

// Some agents run the hooks that a project's settings of Claude Code have, beside their own. A call is
// one question then, too: one card, and its answer is the only one.
func TestHooksOfClaudeToo(t *testing.T) {
	if os.Getenv("APPROVER_AGENTS") == "" {
		t.Skip("APPROVER_AGENTS does not name the folder of the agents: make e2e-agents")
	}
	for _, c := range []struct {
		agent string
		reads bool // it runs Claude Code's hooks
	}{{"copilot", true}, {"qwen", false}, {"droid", false}} { // the two take other things from that folder
		for button, pushes := range map[fake.Button]int{fake.ApproveButton: 1, fake.DenyButton: 0} {
			t.Run(fmt.Sprintf("%s/%d_pushes", c.agent, pushes), func(t *testing.T) {
				t.Parallel()
				w := newAgent(t, c.agent, "")
				w.write(".copilot/config.json", fmt.Sprintf(`{"trusted_folders":[%q]}`, w.path("work")), 0o600)
				w.install("--hook", w.path("bin/approver-hook"))
				if out, err := w.approver("install", "claude", "--project", ".", "--no-hook-test"); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				w.serve()
				wait := w.start(nil, force)
				w.answer(button)
				wait()
				w.pushed(pushes)
				if cards := w.chat.Cards(strconv.Itoa(chat)); len(cards) != 1 {
					t.Errorf("people were asked %d times: %+v", len(cards), cards)
				}
				audit := w.audit()
				if strings.Contains(audit, `"alarm"`) {
					t.Errorf("an alarm: %s", audit)
				}
				// A denied call has no second hook.
				if got := strings.Contains(audit, "at another hook of it"); got != (c.reads && pushes > 0) {
					t.Errorf("both hooks asked: %t", got)
				}
			})
		}
	}
}
