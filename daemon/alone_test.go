package daemon

import (
	"path/filepath"
	"testing"

	"approver.example/configs"
)

// The story: on a machine with a terminal and on-call, a request that the terminal cannot approve said "answer in a
// chat". There was none: on-call only calls people. A channel is alone if people can answer on no other one.
func TestOnCallIsNoOtherChannel(t *testing.T) {
	const (
		terminal = "channels:\n  terminal:\n    approvers: [{id: \"1000\"}]\n"
		pager    = "  oncall:\n    pagerduty_key: 0123456789abcdef0123456789abcdef\n"
		chat     = "  slack:\n    bot_token: xoxb-hunter2\n    app_token: xapp-hunter2\n    channels: [C0123456789]\n" +
			"    approvers: [{id: U0123456789}]\n"
	)
	for name, c := range map[string]struct {
		text  string
		alone bool
	}{
		"alone":       {terminal, true},
		"and on-call": {terminal + pager, true},
		"and a chat":  {terminal + chat, false},
		"and both":    {terminal + pager + chat, false},
	} {
		cfg, err := configs.Parse(filepath.Join(t.TempDir(), "approver.yaml"), []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if in := installation(cfg, "terminal", false, nil); in.Alone != c.alone {
			t.Errorf("%s: alone is %v", name, in.Alone)
		}
	}
}
