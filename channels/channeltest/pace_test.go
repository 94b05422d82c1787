package channeltest_test

import (
	"slices"
	"testing"

	"approver.example"
	"approver.example/channels/discord"
	"approver.example/channels/oncall"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
)

// The limits that a platform has for many chats together keep some room for CATASTROPHIC cards: otherwise one would
// wait behind a crowd in other chats for as long as a minute.
func TestEachPlatformKeepsRoomForTheMostUrgent(t *testing.T) {
	for to, c := range map[approver.Destination]approver.Pacer{
		{Channel: "telegram", Conversation: "-1001"}:   &telegram.Channel{},
		{Channel: "telegram", Conversation: "10042"}:   &telegram.Channel{},
		{Channel: "discord", Conversation: "1"}:        &discord.Channel{},
		{Channel: "slack", Conversation: "C1"}:         &slack.Channel{},
		{Channel: "oncall", Conversation: "pagerduty"}: &oncall.Channel{},
	} {
		limits := c.Pace(to, false)
		if !slices.ContainsFunc(limits, func(l approver.Limit) bool { return l.Urgent > 0 }) {
			t.Errorf("%s %s keeps no room: %+v", to.Channel, to.Conversation, limits)
		}
		for _, l := range limits {
			if l.What == "" || l.Most <= l.Urgent || l.Within <= 0 {
				t.Errorf("%s: %+v", to.Channel, l)
			}
		}
	}
}
