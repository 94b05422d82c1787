package configs_test

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
)

const speaking = `language: de-AT
channels:
  telegram:
    token: 123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    chats:
      - id: -1001234567890
        language: en
      - id: -1009876543210
      - id: 10042567
      - id: 10042568
    approvers:
      - id: 10042567
        language: en
      - id: 10042568
  discord:
    token: secret
    channels: [200000000000000001, 200000000000000002]
    languages: {200000000000000002: en}
    approvers: [{id: 100000000000000001}]
  slack:
    bot_token: xoxb-secret
    app_token: xapp-secret
    channels: [C0123456789, C0123456780]
    languages: {C0123456780: en}
    approvers: [{id: U0123456789, language: en}]
  terminal:
    language: en
    approvers: [{id: 1000}]
`

func TestWhoIsSpokenToInWhichLanguage(t *testing.T) {
	isolate(t)
	c, err := configs.Parse("/etc/x/approver.yaml", []byte(speaking))
	if err != nil {
		t.Fatal(err)
	}
	const german, english = "Ablehnen", "Deny"
	for at, want := range map[approver.Destination]string{
		{Channel: "telegram", Conversation: "-1001234567890"}:    english, // the chat's own
		{Channel: "telegram", Conversation: "-1009876543210"}:    german,  // everybody's
		{Channel: "telegram", Conversation: "10042567"}:          english, // that of the person whose chat it is
		{Channel: "telegram", Conversation: "10042568"}:          german,
		{Channel: "discord", Conversation: "200000000000000001"}: german,
		{Channel: "discord", Conversation: "200000000000000002"}: english,
		{Channel: "slack", Conversation: "C0123456789"}:          german,
		{Channel: "slack", Conversation: "C0123456780"}:          english,
		{Channel: "terminal", Conversation: "local"}:             english,
		{Channel: "web", Conversation: "x"}:                      german,
	} {
		if got := c.Languages().At(at).Text("Deny"); got != want {
			t.Errorf("a card at %+v says %q, want %q", at, got, want)
		}
	}
	for _, who := range []struct{ channel, sender, conversation, want string }{
		{"telegram", "10042567", "-1009876543210", english}, // their own, in any chat
		{"telegram", "10042568", "-1009876543210", german},
		{"telegram", "10042568", "-1001234567890", english}, // that of the cards there
		{"slack", "U0123456789", "C0123456789", english},
		{"telegram", "666", "-1009876543210", german}, // a stranger
	} {
		if got := c.Languages().For(who.channel, who.sender, who.conversation).Text("Deny"); got != who.want {
			t.Errorf("%+v is told %q", who, got)
		}
	}
	if got := configs.Default().Languages().At(approver.Destination{}).Text("Deny"); got != english {
		t.Errorf("by default, cards say %q", got)
	}
}

func TestALanguageThatDoesNotExist(t *testing.T) {
	isolate(t)
	for _, c := range []struct{ old, bad, at, want string }{
		{"language: de-AT", "language: xx", "approver.yaml:1:11", `language: there is no language "xx": choose one of en (English), de`},
		{"language: en\n      - id: -1009", "language: English\n      - id: -1009", "approver.yaml:7:19", "choose one of"},
		{"{id: U0123456789, language: en}", "{id: U0123456789, language: q}", "approver.yaml:25:45", "choose one of"},
		{"200000000000000002: en", "200000000000000002: q", "approver.yaml:18:37", "choose one of"},
		{"200000000000000002: en", "200000000000000003: en", "approver.yaml", `"200000000000000003" is none of the channels`},
		{"C0123456780: en", "C0123456781: en", "approver.yaml", `"C0123456781", which is none of the channels`},
		{"  terminal:\n    language: en", "  terminal:\n    language: q", "approver.yaml:27:15", "choose one of"},
	} {
		if !strings.Contains(speaking, c.old) {
			t.Fatalf("%q is not in the configuration", c.old)
		}
		_, err := configs.Parse("/etc/x/approver.yaml", []byte(strings.Replace(speaking, c.old, c.bad, 1)))
		if err == nil || !strings.Contains(err.Error(), c.at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q is refused with %v, want %q and %q", c.bad, err, c.at, c.want)
		}
	}
}
