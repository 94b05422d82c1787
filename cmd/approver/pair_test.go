package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/telegram"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/configs"
)

// The story: a stranger, a forwarder and then Ada send to the bot. Ada has the
// code. The operator says yes, and she is an approver; had they said anything
// else, nobody was.
func TestPairTelegram(t *testing.T) {
	for _, answer := range []string{"yes", "y", ""} {
		t.Run(answer, func(t *testing.T) {
			server := telegramtest.New()
			defer server.Close()
			server.AddUser(10042, "Ada")
			server.AddUser(666, "Eve")
			server.AddChat(telegramtest.Chat{ID: -1001})
			dir := t.TempDir()
			config, token := filepath.Join(dir, "approver.yaml"), filepath.Join(dir, "token")
			const before = "# mine\nttl: 120s # two minutes\nchannels:\n  # here\n  terminal:\n    approvers: [{id: \"0\"}]\n"
			for name, text := range map[string]string{config: before, token: server.Token()} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(ctx, self, "pair", "telegram", "--config", config, "--token-file", token, "--api-url", server.URL())
			c.Args[0] = "approver" // the test's program acts by its name
			c.Env = []string{"HOME=" + dir}
			c.Stdin = strings.NewReader(answer + "\n")
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			code := ""
			for code == "" && lines.Scan() {
				if word := strings.TrimSpace(lines.Text()); strings.HasPrefix(word, "CONFIRM-") {
					code = word
				}
			}
			server.Type("666", "-1001", "CONFIRM-AAAAAAAAAAAA")
			forged := server.Payload(666, -1001, code)
			forged["forward_origin"] = map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "Ada"}
			server.Inject(map[string]any{"message": forged})
			server.Type("10042", "-1001", "/pair "+code)
			var rest strings.Builder
			for lines.Scan() {
				rest.WriteString(lines.Text() + "\n")
			}
			_, _ = io.Copy(io.Discard, out)
			failed := c.Wait() != nil
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(rest.String(), "user id 10042, in chat -1001") {
				t.Errorf("it says\n%s", rest.String())
			}
			if answer != "yes" {
				if string(text) != before || !failed {
					t.Errorf("without a yes:\n%s", text)
				}
				return
			}
			cfg, err := configs.Load(config)
			if err != nil || cfg.Channels.Telegram == nil || cfg.Channels.Telegram.Approvers[0].ID != "10042" || len(cfg.Channels.Telegram.Approvers) != 1 || cfg.Channels.Telegram.Chats[0].ID != "-1001" {
				t.Fatalf("%v\n%s", err, text)
			}
			for line := range strings.Lines(before) {
				if !strings.Contains(string(text), line) {
					t.Errorf("%q is gone:\n%s", line, text)
				}
			}
		})
	}
}

// Whatever form the configuration has, lines are added and none is changed.
func TestPairingKeepsTheRest(t *testing.T) {
	who := approver.Paired{ID: "10042", Name: "Ada", Chat: "-1001", Thread: 7}
	p := telegramLines(who, pairTelegramCmd{TokenFile: "t"}, telegram.Config{TokenFile: "/t"})
	for name, text := range map[string]string{
		"nothing":      "",
		"no channels":  "ttl: 120s\n",
		"empty":        "channels:\n",
		"no telegram":  "channels:\n    # x\n    terminal:\n        approvers: [{id: \"0\"}]\n",
		"no approvers": "channels:\n  telegram: # y\n    token_file: /t\n",
		"block":        "channels:\n  telegram:\n    token_file: /t\n    chats: # c\n      - id: \"1\" # z\n    approvers:\n    - id: \"1\"\n      name: Bob # b\nttl: 120s\n",
		"flow":         "channels:\n  telegram:\n    token_file: /t\n    chats: [{id: \"1\"}]\n    approvers: []\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := p.into([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := configs.Parse("/etc/x/approver.yaml", append([]byte("dir: /d\nsockets: {submit: /s, resolve: /r}\n"), got...))
			if err != nil || cfg.Channels.Telegram.Approvers[0].ID != "10042" || cfg.Channels.Telegram.Chats[0].ID != "-1001" || cfg.Channels.Telegram.Chats[0].Thread != 7 {
				t.Fatalf("%v\n%s", err, got)
			}
			again, err := p.into(got)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
			for comment := range strings.FieldsSeq(text) {
				if !strings.Contains(string(got), comment) && name != "flow" {
					t.Errorf("%q is gone:\n%s", comment, got)
				}
			}
		})
	}
	if _, err := p.into([]byte("channels: {terminal: {approvers: [{id: \"0\"}]}}\n")); err == nil {
		t.Error("braces were changed")
	}
}
