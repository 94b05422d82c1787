package configs_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
)

const answering = `
dir: /d
sockets: {submit: /s, resolve: /r}
channels:
  telegram:
    token: "123456:AAEhBP0av28FrPBmiRhTLD2ucWOCrDqUmZs"
    api_url: "http://127.0.0.1:1"
    chats: [{id: "10042"}]
    approvers: [{id: "10042", name: Ada, person: ada}]
  discord:
    token: hunter2
    api_url: "http://127.0.0.1:2"
    text_approvals: true
    channels: ["200000000000000001"]
    approvers: [{id: "100000000000000001"}]
  slack:
    bot_token: xoxb-hunter2
    app_token: xapp-hunter2
    api_url: "http://127.0.0.1:3"
    text_approvals: true
    teams: [T01234567, T07654321]
    channels: [C0123456789]
    approvers: [{id: U0123456789}]
  terminal:
    allow_answers: true
    approvers: [{id: "1000"}]
`

// Whatever lets answers count has a line, and without the line it is not set; who
// stands for another person is somebody else.
func TestAuthority(t *testing.T) {
	cfg, err := configs.Parse("/etc/x/approver.yaml", []byte(answering))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`channels.discord.api_url: http://127.0.0.1:2`,
		`channels.discord.approvers: 100000000000000001, person "discord:100000000000000001"`,
		`channels.discord.text_approvals: true`,
		`channels.slack.api_url: http://127.0.0.1:3`,
		`channels.slack.approvers: U0123456789, person "slack:U0123456789"`,
		`channels.slack.teams: T01234567`,
		`channels.slack.teams: T07654321`,
		`channels.slack.text_approvals: true`,
		`channels.telegram.api_url: http://127.0.0.1:1`,
		`channels.telegram.approvers: 10042, person "ada"`,
		`channels.terminal.allow_answers: true`,
		`channels.terminal.approvers: 1000, person "terminal:1000"`,
	}
	lines := cfg.Authority()
	if !slices.Equal(lines, want) {
		t.Fatalf("%s", strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		granted := slices.Delete(slices.Clone(lines), i, i+1)
		if strings.Contains(line, ".approvers: ") {
			if people := cfg.PeopleHeldTo(granted); len(people) != 3 {
				t.Errorf("without %s there are %v", line, people)
			}
		} else if left := cfg.HeldTo(granted).Authority(); !slices.Equal(left, granted) {
			t.Errorf("without %s there is\n%s", line, strings.Join(left, "\n"))
		}
	}
	if left := cfg.HeldTo(nil).Channels; left.Telegram.APIURL+left.Discord.APIURL+left.Slack.APIURL != "" ||
		left.Slack.TextApprovals || left.Discord.TextApprovals || left.Terminal.AllowAnswers {
		t.Errorf("%+v", left)
	}
	if !slices.Equal(cfg.Authority(), want) {
		t.Error("holding the configuration changed it")
	}
	other, err := configs.Parse("/etc/x/approver.yaml",
		[]byte(strings.Replace(answering, "person: ada", "person: bob", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, counts := other.PeopleHeldTo(lines)[approver.Identity{Channel: "telegram", ID: "10042"}]; counts {
		t.Error("an account that stands for another person now counts unasked")
	}
}

// What lets a call go in the place of people has a line too: an open fail mode, the
// evaluator and where it is, and calls that are not scored.
func TestAuthorityOfTheShield(t *testing.T) {
	const text = `
fail_mode: open
audit: {sync: group}
shield:
  classifier: {skip: [write_file, write, shell_exec, exec, read]}
  evaluator: {provider: openai, url: "http://127.0.0.1:1/v1", model: m}
`
	cfg, err := configs.Parse("/etc/x/approver.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"audit.sync: group", "fail_mode: open", "shield.classifier.skip: exec", "shield.classifier.skip: read",
		"shield.evaluator: openai m at http://127.0.0.1:1/v1"}
	lines := cfg.Authority()
	if !slices.Equal(lines, want) {
		t.Fatalf("%s", strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		granted := slices.Delete(slices.Clone(lines), i, i+1)
		if left := cfg.HeldTo(granted).Authority(); !slices.Equal(left, granted) {
			t.Errorf("without %s there is\n%s", line, strings.Join(left, "\n"))
		}
	}
	left := cfg.HeldTo(nil)
	if left.Audit.Sync != configs.SyncBeforeAnswer || left.FailMode != configs.FailClosed || left.Shield.Evaluator != nil ||
		!slices.Equal(left.Shield.Classifier.Skip, []string{"write_file", "write"}) {
		t.Errorf("%s, %s, %+v", left.Audit.Sync, left.FailMode, left.Shield)
	}
	if !slices.Equal(cfg.Authority(), want) {
		t.Error("holding the configuration changed it")
	}
	if lines := configs.Default().Authority(); len(lines) > 0 {
		t.Errorf("the default has %q", lines)
	}
}
