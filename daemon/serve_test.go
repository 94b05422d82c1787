package daemon

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/configs"
)

// Every channel that can be configured is opened.
func TestEveryChannelIsOpened(t *testing.T) {
	dir := t.TempDir()
	cfg, err := configs.Parse(filepath.Join(dir, "approver.yaml"), []byte(`
dir: .
sockets: {submit: /tmp/s.sock, resolve: /tmp/r.sock}
channels:
  telegram:
    token: "123456:AAEhBP0av28FrPBmiRhTLD2ucWOCrDqUmZs"
    chats: [{id: "10042"}]
    approvers: [{id: "10042"}]
  discord:
    token: hunter2
    channels: ["200000000000000001"]
    approvers: [{id: "100000000000000001"}]
  slack:
    bot_token: xoxb-hunter2
    app_token: xapp-hunter2
    channels: [C0123456789]
    approvers: [{id: U0123456789}]
  terminal:
    approvers: [{id: "1000"}]
`))
	if err != nil {
		t.Fatal(err)
	}
	channels, err := OpenChannels(cfg, false, nil, slog.New(slog.DiscardHandler))
	if local := localOf(channels); err != nil || local == nil {
		t.Fatalf("%v, terminal %v", err, local)
	}
	opened := ","
	for _, c := range channels {
		opened += c.Name() + ","
	}
	used := cfg.Channels.InUse()
	if len(used) < 4 {
		t.Errorf("only %d channels are in use", len(used))
	}
	for _, ch := range used {
		if !strings.Contains(opened, ","+ch.Name+",") {
			t.Errorf("%s is configured and not opened: OpenChannels forgets it", ch.Name)
		}
	}
}
