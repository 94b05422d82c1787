package channeltest_test

import (
	"strconv"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
)

// What only a changed client sends, and what people do beside answering, on each platform.

type object = map[string]any

func (a *telegramApp) pressAs(t try, id string) {
	n, _ := strconv.ParseInt(id, 10, 64)
	a.AddUser(n, sameName)
	a.press(id, t.to.Conversation, t.message, t.request, fake.ApproveButton)
}

func (a *telegramApp) gesture(t try) {
	id, _ := strconv.ParseInt(t.user, 10, 64)
	message, _ := strconv.Atoi(t.message)
	chat := object{"id": group, "type": "supergroup"}
	for _, emoji := range []string{"👍", "👎"} {
		a.Inject(object{"message_reaction": object{"chat": chat, "message_id": message, "date": time.Now().Unix(),
			"user": object{"id": id, "is_bot": false, "first_name": sameName}, "old_reaction": []any{},
			"new_reaction": []any{object{"type": "emoji", "emoji": emoji}}}})
	}
	for _, text := range []string{"/approve CODE", "/deny CODE"} {
		m := a.Payload(id, group, t.text(text))
		m["edit_date"] = time.Now().Unix()
		a.Inject(object{"edited_message": m})
	}
}

func (a *discordApp) pressAs(t try, id string) {
	a.SendPress(t.user, t.to.Conversation, t.message, discordtest.CustomID(t.request, "o"), 1, func(e map[string]any) {
		e["member"] = object{"user": object{"id": id, "username": sameName, "global_name": sameName}, "nick": t.user}
	})
}

func (a *discordApp) gesture(t try) {
	for _, emoji := range []string{"👍", "👎"} {
		a.SendEvent("MESSAGE_REACTION_ADD", object{"user_id": t.user, "channel_id": a.here, "guild_id": a.Guild(),
			"message_id": t.message, "emoji": object{"name": emoji}, "member": object{"user": object{"id": t.user}}})
	}
	for _, text := range []string{"CODE", "no CODE"} {
		a.SendEvent("MESSAGE_UPDATE", object{"id": a.Bot(), "channel_id": a.here, "guild_id": a.Guild(),
			"content": "<@" + a.Bot() + "> " + t.text(text), "author": object{"id": t.user, "username": sameName},
			"edited_timestamp": time.Now()})
	}
}

func (a *slackApp) pressAs(t try, id string) {
	a.AddUser(slacktest.User{ID: id, Name: sameName})
	a.press(id, t.to.Conversation, t.message, t.request, fake.ApproveButton)
}

func (a *slackApp) gesture(t try) {
	for _, emoji := range []string{"+1", "-1"} {
		p := a.MessagePayload(t.user, channelID, t.message, "")
		p["event"] = object{"type": "reaction_added", "user": t.user, "reaction": emoji, "item_user": slacktest.BotUser,
			"item": object{"type": "message", "channel": channelID, "ts": t.message}}
		a.Deliver("events_api", p)
	}
	p := a.MessagePayload(t.user, channelID, t.message, t.text("no CODE"))
	p["event"].(object)["subtype"] = "message_changed"
	a.Deliver("events_api", p)
}
