package pairing

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
	"approver.example/internal/section"
)

// Whatever form the configuration has, lines are added and none is changed.
func TestPairingKeepsTheRest(t *testing.T) {
	who := approver.Paired{ID: "10042", Name: "Ada", Chat: "-1001", Thread: 7}
	p := flags{}.added(section.Platform{Places: "chats", Mapped: true}, who)
	p.channel, p.fresh = "telegram", []string{`token_file: "/t"`}
	for name, text := range map[string]string{
		"nothing":      "",
		"no channels":  "ttl: 120s\n",
		"empty":        "channels:\n",
		"no telegram":  "channels:\n    # x\n    terminal:\n        approvers: [{id: \"0\"}]\n",
		"no approvers": "channels:\n  telegram: # y\n    token_file: /t\n",
		"other topic":  "channels:\n  telegram:\n    token_file: /t\n    chats:\n      - id: \"-1001\"\n        thread: 8\n",
		"block": "channels:\n  telegram:\n    token_file: /t\n    chats: # c\n      - id: \"1\" # z\n" +
			"    approvers:\n    - id: \"1\"\n      name: Bob # b\nttl: 120s\n",
		"flow": "channels:\n  telegram:\n    token_file: /t\n    chats: [{id: \"1\"}]\n    approvers: []\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, diff, err := p.into([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := configs.Parse("/etc/x/approver.yaml",
				append([]byte("dir: /d\nsockets: {submit: /s, resolve: /r}\n"), got...))
			if err != nil || cfg.Channels.Telegram.Approvers[0].ID != "10042" || cfg.Channels.Telegram.Chats[0].ID != "-1001" ||
				cfg.Channels.Telegram.Chats[0].Thread != 7 {
				t.Fatalf("%v\n%s", err, got)
			}
			if all := strings.Join(diff, "\n"); !strings.Contains(all, "10042") || strings.Contains(all, "ttl") ||
				name == "block" && strings.Contains(all, "token_file") {
				t.Errorf("the diff is\n%s", all)
			}
			again, diff, err := p.into(got)
			if err != nil || string(again) != string(got) || len(diff) != 0 {
				t.Errorf("a second time: %v, %q\n%s", err, diff, again)
			}
			for comment := range strings.FieldsSeq(text) {
				if !strings.Contains(string(got), comment) && name != "flow" {
					t.Errorf("%q is gone:\n%s", comment, got)
				}
			}
		})
	}
	// Somebody paired, and "approver watch on this machine" was the heading of telegram
	// from then on: what is new goes above the comments of what it stands before.
	got, _, err := p.into([]byte("channels:\n  # approver watch on this machine\n  # shows requests\n  terminal:\n" +
		"    approvers: []\n"))
	if err != nil || !strings.HasPrefix(string(got), "channels:\n  telegram:\n") ||
		!strings.Contains(string(got), "  # approver watch on this machine\n  # shows requests\n  terminal:\n") {
		t.Errorf("%v\n%s", err, got)
	}
	if _, _, err := p.into([]byte("channels: {terminal: {approvers: [{id: \"0\"}]}}\n")); err == nil {
		t.Error("braces were changed")
	}
}
