package broadcaster

import (
	"fmt"
	"os"
	"os/user"
	"testing"

	"approver.example"
)

// On a team's channel many people's agents ask. A card that said only "claude" left open
// whose agent it was; now it names the user by the kernel's word, which no agent can
// claim.
func TestACardSaysWhoseAgentItIs(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	uid := uint32(os.Getuid())
	for _, c := range []struct {
		name string
		call approver.ToolCall
		want string // on the card
		full string // in its details
	}{
		{"a user with a name", approver.ToolCall{
			Agent: "claude", Peer: approver.Peer{Known: true, UID: uid},
		}, "claude of " + me.Username, fmt.Sprintf("claude of %s (uid %d)", me.Username, uid)},
		{
			"a user without one", approver.ToolCall{
				Agent: "claude", Peer: approver.Peer{Known: true, UID: 3999999999},
			}, "claude of uid 3999999999", "claude of uid 3999999999",
		},
		{"the daemon itself", approver.ToolCall{Agent: "approver"}, "approver", "approver"},
		{"an agent that claims a user", approver.ToolCall{
			Agent: "claude of root (uid 0)", Peer: approver.Peer{Known: true, UID: 3999999999},
		}, "claude of root (uid 0) of uid 3999999999", "claude of root (uid 0) of uid 3999999999"},
	} {
		card := composed(Options{Host: "box"}).Cards.Of(Request{Call: c.call})
		if line := card.Context; line != c.want+"@box" {
			t.Errorf("%s: %q, want %q", c.name, line, c.want)
		}
		if got := labeled(card.Details, "Agent"); got != c.full {
			t.Errorf("%s: the details say %q, want %q", c.name, got, c.full)
		}
	}
}
